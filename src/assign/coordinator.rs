//! The order in which a group coordinator lists members and what they own: that of its hash tables. Server-side
//! assignors take it as it comes, so who gets which partition depends on it.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::input::{GroupInput, MemberInput, TopicInput, TopicPartition};
use super::java_hash::{DEFAULT_CAPACITY, capacity_for_copy, iteration_order, string_hash, uuid_hash};

/// Runs a server-side assignor with members, and what they own, in the order in which a coordinator has them.
pub(super) fn run(
    group: &GroupInput,
    assign: impl Fn(&GroupInput) -> Result<Assignment, AssignError>,
) -> Result<Assignment, AssignError> {
    let ids: Vec<i32> = group.members.iter().map(|member| string_hash(member.id.raw())).collect();
    let order = iteration_order(&ids, DEFAULT_CAPACITY);
    let member = |&place: &u32| {
        let member = &group.members[place as usize];
        MemberInput { owned: owned_in_hash_order(group, &member.owned), ..member.clone() }
    };
    let topic = |topic: &TopicInput| TopicInput {
        name: topic.name.clone(),
        id: topic.id,
        partitions: topic.partitions,
        ..TopicInput::default()
    };
    let ordered = GroupInput {
        members: order.iter().map(member).collect(),
        topics: group.topics.iter().map(topic).collect(),
        ..GroupInput::default()
    };
    let mut plan = Assignment::empty(group.members.len());
    for (place, partitions) in order.into_iter().zip(assign(&ordered)?.members) {
        plan.members[place as usize] = partitions;
    }
    Ok(plan)
}

/// Partitions in the order of a `Map<Uuid, Set<Integer>>`.
fn owned_in_hash_order(group: &GroupInput, owned: &[TopicPartition]) -> Vec<TopicPartition> {
    let mut sorted = owned.to_vec();
    sorted.sort_unstable();
    let topics: Vec<&[TopicPartition]> = sorted.chunk_by(|a, b| a.topic == b.topic).collect();
    let id = |tps: &&[TopicPartition]| group.topics[tps[0].topic as usize].id.map_or(0, uuid_hash);
    let hashes: Vec<i32> = topics.iter().map(id).collect();
    let mut result = Vec::with_capacity(sorted.len());
    for topic in iteration_order(&hashes, DEFAULT_CAPACITY) {
        let tps = topics[topic as usize];
        let numbers: Vec<i32> = tps.iter().map(|tp| tp.partition as i32).collect();
        let order = iteration_order(&numbers, capacity_for_copy(numbers.len()));
        result.extend(order.into_iter().map(|place| tps[place as usize]));
    }
    result
}
