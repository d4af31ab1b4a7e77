//! Facts that a collector tells beside members, commits and ends, each against a real cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lagtop::health::rebalances::Departed;
use lagtop::model::Name;
use lagtop::monitor::view::View;
use serde_json::{Value, json};
use support::{Collector, Frames, GroupSpec, Told, group, lagtop, partition, run, shared, snapshot, wait_committed};

/// `(last stable offset, end)` of partition 0.
fn ends(told: &Told, topic: &str) -> Result<(i64, i64), String> {
    let offsets = told.facts.offsets.get(&Name::new(topic)).ok_or("no offsets")?;
    let of = |column: &Option<lagtop::model::Column>| column.as_ref()?.get(0).map(|(offset, _)| offset);
    Ok((of(&offsets.stable).ok_or("no last stable offset")?, of(&offsets.end).ok_or("no end")?))
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("milliseconds")
}

/// RFC 3339 with milliseconds.
fn shown(millis: i64) -> String {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).expect("after 1970"));
    humantime::format_rfc3339_millis(at).to_string()
}

/// The partition's probe with `--probe-time`.
fn probe(row: &Value, topic: &str, number: i64) -> Value {
    partition(row, topic, number)["probe"].clone()
}

#[test]
fn the_exact_time_lag() {
    let kafka = shared();
    let topic = "f.probe";
    kafka.create_topic(topic, 5);
    let now = now_ms();
    let written = kafka.produce_at(topic, 0, &[now - 7_200_000, now - 600_000, now - 60_000]);
    let future = kafka.produce_at(topic, 1, &[now + 1_800_000]);
    kafka.produce(topic, 2, 4);
    let transaction = kafka.begin(topic);
    transaction.produce(topic, 3, 5);
    transaction.commit();
    kafka.produce_at(topic, 4, &[now - 90_000, now - 80_000]);
    kafka.delete_records(&[(topic, 4, 1)]);
    let stamped = "f.probe.log";
    kafka.create_topic_with(stamped, json!({"partitions": 1, "config": {"message.timestamp.type": "LogAppendTime"}}));
    let appended = kafka.produce_at(stamped, 0, &[now - 7_200_000]);
    kafka.commit_standalone(
        "f.probe.a",
        &[(topic, 0, 1), (topic, 1, 0), (topic, 2, 4), (topic, 3, 5), (topic, 4, 0), (stamped, 0, 0)],
    );
    // Another group reads the same partition from elsewhere.
    kafka.commit_standalone("f.probe.b", &[(topic, 0, 0)]);

    let before = now_ms();
    let told = snapshot(&kafka.bootstrap(), &["-g", "f.probe.?", "--probe-time"]);
    let after = now_ms();
    let row = group(&told, "f.probe.a");
    let record = |probe: &Value, (offset, timestamp): (i64, i64), kind: &str| {
        assert_eq!((&probe["record_offset"], &probe["timestamp"]), (&json!(offset), &json!(shown(timestamp))));
        assert_eq!((&probe["timestamp_type"], &probe["nothing_to_read"]), (&json!(kind), &json!(false)));
        let age = probe["age_ms"].as_i64().expect("an age");
        let range = (before - timestamp).max(0)..=(after - timestamp).max(0);
        assert!(range.contains(&age), "{age} is not in {range:?}");
        assert_eq!(probe["clock_skew"], timestamp > after);
    };
    record(&probe(row, topic, 0), written[1], "create_time");
    record(&probe(row, topic, 1), future[0], "create_time");
    assert_eq!(probe(row, topic, 2), Value::Null, "no lag");
    let markers = probe(row, topic, 3);
    let none = (&markers["nothing_to_read"], &markers["age_ms"], &markers["record_offset"]);
    assert_eq!(none, (&json!(true), &json!(0), &Value::Null), "{markers:#}");
    record(&probe(row, topic, 4), (1, now - 80_000), "create_time");
    record(&probe(row, stamped, 0), appended[0], "log_append_time");
    assert!(appended[0].1 >= now, "the broker's clock: {appended:?}");
    record(&probe(group(&told, "f.probe.b"), topic, 0), written[0], "create_time");
    assert_eq!((&told["complete"], &told["problems"]), (&json!(true), &json!([])));

    let told = snapshot(&kafka.bootstrap(), &["-g", "f.probe.a"]);
    assert_eq!(probe(group(&told, "f.probe.a"), topic, 0), Value::Null, "nobody asked");
    let table = |group| run(&mut lagtop(&["snapshot", "-b", &kafka.bootstrap(), "-g", group, "--probe-time"])).out;
    assert!(table("f.probe.a").contains("> 10m"), "a record was deleted before it was read: {}", table("f.probe.a"));
    assert!(table("f.probe.b").contains(" exactly"), "{}", table("f.probe.b"));
}

#[test]
fn what_read_committed_cannot_read_is_not_probed() {
    let kafka = shared();
    let topic = "f.aborted";
    kafka.create_topic(topic, 2);
    let aborted = kafka.begin(topic);
    aborted.produce(topic, 0, 5);
    aborted.abort();
    kafka.produce(topic, 0, 1);
    let open = kafka.begin("f.aborted.open");
    open.produce(topic, 1, 3);
    kafka.commit_standalone(topic, &[(topic, 0, 0), (topic, 1, 0)]);
    let read = |isolation: &str| {
        let told = snapshot(&kafka.bootstrap(), &["-g", topic, "--probe-time", "--isolation", isolation]);
        let row = group(&told, topic);
        [0, 1].map(|number| probe(row, topic, number)["record_offset"].clone())
    };
    assert_eq!(read("read_uncommitted"), [json!(0), json!(0)]);
    // Five records and a marker; the other transaction is open.
    assert_eq!(read("read_committed"), [json!(6), Value::Null]);
    open.commit();
}

