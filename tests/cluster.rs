//! The test cluster itself: what the other tests rely on.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use support::{Cluster, ClusterSpec, DEADLINE, GroupSpec, shared, wait_until};

#[test]
fn classic_group() {
    let kafka = shared();
    kafka.create_topic("classic", 6);
    let spec = GroupSpec::classic("classic", "range").topics(&["classic"]).client_id("client  no {}");
    let members = kafka.start_group(&spec, 2);
    assert_eq!(kafka.produce("classic", 4, 10), 9);
    members[1].commit_offsets(&[("classic", 4, 7)]);

    let group = kafka.describe("classic");
    assert_eq!((group.kind.as_str(), group.protocol_type.as_str()), ("Classic", "consumer"));
    assert_eq!(group.assignor.as_deref(), Some("range"));
    let member = group.member("client  no 1");
    assert_eq!(member.assignment, members[1].info().assignment);

    let printed = kafka.consumer_groups(&["--describe", "--group", "classic", "--members", "--verbose"]);
    let row = printed.rows.iter().find(|row| row.text("CLIENT-ID") == "client  no 1").expect("a member's row");
    assert_eq!(row.text("CONSUMER-ID"), member.id);
    assert_eq!(row.partitions("CURRENT-ASSIGNMENT"), member.assignment);

    let printed = kafka.consumer_groups(&["--describe", "--group", "classic", "--offsets"]);
    let row = printed.rows.iter().find(|row| row.number("PARTITION") == Some(4)).expect("a partition's row");
    assert_eq!(
        (row.number("CURRENT-OFFSET"), row.number("LOG-END-OFFSET"), row.number("LAG")),
        (Some(7), Some(10), Some(3))
    );

    let mut members = members.into_iter();
    members.next().expect("two members").close();
    kafka.wait_stable(&spec, 1);
    // Without a word: the session has to time out.
    members.next().expect("two members").abandon();
    kafka.wait_stable(&spec, 0);
    let printed = kafka.consumer_groups(&["--describe", "--group", "classic", "--state"]);
    assert_eq!((printed.rows[0].text("STATE"), printed.rows[0].number("#MEMBERS")), ("Empty", Some(0)));
}

#[test]
fn consumer_group() {
    let kafka = shared();
    kafka.create_topic("next", 6);
    let spec = GroupSpec::consumer("next").topics(&["next"]).rack("r{}").instance("static-{}");
    let _members = kafka.start_group(&spec, 8);
    let group = kafka.describe("next");
    assert_eq!((group.kind.as_str(), group.assignor.as_deref()), ("Consumer", Some("uniform")));
    assert_eq!(group.members.iter().filter(|member| member.assignment.is_empty()).count(), 2);
    let member = group.member("next-3");
    assert_eq!((member.rack.as_deref(), member.instance.as_deref()), (Some("r3"), Some("static-3")));
    let printed = kafka.consumer_groups(&["--describe", "--group", "next", "--state", "--verbose"]);
    assert_eq!(printed.rows[0].number("GROUP-EPOCH"), group.epoch.map(i64::from));
    let printed = kafka.consumer_groups(&["--list", "--state", "--type"]);
    let row = printed.rows.iter().find(|row| row.text("GROUP") == "next").expect("the group's row");
    assert_eq!((row.text("TYPE"), row.text("STATE")), ("Consumer", "Stable"));
}

