//! A cluster with a past, for tests: groups of every kind that the coordinator log tells of, folded by the real monitor
//! from hand-made events and snapshots.

use std::collections::BTreeMap;

use super::fixture;
use crate::frame::{Frame, Stamped};
use crate::model::{
    At, Commit, Commits, Departure, Description, Event, EventMember, Evidence, Generation, Group, GroupKind,
    GroupState, Listing, LogGap, LogProgress, Member, MemberLog, Name, Partition, Presence, Progress, ShareOffsets,
    SharePartition, Snapshot, Tasks, Topic, TopicOffsets, TopicPartitions, Wall, What,
};
use crate::monitor::view::View;
use crate::monitor::{Monitor, Preferences};

/// The stream's start in the fixtures, in milliseconds: 22:13:20 UTC.
const STARTED: i64 = 1_700_000_000_000;
/// The stream's time of the view.
const NOW: u64 = 600_000;

/// The view ten minutes after the start.
pub fn view() -> View {
    let mut monitor = Monitor::new(Preferences::default());
    monitor.fold(fixture::hello());
    let mut log = Log::default();
    log.billing();
    log.orders();
    log.strangers();
    log.at("gone-app", 400, What::GroupGone);
    for event in log.events {
        monitor.fold(Frame::Event(Stamped { at: At(1000), body: event }));
    }
    monitor.fold(Frame::Full(Stamped { at: At(NOW), body: snapshot() }));
    monitor.view()
}

/// Partitions of one topic.
fn held(topic: &str, numbers: &[i32]) -> TopicPartitions {
    BTreeMap::from([(Name::new(topic), numbers.to_vec())])
}

fn joined(id: &str, topic: &str, numbers: &[i32]) -> EventMember {
    EventMember {
        id: Name::new(format!("{id}-5e7c")),
        client_id: Name::new(id),
        host: Name::new("/10.0.3.17"),
        subscription: Some(vec![Name::new(topic)]),
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: Some(45_000),
        held: Some(held(topic, numbers)),
        ..EventMember::default()
    }
}

#[derive(Default)]
struct Log {
    events: Vec<Event>,
}

impl Log {
    /// An event so many seconds after the start.
    fn at(&mut self, group: &str, seconds: i64, what: What) {
        let log = (0, self.events.len() as i64);
        self.events.push(Event { group: Name::new(group), wall: Wall(STARTED + seconds * 1000), log, what });
    }

    fn generation(
        &mut self,
        group: &str,
        seconds: i64,
        generation: i32,
        members: Vec<EventMember>,
        gone: Vec<Departure>,
    ) {
        let generation = Generation {
            generation,
            protocol_type: Name::new("consumer"),
            protocol: Some(Name::new("range")),
            joined_at: Some(Wall(STARTED + seconds * 1000 - 2100)),
            members,
            gone,
        };
        self.at(group, seconds, What::Generation(Box::new(generation)));
    }

    /// A classic group in a storm: one member comes and goes.
    fn billing(&mut self) {
        let pay = |id: &str, numbers: &[i32]| joined(id, "payments", numbers);
        let with = || vec![pay("pay-7f3", &[0, 1]), pay("pay-8aa", &[2, 3]), pay("pay-9c1", &[4, 5])];
        let without = || vec![pay("pay-8aa", &[0, 1, 2]), pay("pay-9c1", &[3, 4, 5])];
        self.at("billing", 0, What::Generation(Box::default()));
        self.generation("billing", 5, 1, with(), Vec::new());
        for round in 0..3 {
            let at = 300 + i64::from(round) * 90;
            let departure = Departure {
                member: pay("pay-7f3", &[0, 1]),
                last_commit: Some(Wall(STARTED + (at - 300) * 1000)),
                lag_waiting: Some(true),
            };
            self.generation("billing", at, 2 + 2 * round, without(), vec![departure]);
            self.generation("billing", at + 40, 3 + 2 * round, with(), Vec::new());
        }
        let (from, to) = (120_000, 118_200);
        self.at("billing", 530, What::CommitBack { topic: Name::new("payments"), partition: 2, from, to });
    }

