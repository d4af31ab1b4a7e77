//! `uniform`: the coordinator's `UniformAssignor` of Kafka 4.4, for KIP-848 groups: sticky and balanced.
//!
//! This file deals groups in which every member has the same subscription; [`super::uniform_heterogeneous`] the others.
//! A member keeps its first `quota` partitions; the rest, after those that nobody had, goes to members with room, each
//! filled up at once: not round robin. Ignores racks and instance ids.
//!
//! What comes first is the order of Java hash tables. Members, and what they own, are taken in the order of the input
//! (see [`super::coordinator`]); topics in the hash order of their ids.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::flat::Flat;
use super::input::{GroupInput, MemberInput};
use super::java_hash::{DEFAULT_CAPACITY, iteration_order, uuid_hash};
use super::uniform_heterogeneous;

const NOBODY: usize = usize::MAX;

/// Assigns; a group without members gets an empty assignment. O(P + M) for equal subscriptions.
///
/// # Errors
/// [`AssignError::UnknownTopic`] for a subscribed topic that does not exist. A coordinator never gets there: it leaves
/// unknown names out of the subscription.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    if has_equal_subscriptions(group) { assign_equal(group) } else { uniform_heterogeneous::assign(group) }
}

/// True when every member subscribes to every topic that any member subscribes to.
pub(super) fn has_equal_subscriptions(group: &GroupInput) -> bool {
    let Some(first) = group.members.first() else { return true };
    let mut wanted = vec![false; group.topics.len()];
    for &topic in &first.topics {
        wanted[topic as usize] = true;
    }
    let same = |member: &MemberInput| {
        member.topics.len() == first.topics.len() && member.topics.iter().all(|&topic| wanted[topic as usize])
    };
    group.members.iter().all(same)
}

/// The dealing for members with equal subscriptions.
pub fn assign_equal(group: &GroupInput) -> Result<Assignment, AssignError> {
    let mut plan = Assignment::empty(group.members.len());
    let Some(first) = group.members.first() else { return Ok(plan) };
    let topics = hash_order(group, &first.topics)?;
    let flat = Flat::of(group);
    let mut subscribed = vec![false; group.topics.len()];
    for &topic in &topics {
        subscribed[topic as usize] = true;
    }
    // Of two members that claim a partition, which a coordinator never has, the first keeps it.
    let mut owner = vec![NOBODY; flat.len()];
    for (place, member) in group.members.iter().enumerate().rev() {
        for number in member.owned.iter().filter_map(|&tp| flat.number(tp)) {
            owner[number as usize] = place;
        }
    }
    let mut pool = Vec::new();
    let mut total = 0;
    for &topic in &topics {
        let numbers = flat.of_topic(topic);
        total += numbers.len();
        pool.extend(numbers.filter(|&number| owner[number as usize] == NOBODY));
    }

    let members = group.members.len();
    let quota = total / members;
    let mut extras = total % members;
    let mut unfilled: Vec<(usize, usize)> = Vec::new();
    for (place, member) in group.members.iter().enumerate() {
        let with_extra = extras > 0;
        extras -= usize::from(with_extra);
        let mut room = quota + usize::from(with_extra);
        let kept = &mut plan.members[place];
        kept.reserve(room);
        for &tp in member.owned.iter().filter(|tp| subscribed[tp.topic as usize]) {
            let Some(number) = flat.number(tp).filter(|&n| owner[n as usize] == place) else { continue };
            if room > 0 {
                room -= 1;
                kept.push(tp);
            } else {
                pool.push(number);
            }
        }
        // A member that does not fill its extra place leaves it to a later one while there are enough of them.
        if room > 0 && with_extra && members - place - 1 > extras {
            room -= 1;
            extras += 1;
        }
        if room > 0 {
            unfilled.push((place, room));
        }
    }
    let mut pool = pool.into_iter();
    for (place, room) in unfilled {
        plan.members[place].extend(pool.by_ref().take(room).map(|number| flat.partition(number)));
    }
    Ok(plan)
}

/// Topics in the order of a Java `HashSet` of their ids; in the order given when some id is not known.
fn hash_order(group: &GroupInput, topics: &[u32]) -> Result<Vec<u32>, AssignError> {
    if let Some(input) = topics.iter().map(|&t| &group.topics[t as usize]).find(|t| t.partitions.is_none()) {
        return Err(AssignError::UnknownTopic(input.name.clone()));
    }
    let ids: Option<Vec<i32>> = topics.iter().map(|&t| group.topics[t as usize].id.map(uuid_hash)).collect();
    let Some(ids) = ids else { return Ok(topics.to_vec()) };
    Ok(iteration_order(&ids, DEFAULT_CAPACITY).into_iter().map(|place| topics[place as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::input::{TopicInput, TopicPartition};
    use super::*;

    fn group(members: &[&[u32]], partitions: u32) -> GroupInput {
        let member = |(n, owned): (usize, &&[u32])| MemberInput {
            id: format!("m{n}").into(),
            topics: vec![0],
            owned: owned.iter().map(|&partition| TopicPartition { topic: 0, partition }).collect(),
            ..MemberInput::default()
        };
        let topic = TopicInput { name: "t".into(), partitions: Some(partitions), ..TopicInput::default() };
        GroupInput {
            members: members.iter().enumerate().map(member).collect(),
            topics: vec![topic],
            ..GroupInput::default()
        }
    }

    fn partitions(group: &GroupInput) -> Vec<Vec<u32>> {
        assign(group).unwrap().members.iter().map(|tps| tps.iter().map(|tp| tp.partition).collect()).collect()
    }

    #[test]
    // The first member had nothing to fill the one place more with, so it goes to the second.
    fn members_are_filled_one_after_the_other() {
        assert_eq!(partitions(&group(&[&[], &[]], 5)), [vec![0, 1], vec![2, 3, 4]]);
    }

    #[test]
    fn what_fits_is_kept() {
        assert_eq!(partitions(&group(&[&[0, 1, 2, 3], &[], &[]], 6)), [vec![0, 1], vec![4, 5], vec![2, 3]]);
    }

    /// The first member has only what everybody may have, so the one partition more stays with the second.
    #[test]
    fn an_extra_place_goes_to_whoever_fills_it() {
        assert_eq!(partitions(&group(&[&[0], &[1, 2]], 3)), [vec![0], vec![1, 2]]);
    }

    #[test]
    fn two_claims_leave_one_owner() {
        let got = partitions(&group(&[&[0, 1], &[1, 0, 2]], 3));
        assert_eq!(got, [vec![0, 1], vec![2]]);
    }

    /// CASES 57.
    #[test]
    fn nothing_is_no_error() {
        assert!(partitions(&group(&[], 3)).is_empty());
        assert_eq!(partitions(&group(&[&[]], 0)), [Vec::<u32>::new()]);
        let mut missing = group(&[&[]], 0);
        missing.topics[0].partitions = None;
        assert_eq!(assign(&missing), Err(AssignError::UnknownTopic("t".into())));
    }
}
