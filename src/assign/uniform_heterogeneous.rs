//! `uniform` for groups whose members subscribe to different topics (see [`super::uniform`] for the others).
//!
//! Members keep what they own and still read. Then topic by topic, those with the most partitions for each subscriber
//! first, unowned partitions go to the least loaded subscriber. At last the topics are balanced: partitions with the
//! highest numbers move from the most to the least loaded subscriber until their loads differ by at most one; moving
//! one topic's partitions unbalances others, so there are up to sixteen rounds. Ties go by the order in which a topic's
//! subscribers stood (load, then place in the group) before its dealing or balancing began.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::flat::{Flat, Grouped};
use super::input::GroupInput;

/// Rounds of balancing after which the Java class gives up.
const MAX_ROUNDS: usize = 16;

const NOBODY: u32 = u32::MAX;

/// Assigns; a group without members gets an empty assignment.
///
/// # Errors
/// [`AssignError::UnknownTopic`] for a subscribed topic that does not exist.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    let mut dealing = Dealing::of(group)?;
    for place in 0..dealing.topics.len() {
        dealing.deal(place);
    }
    for _ in 0..MAX_ROUNDS {
        let mut moved = 0;
        for place in 0..dealing.topics.len() {
            moved += dealing.balance(place);
        }
        if moved == 0 {
            break;
        }
    }
    Ok(dealing.plan(group.members.len()))
}

struct Dealing {
    flat: Flat,
    /// Subscribed topics in the order of work, with their subscribers.
    topics: Vec<(u32, Vec<u32>)>,
    /// Owner of each partition.
    owner: Vec<u32>,
    /// Partitions of each member.
    load: Vec<u32>,
}

