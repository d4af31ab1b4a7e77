//! The frames of a collector, folded into facts and events as any reader of the stream does.

use std::{
    collections::BTreeMap,
    io::Read,
    path::PathBuf,
    process::{ChildStdout, Stdio},
    sync::{Arc, Mutex},
};

use lagtop::frame::{Decoder, Frame, Settings};
use lagtop::model::{Description, Event, Evidence, Group, Name, Snapshot};
use lagtop::monitor::{Monitor, view::View};
use lagtop::source::{Input, live};
use rustix::process::{Pid, Signal, kill_process};

use super::{
    cluster::Cluster,
    lagtop::{Running, lagtop},
    tool::lock,
    wait::{DEADLINE, wait_until},
};

/// What a stream told so far.
#[derive(Debug, Clone, Default)]
pub struct Told {
    pub facts: Snapshot,
    /// In the order of their frames.
    pub events: Vec<Event>,
    pub notes: Vec<String>,
}

impl Told {
    pub fn take(&mut self, frame: Frame) {
        match frame {
            Frame::Hello(_) => {}
            Frame::Full(full) => self.facts = full.body,
            Frame::Partial(partial) => {
                self.facts.apply(partial.body);
                self.facts.gone_groups.clear();
            }
            Frame::Event(event) => self.events.push(event.body),
            Frame::Note(note) => self.notes.push(note.body.text.to_string()),
        }
    }

    pub fn group(&self, id: &str) -> Result<&Group, String> {
        self.facts.groups.get(&Name::new(id)).ok_or_else(|| format!("no group {id}"))
    }

    /// The group as it was told last, by whatever evidence.
    pub fn description(&self, id: &str) -> Result<&Description, String> {
        self.group(id)?.description.as_ref().ok_or_else(|| format!("{id} is not described"))
    }

    /// The group as the coordinator log tells it now.
    pub fn by_log(&self, id: &str) -> Result<&Description, String> {
        let description = self.description(id)?;
        match (description.evidence, description.log_gap) {
            (Evidence::Log, None) => Ok(description),
            other => Err(format!("{id} is told by {other:?}")),
        }
    }

    /// A group's commit of a partition.
    pub fn commit(&self, id: &str, topic: &str, partition: i32) -> Option<i64> {
        let commits = self.group(id).ok()?.commits.as_ref()?;
        Some(commits.topics.get(&Name::new(topic))?.get(&partition)?.offset)
    }

    /// Events of a group, each place of the log once, in the order of the log.
    pub fn events(&self, id: &str) -> Vec<Event> {
        let mut events: Vec<Event> = self.events.iter().filter(|event| event.group.raw() == id).cloned().collect();
        events.sort_by_key(|event| event.log);
        events.dedup_by_key(|event| event.log);
        events
    }
}

/// What a stream told so far, and what it means.
#[derive(Default)]
struct Folded {
    told: Told,
    monitor: Monitor,
}

impl Folded {
    fn take(&mut self, frame: Frame) {
        self.monitor.fold(frame.clone());
        self.told.take(frame);
    }
}

/// A running `lagtop collect` whose stream is folded as it comes.
pub struct Frames {
    _process: Option<Running>,
    folded: Arc<Mutex<Folded>>,
}

impl Frames {
    /// With these arguments after the address, every 500 ms.
    pub fn collect(bootstrap: &str, args: &[&str]) -> Self {
        let mut command = lagtop(&["collect", "-b", bootstrap, "-i", "500ms"]);
        let mut process = Running::start(command.args(args).stdout(Stdio::piped()).stderr(words()));
        let folded = Arc::default();
        let out = process.stdout.take().expect("piped");
        let shared = Arc::clone(&folded);
        std::thread::spawn(move || fold(out, &shared));
        Self { _process: Some(process), folded }
    }

    pub fn told(&self) -> Told {
        lock(&self.folded).told.clone()
    }

    /// What was told as a dashboard would show it.
    pub fn view(&self) -> View {
        lock(&self.folded).monitor.view()
    }

    /// Waits until what was told is as wanted.
    #[track_caller]
    pub fn until<T>(&self, what: &str, mut wanted: impl FnMut(&Told) -> Result<T, String>) -> T {
        wait_until(what, DEADLINE, || wanted(&lock(&self.folded).told))
    }
}

/// Where a collector's log goes: into the file that LAGTOP_TEST_LOG names, for a person who looks for a fault.
fn words() -> Stdio {
    let Some(path) = std::env::var_os("LAGTOP_TEST_LOG") else { return Stdio::null() };
    Stdio::from(std::fs::File::options().create(true).append(true).open(path).expect("a file for the log"))
}

fn fold(mut out: ChildStdout, folded: &Mutex<Folded>) {
    let (mut decoder, mut buffer) = (Decoder::default(), vec![0; 64 << 10]);
    while let Ok(length @ 1..) = out.read(&mut buffer) {
        decoder.push(&buffer[..length]);
        while let Some(frame) = decoder.next_frame().expect("a frame of ours") {
            lock(folded).take(frame);
        }
    }
    // Whoever waits in vain reads why.
    lock(folded).told.notes.push("the collector has ended".to_owned());
}

/// A live source, which replaces its collector when that dies.
pub struct Live {
    frames: Frames,
    /// A line with its process id from every collector.
    pids: PathBuf,
    _runtime: tokio::runtime::Runtime,
}

impl Frames {
    /// The source of a dashboard for the groups of a glob, every 500 ms.
    pub fn live(kafka: &Cluster, groups: &str) -> Live {
        Self::live_with(kafka, groups, Settings::default())
    }

    /// The same with these settings beside.
    pub fn live_with(kafka: &Cluster, groups: &str, settings: Settings) -> Live {
        let pids = kafka.dir().join(format!("collectors of {}", groups.replace('*', "all")));
        let command = ["sh", "-c", "echo $$ >> \"$0\"; exec \"$@\"", &pids.display().to_string()];
        let command = command.into_iter().chain([env!("CARGO_BIN_EXE_lagtop"), "collect", "--orders"]);
        let properties = BTreeMap::from([("bootstrap.servers".to_owned(), kafka.bootstrap())]);
        let settings = Settings { properties, groups: vec![groups.into()], interval_ms: 500, ..settings };
        let launch = live::Launch { command: command.map(str::to_owned).collect(), hide: Vec::new(), settings };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let folded: Arc<Mutex<Folded>> = Arc::default();
        let shared = Arc::clone(&folded);
        runtime.spawn(async move {
            let mut source = live::start(launch);
            while let Some(input) = source.inputs.recv().await {
                if let Input::Frame(frame) = input {
                    lock(&shared).take(frame);
                }
            }
        });
        Live { frames: Frames { _process: None, folded }, pids, _runtime: runtime }
    }
}

impl Live {
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Sends a signal to the collector that runs now.
    pub fn kill(&self, signal: Signal) {
        let lines = std::fs::read_to_string(&self.pids).expect("a collector");
        let pid = lines.lines().last().and_then(|line| line.parse().ok()).and_then(Pid::from_raw);
        kill_process(pid.expect("a pid"), signal).expect("a signal to the collector");
    }
}
