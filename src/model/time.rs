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
        At(self.0.saturating_add(millis(duration)))
    }

    /// So long before; the start of the stream, if that is later.
    #[must_use]
    pub fn minus(self, duration: Duration) -> At {
        At(self.0.saturating_sub(millis(duration)))
    }
}

/// Milliseconds since the Unix epoch on some machine's wall clock: for people to read, and for record timestamps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(pub i64);

impl Wall {
    /// Time from `earlier` to `self`, by the same clock; zero where that clock was set back.
    pub fn since(self, earlier: Wall) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Wall {
        Wall(self.0.saturating_add_unsigned(millis(duration)))
    }

    #[must_use]
    pub fn minus(self, duration: Duration) -> Wall {
        Wall(self.0.saturating_sub_unsigned(millis(duration)))
    }

    /// The wall clock at a time of the stream that began at this one.
    #[must_use]
    pub fn at(self, at: At) -> Wall {
        Wall(self.0.saturating_add_unsigned(at.0))
    }
}

/// Whole milliseconds; the most that can be told where there are more.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stop_at_the_ends_of_their_clocks() {
        let second = Duration::from_secs(1);
        assert_eq!((At(500).minus(second), At(1500).minus(second)), (At(0), At(500)));
        assert_eq!((At(u64::MAX).plus(second), Wall(i64::MAX).plus(second)), (At(u64::MAX), Wall(i64::MAX)));
        assert_eq!((Wall(0).minus(second), Wall(i64::MIN).minus(second)), (Wall(-1000), Wall(i64::MIN)));
        assert_eq!((Wall(-5).at(At(7)), Wall(1).at(At(u64::MAX))), (Wall(2), Wall(i64::MAX)));
        assert_eq!((Wall(5).since(Wall(2)).as_millis(), Wall(2).since(Wall(5)).as_millis()), (3, 0));
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }
}
