//! The dashboard in a real (pseudo-)terminal, on the simulated cluster: it appears, obeys, and gives the terminal back
//! in every way that it may end.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

const PATIENCE: Duration = Duration::from_secs(20);
const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

/// A terminal with the dashboard in it.
struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    keys: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    /// Nobody looks at the terminal any more.
    gone: Arc<AtomicBool>,
}

impl Terminal {
    fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(SIZE).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_lagtop"));
        command.args(arguments);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new((vt100::Parser::new(cells(SIZE.rows), cells(SIZE.cols), 0), Vec::new())));
        let (mut output, shown) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        let gone = Arc::new(AtomicBool::new(false));
        let leave = Arc::clone(&gone);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(got @ 1..) = output.read(&mut buffer) {
                let mut shown = shown.lock().unwrap();
                shown.0.process(&buffer[..got]);
                shown.1.extend_from_slice(&buffer[..got]);
                if leave.load(Ordering::Acquire) {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { master: Some(pair.master), keys: Some(keys), child, screen, gone }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().0.screen().contents()
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap().1).into_owned()
    }

    fn wait(&self, what: &str, met: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if met(&self.text()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("never: {what}\n{}", self.text());
    }

    fn shows(&self, words: &str) {
        self.wait(words, |text| text.contains(words));
    }

    fn press(&mut self, keys: &str) {
        let writer = self.keys.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    fn resize(&self, rows: u16, cols: u16) {
        self.screen.lock().unwrap().0.screen_mut().set_size(cells(rows), cells(cols));
        self.master.as_ref().unwrap().resize(PtySize { rows, cols, ..SIZE }).unwrap();
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.process_id().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    fn ends(&mut self, within: Duration) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < within {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        panic!("still running\n{}", self.text());
    }

    /// Whether everything that was done to the terminal was undone.
    fn assert_restored(&self) {
        // The last bytes may still be on their way.
        let start = Instant::now();
        while !self.written().contains("\x1b[?1049l") && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        let written = self.written();
        assert!(written.ends_with("\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l"), "{written:?}");
        let canonical = rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO;
        let name = self.master.as_ref().unwrap().tty_name().unwrap();
        let tty = std::fs::File::open(name).unwrap();
        assert!(rustix::termios::tcgetattr(&tty).unwrap().local_modes.contains(canonical));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn groups_appear_keys_work_and_q_restores() {
    let mut terminal = Terminal::start(&["demo"], &[]);
    terminal.shows("SIMULATED");
    terminal.shows("billing");
    terminal.press("/billing\r");
    terminal.wait("only billing", |text| !text.contains("orders-enrich") && text.contains("billing"));
    terminal.press("\r");
    terminal.shows("THEN lag-balanced");
    terminal.shows("max/mean");
    terminal.press("\t\r");
    terminal.shows("owner now");
    terminal.press("qq\x1b");
    terminal.shows("orders-enrich");
    terminal.press("?");
    terminal.shows("this help");
    terminal.press("q");
    terminal.press("q");
    assert_eq!(terminal.ends(PATIENCE).exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn sizes_change_and_nothing_breaks() {
    let mut terminal = Terminal::start(&["demo"], &[]);
    terminal.shows("billing");
    for (rows, cols) in [(18, 172), (11, 10), (1, 1), (50, 160), (10, 40)] {
        terminal.resize(rows, cols);
        std::thread::sleep(Duration::from_millis(150));
    }
    terminal.shows("billing");
    terminal.resize(4, 15);
    terminal.shows("too small");
    terminal.press("q");
    assert_eq!(terminal.ends(PATIENCE).exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn signals_restore_the_terminal() {
    use rustix::process::Signal;
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::QUIT, 131), (Signal::HUP, 129)] {
        let mut terminal = Terminal::start(&["demo"], &[]);
        terminal.shows("billing");
        terminal.signal(signal);
        assert_eq!(terminal.ends(Duration::from_secs(4)).exit_code(), code);
        terminal.assert_restored();
    }
}

#[test]
fn a_stopped_dashboard_comes_back() {
    use rustix::process::Signal;
    let mut terminal = Terminal::start(&["demo"], &[]);
    terminal.shows("billing");
    terminal.signal(Signal::TSTP);
    let start = Instant::now();
    while !terminal.written().ends_with("\x1b[?1049l") && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.assert_restored();
    terminal.signal(Signal::CONT);
    terminal.shows("billing");
    terminal.press("q");
    assert_eq!(terminal.ends(PATIENCE).exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let mut terminal = Terminal::start(&["demo"], &[]);
    terminal.shows("billing");
    // The next frame, at most a second later, makes the reader leave; then nobody holds the other end.
    terminal.gone.store(true, Ordering::Release);
    terminal.keys = None;
    terminal.master = None;
    terminal.ends(Duration::from_secs(4));
}

#[test]
fn poor_terminals_get_ascii_or_a_word() {
    let mut plain = Terminal::start(&["demo"], &[("LANG", "C"), ("NO_COLOR", "1")]);
    plain.shows("billing");
    plain.shows("LAGv");
    let written = plain.written();
    assert!(written.is_ascii());
    assert!(!written.contains("\x1b[m"), "a bare reset cancels bold and reverse");
    for colour in ["\x1b[31m", "\x1b[32m", "\x1b[38;"] {
        assert!(!written.contains(colour));
    }
    plain.press("q");
    plain.ends(PATIENCE);
    let mut dumb = Terminal::start(&["demo"], &[("TERM", "dumb")]);
    dumb.shows("lagtop snapshot");
    assert_eq!(dumb.ends(PATIENCE).exit_code(), 2);
    assert!(!dumb.written().contains('\x1b'));
}
