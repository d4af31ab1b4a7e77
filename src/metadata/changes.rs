//! What changed between two observations of topics and brokers, and what each change does to the topic hash (KIP-1101).
//!
//! A change says *would*, never *did*: whether a group got a new epoch is in the coordinator's log. A client cannot see
//! everything (see [`Brokers`]), so some effects are unconfirmed.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::brokers::{Brokers, Rack, Standing};
use crate::model::Name;

/// A topic as observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicState {
    pub id: Uuid,
    /// Index = partition number.
    pub partitions: Vec<PartitionState>,
}

/// A partition as observed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionState {
    /// Broker id; `None` without leader.
    pub leader: Option<i32>,
    /// Broker ids in the order of the assignment.
    pub replicas: Vec<i32>,
    /// Broker ids in any order.
    pub isr: Vec<i32>,
}

/// What was known at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// `None` = there is no such topic. A topic that could not be asked for is not in the map, and nothing is said of it.
    pub topics: BTreeMap<Name, Option<TopicState>>,
    pub brokers: Brokers,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Topic { topic: Name, change: TopicChange },
    Broker { id: i32, change: BrokerChange },
}

/// A change of one topic; partitions that changed alike are one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChange {
    Created {
        id: Uuid,
        partitions: usize,
    },
    Deleted {
        id: Uuid,
    },
    /// Deleted and created between the observations.
    Recreated {
        from: Uuid,
        to: Uuid,
    },
    /// Number of partitions; Kafka only ever adds some.
    Partitions {
        from: usize,
        to: usize,
    },
    /// The racks of replicas changed, by all of these causes.
    Racks {
        causes: BTreeSet<RackCause>,
        partitions: Vec<RackDiff>,
    },
    /// Replicas moved to brokers of the same racks.
    MovedWithinRacks {
        partitions: Vec<i32>,
    },
    /// The same replicas in another order: another preferred leader.
    ReplicaOrder {
        partitions: Vec<i32>,
    },
    /// Another leader, none, or one again.
    Leader {
        partitions: Vec<LeaderDiff>,
    },
    /// In-sync replicas joined or left.
    InSync {
        partitions: Vec<i32>,
    },
}

/// The leader of one partition before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaderDiff {
    pub partition: i32,
    pub from: Option<i32>,
    pub to: Option<i32>,
}

/// Why the racks of a partition's replicas changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RackCause {
    /// Replicas moved to other brokers.
    Reassigned,
    /// The broker was restarted with another `broker.rack`.
    BrokerRack {
        broker: i32,
    },
    Unregistered {
        broker: i32,
    },
    /// A broker that had been unregistered is back.
    Registered {
        broker: i32,
    },
}

/// The rack multiset of one partition before and after, each sorted; without what is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RackDiff {
    pub partition: i32,
    pub from: Vec<Name>,
    pub to: Vec<Name>,
    /// A rack on one of the sides was never seen.
    pub unconfirmed: bool,
}

/// A change of one broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerChange {
    /// Seen for the first time.
    Appeared {
        rack: Option<Name>,
    },
    /// Clients do not see it any more; it is still registered, so its rack counts.
    Stopped {
        rack: Option<Name>,
    },
    /// Back with the same rack.
    Started {
        rack: Option<Name>,
    },
    /// Back with another rack.
    Rack {
        from: Option<Name>,
        to: Option<Name>,
    },
    Unregistered {
        rack: Option<Name>,
    },
    /// Back after it had been unregistered.
    Registered {
        rack: Option<Name>,
    },
}

/// What a change does to the hash of a topic, and so to the groups of the consumer, share and streams protocols that
/// subscribe to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Other bytes are hashed: would bump the group epoch.
    ChangesHash,
    KeepsHash,
    /// It depends on a rack that was never seen.
    Unconfirmed,
    /// Of a broker: it changes the hash of the topics with replicas there, each of which has its own change.
    ByTopic,
}

impl Change {
    pub fn effect(&self) -> Effect {
        match self {
            Self::Topic { change, .. } => change.effect(),
            Self::Broker { change, .. } => change.effect(),
        }
    }
}

impl TopicChange {
    pub fn effect(&self) -> Effect {
        match self {
            Self::Created { .. } | Self::Deleted { .. } | Self::Recreated { .. } | Self::Partitions { .. } => {
                Effect::ChangesHash
            }
            Self::Racks { partitions, .. } if partitions.iter().all(|p| p.unconfirmed) => Effect::Unconfirmed,
            Self::Racks { .. } => Effect::ChangesHash,
            Self::MovedWithinRacks { .. } | Self::ReplicaOrder { .. } | Self::Leader { .. } | Self::InSync { .. } => {
                Effect::KeepsHash
            }
        }
    }
}

impl BrokerChange {
    pub fn effect(&self) -> Effect {
        match self {
            Self::Appeared { .. } | Self::Stopped { .. } | Self::Started { .. } => Effect::KeepsHash,
            Self::Rack { .. } | Self::Unregistered { .. } | Self::Registered { .. } => Effect::ByTopic,
        }
    }
}

/// All changes from one observation to a later one: brokers by id, then topics by name.
pub fn changes(before: &Observation, after: &Observation) -> Vec<Change> {
    let brokers = after.brokers.iter().filter_map(|(id, _)| {
        let change = broker_change(id, &before.brokers, &after.brokers)?;
        Some(Change::Broker { id, change })
    });
    let topics = after.topics.iter().flat_map(|(topic, now)| {
        let changes = match (before.topics.get(topic), now) {
            (None, _) | (Some(None), None) => Vec::new(),
            (Some(None), Some(now)) => vec![TopicChange::Created { id: now.id, partitions: now.partitions.len() }],
            (Some(Some(was)), None) => vec![TopicChange::Deleted { id: was.id }],
            (Some(Some(was)), Some(now)) if was.id != now.id => {
                vec![TopicChange::Recreated { from: was.id, to: now.id }]
            }
            (Some(Some(was)), Some(now)) => topic_changes(was, now, before, after),
        };
        changes.into_iter().map(|change| Change::Topic { topic: topic.clone(), change })
    });
    brokers.chain(topics).collect()
}