#[test]
fn slow_poll_static_restart_and_pattern() {
    let kafka = shared();
    kafka.create_topic("slow.a", 2);
    let spec = GroupSpec::classic("slow", "cooperative-sticky")
        .topics(&["slow.a"])
        .max_poll_interval(Duration::from_secs(2))
        .client_id("x\u{1b}[31m{}");
    let members = kafka.start_group(&spec, 2);
    kafka.describe("slow").member("x\u{1b}[31m0");
    members[0].stall(Duration::from_secs(5));
    kafka.wait_stable(&spec, 1);
    kafka.wait_stable(&spec, 2);

    let spec = GroupSpec::classic("static", "range").pattern("slow\\..*").instance("s{}");
    let mut members = kafka.start_group(&spec, 2);
    let before = kafka.describe("static");
    members.remove(0).close();
    let _back = kafka.join(&spec, 0);
    wait_until("the static member to be back", DEADLINE, || {
        let now = kafka.wait_stable(&spec, 2);
        let (old, new) = (before.member("static-0"), now.member("static-0"));
        if new.id != old.id && new.assignment == old.assignment { Ok(()) } else { Err(format!("{now:?}")) }
    });

    let spec = GroupSpec::consumer("pattern").pattern("slow\\.[a-z]");
    let _members = kafka.start_group(&spec, 1);
    kafka.create_topic("slow.b", 3);
    wait_until("the new topic to be owned", DEADLINE, || match kafka.describe("pattern").owned().len() {
        5 => Ok(()),
        other => Err(other),
    });
}

#[test]
fn share_group() {
    let kafka = shared();
    kafka.create_topic("share", 3);
    kafka.alter_config("GROUP", "share", "share.auto.offset.reset", "earliest");
    kafka.produce("share", 0, 20);
    let spec = GroupSpec::share("share").topics(&["share"]).commit_after_poll();
    let members = kafka.start_group(&spec, 2);
    wait_until("records to be shared", DEADLINE, || {
        let polled: Vec<_> = members.iter().map(|member| member.info().polled).collect();
        if polled.iter().sum::<u64>() == 20 { Ok(()) } else { Err(format!("{polled:?}")) }
    });
    let row = wait_until("the records to be acknowledged", DEADLINE, || {
        let printed = kafka.share_groups(&["--describe", "--group", "share", "--offsets"]);
        let row = printed.rows.into_iter().find(|row| row.number("PARTITION") == Some(0)).ok_or(printed.out)?;
        if row.number("LAG") == Some(0) { Ok(row) } else { Err(format!("{row:?}")) }
    });
    let commit = kafka.commits("share", "Share").into_iter().find(|c| c.partition == 0).expect("a start offset");
    assert_eq!(Some(commit.offset), row.number("START-OFFSET"));
    let printed = kafka.share_groups(&["--describe", "--group", "share", "--members", "--verbose"]);
    assert_eq!(printed.rows.len(), 2);
}

#[test]
fn streams_group() {
    let kafka = shared();
    kafka.create_topic("streams", 4);
    let spec = GroupSpec::streams("streams").topics(&["streams"]).stateful();
    let _members = kafka.start_group(&spec, 2);
    let group = kafka.describe("streams");
    assert_eq!((group.kind.as_str(), group.topology_epoch), ("Streams", Some(0)));
    let tasks: Vec<_> = group.members.iter().flat_map(|m| &m.tasks).map(|tasks| tasks["active"].len()).collect();
    assert_eq!(tasks, [2, 2]);
    let printed = kafka.streams_groups(&["--describe", "--group", "streams", "--members", "--verbose"]);
    assert_eq!(printed.rows.len(), 2);
    assert!(printed.rows[0].text("ASSIGNMENTS").starts_with("ACTIVE: 0:["), "{}", printed.out);
}

#[test]
fn group_of_another_protocol_type() {
    let kafka = shared();
    let spec = GroupSpec::other("workers", "connect");
    let mut members = kafka.start_group(&spec, 2);
    let group = kafka.describe("workers");
    assert_eq!((group.kind.as_str(), group.protocol_type.as_str()), ("Classic", "connect"));
    assert_eq!(group.member("workers-1").host, "/127.0.0.1");
    members.remove(0).close();
    kafka.wait_stable(&spec, 1);
}

