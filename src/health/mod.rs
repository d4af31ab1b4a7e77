//! What the facts mean for the health of a group: pure functions of facts and time.

pub mod idle;
pub mod lag;
pub mod rebalances;
pub mod trend;

pub use idle::IdleReason;
pub use lag::{LagTotals, PartitionFacts, PartitionLag};
pub use trend::{Direction, Trend};
