//! Making partition counts as even as subscriptions allow, with few moves; and giving whole sets of partitions to the
//! member that has most of them already.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::problem::{NOBODY, Problem};
use super::state::State;

impl State<'_> {
    /// Makes Σ count² minimal.
    pub(super) fn make_even(&mut self) {
        if self.problem.equal {
            self.make_equal();
        } else {
            self.make_chains_even();
        }
    }

    /// Equal subscriptions: everybody gets ⌊P/M⌋ or one more. Who has too many gives up those partitions that leave it
    /// nearest to the mean lag; they are dealt again.
    fn make_equal(&mut self) {
        let members = self.problem.members;
        let (quota, extras) = (self.owners.len() / members, self.owners.len() % members);
        let mean = self.loads.iter().sum::<u64>() / members as u64;
        let mut order: Vec<u32> = (0..members as u32).collect();
        order.sort_by_key(|&m| (Reverse(self.lists[m as usize].len()), self.loads[m as usize], m));
        for (place, member) in order.into_iter().enumerate() {
            let keep = quota + usize::from(place < extras);
            let list = &self.lists[member as usize];
            let Some(surplus) = list.len().checked_sub(keep).filter(|&surplus| surplus > 0) else { continue };
            // The list ascends by lag, so what stays falls as the run of partitions to give up slides to the right.
            let lag = |place: usize| self.problem.lags[list[place] as usize];
            let mut stays = self.loads[member as usize] - (0..surplus).map(lag).sum::<u64>();
            let (mut best, mut start) = (stays.abs_diff(mean), 0);
            for next in 1..=list.len() - surplus {
                stays = stays + lag(next - 1) - lag(next + surplus - 1);
                if stays.abs_diff(mean) < best {
                    (best, start) = (stays.abs_diff(mean), next);
                }
            }
            let run: Vec<u32> = list[start..start + surplus].to_vec();
            for number in run {
                self.release(number);
            }
        }
        self.deal();
    }

    /// Different subscriptions: shifts partitions from members with many to members with at least two less, directly or
    /// along a chain of members. When no such chain is left, Σ count² is minimal.
    fn make_chains_even(&mut self) {
        let problem = self.problem;
        let mut held = vec![0u32; problem.members * problem.topics];
        for (number, &owner) in self.owners.iter().enumerate() {
            held[owner as usize * problem.topics + problem.flat.topic(number as u32) as usize] += 1;
        }
        let mut order: BTreeSet<(usize, u64, u32)> = (0..problem.members as u32).map(|m| self.rank(m)).collect();
        // Members that reach nobody with two partitions less.
        let mut closed = vec![false; problem.members];
        while let Some(&(count, _, source)) = order.iter().rev().find(|entry| !closed[entry.2 as usize]) {
            let fewer = order.iter().take_while(|entry| entry.0 + 2 <= count).map(|entry| entry.2);
            let direct = fewer.clone().find_map(|to| Some((to, problem.shared_topic(&held, source, to)?)));
            let mut hands = Vec::new();
            if let Some((to, topic)) = direct {
                hands.push((source, to, topic));
            } else {
                let reach = Reach::from(problem, &held, source);
                let Some(mut to) = fewer.into_iter().find(|&to| reach.came[to as usize].is_some()) else {
                    // What can be reached from here has at most as many partitions, and reaches nothing else.
                    reach.members.iter().for_each(|&member| closed[member as usize] = true);
                    continue;
                };
                while let Some((from, topic)) = reach.came[to as usize] {
                    hands.push((from, to, topic));
                    to = from;
                }
            }
            for (from, to, topic) in hands {
                order.remove(&self.rank(from));
                order.remove(&self.rank(to));
                self.hand_best(from, to, topic);
                order.insert(self.rank(from));
                order.insert(self.rank(to));
                held[from as usize * problem.topics + topic as usize] -= 1;
                held[to as usize * problem.topics + topic as usize] += 1;
            }
            closed.fill(false);
        }
    }

    /// A member's place among those with few partitions and little lag.
    fn rank(&self, member: u32) -> (usize, u64, u32) {
        (self.lists[member as usize].len(), self.loads[member as usize], member)
    }

    /// Hands over the partition of a topic that leaves the two members' lags closest.
    fn hand_best(&mut self, from: u32, to: u32, topic: u32) {
        let (most, least) = (self.loads[from as usize], self.loads[to as usize]);
        let of_topic = self.lists[from as usize].iter().copied();
        let of_topic = of_topic.filter(|&number| self.problem.flat.topic(number) == topic);
        let larger = |number: u32| {
            let lag = self.problem.lags[number as usize];
            (most - lag).max(least + lag)
        };
        if let Some(number) = of_topic.min_by_key(|&number| (larger(number), number)) {
            self.hand(number, to);
        }
    }

    /// Equal subscriptions: gives each set of partitions to a member that has many of them now. The sets stay as they are,
    /// and so do counts and lags.
    pub(super) fn relabel(&mut self) {
        if !self.problem.equal {
            return;
        }
        let mut shared: Vec<(u32, u32)> = Vec::new();
        for (number, &owner) in self.owners.iter().enumerate() {
            let home = self.problem.homes[number];
            if home != NOBODY {
                shared.push((owner, home));
            }
        }
        shared.sort_unstable();
        let mut pairs: Vec<(Reverse<usize>, u32, u32)> =
            shared.chunk_by(|a, b| a == b).map(|same| (Reverse(same.len()), same[0].0, same[0].1)).collect();
        pairs.sort_unstable();
        let members = self.problem.members;
        let mut label = vec![NOBODY; members];
        let mut taken = vec![false; members];
        for (_, set, member) in pairs {
            if label[set as usize] == NOBODY && !taken[member as usize] {
                label[set as usize] = member;
                taken[member as usize] = true;
            }
        }
        let mut left = (0..members as u32).filter(|&member| !taken[member as usize]);
        for label in label.iter_mut().filter(|label| **label == NOBODY) {
            *label = left.next().unwrap_or_default();
        }
        let owners = self.owners.iter().map(|&owner| label[owner as usize]).collect();
        *self = State::from_owners(self.problem, owners);
    }
}

/// The members to which one member's partitions can get, hand by hand.
struct Reach {
    members: Vec<u32>,
    /// From whom, and by a partition of which topic.
    came: Vec<Option<(u32, u32)>>,
}

impl Reach {
    fn from(problem: &Problem, held: &[u32], source: u32) -> Self {
        let mut reach = Self { members: vec![source], came: vec![None; problem.members] };
        let mut seen = vec![false; problem.topics];
        let mut next = 0;
        while let Some(&from) = reach.members.get(next) {
            next += 1;
            for &topic in &problem.named {
                if seen[topic as usize] || held[from as usize * problem.topics + topic as usize] == 0 {
                    continue;
                }
                seen[topic as usize] = true;
                for to in 0..problem.members as u32 {
                    let is_new = to != source && reach.came[to as usize].is_none();
                    if is_new && problem.reads(to, topic) {
                        reach.came[to as usize] = Some((from, topic));
                        reach.members.push(to);
                    }
                }
            }
        }
        reach
    }
}
