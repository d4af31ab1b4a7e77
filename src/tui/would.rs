//! What the plan would change, in a cell.

use super::figures::{count, plural};
use crate::health::Drain;
use crate::monitor::view::GroupView;

/// What the plan would change: the largest member now and then, and how many partitions it would move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Would {
    Gain { moves: usize, now: u64, then: u64, drains: Option<String> },
    Nothing,
}

/// What the plan would change; `None` where there is no plan.
pub fn of(group: &GroupView) -> Option<Would> {
    let (plan, metrics) = (group.plan.as_ref()?, group.metrics.as_ref()?);
    if !group.would_gain() {
        return Some(Would::Nothing);
    }
    let (now, then) = (group.drains.map(|drains| drains.group.drain), plan.drains.group);
    let sooner = match (now, then.drain) {
        (Some(Drain::In(now)), Drain::In(then)) => then < now,
        (Some(Drain::Never), Drain::In(_)) => true,
        _ => false,
    };
    let drains = sooner.then(|| then.to_string());
    Some(Would::Gain { moves: plan.moves, now: metrics.largest_lag, then: plan.metrics.largest_lag, drains })
}

impl Would {
    /// In as many words as there is room for; never cut within a figure.
    pub fn words(&self, width: usize) -> String {
        let Self::Gain { moves, now, then, drains } = self else {
            return if width < 15 { "no gain" } else { "nothing to gain" }.to_owned();
        };
        let moves = plural(*moves, "move");
        let (now, then) = (count(*now), count(*then));
        let forms =
            [format!("{moves}, largest {now} > {then}"), format!("{moves}, {now} > {then}"), format!("{now}>{then}")];
        let drained =
            drains.iter().flat_map(|drains| [format!("drain in {drains}, {moves}"), format!("drain in {drains}")]);
        drained.chain(forms).find(|form| form.len() <= width).unwrap_or(moves)
    }
}
