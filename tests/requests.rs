//! What `lagtop` asks of a broker, read by a proxy in between: nothing that writes or joins, and how much.

#![allow(clippy::expect_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use lagtop::frame::Settings;
use lagtop::frame::order::LogMode;
use lagtop::model::Evidence;
use support::{Cluster, ClusterSpec, Collector, DEADLINE, GroupSpec, Proxy, Requests, group, snapshot, wait_until};

/// Requests that read: all that may ever be sent. None of them joins a group, commits, produces or changes anything.
const ALLOWED: [(i16, &str); 14] = [
    (1, "Fetch"),
    (2, "ListOffsets"),
    (3, "Metadata"),
    (9, "OffsetFetch"),
    (10, "FindCoordinator"),
    (15, "DescribeGroups"),
    (16, "ListGroups"),
    (17, "SaslHandshake"),
    (18, "ApiVersions"),
    (32, "DescribeConfigs"),
    (36, "SaslAuthenticate"),
    (60, "DescribeCluster"),
    (69, "ConsumerGroupDescribe"),
    (75, "DescribeTopicPartitions"),
];

#[test]
fn only_requests_that_read() {
    let (plain, sasl) = (Proxy::bind(), Proxy::bind());
    let spec = ClusterSpec::one().sasl(&[("ann", "secret")]).listener("PROXIED", "PLAINTEXT");
    let spec = spec.advertise("PROXIED", plain.port()).advertise("SASL", sasl.port());
    let kafka = Cluster::start(&spec);
    plain.forward(kafka.address_of(1, "PROXIED"));
    sasl.forward(kafka.address_of(1, "SASL"));

    kafka.create_topic("t", 4);
    (0..4).for_each(|partition| _ = kafka.produce("t", partition, 10));
    let mut members = Vec::new();
    for spec in [GroupSpec::classic("classic", "cooperative-sticky"), GroupSpec::consumer("consumer")] {
        members.extend(kafka.start_group(&spec.topics(&["t"]), 2));
    }
    for spec in [GroupSpec::share("share"), GroupSpec::streams("streams")] {
        members.extend(kafka.start_group(&spec.topics(&["t"]), 1));
    }
    members.extend(kafka.start_group(&GroupSpec::other("connect", "connect"), 1));
    kafka.commit_standalone("alone", &[("t", 0, 3)]);
    kafka.alter_offsets("odd", &[("t", 1, 1000), ("t", 2, 4), ("t", 3, 1)]);
    kafka.delete_records(&[("t", 3, 5)]);

    let told = snapshot(&plain.address(), &["--probe-time"]);
    assert_eq!(told["groups"].as_array().map(Vec::len), Some(7), "{told:#}");
    let login = ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=ann"];
    let told = snapshot(&sasl.address(), &[&login[..], &["-X", "sasl.password=secret"]].concat());
    assert_eq!(group(&told, "alone")["lag"], 7);
    let mut collector = Collector::with_orders(&plain.address(), Settings::default());
    for round in 5..9 {
        // Things change in between.
        kafka.create_partitions("t", round);
        members.pop();
        collector.poll();
    }
    drop(collector);

    let mut used = plain.requests();
    for (key, count) in sasl.requests() {
        *used.entry(key).or_default() += count;
    }
    let known: BTreeMap<i16, &str> = ALLOWED.into();
    for (key, count) in &used {
        let name = known.get(key);
        println!("{key:3} {count:4} {}", name.unwrap_or(&"NOT ALLOWED"));
    }
    let strangers: BTreeSet<_> = used.keys().filter(|key| !known.contains_key(key)).collect();
    assert!(strangers.is_empty(), "these requests are not in the list: {strangers:?}");
    for expected in [1, 2, 3, 9, 10, 15, 16, 17, 32, 36, 69] {
        assert!(used.contains_key(&expected), "the proxy has not seen {expected}: {used:?}");
    }
}

/// Those whose number depends on what is polled.
const COUNTED: [i16; 6] = [2, 9, 10, 15, 16, 69];

