use std::time::Duration;

use super::*;

#[test]
fn creation_then_the_first_generation() {
    let mut log = Log::new();
    log.at(1000, [created()]);
    // Generation 1 never synced.
    log.at(3000, [generation(2, vec![holding("a", &[0, 1]), holding("b", &[2])], &[])]);
    assert_eq!(log.side(), ["group created"]);
    let first = log.only();
    assert_eq!((first.from, first.to, first.missed), (Some(0), Some(2), 1));
    assert_eq!(first.joined.count, 2);
    assert_eq!(causes(&first), ["joined: client-a @10.0.0.1 and 1 more"]);
    assert_eq!(moved(&first), (0, 3, 0, 3));
    assert_eq!(first.took, Took::AtLeast(Duration::ZERO));
    assert_eq!(first.log, Some((0, 2)));
    let summary = log.summary(4000);
    assert_eq!((summary.total, summary.total_lower_bound, summary.lower_bound), (1, false, false));
    assert_eq!(summary.since, Some(Wall(1000)));
}

#[test]
fn the_first_record_that_is_no_beginning_is_not_counted() {
    let mut log = Log::new();
    log.at(1000, [generation(7, vec![holding("a", &[0, 1])], &[])]);
    assert!(log.list().is_empty());
    let summary = log.summary(2000);
    assert!(summary.total_lower_bound && summary.lower_bound);
    // An hour later the last hour is known all the same.
    assert!(!log.summary(1000 + 3_600_000).lower_bound);
    assert!(log.summary(999 + 3_600_000).lower_bound);
    log.at(5000, [generation(8, vec![holding("a", &[0]), holding("b", &[1])], &[])]);
    let next = log.only();
    assert_eq!((next.from, next.to, next.missed), (Some(7), Some(8), 0));
    assert_eq!(moves(&next), ["t-1 a>b"]);
    assert_eq!(moved(&next), (1, 0, 0, 2));
}

#[test]
fn the_first_record_of_an_old_broker_is_generation_1() {
    let mut log = Log::new();
    log.at(1000, [generation(1, vec![holding("a", &[0])], &[])]);
    assert_eq!(log.only().from, Some(0));
    assert!(!log.summary(2000).total_lower_bound);
}

#[test]
fn a_member_that_goes_leaves_its_partitions_to_others() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0, 1]), holding("b", &[2, 3])], &[])]);
    let joined_at = Some(Wall(9_800));
    let members = vec![holding("b", &[0, 1, 2, 3])];
    let departure = Departure { member: member("a"), last_commit: Some(Wall(9_000)), lag_waiting: Some(true) };
    log.at(10_000, [what(Generation { generation: 2, joined_at, members, gone: vec![departure], ..consumer() })]);
    let second = log.last();
    assert_eq!(second.took, Took::AtLeast(Duration::from_millis(200)));
    assert_eq!((second.began, second.ended), (Wall(9_800), Wall(10_000)));
    assert_eq!(moves(&second), ["t-0 a>b", "t-1 a>b"]);
    assert_eq!(moved(&second), (2, 0, 0, 4));
    assert_eq!(causes(&second), ["gone: client-a @10.0.0.1, likely left (last commit 800ms before)"]);
    log.at(20_000, [generation(3, vec![], &["b"])]);
    assert!(log.last().emptied);
    assert_eq!(moved(&log.last()), (0, 0, 4, 4));
    // A group that was empty begins anew: nobody had them.
    log.at(30_000, [generation(4, vec![holding("c", &[0, 1, 2, 3])], &[])]);
    assert_eq!(moved(&log.last()), (0, 4, 0, 4));
}

#[test]
fn the_same_generation_again_is_a_static_restart() {
    let mut log = Log::new();
    let with = |id: &str| EventMember { held: Some(held(&[0, 1])), ..fixed(id, "i") };
    log.at(0, [created(), generation(1, vec![with("a")], &[])]);
    log.at(5000, [generation(1, vec![with("a2")], &["a"])]);
    assert_eq!(log.list().len(), 1);
    assert_eq!(log.side(), ["group created", "static member client-a2 (i) @10.0.0.1 restarted"]);
    // It continues under the new id.
    log.at(9000, [generation(2, vec![with("a2"), holding("b", &[])], &[])]);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1"]);
    // Back with a rebalance: neither gone nor joined.
    log.at(12_000, [generation(3, vec![with("a3"), holding("b", &[])], &["a2"])]);
    let last = log.last();
    assert_eq!(causes(&last), ["static member back: client-a3 (i) @10.0.0.1"]);
    assert_eq!((last.joined.count, last.gone.count), (0, 0));
    assert_eq!(moved(&last), (0, 0, 0, 2));
}

#[test]
fn a_cooperative_rebalance_hands_over_in_two_rounds() {
    let mut log = Log::new();
    let round = |generation, members| {
        let protocol = Some("cooperative-sticky".into());
        what(Generation { generation, protocol, members, ..consumer() })
    };
    log.at(0, [created(), round(1, vec![holding("a", &[0, 1])])]);
    log.at(1000, [round(2, vec![holding("a", &[0]), holding("b", &[])])]);
    assert_eq!(moves(&log.last()), ["t-1 a>-"]);
    assert_eq!(moved(&log.last()), (0, 0, 1, 2));
    log.at(1500, [round(3, vec![holding("a", &[0]), holding("b", &[1])])]);
    let last = log.last();
    assert_eq!(causes(&last), ["likely second round of a cooperative rebalance"]);
    assert_eq!(moves(&last), ["t-1 a>b"]);
}

