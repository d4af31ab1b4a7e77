//! What records make of a group, in the order of a log.

use uuid::Uuid;

use super::*;
use crate::kafka::records::classic::{GroupMetadataValue, MemberMetadata};
use crate::kafka::records::consumer_group::*;
use crate::kafka::records::offsets::OffsetCommitValue;
use crate::kafka::records::streams_group::*;
use crate::kafka::records::{Bytes, GroupKey, MemberKey, OffsetKey, RegexKey};
use crate::model::{Commit, GroupState, Member, Wall};

const TOPIC: Uuid = Uuid::from_u64_pair(1, 2);

/// One log partition, read as it is written.
struct Writer {
    state: LogState,
    offset: i64,
    /// The end of every topic's partitions.
    end: i64,
}

fn group() -> GroupKey {
    GroupKey { group: "g".into() }
}

fn member(id: &str) -> MemberKey {
    MemberKey { group: "g".into(), member_id: id.into() }
}

impl Writer {
    fn new(whole: bool) -> Self {
        let plan = start::Plan { from: [(0, 0)].into(), until: [(0, 0)].into(), whole, ..start::Plan::default() };
        let mut state = LogState::default();
        state.begin(&plan);
        state.take(Message::CaughtUp { partition: 0, next: None }, &|_, _| None);
        state.names.learn(TOPIC, &"t".into());
        Self { state, offset: 0, end: 100 }
    }

    /// Writes a record at second `offset`; returns what happened.
    fn write(&mut self, key: Key, value: Option<Value>) -> Vec<What> {
        let at = Position { partition: 0, offset: self.offset, wall: Wall(self.offset * 1000) };
        self.offset += 1;
        let end = self.end;
        self.state.take(Message::Records(vec![Record::Group { at, key, value }]), &|_, _| Some(end));
        self.state.take_events().into_iter().map(|event| event.what).collect()
    }

    fn commit(&mut self, partition: i32, offset: Option<i64>) -> Vec<What> {
        let value = offset.map(|offset| OffsetCommitValue {
            offset,
            leader_epoch: None,
            metadata: Name::default(),
            commit_timestamp: 0,
            expire_timestamp: None,
            topic_id: None,
        });
        let key = OffsetKey { group: "g".into(), topic: "t".into(), partition };
        self.write(Key::OffsetCommit(key), value.map(Value::OffsetCommit))
    }

    fn epoch(&mut self, epoch: i32) -> Vec<What> {
        let value = ConsumerGroupMetadataValue { epoch, metadata_hash: 7 };
        self.write(Key::ConsumerGroupMetadata(group()), Some(Value::ConsumerGroupMetadata(value)))
    }

    fn assigned(&mut self, epoch: i32) -> Vec<What> {
        let value = TargetAssignmentMetadataValue { assignment_epoch: epoch, assignment_timestamp: 0 };
        let key = Key::ConsumerGroupTargetAssignmentMetadata(group());
        self.write(key, Some(Value::ConsumerGroupTargetAssignmentMetadata(value)))
    }

    fn join(&mut self, id: &str, classic: bool) -> Vec<What> {
        let speaks = ClassicMemberMetadata { session_timeout_ms: 45_000, supported_protocols: Vec::new() };
        let value = ConsumerGroupMemberMetadataValue {
            instance_id: None,
            rack_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            subscribed_topic_names: vec!["t".into()],
            subscribed_topic_regex: None,
            rebalance_timeout_ms: Some(300_000),
            server_assignor: None,
            classic_member_metadata: Some(if classic { speaks } else { ClassicMemberMetadata::default() }),
        };
        self.write(Key::ConsumerGroupMemberMetadata(member(id)), Some(Value::ConsumerGroupMemberMetadata(value)))
    }

    fn at(&mut self, id: &str, epoch: i32, state: i8, held: &[i32]) -> Vec<What> {
        let partitions = |held: &[i32]| {
            vec![AssignedTopicPartitions { topic_id: TOPIC, partitions: held.to_vec(), assignment_epochs: None }]
        };
        let value = ConsumerGroupCurrentMemberAssignmentValue {
            member_epoch: epoch,
            previous_member_epoch: epoch,
            state,
            assigned_partitions: partitions(held),
            partitions_pending_revocation: if state == 1 { partitions(&[9]) } else { Vec::new() },
        };
        let key = Key::ConsumerGroupCurrentMemberAssignment(member(id));
        self.write(key, Some(Value::ConsumerGroupCurrentMemberAssignment(value)))
    }

