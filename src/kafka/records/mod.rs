//! Decoders for what the coordinators of Kafka 4.4 write: `__consumer_offsets` (this file),
//! `__share_group_state` ([`share_state`]), and the consumers' own protocol inside classic groups
//! ([`consumer_protocol`]).
//!
//! Pure: bytes in, plain data out. A record is read in two steps, so that records of groups nobody looks at cost only
//! a look at their key: [`peek_group`] or [`Key::decode`] first, then [`Value::decode`]. A null value is a tombstone
//! and decodes to `None`. What this version does not know (a record type, a value version) is [`Key::Unknown`] or
//! [`Value::Unknown`], to be counted and shown; broken bytes are a [`DecodeError`].
//!
//! Source: `CoordinatorRecordType` and the message specifications of kafka-group-coordinator 4.4.0. One file for each
//! family of records; structs have the name of the Java class, fields that of the schema.

pub mod classic;
pub mod consumer_group;
pub mod consumer_protocol;
pub mod offsets;
mod reader;
pub mod share_group;
pub mod share_state;
pub mod streams_group;

use std::borrow::Cow;

pub use reader::{Bytes, DecodeError};
use reader::{Field, Reader};

use crate::model::Name;
use classic::GroupMetadataValue;
use consumer_group::{
    ConsumerGroupCurrentMemberAssignmentValue, ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataValue, ConsumerGroupRegularExpressionValue, TargetAssignmentMemberValue,
    TargetAssignmentMetadataValue,
};
use offsets::OffsetCommitValue;
use share_group::{
    ShareGroupCurrentMemberAssignmentValue, ShareGroupMemberMetadataValue, ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataValue,
};
use streams_group::{
    StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue, StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue, StreamsGroupTopologyValue,
};

/// A decoded value and what was passed over in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<V> {
    pub value: V,
    /// Tagged fields of a newer Kafka, skipped.
    pub unknown_tags: usize,
}

/// Key of a record about a whole group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupKey {
    pub group: Name,
}

/// Key of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OffsetKey {
    pub group: Name,
    pub topic: Name,
    pub partition: i32,
}

/// Key of a record about one member.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemberKey {
    pub group: Name,
    pub member_id: Name,
}

/// Key of a resolved regex subscription.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RegexKey {
    pub group: Name,
    pub regular_expression: Name,
}

/// Reads the fields of a key after its record type; keys are never flexible.
trait ReadKey: Sized {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

impl ReadKey for GroupKey {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { group: Field::read(r)? })
    }
}

impl ReadKey for OffsetKey {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { group: Field::read(r)?, topic: Field::read(r)?, partition: Field::read(r)? })
    }
}

impl ReadKey for MemberKey {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { group: Field::read(r)?, member_id: Field::read(r)? })
    }
}

impl ReadKey for RegexKey {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { group: Field::read(r)?, regular_expression: Field::read(r)? })
    }
}

/// Reads a value after its version. Values that are flexible in every version ignore the version.
trait ReadValue: Sized {
    fn read_value(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError>;
}

impl<T: Field> ReadValue for T {
    fn read_value(r: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        r.set_flexible(true);
        T::read(r)
    }
}

impl ReadValue for OffsetCommitValue {
    fn read_value(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::read(r, version)
    }
}

impl ReadValue for GroupMetadataValue {
    fn read_value(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::read(r, version)
    }
}

/// From one table: `Key`, `Value`, and their decoding. Columns: type id, name, key, value, newest value version.
macro_rules! record_types {
    ($($id:literal $name:ident $key:ty, $value:ty, $newest:literal;)*) => {
        /// The key of a record: its type and whom it is about.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Key {
            $(#[doc = concat!("Record type ", $id, ".")] $name($key),)*
            /// A record type that this version of lagtop does not know.
            Unknown { record_type: i16 },
        }

        /// The value of a record that is no tombstone.
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        #[serde(untagged)]
        pub enum Value {
            $(#[doc = concat!("Of record type ", $id, ", versions 0 to ", $newest, ".")] $name($value),)*
            /// A record type or value version that this version of lagtop does not know.
            Unknown { record_type: i16, version: i16 },
        }

        impl Key {
            /// Reads the key of a record.
            pub fn decode(key: &[u8]) -> Result<Self, $crate::kafka::records::DecodeError> {
                let mut r = Reader::new(key);
                match r.i16()? {
                    $($id => <$key>::read(&mut r).map(Self::$name),)*
                    record_type => Ok(Self::Unknown { record_type }),
                }
            }

            /// Kafka's number of the record type: the int16 that the key starts with.
            pub fn record_type(&self) -> i16 {
                match self {
                    $(Self::$name(_) => $id,)*
                    Self::Unknown { record_type } => *record_type,
                }
            }

            /// Kafka's name of the record type.
            pub fn record_name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name),)*
                    Self::Unknown { .. } => "unknown",
                }
            }

