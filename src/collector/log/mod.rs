//! What the coordinator logs told so far: the groups, the events, and of which partitions that can be trusted now.
//!
//! `group` applies records, `render` turns the outcome into facts, `topics` knows the names of topic ids, `start`
//! decides from where a log is read.

mod group;
mod render;
pub mod start;
mod topics;

use std::collections::{BTreeMap, BTreeSet};

use crate::kafka::records::{Key, Value, partition_of, share_state};
use crate::kafka::{Message, Position, Record};
use crate::model::{
    At, Commits, Description, Event, GroupKind, GroupState, LogGap, Name, ShareOffsets, SharePartition, What,
};

pub use group::generation_of;
use group::{LogGroup, Surroundings};
use render::Known;
pub use topics::TopicNames;

/// The groups as the log tells them.
#[derive(Debug, Default)]
pub struct LogState {
    partitions: BTreeMap<i32, PartitionState>,
    groups: BTreeMap<Name, LogGroup>,
    shares: BTreeMap<Name, BTreeMap<(uuid::Uuid, i32), SharePartition>>,
    shares_caught_up: BTreeSet<i32>,
    pub names: TopicNames,
    events: Vec<Event>,
    /// Groups whose members, state or epochs changed since they were last told.
    dirty: BTreeSet<Name>,
    /// Groups that committed since: told with a poll alone, which reads the log ends after them.
    committed: BTreeSet<Name>,
    /// The whole log was read: nothing lies before.
    pub from_beginning: bool,
}

/// How far one partition of the log was read.
#[derive(Debug, Clone, Copy, Default)]
struct PartitionState {
    caught_up: bool,
    /// Its end when reading began.
    until: i64,
    next: i64,
    high: i64,
    /// Polls in a row in which the position stood still with the high watermark ahead.
    standing: u32,
    held: bool,
    /// No leader, or not readable.
    failed: bool,
    leader: Option<i32>,
}

impl LogState {
    /// A state that follows this plan.
    pub fn new(plan: &start::Plan) -> Self {
        let state = |until: i64| PartitionState { until, ..PartitionState::default() };
        let partitions = plan.until.iter().map(|(partition, until)| (*partition, state(*until))).collect();
        Self { partitions, from_beginning: plan.whole, ..Self::default() }
    }

    /// Takes in what the reader of `__consumer_offsets` or `__share_group_state` says. `end`: log ends, where known.
    pub fn take(&mut self, message: Message, end: &dyn Fn(&Name, i32) -> Option<i64>) {
        match message {
            Message::Records(records) => {
                let mut reached = BTreeMap::new();
                for record in records {
                    if let Record::Group { at, key, value } = record {
                        reached.insert(at.partition, at.offset + 1);
                        self.apply(at, &key, value, end);
                    }
                }
                self.reached(&reached);
            }
            Message::CaughtUp { partition } => self.caught_up(partition),
            Message::Positions(positions) => {
                self.reached(&positions.iter().map(|(partition, (next, _))| (*partition, *next)).collect());
                for (partition, (next, high)) in positions {
                    if let Some(state) = self.partitions.get_mut(&partition) {
                        let stands = state.caught_up && state.next == next && high > next;
                        state.standing = if stands { state.standing + 1 } else { 0 };
                        (state.next, state.high) = (next, high);
                        if !stands && state.held {
                            state.held = false;
                            let groups = self.groups_of(partition);
                            self.dirty.extend(groups);
                        }
                    }
                }
            }
            Message::Failed(_) => self.partitions.values_mut().for_each(|state| state.failed = true),
        }
    }

    /// The next offsets to read.
    fn reached(&mut self, next: &BTreeMap<i32, i64>) {
        let there = |(partition, next): (&i32, &i64)| {
            let state = self.partitions.get(partition)?;
            (!state.caught_up && *next >= state.until).then_some(*partition)
        };
        let there: Vec<i32> = next.iter().filter_map(there).collect();
        for partition in there {
            self.caught_up(partition);
        }
    }

    fn caught_up(&mut self, partition: i32) {
        if let Some(state) = self.partitions.get_mut(&partition).filter(|state| !state.caught_up) {
            state.caught_up = true;
            let groups = self.groups_of(partition);
            self.dirty.extend(groups);
        }
    }

