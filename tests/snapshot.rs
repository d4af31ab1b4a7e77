//! `lagtop snapshot --format json` of real groups, figure by figure beside what Apache's tools say.

#![allow(clippy::expect_used)]

mod support;

use std::time::Duration;

use lagtop::assign::{Assignor, GroupInput, MemberInput, TopicInput, TopicPartition};
use serde_json::{Value, json};
use support::{
    DEADLINE, GroupSpec, Member, Running, group, lagtop as command, member, partition, run, shared, snapshot,
    wait_until,
};

/// Six partitions with 10, 20, … records, committed up to 1, 2, …; the lag is 9, 18, …, 54.
fn lagging(topic: &str) -> Vec<(&str, i32, i64)> {
    let kafka = shared();
    kafka.create_topic(topic, 6);
    (0..6)
        .map(|partition| {
            kafka.produce(topic, partition, 10 * (partition as usize + 1));
            (topic, partition, i64::from(partition) + 1)
        })
        .collect()
}

/// Lets every member commit what it owns of these offsets, once the members know what they own.
fn commit(members: &[Member], offsets: &[(&str, i32, i64)]) {
    let owned = wait_until("the members to know their partitions", DEADLINE, || {
        let owned: Vec<_> = members.iter().map(|member| member.info().assignment).collect();
        let known = |&&(topic, p, _): &&(&str, i32, i64)| owned.iter().flatten().any(|(t, n)| t == topic && *n == p);
        if offsets.iter().all(|offset| known(&offset)) { Ok(owned) } else { Err(format!("{owned:?}")) }
    });
    for (member, owned) in members.iter().zip(owned) {
        let own = offsets.iter().filter(|(topic, p, _)| owned.iter().any(|(t, n)| t == topic && n == p));
        let own: Vec<_> = own.copied().collect();
        if !own.is_empty() {
            member.commit_offsets(&own);
        }
    }
}

/// A group of `n` members on a topic of its own with six partitions; its row after the comparison.
fn compared(spec: &GroupSpec, id: &str, n: usize) -> Value {
    let kafka = shared();
    let offsets = lagging(id);
    let members = kafka.start_group(&spec.clone().topics(&[id]), n);
    commit(&members, &offsets);
    let row = kafka.compare(&kafka.bootstrap(), id);
    assert_eq!((&row["lag"], &row["states"]["known"]), (&json!(189), &json!(6)), "{row:#}");
    for partition in row["partitions"].as_array().expect("partitions") {
        assert_eq!((&partition["state"], &partition["lag"]), (&json!("known"), &partition["raw"]), "{row:#}");
    }
    row
}

fn idle_reasons(row: &Value) -> Vec<&str> {
    row["members"].as_array().expect("members").iter().filter_map(|member| member["idle"].as_str()).collect()
}

#[test]
fn classic_range_with_two_idle_members() {
    let row = compared(&GroupSpec::classic("s.range", "range"), "s.range", 8);
    assert_eq!((&row["assignor"], &row["idle_members"]), (&json!("range"), &json!(2)));
    assert_eq!(idle_reasons(&row), ["8 members > 6 partitions"; 2]);
}

#[test]
fn classic_roundrobin_with_one_idle_member() {
    let row = compared(&GroupSpec::classic("s.roundrobin", "roundrobin"), "s.roundrobin", 7);
    assert_eq!((&row["assignor"], &row["idle_members"]), (&json!("roundrobin"), &json!(1)));
    assert_eq!(idle_reasons(&row), ["7 members > 6 partitions"]);
}

#[test]
fn classic_cooperative_sticky() {
    let row = compared(&GroupSpec::classic("s.sticky", "cooperative-sticky").rack("r{}"), "s.sticky", 3);
    assert_eq!(row["assignor"], "cooperative-sticky");
    let member = member(&row, "s.sticky-2");
    assert_eq!((&member["subscription"], &member["rack"]), (&json!(["s.sticky"]), &json!("r2")));
}

#[test]
fn classic_static_members() {
    let row = compared(&GroupSpec::classic("s.static", "range").instance("static-{}"), "s.static", 2);
    assert_eq!(member(&row, "s.static-1")["instance_id"], "static-1");
}

