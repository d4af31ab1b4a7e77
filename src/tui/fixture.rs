//! A cluster for tests: an incident with groups of every kind, folded by the real monitor from hand-made frames.

use std::collections::BTreeMap;

use crate::frame::{Frame, Hello, Stamped};
use crate::model::{
    At, Broker, Cluster, Column, Commit, Commits, Description, Evidence, Group, GroupKind, GroupState, Listing, Member,
    Name, Partition, Presence, Problem, Progress, Scope, Snapshot, Topic, TopicOffsets, TopicPartitions, Wall,
};
use crate::monitor::Monitor;
use crate::monitor::view::View;

pub const INTERVAL: u64 = 2000;

/// The view after a minute of the incident.
pub fn view() -> View {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    for poll in 0..30 {
        monitor.fold(full(poll));
    }
    monitor.view()
}

pub fn hello() -> Frame {
    Frame::Hello(Hello {
        started: Wall(1_700_000_000_000),
        cluster: Name::new("kafka-1.prod:9092"),
        ..Hello::default()
    })
}

/// The facts of a poll.
pub fn full(poll: u64) -> Frame {
    let at = At(1000 + poll * INTERVAL);
    let mut facts = Facts { at, snapshot: Snapshot::default() };
    facts.cluster();
    facts.billing(poll as i64);
    facts.orders(poll as i64);
    facts.reports();
    facts.audit();
    facts.strange();
    facts.others();
    let listing = Listing { observed_at: at, total: 214, complete: true };
    facts.snapshot.listing = Some(listing);
    facts.snapshot.progress =
        Some(Progress { polls: poll + 1, all_seen: true, interval_ms: INTERVAL, took_ms: 40, ..Progress::default() });
    Frame::Full(Stamped { at, body: facts.snapshot })
}

struct Facts {
    at: At,
    snapshot: Snapshot,
}

/// Commit and end of a partition.
type Offsets<'a> = &'a [(Option<i64>, i64)];

pub fn member(id: &str, client: &str, host: &str, held: &[(&str, &[i32])], subscribed: &[&str]) -> Member {
    let held = held.iter().map(|(topic, numbers)| (Name::new(topic), numbers.to_vec()));
    Member {
        id: Name::new(id),
        client_id: Name::new(client),
        host: Name::new(host),
        subscription: Some(subscribed.iter().map(Name::new).collect()),
        assignment: Some(held.collect::<TopicPartitions>()),
        ..Member::default()
    }
}

impl Facts {
    fn cluster(&mut self) {
        let broker = |id: i32| {
            let host = Name::new(format!("kafka-{id}"));
            (id, Broker { host, port: 9092, rack: None, rack_pending: false })
        };
        self.snapshot.cluster = Some(Cluster {
            observed_at: self.at,
            id: Some(Name::new("p3C")),
            controller: Some(1),
            brokers: (1..=3).map(broker).collect(),
            ..Cluster::default()
        });
        self.snapshot.problems = Some(vec![Problem {
            scope: Scope::Group(Name::new("secret-sauce")),
            missing: "commits".to_owned(),
            cause: Name::new("not authorized to describe the group"),
            remedy: Some("needs DESCRIBE on group secret-sauce".to_owned()),
            lasting: false,
            since: At(1000),
        }]);
    }

    fn topic(&mut self, name: &str, offsets: Offsets<'_>) -> BTreeMap<i32, Commit> {
        let partition = Partition { leader: Some(1), replicas: vec![1, 2, 3], isr: vec![1, 2, 3] };
        let topic = Topic {
            observed_at: self.at,
            presence: Presence::Present,
            partitions: vec![partition; offsets.len()],
            ..Topic::default()
        };
        self.snapshot.topics.insert(Name::new(name), topic);
        let column = |values: Vec<Option<i64>>| Some(Column { at: self.at, values, older: BTreeMap::new() });
        let ends = offsets.iter().map(|(_, end)| Some(*end)).collect();
        let starts = vec![Some(1000); offsets.len()];
        let offsets_of = TopicOffsets { start: column(starts), end: column(ends), stable: None };
        self.snapshot.offsets.insert(Name::new(name), offsets_of);
        let commits = offsets.iter().enumerate().filter_map(|(number, (commit, _))| Some((number as i32, (*commit)?)));
        commits.map(|(number, offset)| (number, Commit { offset, ..Commit::default() })).collect()
    }