    /// Positions of the share log are not of `__consumer_offsets`.
    pub fn take_share(&mut self, message: Message) {
        match message {
            Message::Records(records) => {
                for record in records {
                    if let Record::Share { key, value, .. } = record {
                        self.apply_share(&key, value);
                    }
                }
            }
            Message::CaughtUp { partition } => {
                self.shares_caught_up.insert(partition);
                self.dirty.extend(self.shares.keys().cloned());
            }
            Message::Positions(_) | Message::Failed(_) => {}
        }
    }

    fn apply(&mut self, at: Position, key: &Key, value: Option<Value>, end: &dyn Fn(&Name, i32) -> Option<i64>) {
        if let (Key::OffsetCommit(key), Some(Value::OffsetCommit(value))) = (key, &value)
            && let Some(id) = value.topic_id
        {
            self.names.learn(id, &key.topic);
        }
        if let Some(Value::ShareGroupStatePartitionMetadata(value)) = &value {
            for topic in value.initializing_topics.iter().chain(&value.initialized_topics) {
                self.names.learn(topic.topic_id, &topic.topic_name);
            }
        }
        let Some(name) = key.group_id() else { return };
        let seeded = self.from_beginning;
        let group = self.groups.entry(name.clone()).or_insert_with(|| LogGroup { seeded, ..LogGroup::default() });
        let around = Surroundings { names: &self.names, end, wall: at.wall };
        let what = group.apply(key, value, &around);
        let commit = matches!(key, Key::OffsetCommit(_) | Key::LegacyOffsetCommit(_));
        if commit { &mut self.committed } else { &mut self.dirty }.insert(name.clone());
        if let Some(what) = what {
            let gone = what == What::GroupGone;
            self.events.push(Event { group: name.clone(), wall: at.wall, log: (at.partition, at.offset), what });
            // Commits may outlive it in the log until their own tombstones come.
            if gone && self.groups.get(name).is_some_and(|group| group.committed().topics.is_empty()) {
                self.groups.remove(name);
            }
        }
    }

    fn apply_share(&mut self, key: &share_state::Key, value: Option<share_state::Value>) {
        let (share_state::Key::ShareSnapshot(place) | share_state::Key::ShareUpdate(place)) = key else { return };
        let known = self.shares.entry(place.group.clone()).or_default();
        let partition = (place.topic_id, place.partition);
        match value {
            Some(share_state::Value::ShareSnapshot(snapshot)) => {
                let state = SharePartition { start: snapshot.start_offset, done: snapshot.delivery_complete_count };
                known.insert(partition, state);
            }
            Some(share_state::Value::ShareUpdate(update)) => {
                let state = known.entry(partition).or_default();
                state.start = update.start_offset.or(state.start);
                state.done = update.delivery_complete_count.or(state.done);
            }
            _ => _ = known.remove(&partition),
        }
        self.committed.insert(place.group.clone());
    }

    /// What happened since the last call, in the order of each log partition.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Groups whose members, state or epochs changed since the last call; with `commits`, also those that committed.
    pub fn take_dirty(&mut self, commits: bool) -> BTreeSet<Name> {
        let mut dirty = std::mem::take(&mut self.dirty);
        if commits {
            dirty.append(&mut self.committed);
        } else {
            self.committed.extend(dirty.iter().cloned());
        }
        dirty
    }

    /// Something that is passed on at once.
    pub fn has_news(&self) -> bool {
        !self.dirty.is_empty() || !self.events.is_empty()
    }

    /// The partition of the log that holds a group.
    pub fn partition(&self, group: &Name) -> Option<i32> {
        partition_of(group.raw(), self.partitions.len() as i32)
    }

    fn groups_of(&self, partition: i32) -> Vec<Name> {
        self.groups.keys().filter(|group| self.partition(group) == Some(partition)).cloned().collect()
    }

    /// Why the log does not tell of this group now; `None`: it does.
    pub fn gap(&self, group: &Name) -> Option<LogGap> {
        let state = self.partition(group).and_then(|partition| self.partitions.get(&partition));
        match state {
            Some(state) if state.failed => Some(LogGap::Failed),
            Some(state) if !state.caught_up => Some(LogGap::CatchingUp),
            Some(state) if state.held => Some(LogGap::Held),
            Some(_) => None,
            None => Some(LogGap::Failed),
        }
    }

    /// Whether the log tells everything of this group, so that no admin call is needed.
    pub fn covers(&self, group: &Name) -> bool {
        self.gap(group).is_none()
            && self.groups.get(group).is_some_and(|known| known.tells_members() || self.from_beginning)
    }

