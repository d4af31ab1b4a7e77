//! Events: what happened at a known place of the coordinator log, `__consumer_offsets`. Each is one record, told with
//! what only its predecessors can add (who is gone, when a commit was last seen). What events mean together, such as a
//! rebalance, is not said here.

use serde::{Deserialize, Serialize};

use crate::model::{GroupKind, Name, TopicPartitions, Wall};

/// One event. Ordinary commits are not events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub group: Name,
    /// Timestamp of the record: the clock of the coordinator that wrote it.
    pub wall: Wall,
    /// Partition and offset in the coordinator log: whoever has seen it drops it.
    pub log: (i32, i64),
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Classic protocol: a GroupMetadata record. A generation that repeats the last one is a static member that came
    /// back; generation 0 without members is a group's creation.
    Generation(Box<Generation>),
    /// KIP-848, share, streams: the group epoch was bumped.
    GroupEpoch {
        kind: GroupKind,
        epoch: i32,
        /// The group hash (KIP-1101) that the epoch was computed from; `None`: no topic, or an older broker.
        hash: Option<i64>,
    },
    /// The target assignment of this epoch was computed.
    AssignmentEpoch { epoch: i32 },
    /// A member joined, or changed what it subscribes to or who it is.
    Member(Box<EventMember>),
    /// What one member has now, and at which epoch.
    MemberEpoch {
        member: Name,
        /// −1: it leaves; −2: a static member is away and may come back.
        epoch: i32,
        /// All that the group asked of it is done (`MemberState` 0).
        settled: bool,
        /// Also what it must still give up.
        held: TopicPartitions,
    },
    /// A member is gone.
    MemberGone(Box<Departure>),
    /// The group is deleted.
    GroupGone,
    /// A commit moved back: `from` > `to`.
    CommitBack { topic: Name, partition: i32, from: i64, to: i64 },
}

/// A GroupMetadata record with members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Generation {
    pub generation: i32,
    pub protocol_type: Name,
    /// The chosen assignor.
    pub protocol: Option<Name>,
    /// End of the join phase (`currentStateTimestamp`), by the coordinator's clock.
    pub joined_at: Option<Wall>,
    pub members: Vec<EventMember>,
    /// Members of the record before that are not in this one.
    pub gone: Vec<Departure>,
}

/// A member as a record describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventMember {
    pub id: Name,
    pub instance_id: Option<Name>,
    pub client_id: Name,
    pub host: Name,
    pub rack: Option<Name>,
    /// Subscribed topic names; `None`: not in the record.
    pub subscription: Option<Vec<Name>>,
    /// The regex it subscribes to (RE2J).
    pub regex: Option<Name>,
    /// The server-side assignor that it asks for.
    pub assignor: Option<Name>,
    /// Milliseconds; classic members: also the session timeout.
    pub rebalance_timeout_ms: Option<i32>,
    pub session_timeout_ms: Option<i32>,
    /// Classic protocol: what the leader gave it in this generation.
    pub held: Option<TopicPartitions>,
}

/// A member that is gone, and what the log last knew of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Departure {
    pub member: EventMember,
    /// When a partition that it held was last committed.
    pub last_commit: Option<Wall>,
    /// Whether it held a partition with a commit below the end that was last known; `None`: no end is known.
    pub lag_waiting: Option<bool>,
}
