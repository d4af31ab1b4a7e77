#![allow(clippy::float_cmp)] // 0 and 1 are exact

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::health::verdict::partition::NEAR_LOSS;
use crate::health::{Direction, PartitionLag, Rate, Rewound, Thresholds, TimeLag};
use crate::model::At;

const MINUTE: Duration = Duration::from_secs(60);

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn known(seconds: u64) -> TimeLag {
    TimeLag::Known { time: secs(seconds), error: secs(2) }
}

fn rate(per_second: f64) -> Rate {
    Rate { per_second, window: secs(10) }
}

/// A partition that a member has, 1000 records and 30 s behind, watched for an hour; its commit moves.
fn signs() -> PartitionSigns {
    PartitionSigns {
        now: At(3_600_000),
        lag: PartitionLag::Known(1000),
        owner: Owner::Member,
        time_lag: known(30),
        written: Some(rate(10.0)),
        commit: moving(),
        group_commits: true,
        ..PartitionSigns::default()
    }
}

fn moving() -> CommitSigns {
    let patience = MINUTE;
    CommitSigns { watched: secs(3600), patience, moves: true, alive: true, arrives: true, ..CommitSigns::default() }
}

/// Nobody commits, and the next commit is overdue for so many seconds.
fn silent(seconds: u64) -> CommitSigns {
    CommitSigns { silent: secs(seconds), alive: false, moves: false, ..moving() }
}

/// Verdict, severity and the rule that decides.
fn of(signs: &PartitionSigns) -> (Verdict, Severity, &'static str) {
    let judgement = judge(signs);
    (judgement.verdict, judgement.severity, judgement.reasons[0].reason.rule())
}

#[test]
fn behind_is_a_matter_of_time() {
    assert_eq!(of(&signs()), (Verdict::Ok, Severity::Ok, "within"));
    let at = |time| PartitionSigns { time_lag: time, ..signs() };
    assert_eq!(of(&at(known(60))), (Verdict::Ok, Severity::Ok, "within"));
    assert_eq!(of(&at(known(61))), (Verdict::Lagging, Severity::Warn, "behind"));
    let towards = |direction| PartitionSigns { direction, ..at(known(61)) };
    assert_eq!(of(&towards(Direction::Rising)), (Verdict::Lagging, Severity::Critical, "behind"));
    assert_eq!(of(&towards(Direction::Falling)), (Verdict::CatchingUp, Severity::Note, "catching_up"));
    // A time that is known in part: what is behind took 100 s to be written.
    let more = PartitionSigns { time_lag: TimeLag::MoreThan(secs(20)), ..signs() };
    assert_eq!(of(&more), (Verdict::Lagging, Severity::Warn, "behind"));
    assert_eq!(of(&PartitionSigns { written: Some(rate(17.0)), ..more }), (Verdict::Ok, Severity::Ok, "within"));
    assert_eq!(of(&PartitionSigns { written: None, ..more }), (Verdict::Ok, Severity::Ok, "within"));
    // The person's own thresholds, both sides.
    let thresholds = |lag, seconds| Thresholds { lag, time_lag: secs(seconds), ..Thresholds::default() };
    let with = |lag, seconds| PartitionSigns { thresholds: thresholds(lag, seconds), ..signs() };
    assert_eq!(of(&with(None, 29)).2, "behind");
    assert_eq!(of(&with(None, 30)).2, "within");
    assert_eq!(of(&with(Some(999), 600)), (Verdict::Lagging, Severity::Warn, "behind_by"));
    assert_eq!(of(&with(Some(1000), 600)).2, "within");
    let falling = PartitionSigns { direction: Direction::Falling, ..with(Some(999), 600) };
    assert_eq!(of(&falling).0, Verdict::CatchingUp);
}

#[test]
fn what_is_on_its_way_between_two_commits_is_no_lag() {
    let rare = PartitionSigns { in_flight: Some(2000), time_lag: known(600), ..signs() };
    assert_eq!(of(&rare), (Verdict::Ok, Severity::Ok, "in_flight"));
    // But not for longer than the group ever took.
    let overdue = PartitionSigns { commit: CommitSigns { patience: secs(1200), ..silent(1201) }, ..rare };
    assert_eq!(of(&overdue), (Verdict::Stopped, Severity::Critical, "silent"));
    assert_eq!(
        of(&PartitionSigns { commit: CommitSigns { silent: secs(1200), ..overdue.commit }, ..overdue }).2,
        "in_flight"
    );
}

