//! The assignors: pure functions from a group as it is to an assignment as it could be, with what it would cost.
//!
//! One file is one assignor. [`Assignor`] names them all; [`GroupInput`] is what they read and [`Assignment`] what
//! they return; [`metrics`] and [`moves`] judge an assignment; [`whatif`] asks
//! another question.
//! There is no clock, environment, randomness or I/O here, and no opinion about how fast anybody consumes: the
//! drain forecast lives in `health`.
//!
//! Names appear only where Java sorts by them. Everything else is indices: a member is its place in
//! [`GroupInput::members`], a topic its place in [`GroupInput::topics`].

pub mod assignment;
pub mod assignor;
pub mod cooperative_sticky;
mod coordinator;
#[cfg(test)]
mod dice;
mod flat;
pub mod input;
pub mod java_hash;
pub mod lag_balanced;
pub mod lag_based;
pub mod metrics;
pub mod moves;
pub mod range;
pub mod roundrobin;
pub mod server_range;
pub mod share_simple;
pub mod sticky;
pub mod uniform;
pub mod uniform_heterogeneous;
pub mod whatif;

pub use assignment::Assignment;
pub use assignor::{AssignError, Assignor, Protocol};
pub use input::{Departed, GroupInput, MemberInput, TopicInput, TopicPartition};
