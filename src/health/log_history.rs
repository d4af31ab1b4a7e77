//! What was seen of a partition's log over time: where it ended and where it began. All groups that read it share it.
//!
//! Memory: at most [`ENDS`] ends and [`STARTS`] starts of 16 bytes, about 2.5 KB a partition.

use std::time::Duration;

use super::rate::SHORTEST;
use super::{Rate, Samples, TimeLag};
use crate::model::At;

const ENDS: usize = 128;
const STARTS: usize = 24;
/// A time between two samples may be so long before it counts as one in which nobody looked; of a longer time lag a
/// quarter may.
const LOOKED_AWAY: u32 = 4;

/// The past of one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogHistory {
    ends: Samples,
    starts: Samples,
    /// The last stable offset, and whether it stood still behind the end for two looks.
    stable: Option<(At, i64, bool)>,
    /// How often it turned out to be another log: its end fell, or its topic has another id.
    life: u32,
}

impl LogHistory {
    /// The log's end (high watermark), read at that time. One that fell is that of another log.
    pub fn end(&mut self, at: At, end: i64, keep: Duration) {
        match self.ends.newest() {
            Some((_, last)) if end < last => self.renewed(),
            Some((last, _)) if at <= last => return,
            _ => {}
        }
        self.ends.push(at, end, keep, ENDS);
    }

    /// The log start offset, read at that time.
    pub fn start(&mut self, at: At, start: i64, keep: Duration) {
        if self.starts.newest().is_none_or(|(last, _)| at > last) {
            self.starts.push(at, start, keep, STARTS);
        }
    }

    /// The last stable offset, read just before the end of that time. One that stands still behind the end for two looks
    /// is held by an open transaction; one that moves is behind by what was written between the two reads.
    pub fn stable(&mut self, at: At, stable: i64, end: i64) {
        match self.stable {
            Some((last, ..)) if at <= last => {}
            Some((_, before, _)) => self.stable = Some((at, stable, stable == before && stable < end)),
            None => self.stable = Some((at, stable, false)),
        }
    }

    /// Records that an open transaction holds, as of the newest end; a stable offset that is older than `fresh` tells
    /// nothing.
    pub fn open_transaction(&self, fresh: Duration) -> u64 {
        let (Some((at, stable, true)), Some((read, end))) = (self.stable, self.ends.newest()) else { return 0 };
        if read.since(at) > fresh { 0 } else { u64::try_from(end.saturating_sub(stable)).unwrap_or(0) }
    }

    /// How long ago the oldest record behind the last stable offset was written: for how long its transaction is open at
    /// most, since it was not aborted or committed since.
    pub fn open_for(&self, now: At, interval: Duration) -> TimeLag {
        self.stable.map_or(TimeLag::Unknown, |(_, stable, _)| self.time_lag(stable, now, interval))
    }

    /// It is another log under the same name: nothing before counts.
    pub fn renewed(&mut self) {
        self.ends.clear();
        self.starts.clear();
        self.stable = None;
        self.life += 1;
    }

    /// Which log it is: grows with each [`Self::renewed`].
    pub fn life(&self) -> u32 {
        self.life
    }

    /// Whether the end was seen to move within the last `window`.
    pub fn grew_within(&self, window: Duration, now: At) -> bool {
        let pairs = self.ends.iter().rev().zip(self.ends.iter().rev().skip(1));
        let moved = pairs.filter(|(after, before)| after.1 > before.1).map(|(after, _)| after.0).next();
        moved.is_some_and(|moved| now.since(moved) <= window)
    }

    /// How fast records are written, over at least that window; `None`: it was not watched for so long.
    pub fn produced(&self, window: Duration) -> Option<Rate> {
        let (now, end) = self.ends.newest()?;
        let old_enough = |(at, _): &(At, i64)| now.since(*at) >= window.max(SHORTEST);
        let (then, before) = self.ends.iter().rev().find(old_enough)?;
        Some(Rate::of(end - before, now.since(then)))
    }

