//! From a group's view to the verdicts on its partitions, its members and itself.

use std::time::Duration;

use super::view::{GroupView, PartitionView};
use crate::health::rebalances::Storm;
use crate::health::verdict::{GroupSigns, Owner, PartitionSigns, judge, judge_group, judge_member};
use crate::health::{Direction, Judgement, PartitionLag, Thresholds, TimeLag};
use crate::model::{At, GroupKind, GroupState};

/// Judges a group as of `now`.
pub fn judge_all(group: &mut GroupView, now: At, storm: Storm, thresholds: Thresholds) {
    let rebalancing = rebalancing(group);
    let group_commits =
        group.partitions.iter().any(|partition| partition.commit.is_some() || partition.share.is_some());
    let judgements: Vec<Judgement> = group
        .partitions
        .iter()
        .map(|partition| {
            judge(&PartitionSigns {
                now,
                lag: partition.lag,
                owner: owner(group, partition, rebalancing.is_some()),
                control_record: partition.doubtful == 1 && partition.lag == PartitionLag::Known(1),
                open_transaction: partition.open_transaction,
                open_for: partition.open_for,
                time_lag: partition.time_lag,
                direction: if partition.signs.in_turn { Direction::Falling } else { partition.direction },
                written: partition.rates.written,
                in_flight: partition.rates.two_steps.filter(|_| partition.rates.in_flight),
                commit: partition.signs,
                group_commits,
                rebalancing,
                thresholds,
            })
        })
        .collect();
    for (partition, judgement) in group.partitions.iter_mut().zip(judgements) {
        partition.judgement = judgement;
    }
    let partitions = &group.partitions;
    let grouped = |place: usize| partitions.get(place).map(|partition| (place, &partition.lag, &partition.judgement));
    for member in &mut group.members {
        member.judgement = judge_member(member.partitions.iter().flatten().filter_map(|place| grouped(*place)));
    }
    let owned = |member: &super::view::MemberView| member.partitions.as_ref().map_or(0, Vec::len) + member.elsewhere;
    let signs = GroupSigns {
        read: group.described_at.is_some() || group.commits_at.is_some(),
        reads_partitions: group.kind.reads_partitions(),
        needs_log: group.kind == GroupKind::ShareOrStreams,
        members: group.members.len(),
        idle: if rebalancing.is_some() { 0 } else { group.idle },
        nothing_arrives: nothing_arrives(group),
        // In a share group many members have the same partition.
        most: if group.kind.is_consumer() { group.members.iter().map(owned).max().unwrap_or(0) } else { 0 },
        owned: group.members.iter().map(owned).sum(),
        rebalancing,
        storm: group.rebalances.frequency.storm.map(|count| (count, storm.window)),
        problems: group.problems.len(),
    };
    group.judgement = judge_group(&signs, (0..partitions.len()).filter_map(grouped));
    (group.thresholds, group.storm) = (thresholds, storm);
    let counts = |partition: &&PartitionView| partition.lag.records().is_some();
    group.time_lag = TimeLag::longest(partitions.iter().filter(counts).map(|partition| partition.time_lag));
}

/// For how long a rebalance is under way.
fn rebalancing(group: &GroupView) -> Option<(Duration, bool)> {
    let moving = matches!(
        group.state,
        GroupState::PreparingRebalance
            | GroupState::CompletingRebalance
            | GroupState::Assigning
            | GroupState::Reconciling
    );
    let ongoing = group.rebalances.ongoing.as_ref();
    moving.then(|| ongoing.map_or((Duration::ZERO, true), |ongoing| (ongoing.lasting, ongoing.at_least)))
}

fn owner(group: &GroupView, partition: &PartitionView, rebalancing: bool) -> Owner {
    match group.state {
        _ if partition.owner.is_some() => Owner::Member,
        _ if group.described_at.is_none() || rebalancing => Owner::Unsettled,
        GroupState::Empty | GroupState::Dead => Owner::NoMembers { ever: !group.simple },
        _ if group.members.is_empty() => Owner::NoMembers { ever: !group.simple },
        // What they hold is not told.
        _ if group.members.iter().any(|member| member.partitions.is_none()) => Owner::Unsettled,
        GroupState::Stable => Owner::Nobody { subscribed: partition.subscribed.unwrap_or(true) },
        _ => Owner::Unsettled,
    }
}

/// Members that own only partitions that nothing is written to, where something is written to others.
fn nothing_arrives(group: &GroupView) -> usize {
    let arrives = |partition: &PartitionView| partition.rates.written.map(|rate| rate.per_second > 0.0);
    if group.kind == GroupKind::Share || !group.partitions.iter().any(|partition| arrives(partition) == Some(true)) {
        return 0;
    }
    let quiet = |place: &usize| {
        let partition = group.partitions.get(*place);
        partition.is_some_and(|partition| arrives(partition) == Some(false) && partition.lag.records() == Some(0))
    };
    let members = group.members.iter().filter_map(|member| member.partitions.as_ref());
    members.filter(|held| !held.is_empty() && held.iter().all(quiet)).count()
}

#[cfg(test)]
#[path = "verdicts_tests.rs"]
mod tests;