    fn generation(&mut self, generation: i32, members: &[(&str, &[i32])]) -> Vec<What> {
        let members = members.iter().map(|(id, held)| MemberMetadata {
            member_id: (*id).into(),
            group_instance_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout: Some(300_000),
            session_timeout: 45_000,
            // Version 0, one topic, no user data.
            subscription: Bytes([&[0, 0, 0, 0, 0, 1, 0, 1, b't'][..], &[255; 4]].concat()),
            assignment: Bytes(assignment(held)),
        });
        let value = GroupMetadataValue {
            protocol_type: "consumer".into(),
            generation,
            protocol: Some("range".into()),
            leader: None,
            current_state_timestamp: Some(5),
            members: members.collect(),
        };
        self.write(Key::GroupMetadata(group()), Some(Value::GroupMetadata(value)))
    }

    fn facts(&self) -> Description {
        self.state.facts(&"g".into(), None).expect("a group").0
    }

    fn group(&self) -> &LogGroup {
        &self.state.groups["g"]
    }
}

/// ConsumerProtocolAssignment, version 0, of partitions of topic t.
fn assignment(held: &[i32]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, 0, 1, 0, 1, b't'];
    bytes.extend((held.len() as i32).to_be_bytes());
    bytes.extend(held.iter().flat_map(|partition| partition.to_be_bytes()));
    bytes.extend([255; 4]);
    bytes
}

fn only(mut happened: Vec<What>) -> What {
    assert_eq!(happened.len(), 1, "{happened:?}");
    happened.remove(0)
}

#[test]
fn a_generation_says_who_is_gone_and_what_they_left() {
    let mut log = Writer::new(true);
    log.generation(1, &[("a", &[0]), ("b", &[1])]);
    log.commit(1, Some(40));
    log.commit(0, Some(100));
    let What::Generation(second) = only(log.generation(2, &[("a", &[0, 1])])) else { panic!("no generation") };
    assert_eq!((second.generation, second.members.len(), second.joined_at), (2, 1, Some(Wall(5))));
    assert_eq!(second.members[0].held.as_ref().unwrap()["t"], [0, 1]);
    let [gone] = &second.gone[..] else { panic!("{second:?}") };
    assert_eq!((gone.member.id.raw(), gone.last_commit, gone.lag_waiting), ("b", Some(Wall(1000)), Some(true)));
    log.commit(0, Some(100));
    log.commit(1, Some(100));
    let What::Generation(third) = only(log.generation(3, &[])) else { panic!("no generation") };
    assert_eq!((third.gone.len(), third.gone[0].lag_waiting), (1, Some(false)));
    assert_eq!((log.facts().state, log.facts().epoch), (GroupState::Empty, Some(3)));
}

#[test]
fn the_end_of_a_log_now_says_nothing_of_the_past() {
    let plan = start::Plan { from: [(0, 0)].into(), until: [(0, 10)].into(), whole: true, ..start::Plan::default() };
    let mut log = Writer::new(true);
    log.state.begin(&plan);
    log.generation(1, &[("a", &[0])]);
    log.commit(0, Some(40));
    let What::Generation(second) = only(log.generation(2, &[])) else { panic!("no generation") };
    assert_eq!((second.gone[0].last_commit, second.gone[0].lag_waiting), (Some(Wall(1000)), None));
}

#[test]
fn a_deleted_commit_is_no_rewind_and_a_smaller_one_is() {
    let mut log = Writer::new(true);
    assert_eq!(log.commit(0, Some(9)), []);
    assert_eq!(log.commit(0, Some(9)), []);
    let back = What::CommitBack { topic: "t".into(), partition: 0, from: 9, to: 4 };
    assert_eq!(only(log.commit(0, Some(4))), back);
    log.commit(1, Some(1));
    assert_eq!(log.commit(0, None), []);
    assert_eq!(log.commit(0, Some(2)), [], "what was deleted is not gone back from");
}

