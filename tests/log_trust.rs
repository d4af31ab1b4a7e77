//! When the coordinator log can be trusted: an open transaction, a missing right, brokers that go, a collector that dies.
#![allow(clippy::expect_used, clippy::panic)]

mod support;

use lagtop::frame::{Settings, order::History};
use lagtop::health::PartitionLag;
use lagtop::health::rebalances::Missing;
use lagtop::kafka::records::partition_of;
use lagtop::model::{Evidence, GroupKind, LogGap, What};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::{
    Cluster, ClusterSpec, DEADLINE, Frames, GroupSpec, OFFSETS_PARTITIONS, Offset, Told, group, happened, lagtop,
    rebalances, run, shared, snapshot, told, wait_until,
};

/// A group id that lives in this partition of the log.
fn id_in(partition: i32, prefix: &str) -> String {
    let mut ids = (0..).map(|n| format!("{prefix}.{n}"));
    ids.find(|id| partition_of(id, OFFSETS_PARTITIONS as i32) == Some(partition)).expect("one of many")
}

/// Told by the log, with this commit of partition 0.
fn by_log(told: &Told, id: &str, topic: &str, commit: i64) -> Result<(), String> {
    told.by_log(id)?;
    match told.commit(id, topic, 0) {
        Some(known) if known == commit => Ok(()),
        other => Err(format!("{id} is at {other:?}")),
    }
}

/// Told by the admin calls because a transaction is open, with this commit.
fn by_admin(told: &Told, id: &str, topic: &str, commit: i64) -> Result<(), String> {
    let description = told.description(id)?;
    let marks = (description.evidence, description.log_gap, told.commit(id, topic, 0));
    if marks == (Evidence::Admin, Some(LogGap::Held), Some(commit)) { Ok(()) } else { Err(format!("{marks:?}")) }
}

#[test]
fn an_open_transaction_hides_nothing() {
    let kafka = shared();
    let topic = "lt.held";
    kafka.create_topic(topic, 1);
    kafka.produce(topic, 0, 1000);
    let (same, other) = (id_in(0, "lt.held.same"), id_in(1, "lt.held.other"));
    let writer = id_in(0, "lt.held.writer");
    for id in [&same, &other] {
        kafka.commit_standalone(id, &[(topic, 0, 5)]);
    }
    let args = ["-g", "lt.held.*", "--coordinator-log", "require"];
    let frames = Frames::collect(&kafka.bootstrap(), &args);
    frames.until("both by the log", |told| {
        by_log(told, &same, topic, 5)?;
        by_log(told, &other, topic, 5)
    });
    let mut at = 10;
    for commit in [true, false] {
        let transaction = kafka.begin("lt.held");
        transaction.send_offsets(&writer, &[(topic, 0, 7)]);
        for round in 0..3 {
            at += 10;
            kafka.commit_standalone(&same, &[(topic, 0, at)]);
            kafka.commit_standalone(&other, &[(topic, 0, at)]);
            frames.until(&format!("the hidden commit, round {round}"), |told| {
                by_admin(told, &same, topic, at)?;
                by_log(told, &other, topic, at)
            });
        }
        let held = frames.told().facts.log.expect("progress").held;
        assert!(held.contains(&0) && !held.contains(&1), "{held:?}");
        // Who starts now is not deceived either.
        let later = Frames::collect(&kafka.bootstrap(), &args);
        let first = later.until("all to be seen", |told| match told.facts.progress {
            Some(progress) if progress.all_seen => Ok(told.clone()),
            other => Err(format!("{other:?}")),
        });
        let evidence = first.description(&same).expect("described").evidence;
        assert_eq!((evidence, first.commit(&same, topic, 0)), (Evidence::Admin, Some(at)));
        later.until("the mark", |told| by_admin(told, &same, topic, at));
        by_log(&first, &other, topic, at).unwrap_or_else(|why| panic!("{why}"));
        let report = snapshot(&kafka.bootstrap(), &args);
        assert_eq!(group(&report, &same)["lag"], 1000 - at, "{report:#}");
        if commit {
            transaction.commit();
        } else {
            transaction.abort();
        }
        frames.until("the log to be trusted again", |told| {
            by_log(told, &same, topic, at)?;
            let log = told.facts.log.as_ref().ok_or("no progress")?;
            if log.held.contains(&0) { Err(format!("{log:?}")) } else { Ok(()) }
        });
        later.until("the log to be trusted by the other, too", |told| by_log(told, &same, topic, at));
        at += 1;
        kafka.commit_standalone(&same, &[(topic, 0, at)]);
        frames.until("the next commit", |told| by_log(told, &same, topic, at));
    }
    frames.until("what was committed in the transaction", |told| by_log(told, &writer, topic, 7));
}