#[test]
fn a_commit_that_is_overdue_stopped_or_is_stuck() {
    let overdue = |seconds| PartitionSigns { commit: silent(seconds), ..signs() };
    assert_eq!(of(&overdue(60)).0, Verdict::Ok);
    assert_eq!(of(&overdue(61)), (Verdict::Stopped, Severity::Critical, "silent"));
    assert_eq!(
        of(&PartitionSigns { commit: CommitSigns { alive: true, ..silent(61) }, ..signs() }),
        (Verdict::Stalled, Severity::Critical, "stuck")
    );
    // Not while partitions change hands.
    let moving = |lasting| PartitionSigns { rebalancing: Some((secs(lasting), false)), ..overdue(61) };
    assert_eq!(of(&moving(60)), (Verdict::Rebalancing, Severity::Warn, "rebalancing"));
    assert_eq!(of(&moving(61)), (Verdict::Rebalancing, Severity::Critical, "rebalancing"));
}

#[test]
fn one_look_tells_nothing_of_a_lag() {
    let once = PartitionSigns {
        time_lag: TimeLag::Unknown,
        written: None,
        commit: CommitSigns { watched: Duration::ZERO, patience: secs(300), ..silent(0) },
        ..signs()
    };
    assert_eq!(of(&once), (Verdict::Unknown, Severity::Unknown, "watched_shortly"));
    assert_eq!(judge(&once).completeness, 0.0);
    assert_eq!(of(&PartitionSigns { lag: PartitionLag::Known(0), ..once }).0, Verdict::Ok);
    // Neither do a few: a commit that moves may be far behind.
    let shortly = |watched| {
        let commit = CommitSigns { watched: secs(watched), moves: true, ..once.commit };
        PartitionSigns { commit, ..once }
    };
    assert_eq!((of(&shortly(9)).0, of(&shortly(10)).0), (Verdict::Unknown, Verdict::Ok));
    // A threshold in records needs no time.
    let thresholds = Thresholds { lag: Some(10), ..Thresholds::default() };
    assert_eq!(of(&PartitionSigns { thresholds, ..once }).0, Verdict::Lagging);
    // Nobody is there to read it.
    assert_eq!(of(&PartitionSigns { owner: Owner::NoMembers { ever: true }, ..once }).0, Verdict::Stopped);
}

#[test]
fn nobody_reads() {
    let nobody = |owner, arrives| {
        let commit = CommitSigns { arrives, ..silent(0) };
        PartitionSigns { owner, time_lag: known(61), commit, ..signs() }
    };
    assert_eq!(of(&nobody(Owner::NoMembers { ever: true }, false)), (Verdict::Stopped, Severity::Note, "no_members"));
    assert_eq!(
        of(&nobody(Owner::NoMembers { ever: true }, true)),
        (Verdict::Stopped, Severity::Critical, "no_members")
    );
    let restarts = PartitionSigns { time_lag: known(60), ..nobody(Owner::NoMembers { ever: true }, true) };
    assert_eq!(of(&restarts), (Verdict::Stopped, Severity::Warn, "no_members"));
    // Nobody has ever joined: what assigns itself may commit as rarely as every few minutes.
    let simple = |watched| {
        let commit = CommitSigns { watched: secs(watched), patience: secs(300), arrives: true, ..silent(0) };
        PartitionSigns { commit, ..nobody(Owner::NoMembers { ever: false }, true) }
    };
    assert_eq!(of(&simple(300)), (Verdict::Unknown, Severity::Unknown, "watched_shortly"));
    assert_eq!(of(&simple(301)), (Verdict::Stopped, Severity::Note, "no_members"), "nobody was ever seen to read it");
    let went = PartitionSigns { commit: CommitSigns { alone: true, ..simple(301).commit }, ..simple(301) };
    assert_eq!(of(&went), (Verdict::Stopped, Severity::Critical, "no_members"));
    let quiet = nobody(Owner::NoMembers { ever: false }, false);
    assert_eq!(of(&quiet), (Verdict::Stopped, Severity::Note, "no_members"));
    let subscribed = Owner::Nobody { subscribed: true };
    assert_eq!(of(&nobody(subscribed, false)), (Verdict::Stopped, Severity::Note, "no_owner"));
    assert_eq!(of(&nobody(subscribed, true)), (Verdict::Stopped, Severity::Critical, "no_owner"));
    let left = Owner::Nobody { subscribed: false };
    assert_eq!(of(&nobody(left, true)), (Verdict::Stopped, Severity::Note, "not_subscribed"));
    let none = PartitionSigns { lag: PartitionLag::Known(0), ..nobody(subscribed, true) };
    assert_eq!(of(&none), (Verdict::Ok, Severity::Note, "no_owner"));
    // A consumer that assigns itself is judged as any other.
    let standalone = PartitionSigns {
        owner: Owner::NoMembers { ever: true },
        commit: CommitSigns { unheld: true, ..signs().commit },
        ..signs()
    };
    assert_eq!(of(&standalone).0, Verdict::Ok);
    assert!(judge(&standalone).reasons.iter().any(|finding| finding.reason == Reason::Standalone));
    assert_eq!(of(&PartitionSigns { time_lag: known(61), ..standalone }).0, Verdict::Lagging);
}

