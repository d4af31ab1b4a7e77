use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::view::{Explanation, HashState};
use super::*;
use crate::metadata::changes::{BrokerChange, TopicChange};
use crate::metadata::{TopicInput, group_hash, topic_hash};
use crate::model::{
    Broker, Cluster, Description, Evidence, Group, Member, Partition, Presence, Topic, TopicPartitions,
};

/// Facts that a test changes, and the watch that looks at them.
struct World {
    facts: Snapshot,
    watch: Watch,
    now: u64,
}

const RACKS: [&str; 3] = ["a", "b", "c"];

fn topic(id: u128, replicas: &[&[i32]]) -> Topic {
    let partition = |replicas: &&[i32]| Partition {
        leader: replicas.first().copied(),
        replicas: replicas.to_vec(),
        isr: replicas.to_vec(),
    };
    let partitions = replicas.iter().map(partition).collect();
    Topic { presence: Presence::Present, id: Some(Uuid::from_u128(id)), partitions, ..Topic::default() }
}

/// The hash of a group on one topic, from its racks.
fn hash(id: u128, racks: &[&[&str]]) -> i64 {
    let racks = racks.iter().map(|racks| racks.iter().map(|rack| Some(*rack)));
    let name = Name::new("orders");
    let hash = topic_hash(&TopicInput::new(Uuid::from_u128(id), name.clone(), racks));
    group_hash([(&name, hash)])
}

impl World {
    fn new() -> Self {
        let mut world = Self { facts: Snapshot::default(), watch: Watch::default(), now: 0 };
        world.brokers(&[1, 2, 3]);
        world.facts.topics.insert("orders".into(), topic(7, &[&[1, 2], &[2, 3]]));
        world
    }

    fn brokers(&mut self, up: &[i32]) {
        let broker = |id: &i32| {
            let rack = Some(Name::new(RACKS[*id as usize - 1]));
            (*id, Broker { rack, ..Broker::default() })
        };
        self.facts.cluster = Some(Cluster { brokers: up.iter().map(broker).collect(), ..Cluster::default() });
    }

    fn rack(&mut self, id: i32, rack: &str) {
        let brokers = &mut self.facts.cluster.as_mut().unwrap().brokers;
        brokers.get_mut(&id).unwrap().rack = Some(rack.into());
    }

    fn group(&mut self, name: &str, kind: GroupKind, log: Option<(i32, i64)>) {
        let member = Member {
            id: "m".into(),
            rack: Some("c".into()),
            subscription: Some(vec!["orders".into()]),
            assignment: Some(TopicPartitions::from([("orders".into(), vec![0, 1])])),
            ..Member::default()
        };
        let description = Description {
            evidence: if log.is_some() { Evidence::Log } else { Evidence::Admin },
            epoch: log.map(|(epoch, _)| epoch),
            stored_hash: log.map(|(_, hash)| hash).filter(|_| kind != GroupKind::Classic),
            members: vec![member],
            ..Description::default()
        };
        let group = Group { kind, description: Some(description), described_at: Some(At(1)), ..Group::default() };
        self.facts.groups.insert(name.into(), group);
    }

    fn log(&mut self, name: &str, epoch: i32, hash: i64) {
        let description = self.facts.groups.get_mut(name).unwrap().description.as_mut().unwrap();
        (description.epoch, description.stored_hash) = (Some(epoch), Some(hash));
    }

    /// Looks at everything so many milliseconds later.
    fn look(&mut self, later: u64) {
        self.now += later;
        let groups = self.facts.groups.keys().cloned().collect();
        let look = Look { at: At(self.now), wall: None, topics: None, groups: &groups };
        self.watch.look(&self.facts, look);
    }

    fn of(&self, group: &str) -> &GroupMetadata {
        self.watch.of(&group.into()).unwrap()
    }

    fn newest(&self, group: &str) -> (String, Effect, Consequence) {
        let outcome = &self.of(group).changes[0];
        (outcome.change.what.to_string(), outcome.change.effect, outcome.consequence)
    }
}

const OLD: &[&[&str]] = &[&["a", "b"], &["b", "c"]];
const MORE: &[&[&str]] = &[&["a", "b"], &["b", "c"], &["a", "c"]];

fn more() -> Topic {
    topic(7, &[&[1, 2], &[2, 3], &[3, 1]])
}

