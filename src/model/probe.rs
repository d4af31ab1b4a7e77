//! Probes: the record that a group reads next, for an exact time lag.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{Name, Wall};

/// The records at a group's commits, of partitions that had lag. What is not named was not read: see the problems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Probes {
    /// When the reading began, by the collector's clock: ages count up to here.
    pub at: Wall,
    pub topics: BTreeMap<Name, BTreeMap<i32, Probe>>,
}

/// The first data record at or after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    Record {
        offset: i64,
        /// `None`: a record without a timestamp (message format 0).
        time: Option<RecordTime>,
    },
    /// The lag is of control records (transaction markers), of records that compaction took away, or (read_committed)
    /// of a transaction that is open or aborted.
    NothingToRead,
}

/// A record's timestamp, and whose clock it is of (`message.timestamp.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordTime {
    pub wall: Wall,
    pub kind: TimestampType,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimestampType {
    /// The producer's clock, or what it chose to say.
    #[default]
    CreateTime,
    /// The broker's clock.
    LogAppendTime,
}

/// How old what a group reads next is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age {
    pub age: Duration,
    /// The timestamp is in the future: its clock is ahead of the collector's, and the age is none.
    pub clock_skew: bool,
}

impl Probe {
    /// The time lag at `at`, by the collector's clock; zero where nothing is to be read. `None`: the record has no
    /// timestamp.
    pub fn age(&self, at: Wall) -> Option<Age> {
        match self {
            Self::NothingToRead => Some(Age::default()),
            Self::Record { time, .. } => {
                let age = at.0.saturating_sub(time.as_ref()?.wall.0);
                let clock_skew = age < 0;
                Some(Age { age: Duration::from_millis(u64::try_from(age).unwrap_or(0)), clock_skew })
            }
        }
    }
}

impl Probes {
    pub fn get(&self, topic: &Name, partition: i32) -> Option<Probe> {
        self.topics.get(topic)?.get(&partition).copied()
    }

    /// The largest time lag; `None`: no record with a timestamp was read, and none that there is nothing to read.
    pub fn oldest(&self) -> Option<Age> {
        self.topics.values().flat_map(BTreeMap::values).filter_map(|probe| probe.age(self.at)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_never_negative() {
        let record = |wall: i64| {
            let time = Some(RecordTime { wall: Wall(wall), kind: TimestampType::CreateTime });
            Probe::Record { offset: 7, time }.age(Wall(10_000)).unwrap()
        };
        let age = |millis, clock_skew| Age { age: Duration::from_millis(millis), clock_skew };
        assert_eq!(record(4_000), age(6_000, false));
        assert_eq!(record(10_000), age(0, false));
        assert_eq!(record(130_000), age(0, true));
        assert_eq!(record(i64::MAX), age(0, true));
        assert_eq!(record(-1), age(10_001, false));
        assert_eq!(Probe::NothingToRead.age(Wall(0)), Some(Age::default()));
        assert_eq!(Probe::Record { offset: 7, time: None }.age(Wall(0)), None);
    }
}
