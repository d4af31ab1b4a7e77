//! The writer: a thread that writes frames, so that a slow reader never holds up the polling. While a frame is being
//! written, newer snapshots are merged into one; a reader that is late sees the newest facts, not a queue of old ones.

use std::collections::{BTreeSet, VecDeque};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::Notify;

use crate::frame::{self, Frame, Gap, Level, Note, Stamped};
use crate::model::{At, Event, Name, Wall};

/// Frames that wait for a slow reader; events beyond are dropped, and the gap is told in its place.
const LONGEST_QUEUE: usize = 100_000;

/// Handle of the writer thread.
pub struct Output {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    closed: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Frame>,
    /// Time of the newest snapshot.
    newest: At,
    /// Events that found no place: told as a gap.
    dropped: Dropped,
    /// No more frames will come.
    finished: bool,
    /// The reader is gone.
    broken: bool,
}

#[derive(Default)]
struct Dropped {
    events: u64,
    groups: BTreeSet<Name>,
    newest: Wall,
}

impl Dropped {
    fn push(&mut self, event: Event) {
        tracing::debug!("an event of {} is dropped: nobody reads", event.group);
        self.events += 1;
        self.newest = self.newest.max(event.wall);
        self.groups.insert(event.group);
    }

    /// The gap as a frame, once.
    fn told(&mut self, at: At) -> Option<Frame> {
        let Self { events, groups, newest } = std::mem::take(self);
        let text = format!("{events} events were dropped, since nobody read the stream");
        let gap = Gap::Dropped { groups: groups.into_iter().collect(), newest };
        let body = Note { gap: Some(gap), ..Note::new(Level::Warning, text) };
        (events > 0).then_some(Frame::Note(Stamped { at, body }))
    }
}

