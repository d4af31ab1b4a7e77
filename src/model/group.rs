//! Groups and their members, in Kafka's own terms.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{At, Commits, Name};

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
    pub members: Vec<Member>,
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
    /// How many partitions it holds of topics that were not selected: those are left out of the rest.
    #[serde(skip_serializing_if = "is_none")]
    pub elsewhere: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_none(count: &usize) -> bool {
    *count == 0
}
