//! Single records at given offsets, read by assign(): no group is joined, nothing is committed.
//!
//! librdkafka's own poll is used, since rdkafka's tells an error or the end of a partition without its topic.
#![allow(unsafe_code)]

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use rdkafka::bindings as rd;
use rdkafka::bindings::rd_kafka_timestamp_type_t as Kind;
use rdkafka::consumer::Consumer;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::client::{Client, ConnectError};
use super::error::{CallError, name};
use crate::model::{Name, Probe, RecordTime, TimestampType, Wall};

/// Topic, partition, and the offset from which on a record is wanted.
pub type Place = (Name, i32, i64);

/// The first data record at or after each place, or why it cannot be read; what is missing did not come in time.
pub type Probed = BTreeMap<Place, Result<Probe, CallError>>;

/// Properties that make a fetch of one record small. A batch that is larger than `fetch.message.max.bytes` comes whole
/// only if it is the first of a response, so that librdkafka asks again with more: without the short backoffs that takes
/// a second each time.
const SMALL: &[(&str, &str)] = &[
    ("fetch.message.max.bytes", "65536"),
    ("fetch.max.bytes", "4194304"),
    ("message.max.bytes", "1000000"),
    ("queued.max.messages.kbytes", "16384"),
    ("fetch.wait.max.ms", "100"),
    ("fetch.queue.backoff.ms", "10"),
    ("fetch.error.backoff.ms", "10"),
    ("queued.min.messages", "1"),
    ("enable.partition.eof", "true"),
    ("auto.offset.reset", "earliest"),
];

/// Blocking: reads one record at each place, at most for `deadline`. With `read_committed` records of aborted and open
/// transactions count as none.
pub fn probe(
    properties: &BTreeMap<String, String>,
    places: &[Place],
    read_committed: bool,
    deadline: Duration,
) -> Result<Probed, ConnectError> {
    if places.is_empty() {
        return Ok(Probed::new());
    }
    let until = Instant::now() + deadline;
    let mut properties = properties.clone();
    let level = if read_committed { "read_committed" } else { "read_uncommitted" };
    for (key, value) in SMALL.iter().chain(&[("isolation.level", level)]) {
        properties.insert((*key).to_owned(), (*value).to_owned());
    }
    let client = Client::connect(&properties)?;
    // Several groups may read a partition, and it can be assigned at one offset at a time.
    let mut waiting: BTreeMap<(Name, i32), VecDeque<i64>> = BTreeMap::new();
    for (topic, partition, offset) in places {
        waiting.entry((topic.clone(), *partition)).or_default().push_back(*offset);
    }
    let mut probed = Probed::new();
    while Instant::now() < until {
        let mut round = BTreeMap::new();
        for (partition, offsets) in &mut waiting {
            if let Some(offset) = offsets.pop_front() {
                round.insert(partition.clone(), offset);
            }
        }
        if round.is_empty() {
            break;
        }
        read_round(&client, round, until, &mut |place, found| {
            if let Err(error) = &found {
                // librdkafka tells it once: whoever waits for another offset of this partition would wait in vain.
                for offset in waiting.remove(&(place.0.clone(), place.1)).into_iter().flatten() {
                    probed.insert((place.0.clone(), place.1, offset), Err(error.clone()));
                }
            }
            probed.insert(place, found);
        })?;
    }
    Ok(probed)
}

/// Reads one record of each of these partitions.
fn read_round(
    client: &Client,
    mut wanted: BTreeMap<(Name, i32), i64>,
    until: Instant,
    found: &mut impl FnMut(Place, Result<Probe, CallError>),
) -> Result<(), ConnectError> {
    let refused = |error: rdkafka::error::KafkaError| ConnectError::Client(Name::from(error.to_string()));
    let mut assignment = TopicPartitionList::with_capacity(wanted.len());
    for ((topic, partition), offset) in &wanted {
        assignment.add_partition_offset(topic.raw(), *partition, Offset::Offset(*offset)).map_err(refused)?;
    }
    client.consumer.assign(&assignment).map_err(refused)?;
    // Those of the round before are paused.
    client.consumer.resume(&assignment).map_err(refused)?;
    while !wanted.is_empty() && Instant::now() < until {
        let Some((partition, answer)) = next(client) else { continue };
        let Some(offset) = wanted.get(&partition).copied() else { continue };
        let answer = match answer {
            // The offset is out of range, beyond the end: the topic is another one by now.
            Ok(Probe::Record { offset: read, .. }) if read < offset => {
                Err(CallError::Code { code: 1, text: Name::new("the offset is not in the log any more") })
            }
            answer => answer,
        };
        wanted.remove(&partition);
        let mut done = TopicPartitionList::with_capacity(1);
        done.add_partition(partition.0.raw(), partition.1);
        // One record is enough; a pause that fails costs a few more.
        let _ = client.consumer.pause(&done);
        found((partition.0, partition.1, offset), answer);
    }
    Ok(())
}

/// What the client says next of a partition; waits a moment for it.
fn next(client: &Client) -> Option<((Name, i32), Result<Probe, CallError>)> {
    // SAFETY: the handle is alive. A message that is not NULL is ours: it is read and destroyed here. Its topic may be
    // NULL (an error of the client as a whole), and belongs to the message.
    unsafe {
        let message = rd::rd_kafka_consumer_poll(client.consumer.client().native_ptr(), 50);
        let told = message.as_ref()?;
        let topic = if told.rkt.is_null() { None } else { name(rd::rd_kafka_topic_name(told.rkt)) };
        let mut kind = Kind::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        let millis = rd::rd_kafka_message_timestamp(message, &raw mut kind);
        let (code, partition, offset) = (told.err, told.partition, told.offset);
        rd::rd_kafka_message_destroy(message);
        let kind = match kind {
            Kind::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE => None,
            Kind::RD_KAFKA_TIMESTAMP_CREATE_TIME => Some(TimestampType::CreateTime),
            Kind::RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME => Some(TimestampType::LogAppendTime),
        };
        let answer = match code as i32 {
            0 => {
                let time = kind.map(|kind| RecordTime { wall: Wall(millis), kind }).filter(|time| time.wall.0 >= 0);
                Ok(Probe::Record { offset, time })
            }
            // _PARTITION_EOF
            -191 => Ok(Probe::NothingToRead),
            // UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED, and librdkafka's own names of the first
            3 | 29 | -188 | -190 => Err(CallError::new(code, None)),
            // Whatever may pass: the client goes on trying.
            _ => return None,
        };
        Some(((topic?, partition), answer))
    }
}
