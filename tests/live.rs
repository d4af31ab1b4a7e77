//! The live source over time: collectors that die, brokers that go and come, rights that are missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::{collections::BTreeMap, path::PathBuf};

use lagtop::frame::{Frame, Settings};
use lagtop::health::PartitionLag;
use lagtop::model::{At, Name};
use lagtop::monitor::view::{Feed, GroupView, View};
use lagtop::monitor::{Monitor, Preferences};
use lagtop::source::{Input, Source, live};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::{Cluster, ClusterSpec, DEADLINE, GroupSpec, group, partition, shared, snapshot, wait_until};

/// A live source and the view of it.
struct Watch {
    runtime: tokio::runtime::Runtime,
    source: Source,
    monitor: Monitor,
    last: At,
    /// Causes of interruptions.
    interrupted: Vec<String>,
    /// A line with its process id from every collector.
    pids: PathBuf,
}

impl Watch {
    fn start(kafka: &Cluster, groups: &str) -> Self {
        let pids = kafka.dir().join(format!("pids of {}", groups.replace('*', "all")));
        let properties = BTreeMap::from([("bootstrap.servers".to_owned(), kafka.bootstrap())]);
        let command = ["sh", "-c", "echo $$ >> \"$0\"; exec \"$@\"", &pids.display().to_string()];
        let command = command.into_iter().chain([env!("CARGO_BIN_EXE_lagtop"), "collect", "--orders"]);
        let launch = live::Launch {
            command: command.map(str::to_owned).collect(),
            hide: Vec::new(),
            settings: Settings { properties, groups: vec![groups.into()], interval_ms: 500, ..Settings::default() },
        };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let source = runtime.block_on(async { live::start(launch) });
        let monitor = Monitor::new(Preferences::default());
        Self { runtime, source, monitor, last: At(0), interrupted: Vec::new(), pids }
    }

