//! KIP-848, share and streams groups. A rebalance begins at the first group epoch ahead of the assignment epoch and ends
//! when the assignment is of the group epoch and every member has that epoch and nothing left to do (`MemberState` 0);
//! a group without members has nothing to wait for. Bumps in between belong to it.
//!
//! What causes a bump is written before it, in the same batch of records (`GroupMetadataManager`).

use std::sync::Arc;
use std::time::Duration;

use super::cause::{CauseKind, Certainty};
use super::draft::Draft;
use super::group::{GroupHistory, departure_of};
use super::members::{AWAY, Known};
use super::rebalance::{Happened, Happening, Rebalance, Took, Waiting};
use crate::model::{Departure, Event, EventMember, GroupKind, Name, TopicPartitions};

impl GroupHistory {
    pub(super) fn fold_epoch(
        &mut self,
        event: &Event,
        kind: &GroupKind,
        epoch: i32,
        hash: Option<i64>,
        out: &mut Vec<Happening>,
    ) {
        let changed_type = self.is_kind(event, kind, out);
        let known = self.epoch;
        // The first epoch is 1, of newer brokers (4.4) 2; then nobody was there before.
        let first = epoch <= 1 || (epoch == 2 && self.draft.joined.count == self.members.len());
        let begins_here = known.is_none() && (first || self.complete) && self.missing.is_none();
        if begins_here {
            (self.complete, self.members_known) = (true, true);
            self.draft.all_told();
            self.happened(event, Happened::Created, out);
        }
        if known.is_some_and(|known| epoch < known) {
            // Deleted and created again, and the tombstone is compacted away.
            self.assignment_epoch = None;
            (self.complete, self.members_known) = (false, false);
            let old: Vec<Name> =
                self.members.iter().filter(|(_, known)| known.epoch.is_some()).map(|(id, _)| id.clone()).collect();
            for id in &old {
                self.remove(id);
            }
            self.before.clear();
            self.free.clear();
        }
        self.judge_hash(event, hash, changed_type);
        self.epoch = Some(epoch);
        if known == Some(epoch) {
            return;
        }
        if self.draft.begun.is_none() && self.assignment_epoch.is_none_or(|assigned| epoch > assigned) {
            let before = known.filter(|known| *known < epoch).unwrap_or(epoch.saturating_sub(1));
            // Every member has got a record since the last one began.
            if self.list.back().is_some_and(|last| last.bumps > 0) {
                self.members_known = true;
                self.draft.all_told();
            }
            self.draft.begin(event, before);
        }
        self.draft.bumps += 1;
        if self.members.is_empty() && self.members_known {
            self.finish(event, out);
        }
    }

    /// Another group hash with the same topics: their metadata changed.
    fn judge_hash(&mut self, event: &Event, hash: Option<i64>, changed_type: bool) {
        let (topics_changed, topics_known) = self.topics.take_changed();
        let from = std::mem::replace(&mut self.hash, hash);
        if from == hash || self.epoch.is_none() || changed_type || topics_changed {
            return;
        }
        // An older broker stores none; a topic that is subscribed and does not exist counts nothing.
        let certain = topics_known && self.members_known && !self.members.is_empty();
        let certainty = if certain { Certainty::Certain } else { Certainty::Likely };
        self.draft.cause(CauseKind::Metadata { from, to: hash }, certainty, event.wall);
    }

    pub(super) fn fold_member(&mut self, event: &Event, member: &EventMember, out: &mut Vec<Happening>) {
        let mut known = Known::new(member);
        let before = self.remove(&member.id).or_else(|| self.replaced(event, member, out));
        let Some(before) = before else {
            if self.members_known || self.epoch.is_none() {
                self.touch(&known);
            }
            let who = Arc::clone(&known.who);
            self.add(known);
            self.arrive(event, &who, out);
            return;
        };
        (known.epoch, known.settled) = (before.epoch, before.settled);
        known.held.clone_from(&before.held);
        if let Some((added, removed)) = before.resubscribed(&known).filter(|_| !before.who.client_id.is_empty()) {
            let first = Arc::clone(&known.who);
            let kind = CauseKind::Subscription { first, members: 1, added, removed };
            self.draft.cause(kind, Certainty::Certain, event.wall);
        }
        if before.assignor != known.assignor && !before.who.client_id.is_empty() {
            let (from, to) = (before.assignor, known.assignor.clone());
            self.draft.cause(CauseKind::Assignor { from, to }, Certainty::Certain, event.wall);
        }
        self.add(known);
    }