/// The requests of one poll, after the first ones have settled: each says what the one before did.
fn one_poll(proxy: &Proxy, groups: &str, count: usize, log: LogMode) -> Requests {
    let settings = Settings { groups: vec![groups.into()], log, ..Settings::default() };
    let mut collector = Collector::with_orders(&proxy.address(), settings);
    let of = |requests: &Requests, key| requests.get(&key).copied().unwrap_or(0);
    let mut last = Requests::new();
    // What is asked once, such as the members' subscriptions, is asked by then, and the log is caught up.
    wait_until("two polls to ask the same", DEADLINE, || {
        let before = proxy.requests();
        let view = collector.poll();
        let after = proxy.requests();
        let asked: Requests = COUNTED.into_iter().map(|key| (key, of(&after, key) - of(&before, key))).collect();
        let by_log = view.groups.iter().filter(|group| group.evidence == Evidence::Log).count();
        let settled = view.groups.len() == count && (log == LogMode::Off || by_log == count);
        if settled && asked == last {
            return Ok(asked);
        }
        last = asked;
        Err(format!("{last:?}, {by_log} of {count} groups by the log"))
    })
}

#[test]
fn the_requests_of_a_poll() {
    let proxy = Proxy::bind();
    let kafka = Cluster::start(&ClusterSpec::one().listener("PROXIED", "PLAINTEXT").advertise("PROXIED", proxy.port()));
    proxy.forward(kafka.address_of(1, "PROXIED"));
    kafka.create_topic("t", 6);
    let offsets: Vec<_> = (0..6).map(|partition| ("t", partition, 0)).collect();
    for id in 0..100 {
        kafka.commit_standalone(&format!("classic-{id:02}"), &offsets);
    }
    let spec = |id: usize| GroupSpec::consumer(&format!("consumer-{id:02}")).topics(&["t"]);
    let members: Vec<_> = (0..10).map(|id| kafka.join(&spec(id), 0)).collect();
    for id in 0..10 {
        kafka.wait_stable(&spec(id), 1);
    }
    wait_until("every group to be listed", DEADLINE, || match kafka.groups().len() {
        110 => Ok(()),
        other => Err(other),
    });

    let head: Vec<_> = COUNTED.iter().map(|key| format!("{} ({key})", BTreeMap::from(ALLOWED)[key])).collect();
    println!("| groups | {} | all |\n|{}", head.join(" | "), " --- |".repeat(COUNTED.len() + 2));
    let cases = [("classic", 1, "classic-00"), ("classic", 10, "classic-0?"), ("classic", 100, "classic-*")];
    let cases = [&cases[..], &[("KIP-848", 1, "consumer-00"), ("KIP-848", 10, "consumer-*")]].concat();
    let mut by_log = BTreeSet::new();
    for log in [LogMode::Off, LogMode::Require] {
        for (kind, count, glob) in cases.clone() {
            let requests = one_poll(&proxy, glob, count, log);
            let cells: Vec<_> = COUNTED.iter().map(|key| requests[key].to_string()).collect();
            let how = if log == LogMode::Off { "" } else { ", by the log" };
            println!("| {count} {kind}{how} | {} | {} |", cells.join(" | "), requests.values().sum::<usize>());
            // docs/requests.md: what a poll costs at most.
            let asked = if log == LogMode::Off { count } else { 0 };
            let classic = if kind == "classic" { asked } else { 0 };
            let lists = if log == LogMode::Off { 1 } else { 2 };
            let most = [(2, 3), (9, asked), (10, 2 * asked + classic), (15, classic), (16, lists), (69, asked)];
            for (key, most) in most {
                assert!(requests[&key] <= most, "{count} {kind}{how}: {} requests {key}, not {most}", requests[&key]);
            }
            if log == LogMode::Require {
                by_log.insert(requests);
            }
        }
    }
    assert_eq!(by_log.len(), 1, "with the log a poll of 1, 10 and 100 groups asks the same: {by_log:?}");
    drop(members);
}
