//! The coordinator logs, `__consumer_offsets` and `__share_group_state`, read by assign(): no group is joined, nothing
//! is committed. Keys are looked at first, so that records of groups nobody asked for cost next to nothing; decoding
//! happens on the reader's own thread.
//!
//! The reader sees committed records only (`read_committed`, as the coordinator itself does on loading): an open
//! transaction hides what other groups wrote after it. [`Message::Positions`] shows that as a position that stands
//! still while the high watermark is ahead.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rdkafka::bindings as rd;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Message as _};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::sync::mpsc;

use super::client::{Client, ConnectError, Context};
use super::error::CallError;
use super::records::{self, Key, Value, share_state};
use crate::model::{Name, Wall};

/// Records handed over at once.
const BATCH: usize = 500;
/// How often positions are told.
const POSITIONS_EVERY: Duration = Duration::from_secs(1);

/// Which of the two logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// `__consumer_offsets`.
    Groups,
    /// `__share_group_state`.
    Shares,
}

impl Log {
    pub fn topic(self) -> &'static str {
        match self {
            Self::Groups => "__consumer_offsets",
            Self::Shares => "__share_group_state",
        }
    }
}

/// A record of a group that was asked for; `value` is `None` for a tombstone.
#[derive(Debug)]
pub enum Record {
    Group { at: Position, key: Key, value: Option<Value> },
    Share { at: Position, key: share_state::Key, value: Option<share_state::Value> },
}

/// Where a record stands, and when it was written (by the clock of its coordinator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub partition: i32,
    pub offset: i64,
    pub wall: Wall,
}

/// What the reader tells.
#[derive(Debug)]
pub enum Message {
    /// In the order of each partition.
    Records(Vec<Record>),
    /// This partition was read to the end of what is committed; `next`: the next offset to read, if anything was read.
    CaughtUp { partition: i32, next: Option<i64> },
    /// By partition: the next offset to read (`None`: nothing was read yet, or since its log went back), and the high
    /// watermark as last heard.
    Positions(BTreeMap<i32, (Option<i64>, i64)>),
    /// The topic cannot be read: a right is missing. The reader has ended.
    Failed(CallError),
}

/// What the reader counts, for the person to see that nothing is passed over silently.
#[derive(Debug, Default)]
pub struct Counts {
    pub read: std::sync::atomic::AtomicU64,
    /// Of groups that nobody asked for.
    pub dropped: std::sync::atomic::AtomicU64,
    /// Of a type or version that this program does not know.
    pub unknown: std::sync::atomic::AtomicU64,
    /// Damaged.
    pub damaged: std::sync::atomic::AtomicU64,
    /// Time spent looking at keys and decoding, in nanoseconds.
    pub decoding: std::sync::atomic::AtomicU64,
}

