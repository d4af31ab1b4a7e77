//! Where a lag goes: whether it rises or falls.

use std::time::Duration;

use super::Samples;
use crate::model::At;

/// The time that a direction is taken over.
pub const WINDOW: Duration = Duration::from_secs(60);
/// Less than that tells no direction.
const LEAST: Duration = Duration::from_secs(10);
/// Points of time in each half of the window.
const POINTS: u32 = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    Rising,
    Falling,
    #[default]
    Flat,
}

impl Direction {
    /// Where the lag went within the last `window`: the median of its newer half against that of its older half, by more
    /// than 2 % of the larger. A single step of a lag that goes up and down with each commit decides nothing.
    pub fn of(lag: &Samples, window: Duration) -> Self {
        Self::of_sum(&[lag], window)
    }

    /// The same of the sum of several, for as long as all of them are known.
    pub fn of_sum(lags: &[&Samples], window: Duration) -> Self {
        let oldest = lags.iter().filter_map(|lag| lag.oldest()).map(|(at, _)| at).max();
        let newest = lags.iter().filter_map(|lag| lag.newest()).map(|(at, _)| at).max();
        let Some((oldest, newest)) = oldest.zip(newest) else { return Self::Flat };
        let length = newest.since(oldest).min(window);
        if length < LEAST {
            return Self::Flat;
        }
        let step = length / (2 * POINTS - 1);
        let sum = |at: At| lags.iter().map(|lag| lag.value(at)).sum::<Option<f64>>();
        let values: Option<Vec<f64>> = (0..2 * POINTS).map(|back| sum(newest.minus(step * back))).collect();
        let Some(values) = values else { return Self::Flat };
        let (newer, older) = values.split_at(POINTS as usize);
        let (now, then) = (median(newer), median(older));
        let margin = now.max(then) / 50.0;
        if now > then + margin {
            Self::Rising
        } else if then > now + margin {
            Self::Falling
        } else {
            Self::Flat
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    f64::midpoint(sorted[middle - 1], sorted[middle])
}

/// The lag at `cells` times, the same time apart, over the last `window` or what is known of it; oldest first.
pub fn spark(lag: &Samples, window: Duration, cells: u32) -> Vec<u64> {
    let (Some((oldest, _)), Some((newest, value))) = (lag.oldest(), lag.newest()) else { return Vec::new() };
    let whole = |value: f64| value.max(0.0).round() as u64;
    let length = newest.since(oldest).min(window);
    if length.is_zero() || cells < 2 {
        return vec![whole(value as f64)];
    }
    let step = length / (cells - 1);
    let values = (0..cells).rev().filter_map(|back| lag.value(newest.minus(step * back)));
    values.map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::At;

    fn samples(values: impl IntoIterator<Item = (u64, i64)>) -> Samples {
        let mut ring = Samples::default();
        let all = Duration::from_secs(86_400);
        for (seconds, lag) in values {
            ring.push(At(seconds * 1000), lag, all, 128);
        }
        ring
    }

    #[test]
    fn direction_is_that_of_the_window() {
        assert_eq!(Direction::of(&Samples::default(), WINDOW), Direction::Flat);
        let ring =
            samples((0..60).map(|step| (2 * step, if step < 30 { 1000 - step as i64 } else { 100 + 5 * step as i64 })));
        assert_eq!(Direction::of(&ring, Duration::from_secs(50)), Direction::Rising);
        assert_eq!(Direction::of(&ring, Duration::from_secs(600)), Direction::Falling);
        // 2 % is nothing.
        assert_eq!(
            Direction::of(&samples((0..30).map(|step| (2 * step, 1000 + step as i64 / 2))), WINDOW),
            Direction::Flat
        );
        // Neither is less than 10 s.
        assert_eq!(Direction::of(&samples([(0, 0), (9, 1000)]), WINDOW), Direction::Flat);
    }

    #[test]
    fn one_falling_step_does_not_hide_a_growing_lag() {
        // 100 records come every second, a commit every 10 s takes 800.
        let lag = |second: i64| 5000 + 100 * second - 800 * (second / 10);
        let ring = samples((0..=60).map(|second| (second as u64, lag(second))));
        assert!(lag(60) < lag(59));
        assert_eq!(Direction::of(&ring, WINDOW), Direction::Rising);
        let falling = samples((0..=60).map(|second| (second as u64, 9000 + 100 * second - 1300 * (second / 10))));
        assert_eq!(Direction::of(&falling, WINDOW), Direction::Falling);
    }

    #[test]
    fn a_spark_has_equal_steps_of_time() {
        let ring = samples([(0, 0), (10, 100), (40, 100)]);
        assert_eq!(spark(&ring, Duration::from_secs(600), 5), [0, 100, 100, 100, 100]);
        assert_eq!(spark(&ring, Duration::from_secs(36), 4), [40, 100, 100, 100]);
        assert_eq!(spark(&samples([(5, 7)]), WINDOW, 8), [7]);
        assert!(spark(&Samples::default(), WINDOW, 8).is_empty());
    }
}
