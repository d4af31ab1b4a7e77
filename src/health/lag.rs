//! Lag, told honestly: a partition of a group is in exactly one state, and a total is a sum of what is known plus a
//! count of each other state. Nothing is clamped, guessed or left out silently.

use std::time::Duration;

use crate::model::{At, Presence, SharePartition};

/// Everything that decides the lag of one partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartitionFacts {
    pub presence: Presence,
    /// The topic has a partition of this number.
    pub exists: bool,
    pub has_leader: bool,
    pub commit: Option<i64>,
    /// Log start offset.
    pub start: Option<i64>,
    /// High watermark, and when it was read.
    pub end: Option<(i64, At)>,
    /// Last stable offset, for a consumer that reads committed records alone: what is behind it cannot be read yet.
    pub stable: Option<i64>,
    /// The commit was past the end in the poll before, too (with the same or an earlier commit).
    pub past_end_before: bool,
    /// Set for a share group, which commits nothing: how far it has read (nothing in it: not known).
    pub share: Option<SharePartition>,
}

/// The lag of one partition, in records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PartitionLag {
    /// end − commit. Also 0 for one poll in which the commit was ahead of an end that had been read before it.
    Known(u64),
    /// A share group's backlog: end − share-partition start offset − what is done above it, the broker's own formula.
    /// Not defined as lag is, so it is in no sum with lags.
    Backlog(u64),
    /// The group has never committed here, or the commit has expired. `held`: records in the log, end − start.
    NoCommit { held: Option<u64> },
    /// commit > end in two polls running: offsets copied from elsewhere, or a topic recreated.
    PastEnd { by: u64 },
    /// commit < log start: `lost` records were deleted before they were read; `readable` = end − start.
    Expired { lost: u64, readable: u64 },
    /// The partition has no leader, so nobody can tell its end.
    NoLeader,
    /// The cluster says that there is no such topic.
    TopicGone,
    /// The topic has fewer partitions than that.
    PartitionGone,
    /// The group has members, all that they subscribe to is known, this topic is not in it, and nothing was committed
    /// here for a while (see [`super::Thresholds::abandoned_after`]): outside the sum. `behind` = end − commit.
    Abandoned { behind: Option<u64> },
    /// End or commit (or what a share group has done) could not be read lately: the last lag or backlog that was known, and
    /// when that was.
    Stale { last: u64, since: At },
    /// Not read yet, or not readable with our rights.
    #[default]
    Unknown,
}

impl PartitionLag {
    /// The state of a partition at the time `now`; an end that was read longer than `fresh` ago is stale.
    pub fn of(facts: &PartitionFacts, now: At, fresh: Duration) -> Self {
        match facts.presence {
            Presence::Gone => return Self::TopicGone,
            Presence::Present if !facts.exists => return Self::PartitionGone,
            Presence::Present | Presence::Unknown | Presence::Denied => {}
        }
        if facts.exists && !facts.has_leader {
            return Self::NoLeader;
        }
        let Some((high_watermark, read_at)) = facts.end else { return Self::Unknown };
        let end = facts.stable.map_or(high_watermark, |stable| stable.min(high_watermark));
        if let Some(share) = facts.share {
            return match share.backlog(high_watermark) {
                Some(last) if now.since(read_at) > fresh => Self::Stale { last, since: read_at },
                backlog => backlog.map_or(Self::Unknown, Self::Backlog),
            };
        }
        let Some(commit) = facts.commit else {
            return Self::NoCommit { held: facts.start.map(|start| distance(start, end)) };
        };
        if now.since(read_at) > fresh {
            return Self::Stale { last: distance(commit, end), since: read_at };
        }
        match facts.start {
            _ if commit > high_watermark && facts.past_end_before => {
                Self::PastEnd { by: distance(high_watermark, commit) }
            }
            Some(start) if commit < start => {
                Self::Expired { lost: distance(commit, start), readable: distance(start, end) }
            }
            _ => Self::Known(distance(commit, end)),
        }
    }

    /// Records that the group can still read and has not: what counts in a total and for a plan.
    pub fn readable(&self) -> Option<u64> {
        match self {
            Self::Known(lag) | Self::Expired { readable: lag, .. } => Some(*lag),
            _ => None,
        }
    }

    /// The figure of its state: lag, or a share group's backlog.
    pub fn records(&self) -> Option<u64> {
        match self {
            Self::Backlog(backlog) => Some(*backlog),
            _ => self.readable(),
        }
    }

    /// The state's name, as screens and JSON call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Known(_) => "known",
            Self::Backlog(_) => "backlog",
            Self::NoCommit { .. } => "no commit",
            Self::PastEnd { .. } => "past end",
            Self::Expired { .. } => "expired",
            Self::NoLeader => "no leader",
            Self::TopicGone => "topic gone",
            Self::PartitionGone => "partition gone",
            Self::Abandoned { .. } => "abandoned",
            Self::Stale { .. } => "stale",
            Self::Unknown => "unknown",
        }
    }
}

/// `to − from`, 0 if negative.
fn distance(from: i64, to: i64) -> u64 {
    u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0)
}