    /// Groups of partitions that the log covers now must be filled up once, if its beginning was not read.
    pub fn wants_seed(&self, group: &Name) -> bool {
        !self.from_beginning
            && self.gap(group).is_none()
            && self.groups.get(group).is_none_or(|known| !known.seeded)
            && !matches!(self.kind(group), Some(GroupKind::Share | GroupKind::Streams | GroupKind::Other(_)))
    }

    pub fn seed(&mut self, group: &Name, kind: &GroupKind, description: Option<&Description>, commits: &Commits) {
        let known = self.groups.entry(group.clone()).or_default();
        if known.kind == GroupKind::Unknown {
            known.kind = kind.clone();
        }
        known.seed(description, commits);
        self.dirty.insert(group.clone());
    }

    /// The kind of a group, once a record told it.
    pub fn kind(&self, group: &Name) -> Option<&GroupKind> {
        self.groups.get(group).map(|known| &known.kind).filter(|kind| **kind != GroupKind::Unknown)
    }

    /// Groups that the log knows members or epochs of.
    pub fn kinds(&self) -> impl Iterator<Item = (&Name, &GroupKind)> {
        let told = self.groups.iter().filter(|(_, group)| group.classic.is_some() || group.epoch.is_some());
        told.map(|(name, group)| (name, &group.kind))
    }

    /// Members and state, and all commits, of a group that the log covers.
    pub fn facts(&self, group: &Name, listed_state: Option<GroupState>) -> Option<(Description, Commits)> {
        let known = self.groups.get(group)?;
        let coordinator = self.partition(group).and_then(|partition| self.partitions.get(&partition)?.leader);
        let description = known.description(&self.names, &Known { listed_state, coordinator });
        Some((description, known.committed()))
    }

    /// How far a share group has read; `None` where `__share_group_state` was not read (to its end).
    pub fn share(&self, group: &Name, partitions: usize, at: At) -> Option<ShareOffsets> {
        if partitions == 0 || self.shares_caught_up.len() < partitions {
            return None;
        }
        let mut offsets = ShareOffsets { at, ..ShareOffsets::default() };
        for ((topic, partition), state) in self.shares.get(group).into_iter().flatten() {
            let topic = self.names.name(&topics::TopicRef::Id(*topic));
            offsets.topics.entry(topic).or_default().insert(*partition, *state);
        }
        Some(offsets)
    }

    /// Partitions of the share log that were read to their end.
    pub fn shares_caught_up(&self) -> usize {
        self.shares_caught_up.len()
    }

    /// Partitions that stand still with records ahead: to be asked whether a transaction is open.
    pub fn standing(&self) -> Vec<i32> {
        self.partitions.iter().filter(|(_, state)| state.standing >= 2).map(|(partition, _)| *partition).collect()
    }

    /// The answer: whether the last stable offset is behind the high watermark.
    pub fn set_held(&mut self, partition: i32, held: bool) {
        if let Some(state) = self.partitions.get_mut(&partition)
            && state.held != held
        {
            state.held = held;
            let groups = self.groups_of(partition);
            self.dirty.extend(groups);
        }
    }

    /// Who leads each partition now; without a leader it cannot be read.
    pub fn set_leaders(&mut self, leaders: impl IntoIterator<Item = Option<i32>>) {
        for ((partition, state), leader) in self.partitions.iter_mut().zip(leaders) {
            if state.leader != leader {
                tracing::debug!("log partition {partition} is led by {leader:?}");
            }
            state.leader = leader.or(state.leader);
            state.failed = leader.is_none();
        }
    }

    /// Partitions of the log, and how many of them can be trusted now.
    pub fn progress(&self) -> (usize, usize, Vec<i32>) {
        let caught_up = self.partitions.values().filter(|state| state.caught_up && !state.failed).count();
        let held = self.partitions.iter().filter(|(_, state)| state.held).map(|(partition, _)| *partition).collect();
        (self.partitions.len(), caught_up, held)
    }

    /// Something about these groups changed that the log does not tell.
    pub fn mark(&mut self, groups: Vec<Name>) {
        self.dirty.extend(groups.into_iter().filter(|group| self.groups.contains_key(group)));
    }

    /// A topic id got its name: every group may have waited for it.
    pub fn mark_all(&mut self) {
        self.dirty.extend(self.groups.keys().cloned());
    }

    /// Forgets a group that is gone.
    pub fn forget(&mut self, group: &Name) {
        self.groups.remove(group);
        self.shares.remove(group);
    }
}
