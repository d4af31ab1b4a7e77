//! Two clocks that must never be mixed: the stream's own monotonic clock and the wall.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds on the monotonic clock of the stream that carries the fact; 0 is the start of that stream.
/// Ages, rates and durations are computed from it alone, so a replay gives the same figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct At(pub u64);

impl At {
    /// Time from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: At) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> At {
        At(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Milliseconds since the Unix epoch on some machine's wall clock: for people to read, and for record timestamps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(pub i64);
