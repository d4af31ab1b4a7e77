//! Topics and their partitions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::At;

/// A topic that a selected group commits to, owns or subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topic {
    pub observed_at: At,
    pub presence: Presence,
    /// Topic id (KIP-516); unknown until DescribeTopics has answered.
    pub id: Option<Uuid>,
    /// Index = partition number.
    pub partitions: Vec<Partition>,
}

/// Whether the topic is there, as far as our rights tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Nobody has answered yet.
    #[default]
    Unknown,
    Present,
    /// The cluster says that there is no such topic.
    Gone,
    /// Our principal may not describe it: whether it exists is unknown.
    Denied,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Broker id; `None` while the partition has no leader.
    pub leader: Option<i32>,
    /// Broker ids in the order of the assignment (the first is the preferred leader).
    pub replicas: Vec<i32>,
    /// In-sync replicas.
    pub isr: Vec<i32>,
}
