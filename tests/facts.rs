//! Facts that a collector tells beside members, commits and ends, each against a real cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use lagtop::health::rebalances::Departed;
use lagtop::model::Name;
use lagtop::monitor::view::View;
use serde_json::json;
use support::{Collector, DEADLINE, Frames, GroupSpec, Told, group, lagtop as command, shared, snapshot, wait_until};

/// `(last stable offset, end)` of partition 0.
fn ends(told: &Told, topic: &str) -> Result<(i64, i64), String> {
    let offsets = told.facts.offsets.get(&Name::new(topic)).ok_or("no offsets")?;
    let of = |column: &Option<lagtop::model::Column>| column.as_ref()?.get(0).map(|(offset, _)| offset);
    Ok((of(&offsets.stable).ok_or("no last stable offset")?, of(&offsets.end).ok_or("no end")?))
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
        assert_eq!(
            (defaults.consumer_session_timeout_ms, defaults.share_session_timeout_ms),
            (session, session),
            "{defaults:?}"
        );
        assert_eq!(
            (defaults.streams_session_timeout_ms, defaults.consumer_heartbeat_interval_ms),
            (session, Some(500)),
            "{defaults:?}"
        );
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
    wait_until("the commits", DEADLINE, || {
        let row = group(&snapshot(&kafka.bootstrap(), &["-g", id]), id).clone();
        if row["states"]["known"] == 2 { Ok(()) } else { Err(row.to_string()) }
    });
    let mut watching = Collector::start(&mut command(&["collect", "-b", &kafka.bootstrap(), "-g", id, "-i", "500ms"]));
    watching.until("the log and its ends", |view| view.progress.all_seen);
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
