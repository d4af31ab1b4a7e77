//! How fast records are written or consumed. A rate holds for a window, and the window is part of it.

use std::time::Duration;

/// The shortest window.
pub const SHORTEST: Duration = Duration::from_secs(10);

/// Records per second, and over which time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub window: Duration,
}

impl Rate {
    pub(super) fn of(records: i64, window: Duration) -> Self {
        let seconds = window.as_secs_f64();
        Self { per_second: if seconds > 0.0 { records as f64 / seconds } else { 0.0 }, window }
    }

    /// The sum of the known rates, over the longest of their windows; `None` where none is known.
    pub fn sum(rates: impl IntoIterator<Item = Option<Rate>>) -> Option<Rate> {
        let add = |sum: Rate, rate: Rate| Rate {
            per_second: sum.per_second + rate.per_second,
            window: sum.window.max(rate.window),
        };
        rates.into_iter().flatten().reduce(add)
    }
}
