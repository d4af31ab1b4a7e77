//! How a group gets on at a partition, from what was seen of its commit: how fast it reads, where its lag goes, how long a
//! commit is waited for, and whether one moved back.
//!
//! The window of a consume rate is the shortest one, up to the newest commit, that holds [`STEPS`] steps from commit to
//! commit and [`SHORTEST`]; times of commits are those of their records where the coordinator log tells them, else of the
//! polls that saw them, never of both.
//!
//! Memory: at most [`COMMITS`] commits of 32 bytes and [`LAGS`] lags of 16 bytes, about 2 KB a partition of a group.

use std::collections::VecDeque;
use std::time::Duration;

use super::rate::SHORTEST;
use super::{Direction, Rate, Samples, TimeLag, trend};
use crate::model::{At, Name, Wall};

/// Least steps from commit to commit in a window.
const STEPS: usize = 3;
/// A commit that has not moved for so long, and for longer than the window before, is at rest.
const AT_REST: Duration = Duration::from_secs(60);
/// Lag of at most so many steps is on its way, not a backlog.
const IN_FLIGHT: u64 = 2;

/// Without a rhythm that is known: a commit is overdue after that. The default `max.poll.interval.ms`.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// However fast the rhythm is, nothing is overdue before that.
const LEAST_PATIENCE: Duration = Duration::from_secs(60);
/// Times the longest pause that a group took and came back from.
const PAUSES: u32 = 2;

const COMMITS: usize = 32;
const LAGS: usize = 48;
/// Commits closer together than that count as one, so that the ring holds more than the shortest window.
const CLOSE: i64 = 500;

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

/// A commit that moved back: the records between are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewound {
    pub from: i64,
    pub to: i64,
    /// When it was seen.
    pub at: At,
}

/// The past of one partition of one group.
#[derive(Debug, Clone, Default)]
pub struct PartitionHistory {
    /// Which log the rest is about: see [`super::LogHistory::life`].
    life: u32,
    /// Oldest first.
    commits: VecDeque<Step>,
    /// Times of [`Self::commits`] are those of records.
    recorded: bool,
    /// When the newest commit was last seen to be so.
    seen: At,
    /// Since when it is watched.
    since: Option<At>,
    /// When its offset was last seen to be another one than before, if ever.
    moved: Option<At>,
    /// The longest time that a commit was waited for while there was lag, and when it ended.
    pause: Option<(At, Duration)>,
    rewound: Option<Rewound>,
    /// Nobody looked for a while before the next look.
    looked_away: bool,
    lags: Samples,
    /// Since when there is lag; `None`: there is none.
    lagging: Option<At>,
    /// Who held it last, and since when.
    owner: Option<Name>,
    owned_since: At,
    /// Since when nobody has it.
    unheld: Option<At>,
    /// When the commit was last seen to move on, and when before that.
    moved_on: [Option<At>; 2],
}

/// The window of a consume rate.
struct Window {
    first: Step,
    last: Step,
    steps: usize,
}

impl PartitionHistory {
    /// The log that the rest is about. Of another one nothing is known yet.
    pub fn of_log(&mut self, life: u32) {
        if self.life != life {
            *self = Self { life, owner: self.owner.take(), owned_since: self.owned_since, ..Self::default() };
        }
    }

    /// Who holds it at `now`; another one ends the window. `None`, as in a rebalance, does not.
    pub fn owned_by(&mut self, owner: Option<&Name>, now: At) {
        self.unheld = if owner.is_some() { None } else { self.unheld.or(Some(now)) };
        if owner.is_some() && self.owner.as_ref() != owner {
            self.owned_since = now;
            if self.owner.is_some() {
                let newest = self.commits.pop_back();
                self.commits.clear();
                // Where the new owner begins; how long the hand-over took is none of its doing.
                self.commits.extend(newest.map(|step| Step { seen: self.seen, ..step }));
            }
            self.owner = owner.cloned();
        }
    }

    /// Nobody looked for a while: how long a commit was waited for that has moved by the next look, nobody knows.
    pub fn looked_away(&mut self) {
        self.looked_away = true;
    }

