//! Verdicts on real groups: what each situation is called, by which rule, on the view and in JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::{Duration, Instant, SystemTime};

use lagtop::frame::Settings;
use lagtop::frame::order::Isolation;
use lagtop::health::{PartitionLag, Rules, Severity, Thresholds, TimeLag, Verdict};
use lagtop::model::Name;
use lagtop::monitor::Preferences;
use lagtop::monitor::view::{GroupView, View};
use lagtop::report::{Outcome, json};
use serde_json::{Value, json};
use support::{Collector, DEADLINE, GroupSpec, group, partition, shared};

fn settings(group: &str) -> Settings {
    Settings { groups: vec![group.to_owned()], ..Settings::default() }
}

fn watching(group: &str) -> Collector {
    Collector::watching(&shared().bootstrap(), settings(group), Preferences::default())
}

fn view_of(view: &View, id: &str) -> Option<GroupView> {
    Some((**view.group(&Name::new(id))?).clone())
}

/// Does something before each poll until the group is as wanted; the group then.
#[track_caller]
fn until(
    collector: &mut Collector,
    id: &str,
    what: &str,
    mut each: impl FnMut(),
    wanted: impl Fn(&GroupView) -> bool,
) -> GroupView {
    // Longer than the patience of a verdict.
    let deadline = Instant::now() + 3 * DEADLINE;
    loop {
        each();
        let polls = collector.view().progress.polls;
        let view = collector.until("a poll", |view| view.progress.polls > polls);
        let group = view_of(&view, id);
        match group {
            Some(group) if wanted(&group) => return group,
            last if Instant::now() > deadline => panic!("waited for {what}; last seen: {last:#?}"),
            _ => {}
        }
    }
}

/// The group's row in JSON, as of the last view.
fn row(collector: &Collector, id: &str) -> Value {
    let outcome = Outcome { view: collector.view(), taken_at: SystemTime::now(), complete: true };
    let report = serde_json::to_value(json::snapshot(&outcome)).unwrap();
    group(&report, id).clone()
}

fn judged(group: &GroupView) -> (Verdict, Severity, &'static str) {
    let judgement = &group.judgement;
    (judgement.verdict, judgement.severity, judgement.reasons[0].reason.rule())
}

fn has_rule(group: &GroupView, rule: &str) -> bool {
    group.judgement.reasons.iter().any(|finding| finding.reason.rule() == rule)
}

#[test]
fn a_consumer_that_stands_still_has_stopped_and_catches_up() {
    let (kafka, id) = (shared(), "h.stop");
    kafka.create_topic(id, 1);
    let process = kafka.process();
    let spec = GroupSpec::classic(id, "range").topics(&[id]).commit_after_poll();
    let spec = spec.session_timeout(Duration::from_secs(600)).config("request.timeout.ms", "30000");
    let _members = process.start_group(&spec, 1);
    let mut collector = watching(id);
    let write = || _ = kafka.produce(id, 0, 5);
    let patient = |group: &GroupView| {
        let known =
            |signs: lagtop::monitor::view::CommitSigns| signs.moves && signs.patience == Duration::from_secs(60);
        group.partitions.iter().any(|partition| known(partition.signs))
    };
    let group = until(&mut collector, id, "its rhythm to be known", write, patient);
    assert_eq!(group.judgement.verdict, Verdict::Ok, "{:?}", group.judgement);

    process.pause();
    let group = until(&mut collector, id, "STOPPED", write, |group| group.judgement.verdict == Verdict::Stopped);
    assert_eq!(judged(&group), (Verdict::Stopped, Severity::Critical, "silent"));
    assert_eq!((group.members.len(), group.members[0].judgement.verdict), (1, Verdict::Stopped));
    let committed = kafka.commits(id, id)[0].offset;
    let written = u64::try_from(group.partitions[0].end.unwrap() - committed).unwrap();
    assert_eq!(group.totals.lag, written, "the lag does not freeze");
    assert!(
        matches!(group.time_lag, TimeLag::Known { time, .. } if time > Duration::from_secs(60)),
        "{}",
        group.time_lag
    );
    let row = row(&collector, id);
    assert_eq!(
        (&row["verdict"], &row["severity"], &row["completeness"]),
        (&json!("STOPPED"), &json!("critical"), &json!(1.0))
    );
    assert_eq!((&row["reasons"][0]["rule"], &row["reasons"][0]["patience_ms"]), (&json!("silent"), &json!(60_000)));
    assert_eq!((&row["partitions"][0]["verdict"], &row["time_lag"]["state"]), (&json!("STOPPED"), &json!("known")));

    // It holds, and so it is in the feed.
    let mut told = || {
        write();
        let polls = collector.view().progress.polls;
        let view = collector.until("a poll", |view| view.progress.polls > polls);
        view.events.iter().any(|event| event.what.to_string().contains("> STOPPED: h.stop-0: no commit for"))
    };
    support::wait_until("the event", DEADLINE, || if told() { Ok(()) } else { Err("not told") });

    process.resume();
    let group = until(&mut collector, id, "OK again", write, |group| group.judgement.verdict == Verdict::Ok);
    assert_eq!(group.judgement.severity, Severity::Ok, "{:?}", group.judgement);
}

