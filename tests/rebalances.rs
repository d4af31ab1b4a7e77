//! Rebalances of real groups, told by a `lagtop` that was started afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use lagtop::health::rebalances::{Certainty, Departed};
use lagtop::monitor::view::View;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::{Collector, DEADLINE, GroupSpec, group, shared, snapshot, wait_committed, wait_until};

/// The group's row, once its history is as it should be.
fn told(id: &str, check: impl Fn(&Value) -> bool) -> Value {
    let bootstrap = shared().bootstrap();
    wait_until(&format!("the history of {id}"), DEADLINE, || {
        let row = group(&snapshot(&bootstrap, &["-g", id]), id).clone();
        if check(&row) { Ok(row) } else { Err(format!("{:#}\n{:#}", row["rebalances"], row["events"])) }
    })
}

/// Rebalances, oldest first.
fn list(row: &Value) -> Vec<Value> {
    let mut list = row["rebalances"]["newest"].as_array().expect("rebalances").clone();
    list.reverse();
    list
}

fn causes(rebalance: &Value) -> Vec<&str> {
    rebalance["causes"].as_array().expect("causes").iter().filter_map(|cause| cause["cause"].as_str()).collect()
}

fn clients<'a>(rebalance: &'a Value, field: &str) -> Vec<&'a str> {
    let list = rebalance[field]["list"].as_array().expect("members");
    list.iter().filter_map(|member| member["client_id"].as_str()).collect()
}

/// Joins, joins, leaves; each step waits for the group to settle. Returns the rebalances.
fn three_steps(spec: &GroupSpec, id: &str) -> Vec<Value> {
    let kafka = shared();
    kafka.create_topic(id, 4);
    let spec = spec.clone().topics(&[id]);
    let first = kafka.join(&spec, 0);
    kafka.wait_stable(&spec, 1);
    let second = kafka.join(&spec, 1);
    kafka.wait_stable(&spec, 2);
    second.close();
    kafka.wait_stable(&spec, 1);
    let row = told(id, |row| {
        let list = list(row);
        list.last().is_some_and(|last| last["gone"]["count"] == 1) && row["rebalances"]["ongoing"].is_null()
    });
    drop(first);
    let rebalances = &row["rebalances"];
    assert_eq!((&rebalances["evidence"], &rebalances["lower_bound"]), (&json!("log"), &json!(false)), "{rebalances:#}");
    assert_eq!((&rebalances["total_lower_bound"], &rebalances["clock_ahead_ms"]), (&json!(false), &Value::Null));
    assert_eq!(rebalances["total"], rebalances["per_hour"], "{rebalances:#}");
    assert_eq!(row["events"].as_array().expect("events").last().expect("a creation")["event"], "created");
    list(&row)
}

#[test]
fn classic_eager() {
    let list = three_steps(&GroupSpec::classic("r.range", "range"), "r.range");
    assert_eq!(list.len(), 3, "{list:#?}");
    assert_eq!(list[0]["moves"]["taken"], 4);
    assert_eq!((causes(&list[1]), clients(&list[1], "joined")), (vec!["joined"], vec!["r.range-1"]), "{:#}", list[1]);
    assert_eq!((&list[1]["moves"]["moved"], &list[1]["moves"]["of"]), (&json!(2), &json!(4)));
    assert_eq!((causes(&list[2]), clients(&list[2], "gone")), (vec!["gone"], vec!["r.range-1"]), "{:#}", list[2]);
    assert_eq!(list[2]["moves"]["moved"], 2);
    for pair in list.windows(2) {
        assert_eq!(pair[0]["to"], pair[1]["from"]);
    }
}

#[test]
fn classic_cooperative() {
    let list = three_steps(&GroupSpec::classic("r.coop", "cooperative-sticky"), "r.coop");
    let second: Vec<_> = list.iter().filter(|rebalance| causes(rebalance) == ["second_round"]).collect();
    assert_eq!((list.len(), second.len()), (4, 1), "{list:#?}");
    assert_eq!(second[0]["moves"]["moved"], 2);
    assert_eq!((&list[1]["moves"]["dropped"], &list[1]["moves"]["moved"]), (&json!(2), &json!(0)));
}

