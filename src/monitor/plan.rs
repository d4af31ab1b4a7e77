//! From a group's facts to what an assignor reads, and from what it answers to the view: the current assignment judged
//! beside the alternative.

use std::collections::BTreeMap;

use super::view::{MemberView, PartitionView, PlanView, PlannedMember};
use crate::assign::metrics::Metrics;
use crate::assign::moves::{Moves, Owner};
use crate::assign::{Assignment, Assignor, GroupInput, MemberInput, TopicInput, TopicPartition};
use crate::health::{IdleReason, PartitionLag};
use crate::model::{Description, Name, Snapshot, Topic};

/// `auto.offset.reset`: what a partition without a commit counts for. No API tells the group's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reset {
    /// Such a partition counts 0.
    #[default]
    Latest,
    /// Such a partition counts end − start.
    Earliest,
}

/// A plan and, for each of [`Inputs::partitions`], its owner under it.
pub type Alternative = (PlanView, Vec<Option<usize>>);

/// What a plan is made of.
pub struct Inputs<'a> {
    pub description: &'a Description,
    pub facts: &'a Snapshot,
    /// Sorted by topic and number.
    pub partitions: &'a [PartitionView],
    pub reset: Reset,
}

/// Judges the current assignment, gives idle members their reason, and makes the alternative. There is none while nothing is held (a rebalance, or no topics).
pub fn judge(inputs: &Inputs<'_>, members: &mut [MemberView], settled: bool) -> (Metrics, Option<Alternative>) {
    let (group, mut assumptions) = group_input(inputs);
    let current = Assignment::current(&group);
    let metrics = Metrics::of(&group, &current);
    for (place, member) in members.iter_mut().enumerate() {
        if member.is_idle() {
            member.idle = Some(IdleReason::of(&group, place, settled));
        }
    }
    if current.is_empty() {
        return (metrics, None);
    }
    let assignor = Assignor::LagBased;
    let Ok(plan) = assignor.assign(&group) else { return (metrics, None) };
    let moves = Moves::between(&group, &plan);
    let mut planned: Vec<PlannedMember> = Vec::with_capacity(group.members.len());
    let plan_metrics = Metrics::of(&group, &plan);
    for load in &plan_metrics.loads {
        planned.push(PlannedMember { partitions: load.partitions as usize, lag: load.lag, ..PlannedMember::default() });
    }
    for moved in moves.voluntary.iter().chain(&moves.forced) {
        planned[moved.to as usize].gained += 1;
        if let Owner::Member(from) = moved.from {
            planned[from as usize].lost += 1;
        }
    }
    for (_, to) in &moves.taken {
        planned[*to as usize].gained += 1;
    }
    if members.iter().any(|member| member.reconciling) {
        assumptions.push("members still on their way to the group's target are taken as they are now".to_owned());
    }
    let owners = owners(inputs, &group, &plan);
    let plan = PlanView {
        assignor: assignor.name(),
        members: planned,
        metrics: plan_metrics,
        moves: moves.count(),
        assumptions,
    };
    (metrics, Some((plan, owners)))
}

/// The group as an assignor sees it, and what had to be assumed.
fn group_input(inputs: &Inputs<'_>) -> (GroupInput, Vec<String>) {
    let mut assumptions = Vec::new();
    let mut group = GroupInput::default();
    let mut places: BTreeMap<&Name, u32> = BTreeMap::new();
    for partition in inputs.partitions {
        let place = *places.entry(&partition.topic).or_insert_with(|| {
            group.topics.push(topic_input(&partition.topic, inputs.facts.topics.get(&partition.topic)));
            group.topics.len() as u32 - 1
        });
        let topic = &mut group.topics[place as usize];
        if let Some(lag) = usize::try_from(partition.partition).ok().and_then(|number| topic.lags.get_mut(number)) {
            *lag = counted(&partition.lag, inputs.reset);
        }
    }
    // A subscribed topic without partitions does not exist, or hides from us.
    for topic in inputs.description.members.iter().filter_map(|member| member.subscription.as_ref()).flatten() {
        if !places.contains_key(topic) {
            group.topics.push(TopicInput { name: topic.clone(), ..TopicInput::default() });
            places.insert(topic, group.topics.len() as u32 - 1);
        }
    }
    if inputs.partitions.iter().any(|partition| matches!(partition.lag, PartitionLag::NoCommit { .. })) {
        let policy = match inputs.reset {
            Reset::Latest => "latest: they count 0",
            Reset::Earliest => "earliest: they count all that their log holds",
        };
        assumptions.push(format!("partitions without a commit start at {policy}"));
    }
    let guessed = |partition: &&PartitionView| {
        !matches!(partition.lag, PartitionLag::NoCommit { .. } | PartitionLag::TopicGone | PartitionLag::PartitionGone)
            && partition.lag.readable().is_none()
    };
    let unknown = inputs.partitions.iter().filter(guessed).count();
    if unknown > 0 {
        assumptions.push(format!("{unknown} partitions whose lag is not known count 0"));
    }
    if inputs.description.members.iter().any(|member| member.subscription.is_none()) {
        assumptions.push("subscriptions are not known: every member is taken to subscribe to all that is owned".into());
    }
    let owned_by_any: Vec<u32> = {
        let members = inputs.description.members.iter();
        let owned = members.flat_map(|member| {
            let held = member.assignment.iter().flatten().filter(|(_, numbers)| !numbers.is_empty());
            held.map(|(topic, _)| topic).chain(member.subscription.iter().flatten())
        });
        let mut owned: Vec<u32> = owned.filter_map(|topic| places.get(topic).copied()).collect();
        owned.sort_unstable();
        owned.dedup();
        owned
    };
    for member in &inputs.description.members {
        let topics = match &member.subscription {
            Some(topics) => topics.iter().filter_map(|topic| places.get(topic).copied()).collect(),
            None => owned_by_any.clone(),
        };
        let held =
            member.assignment.iter().flatten().filter_map(|(topic, numbers)| Some((*places.get(topic)?, numbers)));
        let owned = held.flat_map(|(topic, numbers)| {
            let numbers = numbers.iter().filter_map(|number| u32::try_from(*number).ok());
            numbers.map(move |partition| TopicPartition { topic, partition })
        });
        let owned = owned.collect();
        let rack = member.rack.as_ref().map(|rack| group.rack(rack.raw()));
        group.members.push(MemberInput {
            id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            rack,
            topics,
            owned,
            generation: member.joined_from,
            user_data_generation: None,
        });
    }
    (group, assumptions)
}

fn topic_input(name: &Name, topic: Option<&Topic>) -> TopicInput {
    let partitions = topic.map(|topic| topic.partitions.len() as u32).filter(|count| *count > 0);
    TopicInput {
        name: name.clone(),
        id: topic.and_then(|topic| topic.id),
        partitions,
        racks: Vec::new(),
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

fn owners(inputs: &Inputs<'_>, group: &GroupInput, plan: &Assignment) -> Vec<Option<usize>> {
    let mut by_name: BTreeMap<(&Name, i32), usize> = BTreeMap::new();
    for (member, partitions) in plan.members.iter().enumerate() {
        for tp in partitions {
            by_name.insert((&group.topics[tp.topic as usize].name, tp.partition as i32), member);
        }
    }
    let owner = |partition: &PartitionView| by_name.get(&(&partition.topic, partition.partition)).copied();
    inputs.partitions.iter().map(owner).collect()
}
