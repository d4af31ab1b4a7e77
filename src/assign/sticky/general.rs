//! The sticky algorithm for members with different subscriptions: deal, then move single partitions while that makes two
//! members more equal.

use std::collections::BTreeSet;

use super::super::assignment::Assignment;
use super::movements::Movements;
use super::racks::Racks;
use super::{Dealt, Table};

const NOBODY: u32 = u32::MAX;

pub(super) fn deal(table: &Table) -> Dealt {
    let mut dealing = Dealing::of(table);
    dealing.run();
    dealing.dealt()
}

struct Dealing<'a> {
    table: &'a Table<'a>,
    /// Number of subscribers of each topic.
    subscribers: Vec<u32>,
    /// `reads[member * topics + topic]`.
    reads: Vec<bool>,
    owner: Vec<u32>,
    load: Vec<u32>,
    /// Members that may take part, by load, then rank of their id.
    sorted: BTreeSet<(u32, u32)>,
    /// The member of each rank.
    by_rank: Vec<u32>,
    movements: Movements,
}

impl<'a> Dealing<'a> {
    fn of(table: &'a Table<'a>) -> Self {
        let group = table.group;
        let topics = group.topics.len();
        let mut reads = vec![false; group.members.len() * topics];
        let mut subscribers = vec![0; topics];
        for (member, input) in group.members.iter().enumerate() {
            for &topic in &input.topics {
                reads[member * topics + topic as usize] = true;
                subscribers[topic as usize] += 1;
            }
        }
        let mut by_rank = vec![0; group.members.len()];
        for (member, &rank) in table.id_rank.iter().enumerate() {
            by_rank[rank as usize] = member as u32;
        }
        Self {
            table,
            subscribers,
            reads,
            owner: vec![NOBODY; table.flat.len()],
            load: vec![0; group.members.len()],
            sorted: BTreeSet::new(),
            by_rank,
            movements: Movements::default(),
        }
    }

    fn run(&mut self) {
        let table = self.table;
        let gave_up = self.keep_owned();
        self.sorted = (0..self.load.len()).map(|member| (self.load[member], table.id_rank[member])).collect();
        let starting = self.load.iter().all(|&load| load == 0);

        let mut all = self.in_order();
        let mut free: Vec<u32> = all.iter().copied().filter(|&n| self.owner[n as usize] == NOBODY).collect();
        if let Some(racks) = &table.racks {
            let mut left = free.clone();
            left.retain(|&number| !self.give_to_least(number, Some(racks)));
            left.retain(|&number| !self.give_to_least(number, None));
        } else {
            for &number in &free {
                self.give_to_least(number, None);
            }
        }

        // Topics with one subscriber cannot move; neither can members that have all they can get of such topics only.
        let movable = |this: &Self, number: u32| this.subscribers[table.flat.topic(number) as usize] > 1;
        all.retain(|&number| movable(self, number));
        free.retain(|&number| movable(self, number));
        self.set_aside_fixed_members(&all);

        let before = (self.owner.clone(), self.load.clone());
        if !gave_up {
            self.even_out(&free);
        }
        let moved = self.even_out(&all);
        if !starting && moved && self.unevenness(&self.load) >= self.unevenness(&before.1) {
            (self.owner, self.load) = before;
        }
    }

    /// Members keep what they own and may keep. True when some had to give up something that exists.
    fn keep_owned(&mut self) -> bool {
        let table = self.table;
        let mut gave_up = false;
        for (member, owned) in table.claims.owned.iter().enumerate() {
            for &number in owned {
                let far = table.racks.as_ref().is_some_and(|racks| racks.mismatch(member as u32, number));
                if far || !self.reads(member as u32, number) {
                    gave_up = true;
                } else {
                    self.owner[number as usize] = member as u32;
                    self.load[member] += 1;
                }
            }
        }
        gave_up
    }

    fn reads(&self, member: u32, number: u32) -> bool {
        self.reads[member as usize * self.subscribers.len() + self.table.flat.topic(number) as usize]
    }

