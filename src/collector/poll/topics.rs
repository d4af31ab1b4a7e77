//! Topics and brokers: leaders from plain Metadata, ids and racks from the calls that need a controller, remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::answer::{Answer, Call};
use super::{METADATA_EVERY, Poller, TOPICS_EVERY};
use crate::kafka::{CallError, TopicAnswer};
use crate::model::{Broker, Cluster, Group, Name, Presence, Scope, Topic};

impl Poller {
    /// The topics that some selected group commits to, owns, shall own or subscribes to.
    pub(super) fn topics_of_groups(&self) -> BTreeSet<Name> {
        self.topics_of(self.tracked.keys())
    }

    /// The same of these groups.
    pub(super) fn topics_of<'a>(&self, groups: impl Iterator<Item = &'a Name>) -> BTreeSet<Name> {
        let facts = groups.flat_map(|name| [self.known.groups.get(name), self.news.groups.get(name)]);
        let topics = facts.flatten().flat_map(topics_of);
        topics.filter(|topic| self.selection.topic(topic)).cloned().collect()
    }

    /// … and those that were named.
    pub(super) fn topics_of_interest(&self) -> BTreeSet<Name> {
        let mut topics = self.topics_of_groups();
        topics.extend(self.tail.settings.named_topics.iter().cloned());
        topics
    }

    /// Asks the ids of topics, and whether those that Metadata leaves out are gone or hidden.
    pub(super) fn ask_topics(&mut self) {
        let topics = self.topics_of_interest();
        let unknown = |topic: &Name| {
            let listed = self.metadata.topics.get(topic);
            let described = self.described.get(topic);
            match (listed, described) {
                (_, None) => true,
                // Appeared, vanished, or changed its number of partitions: a new id may be behind it.
                (Some(partitions), Some(known)) => {
                    known.presence != Presence::Present || known.partitions.len() != partitions.len()
                }
                (None, Some(known)) => known.presence == Presence::Present,
            }
        };
        let news = topics.iter().any(unknown);
        let every = if news { std::time::Duration::ZERO } else { TOPICS_EVERY };
        if topics.is_empty() || !self.due(&Call::Topics, every) {
            return;
        }
        let asked: Vec<Name> = if self.due(&Call::Topics, TOPICS_EVERY) {
            topics.into_iter().collect()
        } else {
            topics.into_iter().filter(unknown).collect()
        };
        let admin = Arc::clone(&self.admin);
        self.ask(Call::Topics, async move {
            let answer = admin.describe_topics(&asked).await;
            Answer::Topics(asked, answer)
        });
    }

    pub(super) fn take_topics(&mut self, asked: &[Name], answer: Result<BTreeMap<Name, TopicAnswer>, CallError>) {
        let now = self.clock.now();
        let answers = match answer {
            Ok(answers) => answers,
            Err(error) => return self.cluster_fact_failed(&Call::Topics, "topic ids", &error),
        };
        self.problems.cleared(Scope::Cluster, "topic ids");
        for name in asked {
            let scope = Scope::Topic(name.clone());
            let mut presence_only = |presence| {
                self.described.insert(name.clone(), Topic { observed_at: now, presence, ..Topic::default() });
            };
            match answers.get(name) {
                Some(TopicAnswer::Described(topic)) => {
                    if self.described.get(name).is_some_and(|known| known.id != topic.id) {
                        self.configured.forget(name);
                    }
                    self.described.insert(name.clone(), Topic { observed_at: now, ..(**topic).clone() });
                    self.problems.cleared(scope, "topic");
                }
                Some(TopicAnswer::Gone) => {
                    presence_only(Presence::Gone);
                    self.problems.cleared(scope, "topic");
                }
                Some(TopicAnswer::Denied) => {
                    presence_only(Presence::Denied);
                    let denied = CallError::Code { code: 29, text: Name::default() };
                    self.problems.failed(scope, "topic", &denied, now);
                }
                Some(TopicAnswer::Failed(error)) => self.problems.failed(scope, "topic", error, now),
                None => {}
            }
        }
        self.learn_ids();
    }

    /// Brings the topics of interest up to date: leaders from the newest Metadata, the rest as described.
    pub(super) fn merge_topics(&mut self) {
        let fresh_metadata = self.asked.get(&Call::Metadata).is_some_and(|at| at.elapsed() < 2 * METADATA_EVERY);
        for name in self.topics_of_interest() {
            let described = self.described.get(&name);
            let topic = match self.metadata.topics.get(&name) {
                Some(partitions) => Topic {
                    observed_at: self.clock.now(),
                    presence: Presence::Present,
                    id: described.and_then(|topic| topic.id),
                    partitions: partitions.clone(),
                    compacted: self.configured.compacted.get(&name).copied(),
                },
                None if fresh_metadata => match described {
                    Some(topic) => topic.clone(),
                    None => continue,
                },
                None => continue,
            };
            let known = self.known.topics.get(&name);
            let same = |known: &Topic| Topic { observed_at: topic.observed_at, ..known.clone() } == topic;
            if !known.is_some_and(same) {
                self.news.topics.insert(name, topic);
            }
        }
    }

    /// Merges who is up (plain Metadata) with racks and controller (DescribeCluster).
    pub(super) fn merge_cluster(&mut self, described: Option<Cluster>) {
        let told: BTreeSet<i32> = described.iter().flat_map(|cluster| cluster.brokers.keys().copied()).collect();
        let mut cluster = described.unwrap_or_else(|| self.cluster.clone());
        cluster.id = cluster.id.or_else(|| self.cluster.id.clone());
        // A broker that was away may come back with another rack.
        self.racked.retain(|id| self.metadata.brokers.contains_key(id));
        self.racked.extend(&told);
        if self.metadata.brokers.keys().any(|id| !self.racked.contains(id)) {
            self.asked.remove(&Call::Cluster);
        }
        let up = self.metadata.brokers.iter().map(|(id, (host, port))| {
            // What was told just now counts, also that a broker has no rack any more.
            let known = if told.contains(id) { &cluster } else { &self.cluster };
            let rack = known.brokers.get(id).and_then(|broker| broker.rack.clone());
            let rack_pending = !self.racked.contains(id);
            (*id, Broker { host: host.clone(), port: *port, rack, rack_pending })
        });
        let up: BTreeMap<i32, Broker> = up.collect();
        // Racks of brokers that are down stay remembered for when they come back.
        let mut remembered = self.cluster.brokers.clone();
        remembered.extend(cluster.brokers.clone());
        remembered.extend(up.clone());
        self.cluster = Cluster { brokers: remembered, ..cluster.clone() };
        if !up.is_empty() {
            cluster.brokers = up;
        }
        cluster.group_defaults = self.configured.defaults;
        cluster.observed_at = self.clock.now();
        let same = |known: &Cluster| Cluster { observed_at: cluster.observed_at, ..known.clone() } == cluster;
        if !self.known.cluster.as_ref().is_some_and(same) {
            self.news.cluster = Some(cluster);
        }
    }
}

/// The topics that a group commits to, owns, shall own or subscribes to.
pub(super) fn topics_of(group: &Group) -> impl Iterator<Item = &Name> {
    let committed = group.commits.iter().flat_map(|commits| commits.topics.keys());
    let shared = group.share.iter().flat_map(|share| share.topics.keys());
    let required = group.description.iter().flat_map(|description| description.topology_topics.iter().flatten());
    let members = group.description.iter().flat_map(|description| &description.members);
    let held = members.flat_map(|member| {
        let assigned = member.assignment.iter().chain(&member.target).flat_map(|topics| topics.keys());
        assigned.chain(member.subscription.iter().flatten())
    });
    committed.chain(shared).chain(required).chain(held)
}
