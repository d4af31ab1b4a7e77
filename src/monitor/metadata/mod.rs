//! The metadata watch: what would change the topic hash (KIP-1101), and whose group epoch that would bump. It looks at
//! successive snapshots, remembers topics and the racks last seen, and holds the computed hash of each group beside the
//! one that its coordinator stored.
//!
//! A change is told as *would*; only the coordinator log tells that an epoch was bumped. What clients cannot see (a
//! broker that was unregistered, the rack of one that was never seen) is tried out against the stored hash.

mod explain;
mod group;
mod topics;
pub mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::metadata::changes::{Change, Effect};
use crate::model::{At, Event, GroupKind, Name, Snapshot, Wall, What};
use explain::Found;
use group::{Memory, Resubscribed};
use topics::Topics;
use view::{Consequence, GroupMetadata, MetadataChange, MetadataLine, Noticed};

/// Lines of the feed.
const FEED: usize = 1000;

/// The watch.
#[derive(Debug, Default)]
pub struct Watch {
    topics: Topics,
    groups: BTreeMap<Name, Memory>,
    feed: BTreeMap<u64, Arc<MetadataLine>>,
    next: u64,
    shown: Arc<Vec<Arc<MetadataLine>>>,
    shown_topics: Arc<BTreeMap<Name, Arc<view::TopicMetadata>>>,
    stale: bool,
}

/// What a look is at: when, and what may be new.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub at: At,
    pub wall: Option<Wall>,
    /// Topics that may have changed; `None`: any.
    pub topics: Option<&'a BTreeSet<Name>>,
    /// Groups that may have changed.
    pub groups: &'a BTreeSet<Name>,
}

impl Watch {
    /// Takes in an event of the log that was not seen before.
    pub fn event(&mut self, event: &Event, at: At, wall: Option<Wall>) {
        // Before the log has caught up it tells of long ago.
        let Some(group) = self.groups.get_mut(&event.group).filter(|group| group.is_told_by_log()) else { return };
        match event.what {
            What::GroupEpoch { epoch, hash, .. } => {
                if let Some(epochs) = group.told(epoch, hash.unwrap_or(0), at) {
                    self.passed(&event.group, epochs, at, wall);
                }
            }
            What::GroupGone => group.gone(),
            _ => {}
        }
    }

    /// The stored hash of a group was another one for a while.
    fn passed(&mut self, name: &Name, epochs: (i32, i32), at: At, wall: Option<Wall>) {
        let change = self.change(Noticed::Passing { group: name.clone() }, Effect::ChangesHash, None, (at, wall));
        let Some(memory) = self.groups.get_mut(name) else { return };
        let consequence = memory.add_passing(&change, epochs);
        let groups = vec![(name.clone(), memory.kind().clone(), consequence)];
        self.line(MetadataLine { change, groups, more: 0 });
    }

    /// Takes in what is known now; returns the groups of which something else is to be shown.
    pub fn look(&mut self, facts: &Snapshot, look: Look<'_>) -> BTreeSet<Name> {
        self.groups.retain(|name, _| facts.groups.contains_key(name));
        let mut resubscribed = Vec::new();
        for name in look.groups {
            if let Some(group) = facts.groups.get(name) {
                let memory = self.groups.entry(name.clone()).or_default();
                let (change, passed) = memory.describe(group, look.at);
                resubscribed.extend(change.map(|change| (name.clone(), change)));
                if let Some(epochs) = passed {
                    self.passed(name, epochs, look.at, look.wall);
                }
            }
        }
        let changes = self.topics.look(facts, look.topics);
        for (name, change) in resubscribed {
            self.resubscribed(name, change, look);
        }
        let mut touched: BTreeSet<Name> = look.groups.clone();
        self.noticed(changes, look);
        let moving = self.groups.iter().filter(|(_, group)| group.moves_on()).map(|(name, _)| name.clone());
        touched.extend(moving);
        self.compute(&mut touched);
        for name in touched.clone() {
            let before = self.topics.brokers.clone();
            if self.explain(&name) {
                let changes = self.topics.recheck(before);
                self.noticed(changes, look);
                self.compute(&mut touched);
            }
        }
        if self.topics.take_other() {
            self.shown_topics = Arc::new(self.topics.all());
        }
        let mut shown = BTreeSet::new();
        for name in &touched {
            if let (Some(memory), Some(group)) = (self.groups.get_mut(name), facts.groups.get(name))
                && memory.render(group, &self.topics, look.at)
            {
                shown.insert(name.clone());
                self.show(name);
            }
        }
        shown
    }