/// KIP-848, share and streams groups: the same three, each exactly timed.
fn modern(spec: &GroupSpec, id: &str) -> Vec<Value> {
    let mut list = three_steps(spec, id);
    // The coordinator may hear of the new topic only after the first member has joined.
    list.retain(|rebalance| causes(rebalance) != ["metadata"]);
    for rebalance in &list {
        assert_eq!((&rebalance["took"], &rebalance["partial"]), (&json!("exact"), &json!(false)), "{rebalance:#}");
    }
    let with = |field: &str, count: usize| list.iter().filter(|each| each[field]["count"] == count).count();
    assert_eq!((with("joined", 1), with("gone", 1)), (2, 1), "{list:#?}");
    list
}

#[test]
fn consumer_protocol() {
    let list = modern(&GroupSpec::consumer("r.consumer"), "r.consumer");
    assert_eq!(list.len(), 3, "{list:#?}");
    assert_eq!((causes(&list[1]), clients(&list[1], "joined")), (vec!["joined"], vec!["r.consumer-1"]));
    assert_eq!((&list[1]["moves"]["moved"], &list[1]["moves"]["of"]), (&json!(2), &json!(4)), "{:#}", list[1]);
    assert_eq!((causes(&list[2]), clients(&list[2], "gone")), (vec!["gone"], vec!["r.consumer-1"]));
    assert_eq!(list[2]["moves"]["moved"], 2);
}

#[test]
fn share_and_streams() {
    modern(&GroupSpec::share("r.share"), "r.share");
    modern(&GroupSpec::streams("r.streams"), "r.streams");
}

#[test]
fn partitions_added_are_a_certain_cause() {
    let kafka = shared();
    kafka.create_topic("r.grows", 2);
    let spec = GroupSpec::consumer("r.grows").topics(&["r.grows"]);
    let _member = kafka.start_group(&spec, 1);
    kafka.create_partitions("r.grows", 3);
    let row = told("r.grows", |row| list(row).last().is_some_and(|last| last["moves"]["taken"] == 1));
    let newest = list(&row);
    let last = newest.last().expect("a rebalance");
    assert_eq!((causes(last), &last["causes"][0]["certainty"]), (vec!["metadata"], &json!("certain")), "{last:#}");
    assert_eq!(last["causes"][0]["to"], row["stored_hash"]);
}

#[test]
fn static_members_restart_without_a_rebalance() {
    for (id, spec) in [
        ("r.static", GroupSpec::classic("r.static", "range").session_timeout(Duration::from_secs(20))),
        ("r.static-848", GroupSpec::consumer("r.static-848")),
    ] {
        let kafka = shared();
        kafka.create_topic(id, 2);
        let spec = spec.topics(&[id]).instance("i-{}");
        let mut members = kafka.start_group(&spec, 2);
        let before = told(id, |row| !list(row).is_empty() && row["rebalances"]["ongoing"].is_null());
        members.remove(1).close();
        members.push(kafka.join(&spec, 1));
        kafka.wait_stable(&spec, 2);
        let restarted = |row: &Value| {
            let events = row["events"].as_array().expect("events");
            events.first().is_some_and(|event| event["event"] == "static_restarted")
        };
        let after = told(id, restarted);
        assert_eq!(before["rebalances"]["total"], after["rebalances"]["total"], "{after:#}");
    }
}

