//! Keys: bytes from the terminal, on a thread of their own, and what they mean. Written here because crossterm 0.29
//! spins for ever on a terminal that is gone (crossterm-rs/crossterm#793).

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc::UnboundedSender;

use crate::tui::keymap::Key;

/// How long the rest of an escape sequence may take; over a slow link its bytes come apart.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// A sequence that is longer is none that we know.
const LONGEST: usize = 32;

/// Reads keys until the terminal is gone or nobody listens.
pub fn start(keys: OwnedFd, tell: UnboundedSender<Key>) -> std::io::Result<()> {
    std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
        let mut pending = Vec::new();
        let mut buffer = [0u8; 1024];
        loop {
            let got = match rustix::io::read(&keys, &mut buffer) {
                Ok(0) => return,
                Ok(got) => got,
                Err(rustix::io::Errno::INTR) => continue,
                // Somebody made the terminal non-blocking.
                Err(rustix::io::Errno::AGAIN) => {
                    let _ = is_readable(&keys, None);
                    continue;
                }
                Err(_) => return,
            };
            pending.extend_from_slice(&buffer[..got]);
            loop {
                let complete = || !is_readable(&keys, Some(&REST));
                match next(&pending, complete) {
                    Parsed::Key(key, used) => {
                        pending.drain(..used);
                        if tell.send(key).is_err() {
                            return;
                        }
                    }
                    Parsed::Nothing(used) => drop(pending.drain(..used)),
                    Parsed::More => break,
                }
            }
        }
    })?;
    Ok(())
}

fn is_readable(keys: &OwnedFd, timeout: Option<&Timespec>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(keys.as_fd(), PollFlags::IN)];
    poll(&mut fds, timeout).is_ok_and(|ready| ready > 0)
}

/// What the first bytes mean.
#[derive(Debug, PartialEq, Eq)]
enum Parsed {
    /// A key of so many bytes.
    Key(Key, usize),
    /// So many bytes that mean nothing here.
    Nothing(usize),
    /// Not enough bytes to say.
    More,
}

/// The first key in `bytes`; `complete` tells whether no more bytes will come soon.
fn next(bytes: &[u8], complete: impl Fn() -> bool) -> Parsed {
    match bytes {
        [] => Parsed::More,
        [0x1b] => {
            if complete() {
                Parsed::Key(Key::Esc, 1)
            } else {
                Parsed::More
            }
        }
        [0x1b, b'O', rest @ ..] => match rest.first() {
            Some(last) => named(&[], *last).map_or(Parsed::Nothing(3), |key| Parsed::Key(key, 3)),
            None if complete() => Parsed::Nothing(2),
            None => Parsed::More,
        },
        [0x1b, b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                let stuck = rest.len() > LONGEST || complete();
                return if stuck { Parsed::Nothing(bytes.len()) } else { Parsed::More };
            };
            let used = end + 3;
            named(&rest[..end], rest[end]).map_or(Parsed::Nothing(used), |key| Parsed::Key(key, used))
        }
        // Alt and a key, or Esc and a key close behind it: no binding has Alt.
        [0x1b, _, ..] => Parsed::Key(Key::Esc, 1),
        [b'\r' | b'\n', ..] => Parsed::Key(Key::Enter, 1),
        [b'\t', ..] => Parsed::Key(Key::Tab, 1),
        [0x7f | 0x08, ..] => Parsed::Key(Key::Backspace, 1),
        [byte @ 1..=0x1a, ..] => Parsed::Key(Key::Ctrl(char::from(byte - 1 + b'a')), 1),
        [0..=0x1f, ..] => Parsed::Nothing(1),
        [first, ..] => {
            let length = match first {
                0..0x80 => 1,
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0..0xf8 => 4,
                _ => return Parsed::Nothing(1),
            };
            let Some(character) = bytes.get(..length) else {
                return if complete() { Parsed::Nothing(bytes.len()) } else { Parsed::More };
            };
            let character = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
            character.map_or(Parsed::Nothing(1), |c| Parsed::Key(Key::Char(c), length))
        }
    }
}

/// The key of a control sequence: its parameters and its last byte.
fn named(parameters: &[u8], last: u8) -> Option<Key> {
    let first = || std::str::from_utf8(parameters).ok()?.split(';').next()?.parse::<u8>().ok();
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'P' => Key::Function(1),
        b'Z' => Key::BackTab,
        b'M' => match parameters {
            [b'<', b'6', b'4', b';', ..] => Key::WheelUp,
            [b'<', b'6', b'5', b';', ..] => Key::WheelDown,
            _ => return None,
        },
        b'~' => match first()? {
            1 | 7 => Key::Home,
            4 | 8 => Key::End,
            5 => Key::PageUp,
            6 => Key::PageDown,
            11 => Key::Function(1),
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut rest = bytes;
        let mut keys = Vec::new();
        loop {
            match next(rest, || true) {
                Parsed::Key(key, used) => {
                    keys.push(key);
                    rest = &rest[used..];
                }
                Parsed::Nothing(used) => rest = &rest[used..],
                Parsed::More => return keys,
            }
        }
    }

    #[test]
    fn sequences_become_keys() {
        let cases: [(&[u8], &[Key]); 14] = [
            (b"q", &[Key::Char('q')]),
            (b"\x1b", &[Key::Esc]),
            (b"\x1b\x1b", &[Key::Esc, Key::Esc]),
            (b"\x1b[A\x1b[B", &[Key::Up, Key::Down]),
            (b"\x1bOA\x1bOP", &[Key::Up, Key::Function(1)]),
            (b"\x1b[5~\x1b[6~", &[Key::PageUp, Key::PageDown]),
            (b"\x1b[H\x1b[4~", &[Key::Home, Key::End]),
            (b"\x1b[1;5C", &[Key::Right]),
            (b"\x1b[Z\t", &[Key::BackTab, Key::Tab]),
            (b"\x03\x0c\x1a", &[Key::Ctrl('c'), Key::Ctrl('l'), Key::Ctrl('z')]),
            (b"\r\x7f", &[Key::Enter, Key::Backspace]),
            (b"\x1b[<64;3;4M\x1b[<0;3;4Mj", &[Key::WheelUp, Key::Char('j')]),
            ("é组".as_bytes(), &[Key::Char('é'), Key::Char('组')]),
            (b"\xff\x1b[99~k\x1bx", &[Key::Char('k'), Key::Esc, Key::Char('x')]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn half_a_sequence_waits_for_the_rest() {
        for bytes in [&b"\x1b"[..], b"\x1b[", b"\x1b[1;", b"\x1bO", b"\xe7\xbb"] {
            assert_eq!(next(bytes, || false), Parsed::More);
            assert_ne!(next(bytes, || true), Parsed::More);
        }
    }

    proptest! {
        #[test]
        fn every_input_is_used_up(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            keys(&bytes);
        }
    }
}