#[test]
fn subscription_assignor_and_partition_count_are_told() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0, 1])], &[])]);
    log.at(1000, [generation(2, vec![holding("a", &[0, 1, 2])], &[])]);
    assert_eq!(causes(&log.last()), ["t 2 > 3 partitions"]);
    let other = EventMember { subscription: Some(vec!["u".into()]), ..holding("a", &[]) };
    log.at(2000, [generation(3, vec![other.clone()], &[])]);
    assert_eq!(causes(&log.last()), ["subscription changed: client-a @10.0.0.1 +u -t"]);
    let sticky = Generation { generation: 4, protocol: Some("sticky".into()), members: vec![other], ..consumer() };
    log.at(3000, [what(sticky.clone())]);
    assert_eq!(causes(&log.last()), ["assignor range > sticky"]);
    log.at(4000, [what(Generation { generation: 5, ..sticky })]);
    assert_eq!(causes(&log.last()), ["no record tells why"]);
}

#[test]
fn more_partitions_are_a_cause_beside_others() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0, 1])], &[])]);
    log.at(1000, [generation(2, vec![holding("a", &[0, 2]), holding("b", &[1])], &[])]);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1", "t 2 > 3 partitions"]);
    // All were handed out before or nothing is certain: an assignor may have left some out.
    log.at(2000, [generation(3, vec![holding("a", &[0]), holding("b", &[2])], &[])]);
    log.at(3000, [generation(4, vec![], &["a", "b"])]);
    log.at(4000, [generation(5, vec![holding("a", &[0, 2])], &[])]);
    log.at(5000, [generation(6, vec![holding("a", &[0, 2, 3])], &[])]);
    assert_eq!(causes(&log.last()), ["likely t 2 > 3 partitions"]);
    log.at(6000, [generation(7, vec![holding("a", &[0, 2, 3]), holding("b", &[4])], &[])]);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1"]);
    // What is between two members of a cooperative group was there before.
    let round = |generation, members| {
        let protocol = Some("cooperative-sticky".into());
        what(Generation { generation, protocol, members, ..consumer() })
    };
    let mut log = Log::new();
    log.at(0, [created(), round(1, vec![holding("a", &[0, 1])])]);
    log.at(1000, [round(2, vec![holding("a", &[0]), holding("b", &[])])]);
    log.at(1500, [round(3, vec![holding("a", &[0]), holding("b", &[1])])]);
    assert_eq!(causes(&log.last()), ["likely second round of a cooperative rebalance"]);
}

#[test]
fn other_protocol_types_have_members_and_no_moves() {
    let mut log = Log::new();
    let connect = |generation, ids: &[&str]| {
        let members = ids.iter().map(|id| EventMember { subscription: None, ..member(id) }).collect();
        what(Generation { generation, protocol_type: "connect".into(), members, ..Generation::default() })
    };
    log.at(0, [created(), connect(1, &["a"]), connect(2, &["a", "b"])]);
    assert_eq!(log.last().moves, None);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1"]);
}

#[test]
fn a_lower_generation_is_another_group() {
    let mut log = Log::new();
    log.at(0, [generation(9, vec![holding("a", &[0])], &[])]);
    log.at(1000, [generation(1, vec![holding("b", &[0])], &[])]);
    assert!(log.list().is_empty());
    log.at(2000, [generation(2, vec![holding("b", &[0]), holding("c", &[])], &[])]);
    assert_eq!(log.only().joined.count, 1);
}

#[test]
fn deletion_and_a_new_beginning() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0])], &[]), generation(2, vec![], &["a"])]);
    log.at(1000, [What::GroupGone]);
    log.at(2000, [created(), generation(1, vec![holding("b", &[0])], &[])]);
    assert_eq!(log.side(), ["group created", "group deleted", "group created"]);
    assert_eq!((log.last().from, log.last().to), (Some(0), Some(1)));
    assert_eq!(moved(&log.last()), (0, 1, 0, 1));
}

/// CASES 27: six consumers, generation 320 to 631 in three hours.
#[test]
fn a_storm_of_hundreds() {
    let mut log = Log::new();
    let (hours, first, last) = (3 * 3_600_000_i64, 320, 631);
    for number in first..=last {
        let wall = i64::from(number - first) * hours / i64::from(last - first);
        let members = (0..6).map(|place| holding(&format!("m{place}"), &[(place + number) % 6])).collect();
        log.at(wall, [generation(number, members, &[])]);
    }
    let summary = log.summary(hours);
    assert_eq!(summary.total, 311);
    assert!((103..=104).contains(&summary.frequency.per_hour), "{}", summary.frequency.per_hour);
    assert_eq!(summary.frequency.per_5min, 9);
    assert!(summary.frequency.storm.is_some() && !summary.lower_bound && summary.total_lower_bound);
    // The oldest slot is not whole.
    let strip = summary.frequency.strip.iter().sum::<u32>();
    assert!((102..=104).contains(&strip), "{strip}");
}
