//! Consumer groups of KIP-848: record types 3 to 8 and 16 of `__consumer_offsets`.

use uuid::Uuid;

use super::DecodeError;
use super::reader::{Bytes, Field, Reader, message};
use crate::model::Name;

message! {
    /// Type 3, `ConsumerGroupMetadataValue`: one for each bump of the group epoch.
    pub struct ConsumerGroupMetadataValue {
        /// The group epoch.
        epoch: i32,
        [
            /// The group hash that this epoch was computed from (KIP-1101); 0 = no subscribed topic exists, or the
            /// record was written by a broker older than 4.1.
            0 metadata_hash: i64 = 0,
        ]
    }
}

message! {
    /// Type 4, `ConsumerGroupPartitionMetadataValue`: what the coordinator knew of the subscribed topics, written by
    /// brokers older than 4.1, which have no hash.
    pub struct ConsumerGroupPartitionMetadataValue {
        topics: Vec<TopicMetadata>,
    }
}

message! {
    /// One topic of a [`ConsumerGroupPartitionMetadataValue`].
    pub struct TopicMetadata {
        topic_id: Uuid,
        topic_name: Name,
        num_partitions: i32,
        /// Empty when no partition has racks.
        partition_metadata: Vec<PartitionMetadata>,
    }
}

message! {
    /// The racks of one partition's replicas.
    pub struct PartitionMetadata {
        partition: i32,
        racks: Vec<Name>,
    }
}

message! {
    /// Type 5, `ConsumerGroupMemberMetadataValue`: who a member is and what it subscribes to.
    pub struct ConsumerGroupMemberMetadataValue {
        /// Set for a static member.
        instance_id: Option<Name>,
        rack_id: Option<Name>,
        client_id: Name,
        client_host: Name,
        subscribed_topic_names: Vec<Name>,
        /// RE2J pattern; the topics it matches are in the group's record of type 16.
        subscribed_topic_regex: Option<Name>,
        /// Milliseconds.
        rebalance_timeout_ms: Option<i32>,
        /// The server-side assignor the member asks for.
        server_assignor: Option<Name>,
        [
            /// Set for a member that still speaks the classic protocol. An absent tag is *not* null: the default of
            /// the generated class is an empty struct, and null is written out.
            0 classic_member_metadata: Option<ClassicMemberMetadata> = Some(ClassicMemberMetadata::default()),
        ]
    }
}

message! {
    /// What a member that speaks the classic protocol joined with.
    #[derive(Default)]
    pub struct ClassicMemberMetadata {
        /// Milliseconds.
        session_timeout_ms: i32,
        supported_protocols: Vec<ClassicProtocol>,
    }
}

message! {
    /// An assignor and a ConsumerProtocolSubscription for it.
    pub struct ClassicProtocol {
        name: Name,
        metadata: Bytes,
    }
}

/// In a tag: an unsigned varint, 0 for null or 1, then the struct.
impl Field for Option<ClassicMemberMetadata> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        (r.varint()? != 0).then(|| Field::read(r)).transpose()
    }
}

message! {
    /// Types 6, 12 and 20, `…GroupTargetAssignmentMetadataValue`: the same for consumer, share and streams groups.
    pub struct TargetAssignmentMetadataValue {
        /// Group epoch that the target assignment was computed for.
        assignment_epoch: i32,
        [
            /// When it was computed, milliseconds since 1970; 0 = not recorded.
            0 assignment_timestamp: i64 = 0,
        ]
    }
}

message! {
    /// Types 7 and 13, `…GroupTargetAssignmentMemberValue`: what one member of a consumer or share group shall get.
    pub struct TargetAssignmentMemberValue {
        topic_partitions: Vec<TopicPartitions>,
    }
}

message! {
    /// Partitions of one topic.
    pub struct TopicPartitions {
        topic_id: Uuid,
        partitions: Vec<i32>,
    }
}

message! {
    /// Type 8, `ConsumerGroupCurrentMemberAssignmentValue`: what one member has now.
    pub struct ConsumerGroupCurrentMemberAssignmentValue {
        /// -1: the member leaves; -2: a static member is away.
        member_epoch: i32,
        previous_member_epoch: i32,
        /// 0 stable, 1 unrevoked partitions, 2 unreleased partitions, 127 unknown (`MemberState`).
        state: i8,
        assigned_partitions: Vec<AssignedTopicPartitions>,
        partitions_pending_revocation: Vec<AssignedTopicPartitions>,
    }
}

message! {
    /// Partitions of one topic and the member epoch at which each was assigned.
    pub struct AssignedTopicPartitions {
        topic_id: Uuid,
        partitions: Vec<i32>,
        [
            /// Parallel to `partitions`; null from a broker that did not track them. An absent tag is empty, not null.
            0 assignment_epochs: Option<Vec<i32>> = Some(Vec::new()),
        ]
    }
}

message! {
    /// Type 16, `ConsumerGroupRegularExpressionValue`: the topics that a regex of the group matched.
    pub struct ConsumerGroupRegularExpressionValue {
        topics: Vec<Name>,
        /// Version of the metadata image that it was resolved with.
        version: i64,
        /// When it was resolved, milliseconds since 1970.
        timestamp: i64,
    }
}