#[test]
fn next_generation_with_two_idle_members() {
    let row = compared(&GroupSpec::consumer("s.next"), "s.next", 8);
    assert_eq!((&row["type"], &row["assignor"]), (&json!("consumer"), &json!("uniform")));
    assert_eq!((&row["idle_members"], &row["state"]), (&json!(2), &json!("Stable")));
    assert_eq!(idle_reasons(&row), ["8 members > 6 partitions"; 2]);
}

#[test]
fn next_generation_static_members_with_range() {
    let spec = GroupSpec::consumer("s.next-static").remote_assignor("range").instance("static-{}");
    let row = compared(&spec, "s.next-static", 2);
    assert_eq!(
        (&row["assignor"], &member(&row, "s.next-static-0")["instance_id"]),
        (&json!("range"), &json!("static-0"))
    );
}

#[test]
fn commits_without_members() {
    let kafka = shared();
    let offsets = lagging("s.empty");
    // A group that was: Empty, of type classic.
    let spec = GroupSpec::classic("s.empty", "range").topics(&["s.empty"]);
    let members = kafka.start_group(&spec, 1);
    commit(&members, &offsets);
    drop(members);
    kafka.wait_stable(&spec, 0);
    let row = kafka.compare(&kafka.bootstrap(), "s.empty");
    assert_eq!((&row["type"], &row["state"], &row["lag"]), (&json!("classic"), &json!("Empty"), &json!(189)));

    // The same of the KIP-848 protocol.
    let spec = GroupSpec::consumer("s.empty-next").topics(&["s.empty"]);
    let members = kafka.start_group(&spec, 1);
    commit(&members, &offsets);
    drop(members);
    kafka.wait_stable(&spec, 0);
    let row = kafka.compare(&kafka.bootstrap(), "s.empty-next");
    assert_eq!((&row["type"], &row["state"], &row["lag"]), (&json!("consumer"), &json!("Empty"), &json!(189)));

    // A consumer that assigned itself its partitions.
    kafka.commit_standalone("s.alone", &offsets[..2]);
    let row = kafka.compare(&kafka.bootstrap(), "s.alone");
    assert_eq!((&row["state"], &row["lag"], &row["plan"]), (&json!("Empty"), &json!(27), &Value::Null));
    // What it never committed is no lag, and no lie.
    assert_eq!((&row["states"]["known"], &row["states"]["no_commit"]), (&json!(2), &json!(4)));
    let quiet = partition(&row, "s.empty", 5);
    assert_eq!(quiet["state"], "no commit");
}

#[test]
fn members_without_a_commit() {
    let kafka = shared();
    kafka.create_topic("s.fresh", 3);
    kafka.produce("s.fresh", 1, 5);
    let members = kafka.start_group(&GroupSpec::classic("s.fresh", "range").topics(&["s.fresh"]), 2);
    commit(&members, &[("s.fresh", 0, 0)]);
    let row = kafka.compare(&kafka.bootstrap(), "s.fresh");
    assert_eq!((&row["lag"], &row["states"]["known"], &row["states"]["no_commit"]), (&json!(0), &json!(1), &json!(2)));
    let fresh = partition(&row, "s.fresh", 1);
    assert_eq!((&fresh["state"], &fresh["lag"], &fresh["held"]), (&json!("no commit"), &Value::Null, &json!(5)));
    assert_eq!(partition(&row, "s.fresh", 2)["held"], 0);
    let assumed = row["plan"]["assumptions"].as_array().expect("assumptions");
    assert!(assumed.iter().any(|text| text.as_str().is_some_and(|t| t.contains("without a commit"))), "{row:#}");
}

