//! Each kind of metadata change, and the rule that holds them together: a change of the hash is claimed if and only if
//! the hash changes.

use proptest::prelude::*;

use super::super::topic_hash;
use super::*;

/// Brokers 1 to 6 with racks a b c a b c, and broker 7 without rack.
fn cluster() -> Observation {
    let mut brokers = Brokers::new();
    let racks = ["a", "b", "c", "a", "b", "c"].map(|rack| Some(Name::new(rack)));
    brokers.observe((1..).zip(racks).chain([(7, None)]));
    let topics = [("orders", topic(1, &[&[1, 2, 3], &[2, 3, 4]])), ("refunds", topic(2, &[&[4, 5, 6]]))];
    Observation { topics: topics.into_iter().map(|(name, topic)| (name.into(), Some(topic))).collect(), brokers }
}

fn topic(id: u128, partitions: &[&[i32]]) -> TopicState {
    TopicState { id: Uuid::from_u128(id), partitions: partitions.iter().map(|replicas| partition(replicas)).collect() }
}

fn partition(replicas: &[i32]) -> PartitionState {
    PartitionState { leader: replicas.first().copied(), replicas: replicas.to_vec(), isr: replicas.to_vec() }
}

fn orders(observation: &mut Observation) -> &mut TopicState {
    observation.topics.get_mut("orders").unwrap().as_mut().unwrap()
}

/// Brokers seen, except some, with some racks replaced.
fn seen(observation: &mut Observation, without: &[i32], racks: &[(i32, Option<&str>)]) {
    let seen: Vec<_> = observation
        .brokers
        .iter()
        .filter(|(id, _)| !without.contains(id))
        .map(|(id, broker)| {
            let replaced = racks.iter().find(|(changed, _)| *changed == id);
            (id, replaced.map_or(broker.rack.clone(), |(_, rack)| rack.map(Name::new)))
        })
        .collect();
    observation.brokers.observe(seen);
}

fn hashes(observation: &Observation) -> BTreeMap<&Name, i64> {
    let existing = observation.topics.iter().filter_map(|(name, topic)| Some((name, topic.as_ref()?)));
    existing.map(|(name, topic)| (name, topic_hash(&observation.brokers.input(name, topic)))).collect()
}

/// Topics that a list of changes says have another hash.
fn claimed(changes: &[Change]) -> BTreeSet<&Name> {
    let of = |change: &Change| change.effect() == Effect::ChangesHash;
    changes
        .iter()
        .filter(|change| of(change))
        .filter_map(|change| if let Change::Topic { topic, .. } = change { Some(topic) } else { None })
        .collect()
}

/// Applies a change, checks that exactly the topics said to change their hash do, and returns what is said.
fn after(change: impl FnOnce(&mut Observation)) -> Vec<Change> {
    let before = cluster();
    let mut after = before.clone();
    change(&mut after);
    let changes = changes(&before, &after);
    let (was, now) = (hashes(&before), hashes(&after));
    for topic in before.topics.keys() {
        assert_eq!(claimed(&changes).contains(topic), was.get(topic) != now.get(topic), "{topic}: {changes:?}");
    }
    changes
}

fn of_orders(change: TopicChange) -> Change {
    Change::Topic { topic: "orders".into(), change }
}

fn names(racks: &[&str]) -> Vec<Name> {
    racks.iter().map(Name::new).collect()
}

fn diff(partition: i32, from: &[&str], to: &[&str]) -> RackDiff {
    RackDiff { partition, from: names(from), to: names(to), unconfirmed: false }
}

#[test]
fn nothing_changed() {
    assert_eq!(after(|_| ()), []);
    assert_eq!(after(|now| seen(now, &[], &[])), []);
}

#[test]
fn partition_added() {
    let changes = after(|now| orders(now).partitions.push(partition(&[1, 2, 3])));
    assert_eq!(changes, [of_orders(TopicChange::Partitions { from: 2, to: 3 })]);
    assert_eq!(changes[0].effect(), Effect::ChangesHash);
}

#[test]
fn replica_reassigned_to_another_rack() {
    let changes = after(|now| orders(now).partitions[0] = partition(&[1, 2, 5]));
    let causes = BTreeSet::from([RackCause::Reassigned]);
    let partitions = vec![diff(0, &["a", "b", "c"], &["a", "b", "b"])];
    assert_eq!(changes[0], of_orders(TopicChange::Racks { causes, partitions }));
    assert_eq!(changes[0].effect(), Effect::ChangesHash);
    assert_eq!(changes[1], of_orders(TopicChange::InSync { partitions: vec![0] }));
}