    fn orders(&mut self) {
        let member = |id: &str| What::Member(Box::new(EventMember { held: None, ..joined(id, "orders", &[]) }));
        let epoch = |epoch, hash| What::GroupEpoch { kind: GroupKind::Consumer, epoch, hash: Some(hash) };
        let reached = |id: &str, epoch, settled, numbers: &[i32]| What::MemberEpoch {
            member: Name::new(format!("{id}-5e7c")),
            epoch,
            settled,
            held: held("orders", numbers),
        };
        let group = "orders-enrich";
        for what in [member("a"), epoch(1, 7), What::AssignmentEpoch { epoch: 1 }, reached("a", 1, true, &[0, 1, 2])] {
            self.at(group, 100, what);
        }
        for what in [member("b"), epoch(2, 7), What::AssignmentEpoch { epoch: 2 }, reached("b", 2, false, &[])] {
            self.at(group, 588, what);
        }
        self.at(group, 589, reached("a", 1, false, &[0, 1]));
    }

    /// Names that want to be escaped.
    fn strangers(&mut self) {
        let evil = EventMember {
            id: Name::new("\x1b]0;x\x07evil-1"),
            client_id: Name::new("\x1b[2Jevil"),
            host: Name::new("/10.0.6.1\u{202e}"),
            ..joined("x", "组组组", &[0, 1])
        };
        let fixed = |id: &str| EventMember {
            id: Name::new(id),
            instance_id: Some(Name::new("组-static-2\n")),
            ..joined("s", "组组组", &[2])
        };
        let group = "clicks 组组组";
        self.at(group, 10, What::Generation(Box::default()));
        self.generation(group, 20, 1, vec![evil.clone(), fixed("one")], Vec::new());
        self.generation(group, 30, 1, vec![evil.clone(), fixed("two")], Vec::new());
        let departure = Departure { member: evil, ..Departure::default() };
        self.generation(
            group,
            40,
            4,
            vec![EventMember { held: Some(held("组组组", &[0, 1, 2])), ..fixed("two") }],
            vec![departure],
        );
    }
}

fn snapshot() -> Snapshot {
    let mut snapshot = Snapshot {
        listing: Some(Listing { observed_at: At(NOW), total: 12, complete: true }),
        progress: Some(Progress {
            polls: 300,
            all_seen: true,
            interval_ms: fixture::INTERVAL,
            took_ms: 40,
            ..Progress::default()
        }),
        log: Some(LogProgress {
            observed_at: At(NOW),
            partitions: 50,
            caught_up: 49,
            held: vec![7],
            skipped: 1_234_567,
            history_ms: Some(6 * 3_600_000),
            read: 70_000,
            dropped: 20,
            unknown: 3,
            damaged: 1,
            ..LogProgress::default()
        }),
        problems: Some(Vec::new()),
        ..Snapshot::default()
    };
    for (topic, partitions) in [("payments", 6), ("orders", 3), ("events", 2), ("组组组", 3)] {
        let partition = Partition { leader: Some(1), replicas: vec![1], isr: vec![1] };
        let partitions = vec![partition; partitions];
        let column = |value: i64| {
            let values = vec![Some(value); partitions.len()];
            Some(crate::model::Column { at: At(NOW), values, older: BTreeMap::new() })
        };
        let offsets = TopicOffsets { start: column(0), end: column(120_000), stable: None };
        snapshot.offsets.insert(Name::new(topic), offsets);
        let presence = Presence::Present;
        let topic_facts = Topic { observed_at: At(NOW), presence, partitions, ..Topic::default() };
        snapshot.topics.insert(Name::new(topic), topic_facts);
    }
    let mut groups = groups();
    for (name, group) in &mut groups {
        group.described_at = Some(At(NOW));
        group.listed_state = group.description.as_ref().map(|description| description.state);
        if !matches!(group.kind, GroupKind::Share | GroupKind::Other(_)) {
            let topic = Name::new(if name.raw() == "billing" { "payments" } else { "orders" });
            let commits = (0..3).map(|number| (number, Commit { offset: 119_500, ..Commit::default() })).collect();
            group.commits = Some(Commits { topics: BTreeMap::from([(topic, commits)]) });
            group.commits_at = Some(At(NOW));
        }
    }
    snapshot.groups = groups;
    snapshot
}

