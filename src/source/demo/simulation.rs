//! The simulated cluster: pure and deterministic. The same seed and the same time give the same facts, however that
//! time was cut into steps.

use std::collections::BTreeMap;
use std::time::Duration;

use super::TICK;
use super::cast::{CLUSTER_ID, GROUPS, Protocol, RACKS, TOPICS};
use super::facts;
use super::group::Group;
use super::random::Random;
use super::topic::Topic;
use crate::model::{At, Broker, Cluster, Listing, Name, Problem, Scope, Snapshot};

pub struct Simulation {
    random: Random,
    topics: Vec<Topic>,
    groups: Vec<Group>,
    /// Milliseconds since the beginning, in whole ticks.
    now: u64,
    /// Time that is not a whole tick yet.
    rest: Duration,
}

impl Simulation {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let topics: Vec<Topic> = TOPICS.iter().map(|role| Topic::new(role, &mut random)).collect();
        let groups = GROUPS.iter().map(|role| Group::new(role, &topics, &mut random)).collect();
        Self { random, topics, groups, now: 0, rest: Duration::ZERO }
    }

    /// Lets time pass.
    pub fn advance(&mut self, time: Duration) {
        self.rest += time;
        while self.rest >= TICK {
            self.rest -= TICK;
            self.now += TICK.as_millis() as u64;
            for topic in &mut self.topics {
                topic.advance(self.now, &mut self.random);
            }
            for group in &mut self.groups {
                group.advance(self.now, &self.topics, &mut self.random);
            }
        }
    }

    /// Everything that a collector would have found out by `at`, if it had asked for all of it just then. How many
    /// polls there were is not said.
    pub fn snapshot(&self, at: At) -> Snapshot {
        let mut snapshot = Snapshot {
            cluster: Some(cluster(at)),
            listing: Some(Listing { observed_at: at, total: self.groups.len(), complete: true }),
            problems: Some(problems()),
            ..Snapshot::default()
        };
        for (place, topic) in self.topics.iter().enumerate() {
            let name = Name::new(topic.role.name);
            snapshot.topics.insert(name.clone(), facts::topic(topic, place, at));
            snapshot.offsets.insert(name, facts::offsets(topic, at));
        }
        for (place, group) in self.groups.iter().enumerate() {
            for (topic, _) in group.role.leftovers {
                snapshot.topics.insert(Name::new(topic), facts::gone_topic(at));
            }
            snapshot.groups.insert(Name::new(group.role.name), facts::group(group, &self.topics, place, at));
        }
        snapshot
    }
}

fn cluster(at: At) -> Cluster {
    let broker = |(place, rack): (usize, &&str)| {
        let id = place as i32 + 1;
        let host = Name::new(format!("kafka-{id}.demo"));
        (id, Broker { host, port: 9092, rack: Some(Name::new(rack)), rack_pending: false })
    };
    let brokers: BTreeMap<i32, Broker> = RACKS.iter().enumerate().map(broker).collect();
    Cluster { observed_at: at, id: Some(Name::new(CLUSTER_ID)), controller: Some(1), brokers, ..Cluster::default() }
}

/// In the words of the live collector.
fn problems() -> Vec<Problem> {
    let denied = GROUPS.iter().filter(|role| role.protocol == Protocol::Denied);
    let problems = denied.flat_map(|role| {
        ["commits", "state and members"].map(|missing| Problem {
            scope: Scope::Group(Name::new(role.name)),
            missing: missing.to_owned(),
            cause: Name::new("not authorized to describe the group"),
            remedy: Some(format!("needs DESCRIBE on group {}", role.name)),
            lasting: true,
            since: At::default(),
        })
    });
    problems.collect()
}
