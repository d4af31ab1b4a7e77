//! A terminal for the dashboard: a pseudo-terminal whose screen is kept by a terminal emulator.

use std::{
    io::{Read, Write},
    num::NonZeroU16,
    sync::{Arc, Mutex},
    thread,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::wait::{DEADLINE, wait_until};

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("at least one")
}

/// A program in a terminal; killed when dropped.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Every byte that was written to the terminal.
    raw: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Runs `lagtop` with these arguments in a terminal of that size. `environment`: added to a plain one.
    pub fn start(args: &[&str], columns: u16, rows: u16, environment: &[(&str, &str)]) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_lagtop"));
        command.args(args);
        for name in ["NO_COLOR", "COLORTERM", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("lagtop starts");
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(cells(rows), cells(columns), 0)));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let mut output = pair.master.try_clone_reader().expect("a reader");
        let (kept, all) = (Arc::clone(&screen), Arc::clone(&raw));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..length]);
                kept.lock().unwrap().process(&buffer[..length]);
            }
        });
        let keys = pair.master.take_writer().expect("a writer");
        Self { child, master: pair.master, keys, screen, raw }
    }

    /// Types keys, as bytes.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys are taken");
        self.keys.flush().expect("keys are taken");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(cells(rows), cells(columns));
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("a new size");
    }

    /// The screen as text, one line a row.
    pub fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen satisfies `shows`; returns it.
    #[track_caller]
    pub fn wait(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        wait_until(what, DEADLINE, || {
            let text = self.text();
            if shows(&text) { Ok(text) } else { Err(format!("\n{text}")) }
        })
    }

    /// Waits until the program has ended; returns its exit code.
    pub fn ended(&mut self) -> u32 {
        let child = &mut self.child;
        wait_until("lagtop to end", DEADLINE, || match child.try_wait() {
            Ok(Some(status)) => Ok(status.exit_code()),
            Ok(None) => Err("it runs".to_owned()),
            Err(error) => Err(error.to_string()),
        })
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("a process id")
    }

    /// Whether the terminal is as it was: cursor shown, no alternate screen, no mouse, input line by line with echo.
    pub fn is_restored(&self) -> Result<(), String> {
        let screen = self.screen.lock().unwrap();
        let screen = screen.screen();
        if screen.alternate_screen() || screen.hide_cursor() {
            return Err("alternate screen or hidden cursor".to_owned());
        }
        if screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None || screen.bracketed_paste() {
            return Err("mouse or paste mode is on".to_owned());
        }
        let fd = self.master.as_raw_fd().expect("a descriptor");
        let attributes = std::process::Command::new("stty")
            .arg("-a")
            .stdin(std::fs::File::open(format!("/proc/self/fd/{fd}")).map_err(|error| error.to_string())?)
            .output()
            .map_err(|error| error.to_string())?;
        let attributes = String::from_utf8_lossy(&attributes.stdout).into_owned();
        let cooked = attributes.split_whitespace().any(|word| word == "icanon")
            && attributes.split_whitespace().any(|word| word == "echo");
        if cooked { Ok(()) } else { Err(format!("still raw: {attributes}")) }
    }

    /// Every byte that was written to the terminal.
    pub fn raw(&self) -> Vec<u8> {
        self.raw.lock().unwrap().clone()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
