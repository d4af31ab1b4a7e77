//! The verdicts on the screens: one vocabulary, the worst first, and why, said once.

use std::sync::Arc;

use super::*;
use crate::health::{Finding, IdleReason, Judgement, Reason, Rewound, Severity, TimeLag, Verdict};
use crate::monitor::view::GroupView;
use crate::tui::{fixture_past, sentence};

/// All that is ever said.
const WORDS: [&str; 9] =
    ["OK", "CATCHING UP", "LAGGING", "STALLED", "STOPPED", "REWOUND", "REBALANCING", "EMPTY", "UNKNOWN"];

fn views() -> [View; 3] {
    [fixture::view(), fixture_past::view(), fixture::metadata_view()]
}

/// Whether a text begins with a glyph and one of the words, and nothing else up to the next column.
fn is_verdict(text: &str) -> bool {
    let glyph = text.get(..2).is_some_and(|glyph| ["x ", "! ", "~ ", "? ", ". "].contains(&glyph));
    glyph && WORDS.iter().any(|word| text[2..].strip_prefix(word).is_some_and(|rest| rest.starts_with("  ")))
}

/// The first cells of a line, as wide as the column of the verdicts, and a gap.
fn start(line: &str) -> String {
    format!("{}  ", line.chars().take(13).collect::<String>().trim_end())
}

#[test]
fn a_verdict_is_one_of_nine_words() {
    for mut view in views() {
        for feed in [Feed::Live, Feed::Stale { since: view.now, cause: Name::new("gone") }] {
            view.feed = feed;
            for width in [60, 80, 120, 160] {
                let mut bench = Bench::with(view.clone(), (width, 50));
                let first = bench.lines().iter().position(|line| line.starts_with("VERDICT")).unwrap() + 1;
                for line in &bench.lines()[first..first + view.groups.len()] {
                    assert!(is_verdict(&start(line)), "{width}: {line}");
                }
                for group in &view.groups {
                    bench.open(group.id.raw());
                    let title = bench.lines().into_iter().find(|line| line.contains(&*group.id.safe()));
                    assert!(title.as_deref().is_none_or(is_verdict), "{width}: {title:?}");
                    let lines = bench.lines();
                    let tables = lines.iter().enumerate().filter(|(_, line)| line.starts_with("VERDICT "));
                    for (head, _) in tables {
                        let rows = lines[head + 1..].iter().take_while(|line| {
                            !line.is_empty() && !line.starts_with("max/mean") && !line.starts_with(['─', 'A'])
                        });
                        for line in rows {
                            assert!(is_verdict(&start(line)), "{width}: {line}");
                        }
                    }
                    bench.key(Key::Esc);
                }
            }
        }
    }
}

#[test]
fn the_worst_is_first() {
    for view in views() {
        let bench = Bench::with(view, (120, 50));
        let rank = |place: usize| {
            let group = &bench.state.view.groups[place];
            (group.judgement.severity, group.judgement.verdict, std::cmp::Reverse(group.totals.lag))
        };
        let order: Vec<_> = bench.state.groups.visible().map(|(_, place, _)| rank(place)).collect();
        assert!(order.is_sorted(), "{order:?}");
    }
}

#[test]
fn partitions_can_be_sorted_by_verdict() {
    let mut bench = Bench::new((120, 40));
    bench.open("clicks 组组组");
    bench.key(Key::Tab);
    bench.press("s");
    let (_, head) = bench.find("VERDICT▼");
    let glyphs: String = bench.lines()[usize::from(head) + 1..].iter().filter_map(|line| line.chars().next()).collect();
    assert!(glyphs.starts_with("xx!~~~?"), "{}", bench.text());
}

#[test]
fn both_sides_of_a_group_stay_apart_at_every_width() {
    for view in views() {
        for width in [40, 60, 80, 100, 120, 160] {
            let mut bench = Bench::with(view.clone(), (width, 40));
            bench.open("billing");
            let lines = bench.lines();
            let place = |line: &String| line.find('│').map(|at| text::width(&line[..at]));
            let middles: std::collections::BTreeSet<usize> = lines.iter().filter_map(place).collect();
            assert_eq!(middles.len(), 1, "{width}: {}", bench.text());
            assert!(lines.iter().all(|line| text::width(line) <= usize::from(width)), "{width}: {}", bench.text());
        }
    }
}

/// A group of the fixture with another judgement.
fn judged(verdict: Verdict, severity: Severity, completeness: f64, reasons: Vec<Finding>) -> GroupView {
    let view = fixture::view();
    let group = view.group(&Name::new("billing")).unwrap();
    GroupView { judgement: Judgement { verdict, severity, completeness, reasons }, ..(**group).clone() }
}

fn finding(verdict: Verdict, severity: Severity, reason: Reason, partition: Option<usize>, count: usize) -> Finding {
    Finding { verdict, severity, reason, partition, count }
}

