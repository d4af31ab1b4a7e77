//! Classic groups: record type 2 of `__consumer_offsets`, one record for each generation.
//!
//! What a member subscribes to and owns is inside, as bytes of the group's protocol type: for `consumer` see
//! [`super::consumer_protocol`]; other types (connect, …) are not decoded.

use super::DecodeError;
use super::reader::{Bytes, Field, Reader};
use crate::model::Name;

/// `GroupMetadataValue`, versions 0 to 4.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupMetadataValue {
    /// `consumer`, `connect`, …; empty for a group that only commits.
    pub protocol_type: Name,
    pub generation: i32,
    /// The chosen protocol: for consumers the assignor.
    pub protocol: Option<Name>,
    /// Member id of the leader.
    pub leader: Option<Name>,
    /// End of the join phase, milliseconds since 1970; from version 2.
    pub current_state_timestamp: Option<i64>,
    pub members: Vec<MemberMetadata>,
}

/// One member of a [`GroupMetadataValue`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberMetadata {
    pub member_id: Name,
    /// Set for a static member; from version 3.
    pub group_instance_id: Option<Name>,
    pub client_id: Name,
    pub client_host: Name,
    /// Milliseconds; from version 1.
    pub rebalance_timeout: Option<i32>,
    /// Milliseconds.
    pub session_timeout: i32,
    /// For protocol type `consumer`: a ConsumerProtocolSubscription.
    pub subscription: Bytes,
    /// For protocol type `consumer`: a ConsumerProtocolAssignment.
    pub assignment: Bytes,
}

impl GroupMetadataValue {
    pub(super) fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        r.set_flexible(version >= 4);
        let value = Self {
            protocol_type: Field::read(r)?,
            generation: Field::read(r)?,
            protocol: Field::read(r)?,
            leader: Field::read(r)?,
            current_state_timestamp: if version >= 2 { Field::read(r)? } else { None },
            members: r.array_of(MemberMetadata::MIN, |r| MemberMetadata::read(r, version))?,
        };
        r.tags(|_, _| Ok(false))?;
        Ok(value)
    }
}

impl MemberMetadata {
    /// Three strings, one number, two byte arrays: the shortest form over all versions.
    const MIN: usize = 9;

    fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let member = Self {
            member_id: Field::read(r)?,
            group_instance_id: if version >= 3 { Field::read(r)? } else { None },
            client_id: Field::read(r)?,
            client_host: Field::read(r)?,
            rebalance_timeout: if version >= 1 { Field::read(r)? } else { None },
            session_timeout: Field::read(r)?,
            subscription: Field::read(r)?,
            assignment: Field::read(r)?,
        };
        r.tags(|_, _| Ok(false))?;
        Ok(member)
    }
}