#[test]
fn a_bump_after_the_change_is_its_proof() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((41, hash(7, OLD))));
    world.group("c", GroupKind::Classic, Some((5, 0)));
    world.group("w", GroupKind::Consumer, None);
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert_eq!((&world.of("c").state, &world.of("w").state), (&HashState::NotUsed, &HashState::NoLog));
    assert!(world.watch.feed().is_empty());

    world.facts.topics.insert("orders".into(), more());
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Pending { since: At(2000) });
    assert_eq!(world.newest("g"), ("2 > 3 partitions".into(), Effect::ChangesHash, Consequence::Pending));
    assert_eq!(world.newest("w").2, Consequence::WouldBump);
    assert_eq!(world.newest("c").2, Consequence::Rejoins);

    world.log("g", 42, hash(7, MORE));
    world.look(3100);
    assert_eq!(world.of("g").state, HashState::Equal);
    let bumped = Consequence::Bumped { from: 41, to: 42, after: Some(Duration::from_millis(3100)) };
    assert_eq!(world.newest("g").2, bumped);
    let feed = world.watch.feed();
    assert_eq!(feed.len(), 1);
    let told: Vec<_> = feed[0].groups.iter().map(|(name, _, consequence)| (name.raw(), *consequence)).collect();
    assert_eq!(told, [("c", Consequence::Rejoins), ("g", bumped), ("w", Consequence::WouldBump)]);
}

#[test]
fn a_bump_that_is_seen_first_is_explained_by_the_change() {
    let mut world = World::new();
    world.group("g", GroupKind::Share, Some((4, hash(7, OLD))));
    world.look(1000);
    world.log("g", 5, hash(7, MORE));
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Behind { since: At(2000) });
    world.facts.topics.insert("orders".into(), more());
    world.look(2000);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert_eq!(world.newest("g").2, Consequence::Bumped { from: 4, to: 5, after: None });
}

/// While a replica moves within its rack the partition has both, and the hash is another one.
#[test]
fn a_hash_that_was_another_one_between_two_looks_is_told() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((7, hash(7, OLD))));
    world.look(1000);
    world.log("g", 8, hash(7, &[&["a", "b", "b"], &["b", "c"]]));
    world.look(100);
    assert_eq!(world.of("g").state, HashState::Behind { since: At(1100) });
    world.log("g", 9, hash(7, OLD));
    world.look(100);
    assert_eq!(world.of("g").state, HashState::Equal);
    let (words, effect, consequence) = world.newest("g");
    assert!(words.contains("another hash for a while"), "{words}");
    assert_eq!((effect, consequence), (Effect::ChangesHash, Consequence::Bumped { from: 7, to: 9, after: None }));
    assert_eq!(world.watch.feed()[0].groups.len(), 1);
}

#[test]
fn members_that_went_and_came_back_are_no_change_of_the_hash() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((7, hash(7, OLD))));
    world.look(1000);
    world.log("g", 8, 0);
    world.look(100);
    world.log("g", 9, hash(7, OLD));
    world.look(100);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert!(world.watch.feed().is_empty(), "{:?}", world.watch.feed());
    // Nor one that came and went at once.
    world.facts.groups.get_mut("g").unwrap().description.as_mut().unwrap().members.clear();
    world.log("g", 10, 0);
    world.look(100);
    for (epoch, hash) in [(11, Some(hash(7, OLD))), (12, None)] {
        let what = What::GroupEpoch { kind: GroupKind::Consumer, epoch, hash };
        let event = Event { group: "g".into(), wall: Wall(0), log: (0, i64::from(epoch)), what };
        world.watch.event(&event, At(world.now), None);
    }
    world.log("g", 12, 0);
    world.look(100);
    assert!(world.watch.feed().is_empty(), "{:?}", world.watch.feed());
}

#[test]
fn what_nothing_explains_is_different_after_a_while() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((4, 99)));
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Behind { since: At(1000) });
    world.look(20_000);
    assert_eq!(world.of("g").state, HashState::Different { since: At(1000), reason: Explanation::None });
    // A topic that the coordinator does not count.
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((4, hash(7, OLD))));
    world.facts.topics.insert("new".into(), topic(8, &[&[1]]));
    let description = world.facts.groups.get_mut("g").unwrap().description.as_mut().unwrap();
    description.members[0].subscription = Some(vec!["new".into(), "orders".into()]);
    world.look(1000);
    world.look(20_000);
    let HashState::Different { reason, .. } = &world.of("g").state else { panic!("{:?}", world.of("g").state) };
    assert_eq!(*reason, Explanation::Without("new".into()));
}

/// KAFKA-20778 on our side: no client sees a stopped broker's rack, and the hash has it all the same.
#[test]
fn a_stopped_broker_changes_nothing_until_a_stored_hash_says_that_it_is_unregistered() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((1, hash(7, OLD))));
    world.look(1000);
    world.brokers(&[1, 2]);
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    let (words, effect, consequence) = world.newest("g");
    assert_eq!((effect, consequence), (Effect::KeepsHash, Consequence::None));
    assert!(words.contains("stopped, rack c as last seen"), "{words}");
    assert_eq!(world.of("g").topics[0].last_seen, BTreeSet::from([3]));
    assert_eq!(world.of("g").newest(), None);

    world.log("g", 2, hash(7, &[&["a", "b"], &["b"]]));
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    let (words, effect, consequence) = world.newest("g");
    assert_eq!((effect, consequence), (Effect::ChangesHash, Consequence::Bumped { from: 1, to: 2, after: None }));
    assert_eq!(words, "broker 3 is unregistered: racks of 1: b c > b");
    let line = world.watch.feed().iter().any(|line| match &line.change.what {
        Noticed::Metadata(Change::Broker { id: 3, change }) => matches!(change, BrokerChange::Unregistered { .. }),
        _ => false,
    });
    assert!(line);

    // Back with another rack.
    world.brokers(&[1, 2, 3]);
    world.rack(3, "d");
    world.look(1000);
    assert!(matches!(world.of("g").state, HashState::Pending { .. }));
    assert_eq!(world.newest("g").0, "broker 3 is registered again: racks of 1: b > b d");
}

