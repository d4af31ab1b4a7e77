//! From the simulated cluster to the facts that the live collector would report about it: the same fields filled, the
//! same left open (librdkafka knows neither the states Assigning and Reconciling nor the subscriptions of KIP-848).

use std::collections::BTreeMap;

use super::cast::{Protocol, RACKS};
use super::group::{Group, Member, Phase};
use super::topic::Topic;
use crate::assign::TopicPartition;
use crate::model::{
    self, At, Column, Commit, Commits, Description, Evidence, GroupKind, GroupState, Name, Partition, Presence,
    TopicOffsets, TopicPartitions,
};

pub fn topic(topic: &Topic, place: usize, at: At) -> model::Topic {
    let partition = |number: usize| {
        let replica = |next: usize| ((place + number + next) % RACKS.len()) as i32 + 1;
        let replicas: Vec<i32> = (0..RACKS.len()).map(replica).collect();
        Partition { leader: replicas.first().copied(), isr: replicas.clone(), replicas }
    };
    model::Topic {
        observed_at: at,
        presence: Presence::Present,
        id: Some(topic.id),
        partitions: (0..topic.logs.len()).map(partition).collect(),
        compacted: Some(false),
    }
}

pub fn gone_topic(at: At) -> model::Topic {
    model::Topic { observed_at: at, presence: Presence::Gone, ..model::Topic::default() }
}

pub fn offsets(topic: &Topic, at: At) -> TopicOffsets {
    let column = |values| Some(Column { at, values, ..Column::default() });
    TopicOffsets {
        start: column(topic.logs.iter().map(|log| Some(log.start)).collect()),
        end: column(topic.logs.iter().map(|log| Some(log.end)).collect()),
        stable: None,
    }
}

/// `place` is the group's in the cast.
pub fn group(group: &Group, topics: &[Topic], place: usize, at: At) -> model::Group {
    let kind = match group.role.protocol {
        Protocol::Classic | Protocol::Denied => GroupKind::Classic,
        Protocol::Consumer => GroupKind::Consumer,
        Protocol::Connect => GroupKind::Other(Name::new("connect")),
        Protocol::ShareOrStreams => GroupKind::ShareOrStreams,
    };
    let mut facts = model::Group { kind, ..model::Group::default() };
    match group.role.protocol {
        // Listed, and that is all.
        Protocol::Denied => facts.listed_state = Some(GroupState::Stable),
        Protocol::ShareOrStreams => {}
        Protocol::Connect => {
            let description = Description { assignor: None, coordinator: None, ..description(group, topics, place) };
            (facts.description, facts.described_at) = (Some(description), Some(at));
        }
        Protocol::Classic | Protocol::Consumer => {
            facts.listed_state = Some(state(group));
            (facts.description, facts.described_at) = (Some(description(group, topics, place)), Some(at));
            (facts.commits, facts.commits_at) = (Some(commits(group, topics)), Some(at));
        }
    }
    facts
}

fn state(group: &Group) -> GroupState {
    if group.members.is_empty() {
        return GroupState::Empty;
    }
    match group.phase {
        Phase::Joining(_) => GroupState::PreparingRebalance,
        Phase::Syncing(_) => GroupState::CompletingRebalance,
        Phase::Stable if group.role.protocol != Protocol::Consumer => GroupState::Stable,
        Phase::Stable if group.members.iter().all(|member| member.held == member.target) => GroupState::Stable,
        Phase::Stable => GroupState::Unknown,
    }
}

fn description(group: &Group, topics: &[Topic], place: usize) -> Description {
    let state = state(group);
    // A coordinator tells a classic group's assignor only while it is stable.
    let told = group.role.protocol == Protocol::Consumer || state == GroupState::Stable;
    let mut members: Vec<model::Member> = group.members.iter().map(|one| member(group, topics, one)).collect();
    members.sort_by(|a, b| a.id.cmp(&b.id));
    Description {
        evidence: Evidence::Admin,
        state,
        assignor: told.then(|| Name::new(group.role.assignor)),
        coordinator: Some((place % RACKS.len()) as i32 + 1),
        members,
        ..Description::default()
    }
}

fn member(group: &Group, topics: &[Topic], member: &Member) -> model::Member {
    let client_id = Name::new(group.client_id(member.slot));
    let known = model::Member {
        id: member.id.clone(),
        instance_id: group.role.is_static.then(|| client_id.clone()),
        client_id,
        host: Name::new(format!("/10.0.{}.{}", group.role.net, 17 + member.slot)),
        ..model::Member::default()
    };
    let partitions = |partitions: &[TopicPartition]| Some(partitions_of(group, topics, partitions));
    match group.role.protocol {
        Protocol::Classic => model::Member {
            subscription: Some(group.role.topics.iter().map(|topic| Name::new(*topic)).collect()),
            joined_from: member.joined_from,
            assignment: partitions(&member.held),
            ..known
        },
        Protocol::Consumer => {
            model::Member { assignment: partitions(&member.held), target: partitions(&member.target), ..known }
        }
        _ => known,
    }
}

fn partitions_of(group: &Group, topics: &[Topic], partitions: &[TopicPartition]) -> TopicPartitions {
    let mut out = TopicPartitions::new();
    for tp in partitions {
        let topic = &topics[group.topics[tp.topic as usize]];
        out.entry(Name::new(topic.role.name)).or_default().push(tp.partition as i32);
    }
    out
}

fn commits(group: &Group, topics: &[Topic]) -> Commits {
    let commit = |offset: i64| Commit { offset, leader_epoch: Some(0), ..Commit::default() };
    let mut out = Commits::default();
    for (marks, topic) in group.marks.iter().zip(&group.topics) {
        let marks = marks.iter().enumerate();
        let commits = marks.filter_map(|(number, mark)| Some((number as i32, commit(mark.commit?))));
        out.topics.insert(Name::new(topics[*topic].role.name), commits.collect());
    }
    for (topic, offsets) in group.role.leftovers {
        let commits = offsets.iter().enumerate().map(|(number, offset)| (number as i32, commit(*offset)));
        out.topics.insert(Name::new(topic), commits.collect::<BTreeMap<_, _>>());
    }
    out
}
