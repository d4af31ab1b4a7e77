//! Output: one write for a frame, of what has changed since the last.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, poll};

/// A frame that is longer is shown at once by terminals that can (DEC private mode 2026).
const SYNCHRONIZED: usize = 1024;
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
const CLEAR: &[u8] = b"\x1b[0m\x1b[2J";

/// The screen as it was last drawn, and the way to the next.
#[derive(Debug)]
pub struct Output<W> {
    writer: W,
    bytes: Vec<u8>,
    shown: Buffer,
    next: Buffer,
    /// The screen shows something that we do not know: paint it all.
    unknown: bool,
}

impl<W: Write> Output<W> {
    pub fn new(writer: W) -> Self {
        // crossterm under NO_COLOR writes a bare `CSI m` where a colour should be, which cancels bold and reverse,
        // too (Byron/dua-cli#238). The theme has no colours then; crossterm need not know.
        ratatui::crossterm::style::force_color_output(true);
        let empty = Buffer::empty(Rect::default());
        Self { writer, bytes: Vec::new(), shown: empty.clone(), next: empty, unknown: true }
    }

    /// What is on the screen is not what was drawn: the next frame paints all of it.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// Draws a frame of that size; writes nothing if nothing has changed. Returns the bytes written.
    pub fn frame(&mut self, (width, height): (u16, u16), draw: impl FnOnce(&mut Buffer)) -> io::Result<usize> {
        let area = Rect { x: 0, y: 0, width, height };
        if self.next.area == area {
            self.next.reset();
        } else {
            self.next = Buffer::empty(area);
        }
        if self.unknown || self.shown.area != area {
            self.unknown = true;
            self.shown = Buffer::empty(area);
        }
        draw(&mut self.next);
        self.bytes.clear();
        self.bytes.extend_from_slice(BEGIN);
        if self.unknown {
            self.bytes.extend_from_slice(CLEAR);
        }
        let mut changes = self.shown.diff_iter(&self.next).peekable();
        if changes.peek().is_some() {
            CrosstermBackend::new(&mut self.bytes).draw(changes)?;
        } else if !self.unknown {
            return Ok(0);
        }
        let frame = if self.bytes.len() > SYNCHRONIZED {
            self.bytes.extend_from_slice(END);
            &self.bytes[..]
        } else {
            &self.bytes[BEGIN.len()..]
        };
        self.writer.write_all(frame)?;
        self.writer.flush()?;
        self.unknown = false;
        std::mem::swap(&mut self.shown, &mut self.next);
        Ok(frame.len())
    }

    /// Writes something that is no part of the screen.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.writer.flush()
    }
}

/// A terminal to write to. One that somebody made non-blocking is waited for.
#[derive(Debug)]
pub struct Tty(pub File);

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::OUT)];
                    poll(&mut fds, None)?;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The request to put `text` into the clipboard (OSC 52).
pub fn clipboard(text: &str) -> Vec<u8> {
    format!("\x1b]52;c;{}\x07", base64(text.as_bytes())).into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier, Style};

    use super::*;

    /// Counts the writes.
    #[derive(Default)]
    struct Log(Vec<Vec<u8>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn say(text: &str) -> impl FnOnce(&mut Buffer) {
        move |buffer| {
            buffer.set_string(0, 0, text, Style::new());
        }
    }

    #[test]
    fn a_frame_is_one_write_and_nothing_new_is_none() {
        let mut output = Output::new(Log::default());
        output.frame((80, 24), say("hello")).unwrap();
        assert_eq!(output.writer.0.len(), 1);
        assert!(output.writer.0[0].starts_with(CLEAR));
        assert_eq!(output.frame((80, 24), say("hello")).unwrap(), 0);
        assert_eq!(output.writer.0.len(), 1);
        let small = output.frame((80, 24), say("hellO")).unwrap();
        assert!(small < 40, "{small}");
        output.forget();
        output.frame((80, 24), say("hellO")).unwrap();
        assert!(output.writer.0[2].starts_with(CLEAR));
    }

    #[test]
    fn large_frames_are_synchronized() {
        let mut output = Output::new(Log::default());
        output.frame((80, 24), say(&"x".repeat(80))).unwrap();
        assert!(!output.writer.0[0].starts_with(BEGIN));
        output
            .frame((80, 40), |buffer| {
                for y in 0..40 {
                    buffer.set_string(0, y, "y".repeat(80), Style::new());
                }
            })
            .unwrap();
        assert!(output.writer.0[1].starts_with(BEGIN) && output.writer.0[1].ends_with(END));
    }

    #[test]
    fn attributes_survive_without_colour() {
        let mut output = Output::new(Log::default());
        let style = Style::new().fg(Color::Reset).add_modifier(Modifier::REVERSED | Modifier::BOLD);
        output
            .frame((10, 1), |buffer| {
                buffer.set_string(0, 0, "x", style);
            })
            .unwrap();
        let written = String::from_utf8(output.writer.0[0].clone()).unwrap();
        let (before, _) = written.split_once('x').unwrap();
        let after_clear = &before[CLEAR.len()..];
        assert!(after_clear.contains("\x1b[7m") && after_clear.contains("\x1b[1m"), "{written:?}");
        assert!(!after_clear.contains("\x1b[m") && !after_clear.contains("\x1b[0m"), "{written:?}");
    }

    #[test]
    fn the_clipboard_gets_base64() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(clipboard("f"), b"\x1b]52;c;Zg==\x07");
    }
}