    /// How long ago the end first exceeded that commit, linear between two samples. A commit below the oldest sample, or
    /// one that was exceeded while nobody looked for longer than `interval`, was so before.
    pub fn time_lag(&self, commit: i64, now: At, interval: Duration) -> TimeLag {
        let Some((_, end)) = self.ends.newest() else { return TimeLag::Unknown };
        if end <= commit {
            return TimeLag::None;
        }
        let mut before: Option<(At, i64)> = None;
        for (at, end) in self.ends.iter() {
            if end <= commit {
                before = Some((at, end));
                continue;
            }
            let age = now.since(at);
            let Some((then, offset)) = before else {
                return more_than(age);
            };
            let gap = at.since(then);
            let part = (i128::from(end) - i128::from(commit)) as f64 / (i128::from(end) - i128::from(offset)) as f64;
            let time = age + gap.mul_f64(part.clamp(0.0, 1.0));
            if gap > interval.max(time / LOOKED_AWAY) {
                return more_than(age);
            }
            return TimeLag::Known { time, error: gap };
        }
        TimeLag::Unknown
    }

    /// When retention will pass that offset: the log start moves on as it did while it was watched, the group (its
    /// `pace`, records per second) too. `None`: the start was not seen to move twice, or does not come closer.
    pub fn time_to_loss(&self, commit: i64, pace: f64) -> Option<Duration> {
        let ((first, from), (last, to)) = (self.starts.oldest()?, self.starts.newest()?);
        // The start moves a segment at a time: one step tells no speed.
        let steps = self.starts.iter().zip(self.starts.iter().skip(1)).filter(|(a, b)| a.1 < b.1).count();
        if steps < 2 || commit < to {
            return None;
        }
        let speed = (to - from) as f64 / last.since(first).as_secs_f64().max(0.001);
        let closer = speed - pace;
        (closer > 0.0).then(|| Duration::try_from_secs_f64((commit - to) as f64 / closer).unwrap_or(Duration::MAX))
    }
}

