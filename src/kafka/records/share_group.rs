//! Share groups (KIP-932): record types 10, 11, 14 and 15 of `__consumer_offsets`; 12 and 13 have the shape of the
//! consumer group's. How far a share group has read is elsewhere: [`super::share_state`].

use uuid::Uuid;

use super::consumer_group::TopicPartitions;
use super::reader::message;
use crate::model::Name;

message! {
    /// Type 10, `ShareGroupMemberMetadataValue`.
    pub struct ShareGroupMemberMetadataValue {
        rack_id: Option<Name>,
        client_id: Name,
        client_host: Name,
        subscribed_topic_names: Vec<Name>,
    }
}

message! {
    /// Type 11, `ShareGroupMetadataValue`, one for each bump of the group epoch.
    pub struct ShareGroupMetadataValue {
        /// The group epoch.
        epoch: i32,
        /// The group hash that this epoch was computed from (KIP-1101).
        metadata_hash: i64,
    }
}

message! {
    /// Type 14, `ShareGroupCurrentMemberAssignmentValue`.
    pub struct ShareGroupCurrentMemberAssignmentValue {
        /// -1: the member leaves.
        member_epoch: i32,
        previous_member_epoch: i32,
        /// 0 stable (`MemberState`).
        state: i8,
        assigned_partitions: Vec<TopicPartitions>,
    }
}

message! {
    /// Type 15, `ShareGroupStatePartitionMetadataValue`: for which partitions the share coordinator holds state.
    pub struct ShareGroupStatePartitionMetadataValue {
        initializing_topics: Vec<TopicPartitionsInfo>,
        initialized_topics: Vec<TopicPartitionsInfo>,
        deleting_topics: Vec<TopicInfo>,
    }
}

message! {
    /// Partitions of one topic, with its name at the time.
    pub struct TopicPartitionsInfo {
        topic_id: Uuid,
        topic_name: Name,
        partitions: Vec<i32>,
    }
}

message! {
    /// A topic whose share state is being deleted.
    pub struct TopicInfo {
        topic_id: Uuid,
        topic_name: Name,
    }
}
