//! One broker: its properties and its process.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{jars::Java, ports::Ports, wait::wait_until};

/// Properties of Kafka, by key.
pub type Properties = BTreeMap<String, String>;

/// The properties of a broker with quick settings; `listeners` are names and security protocols, the first is the
/// one between brokers.
pub fn properties(
    dir: &Path,
    id: usize,
    ids: &[usize],
    ports: &Ports,
    listeners: &[(String, String)],
    offsets_partitions: u32,
) -> Properties {
    // The controller's listener comes last of the five.
    let controller = |id: usize| format!("127.0.0.1:{}", ports.port(id - 1, 4));
    let client = |i: usize, name: &str| format!("{name}://127.0.0.1:{}", ports.port(id - 1, i));
    let clients: Vec<_> = listeners.iter().enumerate().map(|(i, (name, _))| client(i, name)).collect();
    let clients = clients.join(",");
    let mut protocols = vec!["CONTROLLER:PLAINTEXT".to_owned()];
    protocols.extend(listeners.iter().map(|(name, protocol)| format!("{name}:{protocol}")));
    let voters: Vec<_> = ids.iter().map(|&id| format!("{id}@{}", controller(id))).collect();
    let replication = ids.len().min(3).to_string();

    let mut p = Properties::new();
    let mut set = |key: &str, value: &str| p.insert(key.to_owned(), value.to_owned());
    set("process.roles", "broker,controller");
    set("node.id", &id.to_string());
    set("controller.quorum.voters", &voters.join(","));
    set("listeners", &format!("{clients},CONTROLLER://{}", controller(id)));
    set("advertised.listeners", &clients);
    set("listener.security.protocol.map", &protocols.join(","));
    set("controller.listener.names", "CONTROLLER");
    set("inter.broker.listener.name", &listeners[0].0);
    set("log.dirs", &log_dir(dir, id).display().to_string());
    set("auto.create.topics.enable", "false");
    set("offsets.topic.num.partitions", &offsets_partitions.to_string());
    for topic in ["offsets.topic", "transaction.state.log", "share.coordinator.state.topic"] {
        set(&format!("{topic}.replication.factor"), &replication);
    }
    set("transaction.state.log.min.isr", "1");
    set("transaction.state.log.num.partitions", "2");
    set("share.coordinator.state.topic.min.isr", "1");
    set("share.coordinator.state.topic.num.partitions", "3");
    set("group.initial.rebalance.delay.ms", "0");
    set("group.min.session.timeout.ms", "1000");
    for kind in ["consumer", "share", "streams"] {
        set(&format!("group.{kind}.min.session.timeout.ms"), "1000");
        set(&format!("group.{kind}.session.timeout.ms"), "3000");
        set(&format!("group.{kind}.min.heartbeat.interval.ms"), "200");
        set(&format!("group.{kind}.heartbeat.interval.ms"), "500");
        set(&format!("group.{kind}.assignment.interval.ms"), "0");
    }
    set("group.streams.initial.rebalance.delay.ms", "0");
    set("group.share.initialize.retry.interval.ms", "1000");
    set("broker.heartbeat.interval.ms", "1000");
    set("broker.session.timeout.ms", "6000");
    set("num.io.threads", "4");
    set("num.network.threads", "2");
    set("log.cleaner.dedupe.buffer.size", "2097152");
    p
}

/// Where a broker keeps its logs.
pub fn log_dir(dir: &Path, id: usize) -> PathBuf {
    dir.join(format!("broker-{id}"))
}

/// Writes server.properties; the file's place.
pub fn write_properties(dir: &Path, id: usize, properties: &Properties) -> PathBuf {
    // A backslash and a line end would mean something in a Java properties file.
    let escape = |value: &str| value.replace('\\', "\\\\").replace('\n', "\\n");
    let lines: Vec<_> = properties.iter().map(|(key, value)| format!("{key}={}", escape(value))).collect();
    let file = dir.join(format!("server-{id}.properties"));
    fs::write(&file, lines.join("\n")).expect("server.properties");
    file
}

/// A running broker; ended when dropped.
pub struct Broker {
    child: Child,
    log: PathBuf,
}

impl Broker {
    /// Starts the process; ready is what an admin call says.
    pub fn spawn(dir: &Path, cluster_id: &str, id: usize, properties: &Properties) -> Self {
        let file = write_properties(dir, id, properties);
        let log = dir.join(format!("broker-{id}.log"));
        let output = File::options().create(true).append(true).open(&log).expect("a broker's log");
        let child = Java::get()
            .command("Broker", 512, &dir.join(format!("broker-{id}.slf4j.log")))
            .arg(file)
            .arg(cluster_id)
            .stdin(Stdio::piped())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .expect("a broker's process");
        Self { child, log }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote, if it has ended by itself.
    pub fn failure(&mut self) -> Option<String> {
        let status = self.child.try_wait().expect("a broker's status")?;
        let mut text = fs::read_to_string(&self.log).unwrap_or_default();
        text += &fs::read_to_string(self.log.with_extension("slf4j.log")).unwrap_or_default();
        let tail: Vec<_> = text.lines().rev().take(40).collect();
        Some(format!("broker ended ({status}):\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n")))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a pid")).expect("a pid");
        kill_process(pid, signal).expect("a signal to a broker");
    }

    /// Stops it as an operator would: leadership moves away first. Killed if it takes too long.
    pub fn stop(mut self) {
        self.signal(Signal::TERM);
        let begun = Instant::now();
        wait_until("a broker to stop", Duration::from_secs(90), || {
            if self.child.try_wait().expect("a broker's status").is_some() {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(45) {
                let _ = self.child.kill();
            }
            Err("still running")
        });
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
