//! Offsets: what groups committed, and where the logs start and end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{At, Name, Wall};

/// All commits of a group, as one answer gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commits {
    pub topics: BTreeMap<Name, BTreeMap<i32, Commit>>,
}

/// A committed offset: the offset of the next record to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commit {
    pub offset: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_epoch: Option<i32>,
    /// When it was committed, by the coordinator's clock; known from the coordinator log only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<Wall>,
}

/// How far a share group has read, from `__share_group_state` (KIP-932).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareOffsets {
    pub at: At,
    pub topics: BTreeMap<Name, BTreeMap<i32, SharePartition>>,
}

/// One partition of a share group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharePartition {
    /// Share-partition start offset: everything below is done.
    pub start: Option<i64>,
    /// Records at or above it that are done, too.
    pub done: Option<i32>,
}

impl SharePartition {
    /// The broker's lag: end − start − done; `None` where either is not known.
    pub fn backlog(&self, end: i64) -> Option<u64> {
        let backlog = end.saturating_sub(self.start?).saturating_sub(i64::from(self.done?));
        Some(u64::try_from(backlog).unwrap_or(0))
    }
}

/// Log offsets of one topic. In a partial snapshot `None` means "as before".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicOffsets {
    /// Log start offsets (ListOffsets earliest).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Column>,
    /// High watermarks (ListOffsets latest, read_uncommitted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Column>,
    /// Last stable offsets (ListOffsets latest, read_committed). Read before `end`, so none is above an end of the same
    /// poll; while records are written it is below it without a transaction, too. Asked with the log starts, and in
    /// each poll for readers with read_committed and while a transaction is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable: Option<Column>,
}

/// One kind of offset for every partition of a topic, and when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    /// When the newest of the values was read.
    pub at: At,
    /// Index = partition number; `None`: never read.
    pub values: Vec<Option<i64>>,
    /// Partitions whose value is older than `at`, because it could not be read again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub older: BTreeMap<i32, At>,
}

impl Column {
    /// The value of a partition and when it was read.
    pub fn get(&self, partition: i32) -> Option<(i64, At)> {
        let value = usize::try_from(partition).ok().and_then(|index| self.values.get(index).copied().flatten())?;
        Some((value, self.older.get(&partition).copied().unwrap_or(self.at)))
    }
}

impl TopicOffsets {
    /// Takes over the columns that `newer` has.
    pub fn apply(&mut self, newer: TopicOffsets) {
        for (known, newer) in
            [(&mut self.start, newer.start), (&mut self.end, newer.end), (&mut self.stable, newer.stable)]
        {
            if newer.is_some() {
                *known = newer;
            }
        }
    }
}
