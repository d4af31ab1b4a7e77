//! A recording: the stream of frames in a file or pipe, played at the pace at which it was made.

use std::io::Read;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Input, Source};
use crate::frame::{Decoder, Frame};
use crate::model::{At, Name};

/// At what pace frames are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As recorded: a file.
    Recorded,
    /// As they come: a pipe from a running collector, or a report that wants the end.
    Arriving,
}

/// Plays a stream. Nothing is read before the first frame is wanted.
pub fn start(input: impl Read + Send + 'static, pace: Pace) -> Source {
    let (inputs, receiver) = mpsc::channel(64);
    let (orders, mut ignored) = mpsc::channel(64);
    let (frames, from_reader) = mpsc::channel(64);
    // A thread, since a pipe may be silent for long.
    std::thread::spawn(move || read(input, &frames));
    tokio::spawn(play(from_reader, inputs, pace));
    tokio::spawn(async move { while ignored.recv().await.is_some() {} });
    Source { inputs: receiver, orders }
}

fn read(mut input: impl Read, frames: &mpsc::Sender<Result<Frame, Name>>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let outcome = match input.read(&mut buffer) {
            Ok(0) => match decoder.finish() {
                Ok(()) => return,
                Err(error) => Err(Name::from(error.to_string())),
            },
            Ok(length) => {
                decoder.push(&buffer[..length]);
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(Name::from(format!("the recording cannot be read: {error}"))),
        };
        let mut next = || outcome.clone().and_then(|()| decoder.next_frame().map_err(|e| Name::from(e.to_string())));
        loop {
            match next() {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if frames.blocking_send(Ok(frame)).is_err() {
                        return;
                    }
                }
                Err(cause) => {
                    let _ = frames.blocking_send(Err(cause));
                    return;
                }
            }
        }
    }
}

async fn play(mut frames: mpsc::Receiver<Result<Frame, Name>>, inputs: mpsc::Sender<Input>, pace: Pace) {
    let mut clock: Option<(Instant, At)> = None;
    let mut failure = None;
    while let Some(frame) = frames.recv().await {
        match frame {
            Ok(frame) => {
                if let Some(at) = time_of(&frame).filter(|_| pace == Pace::Recorded) {
                    let (began, first) = *clock.get_or_insert((Instant::now(), at));
                    tokio::time::sleep_until(began + at.since(first)).await;
                }
                if inputs.send(Input::Frame(frame)).await.is_err() {
                    return;
                }
            }
            Err(cause) => failure = Some(cause),
        }
    }
    if inputs.send(Input::Ended { failure }).await.is_ok() {
        // The view stays as long as somebody looks at it.
        while !inputs.is_closed() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn time_of(frame: &Frame) -> Option<At> {
    match frame {
        Frame::Hello(_) => None,
        Frame::Full(snapshot) | Frame::Partial(snapshot) => Some(snapshot.at),
        Frame::Event(event) => Some(event.at),
        Frame::Note(note) => Some(note.at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FORMAT, Hello, Stamped, encode};
    use crate::model::Snapshot;
    use std::io::Cursor;

    fn recording(cut: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&Frame::Hello(Hello { format: FORMAT, ..Hello::default() }), &mut bytes).unwrap();
        for at in [1_000, 61_000] {
            encode(&Frame::Full(Stamped { at: At(at), body: Snapshot::default() }), &mut bytes).unwrap();
        }
        bytes.truncate(bytes.len() - cut);
        bytes
    }

    async fn all(mut source: Source) -> Vec<Input> {
        let mut out = Vec::new();
        while let Some(input) = source.inputs.recv().await {
            let ended = matches!(input, Input::Ended { .. });
            out.push(input);
            if ended {
                break;
            }
        }
        out
    }

    #[tokio::test(start_paused = true)]
    async fn frames_keep_their_distance_and_the_end_is_told() {
        let began = Instant::now();
        let inputs = all(start(Cursor::new(recording(0)), Pace::Recorded)).await;
        assert_eq!(inputs.len(), 4);
        assert_eq!(inputs[3], Input::Ended { failure: None });
        assert!(began.elapsed() >= Duration::from_secs(60), "paused clock: one minute between the frames");
    }

    #[tokio::test]
    async fn a_cut_recording_plays_to_the_cut_and_says_so() {
        let inputs = all(start(Cursor::new(recording(3)), Pace::Arriving)).await;
        assert_eq!(inputs.len(), 3);
        let Input::Ended { failure: Some(cause) } = &inputs[2] else { panic!("{inputs:?}") };
        assert!(cause.raw().contains("ends inside a frame"), "{cause}");
    }

    #[tokio::test]
    async fn what_is_no_recording_is_named() {
        let inputs = all(start(Cursor::new(b"hello world, not frames".to_vec()), Pace::Arriving)).await;
        let [Input::Ended { failure: Some(cause) }] = &inputs[..] else { panic!("{inputs:?}") };
        assert!(cause.raw().contains("not a stream of lagtop frames"), "{cause}");
    }
}
