//! The loop: what comes in changes the state, what changed is drawn. The only place where source, keys, signals, clock
//! and screen meet.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use rustix::termios::tcgetwinsize;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::Key;
use super::look::{Charset, Look};
use super::screens::draw;
use super::state::State;
use super::terminal::guard::{Guard, PanicHook};
use super::terminal::input;
use super::terminal::output::{Output, Tty, clipboard};
use super::terminal::signals::{Happening, Watch};
use super::theme::Theme;
use super::update::{Action, Effect, update};
use crate::clock::Clock;
use crate::frame::Order;
use crate::model::Name;
use crate::monitor::Monitor;
use crate::source::{Input, Source};

/// Least time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(100);

/// How the dashboard is to look and behave.
#[derive(Debug)]
pub struct Options {
    pub theme: Theme,
    pub charset: Charset,
    /// Takes the mouse from the terminal: the wheel moves the selection.
    pub mouse: bool,
    /// What the cluster is called until it says so itself.
    pub label: Name,
    /// Poll interval in milliseconds until the source says another.
    pub interval_ms: u64,
    /// The source is a recording.
    pub replay: bool,
    /// Stdin carries frames: keys come from /dev/tty.
    pub keys_from_tty: bool,
}

/// How the dashboard ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The person quit.
    Quit,
    Signal(i32),
    /// The terminal is gone.
    Gone,
}

impl Exit {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
            Self::Gone => 129,
        }
    }
}

/// Shows the dashboard until the person quits, a signal ends it, or the terminal is gone. The terminal is given back
/// in each of these cases, and on errors and panics.
pub async fn run(source: Source, monitor: Monitor, options: Options) -> anyhow::Result<Exit> {
    let keys = keys(options.keys_from_tty).context("cannot open the terminal that keys come from")?;
    let screen = || -> io::Result<File> { Ok(File::from(rustix::io::dup(rustix::stdio::stdout())?)) };
    let guard = Guard::new(rustix::io::dup(&keys)?, screen()?, options.mouse);
    let hook = PanicHook::install(&guard);
    let (tell_happenings, happenings) = mpsc::unbounded_channel();
    let (tell_keys, pressed) = mpsc::unbounded_channel();
    let watch = Watch::start(rustix::io::dup(&keys)?, guard.clone(), tell_happenings)?;
    guard.enter().context("cannot set up the terminal")?;
    input::start(keys, tell_keys)?;
    let look = Look { theme: options.theme, charset: options.charset };
    let dashboard = Dashboard {
        source,
        monitor,
        state: State { replay: options.replay, ..State::new(look, options.label, options.interval_ms, size()) },
        output: Output::new(Tty(screen()?)),
        guard: guard.clone(),
        clock: Clock::start(),
        orders_lost: Vec::new(),
        resumed: false,
    };
    let result = dashboard.run(happenings, pressed).await;
    guard.restore();
    drop(watch);
    drop(hook);
    match result {
        Err(error) if is_gone(&error) => Ok(Exit::Gone),
        result => result.context("cannot write to the terminal"),
    }
}

/// Whether a failed write means that there is no terminal any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe)
        || matches!(rustix::io::Errno::from_io_error(error), Some(rustix::io::Errno::IO | rustix::io::Errno::BADF))
}

/// The terminal that keys come from.
fn keys(from_tty: bool) -> io::Result<OwnedFd> {
    if from_tty {
        return Ok(OwnedFd::from(File::options().read(true).write(true).open("/dev/tty")?));
    }
    Ok(rustix::io::dup(rustix::stdio::stdin())?)
}

/// Columns and rows of the terminal that is drawn on.
fn size() -> (u16, u16) {
    tcgetwinsize(rustix::stdio::stdout().as_fd()).map_or((0, 0), |size| (size.ws_col, size.ws_row))
}

struct Dashboard {
    source: Source,
    monitor: Monitor,
    state: State,
    output: Output<Tty>,
    guard: Guard,
    clock: Clock,
    /// Orders for which there was no room.
    orders_lost: Vec<Order>,
    /// We have stopped ourselves and come back: the signal that continued us is no news.
    resumed: bool,
}

/// What the loop has to do after something happened.
enum Next {
    /// Draw at once.
    Draw,
    /// Draw when the last frame is long enough ago.
    DrawLater,
    End(Exit),
}

