//! The view: what the facts mean, as of one moment. Every number on a screen or in a report comes from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::Basis;
use crate::assign::Assignor;
use crate::assign::metrics::Metrics;
use crate::health::rebalances::{Happening, Storm};
use crate::health::{
    Direction, Drain, IdleReason, Judgement, LagTotals, MemberForecast, PartitionLag, Rate, Reason, Thresholds, TimeLag,
};
use crate::model::{
    At, Evidence, GroupKind, GroupState, Listing, LogGap, LogProgress, MemberLog, Name, Probes, Problem, Progress,
    SharePartition, Wall,
};

pub use super::metadata::view::{
    Consequence, Effect, Explanation, FarMember, GroupMetadata, HashState, MetadataChange, MetadataLine, Noticed,
    Outcome, TopicMetadata,
};
pub use super::plan::view::{DrainView, Fit, MemberChange, PlanView, PlannedMember, Way};
pub use crate::health::rebalances::Summary as RebalanceView;
pub use crate::health::verdict::CommitSigns;

/// Everything there is to show. Cheap to clone: groups are shared with the views before and after.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// The stream's time of the newest frame.
    pub now: At,
    /// Wall clock of the writer at the stream's time 0; `None` before the first frame.
    pub started: Option<Wall>,
    pub cluster: ClusterView,
    pub feed: Feed,
    pub listing: Option<Listing>,
    pub progress: Progress,
    /// How far the coordinator log was read; `None`: it is not read.
    pub log: Option<LogProgress>,
    /// Sorted by group id.
    pub groups: Vec<Arc<GroupView>>,
    pub problems: Arc<Vec<Problem>>,
    /// Whose plans stand beside the current assignments.
    pub assignor: Assignor,
    /// What happened in any group, newest first, at most 1000: rebalances, commits that moved back, static restarts,
    /// changes of type, deletions.
    pub events: Arc<Vec<Arc<Happening>>>,
    /// Topics that selected groups read, or that were named, by name.
    pub topics: Arc<BTreeMap<Name, Arc<TopicMetadata>>>,
    /// Changes of topics, racks and subscriptions, newest first, at most 1000.
    pub metadata_feed: Arc<Vec<Arc<MetadataLine>>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// What the person calls it: the bootstrap servers, or the name of a simulation.
    pub name: Name,
    pub id: Option<Name>,
    /// Brokers that are up; `None` before any was seen.
    pub brokers: Option<usize>,
    pub controller: Option<i32>,
    pub simulated: bool,
}

/// Whether the frames keep coming.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Feed {
    /// No facts yet.
    #[default]
    Connecting,
    Live,
    /// The source is gone for now: since when, and why. What is on screen is old.
    Stale {
        since: At,
        cause: Name,
    },
    /// The recording has come to its end.
    Ended,
    /// It will not come back.
    Failed {
        cause: Name,
    },
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupView {
    pub id: Name,
    pub kind: GroupKind,
    pub state: GroupState,
    pub evidence: Evidence,
    pub assignor: Option<Name>,
    /// Broker id.
    pub coordinator: Option<i32>,
    /// Generation (classic) or group epoch (KIP-848, share, streams); told by the log alone, as the next three.
    pub epoch: Option<i32>,
    /// Epoch that the target assignment was computed for.
    pub assignment_epoch: Option<i32>,
    /// The group hash (KIP-1101) that the coordinator stored.
    pub stored_hash: Option<i64>,
    /// Streams: epoch of the topology.
    pub topology_epoch: Option<i32>,
    /// Why the log does not tell of this group now, although it is read.
    pub log_gap: Option<LogGap>,
    /// No member has ever joined it.
    pub simple: bool,
    /// A classic group told by the log while it rebalances: the members, and what they hold, are those of the last
    /// generation. Who joins is in no record before the new one has synced.
    pub last_generation: bool,
    pub rebalances: RebalanceView,
    /// What makes its hash (KIP-1101), and what changed in it.
    pub metadata: Arc<GroupMetadata>,
    /// When members and state were last told; `None`: never. See [`View::described_at`].
    pub described_at: Option<At>,
    /// When the commits were last told; `None`: never. See [`View::commits_at`].
    pub commits_at: Option<At>,
    /// The records at its commits, where they were asked for.
    pub probes: Option<Probes>,
    /// Sorted by member id.
    pub members: Vec<MemberView>,
    /// Sorted by topic and number: what the group commits to, owns or subscribes to.
    pub partitions: Vec<PartitionView>,
    pub totals: LagTotals,
    /// Members without partitions.
    pub idle: usize,
    /// The current assignment; `None` where there is none to judge.
    pub metrics: Option<Metrics>,
    pub plan: Option<PlanView>,
    /// What the plan is made of, for other questions: see [`super::what_if`].
    pub basis: Option<Arc<Basis>>,
    /// How to come to the plan with what Kafka ships; only of a group that [`super::what_if`] gave.
    pub way: Option<Way>,
    /// Over all partitions.
    pub rates: Rates,
    /// When the lag will be gone as things are; `None` where there is nobody to forecast of.
    pub drains: Option<DrainView>,
    /// Total lag over the last 10 minutes or what is known of them, at times the same time apart, oldest first.
    pub trend: Vec<u64>,
    pub direction: Direction,
    /// The longest of its partitions.
    pub time_lag: TimeLag,
    pub judgement: Judgement,
    /// What it was judged by.
    pub thresholds: Thresholds,
    pub storm: Storm,
    /// Problems of this group and of its topics.
    pub problems: Vec<Problem>,
}

