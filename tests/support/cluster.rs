//! A cluster of real brokers, and the tool that talks to it.

use std::{
    collections::BTreeMap,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use lagtop::kafka::records::partition_of;
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    broker::{self, Broker, Properties},
    jars,
    ports::Ports,
    security,
    tool::{Tool, lock},
    wait::wait_until,
};

/// Partitions of `__consumer_offsets`, unless a spec says otherwise.
pub const OFFSETS_PARTITIONS: u32 = 4;

/// What a cluster is to be like.
#[derive(Clone)]
pub struct ClusterSpec {
    racks: Vec<Option<String>>,
    properties: Properties,
    listeners: Vec<(String, String)>,
    advertised: BTreeMap<String, u16>,
    offsets_partitions: u32,
    offsets_topic: bool,
    pub(super) certificate_names: String,
}

impl ClusterSpec {
    /// One broker without a rack.
    pub fn one() -> Self {
        Self {
            racks: vec![None],
            properties: Properties::new(),
            listeners: vec![("PLAINTEXT".to_owned(), "PLAINTEXT".to_owned())],
            advertised: BTreeMap::new(),
            offsets_partitions: OFFSETS_PARTITIONS,
            offsets_topic: true,
            certificate_names: "ip:127.0.0.1,dns:localhost".to_owned(),
        }
    }

    /// Brokers 1, 2, 3 in racks a, b, c.
    pub fn three() -> Self {
        let racks = ["a", "b", "c"].map(|rack| Some(rack.to_owned())).to_vec();
        Self { racks, ..Self::one() }
    }

    /// A property of every broker, over the quick defaults.
    #[must_use]
    pub fn property(mut self, key: &str, value: &str) -> Self {
        self.properties.insert(key.to_owned(), value.to_owned());
        self
    }

    /// One more listener with its own port, such as `("MINE", "SASL_SSL")`; at most three. The listener
    /// PLAINTEXT stays: the brokers and the tool use it as `User:ANONYMOUS`.
    #[must_use]
    pub fn listener(mut self, name: &str, protocol: &str) -> Self {
        self.listeners.push((name.to_owned(), protocol.to_owned()));
        self
    }

    /// A listener of a one-broker cluster names this port of 127.0.0.1 as its own: a proxy's.
    #[must_use]
    pub fn advertise(mut self, listener: &str, port: u16) -> Self {
        self.advertised.insert(listener.to_owned(), port);
        self
    }

    /// Partitions of `__consumer_offsets` (4).
    #[must_use]
    pub fn offsets_partitions(mut self, count: u32) -> Self {
        self.offsets_partitions = count;
        self
    }

    /// `__consumer_offsets` does not exist until a group is asked for.
    #[must_use]
    pub fn without_offsets_topic(mut self) -> Self {
        self.offsets_topic = false;
        self
    }
}

/// A running cluster. Dereferences to its [`Tool`], which has the commands.
pub struct Cluster {
    spec: ClusterSpec,
    id: String,
    brokers: Mutex<BTreeMap<usize, Broker>>,
    processes: AtomicUsize,
    tool: Tool,
    ports: Ports,
    dir: TempDir,
}

impl Deref for Cluster {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl Cluster {
    /// Starts the brokers and waits until an admin client sees them all.
    pub fn start(spec: &ClusterSpec) -> Self {
        let mut failure = String::new();
        for _ in 0..3 {
            match Self::try_start(spec) {
                Ok(cluster) => return cluster,
                // Somebody took a port between our look at it and the broker's.
                Err(e) if e.contains("Address already in use") || e.contains("BindException") => failure = e,
                Err(e) => panic!("{e}"),
            }
        }
        panic!("{failure}");
    }

    fn try_start(spec: &ClusterSpec) -> Result<Self, String> {
        let dir = tempfile::Builder::new().prefix("lagtop-kafka-").tempdir().expect("a temporary directory");
        let ports = Ports::take(&jars::harness_dir().join("ports"));
        let id = format!("lagtop-test-{:010x}", xxh3_64(dir.path().as_os_str().as_encoded_bytes()) & 0xff_ffff_ffff);
        let addresses: Vec<_> = (0..spec.racks.len()).map(|i| format!("127.0.0.1:{}", ports.port(i, 0))).collect();
        let tool = Tool::spawn(&addresses.join(","), dir.path(), "tool", true);
        let cluster = Self {
            spec: spec.clone(),
            id,
            brokers: Mutex::default(),
            processes: AtomicUsize::new(0),
            tool,
            ports,
            dir,
        };
        for id in cluster.ids() {
            cluster.spawn_broker(id, &[]);
        }
        cluster.wait_ready(cluster.ids().len())?;
        if spec.offsets_topic {
            cluster.create_offsets_topic();
        }
        Ok(cluster)
    }

    /// The brokers' ids: 1, 2, …
    pub fn ids(&self) -> Vec<usize> {
        (1..=self.spec.racks.len()).collect()
    }

    /// The cluster id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Addresses of all brokers, as a client wants them.
    pub fn bootstrap(&self) -> String {
        self.bootstrap_of("PLAINTEXT")
    }

    /// The same for another listener.
    pub fn bootstrap_of(&self, listener: &str) -> String {
        let addresses: Vec<_> = self.ids().into_iter().map(|id| self.address_of(id, listener)).collect();
        addresses.join(",")
    }

