//! Reports: the view without a terminal. `json` is for programs, `table` for people.

pub mod hash;
pub mod json;
pub mod plan;
pub mod table;

use std::future::pending;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::frame::Order;
use crate::health::PartitionLag;
use crate::model::{Name, Problem, Scope, millis, name};
use crate::monitor::Monitor;
use crate::monitor::view::{Feed, GroupView, PartitionView, View};
use crate::source::{Input, Source};

/// What was seen within the time allowed.
#[derive(Debug)]
pub struct Outcome {
    pub view: View,
    pub taken_at: SystemTime,
    /// Every selected group was seen, with all that is to be known of it.
    pub complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Between two polls that a report asks for.
const PAUSE: Duration = Duration::from_millis(250);
/// A login or a TLS handshake that is refused may be one broker's of several: the others get this long to answer.
const REFUSED: Duration = Duration::from_secs(2);

/// How a report goes on watching once all was seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stay {
    /// At most so long; zero: not at all.
    pub time: Duration,
    /// From poll to poll.
    pub interval: Duration,
}

/// Watches a source until every selected group was seen, or can be seen only by who changes something (a right is
/// missing, a login is refused), or `timeout` has passed.
pub async fn observe(source: Source, monitor: Monitor, timeout: Duration) -> Outcome {
    observe_longer(source, monitor, timeout, Stay::default(), |_| true, pending()).await
}

/// The same, and then on, until `enough` was seen or the time is over; what appeared meanwhile is waited for as at the
/// start. Ends with what is known when `interrupted` is ready.
pub async fn observe_longer(
    mut source: Source,
    mut monitor: Monitor,
    timeout: Duration,
    stay: Stay,
    enough: impl Fn(&View) -> bool,
    interrupted: impl Future<Output = ()>,
) -> Outcome {
    let mut deadline = Instant::now() + timeout;
    let mut over = None;
    let mut refused = None;
    let mut progress = Seen::Waiting;
    let mut polls = 0;
    tokio::pin!(interrupted);
    loop {
        let waking = over.filter(|over| *over > Instant::now());
        let until = [Some(deadline), refused, waking].into_iter().flatten().min().unwrap_or(deadline);
        let input = tokio::select! {
            biased;
            () = &mut interrupted => break,
            input = source.inputs.recv() => input,
            () = tokio::time::sleep_until(until) => if Some(until) == waking { None } else { break },
        };
        match input {
            Some(Input::Frame(frame)) => monitor.fold(frame),
            Some(Input::Interrupted { at, cause }) => monitor.interrupted(at, cause),
            Some(Input::Ended { failure }) => {
                monitor.ended(failure);
                progress = seen(&monitor.view());
                break;
            }
            None if source.inputs.is_closed() => break,
            None => {}
        }
        let view = monitor.view();
        if matches!(view.feed, Feed::Failed { .. }) {
            break;
        }
        progress = seen(&view);
        if progress != Seen::Waiting && !monitor.unconfirmed_past_end() {
            let now = Instant::now();
            if stay.time.is_zero() || enough(&view) || over.is_some_and(|over| over <= now) {
                break;
            }
            if over.is_none() {
                tracing::info!("all was seen; watching for {:?} more", stay.time);
                over = Some(now + stay.time);
                deadline = now + stay.time + timeout;
                let interval = millis(stay.interval);
                let _ = source.orders.send(Order::Interval(interval)).await;
            }
        }
        refused = match connection(&view) {
            Some(problem) if problem.lasting => refused.or_else(|| Some(Instant::now() + REFUSED)),
            _ => None,
        };
        // One poll was not enough: the first one, of this collector, is made unasked.
        if view.progress.polls != polls && over.is_none() {
            polls = view.progress.polls;
            if polls > 1 {
                tokio::time::sleep_until(deadline.min(Instant::now() + PAUSE)).await;
            }
            let _ = source.orders.send(Order::PollNow).await;
        }
    }
    let _ = source.orders.send(Order::Stop).await;
    let complete = progress == Seen::All && !monitor.unconfirmed_past_end();
    Outcome { view: monitor.view(), taken_at: SystemTime::now(), complete }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Something may come yet.
    Waiting,
    /// What is missing will not come by waiting.
    AllThatMay,
    All,
}

