//! `sticky`: the client-side `StickyAssignor` of Kafka 4.4, and the core that it shares with
//! [`super::cooperative_sticky`].
//!
//! Members with equal subscriptions are dealt by [`constrained`], others by [`general`]; [`claims`] says who owns what
//! before, [`racks`] which member is near which partition (KIP-881). Which members keep one partition more, and who wins a
//! doubtful claim, follows the order of a Java hash table of member ids, which is reproduced.
//!
//! Differences from the Java classes, which break their own contract there:
//! - a member without topics never counts as having the same subscription as others (Java: it does when it comes first
//!   in hash order, and then gets partitions that it does not read);
//! - an owned partition whose number does not exist is dropped (Java keeps it, hands real partitions to two members, or
//!   throws `IllegalStateException`);
//! - a partition goes back to its owner of an older generation only while that member still reads the topic.

mod claims;
mod constrained;
mod general;
mod movements;
mod racks;

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::flat::Flat;
use super::input::{GroupInput, MemberInput, TopicPartition};
use claims::Claims;
use racks::Racks;

/// Assigns, keeping as much as balance allows of what members own.
///
/// # Errors
/// [`AssignError::NoMembers`], as the Java class throws.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    // The eager protocol gives everything up before it joins: what was owned, and when, travels in the user data.
    let generation = |member: &MemberInput| member.user_data_generation.or(member.generation);
    Ok(deal(group, generation)?.plan)
}

/// The core's result.
pub(super) struct Dealt {
    pub(super) plan: Assignment,
    /// Partitions that a member gets while another still has them.
    pub(super) changing_hands: Vec<TopicPartition>,
}

/// Everything that both algorithms read.
struct Table<'a> {
    group: &'a GroupInput,
    /// Existing partitions of subscribed topics, in the order of topic names.
    flat: Flat,
    /// Members in the order of a Java hash table.
    hash_order: Vec<u32>,
    /// Place of each member in the order of member ids.
    id_rank: Vec<u32>,
    claims: Claims,
    racks: Option<Racks<'a>>,
}

/// Runs the algorithm that fits the subscriptions.
pub(super) fn deal(group: &GroupInput, generation: impl Fn(&MemberInput) -> Option<i32>) -> Result<Dealt, AssignError> {
    if group.members.is_empty() {
        return Err(AssignError::NoMembers);
    }
    let mut subscribed = vec![false; group.topics.len()];
    for &topic in group.members.iter().flat_map(|member| &member.topics) {
        subscribed[topic as usize] = true;
    }
    let flat = Flat::of_topics(group, group.topics_by_name().into_iter().filter(|&topic| subscribed[topic as usize]));
    let hash_order = claims::hash_order(group);
    let claims = Claims::of(group, &flat, &hash_order, generation);
    let racks = Racks::of(group, &flat);
    let mut id_rank = vec![0; group.members.len()];
    for (rank, member) in group.members_by_id().into_iter().enumerate() {
        id_rank[member as usize] = rank as u32;
    }
    let table = Table { group, flat, hash_order, id_rank, claims, racks };
    Ok(if has_same_subscriptions(group) { constrained::deal(&table) } else { general::deal(&table) })
}

/// True when all members name the same topics, whether those exist or not.
fn has_same_subscriptions(group: &GroupInput) -> bool {
    let first = &group.members[0].topics;
    let mut named = vec![false; group.topics.len()];
    for &topic in first {
        named[topic as usize] = true;
    }
    let same = |member: &MemberInput| {
        member.topics.len() == first.len() && member.topics.iter().all(|&topic| named[topic as usize])
    };
    group.members.iter().all(same)
}
