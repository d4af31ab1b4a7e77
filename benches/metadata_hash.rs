//! What the topic hash costs, and what KIP-1101's strategies cost side by side.
//!
//! `cargo bench --bench metadata_hash` measures the hash with criterion;
//! `cargo bench --bench metadata_hash -- --table` prints the tables of docs/metadata-hash.md, `-- --watch` what the watch
//! of the dashboard holds and takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use criterion::Criterion;
use lagtop::metadata::{TopicHashes, TopicInput, group_hash, topic_hash};
use lagtop::model::{
    At, Broker, Cluster, Description, Evidence, Group, GroupKind, Member, Name, Partition, Presence, Snapshot,
    TopicPartitions,
};
use lagtop::monitor::metadata::{Look, Watch};
use uuid::Uuid;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, case, strategy, ..] = &args[..]
        && flag == "--memory"
    {
        return write!(std::io::stdout(), "{}", memory_here(case, strategy));
    }
    if args.iter().any(|arg| arg == "--watch") {
        return write!(std::io::stdout(), "{}", watch());
    }
    if args.iter().any(|arg| arg == "--table") {
        return write!(std::io::stdout(), "{}", tables()?);
    }
    let mut criterion = Criterion::default().configure_from_args();
    let topic = Topic::new(0, 2_000);
    let input = topic.input();
    let mut group = criterion.benchmark_group("2,000 partitions, 3 racks");
    group.bench_function("topic hash of a prepared input", |b| b.iter(|| topic_hash(black_box(&input))));
    group.bench_function("topic hash from rack lists", |b| b.iter(|| topic_hash(&black_box(&topic).input())));
    let mut hashes = TopicHashes::new();
    hashes.put(topic.input());
    group.bench_function("look again, unchanged, from rack lists", |b| {
        b.iter(|| hashes.put(black_box(&topic).input()));
    });
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// A topic as a cluster has it: the rack of each replica of each partition.
#[derive(Clone, PartialEq)]
struct Topic {
    id: Uuid,
    name: Name,
    partitions: Vec<[Name; 3]>,
}

impl Topic {
    fn new(number: u128, partitions: usize) -> Self {
        let racks = ["eu-west-1a", "eu-west-1b", "eu-west-1c"].map(Name::new);
        // The replica order rotates, as Kafka places them.
        let partition = |p: usize| [0, 1, 2].map(|r| racks[(p + r) % 3].clone());
        Self {
            id: Uuid::from_u128(number << 64 | 1),
            name: Name::new(format!("orders-{number:03}")),
            partitions: (0..partitions).map(partition).collect(),
        }
    }

    fn input(&self) -> TopicInput {
        let racks = self.partitions.iter().map(|racks| racks.iter().map(|rack| Some(rack.raw())));
        TopicInput::new(self.id, self.name.clone(), racks)
    }
}

/// `groups` groups that subscribe to all of `topics`.
struct Case {
    name: &'static str,
    groups: usize,
    topics: usize,
    partitions: usize,
}

const CASES: [Case; 2] = [
    Case { name: "1 group of 500 members, 1 topic of 2,000 partitions", groups: 1, topics: 1, partitions: 2_000 },
    Case { name: "50 groups, the same 20 topics of 100 partitions", groups: 50, topics: 20, partitions: 100 },
];

/// What a coordinator (or a watch) keeps to notice that the metadata of a group changed.
enum Kept {
    /// Before KIP-1101: each group keeps the full metadata of its topics.
    Full(Vec<BTreeMap<Name, Topic>>),
    /// Each group keeps the hash of each of its topics; a cache shares the hashing.
    TopicHashes(TopicHashes, Vec<BTreeMap<Name, i64>>),
    /// Each group keeps one hash and computes it alone.
    GroupHash(Vec<i64>),
    /// Kafka 4.1 and this program: the cache and one hash for each group.
    Both(TopicHashes, Vec<i64>),
}

const STRATEGIES: [&str; 4] = [
    "full metadata per group",
    "per-topic hashes with a cache",
    "one hash per group, no cache",
    "cache and one hash per group (Kafka 4.1+, lagtop)",
];

impl Kept {
    fn nothing(strategy: &str, groups: usize) -> Self {
        match STRATEGIES.iter().position(|s| *s == strategy) {
            Some(0) => Self::Full(vec![BTreeMap::new(); groups]),
            Some(1) => Self::TopicHashes(TopicHashes::new(), vec![BTreeMap::new(); groups]),
            Some(2) => Self::GroupHash(vec![0; groups]),
            _ => Self::Both(TopicHashes::new(), vec![0; groups]),
        }
    }

