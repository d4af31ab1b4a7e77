//! One group's history: a fold over its events. This file has what both protocols share; what a generation means is in
//! `classic.rs`, what an epoch means in `epochs.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cause::{Cause, CauseKind, Certainty, Why};
use super::draft::Draft;
use super::members::{AWAY, Known, Topics};
use super::moves::{self, Free, Held, Holding};
use super::polled::Polled;
use super::rebalance::{Gone, Happened, Happening, Moves, Rebalance, Who};
use crate::model::{At, Departure, Event, EventMember, GroupDefaults, GroupKind, Name, Wall, What};

/// Rebalances kept.
pub(super) const KEPT: usize = 500;
/// Members and moves that the rebalances of a group list together; the older ones keep their counts alone.
pub(super) const DETAILS: usize = 20_000;
/// Other events kept.
const SIDE: usize = 100;
/// Departures of which a return would be told.
const EXPECTED: usize = 200;
/// Commits that move back within this time are one event.
const RESET: Duration = Duration::from_secs(5);

/// When an event was read: the stream's time, and the wall clock of whoever writes the stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    pub at: At,
    pub wall: Option<Wall>,
}

/// Why events of a group's past are missing although the log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Nobody read the stream for so long that events found no place in it.
    Dropped,
    /// Its partition of the log went back: an unclean leader election lost records.
    Cut,
    /// Its partition of the log was not read on from where it was.
    Skipped,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dropped => "events were dropped, since nobody read the stream",
            Self::Cut => "its log went back: an unclean leader election lost records",
            Self::Skipped => "a part of its log was not read: it is gone, or was too long",
        })
    }
}

/// What is known of a group's past.
#[derive(Debug, Clone, Default)]
pub struct GroupHistory {
    pub(super) kind: Option<GroupKind>,
    /// What the brokers' configuration says of groups.
    pub(super) defaults: GroupDefaults,
    /// Partition of the coordinator log.
    pub(super) partition: Option<i32>,
    /// Why events of its past are missing, and up to which time.
    pub(super) missing: Option<(Missing, Wall)>,
    /// Time of the first event.
    pub(super) since: Option<Wall>,
    /// The newest time of an event.
    pub(super) newest: Option<Wall>,
    /// The log tells of the group from its creation.
    pub(super) complete: bool,
    /// Every member is known: the log tells from the creation, or through a whole rebalance, in which each member gets a
    /// record.
    pub(super) members_known: bool,
    pub(super) members: BTreeMap<Name, Known>,
    pub(super) topics: Topics,
    /// Members whose holdings may have changed since the last rebalance ended, and what they held then.
    pub(super) before: BTreeMap<Name, Holding>,
    pub(super) free: Free,
    /// Classic.
    pub(super) generation: Option<i32>,
    pub(super) protocol: Option<Name>,
    /// KIP-848, share, streams.
    pub(super) epoch: Option<i32>,
    pub(super) assignment_epoch: Option<i32>,
    pub(super) hash: Option<i64>,
    pub(super) draft: Draft,
    /// Oldest first.
    pub(super) list: VecDeque<Arc<Rebalance>>,
    details: usize,
    /// How many there ever were, also those that are no longer listed.
    pub(super) total: usize,
    /// Oldest first.
    pub(super) side: VecDeque<Arc<Happening>>,
    expected: VecDeque<Expected>,
    /// Members whose records the newest batch deleted: with a change of type, those that stay are written anew.
    removed: Vec<(Known, Departure)>,
    /// Members that went with a change to the classic protocol: told with the next generation.
    pub(super) leaving: BTreeMap<Name, Departure>,
    /// What was there when the group was deleted: a change of type deletes the group's records and writes it anew.
    deleted: Option<Deleted>,
    pub(super) polled: Polled,
}

/// A member that went; it may come back.
#[derive(Debug, Clone)]
struct Expected {
    who: Arc<Who>,
    left: Wall,
    until: Wall,
}

#[derive(Debug, Clone)]
struct Deleted {
    wall: Wall,
    members: BTreeMap<Name, Known>,
    /// Members whose records were deleted right before, in the same batch.
    removed: Vec<(Known, Departure)>,
    epoch: Option<i32>,
}