#[test]
fn every_state_has_its_verdict() {
    let state = |lag| of(&PartitionSigns { lag, ..signs() });
    assert_eq!(
        of(&PartitionSigns { lag: PartitionLag::default(), ..signs() }),
        (Verdict::Unknown, Severity::Unknown, "not_read")
    );
    assert_eq!(state(PartitionLag::Unknown), (Verdict::Unknown, Severity::Unknown, "not_read"));
    assert_eq!(state(PartitionLag::Stale { last: 5, since: At(0) }), (Verdict::Unknown, Severity::Unknown, "stale"));
    assert_eq!(state(PartitionLag::NoLeader), (Verdict::Unknown, Severity::Critical, "no_leader"));
    assert_eq!(state(PartitionLag::TopicGone), (Verdict::Empty, Severity::Note, "topic_gone"));
    assert_eq!(state(PartitionLag::PartitionGone), (Verdict::Empty, Severity::Note, "partition_gone"));
    assert_eq!(state(PartitionLag::Abandoned { behind: Some(9) }), (Verdict::Empty, Severity::Note, "abandoned"));
    assert_eq!(state(PartitionLag::PastEnd { by: 9 }), (Verdict::Stalled, Severity::Warn, "past_end"));
    assert_eq!(state(PartitionLag::NoCommit { held: Some(0) }), (Verdict::Empty, Severity::Ok, "nothing"));
    assert_eq!(state(PartitionLag::Backlog(0)), (Verdict::Ok, Severity::Ok, "caught_up"));
    let expired = PartitionLag::Expired { lost: 500, readable: 1000 };
    assert_eq!(state(expired), (Verdict::Lagging, Severity::Critical, "lost"));
}

#[test]
fn a_partition_that_was_never_consumed_is_the_odd_one() {
    let odd = PartitionSigns {
        lag: PartitionLag::NoCommit { held: Some(44) },
        commit: CommitSigns { watched: secs(61), ..moving() },
        ..signs()
    };
    assert_eq!(of(&odd), (Verdict::Stalled, Severity::Warn, "never_consumed"));
    let note = (Verdict::Unknown, Severity::Note, "no_commit");
    assert_eq!(of(&PartitionSigns { commit: CommitSigns { watched: secs(60), ..moving() }, ..odd }), note);
    let quiet = PartitionSigns { commit: CommitSigns { arrives: false, ..odd.commit }, ..odd };
    assert_eq!(of(&quiet), note, "it may read from the end");
    assert_eq!(of(&PartitionSigns { owner: Owner::Nobody { subscribed: true }, ..odd }), note);
    let nothing = PartitionSigns { group_commits: false, ..odd };
    assert_eq!(of(&nothing), (Verdict::Unknown, Severity::Unknown, "commits_nothing"));
}

#[test]
fn what_cannot_be_read_is_no_lag() {
    let at_rest = PartitionSigns { commit: silent(999), time_lag: known(999), ..signs() };
    let marker = PartitionSigns { lag: PartitionLag::Known(1), control_record: true, ..at_rest };
    assert_eq!(of(&marker), (Verdict::Ok, Severity::Ok, "control_record"));
    assert_eq!(of(&PartitionSigns { control_record: false, ..marker }).0, Verdict::Stopped);
    let open = PartitionSigns { to_end: 1000, open_transaction: 1000, open_for: known(61), ..at_rest };
    assert_eq!(of(&open), (Verdict::Ok, Severity::Note, "open_transaction"), "it is open for long");
    let lately = PartitionSigns { open_for: known(60), ..open };
    assert_eq!(of(&lately), (Verdict::Ok, Severity::Ok, "open_transaction"));
    assert_eq!(of(&PartitionSigns { open_transaction: 999, ..open }).0, Verdict::Stopped);
    // The lag of a group that is known to read what is committed ends there: it is held up all the same.
    let held = PartitionSigns { lag: PartitionLag::Known(0), ..open };
    assert_eq!(of(&held), (Verdict::Ok, Severity::Note, "open_transaction"));
    // It has not read all that it may.
    let behind = PartitionSigns { lag: PartitionLag::Known(500), to_end: 1500, ..open };
    assert_eq!(of(&behind).0, Verdict::Stopped);
    let read = PartitionSigns { lag: PartitionLag::Known(0), ..lately };
    assert_eq!(of(&read), (Verdict::Ok, Severity::Ok, "open_transaction"));
}

