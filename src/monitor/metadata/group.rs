//! One group of the watch: what it subscribes to, the hash computed and the hash stored, and what became of changes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::topics::Topics;
use super::view::{
    Consequence, Explanation, FarMember, GroupMetadata, HashState, MetadataChange, Noticed, Outcome, TopicMetadata,
};
use crate::metadata::changes::{Change, Effect, TopicChange};
use crate::model::{At, Description, Evidence, Group, GroupKind, Name, Presence};

/// A stored hash that nothing explains may be ahead of topics and racks, which are read again.
const READ_AGAIN: Duration = Duration::from_secs(10);

/// What is remembered of a group.
#[derive(Debug, Default)]
pub struct Memory {
    kind: GroupKind,
    subscribed: Subscribed,
    computed: Option<i64>,
    /// The log tells of the group now, so that what is stored is not old.
    by_log: bool,
    stored: Option<Stored>,
    stored_at: At,
    /// The stored hash changed from one epoch to another, and no change that was seen explains it yet.
    early: Option<(i32, i32)>,
    outcomes: VecDeque<Outcome>,
    pub reason: Explanation,
    /// What was tried in vain to explain the difference: computed and stored hash.
    pub tried: Option<(i64, i64)>,
    pub view: Arc<GroupMetadata>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    epoch: i32,
    /// 0: none.
    hash: i64,
}

/// The topics that make a group's hash.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subscribed {
    Known(BTreeSet<Name>),
    /// What it reads, since what it subscribes to is unknown, and why.
    Unknown(BTreeSet<Name>, &'static str),
}

impl Default for Subscribed {
    fn default() -> Self {
        Self::Unknown(BTreeSet::new(), "the group was not described yet")
    }
}

/// The group subscribes to other topics.
pub struct Resubscribed {
    pub added: Vec<Name>,
    pub removed: Vec<Name>,
}

impl Memory {
    pub fn kind(&self) -> &GroupKind {
        &self.kind
    }

    /// Topics that it subscribes to, or reads.
    pub fn topics(&self) -> &BTreeSet<Name> {
        match &self.subscribed {
            Subscribed::Known(topics) | Subscribed::Unknown(topics, _) => topics,
        }
    }

    /// Computed and stored hash, where they differ.
    pub fn mismatch(&self) -> Option<(i64, i64)> {
        let (computed, stored) = (self.computed?, self.stored?.hash);
        (computed != stored && stored != 0 && self.by_log).then_some((computed, stored))
    }

    /// Since when a change explains the difference, if the epoch was not bumped since.
    pub fn pending(&self) -> Option<At> {
        self.mismatch().filter(|_| self.early.is_none())?;
        self.oldest_pending()
    }

    fn oldest_pending(&self) -> Option<At> {
        let pending = self.outcomes.iter().filter(|outcome| outcome.consequence == Consequence::Pending);
        pending.map(|outcome| outcome.change.at).min()
    }

    /// Whether it may be told otherwise a moment later although nothing has happened.
    pub fn moves_on(&self) -> bool {
        matches!(self.view.state, HashState::Behind { .. })
    }

    /// Takes in what is known of the group now.
    pub fn describe(&mut self, group: &Group, at: At) -> (Option<Resubscribed>, Option<(i32, i32)>) {
        let changed_kind = std::mem::replace(&mut self.kind, group.kind.clone()) != group.kind;
        if changed_kind {
            (self.stored, self.early, self.computed) = (None, None, None);
        }
        let now = subscribed(group);
        let before = std::mem::replace(&mut self.subscribed, now);
        let description = group.description.as_ref().filter(|description| description.evidence == Evidence::Log);
        self.by_log = description.is_some();
        let mut passed = None;
        if let Some(description) = description
            && let (true, Some(epoch)) = (self.has_hash(), description.epoch)
        {
            let hash = description.stored_hash.unwrap_or(0);
            if self.stored.is_some_and(|stored| epoch < stored.epoch) {
                // Deleted and made again.
                (self.stored, self.early) = (None, None);
            }
            passed = self.told(epoch, hash, at);
        }
        let resubscribed = match (before, &self.subscribed) {
            (Subscribed::Known(before), Subscribed::Known(now)) if self.has_hash() && !changed_kind => {
                let added: Vec<Name> = now.difference(&before).cloned().collect();
                let removed: Vec<Name> = before.difference(now).cloned().collect();
                // That the first member came or the last one went is told elsewhere.
                let other = !before.is_empty() && !now.is_empty() && *now != before;
                other.then_some(Resubscribed { added, removed })
            }
            _ => None,
        };
        (resubscribed, passed)
    }

    /// The log tells of the group now.
    pub fn is_told_by_log(&self) -> bool {
        self.by_log
    }

    /// Groups of these protocols have a hash.
    pub fn has_hash(&self) -> bool {
        matches!(self.kind, GroupKind::Consumer | GroupKind::Share | GroupKind::Streams)
    }

