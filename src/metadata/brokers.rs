//! [`Brokers`]: the rack of each broker, as it is or as it was last seen.
//!
//! Kafka hashes the racks of *registered* brokers. A broker that only stops stays registered, and so does its rack, but
//! clients no longer see it: so racks last seen are remembered here, and marked. No request tells a client that a
//! broker was unregistered; who finds out (by the stored hash) says so with [`Brokers::unregister`].

use std::collections::{BTreeMap, BTreeSet};

use super::TopicInput;
use super::changes::TopicState;
use crate::model::Name;

/// What is known of the brokers of a cluster, by broker id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brokers {
    brokers: BTreeMap<i32, Broker>,
    /// Each rack's text once, so that looking for it is mostly comparing pointers.
    racks: BTreeSet<Name>,
}

/// One broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// `broker.rack`, now or when last seen.
    pub rack: Option<Name>,
    pub standing: Standing,
}

/// Whether the rack of a broker is an observation of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Clients see it.
    Up,
    /// Clients do not see it any more: stopped. Its registration stays, and with it its rack.
    LastSeen,
    /// Removed from the cluster: it has no rack for the hash.
    Unregistered,
    /// Clients never saw it; with this rack, or without one, a coordinator's stored hash comes out.
    Inferred,
}

/// The rack of one replica, as it goes into the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rack<'a> {
    Known(Option<&'a Name>),
    /// On a broker that was down ever since we started to look.
    Unknown,
}

/// How sure a computed hash is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certainty {
    /// Brokers with replicas of the topic whose rack is the one last seen.
    pub last_seen: BTreeSet<i32>,
    /// Brokers with replicas of the topic whose rack was never seen: the hash is unconfirmed.
    pub unknown: BTreeSet<i32>,
}

impl Brokers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what clients see now: id and rack of each broker. Those that are missing are remembered as last seen.
    pub fn observe(&mut self, seen: impl IntoIterator<Item = (i32, Option<Name>)>) {
        for broker in self.brokers.values_mut().filter(|broker| broker.standing == Standing::Up) {
            broker.standing = Standing::LastSeen;
        }
        for (id, rack) in seen {
            let rack = rack.map(|rack| self.shared(rack));
            self.brokers.insert(id, Broker { rack, standing: Standing::Up });
        }
    }

    /// The broker was removed from the cluster. Ignored for a broker that clients see.
    pub fn unregister(&mut self, id: i32) {
        if let Some(broker) = self.brokers.get_mut(&id).filter(|broker| broker.standing != Standing::Up) {
            broker.standing = Standing::Unregistered;
        }
    }

    /// With this rack of a broker that was never seen a coordinator's stored hash comes out. Ignored for any other.
    pub fn infer(&mut self, id: i32, rack: Option<Name>) {
        let rack = rack.map(|rack| self.shared(rack));
        self.brokers.entry(id).or_insert(Broker { rack, standing: Standing::Inferred });
    }

    /// The racks that were ever seen, each once.
    pub fn racks(&self) -> impl Iterator<Item = &Name> {
        self.racks.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.brokers.is_empty()
    }

    fn shared(&mut self, rack: Name) -> Name {
        if let Some(known) = self.racks.get(&rack) {
            return known.clone();
        }
        self.racks.insert(rack.clone());
        rack
    }

    pub fn get(&self, id: i32) -> Option<&Broker> {
        self.brokers.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (i32, &Broker)> {
        self.brokers.iter().map(|(&id, broker)| (id, broker))
    }

    /// The rack of a replica on this broker.
    pub fn rack(&self, id: i32) -> Rack<'_> {
        match self.brokers.get(&id) {
            Some(Broker { standing: Standing::Unregistered, .. }) => Rack::Known(None),
            Some(broker) => Rack::Known(broker.rack.as_ref()),
            None => Rack::Unknown,
        }
    }

    /// What the hash of the topic is computed from; a replica on a broker that was never seen counts as without rack.
    pub fn input(&self, name: &Name, topic: &TopicState) -> TopicInput {
        let rack = |&id: &i32| match self.rack(id) {
            Rack::Known(rack) => rack.map(Name::raw),
            Rack::Unknown => None,
        };
        let partitions = topic.partitions.iter().map(|partition| partition.replicas.iter().map(rack));
        TopicInput::new(topic.id, name.clone(), partitions)
    }

    /// How sure [`Brokers::input`] is.
    pub fn certainty(&self, topic: &TopicState) -> Certainty {
        let mut certainty = Certainty::default();
        for id in topic.partitions.iter().flat_map(|partition| &partition.replicas) {
            match self.brokers.get(id).map(|broker| broker.standing) {
                None => certainty.unknown.insert(*id),
                Some(Standing::LastSeen) => certainty.last_seen.insert(*id),
                Some(Standing::Up | Standing::Unregistered | Standing::Inferred) => false,
            };
        }
        certainty
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::changes::PartitionState;
    use super::super::topic_hash;
    use super::*;

    fn rack(name: &str) -> Name {
        Name::new(name)
    }

    fn racks<const N: usize>(brokers: [(i32, &str); N]) -> [(i32, Option<Name>); N] {
        brokers.map(|(id, name)| (id, Some(rack(name))))
    }

    fn topic(replicas: &[i32]) -> TopicState {
        let partition =
            PartitionState { leader: replicas.first().copied(), replicas: replicas.to_vec(), isr: replicas.to_vec() };
        TopicState { id: Uuid::from_u128(7), partitions: vec![partition] }
    }

    /// KAFKA-20778: the rack of a stopped broker must not go and come back.
    #[test]
    fn a_stopped_broker_keeps_its_rack_and_is_marked() {
        let (name, topic) = (Name::new("t"), topic(&[1, 2, 3]));
        let mut brokers = Brokers::new();
        brokers.observe(racks([(1, "a"), (2, "b"), (3, "c")]));
        let before = topic_hash(&brokers.input(&name, &topic));
        assert_eq!(brokers.certainty(&topic), Certainty::default());
        brokers.observe(racks([(1, "a"), (2, "b")]));
        assert_eq!(topic_hash(&brokers.input(&name, &topic)), before);
        assert_eq!(brokers.certainty(&topic).last_seen, BTreeSet::from([3]));
        assert_eq!(brokers.get(3).map(|b| (b.rack.clone(), b.standing)), Some((Some(rack("c")), Standing::LastSeen)));

        brokers.unregister(3);
        assert_ne!(topic_hash(&brokers.input(&name, &topic)), before);
        brokers.unregister(1);
        assert_eq!(brokers.rack(1), Rack::Known(Some(&rack("a"))), "clients see it: it is registered");
        brokers.observe(racks([(1, "a"), (2, "b"), (3, "c")]));
        assert_eq!(topic_hash(&brokers.input(&name, &topic)), before);
    }

    #[test]
    fn a_rack_never_seen_makes_the_hash_unconfirmed() {
        let mut brokers = Brokers::new();
        brokers.observe([(1, Some(rack("a"))), (2, None)]);
        let certainty = brokers.certainty(&topic(&[1, 2, 3]));
        assert_eq!(certainty.unknown, BTreeSet::from([3]));
        assert_eq!(brokers.rack(2), Rack::Known(None));
    }
}