#[test]
fn commits_past_the_end_below_the_start_and_of_a_deleted_topic() {
    let kafka = shared();
    kafka.create_topic("s.odd", 3);
    kafka.create_topic("s.deleted", 1);
    (0..3).for_each(|partition| _ = kafka.produce("s.odd", partition, 20));
    kafka.produce("s.deleted", 0, 50);
    kafka.alter_offsets("s.odd", &[("s.odd", 0, 1020), ("s.odd", 1, 5), ("s.odd", 2, 13), ("s.deleted", 0, 40)]);
    kafka.alter_offsets("s.even", &[("s.odd", 0, 15)]);
    kafka.delete_records(&[("s.odd", 1, 12)]);
    kafka.delete_topic("s.deleted");

    let told = snapshot(&kafka.bootstrap(), &["-g", "s.odd", "-g", "s.even"]);
    assert_eq!(told["complete"], true, "{told:#}");
    let row = group(&told, "s.odd");
    let past = partition(row, "s.odd", 0);
    assert_eq!(
        (&past["state"], &past["past_end"], &past["lag"], &past["raw"]),
        (&json!("past end"), &json!(1000), &Value::Null, &json!(-1000)),
        "in one run: the report polls twice"
    );
    let expired = partition(row, "s.odd", 1);
    assert_eq!(
        (&expired["state"], &expired["lost"], &expired["lag"], &expired["start"], &expired["raw"]),
        (&json!("expired"), &json!(7), &json!(8), &json!(12), &json!(15))
    );
    assert_eq!(partition(row, "s.odd", 2)["lag"], 7);
    assert_eq!((&row["lag"], &row["lost"]), (&json!(15), &json!(7)), "{row:#}");
    let other = group(&told, "s.even");
    assert_eq!((&other["lag"], &other["states"]["known"]), (&json!(5), &json!(1)), "{other:#}");

    // Kafka removes the commits of a deleted topic in its own time: until then they are told as what they are.
    let gone = row["partitions"].as_array().expect("partitions").iter().find(|row| row["topic"] == "s.deleted");
    if let Some(gone) = gone {
        assert_eq!((&gone["state"], &gone["commit"], &gone["end"]), (&json!("topic gone"), &json!(40), &Value::Null));
    }
}

#[test]
fn rebalances_under_way() {
    let kafka = shared();
    kafka.create_topic("s.moving", 4);
    let (waits, moving) = ("waits for 2 partitions that others still have", "a rebalance is under way");
    for (id, spec, state, idle) in [
        ("s.moving-next", GroupSpec::consumer("s.moving-next"), "Reconciling", waits),
        ("s.moving-classic", GroupSpec::classic("s.moving-classic", "range"), "PreparingRebalance", moving),
    ] {
        let spec = spec.topics(&["s.moving"]);
        let members = kafka.start_group(&spec, 1);
        commit(&members, &[("s.moving", 0, 0), ("s.moving", 1, 0), ("s.moving", 2, 0), ("s.moving", 3, 0)]);
        // It keeps its session, and gives up nothing for now.
        members[0].stall(Duration::from_secs(300));
        let _second = kafka.join(&spec, 1);
        wait_until(&format!("{id} to be {state}"), DEADLINE, || {
            let group = kafka.describe(id);
            if group.state == state && group.members.len() == 2 { Ok(()) } else { Err(format!("{group:?}")) }
        });
        let bootstrap = kafka.bootstrap();
        let row = kafka.compare_with(&bootstrap, id, &["--coordinator-log", "off"]);
        assert_eq!((&row["state"], &row["last_generation"]), (&json!(state), &json!(false)));
        assert_eq!(idle_reasons(&row).first(), Some(&idle), "{row:#}");
        if row["type"] == "consumer" {
            let row = kafka.compare_with(&bootstrap, id, &[]);
            assert_eq!(member(&row, "s.moving-next-0")["reconciling"], true, "{row:#}");
        } else {
            // The log has the members of the last generation; who joins is in no record yet.
            let row = group(&snapshot(&bootstrap, &["-g", id]), id).clone();
            assert_eq!((&row["state"], &row["last_generation"]), (&json!(state), &json!(true)), "{row:#}");
            let held = member(&row, "s.moving-classic-0")["partitions"].as_array().map(Vec::len);
            assert_eq!((row["members"].as_array().map(Vec::len), held), (Some(1), Some(4)), "{row:#}");
        }
    }
}

