//! From a group's facts to its history, and from there to its view.

use std::time::Duration;

use super::view::{GroupView, RebalanceView};
use super::{Memory, Polls};
use crate::health::rebalances::{Asked, Committed, History, Poll, Reach, Storm};
use crate::model::{At, Evidence, Group, GroupState, LogGap, LogProgress, Wall};

/// What the newest description says, unless it was looked at before. `view` is the group's, as far as it is built.
pub fn poll<'a>(
    group: &'a Group,
    view: &'a GroupView,
    memory: &mut Memory,
    polls: Polls,
    now: At,
    started: Option<Wall>,
) -> Option<Poll<'a>> {
    let description = group.description.as_ref()?;
    let by_log = description.evidence == Evidence::Log;
    let at = if by_log { now } else { group.described_at? };
    if memory.polled.is_some_and(|polled| polled >= at) {
        return None;
    }
    memory.polled = Some(at);
    let wall = started.unwrap_or_default().at(at);
    let alone = !by_log && matches!(description.log_gap, None | Some(LogGap::Failed));
    let commits = view.partitions.iter().filter_map(|partition| {
        let lag_waiting = partition.lag.records().map(|lag| lag > 0);
        let (topic, partition, offset) = (&partition.topic, partition.partition, partition.commit?);
        Some(Committed { topic, partition, offset, lag_waiting })
    });
    Some(Poll {
        group: &view.id,
        kind: &view.kind,
        state: view.state,
        description,
        at,
        wall,
        // With the log only what changed is told; without it each group is described at a time of its own.
        unchanged_until: polls.unchanged_until(now).filter(|_| by_log),
        alone,
        commits: (alone && group.commits.is_some()).then(|| commits.collect()),
    })
}

/// The group's past as of now.
pub fn summary(
    history: &History,
    group: &GroupView,
    at: At,
    wall: Option<Wall>,
    reach: Reach,
    storm: Storm,
) -> RebalanceView {
    let asked = Asked {
        at,
        wall,
        storm,
        told_by_log: group.evidence == Evidence::Log,
        reach,
        gap: group.log_gap.is_some(),
        at_rest: matches!(group.state, GroupState::Stable | GroupState::Empty),
    };
    history.summary(&group.id, asked, &group.rebalances)
}

/// A bounded history of so many records may have been cut to their number, so that it does not reach back as far as was
/// asked for.
const CUT: u64 = 1_900_000;

/// How far back the coordinator log was read.
pub fn reach(log: &LogProgress, started: Option<Wall>) -> Reach {
    if log.partitions == 0 || log.caught_up < log.partitions {
        return Reach::Unknown;
    }
    if log.whole {
        return Reach::Whole;
    }
    let Some((back, started)) = log.history_ms.filter(|_| log.read < CUT).zip(started) else { return Reach::Unknown };
    Reach::Since(started.at(log.observed_at).minus(Duration::from_millis(back)))
}
