//! The monitor: folds frames into a [`View`]. Pure: time is the frames' own, so a replay gives the same view.

mod events;
mod group;
mod logs;
pub mod metadata;
pub mod plan;
mod progress;
mod rebalances;
mod verdicts;
pub mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::assign::Assignor;
use crate::frame::{Frame, Gap, Level, Stamped};
use crate::health::rebalances::{History, Reach, Seen, Storm};
use crate::health::{Rules, Samples};
use crate::model::{At, Name, Snapshot};
use group::Around;
use view::{Feed, GroupView, View};

pub use plan::{Question, QuestionError, Reset, what_if};

/// What the person wants the view to be like.
#[derive(Debug, Clone)]
pub struct Preferences {
    /// What a partition without a commit counts for in a plan.
    pub reset: Reset,
    /// Whose plan stands beside the current assignment.
    pub assignor: Assignor,
    /// How many rebalances are a storm.
    pub storm: Storm,
    /// From when on a group lags.
    pub thresholds: Rules,
    /// How far back the history of lags, ends and commits reaches.
    pub keep: Duration,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            reset: Reset::default(),
            assignor: Assignor::default(),
            storm: Storm::default(),
            thresholds: Rules::default(),
            keep: KEEP,
        }
    }
}

/// How far back the history reaches unless the person says otherwise.
pub const KEEP: Duration = Duration::from_secs(3600);

/// Folds frames into views.
#[derive(Debug, Default)]
pub struct Monitor {
    preferences: Preferences,
    facts: Snapshot,
    memory: BTreeMap<Name, Memory>,
    logs: logs::Logs,
    history: History,
    watch: metadata::Watch,
    /// How far back the coordinator log was read when it was first read to its end.
    reach: Reach,
    /// Finished polls, and when the last of them was told, and the one before.
    polls: Polls,
    view: View,
}

/// When polls were told: what did not change has been the same up to the one before the newest.
#[derive(Debug, Clone, Copy, Default)]
struct Polls {
    count: u64,
    newest: Option<At>,
    before: Option<At>,
}

/// What is remembered of a group between snapshots.
#[derive(Debug, Default)]
struct Memory {
    /// Total lag, and over how many partitions.
    lags: Samples,
    summed: usize,
    /// When the description was last looked at for rebalances.
    polled: Option<At>,
    /// Commits that were past the end in the last poll: offset and the end's time, by topic and partition.
    past_end: BTreeMap<(Name, i32), PastEnd>,
    progress: progress::Memory,
    events: events::Memory,
    /// The last plan and what it was made of: the same facts need no new one.
    planned: Option<(Arc<plan::Basis>, plan::Answered, Option<plan::Answer>)>,
}

/// A commit that is ahead of the end of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PastEnd {
    commit: i64,
    /// When the end was first read that the commit is ahead of.
    end_read: At,
    /// It was ahead of a later read end, too.
    confirmed: bool,
}

impl Polls {
    fn told(&mut self, count: u64, at: At) {
        if count != self.count {
            *self = Self { count, newest: Some(at), before: self.newest };
        }
    }

    /// What is told at `at` was otherwise at least up to then.
    fn unchanged_until(self, at: At) -> Option<At> {
        if self.newest == Some(at) { self.before } else { self.newest }
    }
}

impl Monitor {
    pub fn new(preferences: Preferences) -> Self {
        let view = View { assignor: preferences.assignor, ..View::default() };
        Self { preferences, view, ..Self::default() }
    }

    /// The view as of the newest frame.
    pub fn view(&self) -> View {
        self.view.clone()
    }

    /// Takes in one frame.
    pub fn fold(&mut self, frame: Frame) {
        match frame {
            Frame::Hello(hello) => {
                if self.view.started.is_none() {
                    self.view.started = Some(hello.started);
                }
                self.view.cluster.name = hello.cluster;
                self.view.cluster.simulated = hello.simulated;
            }
            Frame::Full(Stamped { at, body }) => {
                self.facts = Snapshot::default();
                self.facts.apply(body);
                let all = self.facts.groups.keys().chain(self.memory.keys()).cloned().collect();
                self.logs.take(&self.facts, self.facts.topics.keys(), self.preferences.keep);
                self.logs.tidy(&self.facts);
                self.refresh(at, &all, None);
            }
            Frame::Partial(Stamped { at, body }) => {
                let touched = self.touched(&body);
                let topics: BTreeSet<Name> = body.topics.keys().cloned().collect();
                let read: BTreeSet<Name> = body.offsets.keys().chain(&topics).cloned().collect();
                self.facts.apply(body);
                self.logs.take(&self.facts, &read, self.preferences.keep);
                self.refresh(at, &touched, Some(&topics));
            }
            // Shown with the next snapshot: while a history is read there are thousands a second.
            Frame::Event(Stamped { at, body }) => {
                let wall = self.view.wall(at);
                if self.history.is_news(&body) {
                    self.watch.event(&body, at, wall);
                }
                self.history.event(&body, Seen { at, wall });
            }
            Frame::Note(Stamped { body, .. }) => {
                match body.gap {
                    Some(Gap::Dropped { groups, newest }) => self.history.dropped(&groups, newest),
                    Some(Gap::Cut { partition, offset }) => self.history.cut(partition, offset),
                    Some(Gap::Skipped { partition, until }) => {
                        self.history.skipped(partition, until);
                        // How far back it was read counts from the new beginning.
                        (self.reach, self.facts.log) = (Reach::Unknown, None);
                    }
                    None => {}
                }
                match body.level {
                    Level::Fatal => self.view.feed = Feed::Failed { cause: body.text },
                    Level::Warning => tracing::warn!("{}", body.text),
                    Level::Info => tracing::info!("{}", body.text),
                }
            }
        }
    }