#[test]
fn a_loss_that_comes_near_is_told_before() {
    let near = |time| PartitionSigns { commit: CommitSigns { time_to_loss: Some(time), ..moving() }, ..signs() };
    assert_eq!(of(&near(secs(899))), (Verdict::Lagging, Severity::Critical, "near_loss"));
    assert_eq!(of(&near(NEAR_LOSS)), (Verdict::Ok, Severity::Ok, "within"));
}

#[test]
fn a_rewound_commit_is_told_beside_what_else_is_wrong() {
    let rewound = Some(Rewound { from: 900, to: 100, at: At(3_590_000) });
    let back = PartitionSigns { commit: CommitSigns { rewound, ..moving() }, ..signs() };
    assert_eq!(of(&back), (Verdict::Rewound, Severity::Warn, "rewound"));
    assert_eq!(judge(&back).reasons[0].reason.to_string(), "its commit moved back 900 > 100, 10s ago");
    let stopped = PartitionSigns { commit: CommitSigns { rewound, ..silent(61) }, ..back };
    assert_eq!(of(&stopped).2, "silent");
    assert!(judge(&stopped).reasons.iter().any(|finding| finding.verdict == Verdict::Rewound));
}

/// The group's verdict, severity and the rules in their order.
fn group(signs: &GroupSigns, partitions: &[PartitionSigns]) -> (Verdict, Severity, Vec<&'static str>) {
    let judged: Vec<_> = partitions.iter().map(|signs| (signs.lag, judge(signs))).collect();
    let grouped = judged.iter().enumerate().map(|(place, (lag, judgement))| (place, lag, judgement));
    let Judgement { verdict, severity, reasons, .. } = judge_group(signs, grouped);
    (verdict, severity, reasons.iter().map(|finding| finding.reason.rule()).collect())
}

fn three() -> GroupSigns {
    GroupSigns { described: true, reads_partitions: true, members: 3, most: 1, owned: 3, ..GroupSigns::default() }
}

#[test]
fn the_gravest_partition_is_the_groups() {
    let lagging = PartitionSigns { time_lag: known(61), ..signs() };
    let later = PartitionSigns { time_lag: known(90), ..signs() };
    let partitions = [signs(), lagging, later];
    assert_eq!(group(&three(), &partitions), (Verdict::Lagging, Severity::Warn, vec!["behind", "within"]));
    let (in_flight, read) = (
        PartitionSigns { in_flight: Some(2000), ..signs() },
        PartitionSigns { lag: PartitionLag::Known(0), ..signs() },
    );
    assert_eq!(group(&three(), &[read, in_flight]).2, ["in_flight", "caught_up"], "what is behind says more");
    let judged: Vec<_> = partitions.iter().map(judge).collect();
    let lag = PartitionLag::Known(1000);
    let of_group = judge_group(&three(), judged.iter().enumerate().map(|(place, judgement)| (place, &lag, judgement)));
    let first = &of_group.reasons[0];
    assert_eq!((first.count, first.partition), (2, Some(2)), "the one that is behind for longest");
}

