//! [`Problem`]: the group in the order that decides ties (member ids, topic names), as numbers.

use super::super::assignment::Assignment;
use super::super::flat::Flat;
use super::super::input::GroupInput;
use super::super::moves::{Owner, owners};

pub(super) const NOBODY: u32 = u32::MAX;

/// What does not change during a search. Members are ranks in the order of member ids.
pub(super) struct Problem {
    pub(super) members: usize,
    /// All members subscribe to the same topics.
    pub(super) equal: bool,
    /// Existing partitions of subscribed topics, by topic name.
    pub(super) flat: Flat,
    /// Lag of each partition.
    pub(super) lags: Vec<u64>,
    /// Partitions by lag, the largest first, then by number.
    pub(super) by_lag: Vec<u32>,
    /// Current owner of each partition where it may keep it, else [`NOBODY`].
    pub(super) homes: Vec<u32>,
    /// Partitions whose owner is gone or does not subscribe.
    pub(super) forced: u32,
    /// Number of all topics of the group, and those with partitions and subscribers, by name.
    pub(super) topics: usize,
    pub(super) named: Vec<u32>,
    /// `reads[member * topics + topic]`.
    reads: Vec<bool>,
    /// The member of each rank, as its place in the group.
    pub(super) by_rank: Vec<u32>,
}

impl Problem {
    pub(super) fn of(group: &GroupInput) -> Self {
        let topics = group.topics.len();
        let by_rank = group.members_by_id();
        let mut ranks = vec![0; by_rank.len()];
        let mut reads = vec![false; by_rank.len() * topics];
        let mut subscribers = vec![0usize; topics];
        for (rank, &member) in by_rank.iter().enumerate() {
            ranks[member as usize] = rank as u32;
            for &topic in &group.members[member as usize].topics {
                reads[rank * topics + topic as usize] = true;
                subscribers[topic as usize] += 1;
            }
        }
        let exists = |topic: &u32| subscribers[*topic as usize] > 0 && group.topics[*topic as usize].count() > 0;
        let named: Vec<u32> = group.topics_by_name().into_iter().filter(exists).collect();
        let equal = named.iter().all(|&topic| subscribers[topic as usize] == by_rank.len());
        let flat = Flat::of_topics(group, named.iter().copied());

        // Sums of lags must fit.
        let most = u64::MAX / (flat.len() as u64 + 1);
        let lags: Vec<u64> = (0..flat.len() as u32).map(|n| group.lag(flat.partition(n)).min(most)).collect();
        let mut by_lag: Vec<u32> = (0..flat.len() as u32).collect();
        by_lag.sort_unstable_by_key(|&number| (std::cmp::Reverse(lags[number as usize]), number));

        let owners = owners(group, &flat);
        let mut homes = vec![NOBODY; flat.len()];
        let mut forced = 0;
        for number in 0..flat.len() as u32 {
            let keeps = |owner: &Owner| match *owner {
                Owner::Member(member) => {
                    let rank = ranks[member as usize];
                    reads[rank as usize * topics + flat.topic(number) as usize].then_some(rank)
                }
                Owner::Departed(_) => None,
            };
            match owners.at(number).iter().filter_map(keeps).min() {
                Some(rank) => homes[number as usize] = rank,
                None => forced += u32::from(!owners.at(number).is_empty()),
            }
        }
        Self { members: by_rank.len(), equal, flat, lags, by_lag, homes, forced, topics, named, reads, by_rank }
    }

    /// True when the member subscribes to the partition's topic.
    pub(super) fn may_own(&self, member: u32, number: u32) -> bool {
        self.equal || self.reads(member, self.flat.topic(number))
    }

    pub(super) fn reads(&self, member: u32, topic: u32) -> bool {
        self.reads[member as usize * self.topics + topic as usize]
    }

    /// A topic of which `from` holds partitions and to which `to` subscribes.
    pub(super) fn shared_topic(&self, held: &[u32], from: u32, to: u32) -> Option<u32> {
        let held = &held[from as usize * self.topics..][..self.topics];
        self.named.iter().copied().find(|&topic| held[topic as usize] > 0 && self.reads(to, topic))
    }

    /// No assignment has a smaller largest-member-lag.
    pub(super) fn lower_bound(&self) -> u64 {
        let largest = self.by_lag.first().map_or(0, |&number| self.lags[number as usize]);
        self.lags.iter().sum::<u64>().div_ceil(self.members as u64).max(largest)
    }

    pub(super) fn assignment(&self, owners: &[u32]) -> Assignment {
        let mut plan = Assignment::empty(self.members);
        for (number, &owner) in owners.iter().enumerate() {
            plan.members[self.by_rank[owner as usize] as usize].push(self.flat.partition(number as u32));
        }
        plan
    }
}