    /// Looks at the cluster and returns how many groups have to rebalance.
    fn refresh(&mut self, topics: &[Topic]) -> usize {
        fn replace<T: PartialEq>(kept: &mut T, now: T) -> bool {
            let changed = *kept != now;
            if changed {
                *kept = now;
            }
            changed
        }
        fn fill(cache: &mut TopicHashes, topics: &[Topic]) {
            for topic in topics {
                cache.put(topic.input());
            }
        }
        let names = || topics.iter().map(|topic| &topic.name);
        match self {
            Self::Full(groups) => {
                let now = || topics.iter().map(|topic| (topic.name.clone(), topic.clone())).collect();
                groups.iter_mut().map(|kept| usize::from(replace(kept, now()))).sum()
            }
            Self::TopicHashes(cache, groups) => {
                fill(cache, topics);
                let now = || names().filter_map(|name| Some((name.clone(), cache.get(name)?))).collect();
                groups.iter_mut().map(|kept| usize::from(replace(kept, now()))).sum()
            }
            Self::GroupHash(groups) => {
                let now = || group_hash(topics.iter().map(|topic| (&topic.name, topic_hash(&topic.input()))));
                groups.iter_mut().map(|kept| usize::from(replace(kept, now()))).sum()
            }
            Self::Both(cache, groups) => {
                fill(cache, topics);
                groups.iter_mut().map(|kept| usize::from(replace(kept, cache.group_hash(names())))).sum()
            }
        }
    }

    /// Bytes of the values that one epoch of every group puts into `__consumer_offsets`, beyond the epoch itself.
    fn disk(&self) -> usize {
        let string = |name: &Name| 1 + name.raw().len();
        match self {
            // ConsumerGroupPartitionMetadataValue, version 0: version, array, topics, tags.
            Self::Full(groups) => {
                let racks = |racks: &[Name; 3]| 4 + 1 + racks.iter().map(string).sum::<usize>() + 1;
                let topic = |t: &Topic| {
                    16 + string(&t.name)
                        + 4
                        + array(t.partitions.len())
                        + t.partitions.iter().map(racks).sum::<usize>()
                        + 1
                };
                groups
                    .iter()
                    .map(|topics| 2 + array(topics.len()) + topics.values().map(topic).sum::<usize>() + 1)
                    .sum()
            }
            // No such record exists; a name and an int64 for each topic.
            Self::TopicHashes(_, groups) => {
                let topic = |name: &Name| string(name) + 8 + 1;
                groups.iter().map(|topics| 2 + array(topics.len()) + topics.keys().map(topic).sum::<usize>() + 1).sum()
            }
            // Tag 0 of ConsumerGroupMetadataValue: tag, size, int64.
            Self::GroupHash(groups) | Self::Both(_, groups) => groups.len() * 10,
        }
    }
}

/// The size of an array's compact length.
fn array(count: usize) -> usize {
    if count + 1 < 0x80 { 1 } else { 2 }
}

fn tables() -> std::io::Result<String> {
    let mut text = String::new();
    let topic = Topic::new(0, 2_000);
    let input = topic.input();
    let rows: [(&str, Duration); 3] = [
        ("topic hash of a prepared input", median(|| _ = black_box(topic_hash(&input)))),
        ("topic hash from rack lists", median(|| _ = black_box(topic_hash(&topic.input())))),
        ("input held by the watch (bytes)", Duration::ZERO),
    ];
    let _ = writeln!(text, "### One topic, 2,000 partitions x 3 racks\n\n| what | cost |\n| --- | --- |");
    for (what, time) in &rows[..2] {
        let _ = writeln!(text, "| {what} | {} |", micros(*time));
    }
    let _ = writeln!(text, "| {} | {} |", rows[2].0, input.heap_size());
    for case in &CASES {
        let topics: Vec<Topic> = (0..case.topics).map(|n| Topic::new(n as u128, case.partitions)).collect();
        let mut grown = topics.clone();
        let extra = grown[0].partitions[0].clone();
        grown[0].partitions.push(extra);
        let _ = writeln!(
            text,
            "\n### {}\n\n| strategy | first look | nothing changed | one partition added | memory | disk per epoch |\n\
             | --- | --- | --- | --- | --- | --- |",
            case.name
        );
        for strategy in STRATEGIES {
            let first = median(|| _ = black_box(Kept::nothing(strategy, case.groups).refresh(&topics)));
            let mut kept = Kept::nothing(strategy, case.groups);
            kept.refresh(&topics);
            let same = median(|| assert_eq!(kept.refresh(&topics), 0));
            let mut other = false;
            let change = median(|| {
                other = !other;
                assert_eq!(kept.refresh(if other { &grown } else { &topics }), case.groups);
            });
            let output = std::process::Command::new(std::env::current_exe()?)
                .args(["--memory", case.name, strategy])
                .output()?;
            let memory = String::from_utf8_lossy(&output.stdout);
            let mut now = Kept::nothing(strategy, case.groups);
            now.refresh(&topics);
            let _ = writeln!(
                text,
                "| {strategy} | {} | {} | {} | {memory} | {} |",
                micros(first),
                micros(same),
                micros(change),
                bytes(now.disk())
            );
        }
    }
    Ok(text)
}