/// A running reader; ends when dropped.
pub struct LogReader {
    pub messages: mpsc::Receiver<Message>,
    pub counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Whether records of this group are wanted.
pub type Wanted = Box<dyn Fn(&str) -> bool + Send>;

impl LogReader {
    /// Reads `log` from the given offset of each partition on.
    pub fn start(
        properties: &BTreeMap<String, String>,
        log: Log,
        from: &BTreeMap<i32, i64>,
        wanted: Wanted,
    ) -> Result<Self, ConnectError> {
        let mut properties = properties.clone();
        for (name, value) in [
            ("isolation.level", "read_committed"),
            ("enable.partition.eof", "true"),
            // The tail waits at the broker, the catch-up takes what it gets; at most this much is held unread.
            ("fetch.wait.max.ms", "500"),
            ("queued.max.messages.kbytes", "16384"),
            ("auto.offset.reset", "earliest"),
        ] {
            properties.insert(name.to_owned(), value.to_owned());
        }
        let client = Client::connect(&properties)?;
        let mut assignment = TopicPartitionList::with_capacity(from.len());
        for (partition, offset) in from {
            let added = assignment.add_partition_offset(log.topic(), *partition, Offset::Offset(*offset));
            added.map_err(|error| ConnectError::Client(Name::from(error.to_string())))?;
        }
        let assigned = client.consumer.assign(&assignment);
        assigned.map_err(|error| ConnectError::Client(Name::from(error.to_string())))?;
        let (sender, messages) = mpsc::channel(64);
        let (stop, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(Counts::default()));
        let partitions: Vec<i32> = from.keys().copied().collect();
        let reader = Reader {
            consumer: client.consumer,
            log,
            partitions,
            wanted,
            sender,
            stop: Arc::clone(&stop),
            counts: Arc::clone(&counts),
            batch: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("coordinator-log".into()).spawn(move || reader.run());
        let thread = thread.map_err(|error| ConnectError::Client(Name::from(error.to_string())))?;
        Ok(Self { messages, counts, stop, thread: Some(thread) })
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A thread that waits for room in the channel must find it closed.
        self.messages.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Reader {
    consumer: Arc<BaseConsumer<Context>>,
    log: Log,
    partitions: Vec<i32>,
    wanted: Wanted,
    sender: mpsc::Sender<Message>,
    stop: Arc<AtomicBool>,
    counts: Arc<Counts>,
    batch: Vec<Record>,
}

/// The channel is closed: nobody listens any more.
struct Closed;

impl Reader {
    fn run(mut self) {
        let mut told = Instant::now();
        while !self.stop.load(Ordering::Acquire) {
            let outcome = match self.consumer.poll(Duration::from_millis(if self.batch.is_empty() { 200 } else { 0 })) {
                None => self.flush(),
                Some(Ok(message)) => {
                    let began = Instant::now();
                    let record = record(self.log, &message, &self.wanted, &self.counts);
                    drop(message);
                    let spent = u64::try_from(began.elapsed().as_nanos()).unwrap_or(0);
                    self.counts.decoding.fetch_add(spent, Ordering::Relaxed);
                    self.batch.extend(record);
                    if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
                }
                Some(Err(KafkaError::PartitionEOF(partition))) => {
                    let next = self.next_of(partition);
                    self.flush().and_then(|()| self.tell(Message::CaughtUp { partition, next }))
                }
                Some(Err(error)) => self.take_error(&error),
            };
            let outcome = outcome.and_then(|()| {
                if told.elapsed() < POSITIONS_EVERY {
                    return Ok(());
                }
                told = Instant::now();
                self.flush()?;
                let positions = self.positions();
                self.tell(Message::Positions(positions))
            });
            if outcome.is_err() {
                return;
            }
        }
    }

    fn take_error(&mut self, error: &KafkaError) -> Result<(), Closed> {
        use rdkafka::types::RDKafkaErrorCode as Code;
        let code = error.rdkafka_error_code();
        if let Some(code @ (Code::TopicAuthorizationFailed | Code::GroupAuthorizationFailed)) = code {
            self.flush()?;
            let failed = CallError::Code { code: code as i32, text: Name::from(code.to_string()) };
            self.tell(Message::Failed(failed))?;
            return Err(Closed);
        }
        // A broker that is gone for now: the client goes on trying.
        tracing::debug!("{}: {error}", self.log.topic());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Closed> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.tell(Message::Records(batch))
    }

    fn tell(&self, message: Message) -> Result<(), Closed> {
        self.sender.blocking_send(message).map_err(|_| Closed)
    }

    fn next_of(&self, partition: i32) -> Option<i64> {
        match self.consumer.position().ok()?.find_partition(self.log.topic(), partition)?.offset() {
            Offset::Offset(next) => Some(next),
            _ => None,
        }
    }

    /// Position, if there is one, and cached high watermark of each partition of which that is known.
    fn positions(&self) -> BTreeMap<i32, (Option<i64>, i64)> {
        let Ok(positions) = self.consumer.position() else { return BTreeMap::new() };
        let topic = CString::new(self.log.topic()).unwrap_or_default();
        let known = |partition: i32| {
            let next = match positions.find_partition(self.log.topic(), partition)?.offset() {
                Offset::Offset(next) => Some(next),
                _ => None,
            };
            let (mut low, mut high) = (-1, -1);
            // SAFETY: the handle is alive, the string is valid for the call, and both results are plain integers.
            let code = unsafe {
                let rk = self.consumer.client().native_ptr();
                rd::rd_kafka_get_watermark_offsets(rk, topic.as_ptr(), partition, &raw mut low, &raw mut high)
            };
            (CallError::from_code(code).is_none() && high >= 0).then_some((partition, (next, high)))
        };
        self.partitions.iter().filter_map(|partition| known(*partition)).collect()
    }
}

/// The record in a message, if it is of a wanted group and can be read.
fn record(log: Log, message: &BorrowedMessage<'_>, wanted: &Wanted, counts: &Counts) -> Option<Record> {
    counts.read.fetch_add(1, Ordering::Relaxed);
    let key = message.key()?;
    let at = Position {
        partition: message.partition(),
        offset: message.offset(),
        wall: Wall(message.timestamp().to_millis().unwrap_or(0)),
    };
    let outcome = (|| {
        if !wanted(&records::peek_group(key)?) {
            counts.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let payload = message.payload();
        Ok::<_, records::DecodeError>(match log {
            Log::Groups => {
                let key = Key::decode(key)?;
                let value = Value::decode(&key, payload)?.map(|decoded| decoded.value);
                Some(Record::Group { at, key, value })
            }
            Log::Shares => {
                let key = share_state::Key::decode(key)?;
                let value = share_state::Value::decode(&key, payload)?.map(|decoded| decoded.value);
                Some(Record::Share { at, key, value })
            }
        })
    })();
    match outcome {
        Ok(record) => {
            let unknown = match &record {
                Some(Record::Group { key, value, .. }) => {
                    matches!(key, Key::Unknown { .. }) || matches!(value, Some(Value::Unknown { .. }))
                }
                Some(Record::Share { key, value, .. }) => {
                    matches!(key, share_state::Key::Unknown { .. })
                        || matches!(value, Some(share_state::Value::Unknown { .. }))
                }
                None => false,
            };
            if unknown {
                counts.unknown.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            record
        }
        Err(error) => {
            counts.damaged.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("{}-{} at {}: {error}", log.topic(), at.partition, at.offset);
            None
        }
    }
}

impl Client {
    /// Blocking: the first offset of each partition whose record is no older than `since`; partitions without such a
    /// record are left out.
    pub fn offsets_since(
        &self,
        topic: &str,
        partitions: &[i32],
        since: Wall,
        timeout: Duration,
    ) -> Result<BTreeMap<i32, i64>, CallError> {
        let failed = |error: KafkaError| CallError::Code {
            code: error.rdkafka_error_code().map_or(-1, |code| code as i32),
            text: Name::from(error.to_string()),
        };
        let mut wanted = TopicPartitionList::with_capacity(partitions.len());
        for partition in partitions {
            wanted.add_partition_offset(topic, *partition, Offset::Offset(since.0)).map_err(failed)?;
        }
        let found = self.consumer.offsets_for_times(wanted, timeout).map_err(failed)?;
        let found = found.elements().into_iter().filter_map(|element| match element.offset() {
            Offset::Offset(offset) => Some((element.partition(), offset)),
            _ => None,
        });
        Ok(found.collect())
    }
}
