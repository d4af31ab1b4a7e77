//! What `lag-balanced` promises, on random groups, and how far it is from the optimum on small ones.

use proptest::prelude::*;

use super::super::dice::Dice;
use super::super::input::{MemberInput, TopicInput, TopicPartition};
use super::super::metrics::Metrics;
use super::super::moves::Moves;
use super::*;

/// Smallest Σ count², and of those the smallest largest-member-lag, by trying everything.
fn optimum(group: &GroupInput) -> (u64, u64) {
    let problem = Problem::of(group);
    let mut best = (u64::MAX, u64::MAX);
    let mut counts = vec![0u64; problem.members];
    let mut loads = vec![0u64; problem.members];
    try_all(&problem, 0, &mut counts, &mut loads, (0, 0), &mut best);
    best
}

fn try_all(
    problem: &Problem,
    place: usize,
    counts: &mut [u64],
    loads: &mut [u64],
    sofar: (u64, u64),
    best: &mut (u64, u64),
) {
    if sofar.0 > best.0 || (sofar.0 == best.0 && sofar.1 >= best.1) {
        return;
    }
    let Some(&number) = problem.by_lag.get(place) else {
        *best = sofar;
        return;
    };
    let lag = problem.lags[number as usize];
    for member in 0..counts.len() {
        if problem.may_own(member as u32, number) {
            let squares = sofar.0 + 2 * counts[member] + 1;
            counts[member] += 1;
            loads[member] += lag;
            try_all(problem, place + 1, counts, loads, (squares, sofar.1.max(loads[member])), best);
            counts[member] -= 1;
            loads[member] -= lag;
        }
    }
}

fn squares(plan: &Assignment) -> u64 {
    plan.members.iter().map(|list| (list.len() as u64).pow(2)).sum()
}

/// Each partition of a topic that has a subscriber once, to a subscriber.
fn check_sound(group: &GroupInput, plan: &Assignment) {
    let mut got: Vec<TopicPartition> = Vec::new();
    for (member, list) in group.members.iter().zip(&plan.members) {
        assert!(list.iter().all(|tp| member.topics.contains(&tp.topic)), "not subscribed");
        got.extend(list);
    }
    got.sort_unstable();
    let subscribed = |topic: &u32| group.members.iter().any(|member| member.topics.contains(topic));
    let all: Vec<TopicPartition> = (0..group.topics.len() as u32)
        .filter(subscribed)
        .flat_map(|topic| {
            (0..group.topics[topic as usize].count()).map(move |partition| TopicPartition { topic, partition })
        })
        .collect();
    assert_eq!(got, all);
}

/// Everything that holds for every plan.
fn check(group: &GroupInput) {
    let result = plan(group, None);
    let metrics = Metrics::of(group, &result.assignment);
    check_sound(group, &result.assignment);
    let moves = Moves::between(group, &result.assignment);
    let last = result.frontier.last().copied().unwrap();
    assert!(metrics.largest_lag >= last.largest_lag || !last.even);
    assert_eq!(moves.forced.len() as u32, result.forced);

    let by_lag = lag_based::assign(group);
    if squares(&by_lag) == squares(&result.assignment) {
        assert!(metrics.largest_lag <= Metrics::of(group, &by_lag).largest_lag, "worse than lag-based");
    }
    assert!(squares(&result.assignment) <= squares(&by_lag), "less even than lag-based");

    let first = &group.members[0].topics;
    if group.members.iter().all(|member| member.topics == *first) {
        assert!(metrics.largest_lag <= 2 * metrics.lower_bound, "more than twice the bound");
        let counts = metrics.loads.iter().map(|load| load.partitions);
        assert!(counts.clone().max().unwrap() <= counts.min().unwrap() + 1, "uneven");
    }

    // Where counts are even already, moves gain something; from the plan itself, only a still better one moves again.
    let mut then = group.clone();
    for (member, list) in then.members.iter_mut().zip(&result.assignment.members) {
        member.owned.clone_from(list);
    }
    then.departed.clear();
    let next = assign(&then);
    let gained = Metrics::of(&then, &next).largest_lag < metrics.largest_lag;
    assert!(gained || Moves::between(&then, &next).count() == 0, "moves though nothing is gained");
    if metrics.over_bound.is_none_or(|over| over <= 1.0) {
        assert_eq!(Moves::between(&then, &next).count(), 0, "moves though nothing can be gained");
    }

    // The frontier falls, begins with no move, and its promises are kept.
    assert_eq!(result.frontier[0].moves, 0);
    assert!(result.frontier.is_sorted_by(|a, b| a.moves < b.moves && a.largest_lag > b.largest_lag));
    for point in &result.frontier {
        let limited = plan(group, Some(result.forced + point.moves));
        check_sound(group, &limited.assignment);
        let moves = Moves::between(group, &limited.assignment);
        assert!(moves.voluntary.len() as u32 <= point.moves);
        let largest = Metrics::of(group, &limited.assignment).largest_lag;
        assert!(largest <= (point.largest_lag + point.largest_lag / 100).max(metrics.largest_lag));
    }
}

