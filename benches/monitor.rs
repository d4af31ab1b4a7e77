//! Time from the facts of a poll to the view: lag, rates, forecast and a lag-balanced plan of every group that changed.
//!
//! `cargo bench --bench monitor`; the groups commit 100 records a partition in every poll, so that all of them changed.

use std::collections::BTreeMap;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lagtop::frame::{Frame, Stamped};
use lagtop::model::{
    At, Column, Commit, Commits, Description, Group, GroupKind, GroupState, Listing, Member, Name, Partition, Presence,
    Snapshot, Topic, TopicOffsets,
};
use lagtop::monitor::Monitor;

/// All groups at one poll, each with a topic of its own.
fn poll(number: u64, groups: usize, members: usize, partitions: usize) -> Frame {
    let at = At(number * 2000);
    let listing = Some(Listing { observed_at: at, total: groups, complete: true });
    let mut body = Snapshot { listing, ..Snapshot::default() };
    let share = partitions.div_ceil(members);
    for group in 0..groups {
        let name = Name::new(format!("topic-{group}"));
        let member = |place: usize| {
            let held = place * share..((place + 1) * share).min(partitions);
            Member {
                id: Name::new(format!("member-{place}-{group}")),
                subscription: Some(vec![name.clone()]),
                assignment: Some(BTreeMap::from([(name.clone(), held.map(|number| number as i32).collect())])),
                ..Member::default()
            }
        };
        let members = (0..members).map(member).collect();
        let commits = (0..partitions as i32).map(|partition| {
            let offset = number as i64 * 100;
            (partition, Commit { offset, ..Commit::default() })
        });
        let commits = Commits { topics: BTreeMap::from([(name.clone(), commits.collect())]) };
        let ends = (0..partitions).map(|partition| Some((number * 90 + (partition * partition * 37) as u64) as i64));
        let description = Description { state: GroupState::Stable, members, ..Description::default() };
        let facts = Group {
            kind: GroupKind::Classic,
            description: Some(description),
            described_at: Some(at),
            commits: Some(commits),
            commits_at: Some(at),
            ..Group::default()
        };
        body.groups.insert(Name::new(format!("group-{group}")), facts);
        let leader = Partition { leader: Some(1), ..Partition::default() };
        let topic = Topic { presence: Presence::Present, partitions: vec![leader; partitions], ..Topic::default() };
        body.topics.insert(name.clone(), topic);
        let end = Some(Column { at, values: ends.collect(), ..Column::default() });
        body.offsets.insert(name, TopicOffsets { end, ..TopicOffsets::default() });
    }
    Frame::Partial(Stamped { at, body })
}

fn fold(c: &mut Criterion) {
    for (groups, members, partitions) in [(1000, 4, 12), (10_000, 2, 6), (1, 100, 1000)] {
        let mut monitor = Monitor::default();
        (0..10).for_each(|number| monitor.fold(poll(number, groups, members, partitions)));
        let mut number = 10;
        c.bench_function(&format!("poll/{groups}x{members}x{partitions}"), |b| {
            b.iter_batched(
                || {
                    number += 1;
                    poll(number, groups, members, partitions)
                },
                |frame| monitor.fold(frame),
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group! { name = benches; config = Criterion::default().sample_size(20); targets = fold }
criterion_main!(benches);