#[test]
fn one_that_commits_each_message_never_stops() {
    let (kafka, id) = (shared(), "h.each");
    kafka.create_topic(id, 1);
    let spec = GroupSpec::classic(id, "range").topics(&[id]).commit_after_poll().config("max.poll.records", "1");
    let _members = kafka.start_group(&spec, 1);
    let mut collector = watching(id);
    let mut written = 0;
    let fine = |group: &GroupView| matches!(group.judgement.verdict, Verdict::Ok | Verdict::Unknown | Verdict::Empty);
    for _ in 0..20 {
        let write = || written = kafka.produce(id, 0, 1);
        let group =
            until(&mut collector, id, "a look", write, |group| group.partitions.iter().any(|p| p.end.is_some()));
        assert!(fine(&group), "{:?}", group.judgement);
    }
    let read = |group: &GroupView| group.totals.known == 1 && group.totals.lag == 0;
    until(&mut collector, id, "all to be read", || {}, read);
    for _ in 0..10 {
        let group = until(&mut collector, id, "a look", || {}, |_| true);
        assert_eq!(judged(&group), (Verdict::Ok, Severity::Ok, "caught_up"));
    }
    assert_eq!(row(&collector, id)["verdict"], "OK");
}

#[test]
fn one_that_never_commits_is_not_known() {
    let (kafka, id) = (shared(), "h.never");
    kafka.create_topic(id, 2);
    kafka.produce(id, 0, 30);
    let _members = kafka.start_group(&GroupSpec::consumer(id).topics(&[id]), 1);
    let mut collector = watching(id);
    let group = until(
        &mut collector,
        id,
        "its partitions",
        || {},
        |group| group.totals.no_commit == 2 && group.members.len() == 1,
    );
    assert_eq!(judged(&group), (Verdict::Unknown, Severity::Unknown, "commits_nothing"), "{:?}", group.judgement);
    let row = row(&collector, id);
    assert_eq!(
        (&row["verdict"], &row["lag"], &row["states"]["no_commit"]),
        (&json!("UNKNOWN"), &Value::Null, &json!(2))
    );
    assert_eq!(partition(&row, id, 1)["verdict"], "EMPTY", "its log holds nothing");
}

#[test]
fn an_open_transaction_is_not_the_consumers_fault() {
    let (kafka, id) = (shared(), "h.open");
    kafka.create_topic(id, 1);
    kafka.produce(id, 0, 10);
    let spec = GroupSpec::classic(id, "range").topics(&[id]).commit_after_poll();
    let _members = kafka.start_group(&spec.config("isolation.level", "read_committed"), 1);
    let committed = Settings { isolation: Isolation::ReadCommitted, ..settings(id) };
    let mut reader = Collector::watching(&kafka.bootstrap(), committed, Preferences::default());
    until(&mut reader, id, "all to be read", || {}, |group| group.totals.known == 1 && group.totals.lag == 0);
    let transaction = kafka.begin(id);
    transaction.produce(id, 0, 50);
    let open = |group: &GroupView| group.partitions[0].open_transaction == 50;
    let group = until(&mut reader, id, "the transaction", || {}, open);
    assert_eq!((group.totals.lag, group.partitions[0].raw()), (0, Some(50)));
    assert_eq!(judged(&group), (Verdict::Ok, Severity::Ok, "open_transaction"));
    let row = row(&reader, id);
    let shown = partition(&row, id, 0);
    assert_eq!((&shown["lag"], &shown["raw"], &shown["open_transaction"]), (&json!(0), &json!(50), &json!(50)));
    assert_eq!((&shown["stable"], &row["verdict"]), (&json!(10), &json!("OK")));

    // Without knowing the group's isolation level the lag is to the end, and the verdict does not blame the consumer.
    let mut plain = watching(id);
    let group = until(
        &mut plain,
        id,
        "the stable offset",
        || {},
        |group| group.partitions.iter().any(|p| p.open_transaction == 50),
    );
    assert_eq!((group.totals.lag, judged(&group)), (50, (Verdict::Ok, Severity::Ok, "open_transaction")));

    transaction.commit();
    let read = |group: &GroupView| group.partitions[0].open_transaction == 0 && group.totals.lag <= 1;
    let group = until(&mut reader, id, "the records to be read", || {}, read);
    assert_eq!(group.judgement.verdict, Verdict::Ok, "{:?}", group.judgement);
}