#[test]
fn states_follow_from_epochs() {
    let mut log = Writer::new(true);
    log.join("a", false);
    assert_eq!(only(log.epoch(1)), What::GroupEpoch { kind: GroupKind::Consumer, epoch: 1, hash: Some(7) });
    assert_eq!(log.facts().state, GroupState::Assigning);
    log.assigned(1);
    assert_eq!(log.facts().state, GroupState::Reconciling, "the member has no epoch yet");
    log.at("a", 1, 0, &[0, 1]);
    assert_eq!(log.facts().state, GroupState::Stable);
    log.join("b", false);
    log.epoch(2);
    assert_eq!(log.facts().state, GroupState::Assigning);
    log.assigned(2);
    let What::MemberEpoch { settled, held, .. } = only(log.at("a", 2, 1, &[0])) else { panic!("no epoch") };
    assert!(!settled && held["t"] == [0, 9], "it has what it must give up: {held:?}");
    assert_eq!(log.facts().members[0].assignment.as_ref().unwrap()["t"], [0, 9]);
    let revokes = log.facts().members[0].log.clone().unwrap();
    assert_eq!((revokes.waits, revokes.pending_revocation["t"].clone()), (false, vec![9]));
    log.at("b", 2, 2, &[]);
    assert_eq!(log.facts().state, GroupState::Reconciling);
    assert!(log.facts().members[1].log.as_ref().unwrap().waits);
    log.at("a", 2, 0, &[0]);
    log.at("b", 2, 0, &[1]);
    assert_eq!(log.facts().state, GroupState::Stable);
    log.at("b", -2, 0, &[1]);
    assert_eq!(log.facts().state, GroupState::Reconciling, "a static member that is away is waited for");
    log.at("b", 2, 0, &[1]);
    for id in ["a", "b"] {
        let What::MemberGone(gone) = only(log.write(Key::ConsumerGroupMemberMetadata(member(id)), None)) else {
            panic!("not gone")
        };
        assert_eq!((gone.member.client_id.raw(), gone.member.held.unwrap()["t"].len()), ("c", 1));
    }
    assert_eq!(log.facts().state, GroupState::Empty);
}

#[test]
fn a_group_that_changes_its_protocol_is_one_group() {
    let mut log = Writer::new(true);
    log.generation(4, &[("a", &[0, 1])]);
    log.commit(0, Some(3));
    // The coordinator writes these in one batch.
    assert_eq!(only(log.write(Key::GroupMetadata(group()), None)), What::GroupGone);
    log.join("a", true);
    log.epoch(4);
    log.assigned(4);
    log.at("a", 4, 0, &[0, 1]);
    log.join("b", false);
    log.epoch(5);
    assert_eq!(log.state.kind(&"g".into()), Some(&GroupKind::Consumer));
    let facts = log.facts();
    let speak: Vec<(bool, Option<i32>)> = facts
        .members
        .iter()
        .map(|member| member.log.as_ref().unwrap())
        .map(|log| (log.classic_protocol, log.session_timeout_ms))
        .collect();
    assert_eq!(speak, [(true, Some(45_000)), (false, None)]);
    assert_eq!((facts.epoch, facts.state), (Some(5), GroupState::Assigning));
    assert_eq!(log.group().committed().topics["t"][&0].offset, 3, "commits stay");
    // And back.
    for id in ["a", "b"] {
        log.write(Key::ConsumerGroupMemberMetadata(member(id)), None);
    }
    assert_eq!(only(log.write(Key::ConsumerGroupMetadata(group()), None)), What::GroupGone);
    log.generation(6, &[("a", &[0, 1])]);
    assert_eq!(log.state.kind(&"g".into()), Some(&GroupKind::Classic));
    assert_eq!((log.facts().epoch, log.facts().assignment_epoch), (Some(6), None));
}

#[test]
fn what_is_gone_takes_no_room() {
    let mut log = Writer::new(true);
    log.epoch(1);
    for round in 0..50 {
        let id = format!("m{round}");
        log.join(&id, false);
        log.at(&id, 1, 0, &[0]);
        log.write(Key::ConsumerGroupCurrentMemberAssignment(member(&id)), None);
        log.write(Key::ConsumerGroupTargetAssignmentMember(member(&id)), None);
        log.write(Key::ConsumerGroupMemberMetadata(member(&id)), None);
        log.commit(round, Some(1));
        log.commit(round, None);
    }
    assert_eq!((log.group().members.len(), log.group().commits.len()), (0, 0));
    assert_eq!(only(log.write(Key::ConsumerGroupMetadata(group()), None)), What::GroupGone);
    assert!(!log.state.groups.contains_key("g"), "nothing is left of it");
    assert_eq!(log.state.take_deleted(), BTreeSet::from(["g".into()]));
}

