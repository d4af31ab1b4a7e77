//! Groups: list, describe, commits; and the old group list call, which alone tells protocol types and the bytes of
//! classic members.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::raw::c_int;
use std::ptr;
use std::time::Duration;

use rdkafka::bindings as rd;
use rdkafka::bindings::rd_kafka_admin_op_t as Op;
use rdkafka::bindings::rd_kafka_consumer_group_state_t as RawState;
use rdkafka::bindings::rd_kafka_consumer_group_type_t as RawType;

use super::admin::{Admin, slice};
use super::client::Client;
use super::error::{self, CallError, name};
use crate::model::{Commit, Description, Evidence, GroupKind, GroupState, Member, Name, TopicPartitions};

/// The protocol of a group, as ListConsumerGroups and DescribeConsumerGroups tell it.
pub type Protocol = GroupKind;

/// One row of ListConsumerGroups: classic groups (of protocol type `consumer` or none) and KIP-848 groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGroup {
    pub id: Name,
    pub protocol: Protocol,
    pub state: GroupState,
}

/// The answer of ListConsumerGroups, one request to each broker: what some gave, and what others failed with.
#[derive(Debug, Default)]
pub struct GroupList {
    pub groups: Vec<ListedGroup>,
    pub errors: Vec<CallError>,
}

/// One row of the old group list call.
#[derive(Debug)]
pub struct TypedName {
    pub id: Name,
    /// `consumer`, `connect`, …; empty for share groups, streams groups and groups without members.
    pub protocol_type: Name,
    pub state: Name,
    pub members: Vec<ClassicMember>,
}

/// A member with its ConsumerProtocolSubscription bytes (of another protocol type: foreign bytes).
#[derive(Debug)]
pub struct ClassicMember {
    pub id: Name,
    pub client_id: Name,
    pub host: Name,
    pub metadata: Vec<u8>,
}

impl Admin {
    /// ListConsumerGroups: every group of type classic or consumer.
    pub async fn list_groups(&self) -> Result<GroupList, CallError> {
        self.list_groups_in(&[]).await
    }

    /// ListConsumerGroups filtered to the states that no record of the coordinator log tells.
    pub async fn list_rebalancing(&self) -> Result<GroupList, CallError> {
        self.list_groups_in(&[
            RawState::RD_KAFKA_CONSUMER_GROUP_STATE_PREPARING_REBALANCE,
            RawState::RD_KAFKA_CONSUMER_GROUP_STATE_COMPLETING_REBALANCE,
        ])
        .await
    }

    async fn list_groups_in(&self, states: &[RawState]) -> Result<GroupList, CallError> {
        self.call(
            Op::RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS,
            // SAFETY: handle, options and queue are alive for the call, which copies what it needs; the states are
            // copied into the options. An error object would be ours: it is freed.
            |rk, options, queue| unsafe {
                if !states.is_empty() {
                    let (states, count) = (states.as_ptr(), states.len());
                    let refused =
                        rd::rd_kafka_AdminOptions_set_match_consumer_group_states(options.raw(), states, count);
                    if !refused.is_null() {
                        rd::rd_kafka_error_destroy(refused);
                    }
                }
                rd::rd_kafka_ListConsumerGroups(rk, options.raw(), queue);
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; arrays and strings belong to the event.
                unsafe {
                    let result = rd::rd_kafka_event_ListConsumerGroups_result(event.raw());
                    let mut count = 0;
                    let rows = rd::rd_kafka_ListConsumerGroups_result_valid(result, &raw mut count);
                    let groups = slice(rows, count).iter().map(|row| ListedGroup {
                        id: name(rd::rd_kafka_ConsumerGroupListing_group_id(*row)).unwrap_or_default(),
                        protocol: protocol(rd::rd_kafka_ConsumerGroupListing_type(*row)),
                        state: state(rd::rd_kafka_ConsumerGroupListing_state(*row)),
                    });
                    let groups = groups.collect();
                    let failed = rd::rd_kafka_ListConsumerGroups_result_errors(result, &raw mut count);
                    let errors = slice(failed, count).iter().filter_map(|failed| error::of(*failed)).collect();
                    Ok(GroupList { groups, errors })
                }
            },
        )
        .await
    }

