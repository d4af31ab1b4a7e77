//! Bytes of a stream to frames and back; no I/O.

use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{FORMAT, Frame, Hello, Note, Stamped};
use crate::model::name::safe;
use crate::model::{Event, Snapshot};

/// No honest frame is longer (bytes); what claims to be is not a stream of ours.
const LONGEST: usize = 256 << 20;

const HELLO: u8 = 1;
const FULL: u8 = 2;
const PARTIAL: u8 = 3;
const EVENT: u8 = 4;
const NOTE: u8 = 5;

#[derive(Debug, Error)]
pub enum FrameError {
    #[error("this is not a stream of lagtop frames: it begins with \"{0}\"")]
    NotAStream(String),
    #[error(
        "the stream has format {found}, this lagtop reads format {FORMAT}: use a lagtop of the writer's version ({version})"
    )]
    Format { found: u32, version: String },
    #[error("damaged frame at byte {at}: {cause}")]
    Damaged { at: u64, cause: String },
    #[error("the stream ends inside a frame, after byte {at}")]
    Truncated { at: u64 },
    #[error("frame cannot be written: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
}

/// Appends the bytes of `frame` to `out`.
pub fn encode(frame: &Frame, out: &mut Vec<u8>) -> Result<(), FrameError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match frame {
        Frame::Hello(hello) => body(HELLO, hello, out)?,
        Frame::Full(snapshot) => body(FULL, snapshot, out)?,
        Frame::Partial(snapshot) => body(PARTIAL, snapshot, out)?,
        Frame::Event(event) => body(EVENT, event, out)?,
        Frame::Note(note) => body(NOTE, note, out)?,
    }
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn body<T: serde::Serialize>(kind: u8, value: &T, out: &mut Vec<u8>) -> Result<(), FrameError> {
    out.push(kind);
    Ok(rmp_serde::encode::write_named(out, value)?)
}

/// Cuts a stream of bytes into frames: push what was read, then take frames until there is none.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes of `buffer` already taken.
    taken: usize,
    /// Bytes of the stream before `buffer`.
    before: u64,
    greeted: bool,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.before += self.taken as u64;
            self.taken = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame of a known kind; `None`: push more bytes.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let rest = &self.buffer[self.taken..];
            let Some((head, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
            let length = u32::from_be_bytes(*head) as usize;
            let known_kind = rest.first().is_none_or(|kind| *kind == HELLO);
            if length == 0 || length > LONGEST || (!self.greeted && !known_kind) {
                return Err(if self.greeted { self.damaged("impossible length") } else { self.not_a_stream() });
            }
            let Some(frame) = rest.get(..length) else { return Ok(None) };
            let (kind, payload) = (frame[0], &frame[1..]);
            let frame = match kind {
                HELLO => Some(Frame::Hello(self.hello(payload)?)),
                FULL => Some(Frame::Full(self.read::<Stamped<Snapshot>>(payload)?)),
                PARTIAL => Some(Frame::Partial(self.read::<Stamped<Snapshot>>(payload)?)),
                EVENT => Some(Frame::Event(self.read::<Stamped<Event>>(payload)?)),
                NOTE => Some(Frame::Note(self.read::<Stamped<Note>>(payload)?)),
                _ => None,
            };
            self.taken += 4 + length;
            if let Some(frame) = frame {
                self.greeted = true;
                return Ok(Some(frame));
            }
        }
    }

    /// To be called at the end of the stream: it must end between two frames.
    pub fn finish(&self) -> Result<(), FrameError> {
        match (self.buffer.len() - self.taken, self.greeted) {
            (0, true) => Ok(()),
            (_, false) => Err(self.not_a_stream()),
            (_, true) => Err(FrameError::Truncated { at: self.position() }),
        }
    }

    fn hello(&self, payload: &[u8]) -> Result<Hello, FrameError> {
        let hello: Hello = self.read(payload)?;
        if hello.format != FORMAT {
            return Err(FrameError::Format { found: hello.format, version: safe(&hello.version).into_owned() });
        }
        Ok(hello)
    }

    fn read<T: DeserializeOwned>(&self, payload: &[u8]) -> Result<T, FrameError> {
        rmp_serde::from_slice(payload)
            .map_err(|error| if self.greeted { self.damaged(&error.to_string()) } else { self.not_a_stream() })
    }

    fn position(&self) -> u64 {
        self.before + self.taken as u64
    }

    fn damaged(&self, cause: &str) -> FrameError {
        FrameError::Damaged { at: self.position(), cause: cause.to_owned() }
    }

    fn not_a_stream(&self) -> FrameError {
        let head = String::from_utf8_lossy(&self.buffer[self.taken..]);
        FrameError::NotAStream(safe(&head.chars().take(60).collect::<String>()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Gap, Level};
    use crate::model::{At, Group, Name, Wall};
    use proptest::prelude::*;

    fn hello() -> Frame {
        Frame::Hello(Hello { format: FORMAT, version: "1".into(), cluster: Name::new("c"), ..Hello::default() })
    }

    fn frames() -> Vec<Frame> {
        let mut snapshot = Snapshot::default();
        snapshot.groups.insert(Name::new("g\x1b"), Group::default());
        let gap = Some(Gap::Dropped { groups: vec![Name::new("g")], newest: Wall(8) });
        let note = Note { gap, ..Note::new(Level::Warning, "n") };
        vec![
            hello(),
            Frame::Full(Stamped { at: At(5), body: snapshot.clone() }),
            Frame::Partial(Stamped { at: At(7), body: snapshot }),
            Frame::Note(Stamped { at: At(9), body: note }),
        ]
    }

    fn bytes(frames: &[Frame]) -> Vec<u8> {
        let mut out = Vec::new();
        for frame in frames {
            encode(frame, &mut out).unwrap();
        }
        out
    }

    fn decode(bytes: &[u8], chunk: usize) -> Result<Vec<Frame>, FrameError> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for piece in bytes.chunks(chunk) {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame()? {
                out.push(frame);
            }
        }
        decoder.finish()?;
        Ok(out)
    }

    #[test]
    fn frames_survive_any_cut() {
        let all = bytes(&frames());
        for chunk in [1, 3, 7, all.len()] {
            assert_eq!(decode(&all, chunk).unwrap(), frames());
        }
    }

    #[test]
    fn unknown_kinds_are_skipped() {
        let mut all = bytes(&[hello()]);
        all.extend_from_slice(&[0, 0, 0, 3, 200, 1, 2]);
        all.extend(bytes(&frames()[1..]));
        assert_eq!(decode(&all, 5).unwrap(), frames());
    }

    #[test]
    fn what_is_not_a_stream_is_named() {
        for text in ["Welcome to jump host\n", "PK\u{3}\u{4}....", "x"] {
            let error = decode(text.as_bytes(), 4).unwrap_err();
            assert!(matches!(error, FrameError::NotAStream(_)), "{error}");
            assert!(error.to_string().contains("not a stream of lagtop frames"));
        }
        let other = Frame::Hello(Hello { format: 99, ..Hello::default() });
        assert!(decode(&bytes(&[other]), 64).unwrap_err().to_string().contains("format 99"));
        let all = bytes(&frames());
        assert!(matches!(decode(&all[..all.len() - 1], 64), Err(FrameError::Truncated { .. })));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(noise in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..80) {
            let _ = decode(&noise, 16);
            let mut all = bytes(&frames());
            for (index, byte) in noise.iter().enumerate() {
                if let Some(target) = all.get_mut(at + index) { *target ^= byte; }
            }
            let _ = decode(&all, 16);
        }
    }
}
