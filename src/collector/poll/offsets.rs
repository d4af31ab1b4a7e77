//! Where the logs start and end: ListOffsets, by leader and in chunks. Last stable offsets come before ends, so that
//! none is above an end of the same poll.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;

use super::answer::{Answer, Call};
use super::{Poller, STARTS_EVERY};
use crate::frame::order::Isolation;
use crate::kafka::{CallError, LogOffsets, Spec};
use crate::model::{Column, Name, Scope, TopicOffsets};

/// librdkafka's ListOffsets is quadratic in the partitions of a call; a chunk of one leader is one request.
const CHUNK: usize = 250;

/// What one leader answered, chunk by chunk.
pub type OffsetsAnswer = Vec<Result<LogOffsets, CallError>>;

/// Offsets that came in and are not told yet.
#[derive(Debug, Default)]
pub struct Fresh {
    starts: BTreeMap<Name, BTreeMap<i32, i64>>,
    stables: BTreeMap<Name, BTreeMap<i32, i64>>,
    ends: BTreeMap<Name, BTreeMap<i32, i64>>,
    starts_asked: BTreeMap<Name, Instant>,
    stables_asked: BTreeMap<Name, Instant>,
    /// Topics in which a transaction was open when last asked.
    open: BTreeSet<Name>,
}

impl Fresh {
    fn of(&mut self, spec: Spec) -> &mut BTreeMap<Name, BTreeMap<i32, i64>> {
        match spec {
            Spec::Earliest => &mut self.starts,
            Spec::Stable => &mut self.stables,
            Spec::Latest => &mut self.ends,
        }
    }
}

impl Poller {
    /// Asks the last stable offsets that are due: of every topic where the consumers cannot read beyond, else now and
    /// then, and while a transaction is open.
    pub(super) fn ask_stables(&mut self, forced: bool) {
        let always = forced || self.tail.settings.isolation == Isolation::ReadCommitted;
        let due = |topic: &Name| {
            let asked = self.fresh.stables_asked.get(topic);
            always || self.fresh.open.contains(topic) || asked.is_none_or(|at| at.elapsed() >= STARTS_EVERY)
        };
        let topics: BTreeSet<Name> = self.topics_of(self.answered.iter()).into_iter().filter(due).collect();
        for topic in &topics {
            self.fresh.stables_asked.insert(topic.clone(), Instant::now());
        }
        self.ask_spec(&topics, Spec::Stable);
    }

    /// Asks the ends of every topic of the groups that answered in this poll, and the starts where they are due.
    pub(super) fn ask_offsets(&mut self, forced: bool) {
        let topics = self.topics_of(self.answered.iter());
        let every = if forced { Duration::ZERO } else { STARTS_EVERY };
        let due = |topic: &&Name| {
            self.fresh.starts_asked.get(*topic).is_none_or(|at| at.elapsed() >= every) || self.near_start(topic)
        };
        let starts: BTreeSet<Name> = topics.iter().filter(due).cloned().collect();
        for topic in &starts {
            self.fresh.starts_asked.insert(topic.clone(), Instant::now());
        }
        self.ask_spec(&topics, Spec::Latest);
        self.ask_spec(&starts, Spec::Earliest);
    }

    /// The newest offsets of that kind of a topic's logs, as far as they are told.
    pub(super) fn column(&self, topic: &Name, spec: Spec) -> Option<&Column> {
        self.newest(|facts| column(facts.offsets.get(topic)?, spec))
    }

    /// The ends of every topic of a group that has a leader were read, or it is told why not.
    pub(super) fn ends_are_known(&self) -> bool {
        self.topics_of_groups().iter().all(|topic| {
            let led = self.metadata.topics.get(topic).into_iter().flatten().any(|partition| partition.leader.is_some());
            !led || self.column(topic, Spec::Latest).is_some() || self.problems.any("end offsets")
        })
    }

    /// Whether some commit is so close to the start of its log that retention may soon pass it.
    fn near_start(&self, topic: &Name) -> bool {
        let Some(offsets) = self.known.offsets.get(topic) else { return true };
        let (Some(start), Some(end)) = (&offsets.start, &offsets.end) else { return true };
        self.known.groups.values().filter_map(|group| group.commits.as_ref()?.topics.get(topic)).any(|commits| {
            commits.iter().any(|(partition, commit)| match (start.get(*partition), end.get(*partition)) {
                (Some((start, _)), Some((end, _))) => start > 0 && commit.offset - start <= (end - start) / 10,
                _ => false,
            })
        })
    }

    fn ask_spec(&mut self, topics: &BTreeSet<Name>, spec: Spec) {
        let mut by_leader: BTreeMap<i32, Vec<(Name, i32)>> = BTreeMap::new();
        for topic in topics {
            for (number, partition) in self.metadata.topics.get(topic).into_iter().flatten().enumerate() {
                if let Some(leader) = partition.leader {
                    by_leader.entry(leader).or_default().push((topic.clone(), number as i32));
                }
            }
        }
        for (leader, partitions) in by_leader {
            let call = Call::Offsets(leader, spec);
            // A last stable offset that is read after an end may be above it.
            let ends_late = spec == Spec::Stable && self.in_flight.contains(&Call::Offsets(leader, Spec::Latest));
            if self.in_flight.contains(&call) || ends_late {
                continue;
            }
            let admin = Arc::clone(&self.admin);
            self.ask(call, async move {
                let chunks = partitions.chunks(CHUNK).map(|chunk| admin.list_offsets(chunk, spec));
                Answer::Offsets(leader, spec, join_all(chunks).await)
            });
        }
    }