#[test]
fn a_group_that_no_admin_call_describes_is_marked_while_it_is_held() {
    let kafka = shared();
    let topic = "lt.share";
    kafka.create_topic(topic, 1);
    let share = id_in(2, "lt.share.group");
    kafka.alter_config("GROUP", &share, "share.auto.offset.reset", "earliest");
    let _members = kafka.start_group(&GroupSpec::share(&share).topics(&[topic]).commit_after_poll(), 1);
    let frames = Frames::collect(&kafka.bootstrap(), &["-g", "lt.share.*", "--coordinator-log", "require"]);
    frames.until("the share group", |told| told.by_log(&share).map(|_| ()));
    let transaction = kafka.begin("lt.share");
    let writer = id_in(2, "lt.share.writer");
    transaction.send_offsets(&writer, &[(topic, 0, 0)]);
    kafka.commit_standalone(&id_in(2, "lt.share.same"), &[(topic, 0, 0)]);
    frames.until("the mark", |told| {
        let description = told.description(&share)?;
        let kind = &told.group(&share)?.kind;
        let kept = description.log_gap == Some(LogGap::Held) && description.members.len() == 1;
        if kept && *kind == GroupKind::Share { Ok(()) } else { Err(format!("{kind}: {description:?}")) }
    });
    // How far it has read is in another log, which nothing holds.
    kafka.produce(topic, 0, 10);
    frames.until("the group to go on", |told| {
        let done = told.group(&share)?.share.as_ref().and_then(|share| share.topics.get(topic)?.get(&0).copied());
        let gap = told.description(&share)?.log_gap;
        match (done.and_then(|done| done.backlog(10)), gap) {
            (Some(0), Some(LogGap::Held)) => Ok(()),
            other => Err(format!("{other:?} of {done:?}")),
        }
    });
    transaction.commit();
    frames.until("no mark", |told| told.by_log(&share).map(|_| ()));
}

const LOGIN: [&str; 8] = [
    "-X",
    "security.protocol=sasl_plaintext",
    "-X",
    "sasl.mechanism=PLAIN",
    "-X",
    "sasl.username=ann",
    "-X",
    "sasl.password=secret",
];

#[test]
fn without_the_right_to_read_it_all_else_works() {
    let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", "secret")]).acls());
    let bootstrap = kafka.bootstrap_of("SASL");
    kafka.create_topic("t", 2);
    kafka.produce("t", 0, 10);
    let spec = GroupSpec::consumer("new").topics(&["t"]);
    let members = kafka.start_group(&spec, 2);
    let old = GroupSpec::classic("old", "range").topics(&["t"]);
    let _old = kafka.start_group(&old, 1);
    members.iter().for_each(support::Member::commit);
    kafka.commit_standalone("plain", &[("t", 0, 3)]);
    for (resource, name) in [("CLUSTER", "kafka-cluster"), ("TOPIC", "t")] {
        kafka.allow("User:ann", resource, name, "DESCRIBE_CONFIGS");
    }
    for (resource, name) in [("CLUSTER", "kafka-cluster"), ("GROUP", "*"), ("TOPIC", "t")] {
        kafka.allow("User:ann", resource, name, "DESCRIBE");
    }
    let problems = |told: &Value| {
        let problems = told["problems"].as_array().cloned().unwrap_or_default();
        problems.iter().map(|problem| problem["remedy"].clone()).collect::<Vec<_>>()
    };
    let refused = || {
        let told = wait_until("the rights to hold", DEADLINE, || {
            let told = snapshot(&bootstrap, &LOGIN);
            let known = told["groups"].as_array().is_some_and(|groups| groups.len() == 3);
            if known && group(&told, "plain")["lag"] == 7 { Ok(told) } else { Err(format!("{told:#}")) }
        });
        assert_eq!(problems(&told), [json!("needs READ and DESCRIBE on topic __consumer_offsets")], "{told:#}");
        let new = group(&told, "new");
        assert_eq!((&new["state"], &new["evidence"]), (&json!("Stable"), &json!("admin")), "{new:#}");
        assert_eq!(new["members"].as_array().map(Vec::len), Some(2));
        assert_eq!(group(&told, "old")["assignor"], "range");
        for report in [&["snapshot"][..], &["collect"]] {
            let ran = run(lagtop(report).args(["-b", &bootstrap, "--coordinator-log", "require"]).args(LOGIN));
            assert!(!matches!(ran.code, Some(0) | None), "{ran:?}");
            assert!(ran.err.contains("__consumer_offsets cannot be read"), "{ran:?}");
        }
    };
    refused();
    // It is known, and still cannot be read.
    kafka.allow("User:ann", "TOPIC", "__consumer_offsets", "DESCRIBE");
    wait_until("the topic to be visible", DEADLINE, || {
        refused();
        Ok::<_, String>(())
    });
    kafka.allow("User:ann", "TOPIC", "__consumer_offsets", "READ");
    wait_until("the right to hold", DEADLINE, || {
        let told = snapshot(&bootstrap, &LOGIN);
        let evidence = &group(&told, "new")["evidence"];
        if evidence == "log" && problems(&told).is_empty() { Ok(()) } else { Err(format!("{told:#}")) }
    });
}

