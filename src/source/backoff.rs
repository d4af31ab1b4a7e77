//! How long to wait before a collector that died is started again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);
/// A collector that lived this long was healthy: the next death starts from the shortest wait.
const HEALTHY: Duration = Duration::from_secs(30);

/// Doubles with each early death, from half a second to ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// The wait after a collector died that had lived for `lived`.
    pub fn after(&mut self, lived: Duration) -> Duration {
        if lived >= HEALTHY {
            self.next = FIRST;
        }
        let wait = self.next;
        self.next = (wait * 2).min(LONGEST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_deaths_double_the_wait_and_a_long_life_resets_it() {
        let mut backoff = Backoff::default();
        let early = Duration::from_secs(1);
        let waits: Vec<u128> = (0..7).map(|_| backoff.after(early).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!(backoff.after(HEALTHY).as_millis(), 500);
        assert_eq!(backoff.after(early).as_millis(), 1000);
    }
}