#[test]
fn more_lag_than_is_probed_is_told() {
    let kafka = shared();
    let topic = "f.many";
    kafka.create_topic(topic, 100);
    (0..100).for_each(|number| _ = kafka.produce(topic, number, 1));
    let offsets: Vec<_> = (0..100).map(|number| (topic, number, 0)).collect();
    (10..31).for_each(|id| kafka.alter_offsets(&format!("f.many.{id}"), &offsets));
    let told = snapshot(&kafka.bootstrap(), &["-g", "f.many.*", "--probe-time"]);
    let groups = told["groups"].as_array().expect("groups");
    let rows = groups.iter().flat_map(|group| group["partitions"].as_array().expect("partitions"));
    assert_eq!(rows.filter(|row| row["probe"]["record_offset"] == 0).count(), 2000);
    let problems = told["problems"].as_array().expect("problems");
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let cause = problems[0]["cause"].as_str().expect("a cause");
    assert!(cause.starts_with("100 partitions with lag are beyond the limit"), "{cause}");
    assert_eq!(problems[0]["remedy"], "select fewer groups or topics");
}

#[test]
fn configurations_of_topics_and_brokers() {
    let kafka = shared();
    let policies = [("delete", false), ("compact", true), ("compact,delete", true)];
    let topic = |policy: &str| format!("f.config.{}", policy.replace(',', "-"));
    for (policy, _) in policies {
        let config = json!({"partitions": 1, "config": {"cleanup.policy": policy}});
        kafka.create_topic_with(&topic(policy), config);
        kafka.commit_standalone("f.config", &[(&topic(policy), 0, 0)]);
    }
    let frames = Frames::collect(&kafka.bootstrap(), &["-g", "f.config"]);
    frames.until("the configurations", |told| {
        let compacted = |policy| told.facts.topics.get(&Name::from(topic(policy)))?.compacted;
        for (policy, expected) in policies {
            if compacted(policy) != Some(expected) {
                return Err(format!("{policy}: {:?}", compacted(policy)));
            }
        }
        let defaults = told.facts.cluster.as_ref().ok_or("no cluster")?.group_defaults;
        let session = Some(3000);
        assert_eq!(defaults.consumer_session_timeout_ms, session, "{defaults:?}");
        assert_eq!(defaults.share_session_timeout_ms, session, "{defaults:?}");
        assert_eq!(defaults.streams_session_timeout_ms, session, "{defaults:?}");
        Ok(())
    });
}

#[test]
fn a_killed_member_whose_session_timeout_is_the_brokers() {
    let kafka = shared();
    let id = "f.killed";
    kafka.create_topic(id, 2);
    let spec = GroupSpec::consumer(id).topics(&[id]).commit_after_poll();
    let process = kafka.process();
    let _dies = process.join(&spec, 1);
    let _stays = kafka.join(&spec, 0);
    kafka.wait_stable(&spec, 2);
    for partition in 0..2 {
        kafka.produce(id, partition, 10);
    }
    wait_committed(&kafka.bootstrap(), id, 2);
    let mut watching = Collector::of_group(&kafka.bootstrap(), id);
    process.kill();
    for partition in 0..2 {
        kafka.produce(id, partition, 10);
    }
    let newest = |view: &View| Some(Arc::clone(view.groups.first()?.rebalances.list.first()?));
    let view = watching.until("the member to go", |view| newest(view).is_some_and(|last| last.gone.count == 1));
    let why = newest(&view).expect("a rebalance").gone.list[0].why.clone();
    assert_eq!((why.verdict, why.lag_waiting), (Departed::Crashed, Some(true)), "{why:?}");
    assert_eq!((why.session_timeout, why.session_default), (Some(Duration::from_secs(3)), true), "{why:?}");
    let said = why.to_string();
    assert!(said.contains("likely crashed or cut off") && said.contains("the broker's default"), "{said}");
}

#[test]
fn an_open_transaction_holds_the_last_stable_offset() {
    let kafka = shared();
    for isolation in ["read_uncommitted", "read_committed"] {
        let topic = format!("f.stable.{isolation}");
        kafka.create_topic(&topic, 1);
        kafka.produce(&topic, 0, 3);
        kafka.commit_standalone(&topic, &[(&topic, 0, 1)]);
        let transaction = kafka.begin(&topic);
        transaction.produce(&topic, 0, 5);
        let frames = Frames::collect(&kafka.bootstrap(), &["-g", &topic, "--isolation", isolation]);
        let told = |wanted: (i64, i64)| {
            frames.until("offsets", |told| match ends(told, &topic)? {
                ends if ends == wanted => Ok(()),
                other => Err(format!("{other:?}, not {wanted:?}")),
            });
        };
        told((3, 8));
        assert_eq!(kafka.last_stable_offset(&topic, 0), 3);
        let read_committed = frames.told().facts.progress.expect("progress").read_committed;
        assert_eq!(read_committed, isolation == "read_committed");
        transaction.produce(&topic, 0, 2);
        told((3, 10));
        transaction.commit();
        // The marker is a record.
        told((11, 11));
        if read_committed {
            kafka.produce(&topic, 0, 1);
            told((12, 12));
        }
    }
}