    /// One broker's address at a listener.
    pub fn address_of(&self, id: usize, listener: &str) -> String {
        let i = self.spec.listeners.iter().position(|(name, _)| name == listener).expect("a listener of the spec");
        format!("127.0.0.1:{}", self.ports.port(id - 1, i))
    }

    /// The cluster's own directory, removed at the end.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The segments of a partition on a broker, oldest first.
    pub fn segments(&self, id: usize, topic: &str, partition: i32) -> Vec<PathBuf> {
        let dir = broker::log_dir(self.dir(), id).join(format!("{topic}-{partition}"));
        let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "log"));
        files.sort();
        files
    }

    /// A broker's process id.
    pub fn broker_pid(&self, id: usize) -> u32 {
        self.with_broker(id, Broker::pid)
    }

    /// SIGKILL.
    pub fn kill_broker(&self, id: usize) {
        let broker = lock(&self.brokers).remove(&id).expect("a running broker");
        self.tool.call("unwatch", json!({"pid": broker.pid()}));
    }

    /// Stops a broker gracefully and waits until its process has ended.
    pub fn stop_broker(&self, id: usize) {
        let broker = lock(&self.brokers).remove(&id).expect("a running broker");
        let pid = broker.pid();
        broker.stop();
        self.tool.call("unwatch", json!({"pid": pid}));
    }

    /// Partition of `__consumer_offsets` that the records of a group are in.
    pub fn partition_of(&self, group: &str) -> i32 {
        let partitions = i32::try_from(self.spec.offsets_partitions).expect("a few");
        partition_of(group, partitions).expect("a partition")
    }

    /// SIGSTOP: connections stay open, nothing answers.
    pub fn pause_broker(&self, id: usize) {
        self.with_broker(id, |broker| broker.signal(Signal::STOP));
    }

    /// SIGCONT.
    pub fn resume_broker(&self, id: usize) {
        self.with_broker(id, |broker| broker.signal(Signal::CONT));
    }

    /// Starts a broker that was stopped or killed, with changed properties (such as another `broker.rack`; they last
    /// until it is started again), and waits until the cluster has it.
    pub fn start_broker(&self, id: usize, changes: &[(&str, &str)]) {
        self.spawn_broker(id, changes);
        let running = lock(&self.brokers).len();
        if let Err(failure) = self.wait_ready(running) {
            panic!("{failure}");
        }
    }

    /// Another process with a tool of its own, whose members can be killed or stopped together.
    pub fn process(&self) -> Tool {
        let n = self.processes.fetch_add(1, Ordering::Relaxed);
        let tool = Tool::spawn(&self.bootstrap(), self.dir(), &format!("process-{n}"), false);
        self.tool.call("watch", json!({"pid": tool.pid()}));
        tool
    }

    /// Waits until an admin client sees this many brokers.
    pub fn wait_brokers(&self, count: usize) {
        if let Err(failure) = self.wait_ready(count) {
            panic!("{failure}");
        }
    }

    fn with_broker<T>(&self, id: usize, f: impl FnOnce(&Broker) -> T) -> T {
        f(lock(&self.brokers).get(&id).expect("a running broker"))
    }

    fn spawn_broker(&self, id: usize, changes: &[(&str, &str)]) {
        let spec = &self.spec;
        let mut properties =
            broker::properties(self.dir(), id, &self.ids(), &self.ports, &spec.listeners, spec.offsets_partitions);
        properties.extend(spec.racks[id - 1].iter().map(|rack| ("broker.rack".to_owned(), rack.clone())));
        if spec.listeners.iter().any(|(_, protocol)| protocol.ends_with("SSL")) {
            properties.extend(security::tls_properties(self.dir(), &spec.certificate_names));
        }
        if let Some(advertised) = properties.get_mut("advertised.listeners") {
            let renamed = advertised.split(',').map(|address| match address.split_once("://") {
                Some((name, _)) if spec.advertised.contains_key(name) => {
                    format!("{name}://127.0.0.1:{}", spec.advertised[name])
                }
                _ => address.to_owned(),
            });
            *advertised = renamed.collect::<Vec<_>>().join(",");
        }
        properties.extend(spec.properties.clone());
        properties.extend(changes.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())));
        let broker = Broker::spawn(self.dir(), &self.id, id, &properties);
        self.tool.post("watch", &json!({"pid": broker.pid()}));
        let before = lock(&self.brokers).insert(id, broker);
        assert!(before.is_none(), "broker {id} runs already");
    }

    fn wait_ready(&self, count: usize) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let failures: Vec<_> = lock(&self.brokers).values_mut().filter_map(Broker::failure).collect();
            if let Some(failure) = failures.into_iter().next() {
                return Err(failure);
            }
            let seen = match self.tool.try_call("cluster", json!({"timeout": 2000})) {
                Ok(cluster) if cluster["brokers"].as_array().is_some_and(|b| b.len() == count) => return Ok(()),
                Ok(cluster) => cluster.to_string(),
                Err(error) => error,
            };
            if begun.elapsed() > Duration::from_secs(120) {
                return Err(format!("waited for {count} brokers; last seen: {seen}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn create_offsets_topic(&self) {
        wait_until("__consumer_offsets", Duration::from_secs(60), || {
            self.tool.try_call("find_coordinator", json!({"group": "lagtop-harness"}))
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        lock(&self.brokers).clear();
        // It removes the directory, and whatever processes are left.
        self.tool.finish();
    }
}

/// The one-broker cluster that the tests of a binary share; use names of your own in it.
pub fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&ClusterSpec::one()))
}
