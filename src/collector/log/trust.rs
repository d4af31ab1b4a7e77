//! How far each partition of the coordinator log was read, and whether what was read is what is true now.

use std::collections::BTreeMap;

use super::start;
use crate::model::LogGap;

/// Positions in a row that must stand still before a partition with records ahead is asked about.
const STANDS: u32 = 2;
/// So many answers in a row, half a second apart, without a record in between, although there are some: the reader is
/// stuck.
const STUCK: u32 = 60;

/// The partitions of the log.
#[derive(Debug, Default)]
pub struct Trust {
    partitions: BTreeMap<i32, Partition>,
    /// Partitions that went back, and where to.
    cuts: BTreeMap<i32, i64>,
    /// The reader has ended.
    stopped: bool,
}

// Each is one independent fact.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, Default)]
struct Partition {
    caught_up: bool,
    /// Its end when reading began, or when its leader changed.
    until: i64,
    next: i64,
    high: i64,
    /// The high watermark that came with what the reader fetched last: it has seen everything up to there.
    fetched: i64,
    /// The high watermark when that was last compared.
    compared: Option<i64>,
    /// The reader met the end of what is committed before `until`: a transaction is open, or only control records are
    /// left, which no reader sees.
    ended: bool,
    /// Positions in a row that stood still with the high watermark ahead; that moved.
    standing: u32,
    moving: u32,
    /// Answers in a row that no transaction is open, since the position moved.
    free: u32,
    held: bool,
    /// It has no leader.
    failed: bool,
    /// It had none: what was written since is not known to be read.
    recheck: bool,
    /// Records came from before `next`.
    back: bool,
    leader: Option<i32>,
}

impl Partition {
    fn gap(&self) -> Option<LogGap> {
        if self.failed {
            Some(LogGap::Failed)
        } else if self.recheck || !self.caught_up {
            Some(LogGap::CatchingUp)
        } else {
            self.held.then_some(LogGap::Held)
        }
    }

    /// The next offset to read is known to be this.
    fn at(&mut self, next: i64) {
        if next > self.next {
            self.next = next;
            self.free = 0;
        }
        self.caught_up |= self.next >= self.until;
    }

    fn in_doubt(&self) -> bool {
        self.standing >= STANDS || self.held || self.recheck || (self.ended && !self.caught_up)
    }
}

impl Trust {
    pub fn new(plan: &start::Plan) -> Self {
        let partition = |(number, until): (&i32, &i64)| {
            let next = plan.from.get(number).copied().unwrap_or(0);
            (*number, Partition { until: *until, next, ..Partition::default() })
        };
        Self { partitions: plan.until.iter().map(partition).collect(), ..Self::default() }
    }

    /// Changes a partition; returns whether it is to be trusted more or less than before.
    fn change(&mut self, partition: i32, change: impl FnOnce(&mut Partition)) -> bool {
        let Some(state) = self.partitions.get_mut(&partition) else { return false };
        let before = state.gap();
        change(state);
        before != state.gap()
    }

    /// Whether a record comes from before what was read: its partition went back, and how far is asked.
    pub fn goes_back(&mut self, partition: i32, offset: i64) -> bool {
        let Some(state) = self.partitions.get_mut(&partition).filter(|state| offset < state.next) else { return false };
        (state.back, state.recheck) = (true, true);
        true
    }

    /// The next offset to read.
    pub fn next(&self, partition: i32) -> i64 {
        self.partitions.get(&partition).map_or(0, |state| state.next)
    }

    /// The next offset to read of each partition.
    pub fn all_next(&self) -> BTreeMap<i32, i64> {
        self.partitions.iter().map(|(partition, state)| (*partition, state.next)).collect()
    }

    /// Partitions that went back since the last call, and where to: what was read from there on is gone.
    pub fn take_cuts(&mut self) -> BTreeMap<i32, i64> {
        std::mem::take(&mut self.cuts)
    }

    /// Records were read up to here.
    pub fn reached(&mut self, partition: i32, next: i64) -> bool {
        self.change(partition, |state| state.at(next))
    }

    /// The reader met the end of what is committed.
    pub fn ended(&mut self, partition: i32, next: Option<i64>) -> bool {
        self.change(partition, |state| {
            state.at(next.unwrap_or(state.next));
            state.ended = true;
        })
    }