#[test]
fn lag_on_a_compacted_topic_is_an_upper_bound() {
    let (kafka, id) = (shared(), "h.compacted");
    kafka.create_topic_with(id, json!({"partitions": 1, "config": {"cleanup.policy": "compact"}}));
    kafka.produce(id, 0, 10);
    kafka.commit_standalone(id, &[(id, 0, 2)]);
    let mut collector = watching(id);
    let group = until(&mut collector, id, "its cleanup policy", || {}, |group| group.totals.at_most());
    assert_eq!((group.totals.lag, group.partitions[0].doubtful), (8, 8));
    let row = row(&collector, id);
    assert_eq!(
        (&row["at_most"], &row["partitions"][0]["doubtful"], &row["verdict"]),
        (&json!(true), &json!(8), &json!("STOPPED"))
    );
}

#[test]
fn retention_that_passes_the_commit_loses_records() {
    let (kafka, id) = (shared(), "h.lost");
    kafka.create_topic(id, 1);
    kafka.produce(id, 0, 1000);
    kafka.commit_standalone(id, &[(id, 0, 100)]);
    let mut collector = watching(id);
    until(&mut collector, id, "its lag", || {}, |group| group.totals.lag == 900);
    kafka.delete_records(&[(id, 0, 600)]);
    let group = until(&mut collector, id, "the loss", || {}, |group| group.totals.lost > 0);
    assert_eq!(group.partitions[0].lag, PartitionLag::Expired { lost: 500, readable: 400 });
    assert_eq!((group.totals.lag, judged(&group)), (400, (Verdict::Lagging, Severity::Critical, "lost")));
    let row = row(&collector, id);
    assert_eq!(
        (&row["verdict"], &row["lost"], &row["reasons"][0]["records"]),
        (&json!("LAGGING"), &json!(500), &json!(500))
    );
    assert_eq!(partition(&row, id, 0)["raw"], 900);
}

#[test]
fn an_offset_that_is_reset_backwards_is_rewound() {
    let (kafka, id) = (shared(), "h.back");
    kafka.create_topic(id, 1);
    kafka.produce(id, 0, 1000);
    kafka.commit_standalone(id, &[(id, 0, 900)]);
    let mut collector = watching(id);
    until(&mut collector, id, "its lag", || {}, |group| group.totals.lag == 100);
    kafka.alter_offsets(id, &[(id, 0, 150)]);
    let group = until(&mut collector, id, "the commit", || {}, |group| group.totals.lag == 850);
    assert_eq!(judged(&group), (Verdict::Rewound, Severity::Warn, "rewound"));
    let row = row(&collector, id);
    assert_eq!(
        (&row["verdict"], &row["reasons"][0]["from"], &row["reasons"][0]["to"]),
        (&json!("REWOUND"), &json!(900), &json!(150))
    );
    let told = |view: &View| {
        view.events.iter().any(|event| event.what.to_string() == "commit of h.back-0 moved back 900 > 150")
    };
    collector.until("the event", told);
    // Where it was: over.
    kafka.alter_offsets(id, &[(id, 0, 1000)]);
    until(
        &mut collector,
        id,
        "the end",
        || {},
        |group| group.totals.lag == 0 && group.judgement.verdict == Verdict::Empty,
    );
}