#[test]
fn a_group_whose_commits_went_with_their_topic_is_not_deleted() {
    let mut log = Writer::new(true);
    log.commit(0, Some(7));
    log.commit(0, None);
    assert!(log.state.take_deleted().is_empty() && !log.state.covers(&"g".into()), "the coordinator has it still");
    log.write(Key::GroupMetadata(group()), None);
    assert_eq!(log.state.take_deleted(), BTreeSet::from(["g".into()]));
}

#[test]
fn a_regex_without_its_topics_is_unknown() {
    let mut log = Writer::new(true);
    log.join("a", false);
    log.state.groups.get_mut("g").unwrap().members.get_mut("a").unwrap().as_mut().unwrap().who.regex =
        Some("u.*".into());
    log.epoch(1);
    assert_eq!(log.facts().members[0].subscription, None);
    let key = Key::ConsumerGroupRegularExpression(RegexKey { group: "g".into(), regular_expression: "u.*".into() });
    let value = ConsumerGroupRegularExpressionValue { topics: vec!["u1".into()], version: 0, timestamp: 0 };
    log.write(key, Some(Value::ConsumerGroupRegularExpression(value)));
    assert_eq!(log.facts().members[0].subscription, Some(vec!["t".into(), "u1".into()]));
}

#[test]
fn streams_tasks_are_the_partitions_that_they_read() {
    let mut log = Writer::new(true);
    let bumped = |epoch, validated_topology_epoch| StreamsGroupMetadataValue {
        epoch,
        metadata_hash: 7,
        validated_topology_epoch,
        last_assignment_configs: None,
        stored_description_topology_epoch: None,
        failed_description_topology_epoch: None,
    };
    let at = |epoch, validated| Some(Value::StreamsGroupMetadata(bumped(epoch, validated)));
    log.write(Key::StreamsGroupMetadata(group()), at(1, None));
    assert_eq!(log.facts().state, GroupState::Empty);
    let value = StreamsGroupMemberMetadataValue {
        instance_id: None,
        rack_id: None,
        client_id: "c".into(),
        client_host: "/h".into(),
        rebalance_timeout_ms: None,
        topology_epoch: 0,
        process_id: "p".into(),
        user_endpoint: None,
        client_tags: Vec::new(),
    };
    log.write(Key::StreamsGroupMemberMetadata(member("a")), Some(Value::StreamsGroupMemberMetadata(value)));
    assert_eq!(log.facts().state, GroupState::NotReady, "no topology yet");
    let sub = Subtopology {
        subtopology_id: "0".into(),
        source_topics: vec!["in".into(), "more".into()],
        source_topic_regex: Vec::new(),
        state_changelog_topics: Vec::new(),
        repartition_sink_topics: Vec::new(),
        repartition_source_topics: Vec::new(),
        copartition_groups: Vec::new(),
    };
    let value = StreamsGroupTopologyValue { epoch: 3, subtopologies: vec![sub] };
    log.write(Key::StreamsGroupTopology(group()), Some(Value::StreamsGroupTopology(value)));
    assert_eq!((log.facts().state, log.facts().topology_epoch), (GroupState::NotReady, Some(3)), "a topic is missing");
    log.write(Key::StreamsGroupMetadata(group()), at(1, Some(2)));
    assert_eq!(log.facts().state, GroupState::NotReady, "an older topology was validated");
    log.write(Key::StreamsGroupMetadata(group()), at(1, Some(3)));
    assert_eq!(log.facts().state, GroupState::Assigning);
    let tasks = |partitions: &[i32]| {
        vec![AssignedTaskIds { subtopology_id: "0".into(), partitions: partitions.to_vec(), assignment_epochs: None }]
    };
    let value = StreamsGroupCurrentMemberAssignmentValue {
        member_epoch: 1,
        previous_member_epoch: 0,
        state: 1,
        active_tasks: tasks(&[0, 2]),
        standby_tasks: tasks(&[1]),
        warmup_tasks: Vec::new(),
        active_tasks_pending_revocation: Vec::new(),
        standby_tasks_pending_revocation: Vec::new(),
        warmup_tasks_pending_revocation: Vec::new(),
    };
    let key = Key::StreamsGroupCurrentMemberAssignment(member("a"));
    let what = only(log.write(key, Some(Value::StreamsGroupCurrentMemberAssignment(value))));
    let What::MemberEpoch { settled, held, .. } = what else { panic!("{what:?}") };
    assert!(settled && held["in"] == [0, 2] && held["more"] == [0, 2], "{held:?}");
    let told = log.facts().members[0].log.clone().unwrap().tasks.unwrap();
    assert_eq!((told.standby["0"].clone(), told.process.raw()), (vec![1], "p"));
}

