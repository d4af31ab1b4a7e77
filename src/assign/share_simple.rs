//! `simple`: the coordinator's `SimpleAssignor` of Kafka 4.4 for share groups (KIP-932), in which several members may
//! have the same partition.
//!
//! With P partitions and M members, ⌈M/P⌉ members share a partition, and the M · quotas are spread evenly over the members
//! in their order. Members keep what fits; then partitions go round the members below quota. With different
//! subscriptions this happens topic by topic, among the topic's subscribers. Ignores racks.
//!
//! Which partition comes first, of what a member has too much or of all that have to be dealt, is the order of Java hash
//! tables. It is reproduced for one topic and for different subscriptions; with equal subscriptions to several topics it is
//! not known in full, so there who gets what may differ from Java, but not how much. Another difference: Java leaves a member the partitions of a
//! topic that nobody subscribes to any more; here nobody has those.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::flat::{Flat, Grouped};
use super::input::{GroupInput, TopicPartition};
use super::java_hash::{DEFAULT_CAPACITY, capacity_for_copy, iteration_order, uuid_hash};
use super::uniform::has_equal_subscriptions;

/// Assigns; a group without members gets an empty assignment.
///
/// # Errors
/// [`AssignError::UnknownTopic`] for a subscribed topic that does not exist. A coordinator never gets there: it leaves
/// unknown names out of the subscription.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    if has_equal_subscriptions(group) { assign_equal(group) } else { assign_different(group) }
}

/// The dealing for members with equal subscriptions.
///
/// # Errors
/// As [`assign`].
pub fn assign_equal(group: &GroupInput) -> Result<Assignment, AssignError> {
    let subscribers = subscribers(group)?;
    let mut plan = Assignment::empty(group.members.len());
    let Some(first) = group.members.first() else { return Ok(plan) };
    let everybody: Vec<u32> = (0..group.members.len() as u32).collect();
    let hash_of = |topic: u32| group.topics[topic as usize].id.map_or(0, uuid_hash);
    let ids: Vec<i32> = first.topics.iter().map(|&topic| hash_of(topic)).collect();
    let topics = iteration_order(&ids, DEFAULT_CAPACITY).into_iter().map(|place| first.topics[place as usize]);
    let flat = Flat::of_topics(group, topics.filter(|&topic| !subscribers[topic as usize].is_empty()));
    let hash = |number: u32| {
        let tp = flat.partition(number);
        hash_of(tp.topic).wrapping_mul(31).wrapping_add(tp.partition as i32)
    };
    let in_order = |numbers: &[u32], capacity: usize| -> Vec<u32> {
        let hashes: Vec<i32> = numbers.iter().map(|&number| hash(number)).collect();
        iteration_order(&hashes, capacity).into_iter().map(|place| numbers[place as usize]).collect()
    };
    let all: Vec<u32> = (0..flat.len() as u32).collect();
    let targets = in_order(&all, ((all.len() + 1) as f64 / 0.75 + 1.0) as usize);
    let owned = |member: u32| {
        let owned = group.members[member as usize].owned.iter();
        in_order(&distinct(owned.filter_map(|&tp| flat.number(tp)).collect()), DEFAULT_CAPACITY)
    };
    let mut dealing = Dealing::of(&everybody, flat.len(), owned);
    dealing.deal(&targets);
    dealing.write(&flat, &mut plan);
    Ok(plan)
}

/// The dealing for members with different subscriptions.
///
/// # Errors
/// As [`assign`].
pub fn assign_different(group: &GroupInput) -> Result<Assignment, AssignError> {
    let subscribers = subscribers(group)?;
    let mut plan = Assignment::empty(group.members.len());
    let all_owned = group.members.iter().enumerate();
    let all_owned = all_owned.flat_map(|(m, member)| member.owned.iter().map(move |tp| (tp.topic, (m as u32, *tp))));
    let by_topic: Grouped<(u32, TopicPartition)> = Grouped::new(group.topics.len(), all_owned);
    for (topic, members) in subscribers.iter().enumerate() {
        let flat = Flat::of_topics(group, [topic as u32]);
        let mut owned_by: Vec<Vec<u32>> = vec![Vec::new(); group.members.len()];
        for &(member, tp) in by_topic.at(topic as u32) {
            owned_by[member as usize].extend(flat.number(tp));
        }
        let owned = |member: u32| {
            // A `HashSet<Integer>`; here a flat number is a partition number.
            let numbers = distinct(owned_by[member as usize].clone());
            let hashes: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
            let order = iteration_order(&hashes, capacity_for_copy(numbers.len()));
            order.into_iter().map(|place| numbers[place as usize]).collect()
        };
        let mut dealing = Dealing::of(members, flat.len(), owned);
        dealing.deal(&(0..flat.len() as u32).collect::<Vec<_>>());
        dealing.write(&flat, &mut plan);
    }
    Ok(plan)
}