#[test]
fn broker_restarted_with_another_rack() {
    let changes = after(|now| seen(now, &[], &[(3, Some("d"))]));
    let rack = BrokerChange::Rack { from: Some("c".into()), to: Some("d".into()) };
    let causes = BTreeSet::from([RackCause::BrokerRack { broker: 3 }]);
    let partitions = vec![diff(0, &["a", "b", "c"], &["a", "b", "d"]), diff(1, &["a", "b", "c"], &["a", "b", "d"])];
    let expected = [Change::Broker { id: 3, change: rack }, of_orders(TopicChange::Racks { causes, partitions })];
    assert_eq!(changes, expected);
    assert_eq!(changes[0].effect(), Effect::ByTopic);
}

#[test]
fn broker_restarted_without_rack_and_one_without_got_one() {
    let changes = after(|now| seen(now, &[], &[(3, None), (7, Some("c"))]));
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert_eq!(claimed(&changes), BTreeSet::from([&"orders".into()]));
}

#[test]
fn broker_unregistered_and_registered_again() {
    let mut stopped = cluster();
    seen(&mut stopped, &[3], &[]);
    let mut gone = stopped.clone();
    gone.brokers.unregister(3);
    let changes_now = changes(&stopped, &gone);
    let causes = BTreeSet::from([RackCause::Unregistered { broker: 3 }]);
    let partitions = vec![diff(0, &["a", "b", "c"], &["a", "b"]), diff(1, &["a", "b", "c"], &["a", "b"])];
    let unregistered = BrokerChange::Unregistered { rack: Some("c".into()) };
    let expected =
        [Change::Broker { id: 3, change: unregistered }, of_orders(TopicChange::Racks { causes, partitions })];
    assert_eq!(changes_now, expected);
    let back = changes(&gone, &cluster());
    assert_eq!(back[0], Change::Broker { id: 3, change: BrokerChange::Registered { rack: Some("c".into()) } });
    assert_eq!(back[1].effect(), Effect::ChangesHash);
}

#[test]
fn topic_recreated_created_deleted() {
    let changes = after(|now| orders(now).id = Uuid::from_u128(9));
    let (from, to) = (Uuid::from_u128(1), Uuid::from_u128(9));
    assert_eq!(changes, [of_orders(TopicChange::Recreated { from, to })]);
    let changes = after(|now| drop(now.topics.insert("orders".into(), None)));
    assert_eq!(changes, [of_orders(TopicChange::Deleted { id: from })]);
    let mut absent = cluster();
    absent.topics.insert("orders".into(), None);
    let changes = super::changes(&absent, &cluster());
    assert_eq!(changes, [of_orders(TopicChange::Created { id: from, partitions: 2 })]);
    assert_eq!(changes[0].effect(), Effect::ChangesHash);
}

#[test]
fn a_topic_that_could_not_be_asked_for_is_not_called_deleted() {
    let mut unseen = cluster();
    unseen.topics.remove("orders");
    assert_eq!(changes(&cluster(), &unseen), []);
    assert_eq!(changes(&unseen, &cluster()), []);
}

#[test]
fn leader_order_in_sync_and_moves_within_a_rack_keep_the_hash() {
    let expect = |change: TopicChange, apply: fn(&mut PartitionState)| {
        let changes = after(|now| apply(&mut orders(now).partitions[1]));
        assert_eq!(changes, [of_orders(change)]);
        assert_eq!(changes[0].effect(), Effect::KeepsHash);
    };
    let leader = |to| TopicChange::Leader { partitions: vec![LeaderDiff { partition: 1, from: Some(2), to }] };
    expect(leader(Some(3)), |p| p.leader = Some(3));
    expect(leader(None), |p| p.leader = None);
    expect(TopicChange::ReplicaOrder { partitions: vec![1] }, |p| p.replicas.reverse());
    expect(TopicChange::InSync { partitions: vec![1] }, |p| p.isr.truncate(1));
    // 2 and 5 are in rack b.
    expect(TopicChange::MovedWithinRacks { partitions: vec![1] }, |p| p.replicas = vec![5, 3, 4]);
    // Racks may swap places between replicas.
    expect(TopicChange::MovedWithinRacks { partitions: vec![1] }, |p| p.replicas = vec![6, 1, 5]);
    let same_members_in_sync = after(|now| orders(now).partitions[0].isr.reverse());
    assert_eq!(same_members_in_sync, []);
}

