//! Signals, on a thread of their own: a write to a stalled link blocks the dashboard, and a signal must end it all the
//! same. Also the watch for a terminal that goes away without a signal.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};
use tokio::sync::mpsc::UnboundedSender;

use super::guard::Guard;

/// How long the dashboard has to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// What happened to the process or to its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// End, with 128 + this as the exit code.
    Fatal(i32),
    Suspend,
    Continued,
    Resized,
    /// The terminal is gone.
    Gone,
}

/// The running watches. Dropping it ends the watch for signals.
#[derive(Debug)]
pub struct Watch {
    handle: Handle,
    /// The dashboard has ended: no hard exit is needed any more.
    done: Arc<AtomicBool>,
}

impl Watch {
    /// Starts both watches; they tell `tell`. `keys` is the terminal.
    pub fn start(keys: OwnedFd, guard: Guard, tell: UnboundedSender<Happening>) -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH])?;
        let handle = signals.handle();
        let done = Arc::new(AtomicBool::new(false));
        let (gone_done, gone_guard, gone_tell) = (Arc::clone(&done), guard.clone(), tell.clone());
        let finished = Arc::clone(&done);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let happening = match signal {
                    SIGTSTP => Happening::Suspend,
                    SIGCONT => Happening::Continued,
                    SIGWINCH => Happening::Resized,
                    fatal => Happening::Fatal(fatal),
                };
                let _ = tell.send(happening);
                if let Happening::Fatal(signal) = happening {
                    exit_unless(&finished, &guard, 128 + signal);
                    return;
                }
            }
        })?;
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            if wait_for_hangup(&keys) {
                let _ = gone_tell.send(Happening::Gone);
                exit_unless(&gone_done, &gone_guard, 128 + SIGHUP);
            }
        })?;
        Ok(Self { handle, done })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.handle.close();
    }
}

/// Ends the process if the dashboard has not done so within [`PATIENCE`].
fn exit_unless(done: &AtomicBool, guard: &Guard, code: i32) {
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    while waited < PATIENCE {
        if done.load(Ordering::Acquire) {
            return;
        }
        std::thread::sleep(step);
        waited += step;
    }
    guard.restore_settings();
    std::process::exit(code);
}

/// Waits until the terminal hangs up; false if that cannot be waited for.
fn wait_for_hangup(keys: &OwnedFd) -> bool {
    loop {
        // POLLHUP and POLLERR are told without being asked for.
        let mut fds = [PollFd::from_borrowed_fd(keys.as_fd(), PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => return true,
            Ok(_) if fds[0].revents().contains(PollFlags::NVAL) => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use portable_pty::{PtySize, native_pty_system};

    use super::*;

    #[test]
    fn a_terminal_that_goes_is_noticed() {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let tty = File::options().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
        let watch = std::thread::spawn(move || wait_for_hangup(&tty.into()));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!watch.is_finished());
        drop(pair);
        assert!(watch.join().unwrap());
    }
}
