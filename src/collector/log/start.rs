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
    /// Partitions that begin after where they were to go on.
    pub missed: Vec<i32>,
}

/// `bounds`: start and end of each partition. `since`: the first offset of each partition within the history; a
/// partition without one has no record that young. `resume`: where partitions were read to before.
pub fn plan(
    bounds: &BTreeMap<i32, (i64, i64)>,
    history: History,
    since: &BTreeMap<i32, i64>,
    resume: &BTreeMap<i32, i64>,
) -> Plan {
    let length: i64 = bounds.values().map(|(start, end)| end - start).sum();
    let all = length <= SHORT || history == History::All;
    let first = |(partition, (start, end)): (&i32, &(i64, i64))| {
        let since = if all { *start } else { since.get(partition).copied().unwrap_or(*end) };
        (*partition, resume.get(partition).map_or(since, |next| since.min(*next)).clamp(*start, *end))
    };
    let mut from: BTreeMap<i32, i64> = bounds.iter().map(first).collect();
    let wanted: i64 = from.iter().map(|(partition, first)| bounds[partition].1 - first).sum();
    if wanted > LONGEST && !all {
        // Each partition gives up the same share of its oldest part.
        for (partition, first) in &mut from {
            let end = bounds[partition].1;
            *first = end - (end - *first) * (LONGEST / 1000) / (wanted / 1000).max(1);
        }
    }
    let skipped = from.iter().map(|(partition, first)| first - bounds[partition].0).sum();
    let missed =
        |(partition, next): (&i32, &i64)| from.get(partition).is_some_and(|first| first > next).then_some(*partition);
    let missed = resume.iter().filter_map(missed).collect();
    let until = bounds.iter().map(|(partition, (_, end))| (*partition, *end)).collect();
    Plan { from, until, whole: skipped == 0, skipped, missed }
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

    const NONE: BTreeMap<i32, i64> = BTreeMap::new();
    const SIX_HOURS: History = History::Last(6 * 3600 * 1000);

    #[test]
    fn a_short_log_is_read_whole() {
        let bounds = BTreeMap::from([(0, (10, 100_000)), (1, (0, 0))]);
        assert_eq!(needs_times(&bounds, SIX_HOURS), None);
        let plan = plan(&bounds, SIX_HOURS, &NONE, &NONE);
        let until = BTreeMap::from([(0, 100_000), (1, 0)]);
        assert_eq!(plan, Plan { from: BTreeMap::from([(0, 10), (1, 0)]), until, whole: true, ..Plan::default() });
    }

    #[test]
    fn a_long_log_is_read_from_the_time_on() {
        let bounds = BTreeMap::from([(0, (0, 300_000)), (1, (50, 200_050)), (2, (0, 7))]);
        assert_eq!(needs_times(&bounds, SIX_HOURS), Some(Duration::from_secs(6 * 3600)));
        assert_eq!(needs_times(&bounds, History::All), None);
        let since = BTreeMap::from([(0, 290_000), (1, 3)]);
        let bounded = plan(&bounds, SIX_HOURS, &since, &NONE);
        assert_eq!(bounded.from, BTreeMap::from([(0, 290_000), (1, 50), (2, 7)]));
        assert_eq!((bounded.whole, bounded.skipped), (false, 290_007));
        assert!(plan(&bounds, History::All, &since, &NONE).whole);
    }

    #[test]
    fn a_busy_log_is_cut_to_two_million() {
        let bounds = BTreeMap::from([(0, (0, 6_000_000)), (1, (0, 2_000_000))]);
        let cut = plan(&bounds, SIX_HOURS, &BTreeMap::from([(0, 0), (1, 0)]), &NONE);
        let read: i64 = cut.from.iter().map(|(partition, first)| bounds[partition].1 - first).sum();
        assert!((1_990_000..=2_000_000).contains(&read), "{read}");
        assert!(!cut.whole);
    }

    #[test]
    fn reading_goes_on_where_it_was() {
        let bounds = BTreeMap::from([(0, (0, 300_000)), (1, (50, 200_050)), (2, (0, 9)), (3, (0, 7))]);
        let since = BTreeMap::from([(0, 290_000), (1, 200_000)]);
        // One was ahead of the history, one behind, one is short of it, one went back.
        let resume = BTreeMap::from([(0, 299_000), (1, 150_000), (2, 4), (3, 8)]);
        let from_there = plan(&bounds, SIX_HOURS, &since, &resume);
        assert_eq!(from_there.from, BTreeMap::from([(0, 290_000), (1, 150_000), (2, 4), (3, 7)]));
        assert_eq!((from_there.whole, from_there.missed), (false, vec![]));
        // Records are gone.
        let resume = BTreeMap::from([(0, 299_000), (1, 49), (9, 0)]);
        let gone = plan(&bounds, SIX_HOURS, &since, &resume);
        assert_eq!((gone.from[&1], gone.missed), (50, vec![1]));
        let whole = plan(&bounds, History::All, &NONE, &resume);
        assert_eq!((whole.whole, whole.missed), (true, vec![1]));
    }

    #[test]
    fn too_much_to_go_on_is_left_out() {
        let bounds = BTreeMap::from([(0, (0, 6_000_000)), (1, (0, 2_000_000))]);
        let resume = BTreeMap::from([(0, 1_000_000), (1, 2_000_000)]);
        let cut = plan(&bounds, SIX_HOURS, &NONE, &resume);
        assert_eq!((cut.missed, cut.from[&1]), (vec![0], 2_000_000));
        let read: i64 = cut.from.iter().map(|(partition, first)| bounds[partition].1 - first).sum();
        assert!((1_990_000..=2_000_000).contains(&read), "{read}");
    }
}
