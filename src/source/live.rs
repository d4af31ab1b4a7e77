//! The live source: a collector as a child process, started again with backoff whenever it dies. librdkafka can abort
//! its process when a broker drops, and that must not touch the terminal or what is known.

use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::backoff::Backoff;
use super::{Input, Source};
use crate::clock::Clock;
use crate::frame::{Decoder, Frame, Level, Order, Settings};
use crate::model::{At, Name, name};

/// How a collector is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments, `collect --orders` included.
    pub command: Vec<String>,
    /// Environment variables that the child must not inherit, because they hold secrets.
    pub hide: Vec<String>,
    /// The first order.
    pub settings: Settings,
}

/// Starts a collector and keeps one running until the source is dropped.
pub fn start(launch: Launch) -> Source {
    let (inputs, receiver) = mpsc::channel(64);
    let (orders, order_receiver) = mpsc::channel(64);
    tokio::spawn(Keeper::new(launch, inputs, order_receiver).run());
    Source { inputs: receiver, orders }
}

/// Why a collector is not running any more.
enum Death {
    /// Nobody listens: the source was dropped.
    Unwanted,
    /// A new one would fail in the same way.
    Final(Name),
    /// Worth another try.
    Lost(Name),
}

struct Keeper {
    launch: Launch,
    inputs: mpsc::Sender<Input>,
    orders: mpsc::Receiver<Order>,
    /// The source's own clock: times of every collector's frames are moved onto it.
    clock: Clock,
    on_screen: Option<Vec<Name>>,
    greeted: bool,
}

impl Keeper {
    fn new(launch: Launch, inputs: mpsc::Sender<Input>, orders: mpsc::Receiver<Order>) -> Self {
        Self { launch, inputs, orders, clock: Clock::start(), on_screen: None, greeted: false }
    }

    fn now(&self) -> At {
        self.clock.now()
    }

    async fn run(mut self) {
        let mut backoff = Backoff::default();
        loop {
            let started = Instant::now();
            let death = match self.spawn() {
                Ok(child) => self.attend(child).await,
                Err(error) => {
                    let program = self.launch.command.first().map(String::as_str).unwrap_or_default();
                    let text = format!("the collector \"{}\" cannot be started: {error}", name::safe(program));
                    if self.greeted { Death::Lost(Name::from(text)) } else { Death::Final(Name::from(text)) }
                }
            };
            match death {
                Death::Unwanted => return,
                Death::Final(cause) => {
                    let _ = self.inputs.send(Input::Ended { failure: Some(cause) }).await;
                    return;
                }
                Death::Lost(cause) => {
                    tracing::warn!("{cause}; starting a new one");
                    if !self.wait(backoff.after(started.elapsed()), &cause).await {
                        return;
                    }
                }
            }
        }
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let (program, arguments) = self.launch.command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        for variable in &self.launch.hide {
            command.env_remove(variable);
        }
        command.spawn()
    }

    /// Waits before the next start, telling once a second that there is nothing new. False: the source was dropped.
    async fn wait(&mut self, wait: Duration, cause: &Name) -> bool {
        let until = tokio::time::Instant::now() + wait;
        loop {
            if self.inputs.send(Input::Interrupted { at: self.now(), cause: cause.clone() }).await.is_err() {
                return false;
            }
            let tick = (tokio::time::Instant::now() + Duration::from_secs(1)).min(until);
            tokio::select! {
                () = tokio::time::sleep_until(tick) => if tick >= until { return true },
                order = self.orders.recv() => match order {
                    None | Some(Order::Stop) => return false,
                    Some(order) => self.remember(&order),
                },
            }
        }
    }

    /// What a new collector must be told again.
    fn remember(&mut self, order: &Order) {
        match order {
            Order::Interval(millis) => self.launch.settings.interval_ms = *millis,
            Order::OnScreen(groups) => self.on_screen.clone_from(groups),
            Order::Settings(_) | Order::PollNow | Order::Stop => {}
        }
    }

    /// A new collector must go on where this one is in the coordinator log.
    fn follow(&mut self, frame: &Frame) {
        if let Frame::Full(snapshot) | Frame::Partial(snapshot) = frame
            && let Some(log) = &snapshot.body.log
        {
            self.launch.settings.resume.clone_from(&log.next);
        }
    }

