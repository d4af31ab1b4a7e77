//! How a group gets on: from its facts to the history of each partition, and from there to the view.

use std::collections::BTreeMap;
use std::time::Duration;

use super::logs::Logs;
use super::plan::rounded;
use super::view::{CommitSigns, GroupView, MemberView, PartitionRates, PartitionView, Rates, seen_at};
use crate::health::partition_history::PATIENCE;
use crate::health::rate::SHORTEST;
use crate::health::verdict::ARRIVES;
use crate::health::{Committed, Direction, LogHistory, PartitionHistory, PartitionLag, Rate, Rewound, TimeLag};
use crate::model::{At, Description, Group, GroupKind, Name, Snapshot};

/// So many looks at the commits in a row may be missing before what is known of them is stale.
const MISSED: u32 = 3;

/// What is remembered of a group: about 2 KB a partition.
#[derive(Debug, Default)]
pub struct Memory {
    /// By topic; index = partition number.
    topics: BTreeMap<Name, Vec<PartitionHistory>>,
    /// The most that each member was seen to do with a backlog, in records per second.
    pub capacity: BTreeMap<Name, f64>,
    /// When the commits (or what a share group has done) were last known to be so, and how long before that they were.
    seen: Option<At>,
    every: Duration,
}

/// The newest facts, and the past of the logs.
#[derive(Clone, Copy)]
pub struct News<'a> {
    pub group: &'a Group,
    pub facts: &'a Snapshot,
    pub logs: &'a Logs,
    pub now: At,
    /// Samples that are further apart are some with a gap between.
    pub interval: Duration,
    pub keep: Duration,
    /// A topic that nobody subscribes to is abandoned after that time without a commit.
    pub abandoned_after: Duration,
}

impl News<'_> {
    /// No member has ever joined the group.
    fn simple(&self) -> bool {
        self.group.description.as_ref().is_some_and(|description| description.simple)
    }
}

impl Memory {
    /// Takes in what the newest facts say, and fills in what members and partitions have of it.
    pub fn take(&mut self, news: News<'_>, partitions: &mut [PartitionView], members: &mut [MemberView]) {
        let News { group, facts, logs, now, .. } = news;
        let follows_log = group.description.as_ref().is_some_and(Description::follows_log);
        let mut looked_away = false;
        let seen = match &group.share {
            // What it has done is in a log of its own.
            Some(share) if group.kind == GroupKind::Share => {
                Some(share.at.max(facts.log.as_ref().and_then(|log| log.shares_at).unwrap_or_default()))
            }
            _ => seen_at(group.commits_at, follows_log, facts.log.as_ref()),
        };
        if let Some((seen, before)) = seen.zip(self.seen).filter(|(seen, before)| seen > before) {
            looked_away = seen.since(before) > news.interval.max(MISSED * self.every);
            self.every = seen.since(before);
        }
        self.seen = self.seen.max(seen);
        // Ends go on while the group's coordinator does not answer. Groups that are read in turn are read rarely.
        let stale = self.seen.filter(|seen| now.since(*seen) > news.interval.max(MISSED * self.every));
        // By the clock of the coordinators: what they wrote is only ever compared with what they wrote.
        let newest = group.commits.iter().flat_map(|commits| commits.topics.values()).flat_map(BTreeMap::values);
        let newest = newest.filter_map(|commit| commit.committed_at).max();
        self.topics.retain(|name, _| facts.topics.contains_key(name));
        let mut backlogged = vec![false; members.len()];
        for same_topic in partitions.chunk_by_mut(|a, b| a.topic == b.topic) {
            let name = same_topic[0].topic.clone();
            let Some(topic) = facts.topics.get(&name) else { continue };
            let histories = self.topics.entry(name.clone()).or_default();
            histories.resize_with(topic.partitions.len(), PartitionHistory::default);
            let logs = logs.of(&name);
            let commits = group.commits.as_ref().and_then(|commits| commits.topics.get(&name));
            for partition in same_topic {
                let number = usize::try_from(partition.partition).ok();
                let Some(history) = number.and_then(|number| histories.get_mut(number)) else { continue };
                let Some(log) = number.and_then(|number| logs.get(number)) else { continue };
                history.of_log(log.life());
                if looked_away {
                    history.looked_away();
                }
                history.owned_by(partition.owner.and_then(|owner| members.get(owner)).map(|member| &member.id), now);
                if let (Some(since), Some(last)) = (stale, partition.lag.records()) {
                    partition.lag = PartitionLag::Stale { last, since };
                }
                let lag = partition.lag.records();
                let committed = match partition.share {
                    // A share group commits nothing: everything below its start is done.
                    Some(share) => {
                        share.start.map(|start| (start, None)).zip(group.share.as_ref().map(|share| share.at))
                    }
                    None => commits
                        .and_then(|commits| commits.get(&partition.partition))
                        .map(|commit| (commit.offset, commit.committed_at))
                        .zip(seen),
                };
                match committed {
                    Some(((offset, recorded), seen)) => {
                        history.commit(Committed { offset, recorded, seen, lag: lag.unwrap_or(0) });
                    }
                    None => history.uncommitted(seen.unwrap_or(now)),
                }
                // Told once, even where it ends at the end of the log.
                let rewound = history.rewound();
                if let Some(lag) = lag {
                    history.lag(now, lag, news.keep);
                }
                let offset = committed.map(|((offset, _), _)| offset);
                let recorded = committed.and_then(|((_, recorded), _)| recorded);
                let behind = newest.zip(recorded).map(|(newest, recorded)| newest.since(recorded)).unwrap_or_default();
                tell(partition, history, log, offset, rewound, &news);
                partition.control_record =
                    lag == Some(1) && group.kind != GroupKind::Share && !log.grew_within(SHORTEST, now);
                partition.doubtful = match lag {
                    Some(lag) if topic.compacted == Some(true) => lag,
                    _ => u64::from(partition.control_record),
                };
                if offset.is_some() && lag.is_some() && is_left(partition, history, behind, &news) {
                    partition.lag = PartitionLag::Abandoned { behind: lag };
                    partition.doubtful = 0;
                }
                if let Some(backlogged) = partition.owner.and_then(|owner| backlogged.get_mut(owner)) {
                    *backlogged |= history.was_backlogged();
                }
            }
        }
        self.members(partitions, members, &backlogged);
    }

