use std::collections::BTreeMap;
use std::time::Duration;

use super::view::Fit;
use super::view::MemberChange::{Leaves, New, Stays};
use super::*;
use crate::assign::{MemberInput, TopicInput, TopicPartition};
use crate::health::Drain;

fn tp(topic: u32, partition: u32) -> TopicPartition {
    TopicPartition { topic, partition }
}

/// Three members on one topic; the first has most of the lag.
fn basis(protocol: Protocol) -> Basis {
    let lags = vec![600, 300, 200, 90, 50, 10];
    let owned = [vec![tp(0, 0), tp(0, 1)], vec![tp(0, 2), tp(0, 3)], vec![tp(0, 4), tp(0, 5)]];
    let member = |(place, owned): (usize, Vec<TopicPartition>)| MemberInput {
        id: format!("m{place}").into(),
        topics: vec![0],
        owned,
        ..MemberInput::default()
    };
    let topic = TopicInput { name: "t".into(), partitions: Some(6), lags: lags.clone(), ..TopicInput::default() };
    let input = GroupInput {
        members: owned.into_iter().enumerate().map(member).collect(),
        topics: vec![topic],
        ..GroupInput::default()
    };
    let pace = Pace {
        written: vec![vec![Some(1.0); 6]],
        backlog: vec![lags],
        capacity: BTreeMap::from([("m0".into(), 12.0)]),
        rebalance: Some(Duration::from_secs(2)),
    };
    Basis { protocol: Some(protocol), assignor: Some("range".into()), input, pace, assumptions: Vec::new() }
}

fn asked(assignor: Assignor) -> Question {
    Question::of(assignor)
}

#[test]
fn the_plan_stands_beside_the_assignment_now() {
    let basis = basis(Protocol::Classic);
    let now = basis.now();
    assert_eq!((now.metrics.largest_lag, now.drains.group.drain), (900, Drain::In(Duration::from_secs(90))));
    assert_eq!((now.drains.measured, now.drains.of, now.drains.rebalance), (1, 3, None));
    let answer = basis.answer(&asked(Assignor::LagBalanced)).unwrap();
    let plan = &answer.plan;
    assert_eq!((plan.metrics.lower_bound, plan.metrics.largest_lag), (600, 610));
    assert_eq!(plan.metrics.largest_lag, plan.frontier.last().unwrap().largest_lag);
    assert_eq!(plan.frontier[0].largest_lag, 900);
    assert_eq!(plan.drains.rebalance, Some(Duration::from_secs(2)));
    let Drain::In(time) = plan.drains.group.drain else { panic!("{plan:?}") };
    assert_eq!(time, Duration::from_secs(61 + 2), "610 ÷ (12 − 2), and the rebalance");
    assert!(plan.drains.group.assumed && plan.assumptions[0].contains("(1 of 3 measured)"), "{:?}", plan.assumptions);
    for partition in 0..6 {
        let owner = answer.owner(0, partition).unwrap();
        assert!(plan.members[owner].partitions == 2);
    }
    assert_eq!((answer.owner(0, 6), answer.owner(1, 0), answer.owner(0, -1)), (None, None, None));
}

#[test]
fn members_that_leave_and_come_keep_their_places() {
    let basis = basis(Protocol::Classic);
    let without = Question { without: vec!["m1".into()], members: 2, ..Question::default() };
    let plan = basis.answer(&without).unwrap().plan;
    let members: Vec<_> = plan.members.iter().map(|member| (member.id.raw(), member.presence)).collect();
    assert_eq!(members, [("m0", Stays), ("m1", Leaves), ("m2", Stays), ("new-1", New), ("new-2", New)]);
    assert_eq!((plan.members[1].partitions, plan.members[1].lost, plan.forced), (0, 2, 2));
    assert_eq!(plan.metrics.loads.len(), 4);
    assert_eq!(plan.members.iter().map(|member| member.partitions).sum::<usize>(), 6);
    assert!(plan.drains.last.is_none_or(|last| plan.members[last].presence != Leaves));
    // Forced moves are in the frontier's numbers, and nobody can do with fewer.
    assert!(plan.frontier.iter().all(|point| point.moves >= 2));
    let held = Question { max_moves: Some(0), ..without };
    assert_eq!(basis.answer(&held).unwrap().plan.moves, 2);
}