#[test]
fn a_right_that_is_taken_away_ends_the_trust() {
    let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", "secret")]).acls());
    kafka.create_topic("t", 1);
    kafka.produce("t", 0, 100);
    kafka.commit_standalone("g", &[("t", 0, 3)]);
    for (resource, name) in [("CLUSTER", "kafka-cluster"), ("GROUP", "*"), ("TOPIC", "*")] {
        kafka.allow("User:ann", resource, name, "DESCRIBE");
    }
    for log in ["__consumer_offsets", "__share_group_state"] {
        kafka.allow("User:ann", "TOPIC", log, "READ");
    }
    let frames = Frames::collect(&kafka.bootstrap_of("SASL"), &LOGIN);
    frames.until("the group by the log", |told| by_log(told, "g", "t", 3));
    kafka.alter_config("GROUP", "s", "share.auto.offset.reset", "earliest");
    let _members = kafka.start_group(&GroupSpec::share("s").topics(&["t"]).commit_after_poll(), 1);
    let lag = |wanted: fn(&PartitionLag) -> bool| {
        let view = frames.view();
        let lag = view.group(&"s".into()).and_then(|group| group.partitions.first()).map(|partition| partition.lag);
        if lag.as_ref().is_some_and(wanted) { Ok(()) } else { Err(format!("{lag:?}")) }
    };
    wait_until("the share group's backlog", DEADLINE, || lag(|lag| matches!(lag, PartitionLag::Backlog(_))));
    kafka.deny("User:ann", "TOPIC", "__share_group_state", "READ");
    // Its members and state are in the other log, which is read on.
    wait_until("the backlog to be an old one", DEADLINE, || lag(|lag| matches!(lag, PartitionLag::Stale { .. })));
    frames.until("the rest by the log", |told| told.by_log("s").map(|_| ()));
    kafka.deny("User:ann", "TOPIC", "__consumer_offsets", "READ");
    frames.until("the problem", |told| {
        let problems = told.facts.problems.clone().unwrap_or_default();
        let said = problems
            .iter()
            .any(|problem| problem.remedy.as_deref() == Some("needs READ and DESCRIBE on topic __consumer_offsets"));
        if said { Ok(()) } else { Err(format!("{problems:?}")) }
    });
    kafka.commit_standalone("g", &[("t", 0, 9)]);
    frames.until("the group by the admin calls", |told| {
        let evidence = told.description("g")?.evidence;
        match (evidence, told.commit("g", "t", 0)) {
            (Evidence::Admin, Some(9)) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

#[test]
fn brokers_that_go_and_come_lose_and_double_no_event() {
    let kafka = Cluster::start(&ClusterSpec::three());
    kafka.create_topic_with("t", json!({"partitions": 4, "replication": 3}));
    // The client can abort its process when a broker drops: the source replaces it.
    let live = Frames::live(&kafka, "*");
    let frames = live.frames();
    let new = GroupSpec::consumer("new").topics(&["t"]);
    let old = GroupSpec::classic("old", "range").topics(&["t"]);
    let mut members = kafka.start_group(&new, 2);
    let mut others = kafka.start_group(&old, 2);
    let agree = |what: &str| {
        for id in ["new", "old"] {
            wait_until(&format!("{id} to be told as it is, {what}"), 2 * DEADLINE, || {
                let ours = frames.told().by_log(id)?.clone();
                kafka.agrees(id, &ours)
            });
        }
    };
    agree("at first");
    let coordinator = usize::try_from(kafka.describe("new").coordinator).expect("an id");
    kafka.kill_broker(coordinator);
    kafka.wait_brokers(2);
    members.push(kafka.join(&new, 2));
    others.push(kafka.join(&old, 2));
    kafka.wait_stable(&new, 3);
    kafka.wait_stable(&old, 3);
    agree("with another coordinator");
    let moved = usize::try_from(kafka.describe("new").coordinator).expect("an id");
    assert_ne!(moved, coordinator);
    kafka.start_broker(coordinator, &[]);
    members.remove(0).close();
    kafka.wait_stable(&new, 2);
    kafka.wait_stable(&old, 3);
    agree("with the broker back");
    // A graceful stop moves leadership at once.
    kafka.stop_broker(moved);
    kafka.wait_brokers(2);
    others.remove(0).close();
    kafka.wait_stable(&new, 2);
    kafka.wait_stable(&old, 2);
    agree("with yet another coordinator");
    kafka.start_broker(moved, &[]);
    kafka.wait_stable(&new, 2);
    kafka.wait_stable(&old, 2);
    agree("at last");
    for id in ["new", "old"] {
        let leader = usize::try_from(kafka.describe(id).coordinator).expect("an id");
        wait_until(&format!("the events of {id}"), DEADLINE, || {
            let (told, truth) = (told(&frames.told().events(id)), happened(&kafka.group_records(leader, id)));
            if told == truth { Ok(()) } else { Err(format!("{told:#?}, but {truth:#?}")) }
        });
    }
    frames.until("no problem to be left", |told| match told.facts.problems.as_deref() {
        None | Some([]) => Ok(()),
        Some(problems) => Err(format!("{problems:?}")),
    });
}

/// As after an unclean leader election: the newest records are gone, and others take their places.
#[test]
fn a_log_that_goes_back_is_read_anew_and_counts_are_lower_bounds() {
    let kafka = Cluster::start(&ClusterSpec::one());
    kafka.create_topic("t", 4);
    let id = "g";
    let spec = GroupSpec::consumer(id).topics(&["t"]);
    let live = Frames::live(&kafka, "*");
    let past = |frames: &Frames| {
        let view = frames.view();
        view.group(&id.into()).map(|group| group.rebalances.clone()).unwrap_or_default()
    };
    let agree = |what: &str, frames: &Frames| {
        wait_until(&format!("the group to be told as it is, {what}"), DEADLINE, || {
            let ours = frames.told().by_log(id)?.clone();
            kafka.agrees(id, &ours)
        })
    };
    let process = kafka.process();
    let mut members = process.start_group(&spec, 1);
    let partition = kafka.partition_of(id);
    let segments = kafka.segments(1, "__consumer_offsets", partition);
    let [segment] = &segments[..] else { panic!("{segments:?}") };
    let kept = std::fs::metadata(segment).expect("the log").len();
    for number in [1, 2] {
        members.push(process.join(&spec, number));
        kafka.wait_stable(&spec, number + 1);
    }
    agree("at first", live.frames());
    let before = wait_until("three rebalances", DEADLINE, || match past(live.frames()) {
        past if past.total >= 3 => Ok(past),
        other => Err(format!("{other:?}")),
    });
    assert_eq!((before.lower_bound, before.total_lower_bound, before.missing), (false, false, None));
    kafka.kill_broker(1);
    process.kill();
    drop(members);
    let file = std::fs::File::options().write(true).open(segment).expect("the log");
    file.set_len(kept).expect("a shorter log");
    kafka.start_broker(1, &[]);
    // Of the members the broker knows the first alone, and waits for it in vain.
    kafka.wait_stable(&spec, 0);
    agree("with the broker back", live.frames());
    let after = past(live.frames());
    assert_eq!((after.lower_bound, after.total_lower_bound, after.missing), (true, true, Some(Missing::Cut)));
    assert!(after.total >= before.total, "what was counted happened: {after:?}");
    let _again = kafka.start_group(&spec, 2);
    agree("with new members", live.frames());
    wait_until("that to be counted", DEADLINE, || match past(live.frames()) {
        past if past.total > after.total => Ok(()),
        other => Err(format!("{other:?}")),
    });
    // Whoever comes later reads what is there, and misses nothing of it.
    let later = Frames::collect(&kafka.bootstrap(), &["--coordinator-log", "require"]);
    agree("later", &later);
    assert_eq!((past(&later).lower_bound, past(&later).missing), (false, None));
}

/// The log is too long to be read whole, and the history that was asked for begins after what happened meanwhile.
#[test]
fn a_new_collector_goes_on_where_the_one_before_was() {
    let kafka = Cluster::start(&ClusterSpec::one());
    kafka.create_topic("many", 1000);
    kafka.create_topic("t", 4);
    for round in 0..=200 {
        let commits: Vec<Offset> = (0..1000).map(|partition| ("many", partition, round)).collect();
        kafka.alter_offsets("filler", &commits);
    }
    let live = Frames::live_with(&kafka, "g", Settings { history: History::Last(1), ..Settings::default() });
    live.frames().until("a part of the log to be read", |told| match &told.facts.log {
        Some(log) if log.partitions > 0 && log.caught_up == log.partitions && log.skipped > 200_000 => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let spec = GroupSpec::consumer("g").topics(&["t"]);
    let mut members = kafka.start_group(&spec, 1);
    for number in [1, 2] {
        wait_until("the group to be told as it is", DEADLINE, || {
            let ours = live.frames().told().by_log("g")?.clone();
            kafka.agrees("g", &ours)
        });
        // It tells nothing of what happens now.
        live.kill(Signal::STOP);
        members.push(kafka.join(&spec, number));
        kafka.wait_stable(&spec, 2);
        members.remove(0).close();
        kafka.wait_stable(&spec, 1);
        live.kill(Signal::KILL);
    }
    let records = wait_until("the same events", DEADLINE, || {
        let (told, records) = (told(&live.frames().told().events("g")), kafka.group_records(1, "g"));
        let truth = happened(&records);
        if told == truth { Ok(records) } else { Err(format!("{told:#?}, but {truth:#?}")) }
    });
    wait_until("the rebalances to be counted", DEADLINE, || {
        let view = live.frames().view();
        let past = view.group(&"g".into()).map(|group| (group.rebalances.total, group.rebalances.lower_bound));
        if past == Some((rebalances(&records).len(), false)) { Ok(()) } else { Err(format!("{past:?}")) }
    });
    assert_eq!(live.frames().told().notes, Vec::<String>::new());
}

#[test]
fn a_collector_that_is_replaced_loses_no_event() {
    let kafka = shared();
    kafka.create_topic("lt.killed", 4);
    let id = "lt.killed";
    let frames = Frames::collect(&kafka.bootstrap(), &["-g", id]);
    let live = Frames::live(kafka, id);
    let spec = GroupSpec::consumer(id).topics(&[id]);
    let mut members = kafka.start_group(&spec, 2);
    let both = |what: &str| {
        for frames in [&frames, live.frames()] {
            wait_until(&format!("{id} to be told as it is, {what}"), DEADLINE, || {
                let ours = frames.told().by_log(id)?.clone();
                kafka.agrees(id, &ours)
            });
        }
    };
    both("at first");
    for number in [2, 3] {
        live.kill(Signal::KILL);
        members.push(kafka.join(&spec, number));
        kafka.wait_stable(&spec, number + 1);
        members.remove(0).close();
        kafka.wait_stable(&spec, number);
        members.push(kafka.join(&spec, number + 10));
        kafka.wait_stable(&spec, number + 1);
        both("after a restart");
    }
    let undisturbed = frames.told().events(id);
    let seen = wait_until("the same events", DEADLINE, || {
        let seen = live.frames().told().events(id);
        if told(&seen) == told(&undisturbed) { Ok(seen) } else { Err(format!("{:?}", told(&seen))) }
    });
    let gone = |events: &[lagtop::model::Event]| {
        events.iter().filter(|event| matches!(event.what, What::MemberGone(_))).count()
    };
    assert_eq!((gone(&seen), live.frames().told().notes), (2, Vec::new()));
}
