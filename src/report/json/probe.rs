//! The record at a commit, and how old it is.

use serde::Serialize;

use super::rebalances::time;
use crate::model::{Probe, TimestampType, Wall, millis};

#[derive(Debug, Serialize)]
pub struct ProbeRow {
    /// The exact time lag; `null`: the record has no timestamp.
    age_ms: Option<u64>,
    record_offset: Option<i64>,
    timestamp: Option<String>,
    timestamp_type: Option<TimestampType>,
    /// The timestamp is in the future: the age is 0.
    clock_skew: bool,
    /// No data record is to be read: see [`Probe::NothingToRead`].
    nothing_to_read: bool,
}

pub fn row(probe: Probe, at: Wall) -> ProbeRow {
    let age = probe.age(at);
    let (record_offset, time_of) = match probe {
        Probe::Record { offset, time } => (Some(offset), time),
        Probe::NothingToRead => (None, None),
    };
    ProbeRow {
        age_ms: age.map(|age| millis(age.age)),
        record_offset,
        timestamp: time_of.and_then(|of| time(of.wall)),
        timestamp_type: time_of.map(|of| of.kind),
        clock_skew: age.is_some_and(|age| age.clock_skew),
        nothing_to_read: probe == Probe::NothingToRead,
    }
}
