//! Streams groups (KIP-1071): record types 17, 19 and 21 to 23 of `__consumer_offsets`; 20 has the shape of the
//! consumer group's.

use super::DecodeError;
use super::reader::{Field, Reader, message};
use crate::model::Name;

message! {
    /// Type 17, `StreamsGroupMetadataValue`: one for each bump of the group epoch.
    pub struct StreamsGroupMetadataValue {
        /// The group epoch.
        epoch: i32,
        /// The group hash over the topics that the topology requires (KIP-1101).
        metadata_hash: i64,
        [
            0 validated_topology_epoch: Option<i32> = None,
            /// Configs of the last assignment. An absent tag is empty, not null.
            1 last_assignment_configs: Option<Vec<KeyValue>> = Some(Vec::new()),
            2 stored_description_topology_epoch: Option<i32> = None,
            3 failed_description_topology_epoch: Option<i32> = None,
        ]
    }
}

message! {
    /// A key and a value: configs, client tags.
    pub struct KeyValue {
        key: Name,
        value: Name,
    }
}

message! {
    /// Type 19, `StreamsGroupMemberMetadataValue`.
    pub struct StreamsGroupMemberMetadataValue {
        /// Set for a static member.
        instance_id: Option<Name>,
        rack_id: Option<Name>,
        client_id: Name,
        client_host: Name,
        /// Milliseconds.
        rebalance_timeout_ms: Option<i32>,
        topology_epoch: i32,
        /// The same for all members of one process.
        process_id: Name,
        /// For interactive queries.
        user_endpoint: Option<Endpoint>,
        client_tags: Vec<KeyValue>,
    }
}

message! {
    /// Where the application can be queried.
    pub struct Endpoint {
        host: Name,
        port: u16,
    }
}

/// Outside a tag: an int8, negative for null, then the struct.
impl Field for Option<Endpoint> {
    const MIN: usize = 1;
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        (r.i8()? >= 0).then(|| Field::read(r)).transpose()
    }
}

message! {
    /// Type 21, `StreamsGroupTargetAssignmentMemberValue`: the tasks one member shall get.
    pub struct StreamsGroupTargetAssignmentMemberValue {
        active_tasks: Vec<TaskIds>,
        standby_tasks: Vec<TaskIds>,
        warmup_tasks: Vec<TaskIds>,
    }
}

message! {
    /// Tasks of one subtopology.
    pub struct TaskIds {
        subtopology_id: Name,
        partitions: Vec<i32>,
    }
}

message! {
    /// Type 22, `StreamsGroupCurrentMemberAssignmentValue`: the tasks one member has now.
    pub struct StreamsGroupCurrentMemberAssignmentValue {
        /// -1: the member leaves; -2: a static member is away.
        member_epoch: i32,
        previous_member_epoch: i32,
        /// 0 stable, 1 unrevoked tasks, 2 unreleased tasks, 127 unknown (streams `MemberState`).
        state: i8,
        active_tasks: Vec<AssignedTaskIds>,
        standby_tasks: Vec<AssignedTaskIds>,
        warmup_tasks: Vec<AssignedTaskIds>,
        active_tasks_pending_revocation: Vec<AssignedTaskIds>,
        standby_tasks_pending_revocation: Vec<AssignedTaskIds>,
        warmup_tasks_pending_revocation: Vec<AssignedTaskIds>,
    }
}

message! {
    /// Tasks of one subtopology and the member epoch at which each was assigned.
    pub struct AssignedTaskIds {
        subtopology_id: Name,
        partitions: Vec<i32>,
        [
            /// Parallel to `partitions`; null where not tracked. An absent tag is empty, not null.
            0 assignment_epochs: Option<Vec<i32>> = Some(Vec::new()),
        ]
    }
}

message! {
    /// Type 23, `StreamsGroupTopologyValue`: what the application reads and writes.
    pub struct StreamsGroupTopologyValue {
        /// The topology epoch.
        epoch: i32,
        subtopologies: Vec<Subtopology>,
    }
}

message! {
    /// A part of a topology whose tasks are assigned together.
    pub struct Subtopology {
        subtopology_id: Name,
        source_topics: Vec<Name>,
        source_topic_regex: Vec<Name>,
        state_changelog_topics: Vec<TopologyTopic>,
        repartition_sink_topics: Vec<Name>,
        repartition_source_topics: Vec<TopologyTopic>,
        copartition_groups: Vec<CopartitionGroup>,
    }
}

message! {
    /// An internal topic (`TopicInfo`).
    pub struct TopologyTopic {
        name: Name,
        /// 0 = as the source topics need it.
        partitions: i32,
        replication_factor: i16,
        topic_configs: Vec<KeyValue>,
    }
}

message! {
    /// Topics that must have equal partition counts, as indexes into the lists of the subtopology.
    pub struct CopartitionGroup {
        source_topics: Vec<i16>,
        source_topic_regex: Vec<i16>,
        repartition_source_topics: Vec<i16>,
    }
}
