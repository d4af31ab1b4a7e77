//! What the metadata watch has to say: topics, hashes, changes and what became of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use crate::model::figures::and_more;
use crate::model::{At, GroupKind, Name, Presence, Wall};

pub use crate::metadata::changes::{BrokerChange, Change, Effect, RackCause, TopicChange};

/// What a group's hash is made of and how it stands to the one that the coordinator stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupMetadata {
    pub state: HashState,
    /// The group hash over the subscribed topics that exist; `None` where it cannot be computed.
    pub computed: Option<i64>,
    /// What the coordinator stored; 0: nothing (no topic, or a broker before 4.1). `None`: no log tells.
    pub stored: Option<i64>,
    /// The group epoch that the hash was stored with.
    pub epoch: Option<i32>,
    /// The topics that the group subscribes to (or, where that is unknown, reads), by name.
    pub topics: Vec<Arc<TopicMetadata>>,
    /// Members with a rack of their own and partitions without a replica there, by member id.
    pub far: Vec<FarMember>,
    /// What changed under the group, newest first, at most [`GroupMetadata::KEPT`].
    pub changes: Vec<Outcome>,
}

impl GroupMetadata {
    /// Changes that are kept for a group.
    pub const KEPT: usize = 100;

    /// Number of the newest change that would change the hash, or (classic) rebalance the group: to be looked at.
    pub fn newest(&self) -> Option<u64> {
        self.changes.iter().find(|change| change.consequence != Consequence::None).map(|change| change.change.number)
    }
}

/// How the computed hash stands to the stored one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HashState {
    /// Classic and foreign groups: the coordinator keeps no hash of theirs.
    #[default]
    NotUsed,
    Equal,
    /// Metadata changed and the epoch is not bumped yet.
    Pending {
        since: At,
    },
    /// The coordinator stored another hash a moment ago: topics and racks are being read again.
    Behind {
        since: At,
    },
    /// And no change that was seen explains it.
    Different {
        since: At,
        reason: Explanation,
    },
    /// A broker with replicas was never seen, so its rack is unknown.
    Unconfirmed {
        brokers: BTreeSet<i32>,
    },
    /// The coordinator stored no hash with the epoch: a broker before 4.1, or the group had no topic then.
    NotStored,
    /// There is no log to compare with.
    NoLog,
    /// It cannot be computed, and why.
    NotKnown(String),
}

impl HashState {
    /// Name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotUsed => "not_used",
            Self::Equal => "equal",
            Self::Pending { .. } => "pending",
            Self::Behind { .. } => "behind",
            Self::Different { .. } => "different",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::NotStored => "not_stored",
            Self::NoLog => "no_log",
            Self::NotKnown(_) => "not_known",
        }
    }
}

/// Which input makes the stored hash, tried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Explanation {
    /// Nothing that was tried.
    #[default]
    None,
    /// The stored hash is of the other topics.
    Without(Name),
    /// It is of the topic as it was before its last change.
    Before(Name),
}

/// A topic and what goes into its hash.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TopicMetadata {
    pub name: Name,
    pub presence: Presence,
    pub id: Option<Uuid>,
    pub partitions: usize,
    /// Replicas in each rack; `None` = brokers without one.
    pub racks: Vec<(Option<Name>, usize)>,
    /// `None`: it does not exist, or its id is not known.
    pub hash: Option<i64>,
    /// The newest change of the topic or of its racks that would change the hash.
    pub changed: Option<Arc<MetadataChange>>,
    /// Partitions whose replicas (two or more) all share one rack.
    pub one_rack: Vec<i32>,
    /// Brokers with replicas, whose rack is the one last seen, or was never seen, or follows from a stored hash.
    pub last_seen: BTreeSet<i32>,
    pub unknown: BTreeSet<i32>,
    pub inferred: BTreeSet<i32>,
}

/// A member that reads from other racks although it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarMember {
    pub member: Name,
    pub rack: Name,
    /// How many of the partitions that it holds have no replica in its rack, and how many it holds.
    pub far: usize,
    pub held: usize,
}

/// A change as it was noticed.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataChange {
    /// Grows with each change.
    pub number: u64,
    pub at: At,
    pub wall: Option<Wall>,
    pub what: Noticed,
    pub effect: Effect,
    /// Hash of the topic before and after, where both are computed; 0: no such topic.
    pub hash: Option<(i64, i64)>,
}

/// What was noticed.
#[derive(Debug, Clone, PartialEq)]
pub enum Noticed {
    Metadata(Change),
    /// A group subscribes to other topics: by name, because its regex matches one more, or by its topology.
    Subscription {
        group: Name,
        added: Vec<Name>,
        removed: Vec<Name>,
    },
    /// The stored hash was another one for a while, between two looks, and is as before again.
    Passing {
        group: Name,
    },
}

impl Noticed {
    pub fn subject(&self) -> Name {
        match self {
            Self::Metadata(change) => change.subject(),
            Self::Subscription { group, .. } | Self::Passing { group } => group.clone(),
        }
    }
}

impl std::fmt::Display for Noticed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |names: &[Name]| {
            let named: Vec<String> = names.iter().take(3).map(Name::to_string).collect();
            format!("{}{}", named.join(", "), and_more(names.len() - named.len()))
        };
        match self {
            Self::Metadata(change) => change.fmt(f),
            Self::Passing { .. } => f.write_str(
                "stored another hash for a while and the same again: a reassignment that copied data, most likely",
            ),
            Self::Subscription { added, removed, .. } => match (added.is_empty(), removed.is_empty()) {
                (false, true) => write!(f, "subscribes to {}", list(added)),
                (true, _) => write!(f, "no longer subscribes to {}", list(removed)),
                (false, false) => write!(f, "subscribes to {}, no longer to {}", list(added), list(removed)),
            },
        }
    }
}

/// A change and what it does to one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub change: Arc<MetadataChange>,
    pub consequence: Consequence,
}

/// What a change does to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// Nothing: the hash stays, or (classic) nothing that its clients rejoin for.
    None,
    /// It would get a new epoch; no log tells whether it did.
    WouldBump,
    /// It would get a new epoch; the log has not told of one yet.
    Pending,
    /// It got a new epoch with the new hash, so long after the change was noticed; `None`: the epoch was seen first.
    Bumped { from: i32, to: i32, after: Option<Duration> },
    /// The hash was as before again, before there was a new epoch.
    Undone,
    /// Classic: rebalances when a client of it sees the partition count change.
    Rejoins,
    /// It depends on a rack that was never seen.
    Unconfirmed,
}

/// A line of the feed of all changes.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataLine {
    pub change: Arc<MetadataChange>,
    /// Groups that subscribe to the topic, by id, at most [`MetadataLine::NAMED`].
    pub groups: Vec<(Name, GroupKind, Consequence)>,
    /// How many more.
    pub more: usize,
}

impl MetadataLine {
    pub const NAMED: usize = 20;
}
