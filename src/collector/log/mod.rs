//! What the coordinator logs told so far: the groups, the events, and of which partitions that can be trusted now.
//!
//! `group` applies records (`classic` those of classic groups, `member` those of members of the others), `render` turns
//! the outcome into facts, `topics` knows the names of topic ids, `start` decides from where a log is read, `trust` knows
//! how far it was read.

mod classic;
mod group;
mod member;
mod render;
pub mod start;
mod topics;
mod trust;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::kafka::records::{Key, Value, partition_of, share_state};
use crate::kafka::{Message, Position, Record};
use crate::model::{
    At, Commits, Description, Event, GroupKind, GroupState, LogGap, Name, ShareOffsets, SharePartition, What,
};

pub use classic::generation_of;
use group::{LogGroup, Surroundings};
use render::Known;
use topics::Held;
pub use topics::TopicNames;
use trust::Trust;

/// An event waits this long for the name of a new topic.
const NAMED_AFTER: Duration = Duration::from_secs(15);

/// The groups as the log tells them.
#[derive(Debug, Default)]
pub struct LogState {
    trust: Trust,
    groups: BTreeMap<Name, LogGroup>,
    shares: BTreeMap<Name, BTreeMap<(uuid::Uuid, i32), SharePartition>>,
    shares_caught_up: BTreeSet<i32>,
    pub names: TopicNames,
    events: VecDeque<Waiting>,
    /// Groups whose members, state or epochs changed since they were last told.
    dirty: BTreeSet<Name>,
    /// Groups that committed since: told with a poll alone, which reads the log ends after them.
    committed: BTreeSet<Name>,
    /// Groups that were deleted since.
    deleted: BTreeSet<Name>,
    /// The whole log was read: nothing lies before.
    pub from_beginning: bool,
}

/// An event that waits for the names of the topics in it.
#[derive(Debug)]
struct Waiting {
    event: Event,
    /// What the event names by id; only of ids without a name.
    held: Option<Held>,
    since: Instant,
}

impl LogState {
    /// Begins to read `__consumer_offsets` by this plan, perhaps once more. The names of topics stay, and what the share
    /// log told: its reader runs on.
    pub fn begin(&mut self, plan: &start::Plan) {
        let known = std::mem::take(self);
        *self = Self {
            trust: Trust::new(plan),
            from_beginning: plan.whole,
            names: known.names,
            shares: known.shares,
            shares_caught_up: known.shares_caught_up,
            ..Self::default()
        };
    }

    /// Begins to read the share log, perhaps once more, from its beginning.
    pub fn begin_shares(&mut self) {
        self.shares.clear();
        self.shares_caught_up.clear();
    }

    /// Takes in what the reader of `__consumer_offsets` says. `end`: log ends, where known.
    pub fn take(&mut self, message: Message, end: &dyn Fn(&Name, i32) -> Option<i64>) {
        match message {
            Message::Records(records) => {
                let mut reached = BTreeMap::new();
                for record in records {
                    if let Record::Group { at, key, value } = record {
                        // The log is going to be read anew.
                        if !reached.contains_key(&at.partition) && self.trust.goes_back(at.partition, at.offset) {
                            continue;
                        }
                        reached.insert(at.partition, at.offset + 1);
                        self.apply(at, &key, value, end);
                    }
                }
                let trust = &mut self.trust;
                let changed = reached
                    .into_iter()
                    .filter_map(|(partition, next)| trust.reached(partition, next).then_some(partition));
                let changed = changed.collect();
                self.mark_partitions(changed);
            }
            Message::CaughtUp { partition, next } => {
                if self.trust.ended(partition, next) {
                    self.mark_partitions(vec![partition]);
                }
            }
            Message::Positions(positions) => {
                let trust = &mut self.trust;
                let changed = positions
                    .into_iter()
                    .filter_map(|(partition, (next, high))| trust.position(partition, next, high).then_some(partition));
                let changed = changed.collect();
                self.mark_partitions(changed);
            }
            Message::Failed(_) => self.stop(),
        }
    }

    /// The reader has ended.
    pub fn stop(&mut self) {
        self.trust.stop();
        self.mark_all();
    }