#[test]
fn share_streams_and_connect_groups_beside_others() {
    let kafka = shared();
    kafka.create_topic("s.kinds", 4);
    let _share = kafka.start_group(&GroupSpec::share("s.k-share").topics(&["s.kinds"]), 2);
    let _streams = kafka.start_group(&GroupSpec::streams("s.k-streams").topics(&["s.kinds"]), 1);
    let _connect = kafka.start_group(&GroupSpec::other("s.k-connect", "connect"), 2);
    let _registry = kafka.start_group(&GroupSpec::other("s.k-registry", "sr"), 1);
    kafka.commit_standalone("s.k-plain", &[("s.kinds", 0, 0)]);

    let told = snapshot(&kafka.bootstrap(), &["-g", "s.k-*"]);
    assert_eq!(told["complete"], true, "{told:#}");
    let log = kafka.call("topics", json!({"topics": ["__consumer_offsets"]}));
    let partitions = log[0]["partitions"].as_array().map(Vec::len);
    assert_eq!((&told["log"]["partitions"], &told["log"]["caught_up"]), (&json!(partitions), &json!(partitions)));
    assert_eq!((&told["log"]["whole"], &told["log"]["skipped"]), (&json!(true), &json!(0)), "{:#}", told["log"]);
    assert!(told["log"]["held"].is_array() && told["log"]["damaged"] == 0, "{:#}", told["log"]);
    assert!(told["log"]["read"].as_u64() > told["log"]["dropped"].as_u64(), "{:#}", told["log"]);
    assert_documented(&told);
    for (id, kind) in [("s.k-share", "share"), ("s.k-streams", "streams"), ("s.k-connect", "connect")] {
        let truth = kafka.describe(id);
        let row = group(&told, id);
        assert_eq!((&row["type"], row["state"].as_str()), (&json!(kind), Some(truth.state.as_str())));
        assert_eq!(row["members"].as_array().map(Vec::len), Some(truth.members.len()));
        assert!(kind != "streams" || row["states"]["unknown"] == 0, "{row:#}");
    }

    let told = snapshot(&kafka.bootstrap(), &["-g", "s.k-*", "--coordinator-log", "off"]);
    assert_eq!((&told["complete"], &told["log"]), (&json!(true), &Value::Null), "{told:#}");
    for id in ["s.k-share", "s.k-streams"] {
        let row = group(&told, id);
        assert_eq!((&row["type"], &row["plan"], &row["lag"]), (&json!("share or streams"), &Value::Null, &Value::Null));
        assert_ne!(row["state"], "Dead");
    }
    let row = group(&told, "s.k-connect");
    let truth = kafka.describe("s.k-connect");
    assert_eq!((&row["type"], row["state"].as_str()), (&json!("connect"), Some(truth.state.as_str())));
    assert_eq!(row["members"].as_array().map(Vec::len), Some(2));
    for told in row["members"].as_array().expect("members") {
        let truth = truth.member(told["client_id"].as_str().expect("a client id"));
        assert_eq!((told["member"].as_str(), told["host"].as_str()), (Some(&*truth.id), Some(&*truth.host)));
        assert_eq!((&told["partitions"], &told["idle"]), (&Value::Null, &Value::Null), "nothing is decoded");
    }
    assert_eq!((&row["plan"], &row["current"], &row["idle_members"]), (&Value::Null, &Value::Null, &json!(0)));
    assert_eq!(group(&told, "s.k-registry")["type"], "sr");
    let row = group(&told, "s.k-plain");
    assert_eq!((&row["type"], &row["lag"]), (&json!("classic"), &json!(0)));
}

