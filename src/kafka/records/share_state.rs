//! How far share groups have read (KIP-932): the records of `__share_group_state`, written by the share coordinator
//! (`org.apache.kafka.coordinator.share`, message specifications of kafka-share-coordinator 4.4.0).
//!
//! A snapshot replaces what was known of a partition; updates after it with the same snapshot epoch are merged in the
//! order of the log. Reading needs READ on the topic; nothing here reads it.

use uuid::Uuid;

use super::reader::{DecodeError, Field, Reader, message};
use super::{ReadKey, record_types};
use crate::model::Name;

/// Key of both record types: one partition of one share group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharePartitionKey {
    pub group: Name,
    pub topic_id: Uuid,
    pub partition: i32,
}

impl ReadKey for SharePartitionKey {
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { group: Field::read(r)?, topic_id: Field::read(r)?, partition: Field::read(r)? })
    }
}

message! {
    /// Type 0, `ShareSnapshotValue`: the whole state of one partition.
    pub struct ShareSnapshotValue {
        snapshot_epoch: i32,
        state_epoch: i32,
        leader_epoch: i32,
        /// The share-partition start offset: below it everything is done. None = not initialized.
        start_offset: Option<i64>,
        /// Milliseconds since 1970.
        create_timestamp: i64,
        /// Milliseconds since 1970.
        write_timestamp: i64,
        state_batches: Vec<StateBatch>,
        [
            /// Records at or after the start offset that are done; none = not tracked.
            0 delivery_complete_count: Option<i32> = None,
        ]
    }
}

message! {
    /// Type 1, `ShareUpdateValue`: what changed since the snapshot of the same snapshot epoch.
    pub struct ShareUpdateValue {
        snapshot_epoch: i32,
        leader_epoch: i32,
        /// None = as before.
        start_offset: Option<i64>,
        state_batches: Vec<StateBatch>,
        [
            /// Replaces the count known before.
            0 delivery_complete_count: Option<i32> = None,
        ]
    }
}

message! {
    /// Consecutive records in one state of delivery.
    pub struct StateBatch {
        first_offset: i64,
        /// Inclusive.
        last_offset: i64,
        /// 0 available, 2 acknowledged, 4 archived (`RecordState`).
        delivery_state: i8,
        delivery_count: i16,
    }
}

record_types! {
    0 ShareSnapshot SharePartitionKey, ShareSnapshotValue, 0;
    1 ShareUpdate SharePartitionKey, ShareUpdateValue, 0;
}

/// The broker's lag of a share group on one partition, in records: `latest` (the partition's end offset) minus the
/// start offset minus what is done after it. None where either of them is not known (Kafka prints `-`).
pub fn share_lag(latest: i64, start_offset: Option<i64>, delivery_complete_count: Option<i32>) -> Option<i64> {
    Some(latest.saturating_sub(start_offset?).saturating_sub(i64::from(delivery_complete_count?)))
}
