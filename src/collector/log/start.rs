//! From where a log is read: all of it where it is short, else a bounded part of it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::frame::order::History;

/// A log with no more offsets than this is read whole, whatever the history asked for: it costs about a second.
const SHORT: i64 = 200_000;
/// At most this many offsets are read of a bounded history.
const LONGEST: i64 = 2_000_000;

/// Where to begin, and what that leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub from: BTreeMap<i32, i64>,
    /// The ends of the partitions before reading began: whoever has read that far has caught up.
    pub until: BTreeMap<i32, i64>,
    /// Nothing is left out.
    pub whole: bool,
    /// Offsets left out (records at most: compaction leaves gaps).
    pub skipped: i64,
}

/// `bounds`: start and end of each partition. `since`: the first offset of each partition within the history; a
/// partition without one has no record that young.
pub fn plan(bounds: &BTreeMap<i32, (i64, i64)>, history: History, since: &BTreeMap<i32, i64>) -> Plan {
    let length: i64 = bounds.values().map(|(start, end)| end - start).sum();
    let until: BTreeMap<i32, i64> = bounds.iter().map(|(partition, (_, end))| (*partition, *end)).collect();
    let whole = |until| {
        let from = bounds.iter().map(|(partition, (start, _))| (*partition, *start)).collect();
        Plan { from, until, whole: true, skipped: 0 }
    };
    if length <= SHORT || history == History::All {
        return whole(until);
    }
    let mut from: BTreeMap<i32, i64> = bounds
        .iter()
        .map(|(partition, (start, end))| {
            (*partition, since.get(partition).copied().unwrap_or(*end).clamp(*start, *end))
        })
        .collect();
    let wanted: i64 = from.iter().map(|(partition, first)| bounds[partition].1 - first).sum();
    if wanted > LONGEST {
        // Each partition gives up the same share of its oldest part.
        for (partition, first) in &mut from {
            let end = bounds[partition].1;
            *first = end - (end - *first) * (LONGEST / 1000) / (wanted / 1000).max(1);
        }
    }
    let skipped = from.iter().map(|(partition, first)| first - bounds[partition].0).sum();
    if skipped == 0 { whole(until) } else { Plan { from, until, whole: false, skipped } }
}

/// Whether times are needed for the plan.
pub fn needs_times(bounds: &BTreeMap<i32, (i64, i64)>, history: History) -> Option<Duration> {
    let length: i64 = bounds.values().map(|(start, end)| end - start).sum();
    match history {
        History::Last(millis) if length > SHORT => Some(Duration::from_millis(millis)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIX_HOURS: History = History::Last(6 * 3600 * 1000);

    #[test]
    fn a_short_log_is_read_whole() {
        let bounds = BTreeMap::from([(0, (10, 100_000)), (1, (0, 0))]);
        assert_eq!(needs_times(&bounds, SIX_HOURS), None);
        let plan = plan(&bounds, SIX_HOURS, &BTreeMap::new());
        let until = BTreeMap::from([(0, 100_000), (1, 0)]);
        assert_eq!(plan, Plan { from: BTreeMap::from([(0, 10), (1, 0)]), until, whole: true, skipped: 0 });
    }

    #[test]
    fn a_long_log_is_read_from_the_time_on() {
        let bounds = BTreeMap::from([(0, (0, 300_000)), (1, (50, 200_050)), (2, (0, 7))]);
        assert_eq!(needs_times(&bounds, SIX_HOURS), Some(Duration::from_secs(6 * 3600)));
        assert_eq!(needs_times(&bounds, History::All), None);
        let since = BTreeMap::from([(0, 290_000), (1, 3)]);
        let bounded = plan(&bounds, SIX_HOURS, &since);
        assert_eq!(bounded.from, BTreeMap::from([(0, 290_000), (1, 50), (2, 7)]));
        assert_eq!((bounded.whole, bounded.skipped), (false, 290_007));
        assert!(plan(&bounds, History::All, &since).whole);
    }

    #[test]
    fn a_busy_log_is_cut_to_two_million() {
        let bounds = BTreeMap::from([(0, (0, 6_000_000)), (1, (0, 2_000_000))]);
        let cut = plan(&bounds, SIX_HOURS, &BTreeMap::from([(0, 0), (1, 0)]));
        let read: i64 = cut.from.iter().map(|(partition, first)| bounds[partition].1 - first).sum();
        assert!((1_990_000..=2_000_000).contains(&read), "{read}");
        assert!(!cut.whole);
    }
}