/// One task, and a copy of it: of three members one does it, one keeps the copy, one has nothing.
#[test]
fn streams_members_without_an_active_task_say_why() {
    let kafka = shared();
    kafka.create_topic("s.standby", 1);
    kafka.alter_config("GROUP", "s.standby", "streams.num.standby.replicas", "1");
    let spec = GroupSpec::streams("s.standby").topics(&["s.standby"]).stateful();
    let _members = kafka.start_group(&spec, 3);
    let (row, truth) = wait_until("each member to have its tasks, and the report to say so", DEADLINE, || {
        let truth = kafka.describe("s.standby");
        let counts = |kind| truth.members.iter().flat_map(|member| &member.tasks).map(|tasks| tasks[kind].len()).sum();
        let counts: [usize; 2] = [counts("active"), counts("standby")];
        let row = group(&snapshot(&kafka.bootstrap(), &["-g", "s.standby"]), "s.standby").clone();
        if counts == [1, 1] && row["state"] == "Stable" { Ok((row, truth)) } else { Err(format!("{truth:?} {row:#}")) }
    });
    for told in row["members"].as_array().expect("members") {
        let tasks = truth.member(told["client_id"].as_str().expect("a client id")).tasks.as_ref().expect("tasks");
        let expected = match (tasks["active"].len(), tasks["standby"].len()) {
            (1, 0) => Value::Null,
            (0, 1) => json!("standby tasks only"),
            _ => json!("3 members > 1 task"),
        };
        assert_eq!(told["idle"], expected, "{row:#}");
    }
    assert_eq!((&row["idle_members"], idle_reasons(&row).len()), (&json!(2), 2), "{row:#}");
    assert_eq!((&row["current"]["idle"], &row["plan"]), (&json!(2), &Value::Null), "{row:#}");
    assert_eq!(row["current"]["partitions_over_mean"], 3.0, "{row:#}");
}

#[test]
fn a_client_id_with_escape_sequences() {
    let kafka = shared();
    kafka.create_topic("s.escape", 1);
    let id = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}y";
    let spec = GroupSpec::classic("s.escape", "range").topics(&["s.escape"]).client_id(id);
    let _members = kafka.start_group(&spec, 1);
    let bootstrap = kafka.bootstrap();
    let json = run(&mut command(&["snapshot", "-b", &bootstrap, "-g", "s.escape", "--format", "json"]));
    assert_eq!(member(group(&json.json(), "s.escape"), id)["client_id"], id);
    let table = run(&mut command(&["snapshot", "-b", &bootstrap, "-g", "s.escape", "--format", "table"]));
    assert_eq!(table.code, Some(0), "{table:?}");
    for ran in [&json, &table] {
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.out.contains(raw) && !ran.err.contains(raw), "{ran:?}");
    }
    assert!(table.out.contains("s.escape"), "{table:?}");
}

#[test]
fn globs_select_groups_and_topics() {
    let kafka = shared();
    for topic in ["s.g-a", "s.g-b"] {
        kafka.create_topic(topic, 1);
        kafka.produce(topic, 0, 10);
    }
    for id in ["s.glob-1", "s.glob-2", "s.glob-no", "s.glob[x]"] {
        kafka.commit_standalone(id, &[("s.g-a", 0, 1), ("s.g-b", 0, 2)]);
    }
    let bootstrap = kafka.bootstrap();
    let names = |args: &[&str]| {
        let told = snapshot(&bootstrap, args);
        let groups = told["groups"].as_array().expect("groups").iter();
        (groups.map(|row| row["group"].as_str().expect("a name").to_owned()).collect::<Vec<_>>(), told)
    };
    assert_eq!(names(&["-g", "s.glob-*", "--exclude-group", "*-no"]).0, ["s.glob-1", "s.glob-2"]);
    assert_eq!(
        names(&["--group", "s.glob-?", "--group", "s.glob[x]", "--exclude-group", "*-1"]).0,
        ["s.glob-2", "s.glob[x]"]
    );
    let (_, told) = names(&["-g", "s.glob-1", "--topic", "*-b"]);
    let row = group(&told, "s.glob-1");
    assert_eq!(row["lag"], 8, "only what is asked for counts: {row:#}");
    assert_eq!(row["partitions"].as_array().map(Vec::len), Some(1), "{row:#}");

    let spec = GroupSpec::consumer("s.glob-members").topics(&["s.g-a", "s.g-b"]);
    let _members = kafka.start_group(&spec, 2);
    let (_, told) = names(&["-g", "s.glob-members", "--topic", "*-b"]);
    let row = group(&told, "s.glob-members");
    assert_eq!((&row["idle_members"], &row["states"]["no_commit"]), (&json!(0), &json!(1)), "{row:#}");
    let elsewhere = row["members"].as_array().expect("members").iter().filter(|member| member["elsewhere"] == 1);
    assert_eq!(elsewhere.count(), 1, "who holds only what was not asked for is not idle: {row:#}");
}