/// The same group with members and topics listed in another order gives the same plan.
fn check_order(group: &GroupInput) {
    let mut other = group.clone();
    other.members.reverse();
    other.topics.reverse();
    let last = group.topics.len() as u32 - 1;
    for member in &mut other.members {
        member.topics = member.topics.iter().map(|topic| last - topic).collect();
        member.owned.iter_mut().for_each(|tp| tp.topic = last - tp.topic);
    }
    for gone in &mut other.departed {
        gone.owned.iter_mut().for_each(|tp| tp.topic = last - tp.topic);
    }
    let mut plan = assign(&other);
    plan.members.reverse();
    plan.members.iter_mut().flatten().for_each(|tp| tp.topic = last - tp.topic);
    assert_eq!(plan.sorted(), assign(group).sorted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn promises_hold(seed in 1u64.., members in 1u64..12, partitions in 1u64..40, equal: bool) {
        let group = Dice(seed).group(members, partitions, equal);
        if group.members.iter().any(|member| !member.topics.is_empty()) {
            check(&group);
            check_order(&group);
        }
    }
}

/// Two topics of one partition each: `lag-based`, topic by topic, gives both to the first member.
#[test]
fn one_partition_topics_are_spread() {
    let topic =
        |name: &str| TopicInput { name: name.into(), partitions: Some(1), lags: vec![50], ..TopicInput::default() };
    let member = |id: &str| MemberInput { id: id.into(), topics: vec![0, 1], ..MemberInput::default() };
    let members = vec![member("a"), member("b")];
    let group = GroupInput { members, topics: vec![topic("t"), topic("u")], ..GroupInput::default() };
    let counts = |plan: Assignment| plan.members.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts(lag_based::assign(&group)), [2, 0]);
    assert_eq!(counts(assign(&group)), [1, 1]);
}

/// CASES 24: twelve members on thirty one-partition topics, one of them with sixteen.
#[test]
fn a_skewed_group_is_evened_out() {
    let topic = |t: u32| TopicInput {
        name: format!("t{t:02}").into(),
        partitions: Some(1),
        lags: vec![10],
        ..TopicInput::default()
    };
    let member = |m: u32| MemberInput {
        id: format!("m{m:02}").into(),
        topics: (0..30).collect(),
        owned: (0..30)
            .filter(|t| if m == 0 { *t < 16 } else { *t >= 16 && (*t - 16) % 11 == m - 1 })
            .map(|topic| TopicPartition { topic, partition: 0 })
            .collect(),
        ..MemberInput::default()
    };
    let members = (0..12).map(member).collect();
    let group = GroupInput { members, topics: (0..30).map(topic).collect(), ..GroupInput::default() };
    let now = Metrics::of(&group, &Assignment::current(&group));
    assert_eq!((now.partitions_over_mean, now.lag_over_mean), (Some(6.4), Some(6.4)));
    let plan = assign(&group);
    assert_eq!(Metrics::of(&group, &plan).lag_over_mean, Some(1.2));
    // Sixteen become three; everybody else keeps what it has.
    assert_eq!(Moves::between(&group, &plan).voluntary.len(), 13);
}

/// CASES 57 and 19: nobody, nothing, and a topic that has lost its subscribers.
#[test]
fn nothing_is_no_error() {
    assert_eq!(plan(&GroupInput::default(), Some(3)), LagBalanced::default());
    let topic = |name: &str, partitions| TopicInput { name: name.into(), partitions, ..TopicInput::default() };
    let topics = vec![topic("events", Some(2)), topic("requested", Some(3)), topic("gone", None)];
    let member = MemberInput { id: "a".into(), topics: vec![0, 2], ..MemberInput::default() };
    let group = GroupInput { members: vec![member], topics, ..GroupInput::default() };
    assert!(assign(&group).members[0].iter().all(|tp| tp.topic == 0));
    assert_eq!(assign(&group).len(), 2);
}

/// Against brute force, at most 4 members and 9 partitions. `LAGTOP_BRUTE_CASES` sets how many groups.
#[test]
fn close_to_the_optimum() {
    let cases = std::env::var("LAGTOP_BRUTE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    for equal in [true, false] {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let (mut worst, mut sum, mut exact, mut run) = (1.0f64, 0.0, 0, 0);
        let (mut plan_worst, mut plan_sum) = (1.0f64, 0.0);
        while run < cases {
            let (members, partitions) = (2 + dice.below(3), 2 + dice.below(8));
            let group = dice.group(members, partitions, equal);
            let (squares_min, best) = optimum(&group);
            if best == 0 || best == u64::MAX || squares_min == 0 {
                continue;
            }
            run += 1;
            let result = plan(&group, None);
            assert_eq!(squares(&result.assignment), squares_min, "counts could be more even: {group:?}");
            let found = result.frontier.iter().filter(|point| point.even).map(|point| point.largest_lag).min();
            let chosen = Metrics::of(&group, &result.assignment).largest_lag;
            let ratio = found.unwrap_or(chosen).min(chosen) as f64 / best as f64;
            worst = worst.max(ratio);
            sum += ratio;
            exact += usize::from(ratio <= 1.0);
            plan_worst = plan_worst.max(chosen as f64 / best as f64);
            plan_sum += chosen as f64 / best as f64;
        }
        println!(
            "{} subscriptions, {run} groups: largest lag found ÷ optimum: worst {worst:.3}, mean {:.5}, exact {:.1} %; \
             of the plan: worst {plan_worst:.3}, mean {:.5}",
            if equal { "equal" } else { "different" },
            sum / f64::from(run),
            exact as f64 * 100.0 / f64::from(run),
            plan_sum / f64::from(run),
        );
        assert!(worst <= if equal { 1.25 } else { 2.5 }, "{worst}");
    }
}
