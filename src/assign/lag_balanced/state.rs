//! [`State`]: an assignment under way, and the steps that improve it.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::super::assignment::Assignment;
use super::super::input::GroupInput;
use super::problem::{NOBODY, Problem};

/// A state as the search remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// Entries of the trail's log that lead here.
    pub(super) steps: usize,
    /// Partitions that are not with the owner they could have stayed with.
    pub(super) moved: u32,
    /// Lag of the member that has most of it.
    pub(super) largest: u64,
    /// Σ count².
    pub(super) squares: u64,
}

/// A state and the steps that followed it.
pub(super) struct Trail {
    /// Owners at the start.
    pub(super) start: Vec<u32>,
    /// Partition and new owner.
    pub(super) log: Vec<(u32, u32)>,
    pub(super) points: Vec<Point>,
}

#[derive(Clone)]
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem,
    pub(super) owners: Vec<u32>,
    /// Each member's partitions, by lag, then number.
    pub(super) lists: Vec<Vec<u32>>,
    /// Each member's lag.
    pub(super) loads: Vec<u64>,
    moved: u32,
}

/// A step that helps the most loaded member: it gives one partition, and may take one for it.
struct Exchange {
    /// The larger of both members' lag afterwards.
    larger: u64,
    give: u32,
    take: Option<u32>,
    with: u32,
}

/// Times that all partitions are looked at for sending them home.
const TAKE_BACK_ROUNDS: usize = 3;

/// Members that a chain of hands may pass through.
const LONGEST_CHAIN: usize = 4;

/// Of the least loaded members this many are compared before the best of them is taken.
const COMPARED: usize = 8;

impl<'a> State<'a> {
    fn empty(problem: &'a Problem) -> Self {
        Self {
            problem,
            owners: vec![NOBODY; problem.lags.len()],
            lists: vec![Vec::new(); problem.members],
            loads: vec![0; problem.members],
            moved: 0,
        }
    }

    pub(super) fn from_owners(problem: &'a Problem, owners: Vec<u32>) -> Self {
        let mut state = Self { owners, ..Self::empty(problem) };
        for &number in problem.by_lag.iter().rev() {
            let owner = state.owners[number as usize];
            if owner != NOBODY {
                state.lists[owner as usize].push(number);
                state.loads[owner as usize] += problem.lags[number as usize];
                state.moved += u32::from(state.is_moved(number));
            }
        }
        for list in &mut state.lists {
            list.sort_unstable_by_key(|&number| (problem.lags[number as usize], number));
        }
        state
    }

    /// Everybody keeps what it may; the rest is dealt.
    pub(super) fn keeping_homes(problem: &'a Problem) -> Self {
        let mut state = Self::from_owners(problem, problem.homes.clone());
        state.deal();
        state
    }

    /// All partitions dealt, whoever has them now.
    pub(super) fn dealt(problem: &'a Problem) -> Self {
        let mut state = Self::empty(problem);
        state.deal();
        state
    }

    pub(super) fn from_assignment(problem: &'a Problem, group: &GroupInput, plan: &Assignment) -> Self {
        let mut owners = vec![NOBODY; problem.lags.len()];
        debug_assert_eq!(plan.members.len(), group.members.len());
        for (rank, &member) in problem.by_rank.iter().enumerate() {
            for number in plan.members[member as usize].iter().filter_map(|&tp| problem.flat.number(tp)) {
                owners[number as usize] = rank as u32;
            }
        }
        Self::from_owners(problem, owners)
    }

    /// Partitions without owner, largest lag first, each to the subscriber with the fewest partitions, then the least
    /// lag, then the smallest id.
    pub(super) fn deal(&mut self) {
        let problem = self.problem;
        let free: Vec<u32> =
            problem.by_lag.iter().copied().filter(|&number| self.owners[number as usize] == NOBODY).collect();
        if free.is_empty() {
            return;
        }
        let entries = (0..problem.members).map(|m| (self.lists[m].len(), self.loads[m], m as u32));
        if problem.equal {
            let mut queue: BinaryHeap<_> = entries.map(Reverse).collect();
            for number in free {
                let Some(mut first) = queue.peek_mut() else { return };
                let Reverse((count, _, member)) = *first;
                self.put(number, member);
                *first = Reverse((count + 1, self.loads[member as usize], member));
            }
            return;
        }
        let mut queue: BTreeSet<_> = entries.collect();
        for number in free {
            let fits = |&&(_, _, member): &&(usize, u64, u32)| problem.may_own(member, number);
            let Some(&entry) = queue.iter().find(fits) else { continue };
            queue.remove(&entry);
            self.put(number, entry.2);
            queue.insert((entry.0 + 1, self.loads[entry.2 as usize], entry.2));
        }
    }

    fn is_moved(&self, number: u32) -> bool {
        let home = self.problem.homes[number as usize];
        home != NOBODY && self.owners[number as usize] != home
    }

