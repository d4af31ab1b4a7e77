//! How fast a partition is written to and read: from what was seen of its log's end and of the group's commit.
//!
//! A rate holds for a window, and the window is part of it. The window of a consume rate is the shortest one, up to the
//! newest commit, that holds [`STEPS`] steps from commit to commit and [`SHORTEST`]; times of commits are those of
//! their records where the coordinator log tells them, else of the polls that saw them, never of both.
//!
//! Memory: at most [`COMMITS`] commits of 32 bytes and [`ENDS`] ends of 16 bytes, about 1.5 KB a partition.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::{At, Name, Wall};

/// Least steps from commit to commit in a window.
pub const STEPS: usize = 3;
/// The shortest window.
pub const SHORTEST: Duration = Duration::from_secs(10);
/// A commit that has not moved for so long, and for longer than the window before, is at rest.
pub const AT_REST: Duration = Duration::from_secs(60);
/// Lag of at most so many steps is on its way, not a backlog.
pub const IN_FLIGHT: u64 = 2;

const COMMITS: usize = 32;
const ENDS: usize = 24;
/// Commits closer together than that count as one, so that the ring holds more than the shortest window.
const CLOSE: i64 = 500;

/// Records per second, and over which time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub window: Duration,
}

impl Rate {
    fn of(records: i64, window: Duration) -> Self {
        let seconds = window.as_secs_f64();
        Self { per_second: if seconds > 0.0 { records as f64 / seconds } else { 0.0 }, window }
    }

    /// The sum of the known rates, over the longest of their windows; `None` where none is known.
    pub fn sum(rates: impl IntoIterator<Item = Option<Rate>>) -> Option<Rate> {
        let add = |sum: Rate, rate: Rate| Rate {
            per_second: sum.per_second + rate.per_second,
            window: sum.window.max(rate.window),
        };
        rates.into_iter().flatten().reduce(add)
    }
}

/// What was seen of a commit.
#[derive(Debug, Clone, Copy)]
pub struct Committed {
    pub offset: i64,
    /// Time of its record, by the coordinator's clock; `None` where only polls tell of it.
    pub recorded: Option<Wall>,
    /// When it was last seen to be the newest one.
    pub seen: At,
    /// Records behind it then.
    pub lag: u64,
}

/// A commit in the ring. The first is where counting begins.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Milliseconds, by the clock of the whole ring.
    time: i64,
    /// When it was first seen.
    seen: At,
    offset: i64,
    lag: u64,
}

/// The past of one partition of one group.
#[derive(Debug, Clone, Default)]
pub struct PartitionHistory {
    /// Oldest first.
    ends: VecDeque<(At, i64)>,
    commits: VecDeque<Step>,
    /// Times of [`Self::commits`] are those of records.
    recorded: bool,
    /// When the newest commit was last seen to be so.
    seen: At,
    /// Who held it last.
    owner: Option<Name>,
}

/// The window of a consume rate.
struct Window {
    first: Step,
    last: Step,
    steps: usize,
}

impl PartitionHistory {
    /// Who holds it now; another one ends the window. `None`, as in a rebalance, does not.
    pub fn owned_by(&mut self, owner: Option<&Name>) {
        if owner.is_some() && self.owner.as_ref() != owner {
            if self.owner.is_some() {
                let newest = self.commits.pop_back();
                self.commits.clear();
                // Where the new owner begins; how long the hand-over took is none of its doing.
                self.commits.extend(newest.map(|step| Step { seen: self.seen, ..step }));
            }
            self.owner = owner.cloned();
        }
    }

    /// The log's end, read at that time. One that fell is that of another log: nothing before counts.
    pub fn end(&mut self, at: At, end: i64) {
        match self.ends.back() {
            Some((_, last)) if end < *last => {
                self.ends.clear();
                self.commits.clear();
            }
            Some((last, _)) if at <= *last => return,
            _ => {}
        }
        if self.ends.len() == ENDS {
            self.thin(at);
        }
        self.ends.push_back((at, end));
    }