/// The total of a group, a member or a topic: the sum of the known lags, with the readable part of expired ones, and
/// how many partitions are in each other state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LagTotals {
    /// Records.
    pub lag: u64,
    pub known: usize,
    /// Share groups: records that are not done, over the partitions where that is known.
    pub backlog: u64,
    pub shared: usize,
    pub no_commit: usize,
    pub past_end: usize,
    pub expired: usize,
    /// Records deleted before they were read, over the expired partitions.
    pub lost: u64,
    pub no_leader: usize,
    pub topic_gone: usize,
    pub partition_gone: usize,
    pub abandoned: usize,
    pub stale: usize,
    /// Records behind when the stale partitions were last read.
    pub last: u64,
    pub unknown: usize,
    /// Records in `lag` that may not be there: lags on compacted topics, and single ones that may be control records.
    pub doubtful: u64,
}

impl LagTotals {
    pub fn add(&mut self, lag: &PartitionLag) {
        self.lag = self.lag.saturating_add(lag.readable().unwrap_or(0));
        match lag {
            PartitionLag::Known(_) => self.known += 1,
            PartitionLag::Backlog(backlog) => {
                self.shared += 1;
                self.backlog = self.backlog.saturating_add(*backlog);
            }
            PartitionLag::NoCommit { .. } => self.no_commit += 1,
            PartitionLag::PastEnd { .. } => self.past_end += 1,
            PartitionLag::Expired { lost, .. } => {
                self.expired += 1;
                self.lost = self.lost.saturating_add(*lost);
            }
            PartitionLag::NoLeader => self.no_leader += 1,
            PartitionLag::TopicGone => self.topic_gone += 1,
            PartitionLag::PartitionGone => self.partition_gone += 1,
            PartitionLag::Abandoned { .. } => self.abandoned += 1,
            PartitionLag::Stale { last, .. } => {
                self.stale += 1;
                self.last = self.last.saturating_add(*last);
            }
            PartitionLag::Unknown => self.unknown += 1,
        }
    }

    /// Takes note that so many of the records in the sum may not be there.
    pub fn doubt(&mut self, records: u64) {
        self.doubtful = self.doubtful.saturating_add(records);
    }

    /// Whether the sum is an upper bound: more than 1 % of it may not be there.
    pub fn at_most(&self) -> bool {
        self.doubtful > self.lag / 100
    }

    /// Records behind, a share group's backlog too; `None`: nothing is known of it.
    pub fn behind(&self) -> Option<u64> {
        if self.has_known() { Some(self.lag) } else { (self.shared > 0).then_some(self.backlog) }
    }

    /// What was known last, where nothing is known now.
    pub fn was_behind(&self) -> Option<u64> {
        (self.behind().is_none() && self.stale > 0).then_some(self.last)
    }

    /// Whether the sum says anything at all.
    pub fn has_known(&self) -> bool {
        self.known + self.expired > 0
    }

    /// How many partitions are in each state that is not `known`, the empty ones left out.
    pub fn exceptions(&self) -> Vec<(&'static str, usize)> {
        [
            ("past end", self.past_end),
            ("expired", self.expired),
            ("no leader", self.no_leader),
            ("topic gone", self.topic_gone),
            ("partition gone", self.partition_gone),
            ("abandoned", self.abandoned),
            ("stale", self.stale),
            ("unknown", self.unknown),
            ("no commit", self.no_commit),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }
}

impl<'a> FromIterator<&'a PartitionLag> for LagTotals {
    fn from_iter<I: IntoIterator<Item = &'a PartitionLag>>(lags: I) -> Self {
        let mut totals = Self::default();
        lags.into_iter().for_each(|lag| totals.add(lag));
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FRESH: Duration = Duration::from_secs(10);

    fn facts(start: i64, commit: Option<i64>, end: i64) -> PartitionFacts {
        PartitionFacts {
            presence: Presence::Present,
            exists: true,
            has_leader: true,
            commit,
            start: Some(start),
            end: Some((end, At(0))),
            stable: None,
            past_end_before: false,
            share: None,
        }
    }

    fn lag(facts: &PartitionFacts) -> PartitionLag {
        PartitionLag::of(facts, At(0), FRESH)
    }

    #[test]
    fn a_commit_past_the_end_is_told_not_clamped() {
        for (commit, end, by) in [(144_424, 136_204, 8220), (2020, 1611, 409), (500, 10, 490)] {
            let first = facts(0, Some(commit), end);
            assert_eq!(lag(&first), PartitionLag::Known(0), "one poll may be a race");
            let second = PartitionFacts { past_end_before: true, ..first };
            assert_eq!(lag(&second), PartitionLag::PastEnd { by });
        }
    }

    #[test]
    fn no_commit_is_not_the_whole_log() {
        let lags = [
            facts(0, Some(2033), 2034),
            facts(0, Some(209_168), 209_169),
            facts(0, Some(4627), 4632),
            facts(0, Some(306_817), 306_859),
            facts(0, None, 0),
            facts(0, None, 1_234_234),
        ]
        .map(|facts| lag(&facts));
        assert_eq!(lags[4], PartitionLag::NoCommit { held: Some(0) });
        let totals: LagTotals = lags.iter().collect();
        assert_eq!((totals.lag, totals.known, totals.no_commit), (49, 4, 2));
        assert_eq!(totals.exceptions(), [("no commit", 2)]);
    }

