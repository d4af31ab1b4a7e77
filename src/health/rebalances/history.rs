//! The histories of all groups, and one feed of what happened in any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::frequency::{Frequency, HOUR, Storm};
use super::group::{GroupHistory, KEPT, Missing, Seen};
use super::polled::Poll;
use super::rebalance::{Happened, Happening, Ongoing, Rebalance};
use crate::model::{At, Event, Evidence, GroupDefaults, Name, Wall};

/// Lines of the feed.
const FEED: usize = 1000;
/// Deleted groups of which the past is kept, in case the name comes back.
const DELETED: usize = 1000;
/// A coordinator's clock that is so much ahead is worth a mark.
const SKEW: Duration = Duration::from_secs(1);

/// Place of a line in the feed: by time, then by place in the log. Times of different coordinators are of different
/// clocks; they order lines for people, and decide nothing.
type Place = (Wall, Option<(i32, i64)>, u8, Name, Option<Name>);

/// What is known of the past of every group.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The newest offset of each partition of the coordinator log.
    positions: BTreeMap<i32, i64>,
    /// The latest event of each: its time, then its offset.
    latest: BTreeMap<i32, (Wall, i64)>,
    /// Of partitions that were found to have gone back: up to where others had been told before.
    anew: BTreeMap<i32, i64>,
    groups: BTreeMap<Name, GroupHistory>,
    defaults: GroupDefaults,
    feed: BTreeMap<Place, Arc<Happening>>,
    /// Groups that something happened to since they were last asked about.
    changed: BTreeSet<Name>,
    /// The newest first, as of the last time it was asked for.
    shown: Arc<Vec<Arc<Happening>>>,
    stale: bool,
}

/// A group's past as of a moment, for a view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Seen by polling ([`Evidence::Admin`]), or told by the log.
    pub evidence: Evidence,
    pub frequency: Frequency,
    /// The counts of the last 5 minutes and the last hour are lower bounds: seen by polling, or the history does not
    /// reach back an hour, or the log does not tell now.
    pub lower_bound: bool,
    /// All since `since`.
    pub total: usize,
    /// The group's history began before `since`, or events are missing.
    pub total_lower_bound: bool,
    /// Why events are missing, if they are.
    pub missing: Option<Missing>,
    /// From when on the history is known: the first event or poll that told of the group, or the beginning of what was
    /// read of the log; `None`: nothing tells of it.
    pub since: Option<Wall>,
    /// The coordinator's clock is ahead of ours by so much at least.
    pub clock_ahead: Option<Duration>,
    pub ongoing: Option<Ongoing>,
    /// Newest first, at most 500.
    pub list: Arc<Vec<Arc<Rebalance>>>,
    /// Other events of the group, newest first, at most 100.
    pub side: Arc<Vec<Arc<Happening>>>,
}

impl Summary {
    /// Whether it is another one a moment later although nothing has happened.
    pub fn moves_on(&self) -> bool {
        self.frequency.per_hour > 0
            || self.frequency.not_stable_share.is_some_and(|share| share > 0.0)
            || self.ongoing.is_some()
            || (self.lower_bound && self.evidence == Evidence::Log)
    }
}

/// As of when, and what else is known of the group.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub at: At,
    /// Our own clock; `None`: not known.
    pub wall: Option<Wall>,
    pub storm: Storm,
    /// The log tells of this group.
    pub told_by_log: bool,
    /// How far back the log was read.
    pub reach: Reach,
    /// The log does not tell for now.
    pub gap: bool,
    /// The group is seen at rest by evidence that is newer than the log's.
    pub at_rest: bool,
}

/// How far back the coordinator log was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// It is not read to its end yet, or it was cut.
    #[default]
    Unknown,
    /// Every record since then.
    Since(Wall),
    /// From its first record; what compaction took away is gone.
    Whole,
}

impl History {
    /// What the brokers' configuration says of groups.
    pub fn set_defaults(&mut self, defaults: GroupDefaults) {
        if self.defaults == defaults {
            return;
        }
        self.defaults = defaults;
        let mut out = Vec::new();
        for (name, group) in &mut self.groups {
            group.set_defaults(name, defaults, &mut out);
        }
        self.publish(out);
    }