    fn group(&mut self, id: &str, kind: GroupKind, description: Description, topics: &[(&str, Offsets<'_>)]) {
        let commits = topics.iter().map(|(topic, offsets)| (Name::new(topic), self.topic(topic, offsets)));
        let commits = Commits { topics: commits.collect() };
        let group = Group {
            kind,
            listed_state: Some(description.state),
            description: Some(description),
            described_at: Some(self.at),
            commits: Some(commits),
            commits_at: Some(self.at),
            ..Group::default()
        };
        self.snapshot.groups.insert(Name::new(id), group);
    }

    /// Eight members on six partitions, one of them falling behind.
    fn billing(&mut self, poll: i64) {
        let held: [&[i32]; 8] = [&[0, 1], &[2], &[3], &[4], &[5], &[], &[], &[]];
        let ids = ["7f3", "8aa", "9c1", "a11", "b02", "d02", "e5e", "f00"];
        let members = ids.iter().zip(held).enumerate().map(|(place, (id, held))| {
            let held: &[(&str, &[i32])] = if held.is_empty() { &[] } else { &[("payments", held)] };
            let (id, client) = (format!("pay-{id}"), format!("pay-{id}"));
            member(&id, &client, &format!("/10.0.3.{}", 17 + place), held, &["payments"])
        });
        let description = description(GroupState::Stable, "range", members.collect());
        let behind = 700_000 + poll * 12_000;
        let end = 3_000_000 + poll * 13_000;
        let offsets = [
            (Some(end - behind), end),
            (Some(end - 410_000), end),
            (Some(end - 320_000), end),
            (Some(end - 210_000), end),
            (None, 44_812),
            (Some(end), end),
        ];
        self.group("billing", GroupKind::Classic, description, &[("payments", &offsets)]);
    }

    fn orders(&mut self, poll: i64) {
        let target = |numbers: &[i32]| Some(BTreeMap::from([(Name::new("orders"), numbers.to_vec())]));
        let mut a = member("Zk9QmS2ATS-6lQ", "enrich-1", "/10.0.4.1", &[("orders", &[0, 1])], &["orders"]);
        let mut b = member("p00QmS2ATS-7xx", "enrich-1", "/10.0.4.2", &[("orders", &[2])], &["orders"]);
        (a.target, b.target) = (target(&[0]), target(&[1, 2]));
        let description = description(GroupState::Unknown, "uniform", vec![a, b]);
        let lag = 100_000 - poll * 2000;
        let offsets = [(Some(900_000 - lag), 900_000), (Some(900_000 - lag), 900_000), (Some(899_990), 900_000)];
        self.group("orders-enrich", GroupKind::Consumer, description, &[("orders", &offsets)]);
    }

    fn reports(&mut self) {
        let nobody = description(GroupState::Empty, "", Vec::new());
        self.group("reports", GroupKind::Classic, nobody, &[("daily", &[(Some(20_000), 100_000)])]);
    }

    fn audit(&mut self) {
        let members = (1..=3).map(|number: i32| {
            let held = [number - 1];
            member(&format!("audit-{number}"), "audit", "/10.0.5.1", &[("audit-log", &held)], &["audit-log"])
        });
        let description = description(GroupState::Stable, "uniform", members.collect());
        let offsets = [(Some(5000), 5000), (Some(6000), 6000), (Some(7000), 7000)];
        self.group("audit", GroupKind::Consumer, description, &[("audit-log", &offsets)]);
    }

    /// A partition in each state; names from strangers.
    fn strange(&mut self) {
        let subscribed = ["clicks", "gone", "组组组"];
        let mut one = member("evil-1", "\x1b]0;x\x07evil", "/10.0.6.1", &[("clicks", &[0, 1, 2])], &subscribed);
        one.id = Name::new("\x1b]0;x\x07evil-1");
        let mut two = member("s-2", "s", "/10.0.6.2", &[("clicks", &[3]), ("组组组", &[0])], &subscribed);
        two.instance_id = Some(Name::new("组-static-2"));
        let members = vec![one, two];
        let clicks: Offsets<'_> = &[(Some(500), 2000), (Some(9220), 1000), (None, 1044), (Some(1990), 2000)];
        let description = description(GroupState::Stable, "range", members);
        let cjk: Offsets<'_> = &[(Some(2000), 2345)];
        self.group("clicks 组组组", GroupKind::Classic, description, &[("clicks", clicks), ("组组组", cjk)]);
        self.snapshot.topics.entry(Name::new("clicks")).and_modify(|topic| topic.partitions[3].leader = None);
        let gone = Topic { observed_at: self.at, presence: Presence::Gone, ..Topic::default() };
        self.snapshot.topics.insert(Name::new("gone"), gone);
        if let Some(group) = self.snapshot.groups.get_mut("clicks 组组组") {
            let commit = Commit { offset: 5, ..Commit::default() };
            let commits = group.commits.get_or_insert_default();
            commits.topics.insert(Name::new("gone"), BTreeMap::from([(0, commit.clone())]));
            commits.topics.entry(Name::new("clicks")).or_default().insert(9, commit);
        }
    }

    fn others(&mut self) {
        let worker = |number: i32| Member {
            id: Name::new(format!("connect-worker-{number}-5e7c")),
            client_id: Name::new(format!("connect-worker-{number}")),
            host: Name::new(format!("/10.0.7.{number}")),
            ..Member::default()
        };
        let connect = description(GroupState::Stable, "sessioned", vec![worker(1), worker(2)]);
        self.group("connect-sink", GroupKind::Other(Name::new("connect")), connect, &[]);
        let share = Group { kind: GroupKind::ShareOrStreams, ..Group::default() };
        self.snapshot.groups.insert(Name::new("mirror"), share);
        let denied = Group { kind: GroupKind::Classic, listed_state: Some(GroupState::Stable), ..Group::default() };
        self.snapshot.groups.insert(Name::new("secret-sauce"), denied);
        for colour in ["blue", "green"] {
            let one = member("c", "c", "/10.0.8.1", &[("colours", &[0])], &["colours"]);
            let description = description(GroupState::Stable, "cooperative-sticky", vec![one]);
            let id = format!("{}-{colour}", "a".repeat(60));
            self.group(&id, GroupKind::Classic, description, &[("colours", &[(Some(1990), 2002)])]);
        }
    }
}

fn description(state: GroupState, assignor: &str, members: Vec<Member>) -> Description {
    let assignor = (!assignor.is_empty()).then(|| Name::new(assignor));
    Description { state, assignor, coordinator: Some(2), members, ..Description::default() }
}

/// The view after topics, racks and brokers changed under groups of every kind, some with the coordinator log.
pub fn metadata_view() -> View {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    for step in 0..6 {
        monitor.fold(changed(step));
    }
    monitor.view()
}

/// A step of the changes: partitions, an epoch, a stopped broker, a leader, a rack.
fn changed(step: u64) -> Frame {
    let Frame::Full(Stamped { at, mut body }) = full(step) else { return full(step) };
    let cluster = body.cluster.get_or_insert_default();
    for (id, rack) in [(1, "eu-1a"), (2, "eu-1b"), (3, "eu-1c")] {
        let rack = Some(Name::new(if id == 2 && step >= 5 { "eu-1a" } else { rack }));
        cluster.brokers.entry(id).and_modify(|broker| broker.rack = rack);
    }
    if step >= 3 {
        cluster.brokers.remove(&3);
    }
    for (number, topic) in (1u128..).zip(body.topics.values_mut()) {
        topic.id = Some(uuid::Uuid::from_u128((number << 96) | (number * 0x0123_4567_89ab_cdef)));
        for (place, partition) in topic.partitions.iter_mut().enumerate() {
            partition.replicas = vec![1 + place as i32 % 3, 1 + (place as i32 + 1) % 3];
            partition.leader = partition.replicas.iter().copied().find(|id| *id != 3 || step < 3);
        }
        if step == 0 && topic.partitions.len() == 3 {
            topic.partitions.truncate(2);
        }
    }
    if let Some(group) = body.groups.get_mut("orders-enrich")
        && let Some(description) = &mut group.description
    {
        description.evidence = Evidence::Log;
        for member in &mut description.members {
            member.rack = Some(Name::new("eu-1c"));
        }
        // What the coordinator stored, taken from the watch itself: with the partitions, and up to the rack.
        let stored = [OLD_HASH, OLD_HASH, NEW_HASH, NEW_HASH, NEW_HASH, NEW_HASH][step as usize];
        (description.epoch, description.stored_hash) = (Some(if stored == OLD_HASH { 41 } else { 42 }), Some(stored));
    }
    Frame::Full(Stamped { at, body })
}

/// Hashes of `orders` with two and with three partitions.
pub const OLD_HASH: i64 = -1_891_907_870_807_398_296;
pub const NEW_HASH: i64 = -7_605_187_794_389_980_945;
