//! The stream between a source and the view: what a frame is, how it is written and read.
//!
//! A stream is a sequence of frames: `u32` length (big endian, of what follows), `u8` kind, then a MessagePack map
//! with named fields. The first frame is [`Hello`]. Unknown kinds and unknown fields are skipped, so an older reader
//! can follow a newer writer of the same [`FORMAT`]. No frame ever carries a secret.

mod codec;
pub mod order;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{At, Event, Name, Snapshot, Wall};

pub use codec::{Decoder, FrameError, encode};
pub use order::{Order, Settings};

/// Version of the stream's format; a reader refuses a stream of another one.
pub const FORMAT: u32 = 1;

/// One entry of the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    Hello(Hello),
    /// All that is known: replaces everything before it.
    Full(Stamped<Snapshot>),
    /// What changed; what is not named is unchanged.
    Partial(Stamped<Snapshot>),
    /// Something that happened at a known place of the coordinator log.
    Event(Stamped<Event>),
    Note(Stamped<Note>),
}

/// Who writes this stream, of which cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hello {
    pub format: u32,
    /// Version of the program that writes the stream.
    pub version: String,
    /// Wall clock of the writer at the stream's time 0.
    pub started: Wall,
    /// What the person calls the cluster: the bootstrap servers, or the name of the simulation.
    pub cluster: Name,
    /// True: a simulation, no Kafka behind it.
    pub simulated: bool,
}

/// A body with the time on the stream's monotonic clock at which it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamped<T> {
    pub at: At,
    pub body: T,
}

/// Something that the person should read, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub level: Level,
    pub text: Name,
    /// What it means for the past that events tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

impl Note {
    pub fn new(level: Level, text: impl Into<Name>) -> Self {
        Self { level, text: text.into(), gap: None }
    }
}

/// Why events do not tell all that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Nobody read the stream: events of these groups found no place, the newest of them of that time.
    Dropped { groups: Vec<Name>, newest: Wall },
    /// A partition of the coordinator log went back to this offset (an unclean leader election): records from there on
    /// are gone, and others take their places.
    Cut { partition: i32, offset: i64 },
    /// Reading of a partition of the coordinator log begins, at that time, after where it had come to: the records
    /// between are gone, or too many.
    Skipped { partition: i32, until: Wall },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    /// The collector cannot go on: a new one would fail in the same way (usage, configuration).
    Fatal,
}

impl Stamped<Snapshot> {
    /// Moves every time in it onto another clock, `by` later.
    pub fn shift(&mut self, by: Duration) {
        let shift = |at: &mut At| *at = at.plus(by);
        shift(&mut self.at);
        let body = &mut self.body;
        body.cluster.iter_mut().for_each(|cluster| shift(&mut cluster.observed_at));
        body.listing.iter_mut().for_each(|listing| shift(&mut listing.observed_at));
        if let Some(log) = &mut body.log {
            shift(&mut log.observed_at);
            log.shares_at.iter_mut().for_each(shift);
        }
        body.topics.values_mut().for_each(|topic| shift(&mut topic.observed_at));
        for offsets in body.offsets.values_mut() {
            for column in [&mut offsets.start, &mut offsets.end, &mut offsets.stable].into_iter().flatten() {
                shift(&mut column.at);
                column.older.values_mut().for_each(shift);
            }
        }
        for group in body.groups.values_mut() {
            group.described_at.iter_mut().for_each(shift);
            group.commits_at.iter_mut().for_each(shift);
            group.share.iter_mut().for_each(|share| shift(&mut share.at));
        }
        body.problems.iter_mut().flatten().for_each(|problem| shift(&mut problem.since));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Column, Group, LogProgress, Problem, Scope, ShareOffsets, Topic, TopicOffsets};

    /// The stream of a collector that was started later than the source.
    #[test]
    fn every_time_is_moved() {
        let at = At(1);
        let column = || Some(Column { at, older: [(0, at)].into(), ..Column::default() });
        let group = Group {
            described_at: Some(at),
            commits_at: Some(at),
            share: Some(ShareOffsets { at, ..ShareOffsets::default() }),
            ..Group::default()
        };
        let offsets = TopicOffsets { start: column(), end: column(), stable: column() };
        let problem = Problem {
            scope: Scope::Cluster,
            missing: String::new(),
            cause: Name::default(),
            remedy: None,
            since: at,
            lasting: false,
        };
        let body = Snapshot {
            cluster: Some(crate::model::Cluster { observed_at: at, ..crate::model::Cluster::default() }),
            listing: Some(crate::model::Listing { observed_at: at, ..crate::model::Listing::default() }),
            log: Some(LogProgress { observed_at: at, shares_at: Some(at), ..LogProgress::default() }),
            topics: [("t".into(), Topic { observed_at: at, ..Topic::default() })].into(),
            offsets: [("t".into(), offsets)].into(),
            groups: [("g".into(), group)].into(),
            problems: Some(vec![problem]),
            ..Snapshot::default()
        };
        let mut moved = Stamped { at, body };
        let before = format!("{moved:?}");
        moved.shift(Duration::from_millis(41));
        assert_eq!(before.matches("At(1)").count(), 16);
        assert_eq!(format!("{moved:?}"), before.replace("At(1)", "At(42)"));
    }
}