    /// DescribeConsumerGroups of one group. A share or streams group looks like a missing one: Dead, without members.
    /// Subscriptions, epochs and racks are not in librdkafka's answer.
    pub async fn describe_group(&self, group: &Name) -> Result<(Protocol, Description), CallError> {
        let id = c_string(group);
        self.call(
            Op::RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS,
            |rk, options, queue| {
                let mut ids = [id.as_ptr()];
                // SAFETY: one valid C string, copied by the call.
                unsafe { rd::rd_kafka_DescribeConsumerGroups(rk, ids.as_mut_ptr(), 1, options.raw(), queue) }
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; what is read belongs to the event.
                unsafe {
                    let result = rd::rd_kafka_event_DescribeConsumerGroups_result(event.raw());
                    let mut count = 0;
                    let rows = rd::rd_kafka_DescribeConsumerGroups_result_groups(result, &raw mut count);
                    match slice(rows, count).first() {
                        Some(row) => description(*row),
                        None => Err(CallError::Timeout),
                    }
                }
            },
        )
        .await
    }

    /// ListConsumerGroupOffsets of one group: every commit that it has, by topic and partition, and the partitions
    /// whose commit could not be read.
    pub async fn group_offsets(&self, group: &Name) -> Result<GroupOffsets, CallError> {
        let id = c_string(group);
        self.call(
            Op::RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
            // SAFETY: one valid C string; NULL partitions mean all; the request is copied by the call and freed here.
            |rk, options, queue| unsafe {
                let mut requests = [rd::rd_kafka_ListConsumerGroupOffsets_new(id.as_ptr(), ptr::null())];
                rd::rd_kafka_ListConsumerGroupOffsets(rk, requests.as_mut_ptr(), 1, options.raw(), queue);
                rd::rd_kafka_ListConsumerGroupOffsets_destroy(requests[0]);
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; what is read belongs to the event.
                unsafe {
                    let result = rd::rd_kafka_event_ListConsumerGroupOffsets_result(event.raw());
                    let mut count = 0;
                    let rows = rd::rd_kafka_ListConsumerGroupOffsets_result_groups(result, &raw mut count);
                    let Some(row) = slice(rows.cast_const(), count).first() else { return Err(CallError::Timeout) };
                    if let Some(error) = error::of(rd::rd_kafka_group_result_error(*row)) {
                        return Err(error);
                    }
                    Ok(commits(rd::rd_kafka_group_result_partitions(*row)))
                }
            },
        )
        .await
    }

    /// The old group list call (ListGroups and DescribeGroups on every broker), of all groups or of one. It describes
    /// every group that it lists: expensive, and one broker that is down fails it; what the others gave is returned
    /// with the error. Runs on a blocking thread.
    pub async fn typed_names(&self, group: Option<&Name>) -> (Vec<TypedName>, Option<CallError>) {
        let (consumer, timeout, group) = (self.consumer(), self.timeout(), group.map(c_string));
        let call = move || {
            let rk = rdkafka::consumer::Consumer::client(&*consumer).native_ptr();
            let filter = group.as_ref().map_or(ptr::null(), |group| group.as_ptr());
            let mut list: *const rd::rd_kafka_group_list = ptr::null();
            // SAFETY: the handle is alive; the list is ours, also with a partial answer, and is destroyed once.
            unsafe {
                let code = rd::rd_kafka_list_groups(rk, filter, &raw mut list, millis(timeout));
                let mut names = Vec::new();
                if !list.is_null() {
                    names = typed_names(&*list);
                    rd::rd_kafka_group_list_destroy(list);
                }
                (names, CallError::from_code(code))
            }
        };
        tokio::task::spawn_blocking(call).await.unwrap_or_else(|_| (Vec::new(), Some(CallError::Timeout)))
    }
}

