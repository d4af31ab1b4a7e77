use super::*;

/// A departure so many milliseconds after the last commit.
fn departure(quiet: Option<i64>, lag_waiting: Option<bool>) -> Departure {
    Departure { member: member("a"), last_commit: quiet.map(|quiet| Wall(1_000_000 - quiet)), lag_waiting }
}

fn word(departure: Departure, partitions: &[i32]) -> Departed {
    word_back(departure, partitions, None)
}

/// The word, if a member of the same client id and host joins `back` later.
fn word_back(departure: Departure, partitions: &[i32], back: Option<i64>) -> Departed {
    let mut log = Log::new();
    log.at(0, [joins("a"), joins("z"), epoch(1), assigned(1), at_epoch("a", 1, partitions), at_epoch("z", 1, &[9])]);
    log.at(1_000_000, [What::MemberGone(Box::new(departure)), epoch(2), assigned(2), at_epoch("z", 2, &[9])]);
    if let Some(back) = back {
        let again = EventMember { client_id: "client-a".into(), ..member("a-again") };
        log.at(1_000_000 + back, [What::Member(Box::new(again)), epoch(3), assigned(3), at_epoch("z", 3, &[9])]);
    }
    let gone = log.list().into_iter().find(|rebalance| rebalance.to == Some(2)).unwrap();
    let CauseKind::Gone { why, .. } = &gone.causes[0].kind else { panic!("{:?}", gone.causes) };
    assert_eq!(*why, gone.gone.list[0].why);
    assert_eq!(why.certainty(), Certainty::Likely);
    why.verdict
}

#[test]
fn left_right_after_a_commit() {
    assert_eq!(word(departure(Some(0), Some(true)), &[0]), Departed::Left);
    assert_eq!(word(departure(Some(10_000), Some(true)), &[0]), Departed::Left);
    assert_eq!(word(departure(Some(10_001), Some(true)), &[0]), Departed::CannotTell);
    assert_eq!(word(departure(Some(10_000), None), &[0]), Departed::Left);
}

#[test]
fn left_while_it_held_nothing() {
    assert_eq!(word(departure(None, None), &[]), Departed::Left);
}

#[test]
fn crashed_about_a_session_timeout_ago() {
    for (quiet, expected) in [
        (29_999, Departed::CannotTell),
        (30_000, Departed::Crashed),
        (45_000, Departed::Crashed),
        (67_500, Departed::Crashed),
        (67_501, Departed::CannotTell),
    ] {
        assert_eq!(word(departure(Some(quiet), Some(true)), &[0]), expected, "{quiet}");
    }
}