impl Dealing {
    fn of(group: &GroupInput) -> Result<Self, AssignError> {
        let mut topics = Vec::new();
        for (topic, members) in group.subscribers().into_iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            if group.topics[topic].partitions.is_none() {
                return Err(AssignError::UnknownTopic(group.topics[topic].name.clone()));
            }
            topics.push((topic as u32, members));
        }
        let key = |(topic, members): &(u32, Vec<u32>)| {
            let input = &group.topics[*topic as usize];
            // Java compares the two halves of an id as signed numbers.
            let id = input.id.map(|id| id.as_u64_pair()).map(|(most, least)| (most as i64, least as i64));
            (f64::from(input.count()) / members.len() as f64, members.len(), id)
        };
        topics.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        });

        let flat = Flat::of(group);
        let mut owner = vec![NOBODY; flat.len()];
        let mut load = vec![0; group.members.len()];
        let mut subscribed = vec![NOBODY; group.topics.len()];
        for (place, member) in group.members.iter().enumerate() {
            for &topic in &member.topics {
                subscribed[topic as usize] = place as u32;
            }
            for &tp in member.owned.iter().filter(|tp| subscribed[tp.topic as usize] == place as u32) {
                let Some(number) = flat.number(tp) else { continue };
                if owner[number as usize] == NOBODY {
                    owner[number as usize] = place as u32;
                    load[place] += 1;
                }
            }
        }
        Ok(Self { flat, topics, owner, load })
    }

    /// The subscribers of a topic by load, then place in the group.
    fn by_load(&self, place: usize) -> Vec<u32> {
        let mut members = self.topics[place].1.clone();
        members.sort_by_key(|&member| (self.load[member as usize], member));
        members
    }

    /// Gives the unowned partitions of a topic to its least loaded subscribers.
    fn deal(&mut self, place: usize) {
        let numbers = self.flat.of_topic(self.topics[place].0);
        if numbers.clone().all(|number| self.owner[number as usize] != NOBODY) {
            return;
        }
        let members = self.by_load(place);
        let mut queue = self.queue(&members);
        for number in numbers.filter(|&number| self.owner[number as usize] == NOBODY).collect::<Vec<_>>() {
            let Some(mut least) = queue.peek_mut() else { return };
            let Reverse((load, rank)) = *least;
            *least = Reverse((load + 1, rank));
            let member = members[rank as usize];
            self.owner[number as usize] = member;
            self.load[member as usize] += 1;
        }
    }

    /// The least loaded of `members` first: (load, place in `members`).
    fn queue(&self, members: &[u32]) -> BinaryHeap<Reverse<(u32, u32)>> {
        members.iter().enumerate().map(|(rank, &member)| Reverse((self.load[member as usize], rank as u32))).collect()
    }

    /// Moves a topic's partitions from its most to its least loaded subscribers; returns how many.
    fn balance(&mut self, place: usize) -> usize {
        let members = &self.topics[place].1;
        let numbers = self.flat.of_topic(self.topics[place].0);
        let loads = members.iter().map(|&member| self.load[member as usize]);
        let least = loads.min().unwrap_or(0);
        let most = numbers.clone().map(|number| self.load[self.owner[number as usize] as usize]).max().unwrap_or(0);
        if most <= least + 1 {
            return 0;
        }
        let members = self.by_load(place);
        let mut rank_of = vec![0; self.load.len()];
        for (rank, &member) in members.iter().enumerate() {
            rank_of[member as usize] = rank as u32;
        }
        let held =
            Grouped::new(members.len(), numbers.map(|number| (rank_of[self.owner[number as usize] as usize], number)));
        let mut left: Vec<usize> = (0..members.len() as u32).map(|rank| held.at(rank).len()).collect();
        // A member that gives never gets and the other way round: both loads move towards each other and stop in time.
        let mut takers = self.queue(&members);
        let mut givers: BinaryHeap<(u32, u32)> =
            takers.iter().map(|&Reverse(entry)| entry).filter(|&(_, rank)| left[rank as usize] > 0).collect();
        let mut moved = 0;
        while let (Some(&(most, giver)), Some(&Reverse((least, taker)))) = (givers.peek(), takers.peek()) {
            if most <= least + 1 {
                break;
            }
            givers.pop();
            takers.pop();
            left[giver as usize] -= 1;
            let number = held.at(giver)[left[giver as usize]];
            self.owner[number as usize] = members[taker as usize];
            self.load[members[giver as usize] as usize] -= 1;
            self.load[members[taker as usize] as usize] += 1;
            if left[giver as usize] > 0 {
                givers.push((most - 1, giver));
            }
            takers.push(Reverse((least + 1, taker)));
            moved += 1;
        }
        moved
    }

    fn plan(&self, members: usize) -> Assignment {
        let mut plan = Assignment::empty(members);
        for (number, &owner) in self.owner.iter().enumerate().filter(|(_, owner)| **owner != NOBODY) {
            plan.members[owner as usize].push(self.flat.partition(number as u32));
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput, TopicPartition};
    use super::*;

    /// CASES 24: many one-partition topics and few subscriptions in common still come out even.
    #[test]
    fn different_subscriptions_come_out_even() {
        let topic = |n: u32| TopicInput { name: format!("t{n}").into(), partitions: Some(1), ..TopicInput::default() };
        let member = |n: u32, topics: Vec<u32>, owned: Vec<u32>| MemberInput {
            id: format!("m{n}").into(),
            topics,
            owned: owned.into_iter().map(|topic| TopicPartition { topic, partition: 0 }).collect(),
            ..MemberInput::default()
        };
        let group = GroupInput {
            members: vec![
                member(0, (0..30).collect(), (0..16).collect()),
                member(1, (0..30).collect(), (16..30).collect()),
                member(2, (0..20).collect(), Vec::new()),
            ],
            topics: (0..30).map(topic).collect(),
            ..GroupInput::default()
        };
        let counts: Vec<usize> = assign(&group).unwrap().members.iter().map(Vec::len).collect();
        assert_eq!(counts, [10, 10, 10]);
    }
}