impl GroupHistory {
    /// Takes in an event that was not seen before. What is worth a line is added to `out`, or replaces a line of the
    /// same place.
    pub fn fold(&mut self, event: &Event, seen: Seen, out: &mut Vec<Happening>) {
        let first_of_batch = self.newest != Some(event.wall);
        if first_of_batch {
            self.removed.clear();
        }
        self.partition = Some(event.log.0);
        self.since.get_or_insert(event.wall);
        self.newest = self.newest.max(Some(event.wall));
        match &event.what {
            What::Generation(generation) => self.fold_generation(event, generation, seen, out),
            What::GroupEpoch { kind, epoch, hash } => {
                // The first bump of all may be written after its cause.
                self.forget_compacted(first_of_batch && *epoch > 2);
                self.fold_epoch(event, kind, *epoch, *hash, out);
            }
            What::AssignmentEpoch { epoch } => {
                self.assignment_epoch = Some(*epoch);
                self.finish_if_settled(event, out);
            }
            What::Member(member) => {
                self.forget_compacted(first_of_batch);
                self.fold_member(event, member, out);
            }
            What::MemberEpoch { member, epoch, settled, held } => {
                self.forget_compacted(first_of_batch);
                self.fold_member_epoch(event, member, *epoch, *settled, held, out);
            }
            What::MemberGone(departure) => {
                self.forget_compacted(first_of_batch);
                self.fold_gone(event, departure, out);
            }
            What::GroupGone => self.fold_deleted(event, out),
            What::CommitBack { topic, partition, from, to } => {
                self.fold_commit_back(event, (topic, *partition), (*from, *to), out);
            }
        }
    }

    /// Before the first epoch, records of another batch are what compaction has left of bumps of long ago.
    fn forget_compacted(&mut self, first_of_batch: bool) {
        if self.epoch.is_none() && self.deleted.is_none() && first_of_batch {
            self.draft = Draft::default();
        }
    }

    /// Notes the kind of the group. Returns whether it is another one than before.
    pub(super) fn is_kind(&mut self, event: &Event, kind: &GroupKind, out: &mut Vec<Happening>) -> bool {
        let from = self.kind.replace(kind.clone());
        let deleted = self.deleted.take();
        let Some(from) = from.filter(|from| from != kind) else { return false };
        let deletion = deleted.as_ref().filter(|deleted| deleted.wall == event.wall);
        let what = Happened::TypeChanged { from, to: kind.clone() };
        match (deletion, self.side.pop_back()) {
            // One batch of records: the same group, not another one of the same name.
            (Some(_), Some(last)) if last.what == Happened::Deleted => {
                self.side(Happening { what, ..(*last).clone() }, out);
            }
            (_, last) => {
                self.side.extend(last);
                self.happened(event, what, out);
            }
        }
        let (was, removed, epoch) = match deleted {
            // Another group of the same name.
            Some(deleted) if deleted.wall != event.wall => return true,
            Some(deleted) => (deleted.members, deleted.removed, deleted.epoch),
            None => (BTreeMap::new(), Vec::new(), self.epoch.or(self.generation)),
        };
        let now = std::mem::take(&mut self.members);
        self.reset();
        // Its members are written anew in the same batch; what they hold and whether they are there stays.
        for (id, known) in was {
            if !now.contains_key(&id) {
                self.add(known);
            } else if let Some(mut described) = now.get(&id).cloned() {
                described.held = known.held;
                self.add(described);
            }
        }
        for (id, known) in now {
            if !self.members.contains_key(&id) {
                self.add(known);
            }
        }
        if matches!(kind, GroupKind::Classic) {
            for (known, departure) in removed {
                self.expect_no_more(&known.who);
                self.leaving.insert(known.who.id.clone(), departure);
                self.add(known);
            }
        }
        // The group goes on from the generation that it had, as its epoch, and the other way round.
        (self.generation, self.epoch, self.assignment_epoch) = (epoch, epoch, epoch);
        true
    }

    /// Forgets what the group is now; what has happened stays.
    fn reset(&mut self) {
        self.members.clear();
        self.topics = Topics::default();
        self.before.clear();
        self.free.clear();
        (self.generation, self.epoch, self.assignment_epoch, self.hash) = (None, None, None, None);
        self.protocol = None;
        self.draft = Draft::default();
        self.leaving.clear();
    }

    /// Events up to that time are missing: what the group is now is not known until it is told anew.
    pub(super) fn miss(&mut self, why: Missing, until: Wall) {
        self.reset();
        self.deleted = None;
        self.removed.clear();
        self.expected.clear();
        (self.complete, self.members_known) = (false, false);
        self.missing = Some((why, self.missing.map_or(until, |(_, before)| before.max(until))));
    }

    fn fold_deleted(&mut self, event: &Event, out: &mut Vec<Happening>) {
        let members = std::mem::take(&mut self.members);
        let removed = std::mem::take(&mut self.removed);
        let epoch = self.epoch.or(self.generation);
        self.reset();
        self.deleted = Some(Deleted { wall: event.wall, members, removed, epoch });
        (self.complete, self.members_known) = (true, true);
        self.happened(event, Happened::Deleted, out);
    }