    /// The source is gone for now.
    pub fn interrupted(&mut self, at: At, cause: Name) {
        let since = if let Feed::Stale { since, .. } = self.view.feed { since } else { at };
        self.view.now = self.view.now.max(at);
        self.view.feed = Feed::Stale { since, cause };
    }

    /// The source has come to its end: a recording, or a failure that will not pass.
    pub fn ended(&mut self, failure: Option<Name>) {
        self.refresh(self.view.now, &BTreeSet::new(), Some(&BTreeSet::new()));
        match failure {
            Some(cause) => self.view.feed = Feed::Failed { cause },
            None if !matches!(self.view.feed, Feed::Failed { .. }) => self.view.feed = Feed::Ended,
            None => {}
        }
    }

    /// Commits that were ahead of their log's end once: another poll tells whether that lasts.
    pub fn unconfirmed_past_end(&self) -> bool {
        self.memory.values().any(|memory| memory.past_end.values().any(|past| !past.confirmed))
    }

    /// The groups that a partial snapshot says something new of.
    fn touched(&self, news: &Snapshot) -> BTreeSet<Name> {
        let mut touched: BTreeSet<Name> = news.groups.keys().chain(&news.gone_groups).cloned().collect();
        let topics: BTreeSet<&Name> = news.topics.keys().chain(news.offsets.keys()).collect();
        if !topics.is_empty() || news.problems.is_some() {
            let reads = |group: &GroupView| group.partitions.iter().any(|partition| topics.contains(&partition.topic));
            let groups = self.view.groups.iter().filter(|group| news.problems.is_some() || reads(group));
            touched.extend(groups.map(|group| group.id.clone()));
        }
        touched
    }

    /// `topics`: those that may have changed; `None`: any.
    fn refresh(&mut self, at: At, touched: &BTreeSet<Name>, topics: Option<&BTreeSet<Name>>) {
        self.view.now = at;
        let facts = &self.facts;
        if let Some(cluster) = &facts.cluster {
            self.view.cluster.id.clone_from(&cluster.id);
            self.view.cluster.controller = cluster.controller;
            self.view.cluster.brokers = Some(cluster.brokers.len());
            self.history.set_defaults(cluster.group_defaults);
        }
        self.view.listing = facts.listing;
        self.view.progress = facts.progress.unwrap_or_default();
        self.view.log.clone_from(&facts.log);
        self.polls.told(self.view.progress.polls, at);
        self.view.problems = Arc::new(facts.problems.clone().unwrap_or_default());
        if facts.listing.is_some() {
            self.view.feed = Feed::Live;
        }
        let look = metadata::Look { at, wall: self.view.wall(at), topics, groups: touched };
        let reshown = self.watch.look(facts, look);
        let told = self.view.metadata_feed.first().map_or(0, |line| line.change.number);
        self.view.metadata_feed = self.watch.feed();
        events::metadata(&self.view.metadata_feed, told).for_each(|line| self.history.add(line));
        self.view.topics = Arc::clone(self.watch.topics());
        let mut groups: BTreeMap<Name, Arc<GroupView>> =
            self.view.groups.drain(..).map(|group| (group.id.clone(), group)).collect();
        for name in touched {
            if let Some(group) = facts.groups.get(name) {
                let memory = self.memory.entry(name.clone()).or_default();
                let rebalance = progress::rebalance_time(groups.get(name).map(|group| &**group));
                let around = Around { facts, logs: &self.logs, now: at, rebalance, preferences: &self.preferences };
                let mut view = group::build(name, group, memory, &around);
                if let Some(poll) = rebalances::poll(group, &view, memory, self.polls, at, self.view.started) {
                    self.history.poll(&poll);
                }
                if let Some(before) = groups.get(name) {
                    view.rebalances = before.rebalances.clone();
                }
                view.metadata = self.watch.of(name).cloned().unwrap_or_default();
                groups.insert(name.clone(), Arc::new(view));
            } else {
                if groups.remove(name).is_some() {
                    self.history.gone(name, self.view.wall(at));
                }
                self.memory.remove(name);
            }
        }
        if let (Reach::Unknown, Some(log)) = (self.reach, &facts.log) {
            self.reach = rebalances::reach(log, self.view.started);
        }
        let (wall, storm) = (self.view.wall(at), self.preferences.storm);
        let thresholds = &self.preferences.thresholds;
        let changed = self.history.take_changed();
        for (name, group) in &mut groups {
            if reshown.contains(name) && !touched.contains(name) {
                Arc::make_mut(group).metadata = self.watch.of(name).cloned().unwrap_or_default();
            }
            if touched.contains(name) || changed.contains(name) || group.rebalances.moves_on() {
                let summary = rebalances::summary(&self.history, group, at, wall, self.reach, storm);
                if summary != group.rebalances || touched.contains(name) {
                    let group = Arc::make_mut(group);
                    group.rebalances = summary;
                    verdicts::judge_all(group, at, storm, thresholds.of(name));
                    let described = facts.groups.get(name).and_then(|group| group.description.as_ref());
                    if let (Some(memory), Some(started)) = (self.memory.get_mut(name), self.view.started) {
                        memory.events.look(group, described, at, started).for_each(|line| self.history.add(line));
                    }
                }
            }
        }
        self.view.groups = groups.into_values().collect();
        self.history.tidy(|name| self.facts.groups.contains_key(name));
        self.view.events = self.history.feed();
    }
}

/// An end that was read longer ago than this is stale: some polls were missed.
fn freshness(facts: &Snapshot) -> Duration {
    let interval = facts.progress.map_or(0, |progress| progress.interval_ms);
    Duration::from_millis(3 * interval) + Duration::from_secs(5)
}

#[cfg(test)]
mod tests;
