//! Values over time in bounded memory: the newest are kept as they came, the older the coarser.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::At;

/// A ring of values, oldest first; 16 bytes a value.
///
/// Of a value that stays the same only the first and the last sample are kept: nothing is lost between them. Once the
/// ring is full, samples are taken out so that the gap between two is about the same part of their age everywhere; the
/// oldest stays until it is too old, and then still tells what stayed the same since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Samples {
    ring: VecDeque<(At, i64)>,
}

impl Samples {
    /// Adds a value of the time `at`. What is older than `keep` goes, and never more than `most` values (at least 3) stay.
    /// A time that is not later than the newest replaces it.
    pub fn push(&mut self, at: At, value: i64, keep: Duration, most: usize) {
        while self.ring.back().is_some_and(|(newest, _)| *newest >= at) {
            self.ring.pop_back();
        }
        let same = |place: usize| self.ring.get(place).is_some_and(|(_, known)| *known == value);
        let len = self.ring.len();
        if len >= 2 && same(len - 1) && same(len - 2) {
            self.ring.pop_back();
        }
        if self.ring.len() >= most.max(3) {
            self.thin(at);
        }
        self.ring.push_back((at, value));
        self.forget(at, keep);
    }

    /// What is older than `keep` goes; of a value that has stayed the same since before, its beginning moves on.
    fn forget(&mut self, now: At, keep: Duration) {
        let old = |at: At| now.since(at) > keep;
        while let (Some((oldest, value)), Some((next, after))) = (self.ring.front().copied(), self.ring.get(1).copied())
            && old(oldest)
        {
            self.ring.pop_front();
            let begins = At(now.0.saturating_sub(crate::model::time::millis(keep)));
            if value == after && begins < next {
                self.ring.push_front((begins, value));
            }
        }
    }

    fn thin(&mut self, now: At) {
        let gap = |place: &usize| {
            let at = |place: usize| self.ring.get(place).map_or(At(0), |(at, _)| *at);
            let (around, age) = (at(place + 1).since(at(place - 1)), now.since(at(*place)));
            around.as_secs_f64() / age.as_secs_f64().max(0.001)
        };
        let least = (1..self.ring.len() - 1).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        if let Some(place) = least {
            self.ring.remove(place);
        }
    }

    pub fn clear(&mut self) {
        self.ring.clear();
    }

    pub fn newest(&self) -> Option<(At, i64)> {
        self.ring.back().copied()
    }

    pub fn oldest(&self) -> Option<(At, i64)> {
        self.ring.front().copied()
    }

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (At, i64)> + ExactSizeIterator + '_ {
        self.ring.iter().copied()
    }

    /// The value at a time: linear between samples, the newest after it; `None` before the oldest.
    pub fn value(&self, at: At) -> Option<f64> {
        let next = self.ring.partition_point(|(time, _)| *time <= at);
        let (before, value) = *self.ring.get(next.checked_sub(1)?)?;
        let Some((after, next)) = self.ring.get(next) else { return Some(value as f64) };
        let part = at.since(before).as_secs_f64() / after.since(before).as_secs_f64().max(0.001);
        Some(value as f64 + (*next as f64 - value as f64) * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn filled(samples: impl IntoIterator<Item = (u64, i64)>, most: usize) -> Samples {
        let mut ring = Samples::default();
        for (at, value) in samples {
            ring.push(At(at), value, HOUR, most);
        }
        ring
    }

    #[test]
    fn a_value_that_stays_needs_two_samples() {
        let ring = filled([(0, 5), (1000, 5), (2000, 5), (3000, 5), (4000, 9), (5000, 9)], 10);
        assert_eq!(
            ring.iter().map(|(at, value)| (at.0, value)).collect::<Vec<_>>(),
            [(0, 5), (3000, 5), (4000, 9), (5000, 9)]
        );
        assert_eq!(
            (ring.value(At(2500)), ring.value(At(3500)), ring.value(At(9000))),
            (Some(5.0), Some(7.0), Some(9.0))
        );
        assert_eq!(filled([(10, 1)], 10).value(At(9)), None);
    }

    #[test]
    fn a_value_that_stays_for_longer_than_anything_is_kept_is_known_for_that_long() {
        let ring = filled((0..7200).map(|second| (second * 1000, i64::from(second >= 10))), 10);
        let kept: Vec<_> = ring.iter().map(|(at, value)| (at.0, value)).collect();
        assert_eq!(kept, [(3_599_000, 1), (7_199_000, 1)]);
    }

    #[test]
    fn the_older_the_coarser_and_no_older_than_wanted() {
        let ring = filled((0..3600).map(|poll| (poll * 2000, i64::try_from(poll).unwrap())), 128);
        assert_eq!(ring.iter().len(), 128);
        let times: Vec<u64> = ring.iter().map(|(at, _)| at.0).collect();
        assert!(7_198_000 - times[0] <= 3_600_000 && 7_198_000 - times[0] > 3_400_000, "{}", times[0]);
        for pair in times.windows(2) {
            let (gap, age) = (pair[1] - pair[0], 7_198_000 - pair[0]);
            assert!(gap <= (age / 8).max(2000), "{gap} of {age}");
        }
    }

    proptest! {
        #[test]
        fn times_ascend_and_memory_is_bounded(samples in proptest::collection::vec((0u64..100_000, -5i64..5), 0..300)) {
            let ring = filled(samples.clone(), 20);
            prop_assert!(ring.iter().len() <= 20);
            prop_assert!(ring.iter().zip(ring.iter().skip(1)).all(|(a, b)| a.0 < b.0));
            if let Some((at, value)) = samples.last() {
                prop_assert_eq!(ring.newest(), Some((At(*at), *value)));
            }
        }
    }
}