    /// Whether it is deleted and not there again.
    pub(super) fn is_deleted(&self) -> bool {
        self.deleted.is_some()
    }

    fn fold_commit_back(
        &mut self,
        event: &Event,
        (topic, partition): (&Name, i32),
        (from, to): (i64, i64),
        out: &mut Vec<Happening>,
    ) {
        let by = u64::try_from(from.saturating_sub(to)).unwrap_or(0);
        if let Some(last) = self.side.back_mut()
            && last.log.is_some_and(|(log, _)| log == event.log.0)
            && event.wall.since(last.wall) <= RESET
            && let Happening { what: Happened::CommitsBack { partitions, records, .. }, .. } = Arc::make_mut(last)
        {
            *partitions += 1;
            *records = records.saturating_add(by);
            out.push((**last).clone());
            return;
        }
        let topic = topic.clone();
        self.happened(event, Happened::CommitsBack { partitions: 1, records: by, topic, partition, from, to }, out);
    }

    /// Something else than a rebalance.
    pub(super) fn happened(&mut self, event: &Event, what: Happened, out: &mut Vec<Happening>) {
        self.side(Happening { group: event.group.clone(), wall: event.wall, log: Some(event.log), what }, out);
    }

    pub(super) fn side(&mut self, happening: Happening, out: &mut Vec<Happening>) {
        if self.side.len() == SIDE {
            self.side.pop_front();
        }
        self.side.push_back(Arc::new(happening.clone()));
        out.push(happening);
    }

    /// Adds a member.
    pub(super) fn add(&mut self, known: Known) {
        self.topics.add(&known);
        self.members.insert(known.who.id.clone(), known);
    }

    pub(super) fn remove(&mut self, id: &Name) -> Option<Known> {
        let known = self.members.remove(id)?;
        self.topics.remove(&known);
        Some(known)
    }

    /// Notes that what a member holds is about to change.
    pub(super) fn touch(&mut self, known: &Known) {
        self.before.entry(known.who.id.clone()).or_insert_with(|| (Arc::clone(&known.who), known.held.clone()));
    }

    /// The records of a member were deleted.
    pub(super) fn note_removed(&mut self, known: &Known, departure: &Departure) {
        self.removed.push((known.clone(), departure.clone()));
    }

    /// A member is gone: from now on its return is expected.
    pub(super) fn depart(&mut self, event: &Event, departure: &Departure, known: Option<&Known>, left: Wall) {
        let mut departure = departure.clone();
        let member = &mut departure.member;
        if let Some(known) = known {
            member.rebalance_timeout_ms = member.rebalance_timeout_ms.or(known.rebalance_timeout_ms);
            member.session_timeout_ms = member.session_timeout_ms.or(known.session_timeout_ms);
        }
        let told = !member.client_id.is_empty() || !member.host.is_empty();
        let who = known.filter(|_| !told).map_or_else(|| Arc::new(Who::from(&*member)), |known| Arc::clone(&known.who));
        let listed = departure.member.held.as_ref().map(|held| held.values().map(Vec::len).sum());
        let held = known.filter(|known| known.held.is_some()).map(Known::partitions).or(listed);
        let away = known.is_some_and(|known| known.epoch == Some(AWAY));
        let default = self.kind.as_ref().and_then(|kind| self.defaults.session_timeout_ms(kind));
        let why = Why::of(&departure, left, held, away, default);
        let until = left.plus(why.return_window());
        self.expected.retain(|expected| expected.until >= left);
        if self.expected.len() == EXPECTED {
            self.expected.pop_front();
        }
        self.expected.push_back(Expected { who: Arc::clone(&who), left, until });
        self.draft.gone(Gone { who, why }, event.wall);
    }

    /// A member joined: perhaps one that went a while ago.
    pub(super) fn arrive(&mut self, event: &Event, who: &Arc<Who>, out: &mut Vec<Happening>) {
        let certainty = if self.members_known { Certainty::Certain } else { Certainty::Likely };
        self.draft.joined(Arc::clone(who), certainty, event.wall);
        let returns = |expected: &Expected| expected.who.resembles(who) && event.wall <= expected.until;
        let Some(place) = self.expected.iter().rposition(returns) else { return };
        let Some(expected) = self.expected.remove(place) else { return };
        let after = event.wall.since(expected.left);
        let is_it = |gone: &Gone| gone.who.id == expected.who.id;
        let is_back = |who: &Who, why: &mut Why| {
            let is_it = who.id == expected.who.id;
            if is_it {
                why.is_back(after);
            }
            is_it
        };
        if self.draft.gone.list.iter().any(is_it) {
            let Draft { causes, gone, .. } = &mut self.draft;
            update(&mut gone.list, causes, is_back);
            return;
        }
        let left = self.list.iter_mut().rev().find(|rebalance| rebalance.gone.list.iter().any(is_it));
        if let Some(rebalance) = left {
            let changed = Arc::make_mut(rebalance);
            update(&mut changed.gone.list, &mut changed.causes, is_back);
            out.push(line(&event.group, rebalance));
        }
    }