    fn lag(&self, number: u32) -> u64 {
        self.problem.lags[number as usize]
    }

    fn place(&self, member: u32, number: u32) -> usize {
        let key = (self.lag(number), number);
        self.lists[member as usize].partition_point(|&other| (self.lag(other), other) < key)
    }

    fn put(&mut self, number: u32, member: u32) {
        let place = self.place(member, number);
        self.lists[member as usize].insert(place, number);
        self.loads[member as usize] += self.lag(number);
        self.owners[number as usize] = member;
        self.moved += u32::from(self.is_moved(number));
    }

    /// Gives a partition to another member.
    pub(super) fn hand(&mut self, number: u32, to: u32) {
        self.release(number);
        self.put(number, to);
    }

    /// Takes a partition from its owner.
    pub(super) fn release(&mut self, number: u32) {
        let from = self.owners[number as usize];
        self.moved -= u32::from(self.is_moved(number));
        let place = self.place(from, number);
        self.lists[from as usize].remove(place);
        self.loads[from as usize] -= self.lag(number);
        self.owners[number as usize] = NOBODY;
    }

    pub(super) fn largest(&self) -> u64 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    pub(super) fn squares(&self) -> u64 {
        self.lists.iter().map(|list| (list.len() as u64).pow(2)).sum()
    }

    /// A trail that begins here.
    pub(super) fn trail(&self) -> Trail {
        let point = Point { steps: 0, moved: self.moved, largest: self.largest(), squares: self.squares() };
        Trail { start: self.owners.clone(), log: Vec::new(), points: vec![point] }
    }

    /// Exchanges partitions between the most loaded and less loaded members while that lowers the largest lag. Counts
    /// stay as even as they are or become more so. Tries longer while the largest lag is more than `enough`.
    pub(super) fn improve(&mut self, trail: &mut Trail, enough: u64) {
        let bound = self.problem.lower_bound();
        let mut by_load: BTreeSet<(u64, u32)> =
            self.loads.iter().enumerate().map(|(member, &load)| (load, member as u32)).collect();
        let mut squares = self.squares();
        // Work left, in partitions looked at.
        let budget = 400_000 + 40 * (self.problem.members + self.owners.len());
        let mut patience = budget;
        while let Some(&(most, giver)) = by_load.last().filter(|entry| entry.0 > bound) {
            if most <= enough && patience < budget / 3 * 2 {
                return;
            }
            let hands = match self.best_exchange(giver, &by_load, &mut patience) {
                Some(Exchange { give, take, with, .. }) => {
                    [(give, with)].into_iter().chain(take.map(|take| (take, giver))).collect()
                }
                None if self.problem.equal => return,
                None => self.chain(giver, &by_load, &mut patience),
            };
            if hands.is_empty() {
                return;
            }
            let mut members: Vec<u32> = hands.iter().map(|&(_, to)| to).chain([giver]).collect();
            members.sort_unstable();
            members.dedup();
            for &member in &members {
                by_load.remove(&(self.loads[member as usize], member));
                squares -= (self.lists[member as usize].len() as u64).pow(2);
            }
            for (number, to) in hands {
                self.hand(number, to);
                trail.log.push((number, to));
            }
            for member in members {
                by_load.insert((self.loads[member as usize], member));
                squares += (self.lists[member as usize].len() as u64).pow(2);
            }
            let largest = by_load.last().map_or(0, |entry| entry.0);
            trail.points.push(Point { steps: trail.log.len(), moved: self.moved, largest, squares });
        }
    }

    /// The best exchange of the most loaded member with one of the least loaded.
    fn best_exchange(&self, giver: u32, by_load: &BTreeSet<(u64, u32)>, patience: &mut usize) -> Option<Exchange> {
        let most = self.loads[giver as usize];
        let mut best: Option<Exchange> = None;
        for (compared, &(load, member)) in by_load.iter().enumerate() {
            if load >= most || *patience == 0 || (compared >= COMPARED && best.is_some()) {
                break;
            }
            let work = self.lists[giver as usize].len() + self.lists[member as usize].len() + 16;
            *patience = patience.saturating_sub(work);
            let exchange = self.exchange(giver, member);
            if exchange.as_ref().is_some_and(|new| best.as_ref().is_none_or(|best| new.larger < best.larger)) {
                best = exchange;
            }
        }
        best
    }

    /// Where subscriptions differ, two members may have nothing to exchange and still be helped by others: the giver gives
    /// to a second, that one to a third and so on, and the last to the giver or, having fewer partitions, to nobody.
    fn chain(&self, giver: u32, by_load: &BTreeSet<(u64, u32)>, patience: &mut usize) -> Vec<(u32, u32)> {
        for longest in 2..=LONGEST_CHAIN {
            let mut hands = Vec::with_capacity(longest + 1);
            if self.extend_chain(&mut hands, giver, giver, longest, by_load, patience) {
                return hands;
            }
        }
        Vec::new()
    }