    pub(super) fn take_offsets(&mut self, leader: i32, spec: Spec, answer: OffsetsAnswer) {
        let missing = match spec {
            Spec::Earliest => "log start offsets",
            Spec::Stable => "last stable offsets",
            Spec::Latest => "end offsets",
        };
        let now = self.clock.now();
        let mut failed: BTreeMap<Name, CallError> = BTreeMap::new();
        let mut read = BTreeSet::new();
        let mut broker_failed = None;
        for chunk in answer {
            match chunk {
                Ok(offsets) => {
                    for ((topic, partition), offset) in offsets {
                        match offset {
                            Ok(offset) => {
                                self.fresh.of(spec).entry(topic.clone()).or_default().insert(partition, offset);
                                read.insert(topic);
                            }
                            Err(error) => _ = failed.insert(topic, error),
                        }
                    }
                }
                Err(error) => broker_failed = Some(error),
            }
        }
        match broker_failed {
            Some(error) => self.problems.failed(Scope::Broker(leader), missing, &error, now),
            None => self.problems.cleared(Scope::Broker(leader), missing),
        }
        for topic in read {
            if !failed.contains_key(&topic) {
                self.problems.cleared(Scope::Topic(topic), missing);
            }
        }
        for (topic, error) in failed {
            // The leader moved, or the topic is gone: look again before the next poll.
            self.asked.remove(&Call::Metadata);
            self.problems.failed(Scope::Topic(topic), missing, &error, now);
        }
    }

    /// Tells what came in: one column a topic and kind.
    pub(super) fn merge_offsets(&mut self) {
        for (topic, stables) in &self.fresh.stables {
            let ends = |partition| {
                let known = self.known.offsets.get(topic).and_then(|known| known.end.as_ref()?.get(partition));
                known.map(|(end, _)| end).or_else(|| self.fresh.ends.get(topic)?.get(&partition).copied())
            };
            if is_open(stables, ends) {
                self.fresh.open.insert(topic.clone());
            } else {
                self.fresh.open.remove(topic);
            }
        }
        for spec in [Spec::Earliest, Spec::Stable, Spec::Latest] {
            for (topic, values) in std::mem::take(self.fresh.of(spec)) {
                let count = self.metadata.topics.get(&topic).map_or(0, Vec::len);
                let known = self.known.offsets.get(&topic).and_then(|known| column(known, spec));
                let updated = updated(known, count, &values, self.clock.now());
                *column_mut(self.news.offsets.entry(topic).or_default(), spec) = Some(updated);
            }
        }
    }
}

fn column(offsets: &TopicOffsets, spec: Spec) -> Option<&Column> {
    match spec {
        Spec::Earliest => offsets.start.as_ref(),
        Spec::Stable => offsets.stable.as_ref(),
        Spec::Latest => offsets.end.as_ref(),
    }
}

fn column_mut(offsets: &mut TopicOffsets, spec: Spec) -> &mut Option<Column> {
    match spec {
        Spec::Earliest => &mut offsets.start,
        Spec::Stable => &mut offsets.stable,
        Spec::Latest => &mut offsets.end,
    }
}

/// Whether a transaction is open: a last stable offset is below an end of the poll before. An end of the same poll was
/// read later, and is ahead wherever records are written: it counts only where there is no earlier one, and the next
/// poll tells.
fn is_open(stables: &BTreeMap<i32, i64>, end: impl Fn(i32) -> Option<i64>) -> bool {
    stables.iter().any(|(partition, stable)| end(*partition).is_some_and(|end| *stable < end))
}

/// The column after some of its values were read; the others keep their time.
fn updated(known: Option<&Column>, count: usize, read: &BTreeMap<i32, i64>, now: crate::model::At) -> Column {
    let mut column = Column { at: now, values: vec![None; count], ..Column::default() };
    for (index, value) in column.values.iter_mut().enumerate() {
        let partition = index as i32;
        if let Some(offset) = read.get(&partition) {
            *value = Some(*offset);
        } else if let Some((offset, at)) = known.and_then(|known| known.get(partition)) {
            *value = Some(offset);
            column.older.insert(partition, at);
        }
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::At;

    #[test]
    fn a_transaction_is_open_where_an_earlier_end_is_above_what_is_stable() {
        let stables = BTreeMap::from([(0, 10), (1, 20)]);
        assert!(!is_open(&stables, |_| None));
        assert!(!is_open(&stables, |partition| Some(if partition == 0 { 10 } else { 7 })));
        assert!(is_open(&stables, |partition| (partition == 1).then_some(21)));
    }

    #[test]
    fn values_that_were_not_read_keep_their_time() {
        let first = updated(None, 3, &BTreeMap::from([(0, 10), (1, 20)]), At(5));
        assert_eq!((first.get(0), first.get(1), first.get(2)), (Some((10, At(5))), Some((20, At(5))), None));
        let second = updated(Some(&first), 3, &BTreeMap::from([(0, 11), (2, 30)]), At(9));
        assert_eq!(second.get(0), Some((11, At(9))));
        assert_eq!(second.get(1), Some((20, At(5))));
        assert_eq!(second.get(2), Some((30, At(9))));
        let shrunk = updated(Some(&second), 1, &BTreeMap::new(), At(10));
        assert_eq!((shrunk.get(0), shrunk.get(1)), (Some((11, At(9))), None));
    }
}
