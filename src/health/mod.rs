//! What the facts mean for the health of a group: pure functions of facts and time.

pub mod forecast;
pub mod idle;
pub mod lag;
pub mod log_history;
pub mod partition_history;
pub mod rate;
pub mod rebalances;
pub mod samples;
pub mod thresholds;
pub mod time_lag;
pub mod trend;
pub mod verdict;

pub use forecast::{Drain, Forecast, MemberForecast, Pace};
pub use idle::IdleReason;
pub use lag::{LagTotals, PartitionFacts, PartitionLag};
pub use log_history::LogHistory;
pub use partition_history::{Committed, PartitionHistory, Rewound};
pub use rate::Rate;
pub use samples::Samples;
pub use thresholds::{Rule, Rules, Thresholds};
pub use time_lag::TimeLag;
pub use trend::Direction;
pub use verdict::{Finding, Judgement, Reason, Severity, Verdict};
