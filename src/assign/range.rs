//! `range`: the client-side `RangeAssignor` of Kafka 4.4, with its rack-aware mode (KIP-881).
//!
//! Topic by topic, static members first by instance id, then the others by member id: contiguous ranges, the first
//! `n % m` members one partition more. Where some topic has members and replicas in common racks but not every
//! partition has a replica in every rack, partitions go to members in a rack of theirs first, and the rest is dealt as
//! ranges over the room that is left. Ignores what members own: it is not sticky.

use std::collections::BTreeMap;

use super::assignment::Assignment;
use super::input::{GroupInput, TopicPartition};

/// Assigns ranges; a group without members or topics gets an empty assignment. O((P + M) log M), times the replicas of a
/// partition when racks matter.
///
/// Lists are in topic order (Java: hash order without racks, sorted with racks) and ascending inside a topic.
pub fn assign(group: &GroupInput) -> Assignment {
    let mut plan = Assignment::empty(group.members.len());
    let subscribers = group.subscribers_in(group.members_static_first());
    let mut topics = Vec::new();
    for (topic, members) in subscribers.iter().enumerate() {
        if !members.is_empty() && group.topics[topic].count() > 0 {
            topics.push(Ranges::of(group, topic as u32, members));
        }
    }
    if topics.iter().any(|ranges| ranges.needs_racks) {
        match_racks(&mut topics, &mut plan);
    }
    for ranges in &mut topics {
        ranges.deal(&mut plan);
    }
    plan.sorted()
}

/// One topic that is being dealt.
struct Ranges<'a> {
    topic: u32,
    /// Subscribers in the order in which they take.
    members: &'a [u32],
    /// The rack of each of `members`; an empty rack name is none.
    member_racks: Vec<Option<u32>>,
    /// The racks of each partition, without duplicates. Empty when no subscriber has a rack.
    racks: Vec<Vec<u32>>,
    needs_racks: bool,
    /// Partitions nobody has yet.
    free: Vec<bool>,
    /// How many each of `members` has.
    taken: Vec<u32>,
    /// Every member may have this many …
    base: u32,
    /// … and this many members one more.
    extras: u32,
}

impl<'a> Ranges<'a> {
    fn of(group: &GroupInput, topic: u32, members: &'a [u32]) -> Self {
        let input = &group.topics[topic as usize];
        let count = input.count();
        let rack_of = |&m: &u32| group.members[m as usize].rack.filter(|&rack| !group.racks[rack as usize].is_empty());
        let member_racks: Vec<Option<u32>> = members.iter().map(rack_of).collect();
        let mut racks = Vec::new();
        let mut needs_racks = false;
        if member_racks.iter().any(Option::is_some) {
            racks = (0..count as usize)
                .map(|p| {
                    let mut racks = input.racks.get(p).cloned().unwrap_or_default();
                    racks.sort_unstable();
                    racks.dedup();
                    racks
                })
                .collect();
            let mut all: Vec<u32> = racks.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            let meet = member_racks.iter().flatten().any(|rack| all.binary_search(rack).is_ok());
            needs_racks = meet && racks.iter().any(|racks| *racks != all);
        }
        let m = members.len() as u32;
        let (base, extras) = (count / m, count % m);
        let free = vec![true; count as usize];
        let taken = vec![0; members.len()];
        Self { topic, members, member_racks, racks, needs_racks, free, taken, base, extras }
    }

    /// How many more the member at `place` may take; never grows.
    fn room(&self, place: usize) -> u32 {
        (self.base + u32::from(self.extras > 0)).saturating_sub(self.taken[place])
    }

    fn give(&mut self, place: usize, partitions: &[u32], plan: &mut Assignment) {
        let member = &mut plan.members[self.members[place] as usize];
        for &partition in partitions {
            self.free[partition as usize] = false;
            member.push(TopicPartition { topic: self.topic, partition });
        }
        self.taken[place] += partitions.len() as u32;
        if self.taken[place] > self.base {
            self.extras -= 1;
        }
    }

    /// Deals what is left as plain ranges.
    fn deal(&mut self, plan: &mut Assignment) {
        let left: Vec<u32> = (0..self.free.len() as u32).filter(|&p| self.free[p as usize]).collect();
        let mut rest = left.as_slice();
        for place in 0..self.members.len() {
            let (mine, others) = rest.split_at(rest.len().min(self.room(place) as usize));
            if !mine.is_empty() {
                self.give(place, mine, plan);
            }
            rest = others;
        }
    }

    /// Each member in order takes the first partitions that are in its rack; a member without rack takes any.
    fn deal_by_rack(&mut self, rack_count: usize, plan: &mut Assignment) {
        let mut queues: Vec<Vec<u32>> = vec![Vec::new(); rack_count];
        for (partition, racks) in self.racks.iter().enumerate() {
            for &rack in racks {
                queues[rack as usize].push(partition as u32);
            }
        }
        let all: Vec<u32> = (0..self.free.len() as u32).collect();
        let mut next = vec![0; rack_count + 1];
        for place in 0..self.members.len() {
            let (queue, next) = match self.member_racks[place] {
                Some(rack) => (&queues[rack as usize], &mut next[rack as usize]),
                None => (&all, &mut next[rack_count]),
            };
            let mut mine = Vec::new();
            while mine.len() < self.room(place) as usize && *next < queue.len() {
                if self.free[queue[*next] as usize] {
                    mine.push(queue[*next]);
                }
                *next += 1;
            }
            if !mine.is_empty() {
                self.give(place, &mine, plan);
            }
        }
    }
}

