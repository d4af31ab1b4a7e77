//! The guard: takes the terminal over step by step, records each step, and undoes just those, in any way the program
//! may end. Undoing twice is harmless.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Something done to the terminal that must be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Alternate,
    Hidden,
    Mouse,
}

impl Step {
    fn does(self) -> &'static [u8] {
        match self {
            Self::Alternate => b"\x1b[?1049h",
            Self::Hidden => b"\x1b[?25l",
            Self::Mouse => b"\x1b[?1000h\x1b[?1006h",
        }
    }

    fn undoes(self) -> &'static [u8] {
        match self {
            Self::Alternate => b"\x1b[?1049l",
            Self::Hidden => b"\x1b[?25h",
            Self::Mouse => b"\x1b[?1006l\x1b[?1000l",
        }
    }
}

/// Ends a frame that was cut off in the middle, and all colours.
const PLAIN: &[u8] = b"\x1b[?2026l\x1b[0m";

/// What was done to the terminal and not yet undone.
#[derive(Debug)]
struct Steps {
    keys: OwnedFd,
    screen: File,
    mouse: bool,
    /// The settings from before raw mode.
    saved: Option<Termios>,
    done: Vec<Step>,
}

/// A terminal that will be given back. Cheap to clone: all clones are the same terminal.
#[derive(Debug, Clone)]
pub struct Guard {
    steps: Arc<Mutex<Steps>>,
}

impl Guard {
    /// `keys`: the terminal that keys come from; `screen`: the one that is drawn on. Nothing is done to them yet.
    pub fn new(keys: OwnedFd, screen: File, mouse: bool) -> Self {
        let steps = Steps { keys, screen, mouse, saved: None, done: Vec::new() };
        Self { steps: Arc::new(Mutex::new(steps)) }
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        // A panic while it was held leaves every step recorded.
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raw mode, alternate screen, no cursor, and the mouse if it is wanted. On failure what was done is undone.
    pub fn enter(&self) -> io::Result<()> {
        let result = self.steps().enter();
        if result.is_err() {
            self.restore();
        }
        result
    }

    /// Gives the terminal back as it was.
    pub fn restore(&self) {
        self.steps().restore(true);
    }

    /// Gives back what can be given back at once: nothing is written, which could block on a link that is stalled, and
    /// a lock that another thread keeps is not waited for.
    pub fn restore_settings(&self) {
        if let Ok(mut steps) = self.steps.try_lock() {
            steps.restore(false);
        }
    }

    /// Whether the terminal is ours.
    pub fn is_entered(&self) -> bool {
        !self.steps().done.is_empty()
    }
}

impl Steps {
    fn enter(&mut self) -> io::Result<()> {
        if self.saved.is_none() {
            let settings = tcgetattr(self.keys.as_fd())?;
            self.saved = Some(settings);
        }
        if let Some(saved) = &self.saved {
            let mut raw = saved.clone();
            raw.make_raw();
            tcsetattr(self.keys.as_fd(), OptionalActions::Now, &raw)?;
        }
        let steps = [Some(Step::Alternate), Some(Step::Hidden), self.mouse.then_some(Step::Mouse)];
        for step in steps.into_iter().flatten() {
            // Recorded first: half a write may have done it.
            self.done.push(step);
            self.screen.write_all(step.does())?;
        }
        Ok(())
    }

    fn restore(&mut self, write: bool) {
        if write && !self.done.is_empty() {
            let undo = self.done.drain(..).rev().flat_map(Step::undoes).copied();
            let bytes: Vec<u8> = PLAIN.iter().copied().chain(undo).collect();
            // A terminal that is gone needs no restoring.
            let _ = self.screen.write_all(&bytes);
        }
        if let Some(saved) = self.saved.take() {
            let _ = tcsetattr(self.keys.as_fd(), OptionalActions::Now, &saved);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.restore(true);
    }
}

/// Restores the terminal before a panic is told, so that the message can be read. Undone when dropped.
pub struct PanicHook {
    before: Arc<Hook>,
}

type Hook = dyn Fn(&std::panic::PanicHookInfo<'_>) + Sync + Send + 'static;

impl PanicHook {
    pub fn install(guard: &Guard) -> Self {
        let before: Arc<Hook> = Arc::from(std::panic::take_hook());
        let (guard, next) = (guard.clone(), Arc::clone(&before));
        std::panic::set_hook(Box::new(move |info| {
            guard.restore();
            next(info);
        }));
        Self { before }
    }
}

impl Drop for PanicHook {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            std::panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use portable_pty::{MasterPty, PtySize, native_pty_system};
    use rustix::termios::LocalModes;

    use super::*;

    fn terminal() -> (Box<dyn MasterPty + Send>, File) {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let path = pair.master.tty_name().unwrap();
        // The slave stays open in the file.
        let tty = File::options().read(true).write(true).open(path).unwrap();
        (pair.master, tty)
    }

    fn is_raw(tty: &File) -> bool {
        !tcgetattr(tty).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    #[test]
    fn what_was_done_is_undone_once() {
        let (master, tty) = terminal();
        let mut output = master.try_clone_reader().unwrap();
        let guard = Guard::new(tty.try_clone().unwrap().into(), tty.try_clone().unwrap(), true);
        guard.restore();
        assert!(!guard.is_entered() && !is_raw(&tty), "nothing was done yet");
        guard.enter().unwrap();
        assert!(guard.is_entered() && is_raw(&tty));
        guard.restore();
        guard.restore();
        drop(guard);
        assert!(!is_raw(&tty));
        let expected = "\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\
            \x1b[?2026l\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[?1049l";
        let mut written = vec![0; expected.len()];
        output.read_exact(&mut written).unwrap();
        assert_eq!(String::from_utf8_lossy(&written), expected);
    }

    #[test]
    fn a_guard_that_is_dropped_restores() {
        let (_master, tty) = terminal();
        let guard = Guard::new(tty.try_clone().unwrap().into(), tty.try_clone().unwrap(), false);
        guard.enter().unwrap();
        drop(guard);
        assert!(!is_raw(&tty));
    }

    #[test]
    fn a_panic_anywhere_restores_before_it_is_told() {
        let (_master, tty) = terminal();
        let guard = Guard::new(tty.try_clone().unwrap().into(), tty.try_clone().unwrap(), false);
        let hook = PanicHook::install(&guard);
        guard.enter().unwrap();
        assert!(std::thread::spawn(|| panic!("on purpose")).join().is_err());
        assert!(!is_raw(&tty) && !guard.is_entered());
        drop(hook);
    }

    #[test]
    fn settings_come_back_without_a_write() {
        let (_master, tty) = terminal();
        let guard = Guard::new(tty.try_clone().unwrap().into(), tty.try_clone().unwrap(), false);
        guard.enter().unwrap();
        guard.restore_settings();
        assert!(!is_raw(&tty) && guard.is_entered());
    }
}