#[test]
fn what_does_not_count_never_makes_the_verdict() {
    let state = |lag| {
        let commit = CommitSigns { arrives: false, ..moving() };
        PartitionSigns { lag, written: None, commit, ..signs() }
    };
    for lag in
        [PartitionLag::TopicGone, PartitionLag::Abandoned { behind: Some(5) }, PartitionLag::NoCommit { held: Some(5) }]
    {
        let (verdict, severity, _) = group(&three(), &[signs(), state(lag)]);
        assert_eq!((verdict, severity), (Verdict::Ok, Severity::Note), "{lag:?}");
    }
    let old = state(PartitionLag::Stale { last: 1, since: At(0) });
    assert_eq!(group(&three(), &[signs(), old]).0, Verdict::Ok);
    assert_eq!(group(&three(), &[old, old]).0, Verdict::Unknown);
    let commit = CommitSigns { moves: false, ..moving() };
    let shortly = PartitionSigns { time_lag: TimeLag::Unknown, written: None, commit, ..signs() };
    assert_eq!(group(&three(), &[signs(), shortly]).0, Verdict::Unknown, "a lag is known, and not whether it goes");
    let cut = group(&three(), &[signs(), state(PartitionLag::NoLeader)]);
    assert_eq!((cut.0, cut.1), (Verdict::Unknown, Severity::Critical));
}

#[test]
fn a_group_without_members_is_empty_or_stopped() {
    let nobody = GroupSigns { described: true, reads_partitions: true, ..GroupSigns::default() };
    assert_eq!(group(&nobody, &[]), (Verdict::Empty, Severity::Ok, vec!["nothing"]));
    let read = PartitionSigns { owner: Owner::NoMembers { ever: true }, lag: PartitionLag::Known(0), ..signs() };
    let unread = PartitionSigns { lag: PartitionLag::Unknown, ..read };
    let (verdict, severity, rules) = group(&nobody, &[read, unread]);
    assert_eq!(
        (verdict, severity, rules[0]),
        (Verdict::Empty, Severity::Ok, "no_members"),
        "the reason is of the verdict"
    );
    let waiting = PartitionSigns { owner: Owner::NoMembers { ever: true }, commit: silent(0), ..signs() };
    assert_eq!(group(&nobody, &[read, waiting]).0, Verdict::Stopped);
    // What waits is the sum of what waits at each.
    let judgements = [600, 300].map(|lag| judge(&PartitionSigns { lag: PartitionLag::Known(lag), ..waiting }));
    let lag = PartitionLag::Known(1);
    let both = judge_group(&nobody, judgements.iter().enumerate().map(|(place, judged)| (place, &lag, judged)));
    let first = &both.reasons[0];
    assert_eq!((first.count, first.partition), (2, Some(0)));
    assert_eq!(first.reason, Reason::NoMembers { lag: 900, growing: waiting.commit.arrives });
    let standalone = PartitionSigns {
        owner: Owner::NoMembers { ever: true },
        commit: CommitSigns { unheld: true, ..signs().commit },
        ..signs()
    };
    assert_eq!(group(&nobody, &[standalone]).0, Verdict::Ok);
    assert_eq!(group(&GroupSigns { described: false, ..nobody }, &[]).0, Verdict::Unknown);
    let connect = GroupSigns { reads_partitions: false, members: 2, ..nobody };
    assert_eq!(group(&connect, &[]), (Verdict::Unknown, Severity::Unknown, vec!["no_offsets"]));
}

#[test]
fn rebalances_and_storms_are_the_groups() {
    let moving = GroupSigns { rebalancing: Some((secs(5), false)), ..three() };
    let caught_up = PartitionSigns { lag: PartitionLag::Known(0), ..signs() };
    assert_eq!(
        group(&moving, std::slice::from_ref(&caught_up)),
        (Verdict::Rebalancing, Severity::Warn, vec!["rebalancing", "caught_up"])
    );
    // Behind for long: the rebalance is told once, as gravely as it is.
    let rebalancing = Some((secs(90), false));
    let behind = PartitionSigns { rebalancing, ..signs() };
    let told = group(&GroupSigns { rebalancing, ..three() }, &[behind, behind]);
    assert_eq!(told, (Verdict::Rebalancing, Severity::Critical, vec!["rebalancing", "within"]));
    let storm = GroupSigns { storm: Some((5, secs(300))), ..three() };
    assert_eq!(group(&storm, &[caught_up]).0, Verdict::Rebalancing);
}

