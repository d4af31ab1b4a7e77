//! What the facts mean for the health of a group: pure functions of facts and time.

pub mod forecast;
pub mod idle;
pub mod lag;
pub mod rates;
pub mod rebalances;
pub mod trend;

pub use forecast::{Drain, Forecast, MemberForecast, Pace};
pub use idle::IdleReason;
pub use lag::{LagTotals, PartitionFacts, PartitionLag};
pub use rates::{PartitionHistory, Rate};
pub use trend::{Direction, Trend};