    /// What the brokers' configuration says, which may come after events that it explains.
    pub(super) fn set_defaults(&mut self, group: &Name, defaults: GroupDefaults, out: &mut Vec<Happening>) {
        self.defaults = defaults;
        let timeout = self.kind.as_ref().and_then(|kind| defaults.session_timeout_ms(kind));
        let Some(timeout) = timeout else { return };
        let times_out = |_: &Who, why: &mut Why| why.times_out(timeout);
        let Draft { causes, gone, .. } = &mut self.draft;
        update(&mut gone.list, causes, times_out);
        for rebalance in &mut self.list {
            let mut changed = Rebalance::clone(rebalance);
            if update(&mut changed.gone.list, &mut changed.causes, times_out) {
                *rebalance = Arc::new(changed);
                out.push(line(group, rebalance));
            }
        }
    }

    /// No return of this member is expected: a static member is back under another id.
    pub(super) fn expect_no_more(&mut self, who: &Who) {
        self.expected.retain(|expected| expected.who.id != who.id);
    }

    /// What changed hands since the last rebalance ended.
    pub(super) fn moves(&mut self) -> Option<Moves> {
        let before = std::mem::take(&mut self.before);
        let now: Vec<Holding> = before
            .keys()
            .filter_map(|id| self.members.get(id))
            .map(|known| (Arc::clone(&known.who), known.held.clone()))
            .collect();
        let before: Vec<Holding> = before.into_values().collect();
        if self.kind != Some(GroupKind::Share) {
            let held = self.members.values().map(Known::partitions).sum();
            return moves::between(&before, &now, &Held::Each(held), &mut self.free);
        }
        let held = self.members.values().flat_map(|known| known.held.iter().flatten());
        let each = held.flat_map(|(topic, partitions)| partitions.iter().map(|partition| (topic.clone(), *partition)));
        moves::between(&before, &now, &Held::Together(each.collect()), &mut self.free)
    }

    /// Keeps a rebalance that has ended.
    pub(super) fn push(&mut self, group: &Name, mut rebalance: Rebalance, out: &mut Vec<Happening>) {
        if rebalance.causes.is_empty() {
            let mut draft = Draft::default();
            draft.cause(CauseKind::Untold, Certainty::Certain, rebalance.began);
            rebalance.causes = draft.causes;
        }
        self.total += 1;
        self.details += rebalance.details();
        let rebalance = Arc::new(rebalance);
        out.push(line(group, &rebalance));
        self.list.push_back(rebalance);
        if self.list.len() > KEPT
            && let Some(oldest) = self.list.pop_front()
        {
            self.details -= oldest.details();
        }
        let newest = self.list.len().saturating_sub(1);
        for old in self.list.iter_mut().take(newest) {
            if self.details <= DETAILS {
                break;
            }
            let details = old.details();
            if details > 0 {
                self.details -= details;
                Arc::make_mut(old).thin();
            }
        }
    }
}

/// Updates departures where they are listed and where they are a cause; whether any is another one then.
fn update(gone: &mut [Gone], causes: &mut [Cause], mut update: impl FnMut(&Who, &mut Why) -> bool) -> bool {
    let mut changed = false;
    for gone in gone.iter_mut() {
        changed |= update(&gone.who, &mut gone.why);
    }
    for cause in causes.iter_mut() {
        if let CauseKind::Gone { first, why, .. } = &mut cause.kind {
            changed |= update(first, why);
        }
    }
    changed
}

/// A rebalance as a line of the feed.
pub(super) fn line(group: &Name, rebalance: &Arc<Rebalance>) -> Happening {
    let what = Happened::Rebalance(Arc::clone(rebalance));
    Happening { group: group.clone(), wall: rebalance.ended, log: rebalance.log, what }
}

/// The member that a departure is told of, from what is known of it.
pub(super) fn departure_of(known: &Known) -> Departure {
    let member = EventMember {
        id: known.who.id.clone(),
        instance_id: known.who.instance_id.clone(),
        client_id: known.who.client_id.clone(),
        host: known.who.host.clone(),
        ..EventMember::default()
    };
    Departure { member, ..Departure::default() }
}
