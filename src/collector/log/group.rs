//! One group as the coordinator log tells it: what each record changes, and the events that follow from it.

use std::collections::BTreeMap;

use super::classic::Classic;
use super::member::LogMember;
use super::topics::{Held, TopicNames};
use crate::kafka::records::streams_group::StreamsGroupTopologyValue;
use crate::kafka::records::{Key, Value};
use crate::model::{Commit, Departure, EventMember, GroupKind, Name, Wall, What};

/// What the log has told of one group. A member or commit that is `None` was deleted: no older answer may bring it back.
/// Until one has come, seeding or not, they are kept.
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

    /// Whether admin calls can tell what lies before the part of the log that was read.
    pub fn is_seedable(&self) -> bool {
        !matches!(self.kind, GroupKind::Share | GroupKind::Streams | GroupKind::Other(_))
    }

    /// Nothing is left of it.
    pub fn is_hollow(&self) -> bool {
        self.classic.is_none() && self.epoch.is_none() && self.members.is_empty() && self.commits.is_empty()
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

    /// A member that is gone, with the last commit of what it held and whether there was more to read.
    pub(super) fn departure(&self, member: EventMember, around: &Surroundings<'_>) -> Departure {
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
}