#[test]
fn commits_anywhere_and_the_coordinator_log() {
    let kafka = shared();
    kafka.create_topic("commits", 3);
    for partition in 0..3 {
        kafka.produce("commits", partition, 10);
    }
    kafka.delete_records(&[("commits", 1, 5)]);
    kafka.commit_standalone("commits", &[("commits", 0, 4)]);
    kafka.alter_offsets("commits", &[("commits", 1, 2), ("commits", 2, 1010)]);
    let mut commits: Vec<_> =
        kafka.commits("commits", "Classic").into_iter().map(|c| (c.partition, c.offset, c.start, c.end)).collect();
    commits.sort_unstable();
    let end = Some(10);
    assert_eq!(commits, [(0, 4, Some(0), end), (1, 2, Some(5), end), (2, 1010, Some(0), end)]);
    assert_eq!(kafka.describe("commits").simple, Some(true));

    kafka.delete_group("commits");
    let segments: Vec<_> = (0..4).flat_map(|p| kafka.segments(1, "__consumer_offsets", p)).collect();
    let records = kafka.dump_log("--offsets-decoder", &segments);
    let ours: Vec<_> = records.iter().filter(|r| r.key["data"]["group"] == "commits" && r.key["type"] == "1").collect();
    let offsets: Vec<_> = ours.iter().filter_map(|r| r.value.as_ref()?["data"]["offset"].as_i64()).collect();
    assert!(offsets.contains(&1010) && offsets.len() == 3, "{ours:?}");
    assert_eq!(ours.iter().filter(|r| r.value.is_none()).count(), 3, "a tombstone each: {ours:?}");
}

#[test]
fn open_transaction() {
    let kafka = shared();
    kafka.create_topic("transaction", 1);
    let transaction = kafka.begin("transaction");
    transaction.produce("transaction", 0, 5);
    transaction.send_offsets("transaction", &[("transaction", 0, 5)]);
    assert_eq!(kafka.ends("transaction", 0), (0, 5));
    assert_eq!(kafka.last_stable_offset("transaction", 0), 0);
    transaction.commit();
    wait_until("the transaction to end", DEADLINE, || match kafka.last_stable_offset("transaction", 0) {
        6 => Ok(()),
        other => Err(other),
    });
    kafka.begin("transaction").abort();
}

#[test]
fn three_brokers_killed_stopped_moved() {
    let kafka = Cluster::start(&ClusterSpec::three());
    kafka.create_topic_with("t", serde_json::json!({"replicas": [[1, 2], [2, 3], [3, 1]]}));
    let spec = GroupSpec::consumer("g").topics(&["t"]);
    let process = kafka.process();
    let crashing = process.join(&spec, 0);
    let staying = kafka.join(&spec, 1);
    kafka.wait_stable(&spec, 2);
    process.kill();
    kafka.wait_stable(&spec, 1);
    drop(crashing);

    kafka.kill_broker(3);
    kafka.wait_brokers(2);
    kafka.start_broker(3, &[("broker.rack", "d")]);
    let cluster = kafka.call("cluster", serde_json::json!({}));
    let racks: Vec<_> = cluster["brokers"].as_array().expect("brokers").iter().map(|b| b["rack"].as_str()).collect();
    assert!(racks.contains(&Some("d")) && !racks.contains(&Some("c")), "{racks:?}");
    kafka.reassign("t", 0, &[3, 1]);
    kafka.elect_leaders(&[("t", 0)]);
    kafka.stop_broker(2);
    kafka.wait_brokers(2);
    assert_eq!(staying.info().failure, None);
}

