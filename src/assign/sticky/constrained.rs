//! The sticky algorithm for members with equal subscriptions: quotas, in time that is nearly linear.
//!
//! With P partitions and M members, everybody gets ⌊P/M⌋ and P mod M members one more. A member keeps the lowest of its
//! partitions (by number, then topic) up to its quota; who may keep one more is decided in hash order. What is left goes
//! round the members below quota in the order of member ids; with racks, to members near it first.

use std::collections::VecDeque;

use super::super::assignment::Assignment;
use super::{Dealt, Table};

const NOBODY: u32 = u32::MAX;

pub(super) fn deal(table: &Table) -> Dealt {
    let mut dealing = Dealing::of(table);
    dealing.keep_owned();
    dealing.below.sort_unstable_by_key(|&member| table.id_rank[member as usize]);
    dealing.at_quota.make_contiguous().sort_unstable_by_key(|&member| table.id_rank[member as usize]);
    let mut free: Vec<u32> =
        (0..table.flat.len() as u32).filter(|&number| !dealing.assigned[number as usize]).collect();
    if let Some(racks) = &table.racks {
        racks.sort(&mut free);
        dealing.deal_by_rack(racks, &mut free);
    }
    dealing.deal_round_robin(&free);

    let named = |numbers: &[u32]| numbers.iter().map(|&number| table.flat.partition(number)).collect();
    Dealt {
        plan: Assignment { members: dealing.lists.iter().map(|list| named(list)).collect() },
        changing_hands: named(&dealing.changing_hands),
    }
}

struct Dealing<'a> {
    table: &'a Table<'a>,
    /// ⌊P/M⌋, and how many members may have one more, and how many have.
    quota: usize,
    with_extra: usize,
    have_extra: usize,
    /// What each member gets.
    lists: Vec<Vec<u32>>,
    assigned: Vec<bool>,
    /// Partitions that an owner has to give up because it has too many.
    revoked: Vec<bool>,
    /// Partitions that their owner has to offer because it is in none of their racks; it may get them back.
    too_far: Vec<u32>,
    changing_hands: Vec<u32>,
    /// Members with fewer partitions than the quota, and those with exactly that many that may get one more.
    below: Vec<u32>,
    at_quota: VecDeque<u32>,
}

impl<'a> Dealing<'a> {
    fn of(table: &'a Table<'a>) -> Self {
        let (partitions, members) = (table.flat.len(), table.group.members.len());
        let quota = partitions / members;
        Self {
            table,
            quota,
            with_extra: partitions % members,
            have_extra: 0,
            lists: (0..members).map(|_| Vec::with_capacity(quota + 1)).collect(),
            assigned: vec![false; partitions],
            revoked: vec![false; partitions],
            too_far: vec![NOBODY; partitions],
            changing_hands: Vec::new(),
            below: Vec::new(),
            at_quota: VecDeque::new(),
        }
    }

    /// The most that a member may have.
    fn most(&self) -> usize {
        self.quota + usize::from(self.with_extra > 0)
    }

    fn keep_owned(&mut self) {
        let table = self.table;
        for &member in &table.hash_order {
            let mut owned = table.claims.owned[member as usize].clone();
            owned.retain(|&number| !table.claims.disputed[number as usize]);
            if let Some(racks) = &table.racks {
                owned.retain(|&number| {
                    let far = racks.mismatch(member, number);
                    if far {
                        self.too_far[number as usize] = member;
                    }
                    !far
                });
            }
            // Flat numbers ascend by topic name, so this orders by partition, then topic.
            owned.sort_unstable_by_key(|&number| (table.flat.partition(number).partition, number));
            if owned.len() < self.quota {
                self.below.push(member);
            } else if owned.len() >= self.most() && self.have_extra < self.with_extra {
                self.have_extra += 1;
                if self.have_extra == self.with_extra {
                    self.at_quota.clear();
                }
                self.give_up(&mut owned, self.most());
            } else {
                self.give_up(&mut owned, self.quota);
                if self.have_extra < self.with_extra {
                    self.at_quota.push_back(member);
                }
            }
            for &number in &owned {
                self.assigned[number as usize] = true;
            }
            self.lists[member as usize] = owned;
        }
    }

    fn give_up(&mut self, owned: &mut Vec<u32>, keep: usize) {
        for number in owned.drain(keep..) {
            self.revoked[number as usize] = true;
        }
    }

    /// Gives a partition to a member and returns how many that has now.
    fn give(&mut self, member: u32, number: u32) -> usize {
        let from = self.too_far[number as usize];
        let changes = from != NOBODY && from != member;
        if changes || self.revoked[number as usize] || self.table.claims.disputed[number as usize] {
            self.changing_hands.push(number);
        }
        let list = &mut self.lists[member as usize];
        list.push(number);
        list.len()
    }

    /// Gives partitions to members near them; what finds none stays in `free`.
    fn deal_by_rack(&mut self, racks: &super::Racks, free: &mut Vec<u32>) {
        let mut next = 0;
        free.retain(|&number| {
            let places = (0..self.below.len()).map(|step| (next + step) % self.below.len());
            if let Some(place) = places.clone().find(|&place| racks.match_up(self.below[place], number)) {
                let member = self.below[place];
                next = place + 1;
                if self.give(member, number) >= self.quota {
                    self.below.remove(place);
                    next = place;
                    if self.quota < self.most() {
                        self.at_quota.push_back(member);
                    }
                }
                next = if self.below.is_empty() { 0 } else { next % self.below.len() };
                return false;
            }
            let Some(place) = self.at_quota.iter().position(|&member| racks.match_up(member, number)) else {
                return true;
            };
            let member = self.at_quota[place];
            if self.give(member, number) == self.most() {
                self.at_quota.remove(place);
                self.count_extra();
            }
            false
        });
    }

    /// Deals the rest, one to each member below quota in turn, then one more to members at quota.
    fn deal_round_robin(&mut self, free: &[u32]) {
        let mut place = 0;
        for &number in free {
            if place == self.below.len() {
                let (lists, quota) = (&self.lists, self.quota);
                self.below.retain(|&member| lists[member as usize].len() < quota);
                place = 0;
            }
            if let Some(&member) = self.below.get(place) {
                place += 1;
                if self.give(member, number) == self.quota {
                    self.at_quota.push_back(member);
                }
            } else if let Some(member) = self.at_quota.pop_front() {
                self.give(member, number);
                self.count_extra();
            }
        }
    }

    fn count_extra(&mut self) {
        self.have_extra += 1;
        if self.have_extra == self.with_extra {
            self.at_quota.clear();
        }
    }
}