    /// All partitions: topics with few subscribers first, then by name; flat numbers ascend by name.
    fn in_order(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..self.table.flat.len() as u32).collect();
        numbers.sort_by_key(|&number| self.subscribers[self.table.flat.topic(number) as usize]);
        numbers
    }

    /// Gives a partition to the least loaded subscriber (in one of its racks); false when there is none.
    fn give_to_least(&mut self, number: u32, racks: Option<&Racks>) -> bool {
        let fits = |&&(_, rank): &&(u32, u32)| {
            let member = self.by_rank[rank as usize];
            self.reads(member, number) && !racks.is_some_and(|racks| racks.mismatch(member, number))
        };
        let Some(&(load, rank)) = self.sorted.iter().find(fits) else { return false };
        let member = self.by_rank[rank as usize];
        self.sorted.remove(&(load, rank));
        self.sorted.insert((load + 1, rank));
        self.load[member as usize] += 1;
        self.owner[number as usize] = member;
        true
    }

    fn set_aside_fixed_members(&mut self, movable: &[u32]) {
        let table = self.table;
        let mut takes_part = vec![false; self.load.len()];
        for &number in movable {
            if let Some(takes_part) = takes_part.get_mut(self.owner[number as usize] as usize) {
                *takes_part = true;
            }
        }
        for (member, input) in table.group.members.iter().enumerate() {
            let most: usize = input.topics.iter().map(|&topic| table.flat.of_topic(topic).len()).sum();
            if !takes_part[member] && self.load[member] as usize >= most {
                self.sorted.remove(&(self.load[member], table.id_rank[member]));
            }
        }
    }

    /// Moves partitions, in the order given and again from the start, while a move makes two members more equal.
    fn even_out(&mut self, numbers: &[u32]) -> bool {
        let mut any = false;
        loop {
            let mut moved = false;
            for &number in numbers {
                let (Some(least), Some(most)) = (self.sorted.first(), self.sorted.last()) else { break };
                if least.0 + 1 >= most.0 {
                    break;
                }
                if let Some(to) = self.better_owner(number) {
                    self.reassign(number, to);
                    moved = true;
                }
            }
            any |= moved;
            if !moved {
                return any;
            }
        }
    }

    /// The member that should have the partition instead of its owner, when that makes the two more equal.
    fn better_owner(&self, number: u32) -> Option<u32> {
        let load = *self.load.get(self.owner[number as usize] as usize)?;
        let better = |member: u32| self.load[member as usize] + 1 < load;
        let previous = self.table.claims.previous[number as usize].filter(|&member| self.reads(member, number));
        if let Some(previous) = previous.filter(|&member| better(member)) {
            return Some(previous);
        }
        let candidates = self.sorted.iter().take_while(|&&(least, _)| least + 1 < load);
        candidates.map(|&(_, rank)| self.by_rank[rank as usize]).find(|&member| self.reads(member, number))
    }

    fn reassign(&mut self, number: u32, to: u32) {
        let flat = &self.table.flat;
        let topic = flat.topic(number);
        let name = self.table.group.topics[topic as usize].name.raw();
        let number = self.movements.instead_of(flat.partition(number), self.owner[number as usize], to, name);
        let Some(number) = flat.number(number) else { return };
        let from = self.owner[number as usize];
        self.movements.add(flat.partition(number), from, to);
        let rank = &self.table.id_rank;
        for (member, change) in [(from, -1), (to, 1)] {
            let load = self.load[member as usize];
            let present = self.sorted.remove(&(load, rank[member as usize]));
            self.load[member as usize] = load.saturating_add_signed(change);
            if present {
                self.sorted.insert((self.load[member as usize], rank[member as usize]));
            }
        }
        self.owner[number as usize] = to;
    }

    /// Sum of the differences in load between all pairs of members that take part.
    fn unevenness(&self, load: &[u32]) -> u64 {
        let members = self.sorted.iter().map(|&(_, rank)| self.by_rank[rank as usize]);
        let mut loads: Vec<u64> = members.map(|member| u64::from(load[member as usize])).collect();
        loads.sort_unstable();
        let (mut sum, mut below) = (0, 0);
        for (place, load) in loads.into_iter().enumerate() {
            sum += load * place as u64 - below;
            below += load;
        }
        sum
    }

    fn dealt(self) -> Dealt {
        let table = self.table;
        let mut plan = Assignment::empty(self.load.len());
        let mut others = vec![false; self.owner.len()];
        let mut own = vec![false; self.owner.len()];
        for (member, input) in table.group.members.iter().enumerate() {
            for number in input.owned.iter().filter_map(|&tp| table.flat.number(tp)) {
                let heir = self.owner[number as usize] == member as u32;
                own[number as usize] |= heir;
                others[number as usize] |= !heir;
            }
        }
        let mut changing_hands = Vec::new();
        for number in self.in_order() {
            let owner = self.owner[number as usize];
            if owner == NOBODY {
                continue;
            }
            let tp = table.flat.partition(number);
            plan.members[owner as usize].push(tp);
            if others[number as usize] && !own[number as usize] {
                changing_hands.push(tp);
            }
        }
        Dealt { plan, changing_hands }
    }
}
