//! Rates of a group: from its facts to the history of each partition, and from there to the view.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::plan::rounded;
use super::view::{GroupView, MemberView, PartitionRates, PartitionView, Rates};
use crate::health::rates::Committed;
use crate::health::{PartitionHistory, Rate};
use crate::model::{At, Evidence, Group, Name, Snapshot};

/// What is remembered of a group: about 1.5 KB a partition.
#[derive(Debug, Default)]
pub struct Memory {
    topics: BTreeMap<Name, Topic>,
    /// The most that each member was seen to do with a backlog, in records per second.
    pub capacity: BTreeMap<Name, f64>,
}

#[derive(Debug, Default)]
struct Topic {
    id: Option<Uuid>,
    /// Index = partition number.
    partitions: Vec<PartitionHistory>,
}

impl Memory {
    /// Takes in what the newest facts say, and fills in the rates of partitions and members.
    pub fn take(
        &mut self,
        group: &Group,
        facts: &Snapshot,
        partitions: &mut [PartitionView],
        members: &mut [MemberView],
    ) {
        let seen = commits_seen(group, facts);
        self.topics.retain(|name, _| facts.topics.contains_key(name));
        let mut backlogged = vec![false; members.len()];
        for same_topic in partitions.chunk_by_mut(|a, b| a.topic == b.topic) {
            let name = same_topic[0].topic.clone();
            let Some(topic) = facts.topics.get(&name) else { continue };
            let memory = self.topics.entry(name.clone()).or_default();
            if topic.id.is_some() && memory.id != topic.id {
                if memory.id.is_some() {
                    memory.partitions.clear();
                }
                memory.id = topic.id;
            }
            memory.partitions.resize_with(topic.partitions.len(), PartitionHistory::default);
            let ends = facts.offsets.get(&name).and_then(|offsets| offsets.end.as_ref());
            let commits = group.commits.as_ref().and_then(|commits| commits.topics.get(&name));
            for partition in same_topic {
                let number = usize::try_from(partition.partition).ok();
                let Some(history) = number.and_then(|number| memory.partitions.get_mut(number)) else { continue };
                history.owned_by(partition.owner.and_then(|owner| members.get(owner)).map(|member| &member.id));
                if let Some((end, at)) = ends.and_then(|ends| ends.get(partition.partition)) {
                    history.end(at, end);
                }
                match commits.and_then(|commits| commits.get(&partition.partition)).zip(seen) {
                    Some((commit, seen)) => history.commit(Committed {
                        offset: commit.offset,
                        recorded: commit.committed_at,
                        seen,
                        lag: partition.lag.readable().unwrap_or(0),
                    }),
                    None => history.uncommitted(),
                }
                let consumed = history.consumed();
                let window = consumed.map_or(Duration::ZERO, |rate| rate.window);
                partition.rates = PartitionRates {
                    written: history.produced(window).or_else(|| history.produced(Duration::ZERO)),
                    consumed,
                    in_flight: partition.lag.readable().is_some_and(|lag| history.in_flight(lag)),
                };
                if let Some(backlogged) = partition.owner.and_then(|owner| backlogged.get_mut(owner)) {
                    *backlogged |= history.was_backlogged();
                }
            }
        }
        self.members(partitions, members, &backlogged);
    }

    fn members(&mut self, partitions: &[PartitionView], members: &mut [MemberView], backlogged: &[bool]) {
        let mut known = std::mem::take(&mut self.capacity);
        for (member, backlogged) in members.iter_mut().zip(backlogged) {
            let held = || member.partitions.iter().flatten().filter_map(|place| partitions.get(*place));
            let rates = Rates {
                written: Rate::sum(held().map(|partition| partition.rates.written)),
                consumed: Rate::sum(held().map(|partition| partition.rates.consumed)),
            };
            member.rates = rates;
            let mut capacity = known.remove(&member.id);
            if let Some(rate) = rates.consumed.filter(|rate| *backlogged && rate.per_second > 0.0) {
                let rate = rounded(rate.per_second);
                capacity = Some(capacity.map_or(rate, |before| before.max(rate)));
            }
            member.capacity = capacity;
            self.capacity.extend(capacity.map(|capacity| (member.id.clone(), capacity)));
        }
    }
}

/// The rates of all partitions.
pub fn of_group(partitions: &[PartitionView]) -> Rates {
    Rates {
        written: Rate::sum(partitions.iter().map(|partition| partition.rates.written)),
        consumed: Rate::sum(partitions.iter().map(|partition| partition.rates.consumed)),
    }
}

/// When the newest commits were known to be so: where the log tells, it tells of all.
fn commits_seen(group: &Group, facts: &Snapshot) -> Option<At> {
    let read = group.commits_at?;
    let by_log = |description: &&crate::model::Description| {
        description.evidence == Evidence::Log && description.log_gap.is_none()
    };
    let follows = group.description.as_ref().filter(by_log).and(facts.log.as_ref());
    Some(follows.map_or(read, |log| read.max(log.observed_at)))
}

/// How long the group's rebalances take: the median, of those that are known exactly where there are any.
pub fn rebalance_time(before: Option<&GroupView>) -> Option<Duration> {
    let list = &before?.rebalances.list;
    let times = |exact: bool| {
        let took = list.iter().map(|rebalance| rebalance.took).filter(move |took| !(exact && took.is_lower_bound()));
        let mut times: Vec<Duration> = took.map(crate::health::rebalances::Took::known).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    };
    times(true).or_else(|| times(false))
}
