//! From a group's facts to a [`Basis`], and what had to be assumed.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Basis, Reset};
use crate::assign::{GroupInput, MemberInput, Protocol, TopicInput, TopicPartition};
use crate::health::{Pace, PartitionLag};
use crate::model::{Cluster, Description, GroupKind, Name, Snapshot, Topic};
use crate::monitor::view::PartitionView;

/// What a basis is made of.
pub struct Facts<'a> {
    pub kind: &'a GroupKind,
    pub description: &'a Description,
    pub snapshot: &'a Snapshot,
    /// Sorted by topic and number.
    pub partitions: &'a [PartitionView],
    pub reset: Reset,
    /// Some member holds something else than its target.
    pub reconciling: bool,
    /// Records per second that members can do, by member id.
    pub capacity: &'a BTreeMap<Name, f64>,
    /// How long rebalances of this group take.
    pub rebalance: Option<Duration>,
}

impl Basis {
    /// The group as an assignor sees it, and how fast it is.
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut basis = Self {
            protocol: match facts.kind {
                GroupKind::Classic => Some(Protocol::Classic),
                GroupKind::Consumer => Some(Protocol::Consumer),
                GroupKind::Share => Some(Protocol::Share),
                _ => None,
            },
            assignor: facts.description.assignor.clone(),
            input: GroupInput::default(),
            pace: Pace { capacity: facts.capacity.clone(), rebalance: facts.rebalance, ..Pace::default() },
            assumptions: assumptions(facts),
        };
        let places = basis.take_topics(facts);
        basis.take_members(facts.description, &places);
        basis
    }

    /// Topics with their lags and rates; the place of each.
    fn take_topics<'a>(&mut self, facts: &Facts<'a>) -> BTreeMap<&'a Name, u32> {
        let mut places: BTreeMap<&Name, u32> = BTreeMap::new();
        let with_racks = facts.description.members.iter().any(|member| member.rack.is_some());
        let brokers = facts.snapshot.cluster.as_ref().filter(|_| with_racks);
        let Self { input, pace, .. } = self;
        for partition in facts.partitions {
            let at = *places.entry(&partition.topic).or_insert_with(|| {
                let topic = topic_input(&partition.topic, facts.snapshot.topics.get(&partition.topic), brokers, input);
                pace.written.push(vec![None; topic.lags.len()]);
                pace.backlog.push(vec![0; topic.lags.len()]);
                input.topics.push(topic);
                input.topics.len() as u32 - 1
            }) as usize;
            let Ok(number) = usize::try_from(partition.partition) else { continue };
            let Some(lag) = input.topics[at].lags.get_mut(number) else { continue };
            *lag = counted(&partition.lag, facts.reset);
            pace.written[at][number] = partition.rates.written.map(|rate| rounded(rate.per_second));
            pace.backlog[at][number] = if partition.rates.in_flight { 0 } else { *lag };
        }
        // A subscribed topic without partitions does not exist, or hides from us.
        for topic in facts.description.members.iter().filter_map(|member| member.subscription.as_ref()).flatten() {
            if !places.contains_key(topic) {
                input.topics.push(TopicInput { name: topic.clone(), ..TopicInput::default() });
                pace.written.push(Vec::new());
                pace.backlog.push(Vec::new());
                places.insert(topic, input.topics.len() as u32 - 1);
            }
        }
        places
    }

    fn take_members(&mut self, description: &Description, places: &BTreeMap<&Name, u32>) {
        let owned_by_any: Vec<u32> = {
            let owned = description.members.iter().flat_map(|member| {
                let held = member.assignment.iter().flatten().filter(|(_, numbers)| !numbers.is_empty());
                held.map(|(topic, _)| topic).chain(member.subscription.iter().flatten())
            });
            let mut owned: Vec<u32> = owned.filter_map(|topic| places.get(topic).copied()).collect();
            owned.sort_unstable();
            owned.dedup();
            owned
        };
        for member in &description.members {
            let topics = match &member.subscription {
                Some(topics) => {
                    let mut topics: Vec<u32> = topics.iter().filter_map(|topic| places.get(topic).copied()).collect();
                    let mut seen = std::collections::HashSet::new();
                    topics.retain(|topic| seen.insert(*topic));
                    topics
                }
                None => owned_by_any.clone(),
            };
            let held = member.assignment.iter().flatten();
            let held = held.filter_map(|(topic, numbers)| Some((*places.get(topic)?, numbers)));
            let owned = held.flat_map(|(topic, numbers)| {
                let numbers = numbers.iter().filter_map(|number| u32::try_from(*number).ok());
                numbers.map(move |partition| TopicPartition { topic, partition })
            });
            let owned = owned.collect();
            let rack = member.rack.as_ref().map(|rack| self.input.rack(rack.raw()));
            self.input.members.push(MemberInput {
                id: member.id.clone(),
                instance_id: member.instance_id.clone(),
                rack,
                topics,
                owned,
                generation: member.joined_from,
                user_data_generation: None,
            });
        }
    }
}

