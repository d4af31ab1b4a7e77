//! How often a group rebalances: counts as of a moment, a storm, the share of the time that it was not Stable, and a strip.
//! Moments are the coordinators' clocks; whoever asks has another clock, so the moment of asking is never before the
//! newest event.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::rebalance::Rebalance;
use crate::model::Wall;

const FIVE_MINUTES: Duration = Duration::from_secs(300);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
/// Slots of the strip, a minute each; the newest is the last.
pub const SLOTS: usize = 60;
const SLOT: i64 = 60_000;

/// So many rebalances within a time are a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    pub count: usize,
    pub window: Duration,
}

impl Default for Storm {
    /// 5 in 5 minutes.
    fn default() -> Self {
        Self { count: 5, window: FIVE_MINUTES }
    }
}

impl FromStr for Storm {
    type Err = String;

    /// `5/5m`: five or more within five minutes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || format!("\"{}\" is not like 5/5m: a count, a slash, a duration", crate::model::name::safe(text));
        let (count, window) = text.split_once('/').ok_or_else(error)?;
        let count = count.trim().parse().ok().filter(|count| *count > 0).ok_or_else(error)?;
        let window =
            humantime::parse_duration(window.trim()).ok().filter(|window| !window.is_zero()).ok_or_else(error)?;
        if window > HOUR {
            return Err(format!(
                "\"{}\": a storm is looked for within an hour at most",
                crate::model::name::safe(text)
            ));
        }
        Ok(Self { count, window })
    }
}

impl fmt::Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, humantime::format_duration(self.window))
    }
}

/// How often, as of a moment. A rebalance counts from when it began; one under way counts, too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frequency {
    pub per_5min: usize,
    pub per_hour: usize,
    /// Rebalances within the window of a storm, if they are one.
    pub storm: Option<usize>,
    /// Classic: rounds of the last hour that never synced.
    pub missed_per_hour: u32,
    /// Share of the last hour, or of the time since the history is known, that rebalances took; `None`: it is not known
    /// for any time.
    pub not_stable_share: Option<f64>,
    /// Some of them took longer than is known.
    pub not_stable_at_least: bool,
    /// Rebalances of each minute of the last hour, oldest first.
    pub strip: Vec<u32>,
}

impl Frequency {
    /// `list` in any order; `ongoing` began then; `since` when the history is known.
    pub fn of<'a>(
        list: impl Iterator<Item = &'a Rebalance>,
        ongoing: Option<Wall>,
        now: Wall,
        since: Wall,
        storm: Storm,
    ) -> Self {
        let mut frequency = Self { strip: vec![0; SLOTS], ..Self::default() };
        let mut within_storm = 0;
        let hour_ago = now.minus(HOUR);
        let span = now.since(since.max(hour_ago));
        let mut busy = Duration::ZERO;
        let mut count = |began: Wall, ended: Wall| {
            let age = now.since(began);
            frequency.per_5min += usize::from(age < FIVE_MINUTES);
            frequency.per_hour += usize::from(age < HOUR);
            within_storm += usize::from(age < storm.window);
            busy += ended.min(now).since(began.max(hour_ago));
            let back = now.0.div_euclid(SLOT) - began.0.div_euclid(SLOT);
            if let Some(slot) = usize::try_from(back).ok().and_then(|back| (SLOTS - 1).checked_sub(back)) {
                frequency.strip[slot] += 1;
            }
        };
        let (mut missed, mut at_least) = (0, false);
        for rebalance in list {
            count(rebalance.began, rebalance.ended);
            if rebalance.ended > hour_ago {
                missed += rebalance.missed;
                at_least |= rebalance.took.is_lower_bound();
            }
        }
        if let Some(began) = ongoing {
            count(began.min(now), now);
        }
        frequency.storm = (within_storm >= storm.count).then_some(within_storm);
        (frequency.missed_per_hour, frequency.not_stable_at_least) = (missed, at_least);
        if !span.is_zero() {
            frequency.not_stable_share = Some((busy.as_secs_f64() / span.as_secs_f64()).min(1.0));
        }
        frequency
    }
}
