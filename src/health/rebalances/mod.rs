//! Rebalances: counted, timed and explained. [`History`] is a fold over the events of the coordinator log, and over polls
//! where the log cannot be read.
//!
//! | file | subject |
//! | --- | --- |
//! | `history` | all groups, one feed, each event once |
//! | `group` | one group: what both protocols share |
//! | `classic`, `epochs` | what a generation, what an epoch means |
//! | `polled` | what polls tell |
//! | `cause` | why a rebalance happened, why a member went |
//! | `moves` | which partitions changed hands |
//! | `frequency` | how often, storms, time not Stable |
//!
//! The order of events is their order in the log. Their times are a coordinator's clock; a difference is taken only
//! between records of the same log partition.

mod cause;
mod classic;
mod draft;
mod epochs;
mod frequency;
mod group;
mod history;
mod members;
mod moves;
mod polled;
mod rebalance;
#[cfg(test)]
mod tests;

pub use cause::{Cause, CauseKind, Certainty, Departed, Why};
pub use frequency::{Frequency, SLOTS, Storm};
pub use group::{Missing, Seen};
pub use history::{Asked, History, Reach, Summary};
pub use polled::{Committed, Poll};
pub use rebalance::{Gone, Happened, Happening, Members, Move, Moves, Ongoing, Rebalance, Took, Waiting, Who};