impl GroupView {
    /// Records that the most loaded member has less under the plan; negative: more. `None` without a plan.
    pub fn gain(&self) -> Option<i64> {
        let (plan, now) = (self.plan.as_ref()?, self.metrics.as_ref()?);
        i64::try_from(i128::from(now.largest_lag) - i128::from(plan.metrics.largest_lag)).ok()
    }

    /// Whether the plan is worth its moves: the most loaded member would have less. Without a backlog there is nothing to
    /// gain.
    pub fn would_gain(&self) -> bool {
        let behind = self.drains.is_none_or(|drains| drains.group.drain != Drain::Done);
        behind && self.plan.as_ref().is_some_and(|plan| plan.moves > 0) && self.gain().is_some_and(|gain| gain > 0)
    }

    /// Records that a member has less under the plan; negative: more. `None` without a plan.
    pub fn member_gain(&self, place: usize) -> Option<i64> {
        let then = self.plan.as_ref()?.members.get(place)?.lag;
        let now = self.metrics.as_ref()?.loads.get(place).map_or(0, |load| load.lag);
        i64::try_from(i128::from(now) - i128::from(then)).ok()
    }

    /// Members that are there now: a question may have added some.
    pub fn members_now(&self) -> usize {
        self.basis.as_ref().map_or(self.members.len(), |basis| basis.input.members.len())
    }

