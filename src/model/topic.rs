//! Topics and their partitions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::At;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A topic id as Kafka prints it: base64 for URLs, without padding.
pub fn print_id(id: Uuid) -> String {
    let value = id.as_u128();
    // 22 digits hold 132 bits; the last four are 0.
    (0..22)
        .map(|place| {
            let bits = if place == 21 { value << 4 } else { value >> (122 - 6 * place) };
            char::from(DIGITS[(bits & 63) as usize])
        })
        .collect()
}

/// A topic id as Kafka prints it, or as a UUID in hexadecimal digits.
pub fn parse_id(text: &str) -> Option<Uuid> {
    if text.len() != 22 {
        return Uuid::parse_str(text).ok();
    }
    let mut value = 0u128;
    for (place, digit) in text.bytes().enumerate() {
        let bits = DIGITS.iter().position(|known| *known == digit)? as u128;
        if place < 21 {
            value = value << 6 | bits;
        } else if bits.trailing_zeros() >= 4 {
            value = value << 2 | bits >> 4;
        } else {
            return None;
        }
    }
    Some(Uuid::from_u128(value))
}

/// A topic that a selected group commits to, owns or subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topic {
    pub observed_at: At,
    pub presence: Presence,
    /// Topic id (KIP-516); unknown until DescribeTopics has answered.
    pub id: Option<Uuid>,
    /// Index = partition number.
    pub partitions: Vec<Partition>,
    /// `cleanup.policy` contains `compact`: offsets are missing within the log, so a lag is an upper bound. `None`: not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<bool>,
}

/// Whether the topic is there, as far as our rights tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Nobody has answered yet.
    #[default]
    Unknown,
    Present,
    /// The cluster says that there is no such topic.
    Gone,
    /// Our principal may not describe it: whether it exists is unknown.
    Denied,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partition {
    /// Broker id; `None` while the partition has no leader.
    pub leader: Option<i32>,
    /// Broker ids in the order of the assignment (the first is the preferred leader).
    pub replicas: Vec<i32>,
    /// In-sync replicas.
    pub isr: Vec<i32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_printed_as_kafka_prints_them() {
        // org.apache.kafka.common.Uuid: METADATA_TOPIC_ID and ONE_UUID.
        assert_eq!(print_id(Uuid::from_u128(1)), "AAAAAAAAAAAAAAAAAAAAAQ");
        let id = Uuid::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210);
        assert_eq!(print_id(id), "ASNFZ4mrze_-3LqYdlQyEA");
        for id in [Uuid::nil(), Uuid::max(), id] {
            assert_eq!(parse_id(&print_id(id)), Some(id));
            assert_eq!(parse_id(&id.to_string()), Some(id));
        }
        for bad in ["", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAA+Q", "hello"] {
            assert_eq!(parse_id(bad), None, "{bad}");
        }
    }
}