#[test]
fn broker_only_stopped() {
    let changes = after(|now| seen(now, &[3], &[]));
    assert_eq!(changes, [Change::Broker { id: 3, change: BrokerChange::Stopped { rack: Some("c".into()) } }]);
    assert_eq!(changes[0].effect(), Effect::KeepsHash);
    let mut stopped = cluster();
    seen(&mut stopped, &[3], &[]);
    let back = super::changes(&stopped, &cluster());
    assert_eq!(back, [Change::Broker { id: 3, change: BrokerChange::Started { rack: Some("c".into()) } }]);
    // Its replicas leave the in-sync sets and another broker leads: still the same hash.
    let changes = after(|now| {
        seen(now, &[3], &[]);
        for partition in &mut orders(now).partitions {
            partition.isr.retain(|&id| id != 3);
            partition.leader = partition.isr.last().copied();
        }
    });
    assert_eq!(claimed(&changes), BTreeSet::new());
}

#[test]
fn racks_never_seen_are_unconfirmed_and_learning_one_is_no_change() {
    let mut before = cluster();
    orders(&mut before).partitions[0] = partition(&[1, 2, 9]);
    let mut moved = before.clone();
    orders(&mut moved).partitions[0] = partition(&[1, 2, 3]);
    let changes = super::changes(&before, &moved);
    assert_eq!(changes[0].effect(), Effect::Unconfirmed, "{changes:?}");

    let mut learned = before.clone();
    let with_9 = learned.brokers.iter().map(|(id, broker)| (id, broker.rack.clone()));
    let with_9: Vec<_> = with_9.chain([(9, Some("z".into()))]).collect();
    learned.brokers.observe(with_9);
    let changes = super::changes(&before, &learned);
    assert_eq!(changes, [Change::Broker { id: 9, change: BrokerChange::Appeared { rack: Some("z".into()) } }]);
}

#[test]
fn reassigned_while_a_broker_changed_its_rack() {
    let changes = after(|now| {
        seen(now, &[], &[(3, Some("d"))]);
        orders(now).partitions[0] = partition(&[2, 3, 5]);
    });
    let both = BTreeSet::from([RackCause::Reassigned, RackCause::BrokerRack { broker: 3 }]);
    let found = changes.iter().any(
        |change| matches!(change, Change::Topic { change: TopicChange::Racks { causes, .. }, .. } if *causes == both),
    );
    assert!(found, "{changes:?}");
}

fn observation() -> impl Strategy<Value = (Vec<Option<u8>>, Vec<Vec<i32>>, u128)> {
    let racks = prop::collection::vec(prop::option::of(0u8..3), 5);
    let partitions =
        prop::collection::vec(Just(vec![0, 1, 2, 3, 4]).prop_shuffle().prop_map(|ids| ids[..3].to_vec()), 1..4);
    (racks, partitions, 0u128..2)
}

proptest! {
    /// All brokers known: the hash is said to change if and only if it does, and never without a cause.
    #[test]
    fn claims_are_exact(was in observation(), now in observation(), keep_racks: bool, keep_replicas: bool) {
        let now = (
            if keep_racks { was.0.clone() } else { now.0 },
            if keep_replicas { was.1.clone() } else { now.1 },
            now.2,
        );
        let mut before = Observation::default();
        let mut after = Observation::default();
        for (observation, (racks, partitions, id)) in [(&mut before, was), (&mut after, now)] {
            let racks = racks.into_iter().map(|rack| rack.map(|rack| Name::new(format!("r{rack}"))));
            observation.brokers.observe((0..).zip(racks));
            let partitions: Vec<&[i32]> = partitions.iter().map(Vec::as_slice).collect();
            observation.topics.insert("t".into(), Some(topic(id, &partitions)));
        }
        let changes = changes(&before, &after);
        prop_assert_eq!(!claimed(&changes).is_empty(), hashes(&before) != hashes(&after), "{:?}", changes);
        for change in &changes {
            prop_assert!(change.effect() != Effect::Unconfirmed);
            if let Change::Topic { change: TopicChange::Racks { causes, .. }, .. } = change {
                prop_assert!(!causes.is_empty(), "{:?}", changes);
            }
        }
    }
}
