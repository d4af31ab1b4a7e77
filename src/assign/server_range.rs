//! `server-range`: the coordinator's `RangeAssignor` of Kafka 4.4, for KIP-848 groups (there its name is `range`).
//!
//! Topic by topic contiguous ranges, static members first by instance id, then the others by member id; the first
//! `n % m` members get one partition more. Ignores racks and what members own: it is not sticky.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::input::{GroupInput, TopicPartition};

/// Assigns ranges; a group without members gets an empty assignment. O(P + M log M).
///
/// # Errors
/// [`AssignError::UnknownTopic`] for a subscribed topic that does not exist. A coordinator never gets there: it leaves
/// unknown names out of the subscription.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    let mut plan = Assignment::empty(group.members.len());
    let subscribers = group.subscribers_in(group.members_static_first());
    for (topic, members) in subscribers.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
        let input = &group.topics[topic];
        let count = input.partitions.ok_or_else(|| AssignError::UnknownTopic(input.name.clone()))?;
        let (quota, extras) = (count / members.len() as u32, count % members.len() as u32);
        let mut start = 0;
        for (place, &member) in members.iter().enumerate() {
            let end = start + quota + u32::from((place as u32) < extras);
            let range = (start..end).map(|partition| TopicPartition { topic: topic as u32, partition });
            plan.members[member as usize].extend(range);
            start = end;
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput};
    use super::*;

    #[test]
    fn ranges_per_topic() {
        let topic = |name: &str, partitions| TopicInput { name: name.into(), partitions, ..TopicInput::default() };
        let member =
            |id: &str, topics: &[u32]| MemberInput { id: id.into(), topics: topics.to_vec(), ..MemberInput::default() };
        let mut group = GroupInput {
            members: vec![member("b", &[0]), member("a", &[0, 1])],
            topics: vec![topic("t", Some(3)), topic("u", Some(2)), topic("gone", None)],
            ..GroupInput::default()
        };
        let tp = |topic, partition| TopicPartition { topic, partition };
        assert_eq!(assign(&group).unwrap().members, [vec![tp(0, 2)], vec![tp(0, 0), tp(0, 1), tp(1, 0), tp(1, 1)]]);
        group.members[0].topics.push(2);
        assert_eq!(assign(&group), Err(AssignError::UnknownTopic("gone".into())));
    }
}
