//! From a group's view to the verdicts on its partitions, its members and itself.

use std::cmp::Reverse;
use std::time::Duration;

use super::view::{GroupView, MemberView, PartitionView};
use crate::health::rebalances::Storm;
use crate::health::verdict::{GroupSigns, Owner, PartitionSigns, judge, judge_group, judge_member};
use crate::health::{Direction, Judgement, PartitionLag, Reason, Thresholds, TimeLag};
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
                control_record: partition.control_record,
                to_end: partition.raw().and_then(|raw| u64::try_from(raw).ok()).unwrap_or(0),
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
        member.judgement = match &member.partitions {
            _ if !group.kind.reads_partitions() => Judgement::unknown(Reason::NoOffsets),
            Some(held) if !held.is_empty() || member.elsewhere == 0 => {
                judge_member(held.iter().filter_map(|place| grouped(*place)))
            }
            // What it holds is not told, or is of topics that were not selected.
            _ => Judgement::unknown(Reason::NotRead),
        };
    }
    let quiet = nothing_arrives(group);
    for first in &quiet {
        if let Some(member) = group.members.get_mut(*first) {
            member.judgement.note(Reason::NothingArrives { members: 1, first: *first });
        }
    }
    let owned = |member: &MemberView| member.partitions.as_ref().map_or(0, Vec::len) + member.elsewhere;
    // In a share group many members have the same partition.
    let counted = group.members.iter().map(owned).enumerate().filter(|_| group.kind != GroupKind::Share);
    let (largest, most) = counted.max_by_key(|(place, owned)| (*owned, Reverse(*place))).unwrap_or_default();
    let signs = GroupSigns {
        described: group.described_at.is_some(),
        reads_partitions: group.kind.reads_partitions(),
        needs_log: group.kind == GroupKind::ShareOrStreams,
        members: group.members.len(),
        idle: if rebalancing.is_some() { 0 } else { group.idle },
        nothing_arrives: quiet.first().map(|first| (quiet.len(), *first)),
        most,
        largest,
        owned: group.members.iter().map(owned).sum(),
        rebalancing,
        storm: group.rebalances.frequency.storm.map(|count| (count, storm.window)),
        problems: group.problems.len(),
    };
    group.judgement = judge_group(&signs, (0..partitions.len()).filter_map(grouped));
    for reason in group.judgement.reasons.iter().map(|finding| finding.reason) {
        if let Reason::Uneven { member, .. } = reason
            && let Some(member) = group.members.get_mut(member)
        {
            member.judgement.note(reason);
        }
    }
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

/// Places of the members that own only partitions that nothing is written to, where something is written to others.
fn nothing_arrives(group: &GroupView) -> Vec<usize> {
    let arrives = |partition: &PartitionView| partition.rates.written.map(|rate| rate.per_second > 0.0);
    if group.kind == GroupKind::Share || !group.partitions.iter().any(|partition| arrives(partition) == Some(true)) {
        return Vec::new();
    }
    let quiet = |place: &usize| {
        let partition = group.partitions.get(*place);
        let read = |lag: PartitionLag| lag.records() == Some(0) || lag == PartitionLag::NoCommit { held: Some(0) };
        partition.is_some_and(|partition| arrives(partition) == Some(false) && read(partition.lag))
    };
    let held =
        group.members.iter().enumerate().filter_map(|(place, member)| Some((place, member.partitions.as_ref()?)));
    held.filter(|(_, held)| !held.is_empty() && held.iter().all(quiet)).map(|(place, _)| place).collect()
}

#[cfg(test)]
#[path = "verdicts_tests.rs"]
mod tests;