    /// Position (`None`: the client has none) and high watermark, told once a second.
    pub fn position(&mut self, partition: i32, next: Option<i64>, high: i64) -> bool {
        self.change(partition, |state| {
            let next = next.unwrap_or(state.next);
            // Of a partition that went back the client reads on from its new end, without a word.
            state.recheck |= high < state.next;
            let stands = next <= state.next;
            state.at(next);
            (state.high, state.fetched) = (high, high);
            if next >= high {
                (state.standing, state.moving) = (0, 0);
                state.held &= state.recheck;
            } else if stands {
                state.standing += u32::from(state.caught_up);
                state.moving = 0;
            } else {
                state.standing = 0;
                state.moving += 1;
                // Transactions follow each other, none stays open.
                state.held &= state.moving < STANDS;
            }
        })
    }

    /// Partitions to be asked about: last stable offset and high watermark.
    pub fn in_doubt(&self) -> Vec<i32> {
        let doubtful = self.partitions.iter().filter(|(_, state)| state.in_doubt() && !state.failed);
        doubtful.map(|(partition, _)| *partition).collect()
    }

    /// The answer; `next`: the next offset to read when it was asked.
    pub fn ends(&mut self, partition: i32, next: i64, stable: i64, high: i64) -> bool {
        if high < next || self.partitions.get(&partition).is_some_and(|state| state.back) {
            self.cuts.insert(partition, high.min(next));
        }
        self.change(partition, |state| {
            state.high = high;
            if std::mem::take(&mut state.recheck) {
                (state.caught_up, state.until, state.ended) = (state.next >= high, high, true);
            }
            if stable < high {
                // It tells all there is to tell until the transaction ends.
                state.caught_up |= state.ended;
                state.held = state.next < high;
                state.free = 0;
                return;
            }
            state.free += 1;
            // Twice without a record in between: what is left are control records, if the reader has come so far.
            let read = state.next >= high || (state.free >= 2 && state.fetched >= high);
            if read {
                (state.held, state.standing) = (false, 0);
                state.caught_up |= state.ended;
            }
        })
    }

    /// The high watermark of a partition, asked for every few seconds after a broker did not answer: a reader that has not
    /// even seen what was there at the time before is not to be trusted.
    pub fn compare(&mut self, partition: i32, high: i64) -> bool {
        self.change(partition, |state| {
            let behind = state.compared.is_some_and(|before| state.fetched < before && state.next < before);
            state.recheck |= behind && state.caught_up;
            state.compared = Some(high);
        })
    }

    /// A reader that stands still although it could read on.
    pub fn is_stuck(&self) -> bool {
        let stuck = |state: &Partition| state.free >= STUCK && !state.caught_up && !state.failed;
        !self.stopped && self.partitions.values().any(stuck)
    }

    /// Who leads each partition now; returns those that are to be trusted more or less than before.
    pub fn set_leaders(&mut self, leaders: impl IntoIterator<Item = Option<i32>>) -> Vec<i32> {
        let numbers: Vec<i32> = self.partitions.keys().copied().collect();
        let changed = numbers.into_iter().zip(leaders).filter_map(|(partition, leader)| {
            let changed = self.change(partition, |state| {
                let moved = state.leader.is_some() && leader.is_some() && state.leader != leader;
                state.recheck |= (state.failed && leader.is_some()) || moved;
                state.failed = leader.is_none();
                state.leader = leader.or(state.leader);
            });
            changed.then_some(partition)
        });
        changed.collect()
    }

    /// The reader has ended: nothing is known of what was written since.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Why a partition does not tell what is true now; `None`: it does.
    pub fn gap(&self, partition: Option<i32>) -> Option<LogGap> {
        match partition.and_then(|partition| self.partitions.get(&partition)) {
            Some(state) if !self.stopped => state.gap(),
            _ => Some(LogGap::Failed),
        }
    }

    /// Whether all that was there when reading began was read.
    pub fn is_caught_up(&self, partition: i32) -> bool {
        self.partitions.get(&partition).is_some_and(|state| state.caught_up)
    }

    pub fn len(&self) -> usize {
        self.partitions.len()
    }

    pub fn leader(&self, partition: i32) -> Option<i32> {
        self.partitions.get(&partition)?.leader
    }

