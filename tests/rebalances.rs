//! Rebalances of real groups, told by a `lagtop` that was started afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use lagtop::health::rebalances::{Certainty, Departed, Rebalance, Took};
use lagtop::model::{Evidence, GroupState};
use lagtop::monitor::view::View;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::{Collector, DEADLINE, GroupSpec, group, lagtop, shared, snapshot, wait_committed, wait_until};

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

/// The newest cause of that name; null: there is none.
fn newest(row: &Value, name: &str) -> Value {
    let list = list(row);
    let all = list.iter().flat_map(|rebalance| rebalance["causes"].as_array().expect("causes"));
    all.rev().find(|cause| cause["cause"] == name).cloned().unwrap_or_default()
}

/// Partitions that nobody had before, in all rebalances together.
fn taken(row: &Value) -> Option<u64> {
    list(row).iter().map(|rebalance| rebalance["moves"]["taken"].as_u64()).sum()
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
fn partitions_added_are_a_cause() {
    let kafka = shared();
    let specs = [
        ("r.grows", GroupSpec::consumer("r.grows"), "metadata"),
        ("r.grows-share", GroupSpec::share("r.grows-share"), "metadata"),
        ("r.grows-streams", GroupSpec::streams("r.grows-streams"), "metadata"),
        ("r.grows-range", GroupSpec::classic("r.grows-range", "range"), "partitions"),
        ("r.grows-coop", GroupSpec::classic("r.grows-coop", "cooperative-sticky"), "partitions"),
    ];
    for (id, spec, cause) in specs {
        kafka.create_topic(id, 2);
        let _member = kafka.start_group(&spec.topics(&[id]), 1);
        told(id, |row| !list(row).is_empty() && row["rebalances"]["ongoing"].is_null());
        // What polls see of classic groups and KIP-848 groups is the same.
        let mut watching = (!["r.grows-share", "r.grows-streams"].contains(&id)).then(|| polling(id, 1));
        kafka.create_partitions(id, 3);
        // The report may know an event that came after the description.
        let hash = |row: &Value| cause != "metadata" || newest(row, cause)["to"] == row["stored_hash"];
        let row = told(id, |row| taken(row) == Some(3) && row["rebalances"]["ongoing"].is_null() && hash(row));
        let list = list(&row);
        // Which topics a streams group reads is in no event: its topology may have changed.
        let certainty = if id == "r.grows-streams" { "likely" } else { "certain" };
        let told = newest(&row, cause);
        assert_eq!(told["certainty"], certainty, "{list:#?}");
        if cause == "partitions" {
            assert_eq!((&told["from"], &told["to"]), (&json!("2"), &json!("3")), "{list:#?}");
        }
        // A share group hands out new partitions in a rebalance of its own, when their state is initialized.
        if id != "r.grows-share" {
            assert_eq!(causes(list.last().expect("a rebalance")), [cause], "{list:#?}");
        }
        if let Some(watching) = &mut watching {
            let seen = seen(watching, 1);
            assert_eq!(words(&seen[0]), [(Certainty::Certain, format!("{id} 2 > 3 partitions"))], "{seen:#?}");
        }
    }
}

#[test]
fn another_subscription_is_a_certain_cause() {
    let kafka = shared();
    let specs = [
        ("r.topics-range", GroupSpec::classic("r.topics-range", "range")),
        ("r.topics-coop", GroupSpec::classic("r.topics-coop", "cooperative-sticky")),
        ("r.topics-848", GroupSpec::consumer("r.topics-848")),
        ("r.topics-share", GroupSpec::share("r.topics-share")),
    ];
    for (id, spec) in specs {
        let other = format!("{id}.other");
        kafka.create_topic(id, 2);
        kafka.create_topic(&other, 3);
        let member = kafka.start_group(&spec.clone().topics(&[id]), 1).remove(0);
        member.subscribe(&[id, &other]);
        kafka.wait_stable(&spec.topics(&[id, &other]), 1);
        let row = told(id, |row| taken(row) == Some(5) && row["rebalances"]["ongoing"].is_null());
        let list = list(&row);
        let changed: Vec<_> = list.iter().filter(|rebalance| causes(rebalance).contains(&"subscription")).collect();
        let [changed] = &changed[..] else { panic!("{list:#?}") };
        let [cause] = &changed["causes"].as_array().expect("causes")[..] else { panic!("{changed:#}") };
        assert_eq!((&cause["certainty"], &cause["added"]), (&json!("certain"), &json!([other])), "{changed:#}");
        assert_eq!((cause["removed"].is_null(), &cause["members"]), (true, &json!(1)), "{changed:#}");
    }
}

#[test]
fn another_assignor_is_a_certain_cause() {
    let kafka = shared();
    let id = "r.assignor";
    kafka.create_topic(id, 4);
    let both = GroupSpec::classic(id, "range,roundrobin").topics(&[id]);
    let _first = kafka.start_group(&both, 1);
    let mut watching = polling(id, 1);
    // The only one that both members know.
    let _second = kafka.join(&GroupSpec::classic(id, "roundrobin").topics(&[id]), 1);
    kafka.wait_stable(&both, 2);
    let row = told(id, |row| list(row).len() > 1 && row["rebalances"]["ongoing"].is_null());
    let all = list(&row);
    let last = all.last().expect("a rebalance");
    assert_eq!((all.len(), causes(last)), (2, vec!["joined", "assignor"]), "{all:#?}");
    let cause = &last["causes"][1];
    assert_eq!(
        (&cause["certainty"], &cause["from"], &cause["to"]),
        (&json!("certain"), &json!("range"), &json!("roundrobin"))
    );
    let seen = seen(&mut watching, 1);
    let told = words(&seen[0]);
    assert_eq!(told[1..], [(Certainty::Certain, "assignor range > roundrobin".to_owned())], "{seen:#?}");
}

/// A collector that never reads the coordinator log and has seen the group at rest with so many members.
fn polling(id: &str, members: usize) -> Collector {
    let bootstrap = shared().bootstrap();
    let args = ["collect", "-b", &bootstrap, "-g", id, "-i", "500ms", "--coordinator-log", "off"];
    let mut collector = Collector::start(&mut lagtop(&args));
    collector.until("the group at rest", |view| {
        let group = view.groups.first().filter(|group| group.state == GroupState::Stable);
        group.is_some_and(|group| group.members.len() == members && group.rebalances.since.is_some())
    });
    collector
}

/// The rebalances that polls tell, oldest first, once there are so many.
fn seen(watching: &mut Collector, count: usize) -> Vec<Rebalance> {
    let view = watching.until("rebalances seen by polling", |view| {
        view.groups
            .first()
            .is_some_and(|group| group.rebalances.list.len() >= count && group.rebalances.ongoing.is_none())
    });
    let told = &view.groups[0].rebalances;
    assert_eq!((told.evidence, told.lower_bound, told.total_lower_bound), (Evidence::Admin, true, true));
    assert_eq!((told.total, told.list.len()), (count, count), "{told:#?}");
    let list = told.list.iter().rev().map(|rebalance| (**rebalance).clone());
    list.inspect(|each| assert_eq!((each.evidence(), each.from, each.to), (Evidence::Admin, None, None))).collect()
}

fn words(rebalance: &Rebalance) -> Vec<(Certainty, String)> {
    rebalance.causes.iter().map(|cause| (cause.certainty, cause.to_string())).collect()
}

/// Without the coordinator log: who joins, leaves, and is killed is one rebalance each.
fn polls_alone(spec: &GroupSpec, id: &str) {
    let kafka = shared();
    kafka.create_topic(id, 4);
    let spec = spec.clone().topics(&[id]);
    let _first = kafka.start_group(&spec, 1);
    let mut watching = polling(id, 1);
    let mut step = |count: usize, joined: &[&str], gone: &[&str]| {
        let last = seen(&mut watching, count).pop().expect("a rebalance");
        let clients = |names: &[&str]| names.iter().map(|name| format!("{id}-{name}")).collect::<Vec<_>>();
        let came: Vec<_> = last.joined.list.iter().map(|who| who.client_id.to_string()).collect();
        let went: Vec<_> = last.gone.list.iter().map(|gone| gone.who.client_id.to_string()).collect();
        assert_eq!((came, went), (clients(joined), clients(gone)), "{last:#?}");
        let cause = if joined.is_empty() { "gone" } else { "joined" };
        let [only] = &last.causes[..] else { panic!("{last:#?}") };
        assert_eq!((only.kind.name(), only.certainty), (cause, Certainty::Certain), "{last:#?}");
        let moves = last.moves.as_ref().expect("moves");
        assert_eq!((moves.moved, moves.taken, moves.dropped, moves.of), (2, 0, 0, 4), "{last:#?}");
        assert!(!matches!(last.took, Took::Exact(_)), "{last:#?}");
        last.gone.list.first().map(|gone| gone.why.clone())
    };
    let second = kafka.join(&spec, 1);
    step(1, &["1"], &[]);
    second.close();
    step(2, &[], &["1"]);
    let process = kafka.process();
    let _killed = process.join(&spec, 2);
    step(3, &["2"], &[]);
    process.kill();
    let why = step(4, &[], &["2"]).expect("a departure");
    // It never committed; a classic session timeout is in no answer, the other one is the brokers'.
    assert_eq!((why.verdict, why.quiet, why.idle), (Departed::CannotTell, None, false), "{why:?}");
    assert_eq!((why.certainty(), why.session_timeout.is_some()), (Certainty::Likely, why.session_default), "{why:?}");
    assert_eq!(why.session_default, id == "r.polls-848", "{why:?}");
    kafka.wait_stable(&spec, 1);
}

#[test]
fn polls_alone_tell_the_rebalances_of_a_classic_group() {
    // Long enough for members of a machine under load, short enough to wait for.
    polls_alone(&GroupSpec::classic("r.polls", "range").session_timeout(Duration::from_secs(15)), "r.polls");
}

#[test]
fn polls_alone_tell_the_rebalances_of_a_kip_848_group() {
    polls_alone(&GroupSpec::consumer("r.polls-848"), "r.polls-848");
}

/// A member that holds partitions and closes: `close()` commits, and it is gone right after.
#[test]
fn a_member_that_closes_left() {
    let kafka = shared();
    for (id, spec) in [
        ("r.left", GroupSpec::classic("r.left", "range").session_timeout(Duration::from_secs(45))),
        (
            "r.left-coop",
            GroupSpec::classic("r.left-coop", "cooperative-sticky").session_timeout(Duration::from_secs(45)),
        ),
        ("r.left-848", GroupSpec::consumer("r.left-848")),
    ] {
        kafka.create_topic(id, 2);
        let spec = spec.topics(&[id]).config("enable.auto.commit", "true");
        let mut members = kafka.start_group(&spec, 2);
        for partition in 0..2 {
            kafka.produce(id, partition, 10);
        }
        wait_until("the records", DEADLINE, || match members[1].info().polled {
            0 => Err("nothing was polled"),
            _ => Ok(()),
        });
        members.remove(1).close();
        let row = told(id, |row| list(row).last().is_some_and(|last| last["gone"]["count"] == 1));
        let all = list(&row);
        let last = all.last().expect("a rebalance");
        assert_eq!((causes(last), &last["causes"][0]["certainty"]), (vec!["gone"], &json!("certain")), "{last:#}");
        let gone = &last["gone"]["list"][0];
        assert_eq!(gone["client_id"], json!(format!("{id}-1")), "{last:#}");
        let why = &gone["why"];
        assert_eq!((&why["verdict"], &why["certainty"]), (&json!("left"), &json!("likely")), "{gone:#}");
        assert_eq!((&why["idle"], why["last_commit_before_ms"].is_u64()), (&json!(false), true), "{gone:#}");
        assert!(
            last["causes"][0]["text"].as_str().is_some_and(|text| text.contains("likely left (last commit")),
            "{last:#}"
        );
    }
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

#[test]
fn a_slow_poll_of_a_cooperative_member() {
    slow_poll(&GroupSpec::classic("r.slow-coop", "cooperative-sticky"), "r.slow-coop");
}