#[test]
fn a_rack_that_was_never_seen_leaves_the_hash_unconfirmed_until_a_stored_one_tells() {
    let mut world = World::new();
    world.brokers(&[1, 2]);
    world.group("w", GroupKind::Consumer, None);
    world.look(1000);
    assert_eq!(world.of("w").state, HashState::Unconfirmed { brokers: BTreeSet::from([3]) });
    world.group("g", GroupKind::Consumer, Some((1, hash(7, &[&["a", "b"], &["b", "a"]]))));
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert_eq!(world.of("g").topics[0].inferred, BTreeSet::from([3]));
    // A rack that nobody here has cannot be guessed.
    let mut world = World::new();
    world.brokers(&[1, 2]);
    world.group("g", GroupKind::Consumer, Some((1, hash(7, OLD))));
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Unconfirmed { brokers: BTreeSet::from([3]) });
    world.brokers(&[1, 2, 3]);
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert_eq!(world.of("g").changes.iter().filter(|outcome| outcome.consequence.matters()).count(), 0);
}

#[test]
fn a_broker_whose_rack_was_not_asked_yet_is_not_one_without_rack() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((1, hash(7, OLD))));
    for broker in world.facts.cluster.as_mut().unwrap().brokers.values_mut() {
        (broker.rack, broker.rack_pending) = (None, true);
    }
    world.look(1000);
    assert!(world.of("g").computed.is_some());
    assert_ne!(world.of("g").state, HashState::Equal);
    world.brokers(&[1, 2, 3]);
    world.look(1000);
    assert_eq!(world.of("g").state, HashState::Equal);
    assert!(world.watch.feed().is_empty());
}

#[test]
fn other_subscriptions_are_told_and_lead_to_an_epoch() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, Some((1, hash(7, OLD))));
    world.look(1000);
    let description = world.facts.groups.get_mut("g").unwrap().description.as_mut().unwrap();
    description.members[0].subscription = Some(vec!["orders".into(), "orders-2".into()]);
    world.look(1000);
    assert_eq!(world.newest("g").0, "subscribes to orders-2");
    assert_eq!(world.of("g").state, HashState::NotKnown("topic orders-2 was not read".into()));
    world.facts.topics.insert("orders-2".into(), topic(8, &[&[1]]));
    world.look(1000);
    assert!(matches!(world.of("g").state, HashState::Pending { since: At(2000) }));
    let computed = world.of("g").computed.unwrap();
    world.log("g", 2, computed);
    world.look(1000);
    assert!(matches!(world.newest("g").2, Consequence::Bumped { from: 1, to: 2, .. }));
}

#[test]
fn racks_matter_where_replicas_share_one_and_members_are_elsewhere() {
    let mut world = World::new();
    world.facts.topics.insert("orders".into(), topic(7, &[&[1, 1], &[2, 3]]));
    world.group("g", GroupKind::Consumer, None);
    world.look(1000);
    assert_eq!(world.of("g").topics[0].one_rack, [0]);
    let far = &world.of("g").far[0];
    assert_eq!((far.far, far.held), (1, 2));
    let racks: BTreeMap<_, _> = world.of("g").topics[0].racks.iter().cloned().collect();
    assert_eq!(racks, BTreeMap::from([(Some("a".into()), 2), (Some("b".into()), 1), (Some("c".into()), 1)]));
}

#[test]
fn the_feed_is_bounded_and_keeps_what_changes_a_hash() {
    let mut world = World::new();
    world.group("g", GroupKind::Consumer, None);
    world.look(1000);
    world.facts.topics.insert("orders".into(), more());
    world.look(1000);
    for step in 0..1500 {
        let leader = if step % 2 == 0 { Some(2) } else { Some(1) };
        world.facts.topics.get_mut("orders").unwrap().partitions[0].leader = leader;
        world.look(1000);
    }
    assert_eq!(world.watch.feed().len(), FEED);
    let changes = world.watch.feed().iter().filter(|line| line.change.effect == Effect::ChangesHash).count();
    assert_eq!(changes, 1);
    assert_eq!(world.of("g").changes.len(), GroupMetadata::KEPT);
    assert_eq!(world.of("g").changes.last().unwrap().consequence, Consequence::WouldBump);
    let partitions = Change::Topic { topic: "orders".into(), change: TopicChange::Partitions { from: 2, to: 3 } };
    assert_eq!(world.watch.feed().last().unwrap().change.what, Noticed::Metadata(partitions));
}
