//! `lagtop plan` for real groups: what is printed is what the snapshot says, and a saved plan is the same at a desk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::{GroupSpec, Member, lagtop, run, shared, wait_until};

/// A topic of eight partitions with very different lags, and a group of three that has committed at their beginnings.
fn lagging(spec: &GroupSpec, id: &str) -> Vec<Member> {
    let kafka = shared();
    kafka.create_topic(id, 8);
    for (partition, count) in [400, 10, 300, 20, 250, 5, 90, 1].into_iter().enumerate() {
        kafka.produce(id, partition as i32, count);
    }
    let members = kafka.start_group(&spec.clone().topics(&[id]), 3);
    let owned = wait_until("the members to know their partitions", support::DEADLINE, || {
        let owned: Vec<_> = members.iter().map(|member| member.info().assignment).collect();
        if owned.iter().map(Vec::len).sum::<usize>() == 8 { Ok(owned) } else { Err(format!("{owned:?}")) }
    });
    for (member, owned) in members.iter().zip(owned) {
        let offsets: Vec<_> = owned.iter().map(|(topic, partition)| (topic.as_str(), *partition, 0)).collect();
        member.commit_offsets(&offsets);
    }
    members
}

/// `lagtop plan` of the group, as JSON.
#[track_caller]
fn plan(id: &str, args: &[&str]) -> Value {
    let bootstrap = shared().bootstrap();
    let mut command = lagtop(&["plan", "-b", &bootstrap, "-g", id, "--format", "json", "--observe", "0s"]);
    let ran = run(command.args(["--timeout", "30s"]).args(args));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()
}

fn rows(value: &Value) -> &Vec<Value> {
    value.as_array().expect("rows")
}

/// What holds of every plan: only subscribers own, each partition once, and the figures agree with one another.
#[track_caller]
fn sound(report: &Value) {
    let input = &report["input"];
    let subscribed: BTreeMap<&str, &Value> = rows(&input["members"])
        .iter()
        .map(|member| (member["member"].as_str().expect("an id"), &member["subscription"]))
        .collect();
    let mut owner: BTreeMap<(String, u64), String> = BTreeMap::new();
    for member in rows(&input["members"]) {
        for (topic, owned) in member["owned"].as_object().expect("owned") {
            for partition in rows(owned) {
                let key = (topic.clone(), partition.as_u64().expect("a number"));
                let id = member["member"].as_str().expect("an id").to_owned();
                assert_eq!(owner.insert(key, id), None, "owned twice now");
            }
        }
    }
    let mut handed_over = 0;
    for moved in rows(&report["moves"]) {
        let (topic, to) = (moved["topic"].as_str().expect("a topic"), moved["to"].as_str().expect("an id"));
        let allowed = subscribed.get(to).is_none_or(|topics| rows(topics).iter().any(|known| known == topic));
        assert!(allowed, "{to} does not subscribe to {topic}");
        let key = (topic.to_owned(), moved["partition"].as_u64().expect("a number"));
        let from = owner.insert(key, to.to_owned());
        assert_eq!(moved["from"].as_str(), from.as_deref());
        handed_over += u64::from(from.is_some());
    }
    assert_eq!(report["plan"]["moves"], handed_over);
    let lag = |topic: &str, partition: u64| {
        let row = rows(&input["topics"]).iter().find(|row| row["topic"] == topic).expect("the topic");
        row["lag"][partition as usize].as_u64().unwrap_or(0)
    };
    for member in rows(&report["plan"]["members"]) {
        let held = owner.iter().filter(|(_, owner)| member["member"] == owner.as_str());
        let lags: Vec<u64> = held.map(|((topic, partition), _)| lag(topic, *partition)).collect();
        assert_eq!((&member["partitions"], &member["lag"]), (&json!(lags.len()), &json!(lags.iter().sum::<u64>())));
    }
    let largest = rows(&report["plan"]["members"]).iter().filter_map(|member| member["lag"].as_u64()).max();
    assert_eq!(report["plan"]["largest_lag"].as_u64(), largest);
}

/// The saved plan, answered at a desk: the whole report, or its input alone.
#[track_caller]
fn replayed(report: &Value, args: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("report.json", report.to_string()), ("input.json", report["input"].to_string())] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let file = file.display().to_string();
        let ran = run(lagtop(&["plan", "--input", &file, "--format", "json"]).args(args));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json(), *report, "{name}");
    }
}