#[test]
fn secured() {
    let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", "plain-secret")]).tls().acls());
    kafka.create_topic("t", 2);
    kafka.add_scram_user("SCRAM-SHA-512", "sam", "scram-secret");
    let login = |mechanism: &str, module: &str, user: &str, password: &str| {
        let module = format!("org.apache.kafka.common.security.{module}LoginModule");
        GroupSpec::consumer(user)
            .topics(&["t"])
            .config("bootstrap.servers", &kafka.bootstrap_of("SASL"))
            .config("security.protocol", "SASL_PLAINTEXT")
            .config("sasl.mechanism", mechanism)
            .config("sasl.jaas.config", &format!("{module} required username=\"{user}\" password=\"{password}\";"))
    };
    let failure = |spec: &GroupSpec| {
        let member = kafka.join(spec, 0);
        wait_until("the member to fail", DEADLINE, || member.info().failure.ok_or("no failure"))
    };
    let ann = login("PLAIN", "plain.Plain", "ann", "plain-secret");
    let sam = login("SCRAM-SHA-512", "scram.Scram", "sam", "scram-secret");
    let wrong = failure(&login("PLAIN", "plain.Plain", "ann", "wrong"));
    assert!(wrong.contains("SaslAuthenticationException"), "{wrong}");
    let denied = failure(&ann);
    assert!(denied.contains("AuthorizationException"), "{denied}");
    for user in ["ann", "sam"] {
        kafka.allow(&format!("User:{user}"), "GROUP", user, "READ");
        kafka.allow(&format!("User:{user}"), "TOPIC", "t", "READ");
    }
    // Rights spread in their own time: until then a member fails, and a new one is needed.
    for spec in [&ann, &sam] {
        let _member = wait_until("an allowed member", DEADLINE, || {
            let member = kafka.join(spec, 0);
            wait_until("a member in or out", DEADLINE, || {
                let info = member.info();
                if info.failure.is_some() || !info.assignment.is_empty() { Ok(()) } else { Err("neither") }
            });
            match member.info().failure {
                None => Ok(member),
                Some(failure) => Err(failure),
            }
        });
    }

    let ssl = GroupSpec::consumer("ssl")
        .topics(&["t"])
        .config("bootstrap.servers", &kafka.bootstrap_of("SSL"))
        .config("security.protocol", "SSL")
        .config("ssl.truststore.type", "PEM")
        .config("ssl.truststore.location", &kafka.certificate().display().to_string());
    // Past the handshake, TLS without a client certificate is ANONYMOUS, which may do everything here.
    kafka.start_group(&ssl, 1);
}

/// Not a test of its own: what `nothing_outlives_a_test` runs in processes of their own.
#[test]
fn child() {
    let Ok(how) = std::env::var("LAGTOP_HARNESS_CHILD") else { return };
    let kafka = Cluster::start(&ClusterSpec::one());
    let process = kafka.process();
    println!("\npids {} {} {} {}", kafka.broker_pid(1), kafka.pid(), process.pid(), kafka.dir().display());
    assert!(how != "panic", "as ordered");
    if how == "exit" {
        std::process::exit(0);
    }
    // A process that stands still does not see its standard input end.
    kafka.pause_broker(1);
    process.pause();
    println!("ready");
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn nothing_outlives_a_test() {
    for how in ["panic", "exit", "kill"] {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "child", "--nocapture"])
            .env("LAGTOP_HARNESS_CHILD", how)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test again");
        let mut said: Option<String> = None;
        for line in BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok) {
            if line == "ready" {
                child.kill().expect("SIGKILL");
            } else if let Some(rest) = line.strip_prefix("pids ") {
                said = Some(rest.to_owned());
            }
        }
        child.wait().expect("its end");
        let said = said.expect("the child's line");
        let (dir, pids) =
            said.split(' ').collect::<Vec<_>>().split_last().map(|(d, p)| (*d, p.to_vec())).expect("words");
        wait_until(&format!("everything to be gone after {how}"), DEADLINE, || {
            let left: Vec<_> = pids
                .iter()
                .map(|pid| format!("/proc/{pid}"))
                .chain([dir.to_owned()])
                .filter(|p| Path::new(p).exists())
                .collect();
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        });
    }
}

#[test]
fn tables_are_read() {
    let text = "\nGROUP  COORDINATOR (ID)   STATE  #MEMBERS\ng      h:1  (1)          Stable 2\n\n\
        GROUP CLIENT-ID   #PARTITIONS CURRENT-ASSIGNMENT \ng     my  client  2           t:2,0;u:1          \n";
    let rows = support::rows(text);
    assert_eq!((rows[0].text("COORDINATOR"), rows[0].number("#MEMBERS")), ("h:1  (1)", Some(2)));
    assert_eq!((rows[1].text("CLIENT-ID"), rows[1].number("#PARTITIONS")), ("my  client", Some(2)));
    let partitions = [("t", 0), ("t", 2), ("u", 1)].map(|(topic, partition)| (topic.to_owned(), partition));
    assert_eq!(rows[1].partitions("CURRENT-ASSIGNMENT"), partitions);
}