/// The plan must be what the assignor makes of the same facts, and never give a partition to somebody who does not
/// subscribe to its topic.
#[test]
fn the_plan_is_the_assignors_and_respects_subscriptions() {
    let kafka = shared();
    for topic in ["s.p-a", "s.p-b"] {
        kafka.create_topic(topic, 4);
        (0..4).for_each(|p| _ = kafka.produce(topic, p, [100, 3, 70, 50][p as usize]));
    }
    let both = GroupSpec::classic("s.plan", "range").topics(&["s.p-a", "s.p-b"]);
    let one = GroupSpec::classic("s.plan", "range").topics(&["s.p-a"]);
    let members = [kafka.join(&both, 0), kafka.join(&both, 1), kafka.join(&one, 2)];
    kafka.wait_stable(&both, 3);
    let zero: Vec<_> = ["s.p-a", "s.p-b"].into_iter().flat_map(|topic| (0..4).map(move |p| (topic, p, 0))).collect();
    commit(&members, &zero);
    let row = kafka.compare(&kafka.bootstrap(), "s.plan");

    let rows = |value: &Value| value.as_array().expect("rows").clone();
    let ids: Vec<String> = rows(&row["members"]).iter().map(|m| m["member"].as_str().expect("an id").into()).collect();
    let place = |id: &Value| ids.iter().position(|known| id == known.as_str());
    let subscribed = |m: &Value| rows(&m["subscription"]).iter().map(|t| u32::from(t == "s.p-b")).collect();
    let input = GroupInput {
        members: (rows(&row["members"]).iter())
            .map(|m| MemberInput {
                id: m["member"].as_str().expect("an id").into(),
                topics: subscribed(m),
                ..MemberInput::default()
            })
            .collect(),
        topics: ["s.p-a", "s.p-b"]
            .map(|name| TopicInput {
                name: name.into(),
                partitions: Some(4),
                lags: (0..4).map(|p| partition(&row, name, p)["lag"].as_u64().expect("a lag")).collect(),
                ..TopicInput::default()
            })
            .into(),
        ..GroupInput::default()
    };
    let plan = Assignor::LagBalanced.assign(&input).expect("an assignment");
    let mut moves = 0;
    for row in rows(&row["partitions"]) {
        let topic = u32::from(row["topic"] == "s.p-b");
        let number = u32::try_from(row["partition"].as_u64().expect("a number")).expect("fits");
        let tp = TopicPartition { topic, partition: number };
        let owner = plan.members.iter().position(|owned| owned.contains(&tp));
        assert_eq!(place(&row["planned_owner"]), owner, "{row:#}");
        moves += usize::from(row["owner"] != row["planned_owner"]);
        assert!(topic == 0 || owner.is_some_and(|owner| input.members[owner].topics.contains(&1)), "{row:#}");
    }
    assert_eq!(row["plan"]["moves"], moves);
    let largest = rows(&row["plan"]["members"]).iter().filter_map(|m| m["lag"].as_u64()).max();
    assert_eq!(row["plan"]["largest_lag"].as_u64(), largest, "{row:#}");
    assert_eq!(member(&row, "s.plan-2")["subscription"], json!(["s.p-a"]));
}

/// A group at work on a backlog, which also committed at a topic that it does not subscribe to.
fn at_work(id: &str) -> Vec<Member> {
    let kafka = shared();
    let left = format!("{id}.left");
    for topic in [id, &left] {
        kafka.create_topic(topic, 2);
        kafka.produce(topic, 0, 3000);
    }
    let spec = GroupSpec::classic(id, "range").topics(&[id]).commit_after_poll();
    let members = kafka.start_group(&spec.slowly(20, Duration::from_millis(400)), 2);
    members[0].commit_offsets(&[(&left, 0, 1000)]);
    members
}