fn groups() -> BTreeMap<Name, Group> {
    let mut groups = BTreeMap::new();
    let mut add = |id: &str, kind, description| {
        groups.insert(Name::new(id), Group { kind, description: Some(description), ..Group::default() });
    };
    add("billing", GroupKind::Classic, billing());
    add("orders-enrich", GroupKind::Consumer, orders());
    add("enrich-app", GroupKind::Streams, streams());
    add("telemetry", GroupKind::Share, share());
    let late = Description { log_gap: Some(LogGap::Held), state: GroupState::Stable, ..Description::default() };
    add("held-up", GroupKind::Classic, late);
    add("clicks 组组组", GroupKind::Classic, description(GroupState::Stable, "range", Vec::new()));
    let offsets = |start, done| SharePartition { start: Some(start), done: Some(done) };
    let topics =
        BTreeMap::from([(Name::new("events"), BTreeMap::from([(0, offsets(100_000, 20)), (1, offsets(119_990, 0))]))]);
    if let Some(group) = groups.get_mut(&Name::new("telemetry")) {
        group.share = Some(ShareOffsets { at: At(NOW), topics });
    }
    groups
}

fn description(state: GroupState, assignor: &str, members: Vec<Member>) -> Description {
    Description {
        evidence: Evidence::Log,
        state,
        assignor: Some(Name::new(assignor)),
        coordinator: Some(2),
        epoch: Some(2),
        members,
        ..Description::default()
    }
}

fn member(id: &str, topic: &str, numbers: &[i32], log: MemberLog) -> Member {
    let held: &[(&str, &[i32])] = &[(topic, numbers)];
    let host = "/10.0.3.17";
    let log = Some(Box::new(log));
    Member { log, ..fixture::member(&format!("{id}-5e7c"), id, host, held, &[topic]) }
}

fn billing() -> Description {
    let timeouts =
        || MemberLog { rebalance_timeout_ms: Some(300_000), session_timeout_ms: Some(45_000), ..MemberLog::default() };
    let members = [("pay-7f3", [0, 1]), ("pay-8aa", [2, 3]), ("pay-9c1", [4, 5])];
    let members = members.iter().map(|(id, numbers)| member(id, "payments", numbers, timeouts()));
    Description { epoch: Some(7), ..description(GroupState::Stable, "range", members.collect()) }
}

/// A member that waits for another to give up a partition; the other still speaks the classic protocol.
fn orders() -> Description {
    let giver = MemberLog {
        epoch: Some(1),
        pending_revocation: held("orders", &[2]),
        classic_protocol: true,
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: Some(45_000),
        ..MemberLog::default()
    };
    let taker = MemberLog {
        epoch: Some(2),
        waits: true,
        regex: Some(Name::new("ord.*")),
        assignor: Some(Name::new("uniform")),
        rebalance_timeout_ms: Some(300_000),
        ..MemberLog::default()
    };
    let mut a = member("a", "orders", &[0, 1, 2], giver);
    let mut b = member("b", "orders", &[], taker);
    (a.target, b.target) = (Some(held("orders", &[0, 1])), Some(held("orders", &[2])));
    b.rack = Some(Name::new("rack-c"));
    Description {
        assignment_epoch: Some(2),
        stored_hash: Some(0x11f0_c2aa),
        ..description(GroupState::Reconciling, "uniform", vec![a, b])
    }
}

fn streams() -> Description {
    let tasks = Tasks {
        active: held("0", &[0, 1, 2]),
        standby: held("1", &[0]),
        warmup: held("1", &[2]),
        process: Name::new("process-1"),
    };
    let log = MemberLog { epoch: Some(2), tasks: Some(tasks), ..MemberLog::default() };
    let members = vec![member("app", "orders", &[0, 1, 2], log)];
    Description {
        topology_epoch: Some(1),
        topology_topics: Some(vec![Name::new("orders")]),
        assignment_epoch: Some(2),
        ..description(GroupState::Stable, "sticky", members)
    }
}

fn share() -> Description {
    let log = || MemberLog { epoch: Some(2), ..MemberLog::default() };
    let members = vec![member("t-0", "events", &[0, 1], log()), member("t-1", "events", &[1], log())];
    Description { assignment_epoch: Some(2), ..description(GroupState::Stable, "simple", members) }
}
