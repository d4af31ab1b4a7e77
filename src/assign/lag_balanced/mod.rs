//! `lag-balanced`: our own assignor, over all topics of the group at once. Kafka has nothing like it; it is what
//! `lag-based` would be if it looked at more than one topic and at what a change costs.
//!
//! 1. Partition counts are as even as subscriptions allow: Σ count² is minimal.
//! 2. Several starting points (the current assignment made even; all partitions dealt by lag in rounds; the result of
//!    `lag-based` where its counts are even) are improved by moves and swaps between the most and the least loaded.
//! 3. T is the smallest largest-member-lag found; of what is within 1 % of T, and no worse than `lag-based` and than
//!    twice the lower bound, the assignment with the fewest moves is the plan.
//!
//! It is a heuristic: `docs/assignors.md` says how far from the optimum it was seen. The same group gives the same plan,
//! whatever the order in which members and topics are listed: ties go by member id, topic name and partition.

mod even;
mod problem;
mod state;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::assignment::Assignment;
use super::input::GroupInput;
use super::lag_based;
use problem::{NOBODY, Problem};
use state::{Point, State, Trail};

/// The plan, and what fewer moves would have given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LagBalanced {
    pub assignment: Assignment,
    /// Moves that every plan makes, because the owner is gone or does not subscribe.
    pub forced: u32,
    /// The best largest-member-lag found for 0, 1, 2, … voluntary moves: only the numbers of moves that gain something,
    /// ascending. The first is what forced moves and unowned partitions alone give.
    pub frontier: Vec<FrontierPoint>,
}

/// What a number of moves gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrontierPoint {
    /// Voluntary moves; forced ones come on top.
    pub moves: u32,
    /// Lag of the member that then has most of it.
    pub largest_lag: u64,
    /// True when partition counts are then as even as they can be.
    pub even: bool,
}

/// The plan without a limit on moves.
pub fn assign(group: &GroupInput) -> Assignment {
    plan(group, None).assignment
}

/// The plan with at most `max_moves` moves. Forced moves count first, and are made even when they are more; with too few
/// moves left, partition counts stay less even than they could be.
pub fn plan(group: &GroupInput, max_moves: Option<u32>) -> LagBalanced {
    let problem = Problem::of(group);
    if problem.members == 0 || problem.lags.is_empty() {
        return LagBalanced { assignment: Assignment::empty(group.members.len()), ..LagBalanced::default() };
    }
    let mut search = Search::of(&problem);
    search.run(group);
    let chosen = search.choose(max_moves.map(|max| max.saturating_sub(problem.forced)));
    LagBalanced {
        assignment: problem.assignment(&search.owners(chosen)),
        forced: problem.forced,
        frontier: search.frontier(),
    }
}

/// One state of one trail.
type Place = (usize, usize);

/// All that was tried.
struct Search<'a> {
    problem: &'a Problem,
    trails: Vec<Trail>,
    /// Smallest Σ count².
    squares: u64,
    /// No plan may have a larger largest-member-lag.
    limit: u64,
}

impl<'a> Search<'a> {
    fn of(problem: &'a Problem) -> Self {
        Self { problem, trails: Vec::new(), squares: u64::MAX, limit: u64::MAX }
    }

    fn run(&mut self, group: &GroupInput) {
        let start = State::keeping_homes(self.problem);
        let mut even = start.clone();
        even.make_even();
        self.squares = even.squares();
        let was_even = start.squares() == self.squares;

        let mut ends = Vec::new();
        let mut lag_based = State::from_assignment(self.problem, group, &lag_based::assign(group));
        if lag_based.squares() == self.squares {
            self.limit = lag_based.largest();
            lag_based.relabel();
            ends.push(self.follow(lag_based, u64::MAX));
        }
        if self.problem.homes.iter().any(|&home| home != NOBODY) {
            let mut dealt = State::dealt(self.problem);
            dealt.make_even();
            dealt.relabel();
            ends.push(self.follow(dealt, u64::MAX));
        }
        // What starts from the current assignment has the fewest moves: worth some patience to get as far as the others.
        let others = ends.iter().map(State::largest).min().unwrap_or(u64::MAX);
        let enough = self.limit.min(others.saturating_add(others / 100));
        ends.push(self.follow(start, enough));
        if !was_even {
            ends.push(self.follow(even, enough));
        }

        let best = self.places().filter(|&place| self.is_even(place)).map(|place| self.point(place).largest).min();
        let best = best.unwrap_or(u64::MAX);
        self.limit = self.limit.min(best.saturating_add(best / 100));
        if self.problem.equal {
            // Dealing in rounds keeps within twice the bound; the slack of 1 % must not lead out of it.
            self.limit = self.limit.min(self.problem.lower_bound().saturating_mul(2).max(best));
        }
        for mut end in ends {
            if end.squares() == self.squares && end.largest() <= self.limit {
                end.take_back(self.limit);
                self.trails.push(end.trail());
            }
        }
    }

    /// Improves a state and keeps every step of it; returns where it ended.
    fn follow(&mut self, mut state: State<'a>, enough: u64) -> State<'a> {
        let mut trail = state.trail();
        state.improve(&mut trail, enough);
        self.trails.push(trail);
        state
    }

    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let trails = self.trails.iter().enumerate();
        trails.flat_map(|(trail, steps)| (0..steps.points.len()).map(move |step| (trail, step)))
    }

    fn point(&self, (trail, step): Place) -> Point {
        self.trails[trail].points[step]
    }

    fn is_even(&self, place: Place) -> bool {
        self.point(place).squares == self.squares
    }

    /// Of what is even and within the limit, the state with the fewest moves. With a budget that is too small for it: of
    /// what the budget allows, the fewest moves within 1 % of the best.
    fn choose(&self, budget: Option<u32>) -> Place {
        let good = self.places().filter(|&place| self.is_even(place) && self.point(place).largest <= self.limit);
        let best = good.min_by_key(|&place| (self.point(place).moved, self.point(place).largest));
        let Some(budget) = budget.filter(|&budget| best.is_none_or(|place| self.point(place).moved > budget)) else {
            return best.unwrap_or_default();
        };
        let allowed = || self.places().filter(|&place| self.point(place).moved <= budget);
        let least = allowed().map(|place| self.point(place).largest).min().unwrap_or(0);
        let limit = least.saturating_add(least / 100);
        let near = allowed().filter(|&place| self.point(place).largest <= limit);
        let key = |point: Point| (point.moved, point.squares, point.largest);
        near.min_by_key(|&place| key(self.point(place))).unwrap_or_default()
    }

    /// The owners in a state, found by going its trail again.
    fn owners(&self, (trail, step): Place) -> Vec<u32> {
        let trail = &self.trails[trail];
        let mut owners = trail.start.clone();
        for &(number, to) in &trail.log[..trail.points[step].steps] {
            owners[number as usize] = to;
        }
        owners
    }

    fn frontier(&self) -> Vec<FrontierPoint> {
        let mut points: Vec<Point> = self.places().map(|place| self.point(place)).collect();
        points.sort_by_key(|point| (point.moved, point.largest, point.squares));
        let mut frontier: Vec<FrontierPoint> = Vec::new();
        for point in points {
            if frontier.last().is_none_or(|last| point.largest < last.largest_lag) {
                let even = point.squares == self.squares;
                frontier.push(FrontierPoint { moves: point.moved, largest_lag: point.largest, even });
            }
        }
        frontier
    }
}