/// Answer of [`Admin::group_offsets`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GroupOffsets {
    pub commits: BTreeMap<Name, BTreeMap<i32, Commit>>,
    pub failed: Vec<(Name, i32, CallError)>,
}

impl Client {
    /// The admin calls over this client; see [`Admin`].
    pub fn admin(&self, timeout: Duration) -> std::io::Result<Admin> {
        Admin::new(self, timeout)
    }
}

pub(super) fn millis(timeout: Duration) -> c_int {
    c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX)
}

/// NUL cannot be in a Kafka name that came through librdkafka's C strings.
pub(super) fn c_string(name: &Name) -> CString {
    CString::new(name.raw().replace('\0', "")).unwrap_or_default()
}

fn protocol(raw: RawType) -> Protocol {
    match raw {
        RawType::RD_KAFKA_CONSUMER_GROUP_TYPE_CONSUMER => Protocol::Consumer,
        RawType::RD_KAFKA_CONSUMER_GROUP_TYPE_CLASSIC => Protocol::Classic,
        _ => Protocol::Unknown,
    }
}

fn state(raw: RawState) -> GroupState {
    match raw {
        RawState::RD_KAFKA_CONSUMER_GROUP_STATE_PREPARING_REBALANCE => GroupState::PreparingRebalance,
        RawState::RD_KAFKA_CONSUMER_GROUP_STATE_COMPLETING_REBALANCE => GroupState::CompletingRebalance,
        RawState::RD_KAFKA_CONSUMER_GROUP_STATE_STABLE => GroupState::Stable,
        RawState::RD_KAFKA_CONSUMER_GROUP_STATE_DEAD => GroupState::Dead,
        RawState::RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY => GroupState::Empty,
        _ => GroupState::Unknown,
    }
}

/// # Safety
/// `row` must belong to a living DescribeConsumerGroups event.
unsafe fn description(
    row: *const rd::rd_kafka_ConsumerGroupDescription_t,
) -> Result<(Protocol, Description), CallError> {
    // SAFETY: the caller's promise; every accessor takes the row and returns a part of it. Node, target assignment and
    // instance id may be NULL, and are checked.
    unsafe {
        if let Some(error) = error::of(rd::rd_kafka_ConsumerGroupDescription_error(row)) {
            return Err(error);
        }
        let node = rd::rd_kafka_ConsumerGroupDescription_coordinator(row);
        let coordinator = (!node.is_null()).then(|| rd::rd_kafka_Node_id(node)).filter(|id| *id >= 0);
        let assignor = name(rd::rd_kafka_ConsumerGroupDescription_partition_assignor(row));
        let members = (0..rd::rd_kafka_ConsumerGroupDescription_member_count(row))
            .map(|index| member(rd::rd_kafka_ConsumerGroupDescription_member(row, index)))
            .collect();
        let description = Description {
            evidence: Evidence::Admin,
            state: state(rd::rd_kafka_ConsumerGroupDescription_state(row)),
            assignor: assignor.filter(|assignor| !assignor.is_empty()),
            coordinator,
            simple: rd::rd_kafka_ConsumerGroupDescription_is_simple_consumer_group(row) != 0,
            members,
            ..Description::default()
        };
        Ok((protocol(rd::rd_kafka_ConsumerGroupDescription_type(row)), description))
    }
}

