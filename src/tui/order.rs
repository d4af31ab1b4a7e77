//! Which rows a list has and in which order: what the person may sort by, and the rows of each list.

use std::cmp::Ordering;

use super::filter::Filter;
use super::members;
use crate::health::{Judgement, PartitionLag};
use crate::model::{Name, Problem, Scope};
use crate::monitor::view::{GroupView, MemberView, PartitionView, View};

/// A column that a list can be sorted by, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sort<C> {
    pub by: C,
    /// The other way round than the column's own.
    pub reversed: bool,
}

/// What a list can be sorted by.
pub trait SortColumn: Copy + PartialEq + 'static {
    /// In the order of the `s` key.
    const ALL: &'static [Self];
    /// The column's own way: the largest first.
    fn descends(self) -> bool;
}

impl<C: SortColumn> Sort<C> {
    pub fn next(self) -> Self {
        let place = C::ALL.iter().position(|column| *column == self.by).map_or(0, |place| place + 1);
        Self { by: C::ALL[place % C::ALL.len()], reversed: false }
    }

    pub fn descending(self) -> bool {
        self.by.descends() != self.reversed
    }

    /// `Some(descending)` if the list is sorted by that column.
    pub fn mark(self, column: C) -> Option<bool> {
        (self.by == column).then(|| self.descending())
    }

    fn apply(self, order: Ordering) -> Ordering {
        if self.descending() { order.reverse() } else { order }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupColumn {
    /// Worst severity, then verdict, then lag.
    #[default]
    Verdict,
    Lag,
    Behind,
    Group,
    Members,
    State,
    Skew,
    Rebalances,
    /// What the plan gains: records that its most loaded member has less.
    Gain,
}

impl GroupColumn {
    /// What the header calls it: the table may have no room for the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Lag => "lag",
            Self::Behind => "behind",
            Self::Group => "group",
            Self::Members => "members",
            Self::State => "state",
            Self::Skew => "skew",
            Self::Rebalances => "rebalances",
            Self::Gain => "gain of the plan",
        }
    }
}