    /// Groups in these partitions are told by other means than before.
    fn mark_partitions(&mut self, partitions: Vec<i32>) {
        for partition in partitions {
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
            Message::CaughtUp { partition, .. } => {
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
        let tombstone = value.is_none();
        // The end of a log is known as of now: it says nothing of what happened before.
        let live = self.trust.is_caught_up(at.partition);
        let end = |topic: &Name, partition: i32| end(topic, partition).filter(|_| live);
        let around = Surroundings { names: &self.names, end: &end, wall: at.wall };
        let what = group.apply(key, value, &around);
        let held = what.as_ref().and_then(|_| group.named_by_id.take()).filter(|_| live);
        let hollow = tombstone && group.is_hollow();
        let commit = matches!(key, Key::OffsetCommit(_) | Key::LegacyOffsetCommit(_));
        if commit { &mut self.committed } else { &mut self.dirty }.insert(name.clone());
        // Its commits go with their topic, too, and the coordinator still has the group.
        if hollow && !commit {
            self.deleted.insert(name.clone());
        } else {
            self.deleted.remove(name);
        }
        if hollow {
            self.groups.remove(name);
            self.dirty.insert(name.clone());
        }
        if let Some(what) = what {
            let event = Event { group: name.clone(), wall: at.wall, log: (at.partition, at.offset), what };
            let held = held.filter(|held| !self.names.knows(held));
            self.events.push_back(Waiting { event, held, since: Instant::now() });
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

    /// What happened since the last call, in the order of each log partition. An event that names a topic by an id that
    /// has no name yet waits a moment for it, and those after it wait with it.
    pub fn take_events(&mut self) -> Vec<Event> {
        let ready = |waiting: &Waiting| {
            waiting.held.as_ref().is_none_or(|held| self.names.knows(held)) || waiting.since.elapsed() > NAMED_AFTER
        };
        let count = self.events.iter().take_while(|waiting| ready(waiting)).count();
        let ready: Vec<Waiting> = self.events.drain(..count).collect();
        ready.into_iter().map(|waiting| named(waiting, &self.names)).collect()
    }

    /// A topic id has no name yet.
    pub fn wants_names(&self) -> bool {
        self.events.iter().any(|waiting| waiting.held.is_some())
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
        !self.dirty.is_empty() || self.events.front().is_some_and(|first| first.held.is_none())
    }

    /// The partition of the log that holds a group.
    pub fn partition(&self, group: &Name) -> Option<i32> {
        partition_of(group.raw(), self.trust.len() as i32)
    }

    fn groups_of(&self, partition: i32) -> Vec<Name> {
        self.groups.keys().filter(|group| self.partition(group) == Some(partition)).cloned().collect()
    }

    /// Why the log does not tell of this group now; `None`: it does.
    pub fn gap(&self, group: &Name) -> Option<LogGap> {
        self.trust.gap(self.partition(group))
    }

    /// Whether the log tells everything of this group, so that no admin call is needed.
    pub fn covers(&self, group: &Name) -> bool {
        let told = |known: &LogGroup| self.from_beginning || known.tells_all();
        self.gap(group).is_none() && self.groups.get(group).is_some_and(told)
    }

    /// Groups of partitions that the log covers now must be filled up once, if its beginning was not read.
    pub fn wants_seed(&self, group: &Name) -> bool {
        !self.from_beginning
            && self.gap(group).is_none()
            && self.groups.get(group).is_none_or(|known| !known.seeded)
            && self.groups.get(group).is_none_or(LogGroup::is_seedable)
    }

    /// What admin calls say of a group fills what the part of the log that was read leaves out.
    pub fn seed(&mut self, group: &Name, kind: &GroupKind, description: &Description, commits: &Commits) {
        let known = self.groups.entry(group.clone()).or_default();
        if known.kind == GroupKind::Unknown {
            known.kind = kind.clone();
        }
        known.seed(description, commits);
        self.dirty.insert(group.clone());
    }

    /// An admin call was answered with nothing to seed a group with. The next is asked after all that the log said was
    /// deleted by now, so it cannot bring that back.
    pub fn unseeded(&mut self, group: &Name) {
        if let Some(known) = self.groups.get_mut(group) {
            known.forget_deleted();
        }
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
        let coordinator = self.partition(group).and_then(|partition| self.trust.leader(partition));
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

    /// Partitions of which it is to be asked whether a transaction is open.
    pub fn in_doubt(&self) -> Vec<i32> {
        self.trust.in_doubt()
    }

    /// The next offset to read of a partition.
    pub fn next(&self, partition: i32) -> i64 {
        self.trust.next(partition)
    }

    /// The next offset to read of each partition from where nothing is missing: events that are not told yet lie behind it.
    pub fn resume(&self) -> BTreeMap<i32, i64> {
        let mut resume = self.trust.all_next();
        for waiting in &self.events {
            let (partition, offset) = waiting.event.log;
            resume.entry(partition).and_modify(|next| *next = offset.min(*next));
        }
        resume
    }

    /// Partitions that went back since the last call, and where to: what was told from there on is gone, and the log is
    /// to be read anew.
    pub fn take_cuts(&mut self) -> BTreeMap<i32, i64> {
        self.trust.take_cuts()
    }

    /// The answer: last stable offset and high watermark; `next`: the next offset to read when it was asked.
    pub fn set_ends(&mut self, partition: i32, next: i64, stable: i64, high: i64) {
        if self.trust.ends(partition, next, stable, high) {
            self.mark_partitions(vec![partition]);
        }
    }

    /// See [`Trust::compare`].
    pub fn compare(&mut self, partition: i32, high: i64) {
        if self.trust.compare(partition, high) {
            self.mark_partitions(vec![partition]);
        }
    }

    /// See [`Trust::is_stuck`].
    pub fn is_stuck(&self) -> bool {
        self.trust.is_stuck()
    }

    /// Who leads each partition now; without a leader it cannot be read.
    pub fn set_leaders(&mut self, leaders: impl IntoIterator<Item = Option<i32>>) {
        let changed = self.trust.set_leaders(leaders);
        self.mark_partitions(changed);
    }

    /// Partitions of the log, and how many of them can be trusted now.
    pub fn progress(&self) -> (usize, usize, Vec<i32>) {
        let (caught_up, held) = self.trust.progress();
        (self.trust.len(), caught_up, held)
    }

    /// Whether anything is known of a group.
    /// Whether anything of the group is left, as far as was read.
    pub fn has(&self, group: &Name) -> bool {
        self.groups.contains_key(group)
    }

    /// Groups that were deleted since the last call.
    pub fn take_deleted(&mut self) -> BTreeSet<Name> {
        std::mem::take(&mut self.deleted)
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

/// The event with the names that are known by now.
fn named(waiting: Waiting, names: &TopicNames) -> Event {
    let Waiting { mut event, held, .. } = waiting;
    if let Some(held) = held {
        match &mut event.what {
            What::MemberEpoch { held: told, .. } => *told = names.named(&held),
            What::MemberGone(gone) => gone.member.held = Some(names.named(&held)),
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests;