fn broker_change(id: i32, before: &Brokers, after: &Brokers) -> Option<BrokerChange> {
    let now = after.get(id)?;
    let rack = now.rack.clone();
    let Some(was) = before.get(id) else {
        return (now.standing == Standing::Up).then_some(BrokerChange::Appeared { rack });
    };
    match (was.standing, now.standing) {
        (Standing::Unregistered, Standing::Up) => Some(BrokerChange::Registered { rack }),
        (Standing::Up | Standing::LastSeen | Standing::Inferred, Standing::Unregistered) => {
            Some(BrokerChange::Unregistered { rack })
        }
        (_, Standing::Up) if was.rack != now.rack => Some(BrokerChange::Rack { from: was.rack.clone(), to: rack }),
        (Standing::LastSeen | Standing::Inferred, Standing::Up) => Some(BrokerChange::Started { rack }),
        (Standing::Up, Standing::LastSeen) => Some(BrokerChange::Stopped { rack }),
        _ => None,
    }
}

/// Changes of a topic that is still the same one.
fn topic_changes(was: &TopicState, now: &TopicState, before: &Observation, after: &Observation) -> Vec<TopicChange> {
    let mut racks: BTreeMap<BTreeSet<RackCause>, Vec<RackDiff>> = BTreeMap::new();
    let [mut within, mut order, mut in_sync] = [const { Vec::new() }; 3];
    let mut leader = Vec::new();
    for (partition, (was, now)) in (0i32..).zip(was.partitions.iter().zip(&now.partitions)) {
        if was.leader != now.leader {
            leader.push(LeaderDiff { partition, from: was.leader, to: now.leader });
        }
        if sorted(&was.isr) != sorted(&now.isr) {
            in_sync.push(partition);
        }
        let moved = sorted(&was.replicas) != sorted(&now.replicas);
        if !moved && was.replicas != now.replicas {
            order.push(partition);
        }
        if let Some((causes, diff)) = rack_change(partition, was, now, &before.brokers, &after.brokers) {
            racks.entry(causes).or_default().push(diff);
        } else if moved {
            within.push(partition);
        }
    }
    let mut changes = Vec::new();
    let (from, to) = (was.partitions.len(), now.partitions.len());
    if from != to {
        changes.push(TopicChange::Partitions { from, to });
    }
    changes.extend(racks.into_iter().map(|(causes, partitions)| TopicChange::Racks { causes, partitions }));
    let mut keep = |some: bool, change| changes.extend(Some(change).filter(|_| some));
    keep(!within.is_empty(), TopicChange::MovedWithinRacks { partitions: within });
    keep(!order.is_empty(), TopicChange::ReplicaOrder { partitions: order });
    keep(!leader.is_empty(), TopicChange::Leader { partitions: leader });
    keep(!in_sync.is_empty(), TopicChange::InSync { partitions: in_sync });
    changes
}

fn sorted(ids: &[i32]) -> Vec<i32> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

/// The difference of the rack multisets of a partition, if there is one, and why.
fn rack_change(
    partition: i32,
    was: &PartitionState,
    now: &PartitionState,
    before: &Brokers,
    after: &Brokers,
) -> Option<(BTreeSet<RackCause>, RackDiff)> {
    let from = Multiset::of(&was.replicas, before, after);
    let to = Multiset::of(&now.replicas, after, before);
    if from == to {
        return None;
    }
    let mut causes = BTreeSet::new();
    // What if only the replicas had moved?
    if Multiset::of(&now.replicas, before, after) != from {
        causes.insert(RackCause::Reassigned);
    }
    for &broker in &now.replicas {
        match broker_change(broker, before, after) {
            Some(BrokerChange::Rack { .. }) => causes.insert(RackCause::BrokerRack { broker }),
            Some(BrokerChange::Unregistered { rack: Some(_) }) => causes.insert(RackCause::Unregistered { broker }),
            Some(BrokerChange::Registered { rack: Some(_) }) => causes.insert(RackCause::Registered { broker }),
            _ => false,
        };
    }
    let unconfirmed = !from.unknown.is_empty() || !to.unknown.is_empty();
    let names = |racks: Vec<&Name>| racks.into_iter().cloned().collect();
    Some((causes, RackDiff { partition, from: names(from.racks), to: names(to.racks), unconfirmed }))
}

/// The racks of replicas, sorted, and the brokers among them whose rack nobody has seen.
#[derive(PartialEq, Eq)]
struct Multiset<'a> {
    racks: Vec<&'a Name>,
    unknown: Vec<i32>,
}

impl<'a> Multiset<'a> {
    /// A rack that is unknown in `brokers` is taken from the `other` observation: that we learned it is no change.
    fn of(replicas: &[i32], brokers: &'a Brokers, other: &'a Brokers) -> Self {
        let (mut racks, mut unknown) = (Vec::new(), Vec::new());
        for &id in replicas {
            match (brokers.rack(id), other.rack(id)) {
                (Rack::Known(rack), _) | (Rack::Unknown, Rack::Known(rack)) => racks.extend(rack),
                (Rack::Unknown, Rack::Unknown) => unknown.push(id),
            }
        }
        racks.sort_unstable_by(|a, b| a.cmp_utf16(b));
        unknown.sort_unstable();
        Self { racks, unknown }
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