fn assumptions(facts: &Facts<'_>) -> Vec<String> {
    let mut assumptions = Vec::new();
    if facts.partitions.iter().any(|partition| matches!(partition.lag, PartitionLag::NoCommit { .. })) {
        let policy = match facts.reset {
            Reset::Latest => "latest: they count 0",
            Reset::Earliest => "earliest: they count all that their log holds",
        };
        assumptions.push(format!("partitions without a commit start at {policy}"));
    }
    let guessed = |partition: &&PartitionView| {
        !matches!(partition.lag, PartitionLag::NoCommit { .. } | PartitionLag::TopicGone | PartitionLag::PartitionGone)
            && partition.lag.readable().is_none()
    };
    let unknown = facts.partitions.iter().filter(guessed).count();
    if unknown > 0 {
        assumptions.push(format!("{unknown} partitions whose lag is not known count 0"));
    }
    if facts.reconciling {
        assumptions.push("members still on their way to the group's target are taken as they are now".to_owned());
    }
    if facts.description.members.iter().any(|member| member.subscription.is_none()) {
        assumptions.push("subscriptions are not known: every member is taken to subscribe to all that is owned".into());
    }
    assumptions
}

/// `cluster`: given where racks matter.
fn topic_input(name: &Name, topic: Option<&Topic>, cluster: Option<&Cluster>, input: &mut GroupInput) -> TopicInput {
    let partitions = topic.map(|topic| topic.partitions.len() as u32).filter(|count| *count > 0);
    let racks = cluster.zip(topic).map(|(cluster, topic)| {
        let rack = |broker: &i32| cluster.brokers.get(broker)?.rack.clone();
        let of_partition = |replicas: &[i32], input: &mut GroupInput| {
            replicas.iter().filter_map(rack).map(|rack| input.rack(rack.raw())).collect::<Vec<u32>>()
        };
        topic.partitions.iter().map(|partition| of_partition(&partition.replicas, input)).collect::<Vec<_>>()
    });
    TopicInput {
        name: name.clone(),
        id: topic.and_then(|topic| topic.id),
        partitions,
        racks: racks.filter(|racks| racks.iter().any(|racks| !racks.is_empty())).unwrap_or_default(),
        lags: vec![0; partitions.unwrap_or(0) as usize],
    }
}

/// What a partition weighs in a plan, in records.
fn counted(lag: &PartitionLag, reset: Reset) -> u64 {
    match (lag, reset) {
        (PartitionLag::NoCommit { held }, Reset::Earliest) => held.unwrap_or(0),
        (PartitionLag::Stale { last, .. }, _) => *last,
        (lag, _) => lag.readable().unwrap_or(0),
    }
}

/// Thousandths: a saved plan has the same figure as the one on screen.
pub fn rounded(per_second: f64) -> f64 {
    (per_second * 1000.0).round() / 1000.0
}
