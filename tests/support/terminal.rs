//! A terminal for the dashboard: a pseudo-terminal whose screen is kept by a terminal emulator.

use std::{
    fs::File,
    io::{Read, Write},
    num::NonZeroU16,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use super::wait::{DEADLINE, wait_until};

/// A program in a terminal; killed when dropped.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    /// `None`: the terminal has gone away.
    ends: Option<(Box<dyn MasterPty + Send>, Box<dyn Write + Send>)>,
    seen: Arc<Mutex<Seen>>,
    gone: Arc<AtomicBool>,
}

struct Seen {
    screen: vt100::Parser,
    /// Every byte that was written to the terminal.
    written: Vec<u8>,
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("at least one")
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Terminal {
    /// Runs `lagtop` with these arguments in a terminal of that size and with this environment alone (and TERM and LANG).
    pub fn start(args: &[&str], (columns, rows): (u16, u16), environment: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_lagtop"));
        command.args(args);
        Self::run(command, (columns, rows), environment)
    }

    /// The same of any command.
    pub fn run(mut command: CommandBuilder, (columns, rows): (u16, u16), environment: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a pseudo-terminal");
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let screen = vt100::Parser::new(cells(rows), cells(columns), 0);
        let seen = Arc::new(Mutex::new(Seen { screen, written: Vec::new() }));
        let gone = Arc::new(AtomicBool::new(false));
        let mut output = pair.master.try_clone_reader().expect("a reader");
        let (kept, leave) = (Arc::clone(&seen), Arc::clone(&gone));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                let mut seen = kept.lock().unwrap();
                seen.screen.process(&buffer[..length]);
                seen.written.extend_from_slice(&buffer[..length]);
                if leave.load(Ordering::Acquire) {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().expect("a writer");
        Self { child, ends: Some((pair.master, keys)), seen, gone }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Types keys, as bytes.
    pub fn press(&mut self, keys: &str) {
        let (_, writer) = self.ends.as_mut().expect("a terminal");
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("keys are taken");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.seen().screen.screen_mut().set_size(cells(rows), cells(columns));
        let (master, _) = self.ends.as_ref().expect("a terminal");
        master.resize(size(columns, rows)).expect("a new size");
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("a process id");
        kill_process(pid, signal).expect("a signal is sent");
    }

    /// Nobody reads what is written to it any more, after the next bytes.
    pub fn stall(&self) {
        self.gone.store(true, Ordering::Release);
    }

    /// The terminal goes away: with the next bytes nobody holds its other end.
    pub fn vanish(&mut self) {
        self.gone.store(true, Ordering::Release);
        self.ends = None;
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("a process id")
    }

    /// The screen as text, one line a row.
    pub fn text(&self) -> String {
        self.seen().screen.screen().contents()
    }

    /// Everything that was ever written to it.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen().written).into_owned()
    }

    /// Waits until the screen satisfies `shows`; returns it.
    #[track_caller]
    pub fn wait(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        wait_until(what, DEADLINE, || {
            let text = self.text();
            if shows(&text) { Ok(text) } else { Err(format!("\n{text}")) }
        })
    }

    /// Waits until these words are on the screen; returns it.
    #[track_caller]
    pub fn shows(&self, words: &str) -> String {
        self.wait(words, |text| text.contains(words))
    }

    /// Waits until the program has ended; returns its exit code.
    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let child = &mut self.child;
        wait_until("the program to end", DEADLINE, || match child.try_wait() {
            Ok(Some(status)) => Ok(status.exit_code()),
            Ok(None) => Err("it runs".to_owned()),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Waits until everything that was done to the terminal is undone: modes, cursor, screen, line input with echo.
    #[track_caller]
    pub fn restored(&self) {
        wait_until("the terminal to be restored", DEADLINE, || {
            let written = self.written();
            if !written.ends_with("\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l") {
                return Err(format!("it ends with {:?}", &written[written.len().saturating_sub(60)..]));
            }
            let name = self.ends.as_ref().and_then(|(master, _)| master.tty_name()).expect("a terminal");
            let modes = rustix::termios::tcgetattr(File::open(name).expect("a terminal")).expect("modes").local_modes;
            let canonical = rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO;
            if modes.contains(canonical) { Ok(()) } else { Err(format!("still raw: {modes:?}")) }
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
