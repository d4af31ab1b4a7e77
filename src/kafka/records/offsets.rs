//! Commits: record types 0 and 1 of `__consumer_offsets`. The key says group, topic and partition.

use uuid::Uuid;

use super::DecodeError;
use super::reader::{Field, Reader};
use crate::model::Name;

/// `OffsetCommitValue`, versions 0 to 4, and `LegacyOffsetCommitValue` version 0, which has the same fields.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OffsetCommitValue {
    /// The next offset that the group will read.
    pub offset: i64,
    /// Leader epoch of the last consumed record (KIP-320).
    pub leader_epoch: Option<i32>,
    /// What the committer chose to add.
    pub metadata: Name,
    /// Milliseconds since 1970, by the coordinator's clock (or the client's, if it gave one).
    pub commit_timestamp: i64,
    /// Milliseconds since 1970; only in version 1, which is written when the client asked for a retention.
    pub expire_timestamp: Option<i64>,
    /// Id of the topic the commit was made for (KIP-848); absent below version 4.
    pub topic_id: Option<Uuid>,
}

impl OffsetCommitValue {
    pub(super) fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        r.set_flexible(version >= 4);
        let offset = i64::read(r)?;
        let leader_epoch = if version >= 3 { Field::read(r)? } else { None };
        let metadata = Name::read(r)?;
        let commit_timestamp = i64::read(r)?;
        let expire_timestamp = if version == 1 { Field::read(r)? } else { None };
        let mut topic_id = None;
        r.tags(|tag, field| {
            if tag == 0 {
                topic_id = Field::read(field)?;
            }
            Ok(tag == 0)
        })?;
        Ok(Self { offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, topic_id })
    }
}
