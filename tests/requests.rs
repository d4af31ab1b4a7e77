//! What `lagtop` asks of a broker, read by a proxy in between: nothing that writes or joins, and how much.

#![allow(clippy::expect_used)]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Write},
    process::Stdio,
};

use lagtop::frame::{Decoder, Order, Settings};
use lagtop::monitor::{Monitor, Preferences, view::View};
use support::{
    Cluster, ClusterSpec, DEADLINE, GroupSpec, Proxy, Requests, Running, group, lagtop as command, snapshot, wait_until,
};

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

/// A collector that polls when it is told to.
struct Collector {
    process: Running,
    decoder: Decoder,
    monitor: Monitor,
}

impl Collector {
    fn start(address: &str, groups: &str) -> Self {
        let mut process = command(&["collect", "--orders"]);
        let process = Running::start(process.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut this = Self { process, decoder: Decoder::default(), monitor: Monitor::new(Preferences::default()) };
        let properties = BTreeMap::from([("bootstrap.servers".to_owned(), address.to_owned())]);
        this.order(&Order::Settings(Settings { properties, groups: vec![groups.into()], ..Settings::default() }));
        this.until(|view| view.progress.all_seen);
        this
    }

    fn order(&mut self, order: &Order) {
        let stdin = self.process.stdin.as_mut().expect("piped");
        writeln!(stdin, "{}", serde_json::to_string(order).expect("JSON")).expect("the collector's input");
    }

    fn until(&mut self, wanted: impl Fn(&View) -> bool) {
        let mut buffer = [0; 4096];
        while !wanted(&self.monitor.view()) {
            if let Some(frame) = self.decoder.next_frame().expect("a frame of ours") {
                self.monitor.fold(frame);
                continue;
            }
            let length = self.process.stdout.as_mut().expect("piped").read(&mut buffer).expect("its output");
            assert!(length > 0, "the collector has ended: {:?}", self.monitor.view());
            self.decoder.push(&buffer[..length]);
        }
    }

    fn poll(&mut self) {
        let polls = self.monitor.view().progress.polls;
        self.order(&Order::PollNow);
        self.until(|view| view.progress.polls > polls && view.progress.all_seen);
    }
}

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

    let told = snapshot(&plain.address(), &[]);
    assert_eq!(told["groups"].as_array().map(Vec::len), Some(7), "{told:#}");
    let login = ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=ann"];
    let told = snapshot(&sasl.address(), &[&login[..], &["-X", "sasl.password=secret"]].concat());
    assert_eq!(group(&told, "alone")["lag"], 7);
    let mut collector = Collector::start(&plain.address(), "*");
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
    for expected in [2, 3, 9, 10, 15, 16, 17, 36, 69] {
        assert!(used.contains_key(&expected), "the proxy has not seen {expected}: {used:?}");
    }
}

/// Those whose number depends on what is polled.
const COUNTED: [i16; 6] = [2, 9, 10, 15, 16, 69];

/// The requests of one poll, after the first has settled.
fn one_poll(proxy: &Proxy, groups: &str, count: usize) -> Requests {
    let mut collector = Collector::start(&proxy.address(), groups);
    assert_eq!(collector.monitor.view().groups.len(), count, "{groups}");
    // What is asked once, such as the members' subscriptions, is asked by then.
    collector.poll();
    let before = proxy.requests();
    collector.poll();
    let after = proxy.requests();
    let of = |requests: &Requests, key| requests.get(&key).copied().unwrap_or(0);
    COUNTED.into_iter().map(|key| (key, of(&after, key) - of(&before, key))).collect()
}

#[test]
fn the_requests_of_a_poll() {
    let proxy = Proxy::bind();
    let kafka = Cluster::start(&ClusterSpec::one().listener("PROXIED", "PLAINTEXT").advertise("PROXIED", proxy.port()));
    proxy.forward(kafka.address_of(1, "PROXIED"));
    kafka.create_topic("t", 6);
    let offsets: Vec<_> = (0..6).map(|partition| ("t", partition, 0)).collect();
    for id in 0..50 {
        kafka.commit_standalone(&format!("classic-{id:02}"), &offsets);
    }
    let spec = |id: usize| GroupSpec::consumer(&format!("consumer-{id:02}")).topics(&["t"]);
    let members: Vec<_> = (0..10).map(|id| kafka.join(&spec(id), 0)).collect();
    for id in 0..10 {
        kafka.wait_stable(&spec(id), 1);
    }
    wait_until("every group to be listed", DEADLINE, || match kafka.groups().len() {
        60 => Ok(()),
        other => Err(other),
    });

    let head: Vec<_> = COUNTED.iter().map(|key| format!("{} ({key})", BTreeMap::from(ALLOWED)[key])).collect();
    println!("| groups | {} | all |\n|{}", head.join(" | "), " --- |".repeat(COUNTED.len() + 2));
    let cases = [("classic", 1, "classic-00"), ("classic", 10, "classic-0?"), ("classic", 50, "classic-*")];
    for (kind, count, glob) in [&cases[..], &[("KIP-848", 1, "consumer-00"), ("KIP-848", 10, "consumer-*")]].concat() {
        let requests = one_poll(&proxy, glob, count);
        let cells: Vec<_> = COUNTED.iter().map(|key| requests[key].to_string()).collect();
        println!("| {count} {kind} | {} | {} |", cells.join(" | "), requests.values().sum::<usize>());
        // docs/requests.md: what a poll costs at most.
        let classic = if kind == "classic" { count } else { 0 };
        let most = [(2, 2), (9, count), (10, 2 * count + classic), (15, classic), (16, 1), (69, count)];
        for (key, most) in most {
            assert!(requests[&key] <= most, "{count} {kind} groups: {} requests {key}, not {most}", requests[&key]);
        }
    }
    drop(members);
}
