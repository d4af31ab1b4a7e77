//! The exact time lag: one record at each commit that has lag, read once, when everything else is known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Poller;
use super::answer::{Answer, Call};
use crate::collector::causes::{Cause, explain, is_denied};
use crate::collector::wall_now;
use crate::frame::order::Isolation;
use crate::kafka::{self, Place, Probed, Spec};
use crate::model::{Column, Name, Probes, Scope, Wall};

/// Partitions of groups at most.
const MOST: usize = 2000;
/// How long the reading takes at most.
const DEADLINE: Duration = Duration::from_secs(5);
/// What a poll waits for it: the client has to end, too.
pub const PATIENCE: Duration = Duration::from_secs(7);

/// What is missing where a record could not be read.
const RECORD: &str = "record at the commit (exact time lag)";

/// How far the probe is.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Nobody asked for it, or it is done.
    #[default]
    Over,
    Wanted,
    Reading,
}

/// What was read, and what it is of.
pub struct ProbeAnswer {
    at: Wall,
    /// By place: the groups whose commit it is.
    groups: BTreeMap<Place, Vec<Name>>,
    /// Beyond the limit.
    left_out: usize,
    probed: Probed,
    failure: Option<Name>,
}

impl Poller {
    /// Reads the records at the commits, if that was asked for and all the rest is known.
    pub(super) fn ask_probe(&mut self) {
        if self.probe != Stage::Wanted || !self.facts_are_seen() {
            return;
        }
        self.probe = Stage::Reading;
        let (groups, left_out) = self.lagging();
        let properties = self.tail.settings.properties.clone();
        let read_committed = self.tail.settings.isolation == Isolation::ReadCommitted;
        self.ask(Call::Probe, async move {
            let at = wall_now();
            let places: Vec<Place> = groups.keys().cloned().collect();
            let read = move || kafka::probe(&properties, &places, read_committed, DEADLINE);
            let (probed, failure) = match tokio::task::spawn_blocking(read).await {
                Ok(Ok(probed)) => (probed, None),
                Ok(Err(error)) => (Probed::new(), Some(Name::from(error.to_string()))),
                Err(error) => (Probed::new(), Some(Name::from(error.to_string()))),
            };
            Answer::Probe(Box::new(ProbeAnswer { at, groups, left_out, probed, failure }))
        });
    }

    /// Where the commits with lag are, and how many are beyond the limit.
    fn lagging(&self) -> (BTreeMap<Place, Vec<Name>>, usize) {
        let mut places: BTreeMap<Place, Vec<Name>> = BTreeMap::new();
        let (mut count, mut left_out) = (0, 0);
        for group in self.tracked.keys() {
            let commits = self.newest(|facts| facts.groups.get(group)?.commits.as_ref());
            for (topic, commits) in commits.into_iter().flat_map(|commits| &commits.topics) {
                let (starts, ends) = (self.column(topic, Spec::Earliest), self.column(topic, Spec::Latest));
                let led = |partition: i32| {
                    let known = self.metadata.topics.get(topic)?.get(usize::try_from(partition).ok()?)?;
                    known.leader
                };
                for (partition, commit) in commits {
                    let offset = |column: Option<&Column>| Some(column?.get(*partition)?.0);
                    let Some(end) = offset(ends).filter(|_| led(*partition).is_some()) else { continue };
                    // What is before the log's start is lost.
                    let from = offset(starts).map_or(commit.offset, |start| start.max(commit.offset));
                    if from >= end {
                        continue;
                    }
                    if count == MOST {
                        left_out += 1;
                        continue;
                    }
                    count += 1;
                    places.entry((topic.clone(), *partition, from)).or_default().push(group.clone());
                }
            }
        }
        (places, left_out)
    }

    pub(super) fn take_probe(&mut self, answer: ProbeAnswer) {
        let ProbeAnswer { at, groups, left_out, probed, failure } = answer;
        self.probe = Stage::Over;
        let now = self.clock.now();
        let mut probes: BTreeMap<Name, Probes> =
            self.tracked.keys().map(|name| (name.clone(), Probes { at, ..Probes::default() })).collect();
        let mut failed = BTreeMap::new();
        let mut late = BTreeSet::new();
        for (place, groups) in groups {
            match probed.get(&place) {
                Some(Ok(probe)) => {
                    for group in groups {
                        if let Some(probes) = probes.get_mut(&group) {
                            probes.topics.entry(place.0.clone()).or_default().insert(place.1, *probe);
                        }
                    }
                }
                Some(Err(error)) => _ = failed.insert(place.0, error.clone()),
                None => _ = late.insert(place),
            }
        }
        for (topic, error) in failed {
            let scope = Scope::Topic(topic.clone());
            let mut cause = explain(&scope, &error);
            if is_denied(&error) {
                cause.text = Name::new("not authorized to read the topic");
                cause.remedy = Some(format!("needs READ on topic {topic}"));
            }
            self.problems.set(scope, RECORD, cause, now);
        }
        let text = match failure {
            Some(failure) => Some(failure.raw().to_owned()),
            None if left_out > 0 => Some(format!("{left_out} partitions with lag are beyond the limit of {MOST}")),
            None if late.is_empty() => None,
            None => Some(format!("{} partitions did not answer within {} s", late.len(), DEADLINE.as_secs())),
        };
        if let Some(text) = text {
            let remedy = (left_out > 0).then(|| "select fewer groups or topics".to_owned());
            let cause = Cause { text: Name::from(text), remedy, lasting: false };
            self.problems.set(Scope::Cluster, RECORD, cause, now);
        }
        for (name, probes) in probes {
            self.news_of(&name).probes = Some(probes);
        }
    }
}
