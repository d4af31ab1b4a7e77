//! What consumers say to each other inside the classic protocol: ConsumerProtocolSubscription and
//! ConsumerProtocolAssignment (`org.apache.kafka.clients.consumer.internals.ConsumerProtocol`), and the user data of
//! the two sticky assignors. Found in JoinGroup and SyncGroup bytes, so in
//! [`MemberMetadata`](super::classic::MemberMetadata) and in what DescribeGroups returns.
//!
//! Versions 0 to 3; a later version is read as 3 and what follows is ignored, as Java does. Only meaningful for
//! groups of protocol type `consumer`.

use super::DecodeError;
use super::reader::{Bytes, Field, Reader};
use crate::model::Name;

/// Partitions of one topic, by name.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TopicPartitions {
    pub topic: Name,
    pub partitions: Vec<i32>,
}

/// Not flexible: a string of at least two bytes, a count of four.
impl Field for TopicPartitions {
    const MIN: usize = 6;
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { topic: Field::read(r)?, partitions: Field::read(r)? })
    }
}

/// ConsumerProtocolSubscription: what a member joins with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    pub topics: Vec<Name>,
    /// The assignor's own bytes.
    pub user_data: Option<Bytes>,
    /// What the member owned when it joined; from version 1, and empty for eager assignors.
    pub owned_partitions: Vec<TopicPartitions>,
    /// Generation in which it owned them; from version 2.
    pub generation_id: Option<i32>,
    /// From version 3.
    pub rack_id: Option<Name>,
}

impl Subscription {
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (mut r, version) = start(bytes)?;
        Ok(Self {
            topics: Field::read(&mut r)?,
            user_data: Field::read(&mut r)?,
            owned_partitions: if version >= 1 { Field::read(&mut r)? } else { Vec::new() },
            generation_id: if version >= 2 { Field::read(&mut r)? } else { None },
            rack_id: if version >= 3 { Field::read(&mut r)? } else { None },
        })
    }
}

/// ConsumerProtocolAssignment: what the leader gave a member.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    pub assigned_partitions: Vec<TopicPartitions>,
    /// The assignor's own bytes.
    pub user_data: Option<Bytes>,
}

impl Assignment {
    /// Empty bytes are an empty assignment: a member that the leader left out.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.is_empty() {
            return Ok(Self { assigned_partitions: Vec::new(), user_data: None });
        }
        let (mut r, _) = start(bytes)?;
        Ok(Self { assigned_partitions: Field::read(&mut r)?, user_data: Field::read(&mut r)? })
    }
}

fn start(bytes: &[u8]) -> Result<(Reader<'_>, i16), DecodeError> {
    let mut r = Reader::new(bytes);
    let version = r.i16()?;
    if version < 0 {
        return Err(DecodeError::Version { version });
    }
    Ok((r, version))
}

/// User data of the `sticky` assignor: what the member owned (`StickyAssignor`, schemas v0 and v1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StickyUserData {
    pub owned_partitions: Vec<TopicPartitions>,
    /// Absent in schema v0.
    pub generation: Option<i32>,
}

impl StickyUserData {
    /// The schema has no version field: bytes that end after the partitions are v0.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let owned_partitions = Field::read(&mut r)?;
        let generation = if r.remaining() >= 4 { Field::read(&mut r)? } else { None };
        Ok(Self { owned_partitions, generation })
    }
}

/// User data of `cooperative-sticky`: the generation alone (`CooperativeStickyAssignor`, schema v0).
pub fn cooperative_sticky_generation(user_data: &[u8]) -> Result<Option<i32>, DecodeError> {
    Field::read(&mut Reader::new(user_data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticky_user_data_of_both_schemas() {
        let v0 = [0, 0, 0, 1, 0, 2, b't', b'1', 0, 0, 0, 1, 0, 0, 0, 7];
        let owned = vec![TopicPartitions { topic: "t1".into(), partitions: vec![7] }];
        let read = StickyUserData::decode(&v0);
        assert_eq!(read, Ok(StickyUserData { owned_partitions: owned.clone(), generation: None }));
        let v1 = [&v0[..], &[0, 0, 0, 18]].concat();
        let read = StickyUserData::decode(&v1);
        assert_eq!(read, Ok(StickyUserData { owned_partitions: owned, generation: Some(18) }));
        assert!(StickyUserData::decode(&v0[..15]).is_err());
    }

    #[test]
    fn cooperative_sticky_has_only_a_generation() {
        assert_eq!(cooperative_sticky_generation(&[0, 0, 1, 0]), Ok(Some(256)));
        assert_eq!(cooperative_sticky_generation(&[0xff; 4]), Ok(None));
        assert!(cooperative_sticky_generation(&[0, 0, 1]).is_err());
    }

    #[test]
    fn versions_below_zero_are_refused_and_an_empty_assignment_is_one() {
        assert_eq!(Subscription::decode(&[0xff, 0xff]), Err(DecodeError::Version { version: -1 }));
        assert_eq!(Assignment::decode(&[]).map(|a| a.assigned_partitions), Ok(Vec::new()));
        assert!(Subscription::decode(&[]).is_err());
    }
}