    /// Takes one end out of the ring: the older, the coarser. The oldest stays.
    fn thin(&mut self, now: At) {
        let gap = |place: &usize| {
            let at = |place: usize| self.ends.get(place).map_or(At(0), |(at, _)| *at);
            let (around, age) = (at(place + 1).since(at(place - 1)), now.since(at(*place)));
            around.as_secs_f64() / age.as_secs_f64().max(0.001)
        };
        let least = (1..self.ends.len() - 1).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        if let Some(place) = least {
            self.ends.remove(place);
        }
    }

    /// The newest commit. One that moved back begins anew.
    pub fn commit(&mut self, commit: Committed) {
        let Committed { offset, recorded, seen, lag } = commit;
        let time = recorded.map_or(i64::try_from(seen.0).unwrap_or(i64::MAX), |wall| wall.0);
        if self.recorded != recorded.is_some() {
            self.commits.clear();
            self.recorded = recorded.is_some();
        }
        let step = Step { time, seen, offset, lag };
        self.seen = self.seen.max(seen);
        match self.commits.back().copied() {
            Some(last) if offset < last.offset => {
                self.commits.clear();
                self.commits.push_back(step);
            }
            // The same commit again. Of records the time tells, of polls the offset.
            Some(last) if time <= last.time || (offset == last.offset && !self.recorded) => {}
            Some(last) if time - last.time < CLOSE && self.commits.len() > 1 => {
                self.commits.pop_back();
                self.commits.push_back(step);
            }
            _ => {
                if self.commits.len() == COMMITS {
                    self.commits.pop_front();
                }
                self.commits.push_back(step);
            }
        }
    }

    /// There is no commit, or none any more.
    pub fn uncommitted(&mut self) {
        self.commits.clear();
    }

    fn window(&self) -> Option<Window> {
        let last = *self.commits.back()?;
        let begins = self.commits.iter().enumerate().rev().find(|(place, first)| {
            self.commits.len() - 1 - place >= STEPS && millis(last.time - first.time) >= SHORTEST
        });
        let (place, first) = begins?;
        Some(Window { first: *first, last, steps: self.commits.len() - 1 - place })
    }

    /// How fast the group commits here; `None`: there are not enough commits yet to tell.
    pub fn consumed(&self) -> Option<Rate> {
        let last = self.commits.back()?;
        let pause = self.seen.since(last.seen);
        let Some(window) = self.window() else {
            let gaps = self.commits.iter().zip(self.commits.iter().skip(1));
            let longest = gaps.map(|(a, b)| millis(b.time - a.time)).max().unwrap_or_default();
            return (pause > AT_REST.max(2 * longest)).then(|| Rate::of(0, pause));
        };
        let length = millis(window.last.time - window.first.time);
        let records = window.last.offset - window.first.offset;
        Some(match pause {
            _ if pause > AT_REST.max(length) => Rate::of(0, pause),
            // The next commit is overdue: the time without it counts.
            _ if pause > length => Rate::of(records, length + pause),
            _ => Rate::of(records, length),
        })
    }

    /// How fast records are written here, over at least that window; `None`: it was not watched for so long.
    pub fn produced(&self, window: Duration) -> Option<Rate> {
        let (now, end) = *self.ends.back()?;
        let old_enough = |(at, _): &&(At, i64)| now.since(*at) >= window.max(SHORTEST);
        let (then, before) = *self.ends.iter().rev().find(old_enough)?;
        Some(Rate::of(end - before, now.since(then)))
    }

    /// Whether that lag is no more than what is on its way between two commits: it is not behind.
    pub fn in_flight(&self, lag: u64) -> bool {
        self.window().is_some_and(|window| lag <= window.two_steps())
    }

    /// Whether there was a backlog at both ends of the window: it then shows what the consumer can do at most.
    pub fn was_backlogged(&self) -> bool {
        let behind = |window: &Window| window.first.lag.min(window.last.lag) > window.two_steps();
        self.window().is_some_and(|window| behind(&window))
    }
}

impl Window {
    /// Records in [`IN_FLIGHT`] mean steps.
    fn two_steps(&self) -> u64 {
        u64::try_from(self.last.offset - self.first.offset).unwrap_or(0) * IN_FLIGHT / self.steps.max(1) as u64
    }
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