fn say(group: &GroupView) -> String {
    sentence::of(group, true, None, &Bench::new((80, 24)).state.look)
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn the_sentence_says_what_is_wrong_where_and_what_stands_beside_it() {
    let silent = Reason::Silent { silent: 6 * MINUTE, patience: MINUTE };
    let rewound = Reason::Rewound { from: 90, to: 10, ago: MINUTE };
    let group = judged(
        Verdict::Stopped,
        Severity::Critical,
        0.2,
        vec![
            finding(Verdict::Stopped, Severity::Critical, silent, Some(3), 5),
            finding(Verdict::Rewound, Severity::Warn, rewound, Some(2), 1),
            finding(Verdict::Stopped, Severity::Note, Reason::Idle { members: 3, of: 8 }, None, 1),
            finding(Verdict::Ok, Severity::Ok, Reason::CaughtUp, Some(5), 1),
        ],
    );
    let expected = "billing is STOPPED: no commit for 6m although records wait (payments-3 of pay-9c1 and 4 more). \
                    Judged on 12s of watching. Its commit moved back 90 > 10, 1m ago (payments-2). pay-7f3 holds";
    assert!(say(&group).starts_with(expected), "{}", say(&group));
    assert!(say(&group).ends_with("3 of 8 members idle: 8 members > 6 partitions."), "{}", say(&group));
}

#[test]
fn what_is_only_worth_a_word_is_no_reason_of_a_verdict() {
    let note = |reason| finding(Verdict::Ok, Severity::Note, reason, None, 1);
    let flight = finding(Verdict::Ok, Severity::Ok, Reason::InFlight { lag: 7, threshold: 9 }, Some(1), 2);
    let caught_up = finding(Verdict::Ok, Severity::Ok, Reason::CaughtUp, Some(5), 1);
    let uneven = Reason::Uneven { partitions: 5, of: 6, members: 3, member: 1 };
    let group = judged(
        Verdict::Ok,
        Severity::Note,
        1.0,
        vec![flight, caught_up.clone(), note(uneven), note(Reason::Problems { count: 1 })],
    );
    let expected = "billing is OK: 7 records on their way between two commits (payments-1 and 1 more). \
                    pay-8aa, one of 3 members, owns 5 of 6 partitions. Lag-balanced";
    assert!(say(&group).starts_with(expected), "{}", say(&group));
    for (members, expected) in [
        (1, "pay-9c1 owns only partitions that nothing is written to. Lag-balanced"),
        (3, "pay-9c1 and 2 more own only partitions that nothing is written to. Lag-balanced"),
    ] {
        let quiet = note(Reason::NothingArrives { members, first: 2 });
        let group = judged(Verdict::Ok, Severity::Note, 1.0, vec![caught_up.clone(), quiet]);
        assert!(say(&group).contains(expected), "{}", say(&group));
    }
    let group = judged(Verdict::Ok, Severity::Ok, 1.0, vec![caught_up]);
    assert!(say(&group).starts_with("billing is OK: caught up. "), "{}", say(&group));
    let group = judged(Verdict::Empty, Severity::Ok, 1.0, Vec::new());
    assert!(say(&group).starts_with("billing is EMPTY: no members and nothing to read. "), "{}", say(&group));
}

#[test]
fn a_sentence_says_nothing_twice() {
    let time = TimeLag::Known { time: 2 * MINUTE, error: MINUTE };
    let catching = Reason::CatchingUp { time, estimate: None };
    let rebalancing = Reason::Rebalancing { lasting: MINUTE, at_least: true };
    let mut groups = vec![
        judged(Verdict::CatchingUp, Severity::Note, 1.0, {
            vec![finding(Verdict::CatchingUp, Severity::Note, catching, Some(0), 1)]
        }),
        judged(Verdict::Rebalancing, Severity::Warn, 1.0, {
            vec![finding(Verdict::Rebalancing, Severity::Warn, rebalancing, None, 1)]
        }),
    ];
    assert!(say(&groups[0]).starts_with("billing is CATCHING UP: behind for 2m (payments-0). "), "{}", say(&groups[0]));
    assert!(say(&groups[1]).starts_with("billing is REBALANCING: for at least 1m. "), "{}", say(&groups[1]));
    groups.extend(views().iter().flat_map(|view| &view.groups).map(|group| GroupView::clone(group)));
    for group in &groups {
        let text = say(group);
        let mut said: Vec<&str> = text.trim_end_matches('.').split(". ").collect();
        said.sort_unstable();
        assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "{text}");
        let verdict = group.judgement.verdict.word();
        let lower = text.to_lowercase();
        if !["OK", "EMPTY"].contains(&verdict) {
            assert_eq!(lower.matches(&verdict.to_lowercase()).count(), 1, "{text}");
        }
        for once in ["idle", "nobody consumes", " lag,", "this hour"] {
            assert!(lower.matches(once).count() <= 1, "{once}: {text}");
        }
    }
}