impl SortColumn for GroupColumn {
    const ALL: &'static [Self] = &[
        Self::Verdict,
        Self::Lag,
        Self::Behind,
        Self::Group,
        Self::Members,
        Self::Rebalances,
        Self::State,
        Self::Skew,
        Self::Gain,
    ];

    fn descends(self) -> bool {
        !matches!(self, Self::Group | Self::State)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemberColumn {
    #[default]
    Lag,
    Verdict,
    Member,
    Partitions,
    /// What the plan takes from it.
    Gain,
}

impl SortColumn for MemberColumn {
    const ALL: &'static [Self] = &[Self::Lag, Self::Verdict, Self::Member, Self::Partitions, Self::Gain];

    fn descends(self) -> bool {
        !matches!(self, Self::Member)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PartitionColumn {
    #[default]
    Lag,
    Verdict,
    Behind,
    Partition,
    State,
    Owner,
}

impl SortColumn for PartitionColumn {
    const ALL: &'static [Self] = &[Self::Lag, Self::Verdict, Self::Behind, Self::Partition, Self::State, Self::Owner];

    fn descends(self) -> bool {
        matches!(self, Self::Lag | Self::Verdict | Self::Behind)
    }
}

/// The groups. Those without a figure come last, whichever way the list is sorted; ties by name.
pub fn groups(view: &View, sort: Sort<GroupColumn>, filter: &Filter) -> Vec<(Name, usize)> {
    let groups = view.groups.iter().enumerate();
    let shown = groups.filter(|(_, group)| filter.is_empty() || filter.matches(&[group.id.safe()]));
    let mut shown: Vec<(&GroupView, usize)> = shown.map(|(place, group)| (&**group, place)).collect();
    shown.sort_by(|(a, _), (b, _)| {
        let lag = |group: &GroupView| {
            let known = group.totals.has_known().then_some(group.totals.lag);
            known.or(group.totals.was_behind())
        };
        let by_lag = || known_first(lag(a), lag(b), |a, b| sort.apply(a.cmp(&b)));
        let by_column = match sort.by {
            GroupColumn::Verdict => sort.apply(graver(&a.judgement, &b.judgement)).then_with(by_lag),
            GroupColumn::Lag => by_lag(),
            GroupColumn::Behind => {
                let behind = |group: &GroupView| group.time_lag.at_least();
                known_first(behind(a), behind(b), |a, b| sort.apply(a.cmp(&b)))
            }
            GroupColumn::Skew => known_first(a.skew(), b.skew(), |a, b| sort.apply(a.total_cmp(&b))),
            GroupColumn::Gain => known_first(a.gain(), b.gain(), |a, b| sort.apply(a.cmp(&b))),
            GroupColumn::Members => sort.apply(a.members.len().cmp(&b.members.len())),
            GroupColumn::Rebalances => {
                let known = |group: &GroupView| {
                    let known = &group.rebalances;
                    known.since.map(|_| known.frequency.per_hour)
                };
                known_first(known(a), known(b), |a, b| sort.apply(a.cmp(&b)))
            }
            GroupColumn::State => sort.apply(a.state.name().cmp(b.state.name())),
            GroupColumn::Group => sort.apply(a.id.cmp(&b.id)),
        };
        by_column.then_with(|| a.id.cmp(&b.id))
    });
    shown.into_iter().map(|(group, place)| (group.id.clone(), place)).collect()
}

/// The graver judgement is the greater: by severity, then by verdict.
fn graver(a: &Judgement, b: &Judgement) -> Ordering {
    (b.severity, b.verdict).cmp(&(a.severity, a.verdict))
}

fn known_first<T>(a: Option<T>, b: Option<T>, both: impl Fn(T, T) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => both(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The members of a group, by member id.
pub fn members(group: &GroupView, sort: Sort<MemberColumn>, filter: &Filter) -> Vec<(Name, usize)> {
    let members = group.members.iter().enumerate();
    let matches = |member: &MemberView| {
        filter.matches(&[members::label(member).safe(), member.host.safe(), member.client_id.safe()])
    };
    let shown = members.filter(|(_, member)| filter.is_empty() || matches(member));
    let mut shown: Vec<(&MemberView, usize, Name)> =
        shown.map(|(place, member)| (member, place, members::label(member))).collect();
    let held = |member: &MemberView| member.partitions.as_ref().map_or(0, Vec::len);
    shown.sort_by(|(a, a_place, a_label), (b, b_place, b_label)| {
        let lag = |member, place| (members::lag_now(group, member, place), held(member));
        let by_lag = || sort.apply(lag(a, *a_place).cmp(&lag(b, *b_place)));
        let by_column = match sort.by {
            MemberColumn::Lag => by_lag(),
            MemberColumn::Verdict => sort.apply(graver(&a.judgement, &b.judgement)).then_with(by_lag),
            MemberColumn::Partitions => sort.apply(held(a).cmp(&held(b))),
            MemberColumn::Gain => {
                let gain = |place: usize| group.member_gain(place);
                known_first(gain(*a_place), gain(*b_place), |a, b| sort.apply(a.cmp(&b)))
            }
            MemberColumn::Member => sort.apply(a_label.cmp(b_label)),
        };
        by_column.then_with(|| a_label.cmp(b_label)).then_with(|| a.id.cmp(&b.id))
    });
    shown.into_iter().map(|(member, place, _)| (member.id.clone(), place)).collect()
}

/// The partitions of a group.
pub fn partitions(group: &GroupView, sort: Sort<PartitionColumn>, filter: &Filter) -> Vec<((Name, i32), usize)> {
    let partitions = group.partitions.iter().enumerate();
    let owner = |partition: &PartitionView| partition.owner.and_then(|owner| group.members.get(owner));
    let matches = |partition: &PartitionView| {
        let name = format!("{}-{}", partition.topic, partition.partition);
        let owner = owner(partition).map(|member| members::label(member).to_string()).unwrap_or_default();
        filter.matches(&[name.as_str(), partition.lag.name(), owner.as_str()])
    };
    let shown = partitions.filter(|(_, partition)| filter.is_empty() || matches(partition));
    let mut shown: Vec<(&PartitionView, usize)> = shown.map(|(place, partition)| (partition, place)).collect();
    shown.sort_by(|(a, a_place), (b, b_place)| {
        let lag = |partition: &PartitionView| partition.lag.records();
        let by_lag = || known_first(lag(a), lag(b), |a, b| sort.apply(a.cmp(&b)));
        let by_column = match sort.by {
            PartitionColumn::Lag => by_lag(),
            PartitionColumn::Verdict => sort.apply(graver(&a.judgement, &b.judgement)).then_with(by_lag),
            PartitionColumn::Behind => {
                let behind = |partition: &PartitionView| partition.time_lag.at_least();
                known_first(behind(a), behind(b), |a, b| sort.apply(a.cmp(&b)))
            }
            PartitionColumn::Partition => sort.apply(a_place.cmp(b_place)),
            PartitionColumn::State => sort.apply(gravity(&a.lag).cmp(&gravity(&b.lag))),
            PartitionColumn::Owner => sort.apply(a.owner.cmp(&b.owner)),
        };
        by_column.then_with(|| a_place.cmp(b_place))
    });
    let key = |partition: &PartitionView| (partition.topic.clone(), partition.partition);
    shown.into_iter().map(|(partition, place)| (key(partition), place)).collect()
}

/// The gravest state first.
fn gravity(lag: &PartitionLag) -> u8 {
    match lag {
        PartitionLag::Expired { .. } => 0,
        PartitionLag::NoLeader => 1,
        PartitionLag::PastEnd { .. } => 2,
        PartitionLag::TopicGone => 3,
        PartitionLag::PartitionGone => 4,
        PartitionLag::NoCommit { .. } => 5,
        PartitionLag::Abandoned { .. } => 6,
        PartitionLag::Stale { .. } => 7,
        PartitionLag::Unknown => 8,
        PartitionLag::Known(_) | PartitionLag::Backlog(_) => 9,
    }
}

/// Identity of a problem.
pub type ProblemKey = (Scope, String);

/// The problems: those of the cluster first, the oldest of a kind first.
pub fn problems(view: &View, filter: &Filter) -> Vec<(ProblemKey, usize)> {
    let matches = |problem: &Problem| filter.matches(&[problem.to_string()]);
    let problems = view.problems.iter().enumerate().filter(|(_, problem)| filter.is_empty() || matches(problem));
    let mut shown: Vec<(ProblemKey, usize, _)> = problems
        .map(|(place, problem)| ((problem.scope.clone(), problem.missing.clone()), place, problem.since))
        .collect();
    let rank = |scope: &Scope| match scope {
        Scope::Cluster => 0,
        Scope::Broker(_) => 1,
        Scope::Group(_) | Scope::Topic(_) | Scope::Partition(..) => 2,
    };
    shown.sort_by(|(a, _, a_since), (b, _, b_since)| {
        (rank(&a.0), a_since).cmp(&(rank(&b.0), b_since)).then_with(|| a.cmp(b))
    });
    shown.into_iter().map(|(key, place, _)| (key, place)).collect()
}