#[test]
fn a_killed_member_crashed_for_who_saw_it_and_history_cannot_tell() {
    let kafka = shared();
    let id = "r.killed";
    kafka.create_topic(id, 2);
    let spec = GroupSpec::classic(id, "range").topics(&[id]).commit_after_poll();
    let mut members = kafka.start_group(&spec, 2);
    for partition in 0..2 {
        kafka.produce(id, partition, 10);
    }
    wait_committed(&kafka.bootstrap(), id, 2);
    let mut watching = Collector::of_group(&kafka.bootstrap(), id);
    members.remove(1).abandon();
    for partition in 0..2 {
        kafka.produce(id, partition, 10);
    }
    let newest = |view: &View| Some(Arc::clone(view.groups.first()?.rebalances.list.first()?));
    let view = watching.until("the member to go", |view| newest(view).is_some_and(|last| last.gone.count == 1));
    let seen = newest(&view).expect("a rebalance").gone.list[0].why.clone();
    assert_eq!((seen.verdict, seen.lag_waiting), (Departed::Crashed, Some(true)), "{seen:?}");

    // Whoever comes later reads the same record, but knows no log end of that time.
    let row = told(id, |row| list(row).last().is_some_and(|last| last["gone"]["count"] == 1));
    let gone = list(&row).last().expect("a rebalance")["gone"]["list"][0].clone();
    assert_eq!(gone["client_id"], "r.killed-1");
    let why = &gone["why"];
    assert_eq!(
        (&why["verdict"], &why["certainty"]),
        (&json!("cannot_tell"), &json!("likely")),
        "history knows no log end: {gone:#}"
    );
    assert_eq!((&why["session_timeout_ms"], &why["lag_waiting"]), (&json!(6000), &serde_json::Value::Null), "{gone:#}");
}

/// A member that does not poll leaves by itself, and joins again when it polls: one rebalance each.
fn slow_poll(spec: &GroupSpec, id: &str) {
    let kafka = shared();
    kafka.create_topic(id, 2);
    let spec = spec.clone().topics(&[id]).max_poll_interval(Duration::from_secs(8));
    let members = kafka.start_group(&spec, 2);
    let mut watching = Collector::of_group(&kafka.bootstrap(), id);
    members[1].commit();
    members[1].stall(Duration::from_secs(3600));
    for partition in 0..2 {
        kafka.produce(id, partition, 10);
    }
    kafka.wait_stable(&spec, 1);
    members[1].stall(Duration::ZERO);
    kafka.wait_stable(&spec, 2);

    let view = watching.until("the return", |view| {
        let list = view.groups.first().map(|group| Arc::clone(&group.rebalances.list)).unwrap_or_default();
        let gone = list.iter().position(|rebalance| rebalance.gone.count > 0);
        gone.is_some_and(|place| list[..place].iter().any(|rebalance| rebalance.joined.count > 0))
    });
    let history = &view.groups[0].rebalances;
    let gone: Vec<_> = history.list.iter().filter(|rebalance| rebalance.gone.count > 0).collect();
    let [gone] = &gone[..] else { panic!("{:#?}", history.list) };
    assert_eq!(gone.causes.len(), 1, "{gone:#?}");
    let (name, certainty) = (gone.causes[0].kind.name(), gone.causes[0].certainty);
    assert_eq!((name, certainty), ("gone", Certainty::Certain), "{gone:#?}");
    let why = &gone.gone.list[0].why;
    assert_eq!((why.verdict, why.certainty()), (Departed::SlowPoll, Certainty::Likely), "{why:?}");
    assert!(gone.causes[0].to_string().contains("likely slow poll"), "{}", gone.causes[0]);

    // Whoever comes later says the same.
    let row = told(id, |row| {
        let back = |rebalance: &Value| rebalance["gone"]["list"][0]["why"]["back_after_ms"].is_u64();
        list(row).iter().any(back) && row["rebalances"]["ongoing"].is_null()
    });
    let list = list(&row);
    let after: Vec<_> = list.iter().filter(|rebalance| rebalance["gone"]["count"] != 0).collect();
    let [after] = &after[..] else { panic!("{list:#?}") };
    assert_eq!((causes(after), &after["causes"][0]["certainty"]), (vec!["gone"], &json!("certain")), "{after:#}");
    let gone = &after["gone"]["list"][0];
    assert_eq!(gone["client_id"], json!(format!("{id}-1")));
    let why = &gone["why"];
    assert_eq!((&why["verdict"], &why["certainty"]), (&json!("slow_poll"), &json!("likely")), "{gone:#}");
    assert_eq!((&why["rebalance_timeout_ms"], why["back_after_ms"].is_u64()), (&json!(8000), true), "{gone:#}");
}

#[test]
fn a_slow_poll_of_a_classic_member() {
    slow_poll(&GroupSpec::classic("r.slow", "range"), "r.slow");
}

#[test]
fn a_slow_poll_of_a_kip_848_member() {
    slow_poll(&GroupSpec::consumer("r.slow-848"), "r.slow-848");
}