    /// Talks to one collector until it is gone.
    async fn attend(&mut self, mut child: Child) -> Death {
        let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Death::Lost(Name::new("the collector has no pipes"));
        };
        let last_words = tokio::spawn(listen(stderr));
        let offset = self.now();
        let mut fatal = None;
        let first = [Order::Settings(self.launch.settings.clone()), Order::OnScreen(self.on_screen.clone())];
        for order in &first {
            if write(&mut stdin, order).await.is_err() {
                break;
            }
        }
        let unwanted = self.relay(&mut stdin, &mut stdout, offset, &mut fatal).await;
        drop(stdin);
        drop(stdout);
        let status = tokio::time::timeout(Duration::from_secs(2), child.wait()).await;
        let _ = child.start_kill();
        if unwanted {
            return Death::Unwanted;
        }
        if let Some(cause) = fatal {
            return Death::Final(cause);
        }
        let words = tokio::time::timeout(Duration::from_millis(500), last_words).await;
        let words = words.ok().and_then(Result::ok).unwrap_or_default();
        let status = status.ok().and_then(Result::ok);
        let cause = obituary(status, &words);
        // Usage and configuration: exit code 2 before anything was seen.
        match status.and_then(|status| status.code()) {
            Some(2 | 126 | 127) if !self.greeted => Death::Final(cause),
            _ => Death::Lost(cause),
        }
    }

    /// Passes frames on, and orders. Returns whether the source was dropped; else the stream has ended.
    async fn relay(
        &mut self,
        stdin: &mut ChildStdin,
        stdout: &mut ChildStdout,
        offset: At,
        fatal: &mut Option<Name>,
    ) -> bool {
        let mut decoder = Decoder::default();
        let mut buffer = vec![0; 64 << 10];
        loop {
            tokio::select! {
                read = stdout.read(&mut buffer) => {
                    let Ok(length @ 1..) = read else { return false };
                    decoder.push(&buffer[..length]);
                    loop {
                        match decoder.next_frame() {
                            Ok(Some(frame)) => {
                                self.greeted = true;
                                self.follow(&frame);
                                if let Frame::Note(note) = &frame && note.body.level == Level::Fatal {
                                    *fatal = Some(note.body.text.clone());
                                }
                                if self.inputs.send(Input::Frame(moved(frame, offset))).await.is_err() {
                                    return true;
                                }
                            }
                            Ok(None) => break,
                            Err(error) => {
                                *fatal = Some(Name::from(format!("what the collector says cannot be read: {error}")));
                                return false;
                            }
                        }
                    }
                }
                order = self.orders.recv() => match order {
                    None => return true,
                    Some(order) => {
                        self.remember(&order);
                        if write(stdin, &order).await.is_err() {
                            // The pipe is broken: the stream ends next.
                            tracing::debug!("an order did not reach the collector");
                        }
                        if order == Order::Stop {
                            return true;
                        }
                    }
                },
            }
        }
    }
}

/// A frame with its time moved from the collector's clock to the source's.
fn moved(frame: Frame, offset: At) -> Frame {
    let shift = Duration::from_millis(offset.0);
    match frame {
        Frame::Hello(hello) => Frame::Hello(hello),
        Frame::Full(mut snapshot) => {
            snapshot.shift(shift);
            Frame::Full(snapshot)
        }
        Frame::Partial(mut snapshot) => {
            snapshot.shift(shift);
            Frame::Partial(snapshot)
        }
        Frame::Event(mut event) => {
            event.at = event.at.plus(shift);
            Frame::Event(event)
        }
        Frame::Note(mut note) => {
            note.at = note.at.plus(shift);
            Frame::Note(note)
        }
    }
}

async fn write(stdin: &mut ChildStdin, order: &Order) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    stdin.write_all(&line).await?;
    stdin.flush().await
}

/// Sends the child's stderr to our log; returns the last lines.
async fn listen(stderr: ChildStderr) -> Vec<String> {
    let mut lines = BufReader::new(stderr).split(b'\n');
    let mut last: Vec<String> = Vec::new();
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = name::safe(String::from_utf8_lossy(&line).trim_end()).into_owned();
        tracing::info!(target: "collector", "{line}");
        if last.len() == 5 {
            last.remove(0);
        }
        last.push(line);
    }
    last
}

/// Why the collector is gone, in words.
fn obituary(status: Option<ExitStatus>, words: &[String]) -> Name {
    use std::os::unix::process::ExitStatusExt;
    let how = match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("the collector ended with exit code {code}"),
            (None, Some(signal)) => format!("the collector was ended by signal {signal}"),
            (None, None) => "the collector ended".to_owned(),
        },
        None => "the collector closed its output".to_owned(),
    };
    match words.last() {
        Some(last) => Name::from(format!("{how}: {last}")),
        None => Name::from(how),
    }
}