#[test]
fn a_group_that_is_silent_alone_has_no_verdict() {
    let mut view = fixture::view();
    let old = At(view.now.0 - 31_000);
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    Arc::make_mut(group).commits_at = Some(old);
    let mut bench = Bench::with(view, (120, 40));
    let (x, y) = bench.find("billing");
    assert!(bench.lines()[usize::from(y)].starts_with("? UNKNOWN "), "{}", bench.text());
    assert!(bench.buffer()[(x, y)].modifier.contains(Modifier::DIM));
    let (x, y) = bench.find("clicks");
    assert!(bench.lines()[usize::from(y)].starts_with("x LAGGING "), "{}", bench.text());
    assert!(!bench.buffer()[(x, y)].modifier.contains(Modifier::DIM));
    bench.open("billing");
    assert!(!bench.text().contains("LAGGING"), "{}", bench.text());
}

#[test]
fn figures_that_are_not_of_now_are_told_as_what_they_were() {
    let group = judged(Verdict::Lagging, Severity::Warn, 1.0, Vec::new());
    let look = Bench::new((80, 24)).state.look;
    let text = sentence::of(&group, false, None, &look);
    assert!(text.starts_with("billing is UNKNOWN: its figures are old. It was LAGGING."), "{text}");
}

#[test]
fn a_members_idleness_says_what_it_takes_for_granted() {
    let mut view = fixture::view();
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    Arc::make_mut(group).members.iter_mut().for_each(|member| member.idle_assumed = member.idle.is_some());
    let mut bench = Bench::with(view, (172, 50));
    bench.open("billing");
    assert!(bench.text().contains("IDLE 8 members > 6 partitions (subscriptions assumed)"), "{}", bench.text());
}

#[test]
fn idle_members_of_several_reasons_have_each() {
    let mut group = judged(Verdict::Ok, Severity::Ok, 1.0, Vec::new());
    let standby = IdleReason::NoActiveTask { standby: true, warmup: false };
    let idle = group.members.iter_mut().filter(|member| member.idle.is_some());
    let reasons = [standby, IdleReason::MoreMembersThanTasks { members: 8, tasks: 5 }, standby];
    idle.zip(reasons).for_each(|(member, reason)| member.idle = Some(reason));
    assert!(say(&group).contains("3 of 8 members idle: standby tasks only; 8 members > 5 tasks."), "{}", say(&group));
}

#[test]
fn a_member_to_which_nothing_arrives_says_so() {
    let mut view = fixture::view();
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    Arc::make_mut(group).members[2].judgement.note(Reason::NothingArrives { members: 1, first: 2 });
    for size in [(80, 24), (160, 50)] {
        let mut bench = Bench::with(view.clone(), size);
        bench.open("billing");
        let rows: Vec<String> = bench.lines().into_iter().filter(|line| line.contains("no writes")).collect();
        assert!(rows.len() == 1 && rows[0].contains("pay-9c1"), "{}", bench.text());
    }
    let mut bench = Bench::with(view, (160, 50));
    bench.open("billing");
    let id = bench.state.open_group().unwrap().members[2].id.clone();
    bench.state.members.select_key(&id);
    bench.key(Key::Enter);
    let line = bench.lines().into_iter().find(|line| line.contains("nothing_arrives")).unwrap();
    assert!(line.contains("pay-9c1 owns only partitions that nothing is written to"), "{line}");
}

#[test]
fn the_detail_of_a_partition_tells_all_that_it_was_judged_by() {
    let mut view = fixture::view();
    let now = view.now;
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    let group = Arc::make_mut(group);
    group.thresholds.lag = Some(5000);
    let partition = &mut group.partitions[0];
    partition.stable = partition.end.map(|end| end - 1463);
    partition.open_transaction = 1463;
    partition.open_for = TimeLag::MoreThan(40 * MINUTE);
    partition.subscribed = Some(false);
    partition.rates.two_steps = Some(90);
    (partition.signs.arrives, partition.signs.in_turn) = (true, true);
    partition.doubtful = 1;
    partition.time_lag = TimeLag::Known { time: 12 * MINUTE, error: Duration::from_secs(2) };
    partition.signs.silent = 3 * MINUTE;
    partition.signs.rewound = Some(Rewound { from: 90, to: 10, at: At(now.0 - 40_000) });
    partition.signs.time_to_loss = Some(5 * MINUTE);
    let mut bench = Bench::with(view, (110, 45));
    bench.open("billing");
    let row = bench.lines().into_iter().find(|line| line.contains("payments-0")).unwrap();
    assert!(row.contains("open txn 1463 to end") && row.contains("≤1048000") && row.contains("12m"), "{row}");
    bench.key(Key::Tab);
    bench.key(Key::Enter);
    insta::assert_snapshot!("verdict_detail", bench.text());
}
