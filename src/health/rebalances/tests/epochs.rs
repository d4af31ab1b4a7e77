use std::time::Duration;

use super::*;

fn unsettled(id: &str, epoch: i32, partitions: &[i32]) -> What {
    What::MemberEpoch { member: id.into(), epoch, settled: false, held: held(partitions) }
}

/// A group of one member.
fn one() -> Log {
    let mut log = Log::new();
    log.at(1000, [joins("a"), epoch(1), assigned(1), at_epoch("a", 1, &[0, 1])]);
    log
}

#[test]
fn the_first_member_makes_the_group() {
    let log = one();
    let first = log.only();
    assert_eq!((first.from, first.to, first.bumps), (Some(0), Some(1), 1));
    assert_eq!(first.took, Took::Exact(Duration::ZERO));
    assert_eq!(causes(&first), ["joined: client-a @10.0.0.1"]);
    assert_eq!(moved(&first), (0, 2, 0, 2));
    assert_eq!(first.log, Some((0, 2)));
    assert_eq!(log.side(), ["group created"]);
    assert!(!log.summary(1000).total_lower_bound && !first.partial);
}

#[test]
fn newer_brokers_begin_with_epoch_2() {
    let mut log = Log::new();
    log.at(1000, [joins("a"), epoch(2), assigned(2), at_epoch("a", 2, &[0, 1])]);
    assert_eq!(log.side(), ["group created"]);
    assert_eq!((log.only().from, log.only().took), (Some(1), Took::Exact(Duration::ZERO)));
    assert!(!log.summary(1000).total_lower_bound && !log.only().partial);
    // Somebody was there before: the first epoch is compacted away.
    let mut log = Log::new();
    log.at(500, [joins("a")]);
    log.at(1000, [joins("b"), epoch(2), assigned(2), at_epoch("b", 2, &[]), at_epoch("a", 2, &[0])]);
    assert!(log.summary(1000).total_lower_bound && log.only().partial);
    assert_eq!(causes(&log.only()), ["likely joined: client-b @10.0.0.1"]);
}

#[test]
fn it_ends_when_the_last_member_is_settled() {
    let mut log = one();
    log.at(2000, [joins("b"), epoch(2), assigned(2), unsettled("b", 2, &[])]);
    assert_eq!(log.list().len(), 1);
    log.at(2500, [unsettled("a", 1, &[0])]);
    let ongoing = log.summary(2600).ongoing.unwrap();
    assert_eq!((ongoing.began, ongoing.lasting), (Some(Wall(2000)), Duration::from_millis(600)));
    assert_eq!((ongoing.from, ongoing.to, ongoing.at_least), (Some(1), Some(2), false));
    let waits: Vec<_> = ongoing.waits_for.iter().map(|w| (w.who.id.to_string(), w.epoch, w.settled)).collect();
    assert_eq!(waits, [("a".to_owned(), Some(1), false), ("b".to_owned(), Some(2), false)]);
    log.at(3000, [at_epoch("a", 2, &[0])]);
    assert_eq!(log.list().len(), 1);
    log.at(3500, [at_epoch("b", 2, &[1])]);
    let second = log.last();
    assert_eq!(second.took, Took::Exact(Duration::from_millis(1500)));
    assert_eq!(moves(&second), ["t-1 a>b"]);
    assert_eq!(moved(&second), (1, 0, 0, 2));
    assert_eq!(causes(&second), ["joined: client-b @10.0.0.1"]);
    assert_eq!(log.summary(4000).ongoing, None);
}

#[test]
fn bumps_while_it_is_under_way_belong_to_it() {
    let mut log = one();
    log.at(2000, [joins("b"), epoch(2)]);
    log.at(2100, [joins("c"), epoch(3), assigned(3), at_epoch("c", 3, &[])]);
    log.at(2200, [at_epoch("a", 3, &[0]), at_epoch("b", 3, &[1])]);
    let second = log.last();
    assert_eq!((log.list().len(), second.bumps, second.from, second.to), (2, 2, Some(1), Some(3)));
    assert_eq!(second.joined.count, 2);
}

