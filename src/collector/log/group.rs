//! One group as the coordinator log tells it: what each record changes, and the events that follow from it.

use std::collections::BTreeMap;

use super::topics::{Held, TopicNames, TopicRef};
use crate::kafka::records::classic::{GroupMetadataValue, MemberMetadata};
use crate::kafka::records::consumer_group::{AssignedTopicPartitions, TopicPartitions as ById};
use crate::kafka::records::consumer_protocol::{Assignment, Subscription, cooperative_sticky_generation};
use crate::kafka::records::streams_group::{AssignedTaskIds, StreamsGroupTopologyValue, TaskIds};
use crate::kafka::records::{Key, Value};
use crate::model::{Commit, Departure, EventMember, Generation, GroupKind, Name, Tasks, TopicPartitions, Wall, What};

/// What the log has told of one group. A member or commit that is `None` was deleted: no older answer may bring it back.
#[derive(Debug, Default)]
pub struct LogGroup {
    pub kind: GroupKind,
    pub classic: Option<Classic>,
    pub epoch: Option<i32>,
    pub hash: Option<i64>,
    pub assignment_epoch: Option<i32>,
    pub members: BTreeMap<Name, Option<LogMember>>,
    /// Topics that each regex matched.
    pub regexes: BTreeMap<Name, Vec<Name>>,
    pub topology: Option<StreamsGroupTopologyValue>,
    /// Streams: the topology epoch whose topics the coordinator found to be there with the newest group epoch.
    pub validated_topology: Option<i32>,
    pub commits: BTreeMap<Name, BTreeMap<i32, Option<Commit>>>,
    /// Filled up once with what was true before the part of the log that was read.
    pub seeded: bool,
    /// What the last event names by topic ids.
    pub named_by_id: Option<Held>,
}

/// A group of the classic protocol, as its last GroupMetadata record has it.
#[derive(Debug, Clone, Default)]
pub struct Classic {
    pub generation: i32,
    pub protocol: Option<Name>,
    pub members: Vec<EventMember>,
    /// Generation that each member named when it joined, by member id.
    pub joined_from: BTreeMap<Name, i32>,
}

/// A member of a KIP-848, share or streams group.
#[derive(Debug, Clone, Default)]
pub struct LogMember {
    pub who: EventMember,
    pub classic_protocol: bool,
    /// Member epoch, state, what it keeps and what it must still give up.
    pub current: Option<Current>,
    pub target: Option<Held>,
    pub tasks: Option<Tasks>,
    pub target_tasks: Option<Tasks>,
    pub process: Name,
}

#[derive(Debug, Clone, Default)]
pub struct Current {
    pub epoch: i32,
    pub state: MemberState,
    pub held: Held,
    pub pending: Held,
}

/// How far a member is on its way to the target assignment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemberState {
    #[default]
    Stable,
    /// It must still give something up.
    Unrevoked,
    /// It waits for what others must give up.
    Unreleased,
    Unknown,
}

impl MemberState {
    /// `org.apache.kafka.coordinator.group.modern.MemberState` counts from 0, its namesake of streams groups from 1.
    fn of(raw: i8, stable: i8) -> Self {
        match raw.checked_sub(stable) {
            Some(0) => Self::Stable,
            Some(1) => Self::Unrevoked,
            Some(2) => Self::Unreleased,
            _ => Self::Unknown,
        }
    }
}

/// What a record is applied with.
pub struct Surroundings<'a> {
    pub names: &'a TopicNames,
    /// Log end offsets, where they are known.
    pub end: &'a dyn Fn(&Name, i32) -> Option<i64>,
    /// When the record was written.
    pub wall: Wall,
}

