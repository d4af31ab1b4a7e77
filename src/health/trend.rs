//! The lag of a group over the last polls: a bounded ring, and whether it rises or falls.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::At;

/// Samples kept: an hour at the default interval of 2 s.
const KEPT: usize = 1800;

/// Total lag of a group over time, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trend {
    samples: VecDeque<(At, u64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    Rising,
    Falling,
    #[default]
    Flat,
}

impl Trend {
    /// Adds a sample; one no later than the last replaces it.
    pub fn push(&mut self, at: At, lag: u64) {
        if self.samples.back().is_some_and(|(last, _)| *last >= at) {
            self.samples.pop_back();
        }
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back((at, lag));
    }

    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// The newest `count` samples, oldest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = (At, u64)> + '_ {
        self.samples.iter().skip(self.samples.len().saturating_sub(count)).copied()
    }

    /// Where the lag went within the last `window`: up or down by more than 2 % of the larger end.
    pub fn direction(&self, window: Duration) -> Direction {
        let Some((now, last)) = self.samples.back().copied() else { return Direction::Flat };
        let first = self.samples.iter().find(|(at, _)| now.since(*at) <= window).map_or(last, |(_, lag)| *lag);
        let margin = first.max(last) / 50;
        if last > first.saturating_add(margin) {
            Direction::Rising
        } else if first > last.saturating_add(margin) {
            Direction::Falling
        } else {
            Direction::Flat
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_is_that_of_the_window() {
        let mut trend = Trend::default();
        assert_eq!(trend.direction(Duration::from_secs(60)), Direction::Flat);
        for (at, lag) in [(0, 1000), (60_000, 100), (90_000, 150), (119_000, 200)] {
            trend.push(At(at), lag);
        }
        assert_eq!(trend.direction(Duration::from_secs(60)), Direction::Rising);
        assert_eq!(trend.direction(Duration::from_secs(600)), Direction::Falling);
        trend.push(At(119_000), 150);
        assert_eq!(trend.newest(2).collect::<Vec<_>>(), [(At(90_000), 150), (At(119_000), 150)]);
        assert_eq!(trend.direction(Duration::from_secs(30)), Direction::Flat);
    }

    #[test]
    fn the_ring_is_bounded() {
        let mut trend = Trend::default();
        (0..5000).for_each(|at| trend.push(At(at), at));
        assert_eq!(trend.newest(usize::MAX).count(), KEPT);
        assert_eq!(trend.newest(1).next(), Some((At(4999), 4999)));
    }
}