/// The newest look tells no more than that there is lag.
fn more_than(age: Duration) -> TimeLag {
    if age < Duration::from_secs(1) { TimeLag::Unknown } else { TimeLag::MoreThan(age) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const INTERVAL: Duration = Duration::from_secs(10);

    fn log(ends: &[(u64, i64)]) -> LogHistory {
        let mut log = LogHistory::default();
        for (seconds, end) in ends {
            log.end(At(seconds * 1000), *end, HOUR);
        }
        log
    }

    fn known(seconds: f64, error: u64) -> TimeLag {
        TimeLag::Known { time: Duration::from_secs_f64(seconds), error: Duration::from_secs(error) }
    }

    #[test]
    fn time_lag_is_that_of_the_first_end_past_the_commit() {
        let log = log(&[(0, 0), (2, 100), (4, 100), (6, 300)]);
        let lag = |commit| log.time_lag(commit, At(10_000), INTERVAL);
        assert_eq!(lag(300), TimeLag::None);
        assert_eq!(lag(301), TimeLag::None, "past the end");
        assert_eq!(lag(200), known(5.0, 2));
        // The end stood at 100 until 4 s.
        assert_eq!(lag(100), known(6.0, 2));
        assert_eq!(lag(50), known(9.0, 2));
        assert_eq!(lag(0), known(10.0, 2));
        assert_eq!(lag(-1), TimeLag::MoreThan(Duration::from_secs(10)));
        assert_eq!(LogHistory::default().time_lag(0, At(5), INTERVAL), TimeLag::Unknown);
    }

    #[test]
    fn one_sample_tells_nothing() {
        assert_eq!(log(&[(5, 100)]).time_lag(50, At(5000), INTERVAL), TimeLag::Unknown);
        assert_eq!(log(&[(5, 100)]).time_lag(100, At(5000), INTERVAL), TimeLag::None);
    }

    #[test]
    fn what_was_written_while_nobody_looked_is_older_than_the_look_after() {
        let suspended = log(&[(0, 100), (2, 110), (3000, 900), (3002, 910)]);
        assert_eq!(suspended.time_lag(500, At(3_004_000), INTERVAL), TimeLag::MoreThan(Duration::from_secs(4)));
        assert_eq!(suspended.time_lag(905, At(3_004_000), INTERVAL), known(3.0, 2));
        // A quarter of the time lag may be unseen.
        let coarse = log(&[(0, 0), (80, 100), (400, 400)]);
        assert_eq!(coarse.time_lag(50, At(400_000), INTERVAL), known(360.0, 80));
    }

    #[test]
    fn an_end_that_falls_is_that_of_another_log() {
        let mut log = log(&[(0, 100), (2, 200), (12, 300)]);
        assert!(log.produced(Duration::ZERO).is_some());
        log.end(At(14_000), 10, HOUR);
        assert_eq!((log.life(), log.produced(Duration::ZERO)), (1, None));
        assert_eq!(log.time_lag(5, At(14_000), INTERVAL), TimeLag::Unknown);
    }

    #[test]
    fn a_stable_offset_that_stands_still_is_held() {
        let mut log = LogHistory::default();
        let mut look = |seconds: u64, stable: i64, end: i64| {
            log.stable(At(seconds * 1000), stable, end);
            log.end(At(seconds * 1000), end, HOUR);
            log.open_transaction(INTERVAL)
        };
        assert_eq!(look(0, 100, 103), 0, "once may be what was written in between");
        assert_eq!(look(2, 200, 203), 0);
        assert_eq!(look(4, 200, 250), 50);
        assert_eq!(look(6, 200, 260), 60);
        assert_eq!(look(8, 260, 260), 0);
        let mut held = LogHistory::default();
        for (seconds, end) in [(0, 200), (2, 200), (4, 250), (6, 260)] {
            held.stable(At(seconds * 1000), 200, end);
            held.end(At(seconds * 1000), end, HOUR);
        }
        let open_for = held.open_for(At(10_000), INTERVAL).at_least();
        assert_eq!(open_for, Some(Duration::from_secs(8)), "the first of them was written between 2 and 4");
        log.stable(At(10_000), 260, 270);
        log.end(At(10_000), 270, HOUR);
        log.end(At(21_000), 300, HOUR);
        assert_eq!(log.open_transaction(INTERVAL), 0, "too old");
    }

    #[test]
    fn the_log_start_comes_closer_or_not() {
        let mut log = LogHistory::default();
        for (seconds, start) in [(0, 0), (30, 0), (60, 1000), (90, 1000), (100, 2000)] {
            log.start(At(seconds * 1000), start, HOUR);
        }
        // 20 a second.
        assert_eq!(log.time_to_loss(3000, 0.0), Some(Duration::from_secs(50)));
        assert_eq!(log.time_to_loss(3000, 10.0), Some(Duration::from_secs(100)));
        assert_eq!(log.time_to_loss(3000, 20.0), None);
        assert_eq!(log.time_to_loss(1999, 0.0), None, "it is lost already");
        let mut still = LogHistory::default();
        for (seconds, start) in [(0, 5), (30, 9)] {
            still.start(At(seconds * 1000), start, HOUR);
        }
        assert_eq!(still.time_to_loss(100, 0.0), None, "one step tells no speed");
    }

    proptest! {
        #[test]
        fn a_time_lag_is_sane_and_does_not_depend_on_the_clocks_zero(
            steps in proptest::collection::vec((1u64..5000, 0i64..100), 1..60),
            commit in 0i64..5000,
            later in 0u64..100_000,
        ) {
            let (mut at, mut end) = (0, 0);
            let samples: Vec<(u64, i64)> = steps.iter().map(|(time, records)| {
                (at, end) = (at + time, end + records);
                (at, end)
            }).collect();
            let lag = |shift: u64| {
                let mut log = LogHistory::default();
                for (at, end) in &samples {
                    log.end(At(at + shift), *end, HOUR);
                }
                log.time_lag(commit, At(at + shift + later), INTERVAL)
            };
            let here = lag(0);
            prop_assert_eq!(here, lag(1_000_000));
            prop_assert_eq!(here == TimeLag::None, commit >= end);
            if let TimeLag::Known { time, error } = here {
                // True for any time at which the end may have passed the commit.
                let exceeded = samples.iter().find(|(_, end)| *end > commit).map(|(seen, _)| at + later - seen).unwrap();
                let seen = Duration::from_millis(exceeded);
                prop_assert!(seen <= time && time <= seen + error + Duration::from_millis(1), "{:?} {:?}", time, seen);
            }
        }
    }
}