    /// The coordinator stored this hash (0: none) with this epoch. What comes back are epochs between which the hash
    /// was another one, and no change was seen.
    pub fn told(&mut self, epoch: i32, hash: i64, at: At) -> Option<(i32, i32)> {
        let now = Stored { epoch, hash };
        let mut passed = None;
        match self.stored {
            Some(before) if epoch < before.epoch || before == now => return None,
            Some(before) if before.hash != hash => {
                self.stored_at = at;
                let from = self.early.map_or(before.epoch, |(from, _)| from);
                if self.computed == Some(hash) {
                    // None before or in between: it had no members, and so subscribed to nothing.
                    let other = before.hash != 0 && hash != 0 && self.oldest_pending().is_none();
                    passed = self.early.filter(|_| other).map(|_| (from, epoch));
                    self.bumped(before.epoch, epoch, Some(at));
                } else {
                    self.early = Some((from, epoch));
                }
            }
            Some(_) => {}
            None => self.stored_at = at,
        }
        self.stored = Some(now);
        passed
    }

    /// The group is deleted.
    pub fn gone(&mut self) {
        (self.stored, self.early) = (None, None);
    }

    /// What a change does to the group; remembered.
    pub fn add(&mut self, change: &Arc<MetadataChange>) -> Consequence {
        let consequence = match (&self.kind, change.effect) {
            (_, Effect::KeepsHash | Effect::ByTopic) => Consequence::None,
            (GroupKind::Classic | GroupKind::Other(_), _) => match &change.what {
                Noticed::Metadata(Change::Topic { change, .. }) if partition_count_changes(change) => {
                    Consequence::Rejoins
                }
                _ => Consequence::None,
            },
            (_, Effect::Unconfirmed) => Consequence::Unconfirmed,
            (_, Effect::ChangesHash) if self.by_log && self.stored.is_some() => Consequence::Pending,
            (_, Effect::ChangesHash) => Consequence::WouldBump,
        };
        self.keep(change, consequence);
        consequence
    }

    /// Epochs between which the hash was another one.
    pub fn add_passing(&mut self, change: &Arc<MetadataChange>, (from, to): (i32, i32)) -> Consequence {
        let consequence = Consequence::Bumped { from, to, after: None };
        self.keep(change, consequence);
        consequence
    }

    fn keep(&mut self, change: &Arc<MetadataChange>, consequence: Consequence) {
        self.outcomes.push_front(Outcome { change: Arc::clone(change), consequence });
        if self.outcomes.len() > GroupMetadata::KEPT {
            let least = self.outcomes.iter().rposition(|outcome| outcome.consequence == Consequence::None);
            self.outcomes.remove(least.unwrap_or(GroupMetadata::KEPT));
        }
    }

    /// Computes the hash over the topics as they are now.
    pub fn compute(&mut self, topics: &Topics) {
        let Subscribed::Known(subscribed) = &self.subscribed else {
            self.computed = None;
            return;
        };
        let unread = subscribed.iter().any(|topic| topics.view(topic).is_none());
        let computed = (self.has_hash() && !unread).then(|| topics.hashes.group_hash(subscribed));
        if computed == self.computed {
            return;
        }
        let before = std::mem::replace(&mut self.computed, computed);
        if computed.is_some() && computed == self.stored.map(|stored| stored.hash) {
            match self.early.take() {
                Some((from, to)) => self.bumped(from, to, None),
                None if before.is_some() => self.resolve(|_| Consequence::Undone),
                None => {}
            }
        }
    }

    /// The epoch was bumped, and the hash that came with it is the one computed. `at` `None`: before the change was seen.
    fn bumped(&mut self, from: i32, to: i32, at: Option<At>) {
        self.early = None;
        self.resolve(|change| {
            let after = at.map(|at| at.since(change.at));
            Consequence::Bumped { from, to, after }
        });
    }

    fn resolve(&mut self, consequence: impl Fn(&MetadataChange) -> Consequence) {
        for outcome in &mut self.outcomes {
            if matches!(outcome.consequence, Consequence::Pending | Consequence::Unconfirmed) {
                outcome.consequence = consequence(&outcome.change);
            }
        }
    }

    /// How computed and stored hash stand to each other.
    fn state(&self, topics: &Topics, at: At) -> HashState {
        match &self.kind {
            GroupKind::Classic | GroupKind::Other(_) => return HashState::NotUsed,
            GroupKind::Unknown | GroupKind::ShareOrStreams => {
                return HashState::NotKnown("what kind of group it is, only the coordinator log tells".to_owned());
            }
            GroupKind::Consumer | GroupKind::Share | GroupKind::Streams => {}
        }
        let Some(computed) = self.computed else { return HashState::NotKnown(self.missing(topics)) };
        let unknown: BTreeSet<i32> = self
            .topics()
            .iter()
            .filter_map(|topic| topics.view(topic))
            .flat_map(|topic| topic.unknown.clone())
            .collect();
        match self.stored.filter(|_| self.by_log) {
            Some(stored) if stored.hash == computed => HashState::Equal,
            _ if !unknown.is_empty() => HashState::Unconfirmed { brokers: unknown },
            None => HashState::NoLog,
            Some(stored) if stored.hash == 0 => HashState::NotStored,
            Some(_) => match self.pending() {
                Some(since) => HashState::Pending { since },
                None if at.since(self.stored_at) < READ_AGAIN => HashState::Behind { since: self.stored_at },
                None => HashState::Different { since: self.stored_at, reason: self.reason.clone() },
            },
        }
    }