impl LogGroup {
    /// Takes in one record; returns what happened.
    pub fn apply(&mut self, key: &Key, value: Option<Value>, around: &Surroundings<'_>) -> Option<What> {
        match (key, value) {
            (Key::OffsetCommit(key) | Key::LegacyOffsetCommit(key), value) => {
                let commit = match value {
                    Some(Value::OffsetCommit(value) | Value::LegacyOffsetCommit(value)) => Some(Commit {
                        offset: value.offset,
                        leader_epoch: value.leader_epoch,
                        committed_at: Some(around.wall),
                    }),
                    _ => None,
                };
                self.commit(&key.topic, key.partition, commit)
            }
            (Key::GroupMetadata(_), Some(Value::GroupMetadata(value))) => Some(self.generation(value, around)),
            (Key::GroupMetadata(_), None) => self.classic.take().is_some().then_some(What::GroupGone),
            (Key::ConsumerGroupMetadata(_), Some(Value::ConsumerGroupMetadata(value))) => {
                Some(self.bumped(GroupKind::Consumer, value.epoch, value.metadata_hash))
            }
            (Key::ShareGroupMetadata(_), Some(Value::ShareGroupMetadata(value))) => {
                Some(self.bumped(GroupKind::Share, value.epoch, value.metadata_hash))
            }
            (Key::StreamsGroupMetadata(_), Some(Value::StreamsGroupMetadata(value))) => {
                self.validated_topology = value.validated_topology_epoch.filter(|epoch| *epoch >= 0);
                Some(self.bumped(GroupKind::Streams, value.epoch, value.metadata_hash))
            }
            (Key::ConsumerGroupMetadata(_) | Key::ShareGroupMetadata(_) | Key::StreamsGroupMetadata(_), None) => {
                self.epoch = None;
                self.assignment_epoch = None;
                self.hash = None;
                self.members.clear();
                Some(What::GroupGone)
            }
            (
                Key::ConsumerGroupTargetAssignmentMetadata(_)
                | Key::ShareGroupTargetAssignmentMetadata(_)
                | Key::StreamsGroupTargetAssignmentMetadata(_),
                Some(
                    Value::ConsumerGroupTargetAssignmentMetadata(value)
                    | Value::ShareGroupTargetAssignmentMetadata(value)
                    | Value::StreamsGroupTargetAssignmentMetadata(value),
                ),
            ) => {
                self.assignment_epoch = Some(value.assignment_epoch);
                Some(What::AssignmentEpoch { epoch: value.assignment_epoch })
            }
            (Key::ConsumerGroupRegularExpression(key), value) => {
                match value {
                    Some(Value::ConsumerGroupRegularExpression(value)) => {
                        self.regexes.insert(key.regular_expression.clone(), value.topics);
                    }
                    _ => _ = self.regexes.remove(&key.regular_expression),
                }
                None
            }
            (Key::StreamsGroupTopology(_), value) => {
                self.topology = match value {
                    Some(Value::StreamsGroupTopology(value)) => Some(value),
                    _ => None,
                };
                None
            }
            (key, value) => self.apply_member(key, value, around),
        }
    }

