//! A group on its way from the classic protocol to KIP-848 and back, while its members go on
//! (`group.consumer.migration.policy=bidirectional`, the default).
#![allow(clippy::expect_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::{DEADLINE, Frames, GroupSpec, group, rebalances, shared, snapshot, wait_until};

#[test]
fn a_classic_group_becomes_a_kip_848_group_and_goes_back() {
    let kafka = shared();
    let id = "mixed";
    kafka.create_topic(id, 6);
    let old = GroupSpec::classic(id, "range").topics(&[id]);
    let new = GroupSpec::consumer(id).topics(&[id]);
    let frames = Frames::collect(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "require"]);
    // Members (each with its protocol), epochs, assignments and targets are those of the Java admin client.
    let agree = |what: &str, kind: &str| {
        let theirs = wait_until(&format!("the group to be told as it is {what}"), DEADLINE, || {
            let ours = frames.told().by_log(id)?.clone();
            kafka.agrees(id, &ours)
        });
        assert_eq!(theirs.kind, kind);
        let row = wait_until("the row", DEADLINE, || {
            let row = group(&snapshot(&kafka.bootstrap(), &["-g", id]), id).clone();
            let fits = row["evidence"] == "log" && row["type"] == kind.to_lowercase();
            if fits && row["rebalances"]["ongoing"].is_null() { Ok(row) } else { Err(format!("{row:#}")) }
        });
        let printed = kafka.consumer_groups(&["--describe", "--group", id, "--members", "--verbose"]);
        let members = row["members"].as_array().expect("members");
        assert_eq!(members.len(), printed.rows.len(), "{row:#}\n{}", printed.out);
        for printed in &printed.rows {
            let same = |member: &&Value| member["member"] == printed.text("CONSUMER-ID");
            let ours = members.iter().find(same).expect("the same member");
            let held = ours["partitions"].as_array().map(Vec::len).and_then(|held| i64::try_from(held).ok());
            assert_eq!(held, printed.number("#PARTITIONS"), "{ours:#}");
            if let Some(upgraded) = printed.0.get("UPGRADED") {
                assert_eq!(ours["log"]["classic_protocol"], json!(upgraded == "false"), "{ours:#}");
            }
        }
        row
    };
    let changes = |row: &Value| {
        let events = row["events"].as_array().expect("events").iter().rev();
        let changes = events.filter(|event| event["event"] == "type_changed");
        changes.filter_map(|event| event["text"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let upgrade = "group changed from classic to consumer";

    let _members = kafka.start_group(&old, 2);
    let row = agree("at first", "Classic");
    assert_eq!((&row["state"], changes(&row)), (&json!("Stable"), Vec::new()));

    let upgraded = kafka.join(&new, 2);
    kafka.wait_stable(&new, 3);
    let row = agree("with members of both kinds", "Consumer");
    assert_eq!((&row["state"], changes(&row)), (&json!("Stable"), vec![upgrade.to_owned()]));
    let classic = |row: &Value| {
        let members = row["members"].as_array().expect("members").iter();
        members.filter(|member| member["log"]["classic_protocol"] == true).count()
    };
    assert_eq!(classic(&row), 2, "{row:#}");

    upgraded.close();
    kafka.wait_stable(&old, 2);
    let row = agree("when the last KIP-848 member has left", "Classic");
    let both = vec![upgrade.to_owned(), "group changed from consumer to classic".to_owned()];
    assert_eq!((&row["state"], changes(&row)), (&json!("Stable"), both));

    let truth = rebalances(&kafka.group_records(1, id));
    let told = &row["rebalances"];
    let list = told["newest"].as_array().expect("rebalances");
    let epochs: Vec<_> = list.iter().rev().map(|each| (each["from"].as_i64(), each["to"].as_i64())).collect();
    assert_eq!(epochs, truth.iter().map(|(from, to)| (Some(*from), Some(*to))).collect::<Vec<_>>(), "{told:#}");
    assert_eq!((&told["total"], &told["total_lower_bound"]), (&json!(truth.len()), &json!(false)));
    let newest = &list[0];
    assert_eq!((&newest["causes"][0]["cause"], &newest["gone"]["count"]), (&json!("gone"), &json!(1)), "{newest:#}");
    assert_eq!((&newest["gone"]["list"][0]["client_id"], &newest["moves"]["moved"]), (&json!("mixed-2"), &json!(2)));
    wait_until("who watched it to tell the same", DEADLINE, || {
        let view = frames.view();
        let live = view.group(&id.into()).ok_or("no group")?.rebalances.total;
        if live == truth.len() { Ok(()) } else { Err(live.to_string()) }
    });
}