            /// The group that the record is about; `None` for an unknown type.
            pub fn group_id(&self) -> Option<&Name> {
                match self {
                    $(Self::$name(key) => Some(&key.group),)*
                    Self::Unknown { .. } => None,
                }
            }
        }

        impl Value {
            /// Reads the value of the record that has this key; `None` for a tombstone.
            pub fn decode(
                key: &Key,
                value: Option<&[u8]>,
            ) -> Result<Option<$crate::kafka::records::Decoded<Self>>, $crate::kafka::records::DecodeError> {
                use $crate::kafka::records::ReadValue;
                let Some(value) = value else { return Ok(None) };
                let mut r = Reader::new(value);
                let version = r.i16()?;
                let value = match key {
                    $(Key::$name(_) if (0..=$newest).contains(&version) => {
                        Self::$name(<$value>::read_value(&mut r, version)?)
                    })*
                    _ => Self::Unknown { record_type: key.record_type(), version },
                };
                Ok(Some($crate::kafka::records::Decoded { value, unknown_tags: r.unknown_tags() }))
            }
        }
    };
}
use record_types;

record_types! {
    0 LegacyOffsetCommit OffsetKey, OffsetCommitValue, 0;
    1 OffsetCommit OffsetKey, OffsetCommitValue, 4;
    2 GroupMetadata GroupKey, GroupMetadataValue, 4;
    3 ConsumerGroupMetadata GroupKey, ConsumerGroupMetadataValue, 0;
    4 ConsumerGroupPartitionMetadata GroupKey, ConsumerGroupPartitionMetadataValue, 0;
    5 ConsumerGroupMemberMetadata MemberKey, ConsumerGroupMemberMetadataValue, 0;
    6 ConsumerGroupTargetAssignmentMetadata GroupKey, TargetAssignmentMetadataValue, 0;
    7 ConsumerGroupTargetAssignmentMember MemberKey, TargetAssignmentMemberValue, 0;
    8 ConsumerGroupCurrentMemberAssignment MemberKey, ConsumerGroupCurrentMemberAssignmentValue, 0;
    10 ShareGroupMemberMetadata MemberKey, ShareGroupMemberMetadataValue, 0;
    11 ShareGroupMetadata GroupKey, ShareGroupMetadataValue, 0;
    12 ShareGroupTargetAssignmentMetadata GroupKey, TargetAssignmentMetadataValue, 0;
    13 ShareGroupTargetAssignmentMember MemberKey, TargetAssignmentMemberValue, 0;
    14 ShareGroupCurrentMemberAssignment MemberKey, ShareGroupCurrentMemberAssignmentValue, 0;
    15 ShareGroupStatePartitionMetadata GroupKey, ShareGroupStatePartitionMetadataValue, 0;
    16 ConsumerGroupRegularExpression RegexKey, ConsumerGroupRegularExpressionValue, 0;
    17 StreamsGroupMetadata GroupKey, StreamsGroupMetadataValue, 0;
    19 StreamsGroupMemberMetadata MemberKey, StreamsGroupMemberMetadataValue, 0;
    20 StreamsGroupTargetAssignmentMetadata GroupKey, TargetAssignmentMetadataValue, 0;
    21 StreamsGroupTargetAssignmentMember MemberKey, StreamsGroupTargetAssignmentMemberValue, 0;
    22 StreamsGroupCurrentMemberAssignment MemberKey, StreamsGroupCurrentMemberAssignmentValue, 0;
    23 StreamsGroupTopology GroupKey, StreamsGroupTopologyValue, 0;
}

/// The group id in a key of either topic, without decoding the rest and (if it is UTF-8) without copying: every known
/// key starts with its type and its group. For a type that is not known it is a guess; [`Key::decode`] tells.
pub fn peek_group(key: &[u8]) -> Result<Cow<'_, str>, DecodeError> {
    let mut r = Reader::new(key);
    r.i16()?;
    let group = r.str()?;
    Ok(str::from_utf8(group).map_or_else(|_| String::from_utf8_lossy(group), Cow::Borrowed))
}

/// The partition of `__consumer_offsets` that holds a group: `Utils.abs(groupId.hashCode()) % partitions`
/// (`GroupMetadataManager.partitionFor`), where `Utils.abs(Integer.MIN_VALUE)` is 0. `None` without partitions.
pub fn partition_of(group_id: &str, partitions: i32) -> Option<i32> {
    let hash = group_id.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    hash.checked_abs().unwrap_or(0).checked_rem(partitions)
}

#[cfg(test)]
mod tests;