    /// Records about one member of a KIP-848, share or streams group.
    fn apply_member(&mut self, key: &Key, value: Option<Value>, around: &Surroundings<'_>) -> Option<What> {
        match (key, value) {
            (
                Key::ConsumerGroupMemberMetadata(key)
                | Key::ShareGroupMemberMetadata(key)
                | Key::StreamsGroupMemberMetadata(key),
                Some(value),
            ) => {
                let member = self.member(&key.member_id);
                let mut who = EventMember { id: key.member_id.clone(), ..EventMember::default() };
                match value {
                    Value::ConsumerGroupMemberMetadata(value) => {
                        who.instance_id = value.instance_id;
                        who.rack = value.rack_id;
                        who.client_id = value.client_id;
                        who.host = value.client_host;
                        who.subscription = Some(value.subscribed_topic_names);
                        who.regex = value.subscribed_topic_regex.filter(|regex| !regex.is_empty());
                        who.assignor = value.server_assignor;
                        who.rebalance_timeout_ms = value.rebalance_timeout_ms;
                        let classic = value.classic_member_metadata;
                        let speaks_classic =
                            |classic: &crate::kafka::records::consumer_group::ClassicMemberMetadata| {
                                classic.session_timeout_ms > 0 || !classic.supported_protocols.is_empty()
                            };
                        member.classic_protocol = classic.as_ref().is_some_and(speaks_classic);
                        who.session_timeout_ms =
                            classic.filter(|_| member.classic_protocol).map(|classic| classic.session_timeout_ms);
                    }
                    Value::ShareGroupMemberMetadata(value) => {
                        who.rack = value.rack_id;
                        who.client_id = value.client_id;
                        who.host = value.client_host;
                        who.subscription = Some(value.subscribed_topic_names);
                    }
                    Value::StreamsGroupMemberMetadata(value) => {
                        who.instance_id = value.instance_id;
                        who.rack = value.rack_id;
                        who.client_id = value.client_id;
                        who.host = value.client_host;
                        who.rebalance_timeout_ms = value.rebalance_timeout_ms;
                        member.process = value.process_id;
                    }
                    _ => return None,
                }
                if member.who == who {
                    return None;
                }
                member.who = who.clone();
                Some(What::Member(Box::new(who)))
            }
            (
                Key::ConsumerGroupMemberMetadata(key)
                | Key::ShareGroupMemberMetadata(key)
                | Key::StreamsGroupMemberMetadata(key),
                None,
            ) => {
                let gone = self.members.insert(key.member_id.clone(), None).flatten();
                if self.seeded || !self.is_seedable() {
                    self.members.remove(&key.member_id);
                }
                let mut member = gone.unwrap_or_default();
                member.who.id = key.member_id.clone();
                let by_id = self.owned(&member.current.unwrap_or_default());
                let held = around.names.named(&by_id);
                self.named_by_id = Some(by_id);
                let departure = self.departure(EventMember { held: Some(held), ..member.who }, around);
                Some(What::MemberGone(Box::new(departure)))
            }
            (
                Key::ConsumerGroupTargetAssignmentMember(key) | Key::ShareGroupTargetAssignmentMember(key),
                Some(
                    Value::ConsumerGroupTargetAssignmentMember(value) | Value::ShareGroupTargetAssignmentMember(value),
                ),
            ) => {
                self.member(&key.member_id).target = Some(by_id(&value.topic_partitions));
                None
            }
            (Key::StreamsGroupTargetAssignmentMember(key), Some(Value::StreamsGroupTargetAssignmentMember(value))) => {
                self.member(&key.member_id).target_tasks = Some(Tasks {
                    active: tasks(&value.active_tasks),
                    standby: tasks(&value.standby_tasks),
                    warmup: tasks(&value.warmup_tasks),
                    process: Name::default(),
                });
                None
            }
            (
                Key::ConsumerGroupCurrentMemberAssignment(key),
                Some(Value::ConsumerGroupCurrentMemberAssignment(value)),
            ) => {
                let current = Current {
                    epoch: value.member_epoch,
                    state: MemberState::of(value.state, 0),
                    held: assigned(&value.assigned_partitions),
                    pending: assigned(&value.partitions_pending_revocation),
                };
                Some(self.at_epoch(&key.member_id, current, around.names))
            }
            (Key::ShareGroupCurrentMemberAssignment(key), Some(Value::ShareGroupCurrentMemberAssignment(value))) => {
                let held = by_id(&value.assigned_partitions);
                let state = MemberState::of(value.state, 0);
                let current = Current { epoch: value.member_epoch, state, held, pending: Held::new() };
                Some(self.at_epoch(&key.member_id, current, around.names))
            }
            (
                Key::StreamsGroupCurrentMemberAssignment(key),
                Some(Value::StreamsGroupCurrentMemberAssignment(value)),
            ) => {
                let now = Tasks {
                    active: assigned_tasks(&value.active_tasks),
                    standby: assigned_tasks(&value.standby_tasks),
                    warmup: assigned_tasks(&value.warmup_tasks),
                    process: Name::default(),
                };
                let current = Current {
                    epoch: value.member_epoch,
                    state: MemberState::of(value.state, 1),
                    held: self.topics_of(&now.active),
                    pending: self.topics_of(&assigned_tasks(&value.active_tasks_pending_revocation)),
                };
                self.member(&key.member_id).tasks = Some(now);
                Some(self.at_epoch(&key.member_id, current, around.names))
            }
            // A tombstone of a current or target assignment comes with the one of its member.
            _ => None,
        }
    }

