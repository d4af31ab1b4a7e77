//! `roundrobin`: the client-side `RoundRobinAssignor` of Kafka 4.4.
//!
//! All partitions by topic name and number go round the members (static ones first, by instance id; then the others by
//! member id); members that do not subscribe to the topic are passed over. Ignores racks and what members own.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::input::{GroupInput, TopicPartition};

/// Deals partitions round the members. O((P + M) log M).
///
/// # Errors
/// [`AssignError::NoMembers`], as the Java class throws.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    if group.members.is_empty() {
        return Err(AssignError::NoMembers);
    }
    let order = group.members_static_first();
    let mut rank = vec![0; order.len()];
    for (place, &member) in order.iter().enumerate() {
        rank[member as usize] = place;
    }
    let subscribers = group.subscribers_in(order);
    let mut plan = Assignment::empty(group.members.len());
    // Place of the member whose turn it is.
    let mut turn = 0;
    for topic in group.topics_by_name() {
        let members = &subscribers[topic as usize];
        let count = group.topics[topic as usize].count();
        if members.is_empty() || count == 0 {
            continue;
        }
        let mut next = members.partition_point(|&member| rank[member as usize] < turn) % members.len();
        for partition in 0..count {
            let member = members[next];
            plan.members[member as usize].push(TopicPartition { topic, partition });
            turn = rank[member as usize] + 1;
            next = (next + 1) % members.len();
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput};
    use super::*;

    fn topic(name: &str, partitions: u32) -> TopicInput {
        TopicInput { name: name.into(), partitions: Some(partitions), ..TopicInput::default() }
    }

    fn member(id: &str, topics: &[u32]) -> MemberInput {
        MemberInput { id: id.into(), topics: topics.to_vec(), ..MemberInput::default() }
    }

    #[test]
    fn the_turn_goes_on_from_topic_to_topic() {
        let group = GroupInput {
            members: vec![member("m2", &[0, 1]), member("m1", &[0, 1]), member("m3", &[1])],
            topics: vec![topic("b", 3), topic("a", 3)],
            ..GroupInput::default()
        };
        let plan = assign(&group).unwrap();
        let tp = |topic, partition| TopicPartition { topic, partition };
        // "a" goes m1, m2, m3; "b", which m3 does not read, goes m1, m2, m1.
        assert_eq!(plan.members, [vec![tp(1, 1), tp(0, 1)], vec![tp(1, 0), tp(0, 0), tp(0, 2)], vec![tp(1, 2)]]);
    }

    /// CASES 57: nobody to assign to is an error in Java; nothing to assign is not.
    #[test]
    fn no_members_is_an_error() {
        assert_eq!(assign(&GroupInput::default()), Err(AssignError::NoMembers));
        let group = GroupInput { members: vec![member("a", &[])], ..GroupInput::default() };
        assert!(assign(&group).unwrap().is_empty());
    }
}
