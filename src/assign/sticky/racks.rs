//! [`Racks`]: which members and partitions share a rack, for the sticky assignors (KIP-881).

use super::super::flat::Flat;
use super::super::input::GroupInput;

/// Racks of members and partitions. Exists only where racks make a difference.
pub(super) struct Racks<'a> {
    /// The rack of each member; an empty name is none.
    members: Vec<Option<u32>>,
    /// The racks of each partition's replicas, by flat number.
    partitions: Vec<&'a [u32]>,
    /// For each partition the number of members in one of its racks.
    near: Vec<u32>,
}

impl<'a> Racks<'a> {
    /// `None` unless some member is in a rack that has replicas and some partition is not in every rack.
    pub(super) fn of(group: &'a GroupInput, flat: &Flat) -> Option<Self> {
        let named = |rack: &u32| !group.racks[*rack as usize].is_empty();
        let members: Vec<Option<u32>> = group.members.iter().map(|member| member.rack.filter(named)).collect();
        if members.iter().all(Option::is_none) {
            return None;
        }
        let mut population = vec![0; group.racks.len()];
        for &rack in members.iter().flatten() {
            population[rack as usize] += 1;
        }
        let racks_of = |number: u32| {
            let tp = flat.partition(number);
            group.topics[tp.topic as usize].racks.get(tp.partition as usize).map_or(&[][..], Vec::as_slice)
        };
        let partitions: Vec<&[u32]> = (0..flat.len() as u32).map(racks_of).collect();
        let mut used = vec![false; group.racks.len()];
        for &rack in partitions.iter().copied().flatten() {
            used[rack as usize] = true;
        }
        let all = used.iter().filter(|used| **used).count();
        let distinct = |racks: &[u32]| {
            let mut racks = racks.to_vec();
            racks.sort_unstable();
            racks.dedup();
            racks
        };
        let meet = members.iter().flatten().any(|&rack| used[rack as usize]);
        if !meet || partitions.iter().all(|racks| distinct(racks).len() == all) {
            return None;
        }
        let near = partitions
            .iter()
            .map(|racks| distinct(racks).into_iter().map(|rack| population[rack as usize]).sum())
            .collect();
        Some(Self { members, partitions, near })
    }

    /// True when the member is in a rack of the partition.
    pub(super) fn match_up(&self, member: u32, number: u32) -> bool {
        self.members[member as usize].is_some_and(|rack| self.partitions[number as usize].contains(&rack))
    }

    /// True when the member is in a rack, but in none of the partition's.
    pub(super) fn mismatch(&self, member: u32, number: u32) -> bool {
        self.members[member as usize].is_some() && !self.match_up(member, number)
    }

    /// Puts partitions with few members near them first.
    pub(super) fn sort(&self, numbers: &mut [u32]) {
        numbers.sort_by_key(|&number| self.near[number as usize]);
    }
}