impl Output {
    pub fn start(mut out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("frames".into()).spawn(move || {
            let mut bytes = Vec::new();
            while let Some(frame) = writer.next() {
                bytes.clear();
                let encoded = frame::encode(&frame, &mut bytes);
                if let Err(error) = encoded {
                    tracing::error!("{error}");
                    continue;
                }
                if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
                    writer.lock().broken = true;
                    break;
                }
            }
            // Wakes also whoever begins to wait later.
            writer.closed.notify_one();
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Queues a frame; a snapshot is merged into one that still waits.
    pub fn send(&self, frame: Frame) {
        let mut queue = self.shared.lock();
        if let Frame::Full(Stamped { at, .. }) | Frame::Partial(Stamped { at, .. }) = &frame {
            queue.newest = *at;
        }
        let full = queue.waiting.len() >= LONGEST_QUEUE;
        match (queue.waiting.back_mut(), frame) {
            (_, full @ Frame::Full(_)) => {
                queue.waiting.retain(|waiting| !matches!(waiting, Frame::Full(_) | Frame::Partial(_)));
                queue.waiting.push_back(full);
            }
            (Some(Frame::Full(waiting)), Frame::Partial(newer)) => {
                merge(waiting, newer);
                // In a full snapshot a group that is gone is simply not there.
                waiting.body.gone_groups.clear();
            }
            (Some(Frame::Partial(waiting)), Frame::Partial(newer)) => merge(waiting, newer),
            (_, Frame::Event(event)) if full => queue.dropped.push(event.body),
            (_, frame) => {
                // What was dropped lies before what finds a place again.
                let at = queue.newest;
                let gap = if matches!(frame, Frame::Event(_)) { queue.dropped.told(at) } else { None };
                queue.waiting.extend(gap.into_iter().chain([frame]));
            }
        }
        self.shared.wake.notify_one();
    }

    /// Waits until the reader is gone.
    pub async fn closed(&self) {
        self.shared.closed.notified().await;
    }

    /// Writes what waits and ends the thread.
    pub fn finish(&mut self) {
        self.shared.lock().finished = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn merge(waiting: &mut Stamped<crate::model::Snapshot>, newer: Stamped<crate::model::Snapshot>) {
    waiting.at = newer.at;
    waiting.body.apply(newer.body);
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next frame to write; `None` when there will be none.
    fn next(&self) -> Option<Frame> {
        let mut queue = self.lock();
        loop {
            if let Some(frame) = queue.waiting.pop_front() {
                return Some(frame);
            }
            let at = queue.newest;
            if let Some(gap) = queue.dropped.told(at) {
                return Some(gap);
            }
            if queue.finished || queue.broken {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Decoder, Hello};
    use crate::model::Snapshot;
    use std::sync::mpsc;

    /// A writer that takes one write for each permit.
    struct Slow {
        permits: mpsc::Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.permits.recv().map_err(|_| std::io::ErrorKind::BrokenPipe)?;
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn partial(at: u64, group: &str) -> Frame {
        let mut body = Snapshot::default();
        body.groups.insert(Name::new(group), crate::model::Group::default());
        Frame::Partial(Stamped { at: At(at), body })
    }

    #[test]
    fn a_slow_reader_gets_the_newest_facts_merged() {
        let (permit, permits) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut output = Output::start(Slow { permits, written: Arc::clone(&written) }).unwrap();
        let hello = Frame::Hello(Hello { format: frame::FORMAT, ..Hello::default() });
        output.send(hello.clone());
        // The writer is now in the first write, or about to be; nothing behind it may be lost.
        for (at, group) in [(1, "a"), (2, "b"), (3, "c")] {
            output.send(partial(at, group));
        }
        for _ in 0..8 {
            permit.send(()).unwrap();
        }
        output.finish();
        let mut decoder = Decoder::default();
        decoder.push(&written.lock().unwrap());
        assert_eq!(decoder.next_frame().unwrap(), Some(hello));
        let mut known = Snapshot::default();
        let mut last = At(0);
        while let Some(frame) = decoder.next_frame().unwrap() {
            let Frame::Partial(stamped) = frame else { panic!("{frame:?}") };
            last = stamped.at;
            known.apply(stamped.body);
        }
        assert_eq!((last, known.groups.len()), (At(3), 3));
    }

    #[test]
    fn what_is_dropped_is_told_in_its_place() {
        let (permit, permits) = mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut output = Output::start(Slow { permits, written: Arc::clone(&written) }).unwrap();
        let event = |offset: i64, group: &str| {
            let what = crate::model::What::GroupGone;
            let body = Event { group: Name::new(group), wall: Wall(offset), log: (0, offset), what };
            Frame::Event(Stamped { at: At(1), body })
        };
        output.send(Frame::Hello(Hello { format: frame::FORMAT, ..Hello::default() }));
        // The writer holds at most one of them.
        let kept = LONGEST_QUEUE as i64 + 1;
        (0..kept + 5).for_each(|offset| output.send(event(offset, if offset < kept { "kept" } else { "dropped" })));
        let room = || output.shared.lock().waiting.len() < LONGEST_QUEUE;
        while !room() {
            permit.send(()).unwrap();
            std::thread::yield_now();
        }
        output.send(event(kept + 9, "kept"));
        (0..2 * kept).for_each(|_| permit.send(()).unwrap());
        output.finish();
        let mut decoder = Decoder::default();
        decoder.push(&written.lock().unwrap());
        let (mut dropped, mut last) = (0, -1);
        while let Some(frame) = decoder.next_frame().unwrap() {
            match frame {
                Frame::Event(event) => last = event.body.log.1,
                Frame::Note(note) => {
                    let Some(Gap::Dropped { groups, newest }) = note.body.gap else { panic!("{note:?}") };
                    dropped += 1;
                    assert!(last < kept && groups.contains(&"dropped".into()), "{last} {groups:?}");
                    assert_eq!(newest, Wall(kept + 4));
                }
                _ => {}
            }
        }
        assert_eq!((dropped, last), (1, kept + 9));
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_noticed() {
        let (permit, permits) = mpsc::channel();
        drop(permit);
        let output = Output::start(Slow { permits, written: Arc::default() }).unwrap();
        output.send(partial(1, "a"));
        output.closed().await;
    }
}