    /// Why there is no computed hash.
    fn missing(&self, topics: &Topics) -> String {
        match &self.subscribed {
            Subscribed::Unknown(_, why) => (*why).to_owned(),
            Subscribed::Known(subscribed) => {
                let unread = subscribed.iter().find(|topic| topics.view(topic).is_none());
                unread.map_or_else(String::new, |topic| format!("topic {topic} was not read"))
            }
        }
    }

    /// Makes the view anew; true if it is another one.
    pub fn render(&mut self, group: &Group, topics: &Topics, at: At) -> bool {
        let shown = |topic: &Name| {
            topics.view(topic).cloned().unwrap_or_else(|| {
                Arc::new(TopicMetadata { name: topic.clone(), presence: Presence::Unknown, ..TopicMetadata::default() })
            })
        };
        let view = GroupMetadata {
            state: self.state(topics, at),
            computed: self.computed,
            stored: self.stored.filter(|_| self.by_log).map(|stored| stored.hash),
            epoch: self.stored.filter(|_| self.by_log).map(|stored| stored.epoch),
            topics: self.topics().iter().map(shown).collect(),
            far: group.description.as_ref().map_or_else(Vec::new, |description| far(description, topics)),
            changes: self.outcomes.iter().cloned().collect(),
        };
        let other = *self.view != view;
        if other {
            self.view = Arc::new(view);
        }
        other
    }
}

fn partition_count_changes(change: &TopicChange) -> bool {
    matches!(
        change,
        TopicChange::Created { .. }
            | TopicChange::Deleted { .. }
            | TopicChange::Recreated { .. }
            | TopicChange::Partitions { .. }
    )
}

/// What the group subscribes to, as far as it is known.
fn subscribed(group: &Group) -> Subscribed {
    let Some(description) = &group.description else { return Subscribed::default() };
    let members = &description.members;
    let reads = || {
        let held = members.iter().flat_map(|member| member.assignment.iter().chain(&member.target));
        let held = held.flat_map(|held| held.keys());
        let named = members.iter().flat_map(|member| member.subscription.iter().flatten());
        held.chain(named).cloned().collect()
    };
    if group.kind == GroupKind::Streams {
        return match &description.topology_topics {
            Some(topics) => Subscribed::Known(topics.iter().cloned().collect()),
            None => Subscribed::Unknown(reads(), "the topology is not in what was read of the coordinator log"),
        };
    }
    if members.iter().all(|member| member.subscription.is_some()) && group.described_at.is_some() {
        return Subscribed::Known(
            members.iter().flat_map(|member| member.subscription.iter().flatten()).cloned().collect(),
        );
    }
    Subscribed::Unknown(reads(), "what its members subscribe to is not known: only the coordinator log tells")
}

/// A topic's racks, and for each partition the places in them, looked up once for all members.
struct Placed<'a> {
    racks: &'a [Name],
    partitions: Vec<&'a [u32]>,
}

/// Members with a rack, and how much of what they hold has no replica there.
fn far(description: &Description, topics: &Topics) -> Vec<FarMember> {
    let mut known: BTreeMap<&Name, Option<Placed<'_>>> = BTreeMap::new();
    let mut all = Vec::new();
    for member in &description.members {
        let Some(rack) = member.rack.as_ref().filter(|rack| !rack.is_empty()) else { continue };
        let (mut far, mut held) = (0, 0);
        for (topic, numbers) in member.assignment.iter().flatten() {
            let placed = known.entry(topic).or_insert_with(|| {
                // Without racks at all nobody is far.
                let input = topics.hashes.input(topic).filter(|input| !input.racks().is_empty())?;
                Some(Placed { racks: input.racks(), partitions: input.partitions().collect() })
            });
            let Some(Placed { racks, partitions }) = placed else { continue };
            let here = racks.iter().position(|known| known == rack);
            let ranks = numbers.iter().filter_map(|number| partitions.get(usize::try_from(*number).ok()?));
            for replicas in ranks {
                held += 1;
                far += usize::from(!here.is_some_and(|here| replicas.contains(&(here as u32))));
            }
        }
        if far > 0 {
            all.push(FarMember { member: member.id.clone(), rack: rack.clone(), far, held });
        }
    }
    all
}