    /// Takes in an event, unless it was seen before: a new collector tells its part of the log again.
    pub fn event(&mut self, event: &Event, seen: Seen) {
        if !self.is_news(event) {
            return;
        }
        let (partition, offset) = event.log;
        if let Some(newest) = self.positions.insert(partition, offset).filter(|newest| offset <= *newest) {
            let anew = self.anew.entry(partition).or_insert(newest);
            *anew = newest.max(*anew);
            self.miss_latest(partition);
        }
        let latest = self.latest.entry(partition).or_insert((event.wall, offset));
        *latest = (event.wall, offset).max(*latest);
        let group = self.groups.entry(event.group.clone()).or_default();
        if !group.polled.list.is_empty() {
            // From here on the log tells.
            group.polled.list.clear();
            group.polled.total = 0;
            let polled = |line: &Happening| {
                line.log.is_none() && line.group == event.group && matches!(line.what, Happened::Rebalance(_))
            };
            self.feed.retain(|_, line| !polled(line));
            self.stale = true;
        }
        group.defaults = self.defaults;
        let mut out = Vec::new();
        group.fold(event, seen, &mut out);
        self.changed.insert(event.group.clone());
        self.publish(out);
    }

    /// Whether an event was not seen before. One at a place that was told already, and later than everything told of
    /// that partition, is another one: the log went back.
    pub fn is_news(&self, event: &Event) -> bool {
        let (partition, offset) = event.log;
        let Some((newest, (wall, at))) = self.positions.get(&partition).zip(self.latest.get(&partition)) else {
            return true;
        };
        if offset > *newest && self.anew.get(&partition).is_none_or(|anew| offset > *anew) {
            return true;
        }
        // Records of one batch have one time.
        event.wall > *wall || (event.wall == *wall && offset > *newest && offset > *at)
    }

    /// A partition of the log went back to `offset`: what was told from there on is gone, others take the places.
    pub fn cut(&mut self, partition: i32, offset: i64) {
        let Some(newest) = self.positions.get_mut(&partition) else { return };
        *newest = (*newest).min(offset - 1);
        self.anew.remove(&partition);
        self.miss_latest(partition);
    }

    /// Events of a partition of the log are missing up to then: it was not read on from where it was.
    pub fn skipped(&mut self, partition: i32, until: Wall) {
        self.miss(partition, Missing::Skipped, until);
    }

    /// Events of a partition that went back are missing up to the latest that was told.
    fn miss_latest(&mut self, partition: i32) {
        let until = self.latest.get(&partition).map(|(wall, _)| *wall).unwrap_or_default();
        self.miss(partition, Missing::Cut, until);
    }

    fn miss(&mut self, partition: i32, why: Missing, until: Wall) {
        for (name, group) in self.groups.iter_mut().filter(|(_, group)| group.partition == Some(partition)) {
            group.miss(why, until);
            self.changed.insert(name.clone());
        }
    }

    /// Events of these groups were dropped on their way, the newest of them of that time.
    pub fn dropped(&mut self, groups: &[Name], newest: Wall) {
        for name in groups {
            self.groups.entry(name.clone()).or_default().miss(Missing::Dropped, newest);
            self.changed.insert(name.clone());
        }
    }

    /// Takes in what a poll said of a group.
    pub fn poll(&mut self, poll: &Poll<'_>) {
        let group = self.groups.entry(poll.group.clone()).or_default();
        group.defaults = self.defaults;
        let mut out = Vec::new();
        group.poll(poll, &mut out);
        self.publish(out);
    }

    /// A group is no longer listed.
    pub fn gone(&mut self, name: &Name, wall: Option<Wall>) {
        let Some(group) = self.groups.get_mut(name) else { return };
        if group.is_deleted() {
            return;
        }
        let mut out = Vec::new();
        if let Some(wall) = wall.filter(|_| group.since.is_none()) {
            // The log would have told it.
            group.side(Happening { group: name.clone(), wall, log: None, what: Happened::Deleted }, &mut out);
            self.groups.remove(name);
        }
        self.publish(out);
    }

    /// Takes in what was found out about a group otherwise than by an event or a poll's members.
    pub fn add(&mut self, line: Happening) {
        let group = self.groups.entry(line.group.clone()).or_default();
        let mut out = Vec::new();
        group.side(line, &mut out);
        self.publish(out);
    }

    /// Forgets deleted groups of long ago that are not in `there`.
    pub fn tidy(&mut self, there: impl Fn(&Name) -> bool) {
        let deleted = self.groups.iter().filter(|(name, group)| group.is_deleted() && !there(name));
        let mut deleted: Vec<(Option<Wall>, Name)> =
            deleted.map(|(name, group)| (group.newest, name.clone())).collect();
        if deleted.len() <= DELETED {
            return;
        }
        deleted.sort_unstable();
        for (_, name) in deleted.iter().take(deleted.len() - DELETED) {
            self.groups.remove(name);
        }
    }