/// The rack-aware part: topics with equal subscribers (with their racks) and equal partition count are matched together,
/// so that equal partition numbers stay with one member.
fn match_racks(topics: &mut [Ranges], plan: &mut Assignment) {
    let rack_count = topics.iter().flat_map(|t| t.racks.iter().flatten().chain(t.member_racks.iter().flatten()));
    let rack_count = rack_count.max().map_or(0, |&rack| rack as usize + 1);
    let mut together: BTreeMap<(&[u32], usize), Vec<usize>> = BTreeMap::new();
    for (place, topic) in topics.iter().enumerate() {
        together.entry((topic.members, topic.free.len())).or_default().push(place);
    }
    for ((members, count), places) in together {
        match places.as_slice() {
            &[one] if topics[one].needs_racks => topics[one].deal_by_rack(rack_count, plan),
            [_] => {}
            several => match_together(topics, several, members.len(), count as u32, rack_count, plan),
        }
    }
}

/// Partition p of all `several` topics goes to the first member that has room and a rack in all of them. The topics
/// have the same members and are always dealt together, so the room in the first is the room in all.
fn match_together(
    topics: &mut [Ranges],
    several: &[usize],
    members: usize,
    partitions: u32,
    rack_count: usize,
    plan: &mut Assignment,
) {
    // Members by rack, those without rack last; room never grows, so members without room are passed over for good.
    let first = several[0];
    let mut by_rack: Vec<Vec<usize>> = vec![Vec::new(); rack_count + 1];
    for place in 0..members {
        by_rack[topics[first].member_racks[place].map_or(rack_count, |rack| rack as usize)].push(place);
    }
    let mut next = vec![0; rack_count + 1];
    for partition in 0..partitions {
        let in_all = |rack: u32| {
            several.iter().all(|&t| topics[t].racks.get(partition as usize).is_some_and(|racks| racks.contains(&rack)))
        };
        let racks = topics[first].racks.get(partition as usize).map_or(&[][..], Vec::as_slice);
        let candidates = racks.iter().copied().filter(|&rack| in_all(rack)).chain([rack_count as u32]);
        let mut best: Option<usize> = None;
        for rack in candidates {
            let (queue, next) = (&by_rack[rack as usize], &mut next[rack as usize]);
            while queue.get(*next).is_some_and(|&place| topics[first].room(place) == 0) {
                *next += 1;
            }
            best = [best, queue.get(*next).copied()].into_iter().flatten().min();
        }
        if let Some(place) = best {
            for &t in several {
                topics[t].give(place, &[partition], plan);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput};
    use super::*;

    fn group(members: &[(&str, Option<&str>)], partitions: u32) -> GroupInput {
        let member = |&(id, instance): &(&str, Option<&str>)| MemberInput {
            id: id.into(),
            instance_id: instance.map(Into::into),
            topics: vec![0],
            ..MemberInput::default()
        };
        let topic = TopicInput { name: "t".into(), partitions: Some(partitions), ..TopicInput::default() };
        GroupInput { members: members.iter().map(member).collect(), topics: vec![topic], ..GroupInput::default() }
    }

    fn partitions(group: &GroupInput) -> Vec<Vec<u32>> {
        assign(group).members.iter().map(|tps| tps.iter().map(|tp| tp.partition).collect()).collect()
    }

    /// CASES 51 and 18: ranges are contiguous, the first members get one more, and too many members leave some idle.
    #[test]
    fn ranges_are_contiguous() {
        assert_eq!(partitions(&group(&[("C0", None), ("C1", None)], 3)), [vec![0, 1], vec![2]]);
        let idle = (0..8).map(|m| format!("m{m}")).collect::<Vec<_>>();
        let idle: Vec<(&str, Option<&str>)> = idle.iter().map(|id| (id.as_str(), None)).collect();
        assert_eq!(partitions(&group(&idle, 6)).iter().filter(|tps| tps.is_empty()).count(), 2);
    }

    /// CASES 59, and static members before the others.
    #[test]
    fn members_take_in_javas_order() {
        let members = [("m2", None), ("m10", None), ("z", Some("i"))];
        assert_eq!(partitions(&group(&members, 3)), [vec![2], vec![1], vec![0]]);
    }

    #[test]
    fn racks_come_before_ranges() {
        let mut group = group(&[("a", None), ("b", None)], 4);
        let (east, west) = (group.rack("east"), group.rack("west"));
        group.members[0].rack = Some(east);
        group.members[1].rack = Some(west);
        group.topics[0].racks = vec![vec![west], vec![west], vec![east], vec![east]];
        assert_eq!(partitions(&group), [vec![2, 3], vec![0, 1]]);
    }

    /// CASES 57.
    #[test]
    fn nothing_is_no_error() {
        assert!(assign(&GroupInput::default()).members.is_empty());
        assert!(partitions(&group(&[], 3)).is_empty());
        assert_eq!(partitions(&group(&[("a", None)], 0)), [Vec::<u32>::new()]);
    }
}