    /// Folds what comes until the view is as wanted.
    #[track_caller]
    fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&View) -> Option<T>) -> T {
        let deadline = std::time::Instant::now() + DEADLINE;
        loop {
            let view = self.monitor.view();
            if let Some(found) = wanted(&view) {
                return found;
            }
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            let source = &mut self.source;
            let input = self.runtime.block_on(async { tokio::time::timeout(left, source.inputs.recv()).await });
            let Ok(Some(input)) = input else { panic!("waited for {what}; last seen: {view:#?}") };
            match input {
                Input::Frame(frame) => {
                    if let Frame::Full(snapshot) | Frame::Partial(snapshot) = &frame {
                        self.ascend(snapshot.at);
                    }
                    self.monitor.fold(frame);
                }
                Input::Interrupted { at, cause } => {
                    self.ascend(at);
                    self.interrupted.push(cause.to_string());
                    self.monitor.interrupted(at, cause);
                }
                Input::Ended { failure } => panic!("the source has ended: {failure:?}"),
            }
        }
    }

    fn ascend(&mut self, at: At) {
        assert!(at >= self.last, "{at:?} after {:?}", self.last);
        self.last = at;
    }

    fn pids(&self) -> Vec<i32> {
        let lines = std::fs::read_to_string(&self.pids).unwrap_or_default();
        lines.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

fn lag(view: &View, id: &str) -> Option<u64> {
    let group = view.group(&Name::new(id))?;
    group.totals.has_known().then_some(group.totals.lag)
}

#[test]
fn a_collector_that_dies_is_replaced_and_nothing_is_forgotten() {
    let kafka = shared();
    kafka.create_topic("l.death", 1);
    kafka.produce("l.death", 0, 10);
    kafka.commit_standalone("l.death", &[("l.death", 0, 4)]);
    let mut watch = Watch::start(kafka, "l.death");
    watch.until("the first lag", |view| (lag(view, "l.death") == Some(6)).then_some(()));
    let mut expected = 6;
    for (round, signal) in [Signal::KILL, Signal::ABORT].into_iter().enumerate() {
        let pid = *watch.pids().last().expect("a collector");
        kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("a signal to the collector");
        let view =
            watch.until("the interruption", |view| matches!(view.feed, Feed::Stale { .. }).then(|| view.clone()));
        assert_eq!(lag(&view, "l.death"), Some(expected), "what was known is kept");
        let said = watch.interrupted.last().expect("a cause");
        assert!(said.contains(&format!("signal {}", signal.as_raw())), "{said}");
        kafka.produce("l.death", 0, 5);
        expected += 5;
        let view = watch.until("new frames", |view| (lag(view, "l.death") == Some(expected)).then(|| view.clone()));
        assert_eq!(view.feed, Feed::Live);
        assert_eq!(watch.pids().len(), round + 2, "one new collector");
    }
    let last = *watch.pids().last().expect("a collector");
    drop(watch);
    wait_until("the last collector to end with its source", DEADLINE, || {
        let state = std::fs::read_to_string(format!("/proc/{last}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") { Ok(()) } else { Err(state) }
    });
}

fn states(group: &GroupView) -> Vec<(i32, &'static str)> {
    group.partitions.iter().map(|partition| (partition.partition, partition.lag.name())).collect()
}

#[test]
fn a_dead_broker_takes_only_its_own_partitions_along() {
    let kafka = Cluster::start(&ClusterSpec::three());
    kafka.create_topic_with("t", json!({"replicas": [[1], [2], [3]]}));
    (0..3).for_each(|partition| _ = kafka.produce("t", partition, 10));
    for id in ["g-1", "g-2", "g-3", "g-4"] {
        kafka.commit_standalone(id, &[("t", 0, 0), ("t", 1, 0), ("t", 2, 0)]);
    }
    let mut watch = Watch::start(&kafka, "g-*");
    watch.until("all lags", |view| {
        let all = ["g-1", "g-2", "g-3", "g-4"].iter().all(|id| lag(view, id) == Some(30));
        all.then_some(())
    });
    kafka.kill_broker(3);
    kafka.produce("t", 0, 5);
    watch.until("only the dead broker's partition to be unknown", |view| {
        // What could not be read has no end, least of all one before a commit.
        let ends = || view.groups.iter().flat_map(|group| &group.partitions).filter_map(|partition| partition.end);
        assert!(ends().all(|end| end >= 10), "{:?}", ends().collect::<Vec<_>>());
        let all = view
            .groups
            .iter()
            .all(|group| states(group) == [(0, "known"), (1, "known"), (2, "no leader")] && group.totals.lag == 25);
        (all && view.groups.len() == 4).then_some(())
    });
    // It goes on: what the others tell stays new.
    for more in [1, 2] {
        kafka.produce("t", 1, 10);
        watch.until("news from the living", |view| {
            view.groups.iter().all(|group| group.totals.lag == 25 + 10 * more).then_some(())
        });
    }
    kafka.start_broker(3, &[]);
    kafka.wait_topic("t");
    kafka.produce("t", 2, 1);
    watch.until("the broker's partition to be known again", |view| {
        let back = view.groups.iter().all(|group| {
            group.partitions.iter().all(|p| matches!(p.lag, PartitionLag::Known(_))) && group.totals.lag == 56
        });
        (back && view.feed == Feed::Live).then_some(())
    });
    watch.until("no problem to be left", |view| view.problems.is_empty().then_some(()));
}

#[test]
fn a_missing_right_takes_only_its_own_facts_along() {
    let kafka = Cluster::start(&ClusterSpec::one().sasl(&[("ann", "secret")]).acls());
    for topic in ["a", "b", "c"] {
        kafka.create_topic(topic, 1);
        kafka.produce(topic, 0, 10);
    }
    let open = GroupSpec::consumer("open").topics(&["a", "b"]);
    let half = GroupSpec::classic("half", "range").topics(&["b", "c"]);
    let _open = kafka.start_group(&open, 2);
    let _half = kafka.start_group(&half, 1);
    kafka.commit_standalone("closed", &[("a", 0, 1)]);
    kafka.commit_standalone("plain", &[("a", 0, 1), ("b", 0, 2)]);
    let rights = [
        ("CLUSTER", "kafka-cluster"),
        ("GROUP", "open"),
        ("GROUP", "half"),
        ("GROUP", "plain"),
        ("TOPIC", "a"),
        ("TOPIC", "b"),
    ];
    for (resource, name) in rights {
        kafka.allow("User:ann", resource, name, "DESCRIBE");
    }
    let login = ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=ann"];
    // What a right would show is not waited for: the time-out is longer than the test waits.
    let login = [&login[..], &["-X", "sasl.password=secret", "--timeout", "10m"]].concat();
    // Rights spread in their own time.
    let told = wait_until("the rights to hold", DEADLINE, || {
        let told = snapshot(&kafka.bootstrap_of("SASL"), &login);
        let known = told["groups"].as_array().is_some_and(|groups| groups.len() == 4);
        if known && group(&told, "plain")["lag"] == 17 { Ok(told) } else { Err(format!("{told:#}")) }
    });
    let row = group(&told, "open");
    assert_eq!((&row["state"], &row["problems"]), (&json!("Stable"), &json!([])));
    assert_eq!(row["members"].as_array().map(Vec::len), Some(2));
    let row = group(&told, "half");
    assert_eq!((&row["state"], &row["assignor"]), (&json!("Stable"), &json!("range")));
    assert_eq!(partition(row, "c", 0)["state"], "unknown");
    assert_eq!(partition(row, "b", 0)["end"], 10);
    let said = |row: &serde_json::Value, right: &str| {
        let problems = row["problems"].as_array().expect("problems");
        assert!(problems.iter().any(|problem| problem["remedy"] == right), "{right} in {row:#}");
    };
    said(row, "needs DESCRIBE on topic c");
    let row = group(&told, "closed");
    said(row, "needs DESCRIBE on group closed");
    assert_eq!((&row["lag"], &row["partitions"]), (&json!(null), &json!([])));
    assert_eq!(told["complete"], false, "{told:#}");
    // To read a record takes more than to describe its topic.
    let probed = snapshot(&kafka.bootstrap_of("SASL"), &[&login[..], &["--probe-time"]].concat());
    let row = group(&probed, "plain");
    for topic in ["a", "b"] {
        said(row, &format!("needs READ on topic {topic}"));
        assert_eq!((&partition(row, topic, 0)["probe"], &partition(row, topic, 0)["end"]), (&json!(null), &json!(10)));
    }
    // What only configurations tell is missed quietly: one line for each cause, against no group.
    let problems = told["problems"].as_array().expect("problems");
    for remedy in ["needs DESCRIBE_CONFIGS on the topics", "needs DESCRIBE_CONFIGS on the cluster"] {
        let of_it: Vec<_> = problems.iter().filter(|problem| problem["remedy"] == remedy).collect();
        assert_eq!(of_it.len(), 1, "{remedy}: {problems:#?}");
        assert_eq!(of_it[0]["scope"], "cluster");
    }
}