fn seen(view: &View) -> Seen {
    if !view.progress.all_seen || !view.listing.is_some_and(|listing| listing.complete) {
        return Seen::Waiting;
    }
    view.groups.iter().filter(|group| group.kind.is_consumer()).map(|group| seen_of(group)).min().unwrap_or(Seen::All)
}

/// What was seen of a group: its members, its commits, and the ends of what it reads.
fn seen_of(group: &GroupView) -> Seen {
    let lasts = |missing: &str| group.problems.iter().any(|problem| problem.lasting && problem.missing == missing);
    let fact = |known: bool, missing: &str| match known {
        true => Seen::All,
        false if lasts(missing) => Seen::AllThatMay,
        false => Seen::Waiting,
    };
    let hidden = |topic: &Name| {
        let of_topic = |problem: &&Problem| problem.lasting && problem.scope == Scope::Topic(topic.clone());
        group.problems.iter().any(|problem| of_topic(&problem))
    };
    let unknown = |partition: &&PartitionView| partition.lag == PartitionLag::Unknown;
    let ends = group.partitions.iter().filter(unknown);
    let ends = ends.map(|partition| if hidden(&partition.topic) { Seen::AllThatMay } else { Seen::Waiting });
    let ends = ends.min().unwrap_or(Seen::All);
    let group_facts =
        fact(group.described_at.is_some(), "state and members").min(fact(group.commits_at.is_some(), "commits"));
    group_facts.min(ends)
}

/// Why no broker can be talked to, while none has answered.
fn connection(view: &View) -> Option<&Problem> {
    let of_cluster = |problem: &&Problem| problem.scope == Scope::Cluster;
    view.problems.iter().find(of_cluster).filter(|_| view.listing.is_none())
}

/// Prints a report to stdout, problems of a table and failures to stderr; returns the exit code: 0 when any group
/// could be read, 1 when the cluster could not, 2 when the configuration is at fault.
pub fn print(outcome: &Outcome, format: Format) -> anyhow::Result<ExitCode> {
    let (code, message) = verdict(outcome);
    let text = match format {
        // There is nothing to report: for people the message says all, a program is told what is known.
        _ if matches!(outcome.view.feed, Feed::Failed { .. }) => String::new(),
        Format::Table if outcome.view.listing.is_none() => String::new(),
        Format::Json => name::safe_json(&serde_json::to_string_pretty(&json::snapshot(outcome))?).into_owned() + "\n",
        Format::Table => table::snapshot(outcome),
    };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough: `lagtop snapshot | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    if let Some(message) = message {
        writeln!(std::io::stderr(), "lagtop: {message}")?;
    }
    Ok(ExitCode::from(code))
}

/// Exit code, and what to say on stderr.
fn verdict(outcome: &Outcome) -> (u8, Option<String>) {
    let view = &outcome.view;
    if let Feed::Failed { cause } = &view.feed {
        return (2, Some(cause.to_string()));
    }
    let Some(listing) = view.listing else {
        let cluster = &view.cluster.name;
        let why = match (connection(view), &view.feed) {
            (Some(problem), _) => problem.to_string(),
            (None, Feed::Stale { cause, .. }) => cause.to_string(),
            (None, _) => "no answer within --timeout".to_owned(),
        };
        return (1, Some(format!("{} could not be read: {why}", or(cluster, "the cluster"))));
    };
    if view.groups.is_empty() && listing.total > 0 {
        return (1, Some(format!("none of the {} groups matches the selection", listing.total)));
    }
    let read = |group: &GroupView| group.described_at.is_some() || group.commits_at.is_some();
    let any = view.groups.is_empty() || view.groups.iter().any(|group| read(group) || !group.kind.is_consumer());
    (u8::from(!any), (!any).then(|| "no group could be read; see the problems".to_owned()))
}

fn or<'a>(name: &'a Name, otherwise: &'a str) -> std::borrow::Cow<'a, str> {
    if name.is_empty() { otherwise.into() } else { name.safe() }
}
