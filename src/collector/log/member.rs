//! Members of KIP-848, share and streams groups as the coordinator log tells them: what each record about one changes.

use super::group::{LogGroup, Surroundings};
use super::topics::{Held, TopicNames, TopicRef};
use crate::kafka::records::consumer_group::{AssignedTopicPartitions, ClassicMemberMetadata, TopicPartitions as ById};
use crate::kafka::records::streams_group::{AssignedTaskIds, TaskIds};
use crate::kafka::records::{Key, Value};
use crate::model::{EventMember, GroupKind, Name, Tasks, TopicPartitions, What};

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

impl LogGroup {
    /// Records about one member of a KIP-848, share or streams group.
    pub(super) fn apply_member(&mut self, key: &Key, value: Option<Value>, around: &Surroundings<'_>) -> Option<What> {
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
                        let speaks_classic = |classic: &ClassicMemberMetadata| {
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

    /// What a member has now, as its coordinator describes it: also partitions that it must still give up (but of streams
    /// groups, not tasks).
    pub fn owned(&self, current: &Current) -> Held {
        let mut owned = current.held.clone();
        for (topic, partitions) in current.pending.iter().filter(|_| self.kind != GroupKind::Streams) {
            owned.entry(topic.clone()).or_default().extend(partitions);
        }
        owned
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
