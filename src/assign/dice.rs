//! Random groups for the tests, and what holds for every assignor on all of them.

use proptest::prelude::*;

use super::assignment::Assignment;
use super::assignor::{Assignor, Protocol};
use super::input::{Departed, GroupInput, MemberInput, TopicInput, TopicPartition};
use super::moves::Moves;

/// Small random numbers that are the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn lag(&mut self, kind: u64) -> u64 {
        match kind {
            0 => self.below(10),
            1 => self.below(1000),
            2 => 1 << self.below(12),
            3 => [0, 0, 7, 100][self.below(4) as usize],
            _ => 900 + self.below(200),
        }
    }

    /// Gives members and replicas one of three racks, or none.
    fn add_racks(&mut self, group: &mut GroupInput) {
        let racks = ["a", "b", "c"].map(|rack| group.rack(rack));
        for member in &mut group.members {
            member.rack = racks.get(self.below(4) as usize).copied();
        }
        for topic in &mut group.topics {
            let replicas = |dice: &mut Self| (0..dice.below(3)).map(|_| racks[dice.below(3) as usize]).collect();
            topic.racks = (0..topic.count()).map(|_| replicas(self)).collect();
        }
    }

    /// A group with some current assignment. `equal`: the same subscription for all.
    pub(super) fn group(&mut self, members: u64, partitions: u64, equal: bool) -> GroupInput {
        let topics = 1 + self.below(3.min(partitions));
        let kind = self.below(5);
        let mut group = GroupInput::default();
        for topic in 0..topics {
            let count = partitions / topics + u64::from(topic < partitions % topics);
            let lags = (0..count).map(|_| self.lag(kind)).collect();
            let name = format!("t{topic}").into();
            group.topics.push(TopicInput { name, partitions: Some(count as u32), lags, ..TopicInput::default() });
        }
        for member in 0..members {
            let reads = (0..topics as u32).filter(|_| equal || self.below(3) > 0).collect();
            let id = format!("m{member}").into();
            group.members.push(MemberInput { id, topics: reads, ..MemberInput::default() });
        }
        for topic in 0..topics as u32 {
            for partition in 0..group.topics[topic as usize].count() {
                let tp = TopicPartition { topic, partition };
                match self.below(members + 2) {
                    n if n < members => group.members[n as usize].owned.push(tp),
                    n if n == members => {
                        group.departed.resize_with(1, Departed::default);
                        group.departed[0].owned.push(tp);
                    }
                    _ => {}
                }
            }
        }
        group
    }
}

/// Every partition of a subscribed topic has an owner, owners subscribe, nobody has anything twice; unless it is a share
/// group, nothing has two owners.
fn check_sound(assignor: Assignor, group: &GroupInput, plan: &Assignment) {
    let mut owners: Vec<TopicPartition> = Vec::new();
    for (member, list) in group.members.iter().zip(&plan.members) {
        assert!(list.iter().all(|tp| member.topics.contains(&tp.topic)), "{assignor}: not subscribed");
        let mut distinct = list.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), list.len(), "{assignor}: twice to one member");
        owners.extend(distinct);
    }
    owners.sort_unstable();
    if assignor.protocols() == [Protocol::Share] {
        owners.dedup();
    }
    let read = |topic: &u32| group.members.iter().any(|member| member.topics.contains(topic));
    let all: Vec<TopicPartition> = (0..group.topics.len() as u32)
        .filter(read)
        .flat_map(|topic| {
            (0..group.topics[topic as usize].count()).map(move |p| TopicPartition { topic, partition: p })
        })
        .collect();
    if assignor == Assignor::CooperativeSticky && group.members.iter().any(|member| member.rack.is_some()) {
        // With racks it gives up every mismatch at each rebalance, so some may be withheld round after round, as in
        // Java: nobody owns those, and nothing is owned twice.
        owners.dedup();
        assert!(owners.len() <= all.len() && owners.iter().all(|tp| all.contains(tp)), "{assignor}");
        return;
    }
    assert_eq!(owners, all, "{assignor}");
}

proptest! {
    #[test]
    fn every_assignor_is_sound(seed in 1u64.., members in 1u64..12, partitions in 1u64..40, equal: bool, racks: bool) {
        let mut dice = Dice(seed);
        let mut group = dice.group(members, partitions, equal);
        if racks {
            dice.add_racks(&mut group);
        }
        for assignor in Assignor::ALL {
            let plan = assignor.assign(&group).unwrap();
            check_sound(assignor, &group, &plan);
            prop_assert_eq!(&plan, &assignor.assign(&group).unwrap());
        }
    }

    /// With equal subscriptions and without racks, sticky ones leave what they made as it is.
    #[test]
    fn sticky_assignors_keep_what_is_balanced(seed in 1u64.., members in 1u64..12, partitions in 1u64..40) {
        let group = Dice(seed).group(members, partitions, true);
        for assignor in [Assignor::Sticky, Assignor::CooperativeSticky, Assignor::Uniform] {
            let plan = assignor.assign(&group).unwrap();
            let counts = plan.members.iter().map(Vec::len);
            prop_assert!(counts.clone().max().unwrap() <= counts.min().unwrap() + 1);
            let mut next = group.clone();
            next.departed.clear();
            for (member, owned) in next.members.iter_mut().zip(plan.members) {
                member.owned = owned;
                member.generation = Some(1);
            }
            let again = assignor.assign(&next).unwrap();
            prop_assert_eq!(Moves::between(&next, &again).count(), 0, "{}", assignor);
        }
    }
}