#[test]
fn questions_without_sense_are_refused() {
    let basis = basis(Protocol::Classic);
    let refused = |question: Question| basis.answer(&question).unwrap_err().to_string();
    let max_moves = Question { max_moves: Some(1), ..asked(Assignor::Range) };
    assert!(refused(max_moves).contains("not range"));
    assert!(refused(Question { members: -3, ..Question::default() }).contains("3 cannot leave"));
    assert!(refused(Question { members: i32::MIN, ..Question::default() }).contains("cannot leave"));
    assert!(refused(Question { without: vec!["x".into()], ..Question::default() }).contains("no member x"));
    assert!(refused(Question { partitions: vec![("t".into(), 2)], ..Question::default() }).contains("6 partitions"));
}

#[test]
fn who_could_use_what_and_how() {
    let classic = basis(Protocol::Classic);
    let consumer = basis(Protocol::Consumer);
    let fits = |basis: &Basis| Assignor::ALL.map(|assignor| basis.fit(assignor) == Fit::BuiltIn);
    assert_eq!(fits(&classic), [false, false, true, true, true, true, false, false, false]);
    assert_eq!(fits(&consumer), [false, false, false, false, false, false, true, true, false]);
    assert_eq!(
        (classic.fit(Assignor::LagBased), consumer.fit(Assignor::LagBased)),
        (Fit::OwnClass, Fit::NotThisProtocol)
    );
    let way = |basis: &Basis, assignor| basis.way(&basis.answer(&asked(assignor)).unwrap().plan);
    let exact = way(&classic, Assignor::Range).unwrap();
    assert_eq!((exact.property, exact.exact, exact.moves), ("partition.assignment.strategy", true, 0));
    let exact = way(&consumer, Assignor::ServerRange).unwrap();
    assert_eq!((exact.property, exact.value, exact.exact), ("group.remote.assignor", "range", true));
    // Round robin: 600 + 90, 300 + 50, 200 + 10.
    let nearest = way(&classic, Assignor::LagBalanced).unwrap();
    assert_eq!((nearest.assignor, nearest.exact, nearest.largest_lag), (Assignor::RoundRobin, false, 690));
    // Range and uniform leave it as it is: nothing better is built in.
    assert_eq!(way(&consumer, Assignor::LagBalanced), None);
    let notes = |basis: &Basis, assignor| basis.answer(&asked(assignor)).unwrap().plan.notes.join("; ");
    assert!(notes(&consumer, Assignor::LagBalanced).contains("assigned by the coordinator"));
    assert!(notes(&classic, Assignor::Uniform).contains("assigned by their members"));
    assert!(notes(&classic, Assignor::Sticky).contains("hash table"));
    assert_eq!(notes(&classic, Assignor::LagBalanced), "");
}

#[test]
fn lag_based_says_where_it_goes_topic_by_topic() {
    let mut basis = basis(Protocol::Classic);
    basis.input.topics = (0..3)
        .map(|topic| TopicInput {
            name: format!("t{topic}").into(),
            partitions: Some(1),
            lags: vec![100],
            ..TopicInput::default()
        })
        .collect();
    for (place, member) in basis.input.members.iter_mut().enumerate() {
        (member.topics, member.owned) = (vec![0, 1, 2], vec![tp(place as u32, 0)]);
    }
    let plan = |assignor| basis.answer(&asked(assignor)).unwrap().plan;
    let lag_based = plan(Assignor::LagBased);
    assert_eq!(lag_based.metrics.largest_lag, 300, "all to one");
    assert!(lag_based.notes[0].contains("one member gets 3 partitions, another 0"), "{:?}", lag_based.notes);
    assert!(plan(Assignor::LagBalanced).notes.is_empty());
}

#[test]
fn a_coordinator_does_not_mind_a_topic_that_is_gone() {
    let mut basis = basis(Protocol::Consumer);
    basis.input.topics.push(TopicInput { name: "gone".into(), ..TopicInput::default() });
    basis.input.members[0].topics.push(1);
    assert!(basis.answer(&asked(Assignor::Uniform)).is_ok());
}
