//! The demo: a simulated cluster with an incident, for trying `lagtop` without Kafka. It runs the real assignors and
//! speaks in the frames that a collector writes, so that everything behind a [`Source`] is the real thing.
//!
//! `cast` says who plays and what happens; `simulation`, `group` and `topic` play it; `facts` and `frames` report what
//! a collector would see. All of that is pure: [`Frames`] gives the same frames for the same seed and times. Only this
//! file knows a clock.

mod cast;
mod facts;
mod frames;
mod group;
mod random;
mod simulation;
#[cfg(test)]
mod tests;
mod topic;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::{Input, Source};
use crate::frame::Order;
use crate::model::{At, Name, Wall};

pub use frames::Frames;
pub use simulation::Simulation;

/// The simulation's step.
const TICK: Duration = Duration::from_millis(250);

/// Whether a group or topic is to be told of.
pub type Selected = Arc<dyn Fn(&Name) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct Options {
    /// Time from poll to poll; zero: only when ordered.
    pub interval: Duration,
    /// Of ids, offsets and the unevenness of the producers; the story is the same.
    pub seed: u64,
    /// The groups to watch; `None`: all.
    pub groups: Option<Selected>,
    /// The topics whose partitions count; `None`: all.
    pub topics: Option<Selected>,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval: Duration::from_secs(2), seed: 1, groups: None, topics: None }
    }
}

/// Starts the simulation in real time, on the tokio runtime that this is called in. It ends when [`Source::inputs`] is
/// dropped, or with [`Order::Stop`].
pub fn start(options: Options) -> Source {
    let (to_reader, inputs) = mpsc::channel(16);
    let (orders, received) = mpsc::channel(16);
    tokio::spawn(run(options, to_reader, received));
    Source { inputs, orders }
}

async fn run(options: Options, reader: mpsc::Sender<Input>, mut orders: mpsc::Receiver<Order>) {
    let began = Instant::now();
    let mut interval = options.interval;
    let mut frames = Frames::new(options);
    if reader.send(Input::Frame(Frames::hello(wall_now()))).await.is_err() {
        return;
    }
    let mut due = Some(began);
    let mut may_order = true;
    loop {
        tokio::select! {
            () = reader.closed() => return,
            () = at(due) => {}
            order = orders.recv(), if may_order => match order {
                Some(Order::Stop) => return,
                Some(Order::PollNow) => {}
                Some(Order::Interval(ms)) => {
                    interval = Duration::from_millis(ms);
                    frames.interval_ms = ms;
                    due = (ms > 0).then(Instant::now);
                    continue;
                }
                Some(Order::OnScreen(_) | Order::Settings(_)) => continue,
                None => {
                    may_order = false;
                    continue;
                }
            },
        }
        // A slow reader gets the newest facts, not a queue of old ones.
        let Ok(place) = reader.reserve().await else { return };
        let now = Instant::now();
        place.send(Input::Frame(frames.poll(At::default().plus(now - began))));
        due = (!interval.is_zero()).then(|| now + interval);
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn wall_now() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