#[test]
fn commits_without_members_are_a_standalone_consumers() {
    let (kafka, id) = (shared(), "h.alone");
    kafka.create_topic(id, 1);
    kafka.produce(id, 0, 1000);
    kafka.commit_standalone(id, &[(id, 0, 10)]);
    let mut collector = watching(id);
    let group = until(&mut collector, id, "its lag", || {}, |group| group.totals.lag == 990);
    assert_eq!((judged(&group), group.simple), ((Verdict::Stopped, Severity::Note, "no_members"), true));
    // Records come, and nobody knows yet how rarely it commits.
    let write = || _ = kafka.produce(id, 0, 1);
    let group = until(&mut collector, id, "records to arrive", write, |group| group.partitions[0].signs.arrives);
    assert_eq!(judged(&group), (Verdict::Unknown, Severity::Unknown, "watched_shortly"));
    let mut at = 10;
    let commit = || {
        at += 10;
        kafka.commit_standalone(id, &[(id, 0, at)]);
    };
    let group = until(&mut collector, id, "a moving commit", commit, |group| has_rule(group, "standalone"));
    assert!(
        matches!(group.judgement.verdict, Verdict::Ok | Verdict::CatchingUp | Verdict::Unknown),
        "{:?}",
        group.judgement
    );
    assert!(group.members.is_empty() && group.plan.is_none());
    let row = row(&collector, id);
    let rules: Vec<_> =
        row["reasons"].as_array().unwrap().iter().map(|reason| reason["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"standalone") && row["plan"].is_null(), "{rules:?}");
}

#[test]
fn a_topic_that_the_group_left_is_abandoned() {
    let (kafka, id) = (shared(), "h.left");
    let (left, kept) = ("h.left.a", "h.left.b");
    for topic in [left, kept] {
        kafka.create_topic(topic, 1);
        kafka.produce(topic, 0, 100);
    }
    let members = kafka.start_group(&GroupSpec::classic(id, "range").topics(&[left, kept]), 1);
    support::wait_until("it to own both", DEADLINE, || {
        let owned = members[0].info().assignment;
        if owned.len() == 2 { Ok(()) } else { Err(format!("{owned:?}")) }
    });
    members[0].commit_offsets(&[(left, 0, 40), (kept, 0, 100)]);
    let thresholds = Thresholds { abandoned_after: Duration::from_secs(3), ..Thresholds::default() };
    let preferences =
        Preferences { thresholds: Rules { default: thresholds, rules: Vec::new() }, ..Preferences::default() };
    let mut collector = Collector::watching(&kafka.bootstrap(), settings(id), preferences);
    until(&mut collector, id, "its lag", || {}, |group| group.totals.lag == 60 && group.members.len() == 1);
    members[0].subscribe(&[kept]);
    let group = until(&mut collector, id, "the topic to be abandoned", || {}, |group| group.totals.abandoned == 1);
    assert_eq!((group.totals.lag, group.judgement.verdict, group.judgement.severity), (0, Verdict::Ok, Severity::Note));
    let row = row(&collector, id);
    let shown = partition(&row, left, 0);
    assert_eq!((&shown["state"], &shown["raw"], &shown["lag"]), (&json!("abandoned"), &json!(60), &Value::Null));
    assert_eq!((&row["lag"], &row["states"]["abandoned"]), (&json!(0), &json!(1)));
    let told = |view: &View| {
        view.events.iter().any(|event| event.what.to_string() == "no member subscribes to h.left.a any more")
    };
    collector.until("the event", told);
}

#[test]
fn a_share_group_is_judged_by_its_backlog() {
    let (kafka, id) = (shared(), "h.share");
    kafka.create_topic(id, 1);
    kafka.alter_config("GROUP", id, "share.auto.offset.reset", "earliest");
    let spec = GroupSpec::share(id).topics(&[id]).commit_after_poll();
    let members = kafka.start_group(&spec, 1);
    kafka.produce(id, 0, 20);
    let mut collector = watching(id);
    let read = |group: &GroupView| group.totals.shared == 1 && group.totals.backlog == 0 && group.members.len() == 1;
    let group = until(&mut collector, id, "all to be read", || {}, read);
    assert_eq!(judged(&group), (Verdict::Ok, Severity::Ok, "caught_up"), "{:?}", group.judgement);
    drop(members);
    let write = || _ = kafka.produce(id, 0, 5);
    // The first of the records that wait is seconds old: a warning yet.
    let stopped = |group: &GroupView| judged(group) == (Verdict::Stopped, Severity::Warn, "no_members");
    let group = until(&mut collector, id, "nobody to read what comes", write, stopped);
    let row = row(&collector, id);
    assert_eq!(
        (&row["verdict"], &row["backlog"], &row["lag"]),
        (&json!("STOPPED"), &json!(group.totals.backlog), &Value::Null)
    );
    // Nobody writes while the two are compared.
    let told = kafka.share_groups(&["--describe", "--group", id, "--offsets"]);
    let lag = told.rows.iter().find(|row| row.text("TOPIC") == id).and_then(|row| row.number("LAG"));
    let same = |group: &GroupView| i64::try_from(group.totals.backlog).ok() == lag;
    until(&mut collector, id, "the broker's own figure", || {}, same);
}

#[test]
fn the_owner_of_a_partition_without_writes_is_named() {
    let (kafka, id) = (shared(), "h.quiet");
    kafka.create_topic(id, 2);
    let spec = GroupSpec::consumer(id).topics(&[id]).commit_after_poll();
    let _members = kafka.start_group(&spec, 2);
    let mut collector = watching(id);
    let write = || _ = kafka.produce(id, 0, 5);
    let told = |group: &GroupView| group.judgement.reasons.iter().any(|found| found.reason.rule() == "nothing_arrives");
    until(&mut collector, id, "the owner of nothing", write, told);
    let row = row(&collector, id);
    let is = |reason: &&Value| reason["rule"] == "nothing_arrives";
    let reason = row["reasons"].as_array().unwrap().iter().find(is).unwrap();
    let owner = &partition(&row, id, 1)["owner"];
    assert_eq!((&reason["members"], &reason["member"]), (&json!(1), owner), "{row:#}");
    for member in row["members"].as_array().unwrap() {
        let own = member["reasons"].as_array().unwrap().iter().any(|reason| is(&reason));
        assert_eq!(own, member["member"] == *owner, "{row:#}");
    }
}
