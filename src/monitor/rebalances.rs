//! From a group's facts to its history, and from there to its view.

use super::view::{GroupView, RebalanceView};
use super::{Memory, Polls};
use crate::health::rebalances::{Asked, History, Poll, Storm};
use crate::model::{At, Evidence, Group, GroupState, LogGap, Wall};

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
    let wall = Wall(started.unwrap_or_default().0.saturating_add(i64::try_from(at.0).unwrap_or(i64::MAX)));
    Some(Poll {
        group: &view.id,
        kind: &view.kind,
        state: view.state,
        description,
        at,
        wall,
        // With the log only what changed is told; without it each group is described at a time of its own.
        unchanged_until: polls.unchanged_until(now).filter(|_| by_log),
        alone: !by_log && matches!(description.log_gap, None | Some(LogGap::Failed)),
    })
}

/// The group's past as of now.
pub fn summary(history: &History, group: &GroupView, at: At, wall: Option<Wall>, storm: Storm) -> RebalanceView {
    let asked = Asked {
        at,
        wall,
        storm,
        told_by_log: group.evidence == Evidence::Log,
        gap: group.log_gap.is_some(),
        at_rest: matches!(group.state, GroupState::Stable | GroupState::Empty),
    };
    history.summary(&group.id, asked, &group.rebalances)
}