#[test]
fn who_leaves_causes_the_bump_that_follows() {
    let mut log = one();
    log.at(2000, [joins("b"), epoch(2), assigned(2), unsettled("b", 2, &[])]);
    log.at(2100, [at_epoch("a", 2, &[0])]);
    log.at(2200, [at_epoch("b", 2, &[1])]);
    // The rebalance waits for a, which goes.
    log.at(3000, [joins("c"), epoch(3), assigned(3), at_epoch("c", 3, &[]), at_epoch("b", 3, &[1])]);
    log.at(4000, [gone("a"), epoch(4)]);
    log.at(4100, [assigned(4), at_epoch("b", 4, &[1]), at_epoch("c", 4, &[0])]);
    let last = log.last();
    assert_eq!((last.bumps, last.from, last.to), (2, Some(2), Some(4)));
    assert_eq!(causes(&last)[0], "joined: client-c @10.0.0.1");
    assert!(causes(&last)[1].starts_with("gone: client-a @10.0.0.1"), "{:?}", causes(&last));
    assert_eq!(moves(&last), ["t-0 a>c"]);
}

#[test]
fn the_last_member_leaves_nothing_to_wait_for() {
    let mut log = one();
    log.at(5000, [gone("a"), epoch(2)]);
    let last = log.last();
    assert!(last.emptied);
    assert_eq!(last.took, Took::Exact(Duration::ZERO));
    assert_eq!(moved(&last), (0, 0, 2, 2));
    log.at(6000, [joins("b"), epoch(3), assigned(3), at_epoch("b", 3, &[0, 1])]);
    assert_eq!(moved(&log.last()), (0, 2, 0, 2));
    assert_eq!((log.last().from, log.last().to), (Some(2), Some(3)));
}

