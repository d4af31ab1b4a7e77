//! Waiting for a condition with a deadline, never for an amount of time.

use std::time::{Duration, Instant};

/// Long enough for anything that a loaded two-core machine does in these tests.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Asks `probe` again and again until it gives `Ok`; panics with `what` and its last `Err` at the deadline.
#[track_caller]
pub fn wait_until<T, E: std::fmt::Display>(
    what: &str,
    deadline: Duration,
    mut probe: impl FnMut() -> Result<T, E>,
) -> T {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        match probe() {
            Ok(value) => return value,
            Err(why) if begun.elapsed() > deadline => {
                panic!("waited {:.1} s for {what}; last seen: {why}", begun.elapsed().as_secs_f64());
            }
            Err(_) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}