    /// What there is to show of a group.
    pub fn of(&self, group: &Name) -> Option<&Arc<GroupMetadata>> {
        self.groups.get(group).map(|memory| &memory.view)
    }

    /// Changes, newest first, at most 1000.
    pub fn feed(&mut self) -> Arc<Vec<Arc<MetadataLine>>> {
        if std::mem::take(&mut self.stale) {
            self.shown = Arc::new(self.feed.values().rev().cloned().collect());
        }
        Arc::clone(&self.shown)
    }

    /// The topics as they are now.
    pub fn topics(&self) -> &Arc<BTreeMap<Name, Arc<view::TopicMetadata>>> {
        &self.shown_topics
    }

    /// Bytes held for topics and their hashes, for stating the cost of the watch.
    pub fn heap_size(&self) -> usize {
        self.topics.heap_size()
    }

    /// Groups that read one of these topics.
    fn readers<'a>(&self, topics: impl Iterator<Item = &'a Name>) -> BTreeSet<Name> {
        let topics: BTreeSet<&Name> = topics.collect();
        let reads = |group: &Memory| {
            if topics.len() < group.topics().len() {
                topics.iter().any(|topic| group.topics().contains(*topic))
            } else {
                group.topics().iter().any(|topic| topics.contains(topic))
            }
        };
        self.groups.iter().filter(|(_, group)| reads(group)).map(|(name, _)| name.clone()).collect()
    }

    /// Computes the hashes of these groups, and of those that read what was looked at anew.
    fn compute(&mut self, groups: &mut BTreeSet<Name>) {
        let redone = self.topics.take_redone();
        if !redone.is_empty() {
            for name in self.readers(redone.iter()) {
                if let Some(memory) = self.groups.get_mut(&name) {
                    memory.tried = None;
                }
                groups.insert(name);
            }
        }
        for name in groups.iter() {
            if let Some(memory) = self.groups.get_mut(name) {
                memory.compute(&self.topics);
            }
        }
    }

    /// Tries to explain why the stored hash is another one; true if it lies with brokers, which then are as found.
    fn explain(&mut self, name: &Name) -> bool {
        let Some(memory) = self.groups.get_mut(name) else { return false };
        let Some(mismatch) = memory.mismatch().filter(|_| memory.pending().is_none()) else { return false };
        if memory.tried == Some(mismatch) {
            return false;
        }
        memory.tried = Some(mismatch);
        match explain::explain(memory, &self.topics, mismatch.1) {
            Found::Brokers(brokers) => {
                self.topics.brokers = brokers;
                true
            }
            Found::Reason(reason) => {
                memory.reason = reason;
                false
            }
        }
    }

    fn resubscribed(&mut self, name: Name, change: Resubscribed, look: Look<'_>) {
        let Resubscribed { added, removed } = change;
        // Topics that do not exist are not in the hash; what was not read yet most likely exists.
        let exists = |topic: &Name| self.topics.view(topic).is_none_or(|topic| topic.hash.is_some());
        let effect = if added.iter().chain(&removed).any(exists) { Effect::ChangesHash } else { Effect::KeepsHash };
        let what = Noticed::Subscription { group: name.clone(), added, removed };
        let change = self.change(what, effect, None, (look.at, look.wall));
        self.publish(&change, vec![name]);
    }

    /// Tells changes of topics and brokers, and the groups that read them.
    fn noticed(&mut self, changes: Vec<topics::Found>, look: Look<'_>) {
        if changes.is_empty() {
            return;
        }
        let mut readers: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (group, memory) in &self.groups {
            for topic in memory.topics() {
                readers.entry(topic.clone()).or_default().push(group.clone());
            }
        }
        for topics::Found { change, hash } in changes {
            let groups: BTreeSet<Name> = match &change {
                Change::Topic { topic, .. } => readers.get(topic).into_iter().flatten().cloned().collect(),
                Change::Broker { id, .. } => {
                    self.topics.on_broker(*id).filter_map(|topic| readers.get(topic)).flatten().cloned().collect()
                }
            };
            let (effect, topic) = match &change {
                Change::Topic { topic, .. } => (change.effect(), Some(topic.clone())),
                Change::Broker { .. } => (change.effect(), None),
            };
            let change = self.change(Noticed::Metadata(change), effect, hash, (look.at, look.wall));
            if let (Some(topic), Effect::ChangesHash) = (topic, effect) {
                self.topics.changed(&topic, &change);
            }
            self.publish(&change, groups.into_iter().collect());
        }
    }

    fn change(
        &mut self,
        what: Noticed,
        effect: Effect,
        hash: Option<(i64, i64)>,
        (at, wall): (At, Option<Wall>),
    ) -> Arc<MetadataChange> {
        self.next += 1;
        Arc::new(MetadataChange { number: self.next, at, wall, what, effect, hash })
    }

    fn publish(&mut self, change: &Arc<MetadataChange>, groups: Vec<Name>) {
        let mut line = MetadataLine { change: Arc::clone(change), groups: Vec::new(), more: 0 };
        for name in groups {
            let Some(memory) = self.groups.get_mut(&name) else { continue };
            let consequence = memory.add(change);
            if line.groups.len() < MetadataLine::NAMED {
                line.groups.push((name, memory.kind().clone(), consequence));
            } else {
                line.more += 1;
            }
        }
        self.line(line);
    }

    fn line(&mut self, line: MetadataLine) {
        self.stale = true;
        self.feed.insert(line.change.number, Arc::new(line));
        if self.feed.len() > FEED {
            // A broker that stops moves many leaders: what changes no hash goes first.
            let least = self.feed.iter().find(|(_, line)| line.change.effect == Effect::KeepsHash);
            let least = least.or_else(|| self.feed.first_key_value()).map(|(number, _)| *number);
            least.and_then(|number| self.feed.remove(&number));
        }
    }

    /// Takes over into the feed what became of the changes of a group.
    fn show(&mut self, name: &Name) {
        let Some(memory) = self.groups.get(name) else { return };
        for outcome in &memory.view.changes {
            let Some(line) = self.feed.get_mut(&outcome.change.number) else { continue };
            let place = line.groups.iter().position(|(group, ..)| group == name);
            if let Some(place) = place.filter(|place| line.groups[*place].2 != outcome.consequence) {
                Arc::make_mut(line).groups[place].2 = outcome.consequence;
                self.stale = true;
            }
        }
    }
}

/// Whether groups of this kind have a hash, classic ones have none, or only the log would tell.
pub fn has_hash(kind: &GroupKind) -> Option<bool> {
    match kind {
        GroupKind::Consumer | GroupKind::Share | GroupKind::Streams | GroupKind::ShareOrStreams => Some(true),
        GroupKind::Classic | GroupKind::Other(_) => Some(false),
        GroupKind::Unknown => None,
    }
}

impl Consequence {
    /// It changes, or may change, who owns what.
    pub fn matters(self) -> bool {
        !matches!(self, Self::None | Self::Undone)
    }
}

#[cfg(test)]
mod tests;
