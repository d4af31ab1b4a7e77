//! Configurations: whether topics are compacted, and the brokers' session timeouts for groups that have none of their
//! own. They change seldom, and little is lost with them: a missing right is one line among the problems of the cluster,
//! and says nothing against a group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;

use super::Poller;
use super::answer::{Answer, Call};
use crate::collector::causes::{Cause, is_denied};
use crate::kafka::{CallError, Configs, Resource};
use crate::model::figures::and_more;
use crate::model::{GroupDefaults, Name, Scope};

const EVERY: Duration = Duration::from_secs(600);
/// After a call that nobody answered, which the brokers' other answers tell of.
const AGAIN: Duration = Duration::from_secs(60);
/// Topics in a call: librdkafka's DescribeConfigs is quadratic in them.
const CHUNK: usize = 250;

const CLEANUP: &str = "cleanup.policy";
const CONSUMER_SESSION: &str = "group.consumer.session.timeout.ms";
const SHARE_SESSION: &str = "group.share.session.timeout.ms";
const STREAMS_SESSION: &str = "group.streams.session.timeout.ms";

/// What is missing without the rights.
const OF_TOPICS: &str = "topic configurations (whether compacted)";
const OF_BROKERS: &str = "session timeouts of KIP-848, share and streams groups (broker configuration)";

/// The answers by one broker, chunk by chunk.
pub type ConfigsAnswer = Vec<Result<Configs, CallError>>;

/// What configurations told, and when they were asked.
#[derive(Debug, Default)]
pub struct Configured {
    asked: BTreeMap<Name, Instant>,
    broker_asked: Option<Instant>,
    failed: Option<Instant>,
    /// Which of the brokers is asked: after a failure the next one.
    turn: usize,
    pub compacted: BTreeMap<Name, bool>,
    pub defaults: GroupDefaults,
    denied: BTreeSet<Name>,
}

impl Configured {
    /// The topic is another one: what is known of it is of the old one.
    pub fn forget(&mut self, topic: &Name) {
        self.asked.remove(topic);
        self.compacted.remove(topic);
    }
}

impl Poller {
    /// Asks what was not asked yet, or long ago.
    pub(super) fn ask_configs(&mut self) {
        let again = self.configured.failed.is_none_or(|at| at.elapsed() >= AGAIN);
        if self.in_flight.contains(&Call::Configs) || !again || self.metadata.brokers.is_empty() {
            return;
        }
        let due = |asked: Option<&Instant>| asked.is_none_or(|at| at.elapsed() >= EVERY);
        let there = |topic: &Name| self.metadata.topics.contains_key(topic);
        let topics = self.topics_of_interest().into_iter().filter(there);
        let topics: Vec<Name> = topics.filter(|topic| due(self.configured.asked.get(topic))).collect();
        if topics.is_empty() && !due(self.configured.broker_asked.as_ref()) {
            return;
        }
        let turn = self.configured.turn % self.metadata.brokers.len();
        let Some(broker) = self.metadata.brokers.keys().nth(turn).copied() else { return };
        let now = Instant::now();
        self.configured.broker_asked = Some(now);
        self.configured.asked.extend(topics.iter().map(|topic| (topic.clone(), now)));
        let admin = Arc::clone(&self.admin);
        self.ask(Call::Configs, async move {
            let of_broker = [CONSUMER_SESSION, SHARE_SESSION, STREAMS_SESSION];
            let chunks: Vec<&[Name]> = if topics.is_empty() { vec![&[]] } else { topics.chunks(CHUNK).collect() };
            let calls = chunks.into_iter().map(|chunk| admin.describe_configs(broker, &of_broker, chunk, &[CLEANUP]));
            Answer::Configs(join_all(calls).await)
        });
    }

    pub(super) fn take_configs(&mut self, answer: ConfigsAnswer) {
        let configured = &mut self.configured;
        let mut broker_denied = None;
        configured.failed = None;
        for chunk in answer {
            let configs = match chunk {
                Ok(configs) => configs,
                Err(error) => {
                    tracing::debug!("configurations: {error}");
                    configured.failed = Some(Instant::now());
                    configured.turn += 1;
                    // All that was asked is asked again: who answered and who did not is not worth remembering.
                    configured.asked.clear();
                    configured.broker_asked = None;
                    continue;
                }
            };
            for (resource, values) in configs {
                match (resource, values) {
                    (Resource::Topic(topic), Ok(values)) => {
                        if let Some(policy) = values.get(CLEANUP) {
                            let compacts = policy.raw().split(',').any(|policy| policy.trim() == "compact");
                            configured.compacted.insert(topic.clone(), compacts);
                        }
                        configured.denied.remove(&topic);
                    }
                    (Resource::Topic(topic), Err(error)) if is_denied(&error) => _ = configured.denied.insert(topic),
                    (Resource::Broker(_), Ok(values)) => {
                        let millis = |key: &str| values.get(key).and_then(|value| value.raw().parse().ok());
                        configured.defaults = GroupDefaults {
                            consumer_session_timeout_ms: millis(CONSUMER_SESSION),
                            share_session_timeout_ms: millis(SHARE_SESSION),
                            streams_session_timeout_ms: millis(STREAMS_SESSION),
                        };
                        broker_denied = Some(false);
                    }
                    (Resource::Broker(_), Err(error)) if is_denied(&error) => broker_denied = Some(true),
                    // It was deleted just now, or the broker is on its way up or down.
                    (_, Err(error)) => tracing::debug!("configurations: {error}"),
                }
            }
        }
        self.tell_denied_configs(broker_denied);
        self.merge_cluster(None);
    }

    fn tell_denied_configs(&mut self, broker: Option<bool>) {
        let now = self.clock.now();
        let cause = |text: String, remedy: &str| Cause {
            text: Name::from(text),
            remedy: Some(remedy.to_owned()),
            lasting: true,
        };
        let interest = self.topics_of_interest();
        let denied = &mut self.configured.denied;
        denied.retain(|topic| interest.contains(topic));
        if let Some(first) = denied.first() {
            let cause = cause(
                format!("not authorized: {first}{}", and_more(denied.len() - 1)),
                "needs DESCRIBE_CONFIGS on the topics",
            );
            self.problems.set(Scope::Cluster, OF_TOPICS, cause, now);
        } else {
            self.problems.cleared(Scope::Cluster, OF_TOPICS);
        }
        match broker {
            Some(true) => {
                let cause = cause("not authorized".to_owned(), "needs DESCRIBE_CONFIGS on the cluster");
                self.problems.set(Scope::Cluster, OF_BROKERS, cause, now);
            }
            Some(false) => self.problems.cleared(Scope::Cluster, OF_BROKERS),
            None => {}
        }
    }
}