    fn members(&mut self, partitions: &mut [PartitionView], members: &mut [MemberView], backlogged: &[bool]) {
        let mut known = std::mem::take(&mut self.capacity);
        for (member, backlogged) in members.iter_mut().zip(backlogged) {
            let held = || member.partitions.iter().flatten().filter_map(|place| partitions.get(*place));
            let rates = rates(held());
            let alive = held().any(|partition| partition.signs.moves);
            member.time_lag = TimeLag::longest(held().map(|partition| partition.time_lag));
            member.rates = rates;
            // Whoever moves one partition is alive for the others.
            for place in member.partitions.iter().flatten().filter(|_| alive) {
                if let Some(partition) = partitions.get_mut(*place) {
                    partition.signs.alive = true;
                }
            }
            take_turns(&self.topics, member, partitions);
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

/// A consumer reads what one fetch brought to its end before it goes on to the next partition (`max.poll.records` at a
/// time), so that with backlogs it takes its partitions in turn. That one of them has to wait is no standstill, nor does
/// it lag while all together comes closer.
fn take_turns(topics: &BTreeMap<Name, Vec<PartitionHistory>>, member: &MemberView, partitions: &mut [PartitionView]) {
    let held: Vec<usize> =
        member.partitions.iter().flatten().copied().filter(|place| *place < partitions.len()).collect();
    let backlog =
        |partition: &PartitionView| partition.lag.records().is_some_and(|lag| lag > 0) && !partition.rates.in_flight;
    let works: Vec<usize> =
        held.iter().copied().filter(|place| partitions[*place].signs.moves && backlog(&partitions[*place])).collect();
    if works.is_empty() || held.len() < 2 {
        return;
    }
    let history = |place: &usize| {
        let partition = &partitions[*place];
        topics.get(&partition.topic)?.get(usize::try_from(partition.partition).ok()?)
    };
    let behind = held.iter().filter(|place| partitions[**place].lag.records().is_some()).filter_map(history);
    let falls = PartitionHistory::direction_of(&behind.collect::<Vec<_>>()) == Direction::Falling;
    for place in held {
        let others = works.iter().any(|other| *other != place);
        let partition = &mut partitions[place];
        if others && backlog(partition) {
            partition.signs.in_turn = falls;
            partition.signs.patience = partition.signs.patience.max(PATIENCE);
        }
    }
}

/// What the past of a partition and of its log says of it now; `offset`: its commit.
fn tell(
    partition: &mut PartitionView,
    history: &PartitionHistory,
    log: &LogHistory,
    offset: Option<i64>,
    rewound: Option<Rewound>,
    news: &News<'_>,
) {
    let (now, lag) = (news.now, partition.lag.records());
    let consumed = history.consumed();
    let window = consumed.map_or(Duration::ZERO, |rate| rate.window);
    partition.rates = PartitionRates {
        written: log.produced(window).or_else(|| log.produced(Duration::ZERO)),
        consumed,
        in_flight: lag.is_some_and(|lag| history.in_flight(lag)),
        two_steps: history.two_steps(),
    };
    partition.time_lag = match (lag, offset) {
        (Some(0), _) => TimeLag::None,
        (Some(_), Some(offset)) => log.time_lag(offset, now, news.interval),
        _ => TimeLag::Unknown,
    };
    partition.open_transaction = log.open_transaction(news.interval);
    partition.open_for = if partition.open_transaction > 0 { log.open_for(now, news.interval) } else { TimeLag::None };
    partition.direction = history.direction();
    let patience = history.patience();
    let alone = partition.share.is_none() && history.moved_unheld(if news.simple() { 1 } else { 2 }, news.interval);
    partition.signs = CommitSigns {
        watched: history.watched(now),
        silent: history.silent(now, partition.time_lag),
        patience,
        moves: history.moved_within(patience, now),
        alive: history.repeated_within(patience, now),
        unheld: alone && history.moved_within(patience, now),
        alone,
        in_turn: false,
        arrives: log.grew_within(ARRIVES, now),
        rewound,
        time_to_loss: offset.and_then(|offset| log.time_to_loss(offset, consumed.map_or(0.0, |rate| rate.per_second))),
    };
}

/// Whether nobody subscribes to the topic any more, and nothing was committed here for long: as was watched, or because
/// the newest commit of the group was recorded so much later (`behind`).
fn is_left(partition: &PartitionView, history: &PartitionHistory, behind: Duration, news: &News<'_>) -> bool {
    let (now, long) = (news.now, news.abandoned_after);
    let left = partition.subscribed == Some(false) && partition.owner.is_none();
    left && (behind >= long || (!history.moved_within(long, now) && history.watched(now) >= long))
}

/// The rates of all of them, as far as they are known.
pub fn rates<'a>(partitions: impl Iterator<Item = &'a PartitionView> + Clone) -> Rates {
    Rates {
        written: Rate::sum(partitions.clone().map(|partition| partition.rates.written)),
        consumed: Rate::sum(partitions.map(|partition| partition.rates.consumed)),
    }
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