    fn publish(&mut self, lines: Vec<Happening>) {
        for line in lines {
            self.stale = true;
            self.changed.insert(line.group.clone());
            // What replaces a line has its place.
            let tag = match line.what {
                Happened::Rebalance(_) => 1,
                Happened::StaticRestarted(_) | Happened::StaticAway(_) => 2,
                Happened::Created => 3,
                Happened::CommitsBack { .. } => 4,
                Happened::Deleted | Happened::TypeChanged { .. } => 5,
                Happened::Verdict { .. } => 6,
                Happened::TopicLeft { .. } => 7,
                Happened::Metadata { .. } => 8,
            };
            let who = match &line.what {
                Happened::StaticRestarted(who) => who.as_ref().map(|who| who.id.clone()),
                Happened::StaticAway(who) => Some(who.id.clone()),
                Happened::TopicLeft { topic: what } | Happened::Metadata { subject: what, .. } => Some(what.clone()),
                _ => None,
            };
            self.feed.insert((line.wall, line.log, tag, line.group.clone(), who), Arc::new(line));
            if self.feed.len() > FEED {
                self.feed.pop_first();
            }
        }
    }

    /// What happened in any group, newest first, at most 1000.
    pub fn feed(&mut self) -> Arc<Vec<Arc<Happening>>> {
        if std::mem::take(&mut self.stale) {
            self.shown = Arc::new(self.feed.values().rev().cloned().collect());
        }
        Arc::clone(&self.shown)
    }

    /// Groups that something happened to since the last call.
    pub fn take_changed(&mut self) -> BTreeSet<Name> {
        std::mem::take(&mut self.changed)
    }

    /// A group's past as of a moment. What `before` has and is still true is shared.
    pub fn summary(&self, name: &Name, asked: Asked, before: &Summary) -> Summary {
        let Some(group) = self.groups.get(name) else { return Summary::default() };
        let by_log = asked.told_by_log || group.since.is_some();
        let first = group.since.or(group.polled.since);
        let since = match asked.reach {
            Reach::Since(read) if by_log => Some(first.map_or(read, |first| first.min(read))),
            _ => first,
        };
        let newest = if by_log { group.newest } else { None };
        let now = asked.wall.max(newest).unwrap_or_default();
        let ahead = asked.wall.zip(newest).map(|(wall, newest)| newest.since(wall));
        let (list, total) = if by_log { (&group.list, group.total) } else { (&group.polled.list, group.polled.total) };
        let ongoing = if asked.at_rest { None } else { group.ongoing(asked.at, now) };
        let lasting = ongoing.as_ref().map(|ongoing| now.minus(ongoing.lasting));
        let frequency =
            Frequency::of(list.iter().map(|rebalance| &**rebalance), lasting, now, since.unwrap_or(now), asked.storm);
        let from_the_beginning = by_log && (group.complete || asked.reach == Reach::Whole);
        let reaches_back = from_the_beginning || since.is_some_and(|since| now.since(since) >= HOUR);
        let missing = group.missing.filter(|_| by_log);
        let missing_lately = missing.is_some_and(|(_, until)| now.since(until) < HOUR);
        let overflown = list.len() == KEPT && list.front().is_some_and(|oldest| now.since(oldest.began) < HOUR);
        Summary {
            evidence: if by_log { Evidence::Log } else { Evidence::Admin },
            frequency,
            lower_bound: !by_log || asked.gap || !reaches_back || overflown || missing_lately,
            total,
            total_lower_bound: !by_log || !group.complete || missing.is_some(),
            missing: missing.map(|(why, _)| why),
            since,
            clock_ahead: ahead.filter(|ahead| *ahead >= SKEW),
            ongoing,
            list: shared(&before.list, list.iter().rev()),
            side: shared(&before.side, group.side.iter().rev()),
        }
    }
}

/// The list as it was, if it still is.
fn shared<'a, T: 'a>(
    before: &Arc<Vec<Arc<T>>>,
    now: impl ExactSizeIterator<Item = &'a Arc<T>> + Clone,
) -> Arc<Vec<Arc<T>>> {
    let same = before.len() == now.len() && before.iter().zip(now.clone()).all(|(a, b)| Arc::ptr_eq(a, b));
    if same { Arc::clone(before) } else { Arc::new(now.cloned().collect()) }
}

impl GroupHistory {
    /// The rebalance that is under way.
    fn ongoing(&self, at: At, now: Wall) -> Option<Ongoing> {
        if let Some((begun, lasting)) = self.draft.begun.zip(self.draft.lasting(now)) {
            return Some(Ongoing {
                began: Some(begun.wall),
                lasting,
                at_least: !self.members_known,
                from: Some(begun.from),
                to: self.epoch,
                bumps: self.draft.bumps,
                causes: self.draft.causes.clone(),
                joined: self.draft.joined.clone(),
                gone: self.draft.gone.clone(),
                waits_for: self.waits_for(),
            });
        }
        let (first, at_least) = self.polled.rebalancing()?;
        // The epochs say that it is over.
        if self.epoch.is_some() && self.assignment_epoch == self.epoch {
            return None;
        }
        Some(Ongoing { lasting: at.since(first), at_least, from: self.generation, ..Ongoing::default() })
    }
}