#[test]
fn a_classic_group() {
    let _members = lagging(&GroupSpec::classic("p.classic", "range"), "p.classic");
    let report = plan("p.classic", &[]);
    sound(&report);
    replayed(&report, &[]);
    assert_eq!((&report["type"], &report["current"]["assignor"]), (&json!("classic"), &json!("range")));
    // Range: 400 + 10 + 300, 20 + 250 + 5, 90 + 1.
    assert_eq!((&report["current"]["largest_lag"], &report["plan"]["assignor"]), (&json!(710), &json!("lag-balanced")));
    let (largest, bound) = (&report["plan"]["largest_lag"], &report["plan"]["lower_bound"]);
    assert_eq!((bound.as_u64(), report["plan"]["fit"].as_str()), (Some(400), Some("own_class")), "{report:#}");
    assert!(largest.as_u64() <= Some(420), "{report:#}");
    // What fewer moves give is what they then give.
    let frontier = rows(&report["plan"]["frontier"]);
    assert!(frontier.len() > 1, "{report:#}");
    for point in frontier {
        let most = point["moves"].to_string();
        let held = plan("p.classic", &["--max-moves", &most]);
        sound(&held);
        assert!(held["plan"]["moves"].as_u64() <= point["moves"].as_u64(), "{held:#}");
        assert!(
            held["plan"]["largest_lag"].as_f64() <= point["largest_lag"].as_f64().map(|lag| lag * 1.01),
            "{held:#}"
        );
        replayed(&held, &["--max-moves", &most]);
    }
    // The setting that comes nearest is one of this protocol.
    assert_eq!(report["way"]["property"], "partition.assignment.strategy");
    assert!(report["way"]["largest_lag"].as_u64() < Some(710), "{report:#}");
}

#[test]
fn a_kip_848_group_with_other_members() {
    let _members = lagging(&GroupSpec::consumer("p.next").remote_assignor("range"), "p.next");
    let fewer = plan("p.next", &["--members", "-1", "--assignor", "uniform"]);
    sound(&fewer);
    replayed(&fewer, &["--members=-1", "--assignor", "uniform"]);
    let presence = |report: &Value, what: &str| {
        rows(&report["plan"]["members"]).iter().filter(|member| member["presence"] == what).count()
    };
    assert_eq!((presence(&fewer, "stays"), presence(&fewer, "leaves")), (2, 1));
    assert_eq!(
        (&fewer["way"]["property"], &fewer["way"]["value"]),
        (&json!("group.remote.assignor"), &json!("uniform"))
    );
    assert_eq!((&fewer["way"]["exact"], &fewer["plan"]["hash_order"]), (&json!(true), &json!(true)));
    let more = plan("p.next", &["--members", "+2", "--partitions", "p.next=12"]);
    sound(&more);
    replayed(&more, &["--members", "+2", "--partitions", "p.next=12"]);
    assert_eq!((presence(&more, "new"), &more["plan"]["fit"]), (2, &json!("not_this_protocol")));
    let partitions: u64 = rows(&more["plan"]["members"]).iter().filter_map(|m| m["partitions"].as_u64()).sum();
    assert_eq!(partitions, 12);
    let one = more["input"]["members"][0]["member"].as_str().expect("an id");
    let without = plan("p.next", &["--without", one]);
    sound(&without);
    assert_eq!(presence(&without, "leaves"), 1);
}

#[test]
fn what_cannot_be_planned_is_said() {
    let bootstrap = shared().bootstrap();
    let said = |args: &[&str], code: i32, words: &str| {
        let ran = run(lagtop(&["plan"]).args(args));
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{ran:?}");
        assert!(ran.err.contains(words), "{words} in {}", ran.err);
    };
    said(&["-b", &bootstrap, "-g", "p.no-such", "--timeout", "30s"], 1, "there is no group p.no-such");
    // An id is no pattern.
    said(&["-b", &bootstrap, "-g", "p.*", "--timeout", "30s"], 1, "there is no group p.*");
    said(&["-b", &bootstrap], 2, "--group");
    said(&["--input", "/no/such/file"], 2, "/no/such/file");
    said(&["--demo", "-g", "billing", "--members", "2"], 2, "+2");
    said(&["--demo", "-g", "billing", "--assignor", "best"], 2, "lag-balanced");
    said(&["--demo", "-g", "billing", "--observe", "0s", "--without", "nobody"], 2, "its members are pay-1-");
    said(
        &["--demo", "-g", "billing", "--observe", "0s", "--max-moves", "1", "--assignor", "sticky"],
        2,
        "lag-balanced",
    );
    said(&["--demo", "-g", "reports", "--observe", "0s"], 1, "no members");
}

#[test]
fn people_get_a_table_or_markdown() {
    let args = ["plan", "--demo", "-g", "checkout", "--observe", "0s"];
    let table = run(&mut lagtop(&args));
    for words in ["checkout  classic  range now", "SIMULATED", "Moves: ", "How to get there", "largest member lag"] {
        assert!(table.out.contains(words), "{words} in {}", table.out);
    }
    let markdown = run(lagtop(&args).args(["--format", "markdown"]));
    assert!(markdown.out.starts_with("## checkout") && markdown.out.contains("| MEMBER"), "{}", markdown.out);
}