    /// The static member that this one continues under a new id: its records were deleted right before.
    fn replaced(&mut self, event: &Event, member: &EventMember, out: &mut Vec<Happening>) -> Option<Known> {
        let back = Known::new(member).who;
        back.instance_id.as_ref()?;
        let gone = self.draft.is_back(&back);
        let still_there = self.members.values().find(|known| known.who.is(&back)).map(|known| known.who.id.clone());
        let old = match (gone, still_there) {
            (Some(gone), _) => {
                self.expect_no_more(&gone.who);
                gone.who.id.clone()
            }
            (None, Some(id)) => id,
            (None, None) => return None,
        };
        let known = self.remove(&old);
        // What it held before is told of the new id.
        let held =
            self.before.remove(&old).or_else(|| known.as_ref().map(|known| (Arc::clone(&back), known.held.clone())));
        let held = held.and_then(|(_, held)| held);
        self.before.entry(back.id.clone()).or_insert_with(|| (Arc::clone(&back), held.clone()));
        self.draft.cause(CauseKind::StaticBack(Arc::clone(&back)), Certainty::Certain, event.wall);
        self.happened(event, Happened::StaticRestarted(Some(Arc::clone(&back))), out);
        Some(known.unwrap_or_else(|| Known {
            subscription: member.subscription.clone(),
            regex: member.regex.clone(),
            assignor: member.assignor.clone(),
            held,
            who: back,
            ..Known::default()
        }))
    }

    pub(super) fn fold_member_epoch(
        &mut self,
        event: &Event,
        id: &Name,
        epoch: i32,
        settled: bool,
        held: &TopicPartitions,
        out: &mut Vec<Happening>,
    ) {
        let known = if let Some(known) = self.members.get(id) {
            known.clone()
        } else {
            let known = Known::unnamed(id);
            if self.members_known {
                self.touch(&known);
            }
            self.add(known.clone());
            known
        };
        if known.held.as_ref() != Some(held)
            && (self.members_known || self.before.contains_key(id) || known.epoch.is_some())
        {
            self.touch(&known);
        }
        if epoch == AWAY && known.epoch != Some(AWAY) {
            let who = Arc::clone(&known.who);
            self.draft.cause(CauseKind::StaticAway(Arc::clone(&who)), Certainty::Certain, event.wall);
            self.happened(event, Happened::StaticAway(who), out);
        }
        if let Some(known) = self.members.get_mut(id) {
            (known.epoch, known.settled) = (Some(epoch), settled);
            known.held = Some(held.clone());
        }
        self.finish_if_settled(event, out);
    }

    pub(super) fn fold_gone(&mut self, event: &Event, departure: &Departure, _out: &mut Vec<Happening>) {
        let known = self.remove(&departure.member.id);
        if let Some(known) = &known {
            self.touch(known);
            self.note_removed(known, departure);
        }
        let told = known.as_ref().filter(|_| departure.member.id.is_empty()).map(departure_of);
        self.depart(event, told.as_ref().unwrap_or(departure), known.as_ref(), event.wall);
    }

    /// Members that are not where the group is.
    pub(super) fn waits_for(&self) -> Vec<Waiting> {
        let behind = self.members.values().filter(|known| known.epoch != self.epoch || !known.settled);
        behind
            .map(|known| Waiting { who: Arc::clone(&known.who), epoch: known.epoch, settled: known.settled })
            .collect()
    }

    pub(super) fn finish_if_settled(&mut self, event: &Event, out: &mut Vec<Happening>) {
        let settled = |known: &Known| known.epoch == self.epoch && known.settled;
        if self.draft.begun.is_some()
            && self.assignment_epoch == self.epoch
            && !self.members.is_empty()
            && self.members.values().all(settled)
        {
            self.finish(event, out);
        }
    }

    fn finish(&mut self, event: &Event, out: &mut Vec<Happening>) {
        let draft = std::mem::take(&mut self.draft);
        let Some(begun) = draft.begun else { return };
        let took = if self.members_known && event.wall >= begun.wall {
            Took::Exact(event.wall.since(begun.wall))
        } else {
            Took::AtLeast(event.wall.since(begun.wall))
        };
        let moves = self.moves();
        let rebalance = Rebalance {
            log: Some(begun.log),
            began: begun.wall,
            ended: event.wall.max(begun.wall),
            took,
            from: Some(begun.from),
            to: self.epoch,
            missed: 0,
            bumps: draft.bumps,
            causes: draft.causes,
            joined: draft.joined,
            gone: draft.gone,
            moves,
            emptied: self.members.is_empty(),
            partial: !self.members_known,
        };
        if self.members.is_empty() {
            self.free.clear();
        }
        self.push(&event.group, rebalance, out);
    }
}

impl Draft {
    /// How long it lasts, by the coordinator's clock.
    pub(super) fn lasting(&self, now: crate::model::Wall) -> Option<Duration> {
        self.begun.map(|begun| now.since(begun.wall))
    }
}