/// # Safety
/// `raw` must belong to a living DescribeConsumerGroups event.
unsafe fn member(raw: *const rd::rd_kafka_MemberDescription_t) -> Member {
    // SAFETY: the caller's promise.
    unsafe {
        let assignment = rd::rd_kafka_MemberDescription_assignment(raw);
        let target = rd::rd_kafka_MemberDescription_target_assignment(raw);
        Member {
            id: name(rd::rd_kafka_MemberDescription_consumer_id(raw)).unwrap_or_default(),
            instance_id: name(rd::rd_kafka_MemberDescription_group_instance_id(raw)).filter(|id| !id.is_empty()),
            client_id: name(rd::rd_kafka_MemberDescription_client_id(raw)).unwrap_or_default(),
            host: name(rd::rd_kafka_MemberDescription_host(raw)).unwrap_or_default(),
            assignment: partitions_of(assignment),
            target: partitions_of(target),
            ..Member::default()
        }
    }
}

/// # Safety
/// `assignment` must be NULL or belong to a living event.
unsafe fn partitions_of(assignment: *const rd::rd_kafka_MemberAssignment_t) -> Option<TopicPartitions> {
    if assignment.is_null() {
        return None;
    }
    let mut out = TopicPartitions::new();
    // SAFETY: not NULL, alive.
    for element in unsafe { elements(rd::rd_kafka_MemberAssignment_partitions(assignment)) } {
        out.entry(name(element.topic).unwrap_or_default()).or_default().push(element.partition);
    }
    for partitions in out.values_mut() {
        partitions.sort_unstable();
    }
    Some(out)
}

/// # Safety
/// `list` must be NULL or live for `'a`.
pub(super) unsafe fn elements<'a>(
    list: *const rd::rd_kafka_topic_partition_list_t,
) -> &'a [rd::rd_kafka_topic_partition_t] {
    // SAFETY: the caller's promise; librdkafka keeps `cnt` elements behind `elems`.
    unsafe {
        match list.as_ref() {
            Some(list) if list.cnt > 0 => std::slice::from_raw_parts(list.elems, list.cnt as usize),
            _ => &[],
        }
    }
}

/// # Safety
/// `list` must be NULL or belong to a living event.
unsafe fn commits(list: *const rd::rd_kafka_topic_partition_list_t) -> GroupOffsets {
    let mut out = GroupOffsets::default();
    // SAFETY: the caller's promise.
    for element in unsafe { elements(list) } {
        let topic = name(element.topic).unwrap_or_default();
        if let Some(error) = CallError::from_code(element.err) {
            out.failed.push((topic, element.partition, error));
        } else if element.offset >= 0 {
            // SAFETY: reads the element's private part, which belongs to the same list.
            let epoch = unsafe { rd::rd_kafka_topic_partition_get_leader_epoch(element) };
            let commit =
                Commit { offset: element.offset, leader_epoch: (epoch >= 0).then_some(epoch), ..Commit::default() };
            out.commits.entry(topic).or_default().insert(element.partition, commit);
        }
    }
    out
}

/// # Safety
/// `list` must be a living answer of `rd_kafka_list_groups`.
unsafe fn typed_names(list: &rd::rd_kafka_group_list) -> Vec<TypedName> {
    // SAFETY: librdkafka keeps `group_cnt` groups and `member_cnt` members behind the pointers.
    unsafe {
        parts(list.groups, list.group_cnt)
            .iter()
            .map(|group| TypedName {
                id: name(group.group).unwrap_or_default(),
                protocol_type: name(group.protocol_type).unwrap_or_default(),
                state: name(group.state).unwrap_or_default(),
                members: parts(group.members, group.member_cnt)
                    .iter()
                    .map(|member| ClassicMember {
                        id: name(member.member_id).unwrap_or_default(),
                        client_id: name(member.client_id).unwrap_or_default(),
                        host: name(member.client_host).unwrap_or_default(),
                        metadata: parts(member.member_metadata.cast::<u8>(), member.member_metadata_size).to_vec(),
                    })
                    .collect(),
            })
            .collect()
    }
}

/// # Safety
/// `array` must be NULL or hold `count` elements that live for `'a`.
unsafe fn parts<'a, T>(array: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 && !array.is_null() => unsafe { std::slice::from_raw_parts(array, count) },
        _ => &[],
    }
}
