//! The calls of a poll and what becomes of their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::Poller;
use super::configs::ConfigsAnswer;
use super::groups::GroupAnswer;
use super::log_start::LogStart;
use super::offsets::OffsetsAnswer;
use super::probe::ProbeAnswer;
use crate::kafka::{CallError, GroupList, Log, Metadata, Protocol, Spec, TopicAnswer, TypedName};
use crate::model::{Cluster, Description, GroupKind, GroupState, Listing, Name, Scope};

/// Groups as the list of groups has them.
pub type Listed = BTreeMap<Name, (GroupKind, GroupState)>;

/// A call that may be under way; none is asked twice at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    Listing,
    /// The old list call, of all groups or of one.
    Typed(Option<Name>),
    Metadata,
    Cluster,
    Topics,
    Configs,
    Group(Name),
    /// ListOffsets at one leader.
    Offsets(i32, Spec),
    /// The records at the commits.
    Probe,
    /// Which classic groups are rebalancing.
    Rebalancing,
    /// Whether an open transaction holds partitions of the log.
    Held,
    /// How far the coordinator log goes.
    Compared,
    /// The brokers' default server-side assignor.
    Assignor,
    /// From where `__consumer_offsets` (or, true, `__share_group_state`) is to be read.
    LogStart(bool),
}

pub enum Answer {
    Listing(Result<GroupList, CallError>),
    Typed(Option<Name>, Vec<TypedName>, Option<CallError>),
    Metadata(Result<Metadata, CallError>),
    Cluster(Result<Cluster, CallError>),
    Topics(Vec<Name>, Result<BTreeMap<Name, TopicAnswer>, CallError>),
    Configs(ConfigsAnswer),
    Group(Name, Box<GroupAnswer>),
    Offsets(i32, Spec, OffsetsAnswer),
    Probe(Box<ProbeAnswer>),
    Rebalancing(Result<GroupList, CallError>),
    /// Partition of the log, the next offset to read when it was asked, last stable offset and high watermark.
    Held(Vec<(i32, i64, (i64, i64))>),
    /// High watermarks of its partitions.
    Compared(Vec<(i32, i64)>),
    Assignor(Name, Result<Box<(Protocol, Description)>, CallError>),
    LogStart(Log, Result<Option<LogStart>, CallError>),
}

