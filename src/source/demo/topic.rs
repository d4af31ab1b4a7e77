//! A simulated topic: its logs grow at the cast's rates, and retention moves their starts.

use uuid::Uuid;

use super::TICK;
use super::cast::{QUIET_HELD, TopicRole};
use super::random::Random;

pub struct Topic {
    pub role: &'static TopicRole,
    pub id: Uuid,
    pub logs: Vec<Log>,
}

/// The log of a partition. Its end never falls.
pub struct Log {
    pub start: i64,
    pub end: i64,
    /// What was written of the next record, in 1/[`WHOLE`].
    part: u64,
}

/// A record in the unit of [`Log::part`]: per second × milliseconds × percent.
const WHOLE: u64 = 1000 * 100;

impl Topic {
    pub fn new(role: &'static TopicRole, random: &mut Random) -> Self {
        let mut log = |rate: &u64| {
            let held = if *rate == 0 { QUIET_HELD } else { role.kept };
            let start = 100_000 + random.below(4_000_000) as i64;
            Log { start, end: start + held, part: 0 }
        };
        let logs = role.rates.iter().map(&mut log).collect();
        Self { role, id: random.uuid(), logs }
    }

    /// One tick, which ends at `now` (milliseconds).
    pub fn advance(&mut self, now: u64, random: &mut Random) {
        for (number, log) in self.logs.iter_mut().enumerate() {
            // Producers are not clocks: between 80 % and 120 % of the rate.
            let percent = 80 + random.below(41);
            log.part += rate(self.role, number, now) * TICK.as_millis() as u64 * percent;
            log.end += (log.part / WHOLE) as i64;
            log.part %= WHOLE;
            // Whole segments go at once.
            if log.end - log.start > self.role.kept + self.role.kept / 20 {
                log.start = log.end - self.role.kept;
            }
        }
    }
}

/// Records per second at `now`.
fn rate(role: &TopicRole, partition: usize, now: u64) -> u64 {
    let rush = role.rush.as_ref().filter(|rush| {
        let second = now / 1000 % rush.every;
        rush.partitions.contains(&partition) && (rush.from..rush.from + rush.lasts).contains(&second)
    });
    rush.map_or(role.rates[partition], |rush| rush.rate)
}