#[test]
fn observed_for_a_while_as_a_configuration_file_says() {
    let kafka = shared();
    let _members = at_work("s.watched");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lagtop.toml");
    let text = format!(
        "bootstrap-server = \"{}\"\ngroups = [\"s.watched\"]\ninterval = \"1s\"\n\n\
         [properties]\nclient.id = \"watcher\"\n\n\
         [thresholds]\nabandoned-after = \"1h\"\n\n\
         [[thresholds.group]]\nmatch = \"s.w*\"\nabandoned-after = \"5s\"\n",
        kafka.bootstrap()
    );
    std::fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let args = ["snapshot", "--config", &file, "--format", "json", "--timeout", "30s"];

    let once = run(&mut command(&args)).json();
    let row = group(&once, "s.watched");
    assert_eq!((&once["complete"], once["groups"].as_array().map(Vec::len)), (&json!(true), Some(1)), "{once:#}");
    assert_eq!(row["rates"]["consumed"], Value::Null, "{row:#}");
    assert_eq!(partition(row, "s.watched.left", 0)["state"], "known", "{row:#}");

    let ran = run(command(&args).args(["--observe", "15s"]));
    assert!(ran.code == Some(0) && ran.took >= Duration::from_secs(15), "{ran:?}");
    let told = ran.json();
    let row = group(&told, "s.watched");
    assert_eq!(told["complete"], true, "{told:#}");
    for rate in ["written", "consumed"] {
        assert!(row["rates"][rate]["window_ms"].as_u64().is_some_and(|window| window >= 10_000), "{row:#}");
    }
    assert!(row["rates"]["consumed"]["per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{row:#}");
    assert_eq!(partition(row, "s.watched.left", 0)["state"], "abandoned", "the group's own threshold: {row:#}");
    let signs = |topic| partition(row, topic, 0)["signs"].clone();
    assert_eq!(
        (&signs("s.watched")["subscribed"], &signs("s.watched.left")["subscribed"]),
        (&json!(true), &json!(false))
    );
    assert_eq!((&signs("s.watched")["arrives"], &signs("s.watched.left")["two_steps"]), (&json!(false), &Value::Null));
    assert!(signs("s.watched")["two_steps"].as_u64().is_some_and(|records| records >= 40), "20 a poll: {row:#}");
    let lags: Vec<_> = row["lag_history"].as_array().expect("lags").iter().filter_map(Value::as_u64).collect();
    let last = lags.last().copied();
    assert!(lags.len() > 1 && last >= row["lag"].as_u64() && last < Some(5000), "nothing is written: {row:#}");
}

#[test]
fn an_observation_that_is_interrupted_is_reported() {
    let kafka = shared();
    kafka.create_topic("s.interrupted", 1);
    kafka.commit_standalone("s.interrupted", &[("s.interrupted", 0, 0)]);
    let folder = tempfile::tempdir().expect("a folder");
    let (log, out) = (folder.path().join("log"), folder.path().join("out"));
    let mut watching = command(&["snapshot", "-b", &kafka.bootstrap(), "-g", "s.interrupted", "--format", "json"]);
    watching.args(["--timeout", "30s", "--observe", "1h", "--log-file"]).arg(&log);
    let mut running = Running::start(watching.stdout(std::fs::File::create(&out).expect("a file")));
    wait_until("all to be seen", DEADLINE, || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        if log.contains("all was seen") { Ok(()) } else { Err(log) }
    });
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("a signal");
    let status = wait_until("the report", DEADLINE, || running.try_wait().expect("its status").ok_or("still running"));
    let told: Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    assert_eq!((status.code(), &told["complete"]), (Some(0), &json!(true)), "{told:#}");
    assert_eq!(group(&told, "s.interrupted")["lag"], 0);
}

/// The keys of all objects in it, those of maps left out, whose keys are names and numbers.
fn keys(value: &Value, out: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if !matches!(key.as_str(), "racks" | "pending_revocation" | "active" | "standby" | "warmup") {
                    keys(value, out);
                }
                out.insert(key.clone());
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, out)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    assert_documented(&run(&mut command(&["snapshot", "--demo", "--observe", "12s", "--format", "json"])).json());
}

#[track_caller]
fn assert_documented(told: &Value) {
    let mut fields = std::collections::BTreeSet::new();
    keys(told, &mut fields);
    let documented = include_str!("../docs/snapshot-json.md");
    let word = |c: char| !c.is_alphanumeric() && c != '_';
    let words: std::collections::BTreeSet<&str> = documented.split(word).collect();
    let missing: Vec<&String> = fields.iter().filter(|field| !words.contains(field.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/snapshot-json.md: {missing:?}");
}