    /// Partitions that tell what is true now or would if no transaction were open, and those that are held.
    pub fn progress(&self) -> (usize, Vec<i32>) {
        let read = |state: &&Partition| matches!(state.gap(), None | Some(LogGap::Held));
        let held = self.partitions.iter().filter(|(_, state)| state.gap() == Some(LogGap::Held));
        let held = held.map(|(partition, _)| *partition).collect();
        let caught_up = self.partitions.values().filter(read).count();
        (if self.stopped { 0 } else { caught_up }, held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(from: i64, until: i64) -> Trust {
        let plan = start::Plan { from: [(0, from)].into(), until: [(0, until)].into(), ..start::Plan::default() };
        Trust::new(&plan)
    }

    fn gap(trust: &Trust) -> Option<LogGap> {
        trust.gap(Some(0))
    }

    /// Read to its end, which is 10.
    fn read() -> Trust {
        let mut trust = trust(0, 10);
        trust.reached(0, 10);
        assert_eq!(gap(&trust), None);
        trust
    }

    #[test]
    fn a_reader_that_saw_nothing_new_is_not_taken_for_one_that_met_control_records() {
        let mut trust = read();
        trust.position(0, Some(10), 10);
        trust.set_leaders([None]);
        trust.set_leaders([Some(1)]);
        // 15 records came meanwhile, and the reader does not fetch yet.
        for _ in 0..3 {
            trust.ends(0, 10, 25, 25);
            assert_eq!((gap(&trust), trust.in_doubt()), (Some(LogGap::CatchingUp), vec![0]));
        }
        assert!(!trust.is_stuck());
        for _ in 0..60 {
            trust.ends(0, 10, 25, 25);
        }
        assert!(trust.is_stuck());
        // It fetched up to the end, and no record came of it: control records.
        trust.position(0, Some(10), 25);
        trust.ends(0, 10, 25, 25);
        assert_eq!((gap(&trust), trust.is_stuck()), (None, false));
    }

    #[test]
    fn a_reader_that_does_not_fetch_is_found_out() {
        let mut trust = read();
        trust.position(0, Some(10), 10);
        for (high, told) in [(10, None), (30, None), (35, Some(LogGap::CatchingUp))] {
            trust.compare(0, high);
            assert_eq!(gap(&trust), told, "{high}");
        }
        trust.ends(0, 10, 35, 35);
        trust.reached(0, 35);
        assert_eq!(gap(&trust), None);
        // One that fetches is not suspected, also where what comes is control records.
        trust.position(0, Some(35), 40);
        for high in [36, 40, 45] {
            trust.compare(0, high);
            assert_eq!(gap(&trust), None, "{high}");
        }
    }

    #[test]
    fn an_empty_partition_needs_no_reading() {
        let mut trust = trust(7, 7);
        assert!(trust.ended(0, None));
        assert_eq!((gap(&trust), trust.in_doubt()), (None, vec![]));
        assert_eq!(trust.gap(Some(1)), Some(LogGap::Failed));
        assert_eq!(trust.gap(None), Some(LogGap::Failed));
    }

    #[test]
    fn an_end_before_the_end_is_doubted() {
        let mut trust = trust(0, 10);
        assert!(!trust.ended(0, Some(8)), "a transaction may be open");
        assert_eq!((gap(&trust), trust.in_doubt()), (Some(LogGap::CatchingUp), vec![0]));
        assert!(trust.ends(0, 0, 8, 10));
        assert_eq!((gap(&trust), trust.progress()), (Some(LogGap::Held), (1, vec![0])));
        assert_eq!(trust.in_doubt(), [0], "asked until it ends");
        assert!(trust.position(0, Some(11), 11));
        assert_eq!((gap(&trust), trust.in_doubt()), (None, vec![]));
    }

    #[test]
    fn control_records_at_the_end_are_no_gap() {
        let mut trust = trust(0, 10);
        trust.ended(0, Some(8));
        trust.position(0, Some(8), 10);
        assert!(!trust.ends(0, 0, 10, 10), "what the transaction wrote may be on its way");
        assert!(trust.ends(0, 0, 10, 10));
        assert_eq!((gap(&trust), trust.in_doubt()), (None, vec![]));
    }

    #[test]
    fn standing_still_with_records_ahead_is_asked_about() {
        let mut trust = read();
        trust.position(0, Some(10), 12);
        assert!(trust.in_doubt().is_empty(), "they may be on their way");
        trust.position(0, Some(10), 12);
        assert_eq!((gap(&trust), trust.in_doubt()), (None, vec![0]));
        assert!(trust.ends(0, 0, 10, 12));
        assert_eq!(gap(&trust), Some(LogGap::Held));
        trust.position(0, Some(10), 14);
        assert_eq!(gap(&trust), Some(LogGap::Held));
        // It ends; what it hid is read before the partition is trusted.
        trust.ends(0, 0, 15, 15);
        assert_eq!(gap(&trust), Some(LogGap::Held));
        trust.position(0, Some(12), 15);
        trust.ends(0, 0, 15, 15);
        assert_eq!(gap(&trust), Some(LogGap::Held));
        assert!(trust.position(0, Some(15), 15));
        assert_eq!(gap(&trust), None);
    }

    #[test]
    fn transactions_that_follow_each_other_hold_nothing() {
        let mut trust = read();
        trust.position(0, Some(10), 12);
        trust.position(0, Some(10), 12);
        trust.ends(0, 0, 10, 12);
        trust.position(0, Some(12), 14);
        assert_eq!(gap(&trust), Some(LogGap::Held));
        assert!(trust.position(0, Some(14), 16));
        assert_eq!(gap(&trust), None);
    }

    #[test]
    fn after_a_leader_change_the_new_end_is_read_first() {
        let mut trust = read();
        assert!(trust.set_leaders([Some(1)]).is_empty());
        assert_eq!(trust.set_leaders([None]), [0]);
        assert_eq!((gap(&trust), trust.leader(0)), (Some(LogGap::Failed), Some(1)));
        assert_eq!(trust.set_leaders([Some(2)]), [0]);
        assert_eq!((gap(&trust), trust.in_doubt()), (Some(LogGap::CatchingUp), vec![0]));
        trust.ends(0, 0, 13, 13);
        assert_eq!(gap(&trust), Some(LogGap::CatchingUp));
        assert!(trust.reached(0, 13));
        assert_eq!(gap(&trust), None);
        assert_eq!(trust.set_leaders([Some(3)]), [0], "moved between two looks");
        assert!(trust.ends(0, 0, 13, 13));
        assert_eq!(gap(&trust), None);
    }

    #[test]
    fn an_end_before_what_was_read_is_a_cut() {
        let mut trust = read();
        trust.set_leaders([Some(1)]);
        trust.set_leaders([Some(2)]);
        // Records that were read while the answer was on its way are none.
        trust.reached(0, 13);
        trust.ends(0, 10, 11, 11);
        assert!(trust.take_cuts().is_empty());
        trust.ends(0, 13, 7, 7);
        assert_eq!(trust.take_cuts(), [(0, 7)].into());
        assert!(trust.take_cuts().is_empty());
    }

    #[test]
    fn an_end_that_the_client_hears_of_is_asked_about() {
        let mut trust = read();
        assert!(trust.position(0, None, 6));
        assert_eq!((gap(&trust), trust.in_doubt()), (Some(LogGap::CatchingUp), vec![0]));
        trust.ends(0, 10, 12, 12);
        assert!(trust.take_cuts().is_empty(), "a new leader that lags behind for a moment");
        trust.position(0, Some(10), 6);
        trust.ends(0, 10, 6, 6);
        assert_eq!(trust.take_cuts(), [(0, 6)].into());
    }

    #[test]
    fn records_from_before_are_a_cut_and_how_far_is_asked() {
        let mut trust = read();
        assert!(!trust.goes_back(0, 10) && !trust.goes_back(1, 0));
        assert!(trust.goes_back(0, 3));
        assert_eq!((gap(&trust), trust.in_doubt()), (Some(LogGap::CatchingUp), vec![0]));
        // More was written since than was lost: where it went back to is not known.
        trust.ends(0, trust.next(0), 20, 20);
        assert_eq!(trust.take_cuts(), [(0, 10)].into());
    }

    #[test]
    fn a_reader_that_has_ended_tells_nothing() {
        let mut trust = read();
        trust.stop();
        assert_eq!((gap(&trust), trust.progress()), (Some(LogGap::Failed), (0, vec![])));
    }
}