    /// The newest commit. One that moved back begins anew.
    pub fn commit(&mut self, commit: Committed) {
        let Committed { offset, recorded, seen, lag } = commit;
        let time = recorded.map_or(i64::try_from(seen.0).unwrap_or(i64::MAX), |wall| wall.0);
        let step = Step { time, seen, offset, lag };
        self.moves(step);
        self.seen = self.seen.max(seen);
        // Times of two clocks are never compared.
        if self.recorded != recorded.is_some() {
            self.commits.clear();
            self.recorded = recorded.is_some();
        }
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

    /// Whether the commit moves with this step, for how long that was waited for, and whether it moves back.
    fn moves(&mut self, step: Step) {
        self.since.get_or_insert(step.seen);
        let looked = if std::mem::take(&mut self.looked_away) { self.seen } else { step.seen };
        if self.rewound.is_some_and(|rewound| step.offset >= rewound.from) {
            self.rewound = None;
        }
        let Some(last) = self.commits.back().copied() else { return };
        if step.offset == last.offset {
            return;
        }
        if step.offset < last.offset {
            let from = self.rewound.map_or(last.offset, |before| before.from.max(last.offset));
            self.rewound = Some(Rewound { from, to: step.offset, at: step.seen });
        } else {
            self.moved_on = [Some(step.seen), self.moved_on[0]];
            let waited = self.waiting(looked).unwrap_or_default();
            // Before the first step nobody looked.
            if self.moved.is_some() && self.pause.is_none_or(|(_, longest)| waited >= longest) {
                self.pause = Some((step.seen, waited));
            }
        }
        self.moved = Some(step.seen);
    }

    /// There is no commit, or none any more: nothing was read here, as far as that tells.
    pub fn uncommitted(&mut self, seen: At) {
        self.commits.clear();
        self.since.get_or_insert(seen);
        self.rewound = None;
    }

    /// The lag at a time; what is older than `keep` is forgotten.
    pub fn lag(&mut self, at: At, lag: u64, keep: Duration) {
        self.lagging = if lag > 0 { self.lagging.or(Some(at)) } else { None };
        self.lags.push(at, i64::try_from(lag).unwrap_or(i64::MAX), keep, LAGS);
        let old = |at: At, now: At| now.since(at) > keep;
        self.pause = self.pause.filter(|(ended, _)| !old(*ended, at));
        // At the end of the log nothing is read again, as after a reset of a commit that was past it.
        self.rewound = self.rewound.filter(|rewound| lag > 0 && !old(rewound.at, at));
    }

    /// Where the lag of several partitions together went within the last minute.
    pub fn direction_of(all: &[&Self]) -> Direction {
        let lags: Vec<&Samples> = all.iter().map(|history| &history.lags).collect();
        Direction::of_sum(&lags, trend::WINDOW)
    }

    /// Where the lag went within the last minute.
    pub fn direction(&self) -> Direction {
        Direction::of(&self.lags, trend::WINDOW)
    }

    /// For how long it is watched.
    pub fn watched(&self, now: At) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The commit moved back, and is neither where it was nor at the end of the log yet.
    pub fn rewound(&self) -> Option<Rewound> {
        self.rewound
    }

    /// Whether the commit was seen to move within the last `window`.
    pub fn moved_within(&self, window: Duration, now: At) -> bool {
        self.moved.is_some_and(|moved| now.since(moved) <= window)
    }

    /// Whether the commit was seen to move on so many times (1 or 2) although nobody has it: by one that assigns itself.
    /// The last commit of who had it may be seen so much later; one that moves once may be set by hand.
    pub fn moved_unheld(&self, times: usize, later: Duration) -> bool {
        let moved = self.moved_on.get(times - 1).copied().flatten();
        self.unheld.zip(moved).is_some_and(|(unheld, moved)| moved > unheld.plus(later))
    }

    /// Whether a commit was made within the last `window`, also of an offset that was committed before; only records of
    /// the coordinator log tell.
    pub fn repeated_within(&self, window: Duration, now: At) -> bool {
        let repeats = self.recorded && self.commits.len() > 1;
        repeats && self.commits.back().is_some_and(|last| now.since(last.seen) <= window)
    }

    /// For how long a commit is waited for at `now`: since the last one moved, since its owner has the partition, and
    /// since it is watched. `None`: there is no lag to wait for.
    fn waiting(&self, now: At) -> Option<Duration> {
        // Since there is lag: a consumer that has read all commits nothing.
        let since = self.lagging?.max(self.moved.unwrap_or_default()).max(self.owned_since).max(self.since?);
        Some(now.since(since))
    }

    /// For how long a commit is overdue at most, where the lag is `time_lag` old: none is waited for longer than there is
    /// something to commit.
    pub fn silent(&self, now: At, time_lag: TimeLag) -> Duration {
        let waiting = self.waiting(now).unwrap_or_default();
        match time_lag {
            TimeLag::None => Duration::ZERO,
            TimeLag::Known { time, .. } => waiting.min(time),
            TimeLag::MoreThan(_) | TimeLag::Unknown => waiting,
        }
    }

    /// How long a commit may be waited for before it is overdue: twice the longest pause that the group came back from,
    /// at least [`LEAST_PATIENCE`]; where no rhythm is known, [`PATIENCE`].
    pub fn patience(&self) -> Duration {
        self.pause.map_or(PATIENCE, |(_, longest)| LEAST_PATIENCE.max(longest * PAUSES))
    }

    fn window(&self) -> Option<Window> {
        let last = *self.commits.back()?;
        let begins =
            self.commits.iter().enumerate().rev().find(|(place, first)| {
                self.commits.len() - 1 - place >= STEPS && span(last.time - first.time) >= SHORTEST
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
            let longest = gaps.map(|(a, b)| span(b.time - a.time)).max().unwrap_or_default();
            return (pause > AT_REST.max(2 * longest)).then(|| Rate::of(0, pause));
        };
        let length = span(window.last.time - window.first.time);
        let records = window.last.offset - window.first.offset;
        Some(match pause {
            _ if pause > AT_REST.max(length) => Rate::of(0, pause),
            // The next commit is overdue: the time without it counts.
            _ if pause > length => Rate::of(records, length + pause),
            _ => Rate::of(records, length),
        })
    }

    /// The most records that are on their way between two commits; `None`: there are not enough commits yet to tell.
    pub fn two_steps(&self) -> Option<u64> {
        self.window().map(|window| window.two_steps())
    }

    /// Whether that lag is no more than what is on its way between two commits: it is not behind.
    pub fn in_flight(&self, lag: u64) -> bool {
        self.two_steps().is_some_and(|most| lag <= most)
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

/// Of one clock of milliseconds.
fn span(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

#[cfg(test)]
#[path = "partition_history_tests.rs"]
mod tests;