    /// Whether admin calls can tell what lies before the part of the log that was read.
    pub fn is_seedable(&self) -> bool {
        !matches!(self.kind, GroupKind::Share | GroupKind::Streams | GroupKind::Other(_))
    }

    /// What a member has now, as its coordinator describes it: also partitions that it must still give up (but of streams
    /// groups, not tasks).
    pub fn owned(&self, current: &Current) -> Held {
        let mut owned = current.held.clone();
        for (topic, partitions) in current.pending.iter().filter(|_| self.kind != GroupKind::Streams) {
            owned.entry(topic.clone()).or_default().extend(partitions);
        }
        owned
    }

    /// Nothing is left of it.
    pub fn is_hollow(&self) -> bool {
        self.classic.is_none() && self.epoch.is_none() && self.members.is_empty() && self.commits.is_empty()
    }

    fn member(&mut self, id: &Name) -> &mut LogMember {
        let member = self.members.entry(id.clone()).or_default().get_or_insert_default();
        member.who.id = id.clone();
        member
    }

    fn at_epoch(&mut self, id: &Name, current: Current, names: &TopicNames) -> What {
        let what = What::MemberEpoch {
            member: id.clone(),
            epoch: current.epoch,
            settled: current.state == MemberState::Stable,
            held: names.named(&self.owned(&current)),
        };
        self.named_by_id = Some(self.owned(&current));
        self.member(id).current = Some(current);
        what
    }

    fn bumped(&mut self, kind: GroupKind, epoch: i32, hash: i64) -> What {
        self.kind = kind.clone();
        self.classic = None;
        self.epoch = Some(epoch);
        self.hash = Some(hash).filter(|hash| *hash != 0);
        What::GroupEpoch { kind, epoch, hash: self.hash }
    }

    fn commit(&mut self, topic: &Name, partition: i32, commit: Option<Commit>) -> Option<What> {
        let to = commit.as_ref().map(|commit| commit.offset);
        let deleted = commit.is_none();
        let before = self.commits.entry(topic.clone()).or_default().insert(partition, commit).flatten();
        if deleted && (self.seeded || !self.is_seedable()) {
            let commits = self.commits.entry(topic.clone()).or_default();
            commits.remove(&partition);
            if commits.is_empty() {
                self.commits.remove(topic);
            }
        }
        match (before.map(|before| before.offset), to) {
            (Some(from), Some(to)) if to < from => Some(What::CommitBack { topic: topic.clone(), partition, from, to }),
            _ => None,
        }
    }

    fn generation(&mut self, value: GroupMetadataValue, around: &Surroundings<'_>) -> What {
        let consumers = matches!(value.protocol_type.raw(), "consumer" | "");
        self.kind = if consumers { GroupKind::Classic } else { GroupKind::Other(value.protocol_type.clone()) };
        let before = self.classic.take().unwrap_or_default();
        let mut joined_from = BTreeMap::new();
        let mut members = Vec::with_capacity(value.members.len());
        for member in value.members {
            let subscription = consumers.then(|| Subscription::decode(&member.subscription.0).ok()).flatten();
            if let Some(generation) = subscription.as_ref().and_then(generation_of) {
                joined_from.insert(member.member_id.clone(), generation);
            }
            members.push(classic_member(member, subscription, consumers));
        }
        let gone = before.members.into_iter().filter(|old| !members.iter().any(|member| member.id == old.id));
        let gone: Vec<Departure> = gone.map(|member| self.departure(member, around)).collect();
        self.classic = Some(Classic {
            generation: value.generation,
            protocol: value.protocol.clone(),
            members: members.clone(),
            joined_from,
        });
        What::Generation(Box::new(Generation {
            generation: value.generation,
            protocol_type: value.protocol_type,
            protocol: value.protocol,
            joined_at: value.current_state_timestamp.filter(|at| *at > 0).map(Wall),
            members,
            gone,
        }))
    }

