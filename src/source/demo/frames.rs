//! The frames of a simulated cluster: what a collector would write that polls it. Pure; time is an argument.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::cast::CLUSTER;
use super::simulation::Simulation;
use super::{Options, Selected};
use crate::frame::{FORMAT, Frame, Hello, Stamped};
use crate::model::{At, Cluster, Group, Name, Progress, Scope, Snapshot, Topic, TopicOffsets, Wall, millis};

/// As the live collector does it.
const FULL_EVERY: Duration = Duration::from_secs(300);
const LISTING_EVERY: Duration = Duration::from_secs(10);
const STARTS_EVERY: Duration = Duration::from_secs(30);

/// A simulated cluster under observation.
pub struct Frames {
    simulation: Simulation,
    groups: Option<Selected>,
    topics: Option<Selected>,
    /// Poll interval in milliseconds, as the frames tell it.
    pub interval_ms: u64,
    /// Everything told so far.
    known: Snapshot,
    at: At,
    polls: u64,
    last_full: Option<At>,
}

impl Frames {
    pub fn new(options: Options) -> Self {
        Self {
            simulation: Simulation::new(options.seed),
            groups: options.groups,
            topics: options.topics,
            interval_ms: millis(options.interval),
            known: Snapshot::default(),
            at: At::default(),
            polls: 0,
            last_full: None,
        }
    }

    /// The first frame; `started` is the wall clock at time 0.
    pub fn hello(started: Wall) -> Frame {
        Frame::Hello(Hello {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            cluster: Name::new(CLUSTER),
            simulated: true,
        })
    }

    /// The frame of a poll at `at`, which must not be earlier than the last: full at first and every 5 minutes,
    /// otherwise what changed.
    pub fn poll(&mut self, at: At) -> Frame {
        self.simulation.advance(at.since(self.at));
        self.at = self.at.max(at);
        let mut news = news(&self.known, self.selected(self.simulation.snapshot(self.at)));
        self.polls += 1;
        news.progress = Some(Progress {
            polls: self.polls,
            all_seen: true,
            interval_ms: self.interval_ms,
            took_ms: 0,
            ..Progress::default()
        });
        self.known.apply(news.clone());
        if self.last_full.is_none_or(|last| self.at.since(last) >= FULL_EVERY) {
            self.last_full = Some(self.at);
            return Frame::Full(Stamped { at: self.at, body: self.known.clone() });
        }
        Frame::Partial(Stamped { at: self.at, body: news })
    }

    /// The selected groups, and the selected ones of their topics.
    fn selected(&self, mut seen: Snapshot) -> Snapshot {
        let has = |selected: &Option<Selected>, name: &Name| selected.as_ref().is_none_or(|selected| selected(name));
        seen.groups.retain(|name, _| has(&self.groups, name));
        if let Some(problems) = &mut seen.problems {
            problems.retain(|problem| !matches!(&problem.scope, Scope::Group(name) if !has(&self.groups, name)));
        }
        let committed = seen.groups.values().filter_map(|group| group.commits.as_ref());
        let read: BTreeSet<Name> = committed.flat_map(|commits| commits.topics.keys().cloned()).collect();
        seen.topics.retain(|name, _| read.contains(name) && has(&self.topics, name));
        seen.offsets.retain(|name, _| read.contains(name) && has(&self.topics, name));
        seen
    }
}

/// What of `seen` a collector would tell that has told `known`.
fn news(known: &Snapshot, seen: Snapshot) -> Snapshot {
    let listed = known.listing.zip(seen.listing);
    let is_listing_due = listed.is_none_or(|(last, now)| now.observed_at.since(last.observed_at) >= LISTING_EVERY);
    let is_cluster_new = |now: &Cluster| {
        let same = |known: &Cluster| Cluster { observed_at: now.observed_at, ..known.clone() } == *now;
        !known.cluster.as_ref().is_some_and(same)
    };
    let is_topic_new = |name: &Name, now: &Topic| {
        let same = |known: &Topic| Topic { observed_at: now.observed_at, ..known.clone() } == *now;
        !known.topics.get(name).is_some_and(same)
    };
    let offsets = |(name, now): (Name, TopicOffsets)| {
        let told = known.offsets.get(&name).and_then(|known| known.start.as_ref());
        let is_due = |start: &crate::model::Column| told.is_none_or(|told| start.at.since(told.at) >= STARTS_EVERY);
        (name, TopicOffsets { start: now.start.filter(is_due), ..now })
    };
    let group = |(name, now): (Name, Group)| {
        let told = known.groups.get(&name);
        let group = Group {
            listed_state: now.listed_state.filter(|_| is_listing_due),
            description: now.description.filter(|now| told.and_then(|told| told.description.as_ref()) != Some(now)),
            commits: now.commits.filter(|now| told.and_then(|told| told.commits.as_ref()) != Some(now)),
            ..now
        };
        (name, group)
    };
    Snapshot {
        cluster: seen.cluster.filter(is_cluster_new),
        listing: seen.listing.filter(|_| is_listing_due),
        topics: seen.topics.into_iter().filter(|(name, topic)| is_topic_new(name, topic)).collect(),
        offsets: seen.offsets.into_iter().map(offsets).collect(),
        groups: seen.groups.into_iter().map(group).collect::<BTreeMap<_, _>>(),
        problems: seen.problems.filter(|now| known.problems.as_ref() != Some(now)),
        ..Snapshot::default()
    }
}