#[test]
fn events_wait_for_the_names_of_new_topics() {
    let mut log = Writer::new(true);
    log.join("a", false);
    let id = Uuid::from_u64_pair(3, 4);
    let place = AssignedTopicPartitions { topic_id: id, partitions: vec![0], assignment_epochs: None };
    let value = ConsumerGroupCurrentMemberAssignmentValue {
        member_epoch: 1,
        previous_member_epoch: 0,
        state: 0,
        assigned_partitions: vec![place],
        partitions_pending_revocation: Vec::new(),
    };
    let key = Key::ConsumerGroupCurrentMemberAssignment(member("a"));
    assert_eq!(log.write(key, Some(Value::ConsumerGroupCurrentMemberAssignment(value))), []);
    assert_eq!(log.epoch(1), [], "those after it wait with it");
    assert!(log.state.wants_names());
    assert_eq!(log.state.resume(), [(0, 1)].into(), "whoever goes on must read them again");
    log.state.names.learn(id, &"new".into());
    let told: Vec<What> = log.state.take_events().into_iter().map(|event| event.what).collect();
    let [What::MemberEpoch { held, .. }, What::GroupEpoch { .. }] = &told[..] else { panic!("{told:?}") };
    assert_eq!(held["new"], [0]);
    assert!(!log.state.wants_names());
    assert_eq!(log.state.resume(), [(0, 3)].into());
}

#[test]
fn a_seed_fills_only_what_the_log_has_not_said() {
    let mut log = Writer::new(false);
    let known: Name = "g".into();
    assert!(!log.state.covers(&known) && log.state.wants_seed(&known));
    log.join("old", false);
    log.epoch(3);
    log.at("old", 3, 0, &[0]);
    log.join("left", false);
    log.write(Key::ConsumerGroupMemberMetadata(member("left")), None);
    log.commit(0, Some(50));
    log.commit(1, Some(5));
    log.commit(1, None);
    assert!(!log.state.covers(&known), "what is older is not known yet");
    let told = |id: &str, partitions: &[i32]| Member {
        id: id.into(),
        client_id: "from admin".into(),
        assignment: Some([("t".into(), partitions.to_vec())].into()),
        target: Some([("t".into(), partitions.to_vec())].into()),
        ..Member::default()
    };
    let members = vec![told("old", &[7]), told("left", &[8]), told("quiet", &[2])];
    let description = Description { members, ..Description::default() };
    let commit = |offset| Commit { offset, ..Commit::default() };
    let commits = Commits { topics: [("t".into(), [(0, commit(1)), (1, commit(2)), (2, commit(3))].into())].into() };
    log.state.seed(&known, &GroupKind::Consumer, &description, &commits);
    assert!(log.state.covers(&known) && !log.state.wants_seed(&known));
    let facts = log.facts();
    let members: Vec<_> = facts.members.iter().map(|member| (member.id.raw(), member.client_id.raw())).collect();
    assert_eq!(members, [("old", "c"), ("quiet", "from admin")], "who has left does not come back");
    assert_eq!(facts.members[0].assignment.as_ref().unwrap()["t"], [0], "the log knows better");
    let quiet = facts.members[1].log.as_ref().unwrap();
    assert_eq!(quiet.epoch, None, "no admin call tells it");
    let committed = log.group().committed().topics["t"].clone();
    let committed: Vec<_> = committed.into_iter().map(|(partition, commit)| (partition, commit.offset)).collect();
    assert_eq!(committed, [(0, 50), (2, 3)], "what was deleted does not come back");
    assert_eq!((log.group().members.len(), log.group().commits["t"].len()), (2, 2), "tombstones are not kept");
}