#[test]
fn a_static_member_goes_and_comes_back() {
    let mut log = Log::new();
    log.at(1000, [What::Member(Box::new(fixed("a", "i"))), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    log.at(2000, [at_epoch("a", -2, &[0])]);
    log.at(
        3000,
        [
            What::MemberGone(Box::new(Departure { member: fixed("a", "i"), ..Departure::default() })),
            What::Member(Box::new(fixed("a2", "i"))),
            at_epoch("a2", 1, &[0]),
        ],
    );
    assert_eq!(log.list().len(), 1);
    assert_eq!(
        log.side()[1..],
        [
            "static member client-a (i) @10.0.0.1 went and may come back",
            "static member client-a2 (i) @10.0.0.1 restarted",
        ]
    );
    // None of it is a cause of what comes later.
    log.at(9000, [joins("b"), epoch(2), assigned(2), at_epoch("b", 2, &[]), at_epoch("a2", 2, &[0])]);
    let last = log.last();
    assert_eq!(causes(&last), ["joined: client-b @10.0.0.1"]);
    assert_eq!((last.gone.count, moved(&last)), (0, (0, 0, 0, 1)));
}

#[test]
fn a_static_member_that_stays_away_has_left_for_certain() {
    let mut log = Log::new();
    let a = || fixed("a", "i");
    log.at(1000, [What::Member(Box::new(a())), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    log.at(2000, [at_epoch("a", -2, &[0])]);
    log.at(47_000, [What::MemberGone(Box::new(Departure { member: a(), ..Departure::default() })), epoch(2)]);
    assert_eq!(causes(&log.last()), ["gone: client-a (i) @10.0.0.1, was away and did not come back in time"]);
    assert_eq!(log.last().gone.list[0].why.certainty(), Certainty::Certain);
}

#[test]
fn a_static_member_that_is_away_holds_up_a_rebalance() {
    let mut log = Log::new();
    log.at(1000, [What::Member(Box::new(fixed("a", "i"))), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    log.at(2000, [joins("b"), epoch(2), assigned(2), at_epoch("b", 2, &[])]);
    log.at(3000, [at_epoch("a", -2, &[0])]);
    let ongoing = log.summary(4000).ongoing.unwrap();
    assert_eq!(ongoing.waits_for[0].epoch, Some(-2));
    let causes: Vec<_> = ongoing.causes.iter().map(ToString::to_string).collect();
    assert_eq!(causes, ["joined: client-b @10.0.0.1", "static member away: client-a (i) @10.0.0.1"]);
}

#[test]
fn another_hash_with_the_same_topics_is_metadata() {
    let mut log = one();
    log.at(2000, [hashed(2, 8), assigned(2), at_epoch("a", 2, &[0, 1, 2])]);
    let CauseKind::Metadata { from, to } = log.last().causes[0].kind else { panic!() };
    assert_eq!((from, to, log.last().causes[0].certainty), (Some(7), Some(8), Certainty::Certain));
    // Another subscription explains another hash.
    let other = EventMember { subscription: Some(vec!["t".into(), "u".into()]), ..member("a") };
    log.at(3000, [What::Member(Box::new(other)), hashed(3, 9), assigned(3), at_epoch("a", 3, &[0])]);
    assert_eq!(causes(&log.last()), ["subscription changed: client-a @10.0.0.1 +u"]);
    // A new member with the same topics does not.
    let same = EventMember { subscription: Some(vec!["u".into()]), ..member("b") };
    log.at(4000, [What::Member(Box::new(same)), hashed(4, 10), assigned(4)]);
    log.at(4000, [at_epoch("a", 4, &[0]), at_epoch("b", 4, &[])]);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1", "metadata hash changed"]);
    // With a regex nobody knows.
    let regex = EventMember { subscription: Some(vec![]), regex: Some("t.*".into()), ..member("c") };
    log.at(5000, [What::Member(Box::new(regex)), hashed(5, 10), assigned(5)]);
    log.at(5000, [at_epoch("a", 5, &[0]), at_epoch("b", 5, &[]), at_epoch("c", 5, &[])]);
    log.at(6000, [hashed(6, 11), assigned(6), at_epoch("a", 6, &[]), at_epoch("b", 6, &[]), at_epoch("c", 6, &[])]);
    assert_eq!(causes(&log.last()), ["likely metadata hash changed"]);
}

#[test]
fn a_wish_for_another_assignor_is_a_cause_only_with_its_bump() {
    let mut log = one();
    let wish = |assignor: &str| What::Member(Box::new(EventMember { assignor: Some(assignor.into()), ..member("a") }));
    log.at(2000, [wish("range")]);
    log.at(3000, [joins("b"), epoch(2), assigned(2), at_epoch("b", 2, &[]), at_epoch("a", 2, &[0, 1])]);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1"]);
    log.at(4000, [wish("uniform"), epoch(3), assigned(3), at_epoch("a", 3, &[0, 1]), at_epoch("b", 3, &[])]);
    assert_eq!(causes(&log.last()), ["assignor range > uniform"]);
}

#[test]
fn after_compaction_counts_and_times_are_lower_bounds() {
    let mut log = Log::new();
    // What is left of a group: its members are of long ago, the last epoch is newer.
    log.at(1000, [joins("a")]);
    log.at(2000, [joins("b")]);
    log.at(9000, [epoch(42), assigned(42)]);
    log.at(9500, [at_epoch("a", 42, &[0])]);
    log.at(9600, [at_epoch("b", 42, &[1])]);
    let first = log.only();
    assert!(first.partial && log.summary(9600).total_lower_bound);
    assert_eq!((first.from, first.to, first.bumps), (Some(41), Some(42), 1));
    assert_eq!(first.took, Took::AtLeast(Duration::from_millis(600)));
    assert_eq!(causes(&first), ["no record tells why"]);
    // From the next one on every member is known.
    log.at(20_000, [joins("c"), epoch(43), assigned(43), at_epoch("c", 43, &[])]);
    log.at(20_000, [at_epoch("a", 43, &[0]), at_epoch("b", 43, &[1])]);
    assert!(!log.last().partial);
    assert_eq!(log.last().took, Took::Exact(Duration::ZERO));
    assert_eq!(causes(&log.last()), ["joined: client-c @10.0.0.1"]);
}

#[test]
fn members_that_the_log_has_not_named_yet_are_not_new() {
    let mut log = Log::new();
    log.at(1000, [epoch(42), assigned(42), at_epoch("a", 42, &[0])]);
    let first = log.only();
    assert_eq!((first.joined.count, moved(&first)), (0, (0, 0, 0, 1)));
    log.at(2000, [at_epoch("b", 42, &[1])]);
    log.at(3000, [epoch(43), assigned(43), at_epoch("a", 43, &[0, 1]), at_epoch("b", 43, &[])]);
    assert_eq!(moves(&log.last()), ["t-1 b>a"]);
}

/// 500 members join: 1,000 bumps and 55 assignments are few rebalances.
#[test]
fn bumps_are_not_rebalances() {
    let mut log = Log::new();
    let (mut group_epoch, mut members) = (0, Vec::new());
    for wave in 0..55 {
        let wall = 1000 * i64::from(wave);
        for _ in 0..9 {
            let id = format!("m{}", members.len());
            group_epoch += 1;
            log.at(wall, [joins(&id), epoch(group_epoch)]);
            group_epoch += 1;
            log.at(wall + 1, [epoch(group_epoch)]);
            members.push(id);
        }
        log.at(wall + 500, [assigned(group_epoch)]);
        for id in &members {
            log.at(wall + 600, [at_epoch(id, group_epoch, &[])]);
        }
    }
    assert_eq!(group_epoch, 990);
    assert_eq!(log.list().len(), 55);
    assert!(log.list().iter().all(|rebalance| rebalance.bumps == 18));
    assert_eq!(log.last().joined.count, 9);
}

#[test]
fn share_members_share_partitions() {
    let mut log = Log::new();
    let bump = |epoch| What::GroupEpoch { kind: GroupKind::Share, epoch, hash: Some(1) };
    log.at(0, [joins("a"), bump(1), assigned(1), at_epoch("a", 1, &[0, 1])]);
    log.at(10, [joins("b"), bump(2), assigned(2), at_epoch("b", 2, &[0, 1]), at_epoch("a", 2, &[0, 1])]);
    assert_eq!(moved(&log.last()), (0, 2, 0, 2));
    log.at(20, [gone("a"), bump(3), assigned(3), at_epoch("b", 3, &[0, 1])]);
    assert_eq!(moved(&log.last()), (0, 0, 2, 2));
}

#[test]
fn an_upgrade_is_a_change_of_type_and_no_rebalance() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0, 1])], &[])]);
    log.at(
        1000,
        [
            What::GroupGone,
            joins("a"),
            epoch(1),
            assigned(1),
            at_epoch("a", 1, &[0, 1]),
            joins("b"),
            epoch(2),
            assigned(2),
            unsettled("b", 2, &[]),
        ],
    );
    log.at(1500, [at_epoch("a", 2, &[0])]);
    log.at(1600, [at_epoch("b", 2, &[1])]);
    assert_eq!(log.side(), ["group created", "group changed from classic to consumer"]);
    assert_eq!(log.list().len(), 2);
    let last = log.last();
    assert_eq!((last.from, last.to), (Some(1), Some(2)));
    assert_eq!(causes(&last), ["joined: client-b @10.0.0.1"]);
    assert_eq!(moves(&last), ["t-1 a>b"]);
    // And back: the members' records are deleted with the group's.
    log.at(2000, [gone("a"), gone("b"), What::GroupGone, generation(2, vec![holding("a", &[0])], &[])]);
    assert_eq!(log.list().len(), 2);
    assert_eq!(log.side().last().unwrap(), "group changed from consumer to classic");
    log.at(3000, [generation(3, vec![holding("a", &[0, 1])], &[])]);
    assert_eq!(log.list().len(), 3);
    // The last KIP-848 member went with the change, and is told with the generation that is about it.
    let last = log.last();
    assert_eq!((last.from, last.to, last.gone.count), (Some(2), Some(3), 1));
    assert_eq!(causes(&last), ["gone: client-b @10.0.0.1, cannot tell why (no commit known)"]);
    assert_eq!(moves(&last), ["t-1 b>a"]);
    log.at(4000, [generation(4, vec![holding("a", &[0, 1])], &[])]);
    assert_eq!(causes(&log.last()), ["no record tells why"]);
}

/// CASES 32: a share group is deleted and its name used for a consumer group.
#[test]
fn a_name_used_again_for_another_type() {
    let mut log = Log::new();
    let bump = |epoch| What::GroupEpoch { kind: GroupKind::Share, epoch, hash: None };
    log.at(0, [joins("a"), bump(1), assigned(1), at_epoch("a", 1, &[0]), gone("a"), bump(2)]);
    log.at(5000, [What::GroupGone]);
    log.at(9000, [joins("b"), epoch(1), assigned(1), at_epoch("b", 1, &[0])]);
    let told = ["group created", "group deleted", "group changed from share to consumer", "group created"];
    assert_eq!(log.side(), told);
    assert_eq!(causes(&log.last()), ["joined: client-b @10.0.0.1"]);
}