#[test]
fn a_session_timeout_that_is_unknown_crashes_nobody() {
    let mut unknown = departure(Some(45_000), Some(true));
    unknown.member.session_timeout_ms = None;
    let mut log = Log::new();
    let a = EventMember { session_timeout_ms: None, ..member("a") };
    log.at(0, [What::Member(Box::new(a)), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    log.at(1_000_000, [What::MemberGone(Box::new(unknown)), epoch(2)]);
    assert_eq!(log.last().gone.list[0].why.verdict, Departed::CannotTell);
}

#[test]
fn a_session_timeout_of_the_broker_is_told_with_its_origin() {
    let silent = EventMember { session_timeout_ms: None, ..member("a") };
    let gone = |kind: GroupKind, late: bool| {
        let mut log = Log::new();
        let defaults = GroupDefaults { consumer_session_timeout_ms: Some(45_000), ..GroupDefaults::default() };
        if !late {
            log.history.set_defaults(defaults);
        }
        let bump = |epoch| What::GroupEpoch { kind: kind.clone(), epoch, hash: Some(7) };
        log.at(0, [What::Member(Box::new(silent.clone())), bump(1), assigned(1), at_epoch("a", 1, &[0])]);
        let departure = Departure { member: silent.clone(), ..departure(Some(45_000), Some(true)) };
        log.at(1_000_000, [What::MemberGone(Box::new(departure)), bump(2), assigned(2)]);
        if late {
            assert_eq!(log.last().gone.list[0].why.verdict, Departed::CannotTell);
            log.history.set_defaults(defaults);
        }
        let feed = log.history.feed();
        let told = |what: &Happened| matches!(what, Happened::Rebalance(r) if **r == log.last());
        assert!(feed.iter().any(|line| told(&line.what)), "the feed says the same");
        log.last().gone.list[0].why.clone()
    };
    assert_eq!(gone(GroupKind::Consumer, true), gone(GroupKind::Consumer, false), "the configuration is read later");
    let why = gone(GroupKind::Consumer, false);
    assert_eq!((why.verdict, why.session_default, why.certainty()), (Departed::Crashed, true, Certainty::Likely));
    let text = "likely crashed or cut off (last commit 45s before; session timeout 45s, the broker's default)";
    assert_eq!(why.to_string(), text);
    let why = gone(GroupKind::Share, false);
    assert_eq!((why.verdict, why.session_default), (Departed::CannotTell, false));
}

#[test]
fn a_slow_poll_comes_back() {
    let slow = || departure(Some(300_000), Some(true));
    assert_eq!(word(slow(), &[0]), Departed::CannotTell);
    assert_eq!(word_back(slow(), &[0], Some(60_000)), Departed::SlowPoll);
    // Within two rebalance timeouts.
    assert_eq!(word_back(slow(), &[0], Some(600_000)), Departed::SlowPoll);
    assert_eq!(word_back(slow(), &[0], Some(600_001)), Departed::CannotTell);
    for (quiet, expected) in [
        (284_999, Departed::CannotTell),
        (285_000, Departed::SlowPoll),
        (450_000, Departed::SlowPoll),
        (450_001, Departed::CannotTell),
    ] {
        assert_eq!(word_back(departure(Some(quiet), Some(true)), &[0], Some(1000)), expected, "{quiet}");
    }
    // History knows no log end of that time: the return tells enough, unless nothing waited.
    assert_eq!(word_back(departure(Some(300_000), None), &[0], Some(60_000)), Departed::SlowPoll);
    assert_eq!(word_back(departure(Some(300_000), Some(false)), &[0], Some(60_000)), Departed::CannotTell);
    assert_eq!(word_back(departure(Some(45_000), None), &[0], Some(1000)), Departed::CannotTell);
}

#[test]
fn without_lag_or_commits_nobody_can_tell() {
    assert_eq!(word(departure(Some(45_000), Some(false)), &[0]), Departed::CannotTell);
    assert_eq!(word(departure(Some(45_000), None), &[0]), Departed::CannotTell);
    assert_eq!(word(departure(None, Some(true)), &[0]), Departed::CannotTell);
}

#[test]
fn short_timeouts_of_tests_are_no_goodbyes() {
    let mut short = departure(Some(3000), Some(true));
    (short.member.session_timeout_ms, short.member.rebalance_timeout_ms) = (Some(3000), Some(60_000));
    assert_eq!(word(short.clone(), &[0]), Departed::Crashed);
    short.last_commit = Some(Wall(1_000_000 - 1_999));
    assert_eq!(word(short, &[0]), Departed::Left);
}

#[test]
fn the_return_is_told_with_the_departure_and_in_the_feed() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0]), holding("b", &[1])], &[])]);
    let slow = Departure { member: member("a"), last_commit: Some(Wall(100_000)), lag_waiting: Some(true) };
    let members = vec![holding("b", &[0, 1])];
    log.at(400_000, [what(Generation { generation: 2, members, gone: vec![slow], ..consumer() })]);
    let again = EventMember { client_id: "client-a".into(), ..holding("a-again", &[0]) };
    log.at(430_000, [generation(3, vec![again, holding("b", &[1])], &[])]);
    let list = log.list();
    let text = "gone: client-a @10.0.0.1, likely slow poll (last commit 5m before)";
    assert_eq!(causes(&list[1]), [text]);
    assert_eq!(list[1].gone.list[0].why.back_after, Some(std::time::Duration::from_secs(30)));
    let feed: Vec<_> = log.history.feed().iter().map(|line| line.what.to_string()).collect();
    assert_eq!(feed.len(), 4);
    assert_eq!(feed[1], text);
}

#[test]
fn one_return_answers_one_departure() {
    let mut log = Log::new();
    let same = |id: &str| EventMember { client_id: "pay".into(), ..holding(id, &[]) };
    log.at(0, [created(), generation(1, vec![same("a"), same("b"), same("c")], &[])]);
    log.at(1000, [generation(2, vec![same("c")], &["a", "b"])]);
    let mut named = generation(3, vec![same("c"), same("d")], &[]);
    if let What::Generation(record) = &mut named {
        record.gone.clear();
    }
    log.at(2000, [named]);
    let back = log.list()[1].gone.list.iter().filter(|gone| gone.why.back_after.is_some()).count();
    assert_eq!(back, 0, "the departures are told of other clients");
    log.at(3000, [generation(4, vec![same("d")], &[]), generation(5, vec![same("d"), same("e")], &[])]);
    assert_eq!(log.list()[3].gone.list[0].why.back_after, Some(std::time::Duration::ZERO));
}