/// As with READ on the log and no DESCRIBE on the group.
#[test]
fn what_is_deleted_is_kept_no_longer_than_until_the_next_answer() {
    let mut log = Writer::new(false);
    log.epoch(1);
    log.join("stays", false);
    log.commit(0, Some(1));
    for round in 1..50 {
        let id = format!("m{round}");
        log.join(&id, false);
        log.write(Key::ConsumerGroupMemberMetadata(member(&id)), None);
        log.commit(round, Some(1));
        log.commit(round, None);
        assert_eq!((log.group().members.len(), log.group().commits["t"].len()), (2, 2), "for an answer on its way");
        log.state.unseeded(&"g".into());
    }
    assert_eq!((log.group().members.len(), log.group().commits["t"].len()), (1, 1));
    assert!(log.state.wants_seed(&"g".into()), "a right that is given later is used");
}

#[test]
fn a_seeded_classic_group_has_no_generation_until_a_record_tells_it() {
    let mut log = Writer::new(false);
    log.state.seed(&"g".into(), &GroupKind::Classic, &Description::default(), &Commits::default());
    assert_eq!(log.facts().epoch, None);
    log.generation(8, &[("a", &[0])]);
    assert_eq!(log.facts().epoch, Some(8));
}

#[test]
fn share_state_is_a_snapshot_and_what_updates_change() {
    use share_state::{Key, SharePartitionKey, ShareSnapshotValue, ShareUpdateValue, Value};
    let mut log = Writer::new(true);
    let place = SharePartitionKey { group: "s".into(), topic_id: TOPIC, partition: 1 };
    let at = Position { partition: 0, offset: 0, wall: Wall(0) };
    let snapshot = |start: i64, done: i32| ShareSnapshotValue {
        snapshot_epoch: 1,
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: Some(start),
        create_timestamp: 0,
        write_timestamp: 0,
        state_batches: Vec::new(),
        delivery_complete_count: Some(done),
    };
    let update = |start: Option<i64>, done: Option<i32>| ShareUpdateValue {
        snapshot_epoch: 1,
        leader_epoch: 0,
        start_offset: start,
        state_batches: Vec::new(),
        delivery_complete_count: done,
    };
    let take = |log: &mut Writer, key: Key, value: Option<Value>| {
        log.state.take_share(Message::Records(vec![Record::Share { at, key, value }]));
        log.state.take_share(Message::CaughtUp { partition: 0, next: None });
        let told = log.state.share(&"s".into(), 1, At(0)).expect("read to its end");
        told.topics.get("t").and_then(|topic| topic.get(&1)).map(|state| (state.start, state.done))
    };
    let write = |value| Some(Value::ShareSnapshot(value));
    assert_eq!(take(&mut log, Key::ShareSnapshot(place.clone()), write(snapshot(5, 2))), Some((Some(5), Some(2))));
    let key = || Key::ShareUpdate(place.clone());
    let value = Value::ShareUpdate(update(None, Some(4)));
    assert_eq!(take(&mut log, key(), Some(value)), Some((Some(5), Some(4))));
    let value = Value::ShareUpdate(update(Some(9), Some(0)));
    assert_eq!(take(&mut log, key(), Some(value)), Some((Some(9), Some(0))));
    assert_eq!(take(&mut log, Key::ShareSnapshot(place.clone()), write(snapshot(11, 0))), Some((Some(11), Some(0))));
    // The log of groups is cut and read anew: the share log is not, and its quiet partitions tell nothing again.
    log.state.begin(&start::Plan {
        from: [(0, 0)].into(),
        until: [(0, 0)].into(),
        whole: true,
        ..start::Plan::default()
    });
    let told = log.state.share(&"s".into(), 1, At(0)).expect("read to its end");
    assert_eq!(told.topics["t"][&1].start, Some(11));
    // The share log is read anew: what is told meanwhile is not what is true now.
    log.state.begin_shares();
    assert_eq!(log.state.share(&"s".into(), 1, At(0)), None);
    assert_eq!(take(&mut log, Key::ShareSnapshot(place.clone()), write(snapshot(12, 0))), Some((Some(12), Some(0))));
    assert_eq!(take(&mut log, Key::ShareSnapshot(place), None), None);
}