impl Dashboard {
    async fn run(
        mut self,
        mut happenings: UnboundedReceiver<Happening>,
        mut keys: UnboundedReceiver<Key>,
    ) -> io::Result<Exit> {
        let mut ticks = interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.draw()?;
        let mut drawn = Instant::now();
        let mut due = false;
        let mut open = true;
        loop {
            // Signals first, then keys: a flood of frames must not make the keys wait.
            let next = tokio::select! {
                biased;
                Some(happening) = happenings.recv() => self.happened(happening)?,
                Some(key) = keys.recv() => self.act(Action::Key(key), Next::Draw)?,
                () = sleep_until(drawn + FRAME), if due => Next::Draw,
                input = self.source.inputs.recv(), if open => {
                    open = input.is_some();
                    self.told(input)?
                }
                _ = ticks.tick() => self.act(Action::Tick, Next::DrawLater)?,
            };
            match next {
                Next::End(exit) => return Ok(exit),
                Next::DrawLater if drawn.elapsed() < FRAME => due = true,
                Next::Draw | Next::DrawLater => {
                    if !self.guard.is_entered() {
                        // The panic hook gave the terminal back: something is broken, and the message stands there.
                        return Err(io::Error::other("a part of the program has panicked"));
                    }
                    self.draw()?;
                    (drawn, due) = (Instant::now(), false);
                }
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let state = &self.state;
        self.output.frame(state.size, |buffer| draw(state, buffer)).map(|_| ())
    }

    fn happened(&mut self, happening: Happening) -> io::Result<Next> {
        match happening {
            Happening::Fatal(signal) => Ok(Next::End(Exit::Signal(signal))),
            Happening::Gone => Ok(Next::End(Exit::Gone)),
            Happening::Suspend => self.suspend(),
            Happening::Continued if std::mem::take(&mut self.resumed) => Ok(Next::DrawLater),
            Happening::Continued => {
                // Stopped from outside: whoever had the terminal meanwhile left it in another state.
                self.guard.restore();
                self.come_back()
            }
            Happening::Resized => {
                let (columns, rows) = size();
                self.act(Action::Resize(columns, rows), Next::Draw)
            }
        }
    }

    /// Everything that the source has said by now is taken in before anything is drawn.
    fn told(&mut self, input: Option<Input>) -> io::Result<Next> {
        let mut next = Some(input.unwrap_or(Input::Ended { failure: Some(Name::new("the source has stopped")) }));
        while let Some(input) = next {
            match input {
                Input::Frame(frame) => self.monitor.fold(frame),
                Input::Interrupted { at, cause } => self.monitor.interrupted(at, cause),
                Input::Ended { failure } => self.monitor.ended(failure),
            }
            next = self.source.inputs.try_recv().ok();
        }
        let view = self.monitor.view();
        self.act(Action::View(Box::new(view)), Next::DrawLater)
    }

    fn act(&mut self, action: Action, next: Next) -> io::Result<Next> {
        let effects = update(&mut self.state, action, self.clock.elapsed());
        for order in std::mem::take(&mut self.orders_lost) {
            self.order(order);
        }
        for effect in effects {
            match effect {
                Effect::Order(order) => self.order(order),
                Effect::Copy(text) => self.output.send(&clipboard(&text))?,
                Effect::Repaint => self.output.forget(),
                // As the terminal would do it: whoever is with us in the pipeline stops, too.
                Effect::Suspend => kill_current_process_group(Signal::TSTP)?,
                Effect::Quit => return Ok(Next::End(Exit::Quit)),
            }
        }
        Ok(next)
    }

    /// Gives an order; one for which there is no room now waits for the next action. Never waits itself.
    fn order(&mut self, order: Order) {
        if let Err(mpsc::error::TrySendError::Full(order)) = self.source.orders.try_send(order) {
            self.orders_lost.retain(|lost| std::mem::discriminant(lost) != std::mem::discriminant(&order));
            self.orders_lost.push(order);
        }
    }

    /// To the shell and back: returns when somebody continues the process.
    fn suspend(&mut self) -> io::Result<Next> {
        self.guard.restore();
        kill_process(getpid(), Signal::STOP)?;
        self.resumed = true;
        self.come_back()
    }

    fn come_back(&mut self) -> io::Result<Next> {
        self.guard.enter()?;
        self.output.forget();
        let (columns, rows) = size();
        self.act(Action::Resize(columns, rows), Next::Draw)
    }
}