    /// A member that is gone, with the last commit of what it held and whether there was more to read.
    fn departure(&self, member: EventMember, around: &Surroundings<'_>) -> Departure {
        let held = member.held.iter().flatten();
        let held = held.flat_map(|(topic, numbers)| numbers.iter().map(move |number| (topic, *number)));
        let mut last_commit = None;
        let mut lag_waiting = None;
        for (topic, partition) in held {
            let commit = self.commits.get(topic).and_then(|commits| commits.get(&partition)?.as_ref());
            last_commit = last_commit.max(commit.and_then(|commit| commit.committed_at));
            if let (Some(commit), Some(end)) = (commit, (around.end)(topic, partition)) {
                lag_waiting = Some(lag_waiting.unwrap_or(false) || commit.offset < end);
            }
        }
        Departure { member, last_commit, lag_waiting }
    }

    /// The partitions that streams tasks read: each of a subtopology's source topics at the task's number.
    pub fn topics_of(&self, tasks: &TopicPartitions) -> Held {
        let mut held = Held::new();
        for (subtopology, numbers) in tasks {
            let topology = self.topology.iter().flat_map(|topology| &topology.subtopologies);
            for subtopology in topology.filter(|candidate| candidate.subtopology_id == *subtopology) {
                let sources = subtopology.source_topics.iter();
                for topic in sources.chain(subtopology.repartition_source_topics.iter().map(|topic| &topic.name)) {
                    held.insert(TopicRef::Named(topic.clone()), numbers.clone());
                }
            }
        }
        held
    }
}

/// A member of a GroupMetadata record; of other protocol types the bytes are nobody's business.
fn classic_member(member: MemberMetadata, subscription: Option<Subscription>, consumers: bool) -> EventMember {
    let held = consumers.then(|| Assignment::decode(&member.assignment.0).ok()).flatten().map(|assignment| {
        let mut held = TopicPartitions::new();
        for topic in assignment.assigned_partitions {
            held.entry(topic.topic).or_default().extend(topic.partitions);
        }
        for numbers in held.values_mut() {
            numbers.sort_unstable();
        }
        held
    });
    let (subscription, rack) = match subscription {
        Some(subscription) => (Some(subscription.topics), subscription.rack_id),
        None => (None, None),
    };
    EventMember {
        id: member.member_id,
        instance_id: member.group_instance_id,
        client_id: member.client_id,
        host: member.client_host,
        rack,
        subscription,
        rebalance_timeout_ms: member.rebalance_timeout,
        session_timeout_ms: Some(member.session_timeout),
        held,
        ..EventMember::default()
    }
}

/// The generation that a member named when it joined.
pub fn generation_of(subscription: &Subscription) -> Option<i32> {
    let user_data = || {
        let bytes = subscription.user_data.as_ref().filter(|bytes| bytes.0.len() == 4)?;
        cooperative_sticky_generation(&bytes.0).ok().flatten()
    };
    subscription.generation_id.filter(|generation| *generation >= 0).or_else(user_data)
}

fn by_id(topics: &[ById]) -> Held {
    topics.iter().map(|topic| (TopicRef::Id(topic.topic_id), topic.partitions.clone())).collect()
}

fn assigned(topics: &[AssignedTopicPartitions]) -> Held {
    topics.iter().map(|topic| (TopicRef::Id(topic.topic_id), topic.partitions.clone())).collect()
}

fn tasks(tasks: &[TaskIds]) -> TopicPartitions {
    tasks.iter().map(|task| (task.subtopology_id.clone(), task.partitions.clone())).collect()
}

fn assigned_tasks(tasks: &[AssignedTaskIds]) -> TopicPartitions {
    tasks.iter().map(|task| (task.subtopology_id.clone(), task.partitions.clone())).collect()
}
