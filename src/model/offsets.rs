//! Offsets: what groups committed, and where the logs start and end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{At, Name, Wall};

/// All commits of a group, as one answer gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commits {
    pub observed_at: At,
    pub topics: BTreeMap<Name, BTreeMap<i32, Commit>>,
}

/// A committed offset: the offset of the next record to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commit {
    pub offset: i64,
    pub leader_epoch: Option<i32>,
    /// When it was committed, by the coordinator's clock; known from the coordinator log only.
    pub committed_at: Option<Wall>,
}

/// Log offsets of one topic; index = partition number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicOffsets {
    pub partitions: Vec<PartitionOffsets>,
}

/// Each figure with the time of its own observation; a figure that could not be read again keeps its old time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartitionOffsets {
    /// Log start offset (ListOffsets earliest).
    pub start: Option<(i64, At)>,
    /// High watermark (ListOffsets latest, read_uncommitted).
    pub end: Option<(i64, At)>,
    /// Last stable offset (ListOffsets latest, read_committed).
    pub stable: Option<(i64, At)>,
}
