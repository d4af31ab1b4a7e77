//! The collector: asks a cluster what it is to observe, and writes frames. It runs in a process of its own.
//!
//! `poll` decides what is due and merges the answers, `output` is the writer that never blocks the polling, `orders`
//! reads what the parent says, `causes` turns failures into problems, `selection` holds the globs.

mod causes;
mod log;
mod orders;
mod output;
mod poll;
mod selection;

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::frame::{FORMAT, Frame, Hello, Level, Note, Order, Settings, Stamped};
use crate::kafka::{Client, ClientError, ClientErrors};
use crate::model::{At, Name, Scope, Snapshot, Wall};

pub use orders::read as read_orders;
pub use selection::{PatternError, Selection};

/// Deadline of one call to Kafka.
const CALL: Duration = Duration::from_secs(3);
/// A full snapshot at least this often, so that a reader that joins a recording late catches up.
const FULL_EVERY: Duration = Duration::from_secs(300);
/// What the log tells is gathered this long before it is passed on.
const PUSH_AFTER: Duration = Duration::from_millis(100);

/// How long a background error counts as the cause of what fails.
const LATELY: Duration = Duration::from_secs(120);

/// Observes a cluster until the orders end, or (without orders) until nobody reads any more.
pub async fn run(
    settings: Settings,
    mut orders: mpsc::Receiver<Order>,
    out: impl Write + Send + 'static,
) -> anyhow::Result<()> {
    let clock = Clock::start();
    let selection = Selection::new(&settings)?;
    let mut output = output::Output::start(out)?;
    output.send(Frame::Hello(Hello {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: wall_now(),
        cluster: Name::new(settings.cluster()),
        simulated: false,
    }));
    let client = match Client::connect(&settings.properties) {
        Ok(client) => client,
        Err(error) => {
            let note = Note::new(Level::Fatal, error.to_string());
            output.send(Frame::Note(Stamped { at: clock.now(), body: note }));
            output.finish();
            return Err(error.into());
        }
    };
    let errors = client.errors().clone();
    let admin = client.admin(CALL).context("the result thread of the Kafka client")?;
    let mut trouble = Trouble { errors, clock, told: None };
    let mut poller = poll::Poller::new(admin, client, settings.clone(), selection, clock);
    let mut interval = Duration::from_millis(settings.interval_ms);
    poller.interval = interval;
    let mut last_full = None;
    let mut next_poll = Some(Instant::now());
    let mut forced = false;
    loop {
        let due = next_poll.is_some_and(|at| at <= Instant::now());
        if due || forced {
            let began = Instant::now();
            let listed = poller.known().listing.is_some();
            let partial = {
                let poll = poller.poll(std::mem::take(&mut forced));
                tokio::pin!(poll);
                loop {
                    tokio::select! {
                        partial = &mut poll => break partial,
                        problem = trouble.next(), if !listed => output.send(problem),
                    }
                }
            };
            let at = clock.now();
            // Before the facts: whoever waits for all of them must not think that these are they.
            if let Some(cause) = poller.required_log_refused() {
                output.send(Frame::Note(Stamped { at, body: Note::new(Level::Fatal, cause.clone()) }));
                output.finish();
                anyhow::bail!("{cause}");
            }
            // First what happened, then what is: a view of the snapshot has both.
            send_events(&mut poller, &output, clock);
            let full_due = last_full.is_none_or(|last: At| at.since(last) >= FULL_EVERY);
            if full_due && poller.known().listing.is_some() {
                last_full = Some(at);
                output.send(Frame::Full(Stamped { at, body: poller.full() }));
            } else {
                output.send(Frame::Partial(Stamped { at, body: partial }));
            }
            next_poll = (!interval.is_zero()).then(|| (began + interval).max(Instant::now()));
        }
        let unreached = poller.known().listing.is_none();
        let log_news = poller.has_log_news();
        let wait = next_poll.map_or(Duration::from_secs(3600), |at| at.saturating_duration_since(Instant::now()));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = output.closed() => break,
            order = orders.recv() => match order {
                None | Some(Order::Stop) => break,
                Some(Order::PollNow) => forced = true,
                Some(Order::OnScreen(groups)) => poller.on_screen = groups,
                Some(Order::Interval(millis)) => {
                    interval = Duration::from_millis(millis);
                    poller.interval = interval;
                    next_poll = (!interval.is_zero()).then(Instant::now);
                }
                Some(Order::Settings(_)) => tracing::warn!("settings come once, as the first order: ignored"),
            },
            problem = trouble.next(), if unreached => output.send(problem),
            () = poller.listen() => {}
            // What the log tells is passed on as it happens, a moment's worth at once.
            () = tokio::time::sleep(PUSH_AFTER), if log_news => {
                send_events(&mut poller, &output, clock);
                output.send(Frame::Partial(Stamped { at: clock.now(), body: poller.log_news() }));
            }
        }
    }
    output.finish();
    Ok(())
}

fn send_events(poller: &mut poll::Poller, output: &output::Output, clock: Clock) {
    for note in poller.take_gaps() {
        output.send(Frame::Note(Stamped { at: clock.now(), body: note }));
    }
    for event in poller.take_events() {
        output.send(Frame::Event(Stamped { at: clock.now(), body: event }));
    }
}

/// Background errors while no broker has answered yet: told at once, not only after a call's deadline.
struct Trouble {
    errors: ClientErrors,
    clock: Clock,
    told: Option<ClientError>,
}

impl Trouble {
    /// The next error that was not told yet, as a frame. The first full snapshot replaces it.
    async fn next(&mut self) -> Frame {
        loop {
            let newest = self.errors.newest(LATELY);
            if newest != self.told
                && let Some(error) = newest.clone()
            {
                self.told = newest;
                let mut problems = causes::Problems::default();
                let (now, cause) = (self.clock.now(), causes::of_connection(&error));
                problems.set(Scope::Cluster, causes::CONNECTION, cause, now);
                let body = Snapshot { problems: problems.take_changed(), ..Snapshot::default() };
                return Frame::Partial(Stamped { at: now, body });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn wall_now() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
