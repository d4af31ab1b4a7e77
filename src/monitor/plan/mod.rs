//! Plans: the group as an assignor sees it ([`Basis`]), what is asked about it ([`Question`]), and the answer beside the
//! current assignment ([`PlanView`]). The dashboard, the reports and the replay of a saved plan all ask here, so that
//! the same facts give the same figures.

mod answer;
mod basis;
pub mod view;
mod ways;
mod what_if;

use std::time::Duration;

use crate::assign::whatif::WhatIfError;
use crate::assign::{AssignError, Assignor, GroupInput, Protocol};
use crate::health::Pace;
use crate::model::Name;
use view::DrainView;

pub use answer::{Answer, Answered};
pub use basis::{Facts, rounded};
pub use what_if::what_if;

/// `auto.offset.reset`: what a partition without a commit counts for. No API tells the group's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reset {
    /// Such a partition counts 0.
    #[default]
    Latest,
    /// Such a partition counts end − start.
    Earliest,
}

/// All that a plan is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Basis {
    /// Who could use which assignor; `None`: the group's protocol is not known.
    pub protocol: Option<Protocol>,
    /// What the group uses now, as it calls it.
    pub assignor: Option<Name>,
    pub input: GroupInput,
    pub pace: Pace,
    /// What had to be assumed, in words.
    pub assumptions: Vec<String>,
}

/// What is asked about a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    pub assignor: Assignor,
    /// For `lag-balanced`: change hands of no more partitions.
    pub max_moves: Option<u32>,
    /// So many members more, or fewer: those with the least lag leave.
    pub members: i32,
    /// Members that leave.
    pub without: Vec<Name>,
    /// Topics and how many partitions they shall have.
    pub partitions: Vec<(Name, u32)>,
}

/// A question that has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    #[error(transparent)]
    Assign(#[from] AssignError),
    #[error("only lag-balanced can be held to a number of moves, not {0}")]
    MaxMoves(Assignor),
}

impl Question {
    /// The group as it is, under that assignor.
    pub fn of(assignor: Assignor) -> Self {
        Self { assignor, ..Self::default() }
    }

    /// Whether it asks about the group as it is.
    pub fn is_plain(&self) -> bool {
        *self == Self::of(self.assignor)
    }
}

impl DrainView {
    fn of(forecast: &crate::health::Forecast, rebalance: Option<Duration>) -> Self {
        let crate::health::Forecast { group, last, measured, members, .. } = forecast;
        Self { group: *group, last: *last, measured: *measured, of: members.len(), rebalance }
    }
}

#[cfg(test)]
mod tests;
