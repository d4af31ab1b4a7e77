//! Groups and their members, in Kafka's own terms.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{At, Commits, Name, Probes, ShareOffsets};

/// Partitions by topic; the numbers ascend.
pub type TopicPartitions = BTreeMap<Name, Vec<i32>>;

/// A selected group. In a partial snapshot `None` means "as before".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    pub kind: GroupKind,
    /// State as the list of groups gave it.
    pub listed_state: Option<GroupState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// When the description was last confirmed, also if it is not repeated here.
    pub described_at: Option<At>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<Commits>,
    /// When the commits were last read, also if they are not repeated here.
    pub commits_at: Option<At>,
    /// Share groups: how far they have read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareOffsets>,
    /// The records at its commits, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
}

/// What kind of group it is, by the protocol that its members speak.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    #[default]
    Unknown,
    /// Classic rebalance protocol with protocol type `consumer`, or without members and protocol.
    Classic,
    /// KIP-848.
    Consumer,
    /// KIP-932.
    Share,
    /// KIP-1071.
    Streams,
    /// Not listed as a consumer group and of no classic protocol type: the admin calls cannot tell which.
    ShareOrStreams,
    /// Classic protocol with another protocol type: `connect`, `sr`, …
    Other(Name),
}

impl GroupKind {
    /// Whether its members hold partitions exclusively and commit offsets, so that lag and a plan make sense.
    pub fn is_consumer(&self) -> bool {
        matches!(self, Self::Classic | Self::Consumer)
    }

    /// Whether its progress through partitions is known at all: by commits, or (share groups) by share offsets.
    pub fn reads_partitions(&self) -> bool {
        matches!(self, Self::Classic | Self::Consumer | Self::Streams | Self::Share)
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.pad("unknown"),
            Self::Classic => f.pad("classic"),
            Self::Consumer => f.pad("consumer"),
            Self::Share => f.pad("share"),
            Self::Streams => f.pad("streams"),
            Self::ShareOrStreams => f.pad("share or streams"),
            Self::Other(protocol_type) => fmt::Display::fmt(protocol_type, f),
        }
    }
}

/// Group states of all protocols (`org.apache.kafka.common.GroupState`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupState {
    #[default]
    Unknown,
    Empty,
    Stable,
    PreparingRebalance,
    CompletingRebalance,
    Assigning,
    Reconciling,
    NotReady,
    Dead,
}

impl GroupState {
    /// Kafka's name of the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Empty => "Empty",
            Self::Stable => "Stable",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::NotReady => "NotReady",
            Self::Dead => "Dead",
        }
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which of the two ways of knowing a group gave a fact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Admin calls: the state at the time of the call.
    #[default]
    Admin,
    /// The coordinator log, `__consumer_offsets`.
    Log,
}

/// Why the coordinator log does not tell of a group for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogGap {
    /// Its history is still being read.
    CatchingUp,
    /// An open transaction hides what was written after it.
    Held,
    /// The partition cannot be read.
    Failed,
}

/// A group as its coordinator describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    pub evidence: Evidence,
    pub state: GroupState,
    /// The chosen assignor (classic: the protocol name; KIP-848: the server-side assignor).
    pub assignor: Option<Name>,
    /// Broker id.
    pub coordinator: Option<i32>,
    /// Generation (classic) or group epoch (KIP-848, share, streams); told by the log alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i32>,
    /// Epoch that the target assignment was computed for (KIP-848, share, streams).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignment_epoch: Option<i32>,
    /// The group hash (KIP-1101) that the coordinator stored with the group epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_hash: Option<i64>,
    /// Streams: epoch of the topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_epoch: Option<i32>,
    /// Streams: the topics that the topology requires; they make the group hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_topics: Option<Vec<Name>>,
    /// Why the log does not tell of this group now, although it is read: an open transaction holds its partition, it is
    /// not caught up, or it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_gap: Option<LogGap>,
    /// No member has ever joined it (Kafka: a simple consumer group): what commits assigns itself its partitions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub simple: bool,
    pub members: Vec<Member>,
}

impl Description {
    /// The log tells what is true now.
    pub fn follows_log(&self) -> bool {
        self.evidence == Evidence::Log && self.log_gap.is_none()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    pub id: Name,
    /// `group.instance.id`: a static member.
    pub instance_id: Option<Name>,
    pub client_id: Name,
    pub host: Name,
    pub rack: Option<Name>,
    /// Subscribed topic names; `None`: not known by this evidence.
    pub subscription: Option<Vec<Name>>,
    /// Classic: the generation that the member named when it joined (ConsumerProtocolSubscription, or the user data of
    /// cooperative-sticky); the sticky assignors go by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_from: Option<i32>,
    /// The partitions that the member holds now; `None` where they cannot be decoded (another protocol type).
    pub assignment: Option<TopicPartitions>,
    /// KIP-848: what it shall hold.
    pub target: Option<TopicPartitions>,
    /// What only the log tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<MemberLog>>,
    /// How many partitions it holds of topics that were not selected: those are left out of the rest.
    #[serde(skip_serializing_if = "is_none")]
    pub elsewhere: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// What only the coordinator log tells of a member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberLog {
    /// Member epoch; −2: a static member that is away.
    pub epoch: Option<i32>,
    /// It still has to give up partitions that the target gives to others.
    pub pending_revocation: TopicPartitions,
    /// It waits for partitions that others have not given up yet (`MemberState` 2).
    pub waits: bool,
    /// Subscribed regex (RE2J).
    pub regex: Option<Name>,
    /// The server-side assignor that it asks for.
    pub assignor: Option<Name>,
    pub rebalance_timeout_ms: Option<i32>,
    pub session_timeout_ms: Option<i32>,
    /// A member of a KIP-848 group that still speaks the classic protocol.
    pub classic_protocol: bool,
    /// Streams: what it runs, by kind.
    pub tasks: Option<Tasks>,
}

/// Tasks of a streams member: partitions by subtopology.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tasks {
    pub active: TopicPartitions,
    pub standby: TopicPartitions,
    pub warmup: TopicPartitions,
    /// Process of the member: standbys are placed in another one.
    pub process: Name,
}