    /// Lets `last`, which has been given the last of `hands`, hand on. True when that closes the chain.
    fn extend_chain(
        &self,
        hands: &mut Vec<(u32, u32)>,
        giver: u32,
        last: u32,
        longest: usize,
        by_load: &BTreeSet<(u64, u32)>,
        patience: &mut usize,
    ) -> bool {
        let most = self.loads[giver as usize];
        let first = hands.first().map_or(0, |&(number, _)| self.lag(number));
        let got = hands.last().map_or(0, |&(number, _)| self.lag(number));
        let load = self.loads[last as usize] + got;
        let fewer = self.lists[last as usize].len() < self.lists[giver as usize].len();
        if !hands.is_empty() && fewer && first > 0 && load < most {
            return true;
        }
        for &pass in &self.lists[last as usize] {
            if last != giver && load - self.lag(pass) >= most {
                continue;
            }
            if last != giver && self.lag(pass) < first && self.problem.may_own(giver, pass) {
                hands.push((pass, giver));
                return true;
            }
            if hands.len() >= longest {
                continue;
            }
            for &(_, next) in by_load {
                let seen = next == giver || hands.iter().any(|&(_, to)| to == next);
                if seen || !self.problem.may_own(next, pass) {
                    continue;
                }
                if *patience == 0 {
                    return false;
                }
                *patience = patience.saturating_sub(16);
                hands.push((pass, next));
                if self.extend_chain(hands, giver, next, longest, by_load, patience) {
                    return true;
                }
                hands.pop();
            }
        }
        false
    }

    /// The exchange between two members that brings their lags closest; `None` when none lowers the larger.
    fn exchange(&self, giver: u32, with: u32) -> Option<Exchange> {
        let (most, least) = (self.loads[giver as usize], self.loads[with as usize]);
        let gap = most - least;
        let mut best: Option<Exchange> = None;
        let mut consider = |give: u32, take: Option<u32>| {
            let shift = self.lag(give).saturating_sub(take.map_or(0, |take| self.lag(take)));
            if shift == 0 || shift >= gap {
                return;
            }
            let larger = (most - shift).max(least + shift);
            if best.as_ref().is_none_or(|best| larger < best.larger) {
                best = Some(Exchange { larger, give, take, with });
            }
        };
        let own = self.readable(giver, with);
        if self.lists[giver as usize].len() > self.lists[with as usize].len() {
            own.iter().for_each(|&give| consider(give, None));
        }
        let takes = self.readable(with, giver);
        let mut place = 0;
        for &give in own.iter() {
            // The best partner has a lag next to this, from either side; it grows with `give`.
            let wanted = self.lag(give).saturating_sub(gap / 2);
            while takes.get(place).is_some_and(|&take| self.lag(take) < wanted) {
                place += 1;
            }
            for partner in [place.checked_sub(1), Some(place)].into_iter().flatten() {
                if let Some(&take) = takes.get(partner) {
                    consider(give, Some(take));
                }
            }
        }
        best
    }

    /// The partitions of one member that another may own.
    fn readable(&self, owner: u32, other: u32) -> Cow<'_, [u32]> {
        let list = &self.lists[owner as usize];
        if self.problem.equal {
            return Cow::Borrowed(list);
        }
        Cow::Owned(list.iter().copied().filter(|&number| self.problem.may_own(other, number)).collect())
    }

    /// Sends partitions back home where that costs nothing: the largest lag stays within `limit`, counts stay even.
    pub(super) fn take_back(&mut self, limit: u64) {
        for _ in 0..TAKE_BACK_ROUNDS {
            let before = self.moved;
            for number in 0..self.owners.len() as u32 {
                if self.is_moved(number) {
                    self.send_home(number, limit);
                }
            }
            if self.moved == before {
                return;
            }
        }
    }

    fn send_home(&mut self, number: u32, limit: u64) {
        let (owner, home) = (self.owners[number as usize], self.problem.homes[number as usize]);
        let (owner_load, home_load) = (self.loads[owner as usize], self.loads[home as usize]);
        let lag = self.lag(number);
        if self.lists[owner as usize].len() > self.lists[home as usize].len() && home_load + lag <= limit {
            self.hand(number, home);
            return;
        }
        // Swap it for a partition that is not at home there either, best one that belongs to the owner.
        let fits = |&&other: &&u32| {
            let other_lag = self.lag(other);
            let away = self.is_moved(other) || self.problem.homes[other as usize] == NOBODY;
            away && self.problem.may_own(owner, other)
                && home_load + lag <= limit.saturating_add(other_lag)
                && owner_load + other_lag <= limit.saturating_add(lag)
        };
        let candidates = self.lists[home as usize].iter().filter(fits);
        let Some(&other) = candidates.min_by_key(|&&other| self.problem.homes[other as usize] != owner) else { return };
        self.hand(number, home);
        self.hand(other, owner);
    }
}
