//! Time of every assignor at the sizes of `tests/data/oracle/java_timings.md`: members × partitions 10 × 100 to
//! 1,000 × 10,000, with one topic and with twenty (partitions split evenly), from nothing and with one member left.
//!
//! `cargo bench --bench assign` runs all; `docs/assignors.md` has a table of medians and how it is made.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lagtop::assign::{
    Assignor, GroupInput, MemberInput, TopicInput, TopicPartition, cooperative_sticky, lag_balanced, lag_based, range,
    roundrobin, server_range, share_simple, sticky, uniform,
};
use lagtop::model::Name;
use uuid::Uuid;

const SIZES: [(u32, u32); 4] = [(10, 100), (100, 1_000), (500, 2_000), (1_000, 10_000)];

/// A group in which everybody reads everything and has nothing. Lag is heavily skewed and the same in every run.
fn group(members: u32, partitions: u32, topics: u32) -> GroupInput {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut lag = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 44) >> (seed % 17)
    };
    let topic = |t: u32| {
        let count = partitions / topics;
        TopicInput {
            name: Name::new(format!("topic-{t:02}")),
            id: Some(Uuid::from_u64_pair(0x1234_5678_9abc_def0 ^ u64::from(t), u64::from(t) << 7 | 1)),
            partitions: Some(count),
            lags: (0..count).map(|_| lag()).collect(),
            ..TopicInput::default()
        }
    };
    let topics: Vec<TopicInput> = (0..topics).map(topic).collect();
    let member = |m: u32| MemberInput {
        id: Name::new(format!("consumer-orders-{m}-2f6c1c1e-5d3f-4a0e-9f2b-{m:012x}")),
        topics: (0..topics.len() as u32).collect(),
        ..MemberInput::default()
    };
    GroupInput { members: (0..members).map(member).collect(), topics, ..GroupInput::default() }
}

/// The same group some time later: it has what `assignor` gave it, and its last member has left.
fn one_left(mut group: GroupInput, assignor: Assignor) -> GroupInput {
    if let Ok(plan) = assignor.assign(&group) {
        for (member, owned) in group.members.iter_mut().zip(plan.members) {
            member.owned = owned;
            member.generation = Some(7);
        }
    }
    group.members.pop();
    group
}

/// Ranges over all partitions: what a group has before somebody looks for a better assignment.
fn skewed(mut group: GroupInput) -> GroupInput {
    let share = group.topics.iter().map(TopicInput::count).sum::<u32>() / group.members.len() as u32;
    let all = (0..group.topics.len() as u32)
        .flat_map(|topic| {
            (0..group.topics[topic as usize].count()).map(move |p| TopicPartition { topic, partition: p })
        })
        .collect::<Vec<_>>();
    for (member, owned) in group.members.iter_mut().zip(all.chunks(share.max(1) as usize)) {
        member.owned = owned.to_vec();
    }
    group
}

fn bench(c: &mut Criterion, name: &str, size: &str, group: &GroupInput, run: impl Fn(&GroupInput) -> usize) {
    c.bench_function(&format!("{name}/{size}"), |b| b.iter(|| run(black_box(group))));
}

fn assignors(c: &mut Criterion) {
    for topics in [1, 20] {
        for (members, partitions) in SIZES {
            let size = format!("{topics}x{members}x{partitions}");
            let new = group(members, partitions, topics);
            bench(c, "range", &size, &new, |g| range::assign(g).len());
            bench(c, "roundrobin", &size, &new, |g| roundrobin::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "sticky", &size, &new, |g| sticky::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "cooperative-sticky", &size, &new, |g| cooperative_sticky::round(g).map_or(0, |round| round.1));
            bench(c, "uniform", &size, &new, |g| uniform::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "server-range", &size, &new, |g| server_range::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "simple", &size, &new, |g| share_simple::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "lag-based", &size, &new, |g| lag_based::assign(g).len());
            bench(c, "lag-balanced", &size, &new, |g| lag_balanced::assign(g).len());

            let left = one_left(new.clone(), Assignor::Sticky);
            bench(c, "sticky, one left", &size, &left, |g| sticky::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "cooperative-sticky, one left", &size, &left, |g| {
                cooperative_sticky::round(g).map_or(0, |round| round.1)
            });
            let left = one_left(new.clone(), Assignor::Uniform);
            bench(c, "uniform, one left", &size, &left, |g| uniform::assign(g).map_or(0, |plan| plan.len()));
            bench(c, "lag-balanced, from ranges", &size, &skewed(new), |g| lag_balanced::assign(g).len());
        }
    }
}

criterion_group!(benches, assignors);
criterion_main!(benches);