impl Poller {
    pub(super) fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Listing(answer) => {
                self.in_flight.remove(&Call::Listing);
                self.take_listing(answer);
            }
            Answer::Typed(group, names, error) => {
                self.in_flight.remove(&Call::Typed(group.clone()));
                self.take_typed(group.as_ref(), names, error.as_ref());
            }
            Answer::Metadata(answer) => {
                self.in_flight.remove(&Call::Metadata);
                match answer {
                    Ok(metadata) => {
                        self.connected();
                        self.metadata = metadata;
                        self.set_log_leaders();
                        self.merge_cluster(None);
                    }
                    Err(error) => self.cluster_failed("metadata", &error),
                }
            }
            Answer::Cluster(answer) => {
                self.in_flight.remove(&Call::Cluster);
                match answer {
                    Ok(cluster) => {
                        self.problems.cleared(Scope::Cluster, "racks");
                        self.merge_cluster(Some(cluster));
                    }
                    Err(error) => self.cluster_fact_failed(&Call::Cluster, "racks", &error),
                }
            }
            Answer::Topics(asked, answer) => {
                self.in_flight.remove(&Call::Topics);
                self.take_topics(&asked, answer);
            }
            Answer::Configs(answer) => {
                self.in_flight.remove(&Call::Configs);
                self.take_configs(answer);
            }
            Answer::Group(group, answer) => {
                self.in_flight.remove(&Call::Group(group.clone()));
                self.take_group(group, *answer);
            }
            Answer::Offsets(leader, spec, answer) => {
                self.in_flight.remove(&Call::Offsets(leader, spec));
                self.take_offsets(leader, spec, answer);
            }
            Answer::Probe(answer) => {
                self.in_flight.remove(&Call::Probe);
                self.take_probe(*answer);
            }
            Answer::Rebalancing(answer) => {
                self.in_flight.remove(&Call::Rebalancing);
                self.take_rebalancing(answer);
            }
            Answer::Held(answer) => {
                self.in_flight.remove(&Call::Held);
                for (partition, next, (stable, high)) in answer {
                    self.tail.state.set_ends(partition, next, stable, high);
                }
                self.read_anew();
                self.replace_stuck();
            }
            Answer::Compared(answer) => {
                self.in_flight.remove(&Call::Compared);
                for (partition, high) in answer {
                    self.tail.state.compare(partition, high);
                }
            }
            Answer::Assignor(group, answer) => {
                self.in_flight.remove(&Call::Assignor);
                self.take_assignor(&group, answer);
            }
            Answer::LogStart(log, answer) => {
                self.in_flight.remove(&Call::LogStart(log == Log::Shares));
                self.take_start(log, answer);
            }
        }
    }

    fn take_listing(&mut self, answer: Result<GroupList, CallError>) {
        let list = match answer {
            Ok(list) => list,
            Err(error) => return self.cluster_failed("list of groups", &error),
        };
        let rows = list.groups.into_iter().map(|row| (row.id, (row.protocol, row.state)));
        match list.errors.first() {
            None => {
                let before = std::mem::replace(&mut self.listed, rows.collect());
                let log = self.tail.groups.as_ref().map(|_| &self.tail.state);
                let logged = |group: &Name| log.is_some_and(|log| log.has(group));
                if keep_absent(before, &mut self.listed, &mut self.absent, logged) {
                    self.asked.remove(&Call::Listing);
                }
                self.problems.cleared(Scope::Cluster, "list of groups");
            }
            // Some brokers did not answer: what they alone know is kept as it was.
            Some(error) => {
                self.listed.extend(rows);
                self.cluster_failed("list of groups", &error.clone());
            }
        }
        self.listing_complete = list.errors.is_empty();
        if !self.listing_complete && self.listed.is_empty() {
            return;
        }
        self.connected();
        self.unlisted.retain(|name, _| !self.listed.contains_key(name));
        self.track();
        self.news.listing =
            Some(Listing { observed_at: self.clock.now(), total: self.total(), complete: self.listing_complete });
    }

    fn take_rebalancing(&mut self, answer: Result<GroupList, CallError>) {
        // What a broker refuses, it has heard.
        let heard = |list: &GroupList| list.errors.iter().all(|error| error.code().is_some_and(|code| code > 0));
        if answer.as_ref().is_ok_and(heard) {
            self.tail.heard = Some(self.clock.now());
        } else {
            self.tail.shaken = Some(Instant::now());
        }
        let Ok(list) = answer else { return };
        let now: BTreeMap<Name, _> = list.groups.into_iter().map(|row| (row.id, row.state)).collect();
        let before = std::mem::replace(&mut self.rebalancing, now);
        let changed = before.iter().filter(|(name, state)| self.rebalancing.get(*name) != Some(state));
        let begun = self.rebalancing.keys().filter(|name| !before.contains_key(*name));
        let dirty: Vec<Name> = changed.map(|(name, _)| name).chain(begun).cloned().collect();
        self.tail.state.mark(dirty);
    }

    /// Some broker answered: the connection works.
    fn connected(&mut self) {
        self.problems.cleared(Scope::Cluster, super::causes::CONNECTION);
        self.problems.cleared(Scope::Cluster, "metadata");
    }

    /// A call that is made rarely failed: one that was not answered is due again at once.
    pub(super) fn cluster_fact_failed(&mut self, call: &Call, missing: &'static str, error: &CallError) {
        if *error == CallError::Timeout {
            self.asked.remove(call);
        }
        self.cluster_failed(missing, error);
    }

    pub(super) fn cluster_failed(&mut self, missing: &'static str, error: &CallError) {
        let now = self.clock.now();
        match self.background_cause().filter(|_| *error == CallError::Timeout || self.known.listing.is_none()) {
            Some(cause) => self.problems.set(Scope::Cluster, super::causes::CONNECTION, cause, now),
            None => self.problems.failed(Scope::Cluster, missing, error, now),
        }
    }
}

/// A coordinator that loads its groups leaves them out of the list without a word: one that is missing from it is kept until
/// it is missing again, and as long as the log has it. `absent`: those that are kept. Whether to ask again soon.
fn keep_absent(
    before: Listed,
    listed: &mut Listed,
    absent: &mut BTreeSet<Name>,
    logged: impl Fn(&Name) -> bool,
) -> bool {
    let missed = std::mem::take(absent);
    let mut again = false;
    for (name, row) in before {
        let first = !missed.contains(&name);
        if !listed.contains_key(&name) && (first || logged(&name)) {
            again |= first;
            absent.insert(name.clone());
            listed.insert(name, row);
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_missing_once_is_not_gone() {
        let of = |groups: &[&str]| -> Listed {
            groups.iter().map(|name| (Name::new(*name), (GroupKind::Classic, GroupState::Empty))).collect()
        };
        let (mut listed, mut absent) = (of(&["a", "b", "c"]), BTreeSet::new());
        let mut list = |groups: &[&str], logged: &str| {
            let before = std::mem::replace(&mut listed, of(groups));
            let again = keep_absent(before, &mut listed, &mut absent, |group| group.raw() == logged);
            (listed.keys().map(|name| name.raw().to_owned()).collect::<String>(), again)
        };
        assert_eq!(list(&["a"], ""), ("abc".into(), true), "it may be loading");
        assert_eq!(list(&["a"], "b"), ("ab".into(), false), "the log has it");
        assert_eq!(list(&["a", "b"], ""), ("ab".into(), false));
        assert_eq!(list(&["a"], ""), ("ab".into(), true));
        assert_eq!(list(&["a"], ""), ("a".into(), false));
    }
}