    #[test]
    fn a_commit_below_the_log_start_has_lost_records() {
        assert_eq!(lag(&facts(1000, Some(1200), 2000)), PartitionLag::Known(800));
        assert_eq!(lag(&facts(1000, Some(1000), 2000)), PartitionLag::Known(1000));
        let expired = lag(&facts(1000, Some(500), 2000));
        assert_eq!(expired, PartitionLag::Expired { lost: 500, readable: 1000 });
        let totals: LagTotals = [expired, PartitionLag::Known(5)].iter().collect();
        assert_eq!((totals.lag, totals.lost, totals.expired), (1005, 500, 1));
    }

    #[test]
    fn a_reader_of_committed_records_is_behind_as_far_as_it_may_read() {
        let open = PartitionFacts { stable: Some(200), ..facts(0, Some(200), 1663) };
        assert_eq!(lag(&open), PartitionLag::Known(0));
        assert_eq!(lag(&PartitionFacts { commit: Some(150), ..open }), PartitionLag::Known(50));
        // A commit between the two is no commit past the end.
        assert_eq!(lag(&PartitionFacts { commit: Some(300), past_end_before: true, ..open }), PartitionLag::Known(0));
        let past = PartitionFacts { commit: Some(1700), past_end_before: true, ..open };
        assert_eq!(lag(&past), PartitionLag::PastEnd { by: 37 });
    }

    #[test]
    fn a_total_of_mostly_doubtful_records_is_an_upper_bound() {
        let mut totals: LagTotals = [PartitionLag::Known(1), PartitionLag::Known(0)].iter().collect();
        assert!(!totals.at_most());
        totals.doubt(1);
        assert!(totals.at_most());
        totals.add(&PartitionLag::Known(99));
        assert!(!totals.at_most(), "1 of 100");
    }

    #[test]
    fn a_share_groups_backlog_is_the_brokers() {
        let share = |start, done| Some(SharePartition { start, done });
        let base = facts(0, None, 100);
        for (share, expected) in [
            (share(Some(40), Some(10)), PartitionLag::Backlog(50)),
            (share(Some(100), Some(0)), PartitionLag::Backlog(0)),
            (share(None, Some(0)), PartitionLag::Unknown),
            (share(Some(40), None), PartitionLag::Unknown),
        ] {
            assert_eq!(lag(&PartitionFacts { share, ..base }), expected);
        }
        let late = PartitionLag::of(&PartitionFacts { share: share(Some(40), Some(10)), ..base }, At(10_001), FRESH);
        assert_eq!(late, PartitionLag::Stale { last: 50, since: At(0) });
        let totals: LagTotals = [PartitionLag::Backlog(50), PartitionLag::Backlog(7)].iter().collect();
        assert_eq!((totals.lag, totals.backlog, totals.shared, totals.has_known()), (0, 57, 2, false));
        assert_eq!((totals.behind(), LagTotals::default().behind()), (Some(57), None));
    }

    #[test]
    fn what_is_missing_has_its_own_word() {
        let base = facts(0, Some(5), 10);
        let gone = PartitionFacts { presence: Presence::Gone, exists: false, end: None, ..base };
        assert_eq!(lag(&gone), PartitionLag::TopicGone);
        assert_eq!(lag(&PartitionFacts { exists: false, ..base }), PartitionLag::PartitionGone);
        assert_eq!(lag(&PartitionFacts { has_leader: false, ..base }), PartitionLag::NoLeader);
        assert_eq!(lag(&PartitionFacts { end: None, ..base }), PartitionLag::Unknown);
        let denied = PartitionFacts { presence: Presence::Denied, exists: false, end: None, ..base };
        assert_eq!(lag(&denied), PartitionLag::Unknown);
        let late = PartitionLag::of(&base, At(10_001), FRESH);
        assert_eq!(late, PartitionLag::Stale { last: 5, since: At(0) });
        assert_eq!(PartitionLag::of(&base, At(10_000), FRESH), PartitionLag::Known(5));
    }

    proptest! {
        #[test]
        fn a_total_counts_every_partition_once(
            inputs in proptest::collection::vec(
                (0i64..1000, proptest::option::of(0i64..1000), 0i64..1000, any::<[bool; 4]>()), 0..30)
        ) {
            let lags: Vec<_> = inputs.iter().map(|(start, commit, end, flags)| lag(&PartitionFacts {
                presence: if flags[0] { Presence::Present } else { Presence::Gone },
                exists: flags[1],
                has_leader: flags[2],
                past_end_before: flags[3],
                ..facts(*start, *commit, *end)
            })).collect();
            let totals: LagTotals = lags.iter().collect();
            let others: usize = totals.exceptions().iter().map(|(_, count)| count).sum();
            prop_assert_eq!(totals.known + others, lags.len());
            prop_assert_eq!(totals.lag, lags.iter().filter_map(PartitionLag::readable).sum::<u64>());
        }
    }
}