fn subscribers(group: &GroupInput) -> Result<Vec<Vec<u32>>, AssignError> {
    let subscribers = group.subscribers();
    let unknown =
        |(topic, members): &(&super::TopicInput, &Vec<u32>)| !members.is_empty() && topic.partitions.is_none();
    match group.topics.iter().zip(&subscribers).find(unknown) {
        Some((topic, _)) => Err(AssignError::UnknownTopic(topic.name.clone())),
        None => Ok(subscribers),
    }
}

fn distinct(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// One round of dealing partitions to members.
struct Dealing<'a> {
    members: &'a [u32],
    quotas: Vec<usize>,
    /// What each of `members` has.
    lists: Vec<Vec<u32>>,
    /// Who has each partition: places in `members`.
    holders: Vec<Vec<u32>>,
    /// Members that share a partition.
    sharing: usize,
}

impl<'a> Dealing<'a> {
    fn of(members: &'a [u32], partitions: usize, owned: impl Fn(u32) -> Vec<u32>) -> Self {
        let sharing = members.len().div_ceil(partitions.max(1));
        let each = (sharing * partitions) as f64 / members.len().max(1) as f64;
        let mut dealt = 0;
        let mut quota = |place: usize| {
            let quota = (each * (place + 1) as f64).ceil() as usize - dealt;
            dealt += quota;
            quota
        };
        let quotas = (0..members.len()).map(&mut quota).collect();
        let lists: Vec<Vec<u32>> = members.iter().map(|&member| owned(member)).collect();
        let mut holders = vec![Vec::new(); partitions];
        for (place, list) in lists.iter().enumerate() {
            for &number in list {
                holders[number as usize].push(place as u32);
            }
        }
        Self { members, quotas, lists, holders, sharing }
    }

    fn deal(&mut self, targets: &[u32]) {
        for place in 0..self.members.len() {
            let surplus = self.lists[place].len().saturating_sub(self.quotas[place]);
            for number in self.lists[place].drain(..surplus) {
                self.holders[number as usize].retain(|&holder| holder != place as u32);
            }
        }
        for &number in targets {
            let holders = &mut self.holders[number as usize];
            let surplus = holders.len().saturating_sub(self.sharing);
            for place in holders.drain(..surplus) {
                self.lists[place as usize].retain(|&other| other != number);
            }
        }
        let below = |place: &usize| self.lists[*place].len() < self.quotas[*place];
        let mut unfilled: Vec<usize> = (0..self.members.len()).filter(below).collect();
        let mut turn = 0;
        for &number in targets {
            let mut passed = 0;
            while self.holders[number as usize].len() < self.sharing && passed < unfilled.len() {
                turn %= unfilled.len();
                let place = unfilled[turn];
                if self.holders[number as usize].contains(&(place as u32)) {
                    turn += 1;
                    passed += 1;
                    continue;
                }
                self.holders[number as usize].push(place as u32);
                self.lists[place].push(number);
                passed = 0;
                if self.lists[place].len() < self.quotas[place] {
                    turn += 1;
                } else {
                    unfilled.remove(turn);
                }
            }
        }
    }

    fn write(&self, flat: &Flat, plan: &mut Assignment) {
        for (&member, list) in self.members.iter().zip(&self.lists) {
            plan.members[member as usize].extend(list.iter().map(|&number| flat.partition(number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput};
    use super::*;

    fn group(members: usize, partitions: u32) -> GroupInput {
        let member = |n: usize| MemberInput { id: format!("m{n}").into(), topics: vec![0], ..MemberInput::default() };
        let topic = TopicInput { name: "t".into(), partitions: Some(partitions), ..TopicInput::default() };
        GroupInput { members: (0..members).map(member).collect(), topics: vec![topic], ..GroupInput::default() }
    }

    fn counts(group: &GroupInput) -> Vec<usize> {
        assign(group).unwrap().members.iter().map(Vec::len).collect()
    }

    /// CASES 18: eight members share six partitions: nobody is idle.
    #[test]
    fn more_members_than_partitions_share() {
        assert_eq!(counts(&group(8, 6)), [2, 1, 2, 1, 2, 1, 2, 1]);
        assert_eq!(counts(&group(4, 6)), [2, 1, 2, 1]);
    }

    #[test]
    fn no_partition_is_lost() {
        for members in 1..12 {
            for partitions in 1..12 {
                let mut group = group(members, partitions);
                let all = (0..partitions).map(|partition| TopicPartition { topic: 0, partition });
                group.members[0].owned = all.clone().collect();
                let plan = assign(&group).unwrap();
                assert!(all.into_iter().all(|tp| plan.members.iter().any(|list| list.contains(&tp))));
                let sharing = (members as u32).div_ceil(partitions);
                assert_eq!(plan.len() as u32, sharing * partitions, "{members} {partitions}");
            }
        }
    }

    /// CASES 57.
    #[test]
    fn nothing_is_no_error() {
        assert!(counts(&group(0, 3)).is_empty());
        assert_eq!(counts(&group(2, 0)), [0, 0]);
    }
}