#[test]
fn what_is_worth_a_word_leaves_the_verdict() {
    let word = |signs: GroupSigns| group(&signs, &[self::signs()]);
    assert_eq!(word(three()), (Verdict::Ok, Severity::Ok, vec!["within"]));
    assert_eq!(word(GroupSigns { idle: 1, ..three() }), (Verdict::Ok, Severity::Note, vec!["within", "idle"]));
    assert_eq!(word(GroupSigns { problems: 1, ..three() }).1, Severity::Note);
    assert_eq!(word(GroupSigns { nothing_arrives: Some((1, 2)), ..three() }).1, Severity::Note);
    // 12 members, 30 partitions: a fair share is 3.
    let uneven = |most| word(GroupSigns { members: 12, owned: 30, most, ..three() });
    assert_eq!(uneven(16), (Verdict::Ok, Severity::Note, vec!["within", "uneven"]));
    assert_eq!(uneven(6).1, Severity::Note);
    assert_eq!(uneven(5).1, Severity::Ok);
    assert_eq!(word(GroupSigns { members: 2, owned: 2, most: 2, ..three() }).1, Severity::Ok, "one above a fair share");
}

#[test]
fn a_members_verdict_is_that_of_what_it_holds() {
    let (ok, late) = (judge(&signs()), judge(&PartitionSigns { time_lag: known(61), ..signs() }));
    let lag = PartitionLag::Known(1000);
    assert_eq!(judge_member([(3, &lag, &ok), (4, &lag, &late)]).verdict, Verdict::Lagging);
    assert_eq!(judge_member([(3, &lag, &ok)]).verdict, Verdict::Ok);
    assert_eq!(judge_member([]).verdict, Verdict::Empty);
}

fn any_signs() -> impl Strategy<Value = PartitionSigns> {
    let times = (0u64..400, 0u64..400, 0u64..400, any::<bool>(), any::<bool>());
    let lags = (0u64..5000, 0usize..4, 0..4, 0usize..3, proptest::option::of(0u32..200));
    (times, lags).prop_map(|((watched, silent, time, moves, alive), (lag, owner, state, direction, written))| {
        PartitionSigns {
            now: At(10_000_000),
            lag: match state {
                0 => PartitionLag::NoCommit { held: Some(lag) },
                1 => PartitionLag::Expired { lost: 5, readable: lag },
                _ => PartitionLag::Known(lag),
            },
            owner: [
                Owner::Member,
                Owner::NoMembers { ever: true },
                Owner::Nobody { subscribed: true },
                Owner::Unsettled,
            ][owner],
            time_lag: match (lag, state) {
                (0, _) => TimeLag::None,
                (_, 2) => known(time),
                _ => TimeLag::MoreThan(secs(time)),
            },
            direction: [Direction::Rising, Direction::Falling, Direction::Flat][direction],
            written: written.map(|written| rate(f64::from(written))),
            commit: CommitSigns {
                watched: secs(watched),
                silent: secs(silent),
                patience: secs(100),
                moves,
                alive,
                unheld: moves,
                arrives: written.is_some_and(|written| written > 0),
                ..CommitSigns::default()
            },
            group_commits: true,
            ..PartitionSigns::default()
        }
    })
}

proptest! {
    #[test]
    fn time_has_no_zero(signs in any_signs(), shift in 0u64..1_000_000_000) {
        let shifted = PartitionSigns { now: At(signs.now.0 + shift), ..signs };
        prop_assert_eq!(of(&signs), of(&shifted));
    }

    #[test]
    fn twice_the_records_at_twice_the_rates_are_no_other_verdict(signs in any_signs(), factor in 2u64..1000) {
        let scaled = |records: u64| records * factor;
        let lag = match signs.lag {
            PartitionLag::Known(lag) => PartitionLag::Known(scaled(lag)),
            PartitionLag::NoCommit { held } => PartitionLag::NoCommit { held: held.map(scaled) },
            PartitionLag::Expired { lost, readable } => {
                PartitionLag::Expired { lost: scaled(lost), readable: scaled(readable) }
            }
            other => other,
        };
        let written = signs.written.map(|rate| Rate { per_second: rate.per_second * factor as f64, ..rate });
        prop_assert_eq!(of(&signs), of(&PartitionSigns { lag, written, ..signs }));
    }

    #[test]
    fn more_evidence_is_never_less_complete(signs in any_signs(), longer in 0u64..400) {
        let longer = PartitionSigns { commit: CommitSigns { watched: signs.commit.watched + secs(longer), ..signs.commit }, ..signs };
        let (before, after) = (judge(&signs), judge(&longer));
        prop_assert!((0.0..=1.0).contains(&before.completeness));
        prop_assert!(after.completeness >= before.completeness);
    }

    #[test]
    fn no_figure_of_a_reason_is_nonsense(signs in any_signs()) {
        for finding in judge(&signs).reasons {
            let text = finding.reason.to_string();
            prop_assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains('-'), "{}", text);
        }
    }
}