    /// Largest member's lag ÷ mean; `None` without lag or members.
    pub fn skew(&self) -> Option<f64> {
        self.metrics.as_ref().and_then(|metrics| metrics.lag_over_mean)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemberView {
    pub id: Name,
    pub instance_id: Option<Name>,
    pub client_id: Name,
    pub host: Name,
    pub rack: Option<Name>,
    /// Subscribed topics; `None`: not known.
    pub subscription: Option<Vec<Name>>,
    /// Places in [`GroupView::partitions`] of what it holds; `None` where that cannot be decoded.
    pub partitions: Option<Vec<usize>>,
    /// How many more it holds, of topics that were not selected.
    pub elsewhere: usize,
    pub totals: LagTotals,
    /// Set where it holds nothing.
    pub idle: Option<IdleReason>,
    /// The reason takes for granted that every member subscribes to all that the group owns.
    pub idle_assumed: bool,
    /// KIP-848: it holds something else than its target.
    pub reconciling: bool,
    /// Places in [`GroupView::partitions`] of what its target has and it does not hold: their owners have not given them
    /// up yet, or it has not taken them; `None` where no target is known.
    pub awaits: Option<Vec<usize>>,
    /// The longest of what it holds.
    pub time_lag: TimeLag,
    pub judgement: Judgement,
    /// Over what it holds.
    pub rates: Rates,
    /// The most that it was seen to do with a backlog, in records per second.
    pub capacity: Option<f64>,
    /// When its lag will be gone as things are.
    pub drain: MemberForecast,
    /// What only the log tells of it.
    pub log: Option<Box<MemberLog>>,
}

impl MemberView {
    /// It is known to hold nothing at all. Which partitions a streams task reads is not known without the topology.
    pub fn is_idle(&self) -> bool {
        self.elsewhere == 0 && self.partitions.as_ref().is_some_and(Vec::is_empty) && self.active_tasks() == 0
    }

    /// Streams: how many active tasks it has.
    pub fn active_tasks(&self) -> usize {
        let tasks = self.log.iter().filter_map(|log| log.tasks.as_ref());
        tasks.flat_map(|tasks| tasks.active.values()).map(Vec::len).sum()
    }

    /// It holds only partitions that nothing is written to, while something is written to others of the group.
    pub fn is_quiet(&self) -> bool {
        self.judgement.reasons.iter().any(|finding| matches!(finding.reason, Reason::NothingArrives { .. }))
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartitionView {
    pub topic: Name,
    pub partition: i32,
    pub commit: Option<i64>,
    pub start: Option<i64>,
    pub end: Option<i64>,
    /// Last stable offset as it was read last, which may be a while ago.
    pub stable: Option<i64>,
    /// Records that an open transaction holds: end − last stable offset, where that stands still.
    pub open_transaction: u64,
    /// How long the oldest of them waits.
    pub open_for: TimeLag,
    pub lag: PartitionLag,
    /// Records of the lag that may not be there: all of it on a compacted topic, one that may be a control record.
    pub doubtful: u64,
    /// The one record that the lag is may be a transaction's marker: nothing was written for 10 s.
    pub control_record: bool,
    pub time_lag: TimeLag,
    /// Where its lag went within the last minute.
    pub direction: Direction,
    /// How its commit gets on.
    pub signs: CommitSigns,
    pub judgement: Judgement,
    /// Of a share group: how far it has read.
    pub share: Option<SharePartition>,
    /// Place in [`GroupView::members`].
    pub owner: Option<usize>,
    /// Some member subscribes to its topic; `None`: not all subscriptions are known.
    pub subscribed: Option<bool>,
    /// Owner under the plan: place in [`PlanView::members`].
    pub planned: Option<usize>,
    pub rates: PartitionRates,
}

/// Records per second, each with the window that it holds for; `None`: not watched for long enough.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    pub written: Option<Rate>,
    pub consumed: Option<Rate>,
}

/// The same of a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartitionRates {
    pub written: Option<Rate>,
    pub consumed: Option<Rate>,
    /// Its lag is on its way between two commits: no backlog.
    pub in_flight: bool,
    /// Records in two mean steps from commit to commit, the most that is on its way; `None`: no rhythm is known.
    pub two_steps: Option<u64>,
}

impl PartitionView {
    /// Records before the commit that the log still holds: how far retention is from it.
    pub fn to_log_start(&self) -> Option<u64> {
        u64::try_from(self.commit?.checked_sub(self.start?)?).ok()
    }

    /// end − commit, the figure of the Apache tool; negative for a commit past the end.
    pub fn raw(&self) -> Option<i64> {
        Some(self.end? - self.commit?)
    }
}

/// When what was told of a group was last known to be so: where the log tells what is true now, that is as fresh as the
/// log, also while nothing happens.
pub(super) fn seen_at(told: Option<At>, follows_log: bool, log: Option<&LogProgress>) -> Option<At> {
    let read = log.filter(|_| follows_log).map(|log| log.observed_at);
    told.map(|told| told.max(read.unwrap_or_default()))
}

impl View {
    fn seen_at(&self, group: &GroupView, told: Option<At>) -> Option<At> {
        let follows_log = group.evidence == Evidence::Log && group.log_gap.is_none();
        seen_at(told, follows_log, self.log.as_ref())
    }

    /// When members and state of the group were last seen; `None`: never.
    pub fn described_at(&self, group: &GroupView) -> Option<At> {
        self.seen_at(group, group.described_at)
    }

    /// When its commits were last read; `None`: never.
    pub fn commits_at(&self, group: &GroupView) -> Option<At> {
        self.seen_at(group, group.commits_at)
    }

    /// When anything was last read.
    pub fn observed_at(&self) -> Option<At> {
        let groups = self.groups.iter().filter_map(|group| group.described_at.max(group.commits_at));
        let listing = self.listing.map(|listing| listing.observed_at);
        groups.chain(listing).chain(self.log.as_ref().map(|log| log.observed_at)).max()
    }

    pub fn group(&self, id: &Name) -> Option<&Arc<GroupView>> {
        let place = self.groups.binary_search_by(|group| group.id.cmp(id)).ok()?;
        self.groups.get(place)
    }

    /// Wall clock at a time of the stream.
    pub fn wall(&self, at: At) -> Option<Wall> {
        Some(self.started?.at(at))
    }
}
