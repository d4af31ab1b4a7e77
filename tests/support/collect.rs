//! A collector as a child, its stream folded into a view.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    ops::{Deref, DerefMut},
    process::{Command, Stdio},
    sync::mpsc,
    time::Instant,
};

use ::lagtop::frame::{Decoder, Order, Settings};
use ::lagtop::monitor::{Monitor, Preferences, view::View};

use super::{
    lagtop::{Running, lagtop},
    wait::DEADLINE,
};

/// A running `lagtop collect`. Dereferences to its process.
pub struct Collector {
    process: Running,
    bytes: mpsc::Receiver<Vec<u8>>,
    decoder: Decoder,
    monitor: Monitor,
}

impl Deref for Collector {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.process
    }
}

impl DerefMut for Collector {
    fn deref_mut(&mut self) -> &mut Running {
        &mut self.process
    }
}

impl Collector {
    /// Starts this command, whose standard output is a stream.
    pub fn start(command: &mut Command) -> Self {
        let mut process = Running::start(command.stdout(Stdio::piped()));
        let mut out = process.stdout.take().expect("piped");
        let (sender, bytes) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(length @ 1..) = out.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { process, bytes, decoder: Decoder::default(), monitor: Monitor::new(Preferences::default()) }
    }

    /// Starts one that watches a group by polls in short order, and waits until it has seen all.
    pub fn of_group(bootstrap: &str, group: &str) -> Self {
        let mut collector = Self::start(&mut lagtop(&["collect", "-b", bootstrap, "-g", group, "-i", "500ms"]));
        collector.until("the log and its ends", |view| view.progress.all_seen);
        collector
    }

    /// Starts one that takes orders and polls only when told, and waits until it has seen all.
    pub fn with_orders(bootstrap: &str, settings: Settings) -> Self {
        let mut this = Self::start(lagtop(&["collect", "--orders"]).stdin(Stdio::piped()));
        let properties = BTreeMap::from([("bootstrap.servers".to_owned(), bootstrap.to_owned())]);
        this.order(&Order::Settings(Settings { properties, ..settings }));
        // The first poll is made unasked.
        this.until("the first poll", |view| view.progress.polls > 0);
        while !this.view().progress.all_seen {
            this.poll();
        }
        this
    }

    /// Starts one that polls twice a second, judged by these preferences.
    pub fn watching(bootstrap: &str, settings: Settings, preferences: Preferences) -> Self {
        let mut this = Self::start(lagtop(&["collect", "--orders"]).stdin(Stdio::piped()));
        this.monitor = Monitor::new(preferences);
        let properties = BTreeMap::from([("bootstrap.servers".to_owned(), bootstrap.to_owned())]);
        this.order(&Order::Settings(Settings { properties, interval_ms: 500, ..settings }));
        this
    }

    pub fn order(&mut self, order: &Order) {
        let stdin = self.process.stdin.as_mut().expect("piped");
        writeln!(stdin, "{}", serde_json::to_string(order).expect("JSON")).expect("the collector's input");
    }

    /// The view as of the last frame read.
    pub fn view(&self) -> View {
        self.monitor.view()
    }

    /// Orders a poll and waits until it is done.
    #[track_caller]
    pub fn poll(&mut self) -> View {
        let polls = self.view().progress.polls;
        self.order(&Order::PollNow);
        self.until("a poll", |view| view.progress.polls > polls)
    }

    /// Reads on until the view is as wanted.
    #[track_caller]
    pub fn until(&mut self, what: &str, wanted: impl Fn(&View) -> bool) -> View {
        let deadline = Instant::now() + DEADLINE;
        while !wanted(&self.view()) {
            match self.decoder.next_frame().expect("a frame of ours") {
                Some(frame) => self.monitor.fold(frame),
                None => match self.bytes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(bytes) => self.decoder.push(&bytes),
                    Err(why) => panic!("waited for {what} ({why}); last seen: {:#?}", self.view()),
                },
            }
        }
        self.view()
    }

    /// Nobody reads its output any more, and nobody gives orders.
    pub fn let_go(self) -> Running {
        let Self { mut process, .. } = self;
        drop(process.stdin.take());
        process
    }
}
