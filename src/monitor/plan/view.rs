//! What a plan looks like to a screen or a report.

use std::time::Duration;

use crate::assign::Assignor;
use crate::assign::lag_balanced::FrontierPoint;
use crate::assign::metrics::Metrics;
use crate::health::{Drain, MemberForecast};
use crate::model::Name;

use super::Question;

/// An assignment that an assignor would make of the group as it is, or as a question wants it to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanView {
    pub assignor: Assignor,
    pub question: Question,
    /// Those of the group in their order, also the ones that leave; new ones behind them.
    pub members: Vec<PlannedMember>,
    /// Of the members that stay or are new, in the order of [`Self::members`].
    pub metrics: Metrics,
    pub drains: DrainView,
    /// Partitions that change hands.
    pub moves: usize,
    /// Of them those that move under any plan: their owner is gone or does not subscribe.
    pub forced: usize,
    /// The best largest member lag for each number of moves that gains something; of `lag-balanced` alone. Forced moves
    /// are counted in.
    pub frontier: Vec<FrontierPoint>,
    pub fit: Fit,
    /// Who gets what depends on the order of a Java hash table: another run may differ in it, not in how many.
    pub hash_order: bool,
    /// What is to be known about it, in words.
    pub notes: Vec<String>,
    /// What it takes for granted, in words.
    pub assumptions: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedMember {
    pub id: Name,
    pub presence: MemberChange,
    pub partitions: usize,
    /// Lag of those partitions, in records.
    pub lag: u64,
    /// How many it would get, and how many it would give away.
    pub gained: usize,
    pub lost: usize,
    pub drain: MemberForecast,
}

/// Whether a question changes that a member is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemberChange {
    #[default]
    Stays,
    New,
    Leaves,
}

/// When a group's lag will be gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrainView {
    /// The last member's, with what a rebalance takes where one is needed.
    pub group: MemberForecast,
    /// Place of that member.
    pub last: Option<usize>,
    /// Members whose capacity was measured, of how many; the others' is assumed.
    pub measured: usize,
    pub of: usize,
    /// What is added for the rebalance.
    pub rebalance: Option<Duration>,
}

/// Whether a group could use an assignor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fit {
    /// By configuration alone.
    BuiltIn,
    /// It is no part of Kafka: a class of one's own in `partition.assignment.strategy`.
    OwnClass,
    /// Groups of this protocol cannot.
    #[default]
    NotThisProtocol,
}

/// How to come to a plan, or near it, with what Kafka ships.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The client's property.
    pub property: &'static str,
    pub value: &'static str,
    pub assignor: Assignor,
    /// It is the plan's own assignor.
    pub exact: bool,
    /// What it gives.
    pub largest_lag: u64,
    pub moves: usize,
}

impl Fit {
    pub fn words(self) -> &'static str {
        match self {
            Self::BuiltIn => "part of Kafka",
            Self::OwnClass => "not part of Kafka: needs a class of your own",
            Self::NotThisProtocol => "not for groups of this protocol",
        }
    }
}

impl DrainView {
    /// Why it is never or unknown, of members called so: `m3 receives more than it has ever consumed`.
    pub fn why(&self, called: impl Fn(usize) -> String) -> Option<String> {
        let last = self.last.map(called);
        match (self.group.drain, last) {
            (Drain::Never, Some(member)) if self.group.assumed => {
                Some(format!("{member} receives more than members like it have ever consumed"))
            }
            (Drain::Never, Some(member)) => Some(format!("{member} receives more than it has ever consumed")),
            (Drain::Unknown, _) if self.measured == 0 => {
                Some("no member was seen with a backlog for long enough".into())
            }
            (Drain::Unknown, Some(member)) => Some(format!("how much {member} receives is not known")),
            (Drain::Unknown, None) => Some("a partition with lag is held by nobody".into()),
            (Drain::Never | Drain::Done | Drain::In(_), _) => None,
        }
    }
}
