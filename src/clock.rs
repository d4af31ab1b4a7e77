//! The clock by which facts are aged: monotonic, and it goes on while the machine is suspended. `Instant` stands still
//! then on Linux (`CLOCK_MONOTONIC`), and what is hours old would look seconds old after a lid was opened.

use std::time::Duration;

use crate::model::At;

/// Counts from its start.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Duration);

impl Clock {
    pub fn start() -> Self {
        Self(reading())
    }

    pub fn elapsed(self) -> Duration {
        reading().saturating_sub(self.0)
    }

    /// The same as a time of a stream that began with the clock.
    pub fn now(self) -> At {
        At::default().plus(self.elapsed())
    }
}

/// Time since the machine was started, suspended or not (`CLOCK_BOOTTIME`).
#[cfg(target_os = "linux")]
fn reading() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Time since the first reading, by the clock that the platform has.
#[cfg(not(target_os = "linux"))]
fn reading() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back() {
        let clock = Clock::start();
        let readings: Vec<Duration> = (0..1000).map(|_| clock.elapsed()).collect();
        assert!(readings.is_sorted());
        assert!(clock.now() >= At(u64::try_from(readings[999].as_millis()).unwrap()));
    }

    /// Suspending a machine is not for a test; the kernel's own figure counts the time that it slept.
    #[cfg(target_os = "linux")]
    #[test]
    fn it_counts_the_time_since_the_machine_was_started() {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime = Duration::from_secs_f64(text.split(' ').next().unwrap().parse().unwrap());
        // It is told in hundredths of a second, rounded down.
        assert!(reading() >= uptime);
    }
}