/// In a process of its own: growth of the resident set by many copies of what a strategy keeps.
fn memory_here(case: &str, strategy: &str) -> String {
    let Some(case) = CASES.iter().find(|c| c.name == case) else { return "?".into() };
    let topics: Vec<Topic> = (0..case.topics).map(|n| Topic::new(n as u128, case.partitions)).collect();
    let copies = if strategy == STRATEGIES[0] { 16 } else { 2_000 };
    let mut all = Vec::with_capacity(copies);
    // The first leaves freed memory behind that the others use.
    Kept::nothing(strategy, case.groups).refresh(&topics);
    let before = resident();
    for _ in 0..copies {
        let mut kept = Kept::nothing(strategy, case.groups);
        kept.refresh(&topics);
        all.push(kept);
    }
    let grown = resident().saturating_sub(before);
    black_box(all);
    bytes(grown / copies)
}

/// A KIP-848 group of 500 members with racks on one topic of 2,000 partitions, as the log tells of it.
fn facts() -> Snapshot {
    let orders = Name::new("orders");
    let broker = |id: i32| (id, Broker { rack: Some(Name::new(format!("eu-west-1{id}"))), ..Broker::default() });
    let partition = |number: i32| {
        let replicas: Vec<i32> = (0..3).map(|replica| (number + replica) % 3 + 1).collect();
        Partition { leader: replicas.first().copied(), isr: replicas.clone(), replicas }
    };
    let topic = lagtop::model::Topic {
        presence: Presence::Present,
        id: Some(Uuid::from_u128(7)),
        partitions: (0..2_000).map(partition).collect(),
        ..lagtop::model::Topic::default()
    };
    let member = |number: i32| Member {
        id: Name::new(format!("consumer-{number:03}-0123456789abcdef")),
        rack: Some(Name::new(format!("eu-west-1{}", number % 3 + 1))),
        subscription: Some(vec![orders.clone()]),
        assignment: Some(TopicPartitions::from([(orders.clone(), (4 * number..4 * number + 4).collect())])),
        ..Member::default()
    };
    let description = Description {
        evidence: Evidence::Log,
        epoch: Some(1),
        stored_hash: Some(1),
        members: (0..500).map(member).collect(),
        ..Description::default()
    };
    let group = Group {
        kind: GroupKind::Consumer,
        description: Some(description),
        described_at: Some(At(0)),
        ..Group::default()
    };
    Snapshot {
        cluster: Some(Cluster { brokers: (1..=3).map(broker).collect(), ..Cluster::default() }),
        topics: BTreeMap::from([(orders, topic)]),
        groups: BTreeMap::from([(Name::new("g"), group)]),
        ..Snapshot::default()
    }
}

/// What the dashboard's watch holds and how long a look takes: 500 members, 2,000 partitions, 3 racks.
fn watch() -> String {
    let mut facts = facts();
    let mut probe = Watch::default();
    let named = facts.groups.keys().cloned().collect();
    probe.look(&facts, Look { at: At(0), wall: None, topics: None, groups: &named });
    let computed = probe.of(&Name::new("g")).and_then(|metadata| metadata.computed);
    if let Some(description) = facts.groups.values_mut().find_map(|group| group.description.as_mut()) {
        description.stored_hash = computed;
    }
    let (groups, nothing) = (facts.groups.keys().cloned().collect(), BTreeSet::new());
    let all = Look { at: At(0), wall: None, topics: None, groups: &groups };
    let quiet = Look { topics: Some(&nothing), groups: &nothing, ..all };
    let looked = |facts: &Snapshot| {
        let mut watch = Watch::default();
        watch.look(facts, all);
        watch
    };
    // The first leaves freed memory behind that the others use.
    drop(looked(&facts));
    let before = resident();
    let copies: Vec<Watch> = (0..50).map(|_| looked(&facts)).collect();
    let memory = resident().saturating_sub(before) / copies.len();
    let first = median(|| _ = black_box(looked(&facts)));
    let mut watch = looked(&facts);
    let full = median(|| _ = black_box(watch.look(&facts, all)));
    let partial = median(|| _ = black_box(watch.look(&facts, quiet)));
    let mut more = false;
    let change = median(|| {
        more = !more;
        if let Some(topic) = facts.topics.values_mut().next() {
            let extra = topic.partitions[0].clone();
            topic.partitions.truncate(2_000);
            topic.partitions.extend(more.then_some(extra));
        }
        black_box(watch.look(&facts, all));
    });
    format!(
        "| memory | first look | full snapshot, nothing changed | partial snapshot without news | one partition added |\n\
         | --- | --- | --- | --- | --- |\n| {} | {} | {} | {} | {} |\n",
        bytes(memory),
        micros(first),
        micros(full),
        micros(partial),
        micros(change),
    )
}

/// Bytes of memory that this process has resident (Linux).
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Median of enough runs to fill half a second.
fn median(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 20 || start.elapsed() < Duration::from_millis(500) {
        let begin = Instant::now();
        run();
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

fn bytes(n: usize) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..10_000_000 => format!("{:.1} KB", n as f64 / 1e3),
        _ => format!("{:.1} MB", n as f64 / 1e6),
    }
}
