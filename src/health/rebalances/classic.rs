//! Classic groups: a record for each generation that synced, with all its members. A rebalance is the difference between
//! two of them; the first record of a group that is not its beginning is where the history starts, not a rebalance.
//! The same generation again is a static member that came back (`GroupMetadataManager`, KIP-345).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cause::{CauseKind, Certainty};
use super::draft::Draft;
use super::group::{GroupHistory, Seen, departure_of};
use super::members::Known;
use super::moves::{self, Held, Holding};
use super::rebalance::{Happened, Happening, Moves, Rebalance, Who};
use crate::model::{Departure, Event, EventMember, Generation, GroupKind, Name};

impl GroupHistory {
    pub(super) fn fold_generation(&mut self, event: &Event, record: &Generation, seen: Seen, out: &mut Vec<Happening>) {
        let changed_type = kind(record).is_some_and(|kind| self.is_kind(event, &kind, out));
        let now = record.members.iter().map(|member| {
            let held = member.held.clone();
            (member.id.clone(), Known { held, settled: true, ..Known::new(member) })
        });
        let now: BTreeMap<Name, Known> = now.collect();
        let creation = record.generation == 0 && record.members.is_empty();
        let begins_here = self.complete || (record.generation == 1 && self.missing.is_none());
        match self.generation {
            None if creation => self.happened(event, Happened::Created, out),
            None if begins_here => self.rebalance(event, record, 0, &now, seen, out),
            // Compacted, or the reading starts here.
            None => {}
            Some(last) if record.generation > last => self.rebalance(event, record, last, &now, seen, out),
            Some(last) if record.generation == last && changed_type => {}
            Some(last) if record.generation == last => self.restarted(event, &now, out),
            // Deleted and created again, and the tombstone is compacted away.
            Some(_) => {
                self.free.clear();
                self.complete = false;
            }
        }
        if !changed_type {
            self.leaving.clear();
        }
        self.complete |= creation || (self.generation.is_none() && record.generation == 1);
        self.members_known = true;
        self.generation = Some(record.generation);
        self.protocol.clone_from(&record.protocol);
        let leaving = std::mem::replace(&mut self.members, now);
        if changed_type {
            // Who went with the change is a member of the generation that ends with the next record.
            for id in self.leaving.keys().filter(|id| !self.members.contains_key(*id)).cloned().collect::<Vec<_>>() {
                self.members.extend(leaving.get(&id).map(|known| (id, known.clone())));
            }
        }
        if self.members.is_empty() {
            self.free.clear();
        }
    }

    /// Static members that came back in the same generation.
    fn restarted(&mut self, event: &Event, now: &BTreeMap<Name, Known>, out: &mut Vec<Happening>) {
        let back: Vec<Arc<Who>> = now
            .values()
            .filter(|known| !self.members.contains_key(&known.who.id) && self.same_instance(&known.who).is_some())
            .map(|known| Arc::clone(&known.who))
            .collect();
        if back.is_empty() {
            self.happened(event, Happened::StaticRestarted(None), out);
        }
        for who in back {
            self.happened(event, Happened::StaticRestarted(Some(who)), out);
        }
    }

    fn same_instance(&self, who: &Who) -> Option<&Known> {
        who.instance_id.as_ref()?;
        self.members.values().find(|known| known.who.instance_id == who.instance_id)
    }

    fn rebalance(
        &mut self,
        event: &Event,
        record: &Generation,
        from: i32,
        now: &BTreeMap<Name, Known>,
        seen: Seen,
        out: &mut Vec<Happening>,
    ) {
        self.draft = Draft::default();
        let left = record.joined_at.filter(|joined| *joined <= event.wall).unwrap_or(event.wall);
        let instances: Vec<&Name> = now.values().filter_map(|known| known.who.instance_id.as_ref()).collect();
        let stays = |who: &Who| {
            now.contains_key(&who.id) || who.instance_id.as_ref().is_some_and(|instance| instances.contains(&instance))
        };
        let known: Vec<Known> = self.members.values().filter(|known| !stays(&known.who)).cloned().collect();
        for known in &known {
            let told = record.gone.iter().find(|departure| departure.member.id == known.who.id).cloned();
            let told = told.or_else(|| self.leaving.remove(&known.who.id));
            self.depart(event, &told.unwrap_or_else(|| departure_of(known)), Some(known), left);
        }
        let unknown = |departure: &&Departure| {
            let who = Who::from(&departure.member);
            !self.members.contains_key(&who.id) && !stays(&who)
        };
        for departure in record.gone.iter().filter(unknown).cloned().collect::<Vec<_>>() {
            self.depart(event, &departure, None, left);
        }
        for member in &record.members {
            self.compare(event, member, now, out);
        }
        let assignor = |protocol: &Option<Name>| protocol.clone().filter(|protocol| !protocol.is_empty());
        let (was, is) = (assignor(&self.protocol), assignor(&record.protocol));
        if was.is_some() && is.is_some() && was != is {
            self.draft.cause(CauseKind::Assignor { from: was, to: is.clone() }, Certainty::Certain, event.wall);
        }
        let cooperative = is.is_some_and(|protocol| protocol.raw().contains("cooperative"));
        let was_free = !self.free.is_empty();
        let moves = self.handed_over(event, now);
        if self.draft.causes.is_empty() && cooperative && was_free {
            self.draft.cause(CauseKind::SecondRound, Certainty::Likely, event.wall);
        }
        let took = self.polled.took(event, record.joined_at, seen);
        let ended = event.wall;
        let draft = std::mem::take(&mut self.draft);
        let rebalance = Rebalance {
            log: Some(event.log),
            began: ended.minus(took.known()),
            ended,
            took,
            from: Some(from),
            to: Some(record.generation),
            missed: u32::try_from(i64::from(record.generation) - i64::from(from) - 1).unwrap_or(0),
            bumps: 0,
            causes: draft.causes,
            joined: draft.joined,
            gone: draft.gone,
            moves,
            emptied: now.is_empty(),
            partial: false,
        };
        self.push(&event.group, rebalance, out);
    }

    /// What a member of the new generation says that it did not say in the one before.
    fn compare(&mut self, event: &Event, member: &EventMember, now: &BTreeMap<Name, Known>, out: &mut Vec<Happening>) {
        let Some(known) = now.get(&member.id) else { return };
        let who = Arc::clone(&known.who);
        let same = self.members.get(&member.id).or_else(|| self.same_instance(&who)).cloned();
        let Some(before) = same else {
            self.members_known = true;
            self.arrive(event, &who, out);
            return;
        };
        if before.who.id != who.id {
            self.draft.cause(CauseKind::StaticBack(Arc::clone(&who)), Certainty::Certain, event.wall);
        }
        if let Some((added, removed)) = before.resubscribed(known) {
            let kind = CauseKind::Subscription { first: who, members: 1, added, removed };
            self.draft.cause(kind, Certainty::Certain, event.wall);
        }
    }

    /// The moves; and whether there are more partitions than before, or, where nothing else is a cause, fewer are handed out.
    fn handed_over(&mut self, event: &Event, now: &BTreeMap<Name, Known>) -> Option<Moves> {
        let differs = |known: &&Known, others: &BTreeMap<Name, Known>| {
            others.get(&known.who.id).is_none_or(|other| other.held != known.held || known.held.is_none())
        };
        let holding = |known: &Known| -> Holding { (Arc::clone(&known.who), known.held.clone()) };
        let before: Vec<Holding> = self.members.values().filter(|known| differs(known, now)).map(holding).collect();
        let after: Vec<Holding> = now.values().filter(|known| differs(known, &self.members)).map(holding).collect();
        let was = moves::extents(self.members.values().map(|known| &known.held), &self.free);
        let held = Held::Each(now.values().map(Known::partitions).sum());
        let moves = moves::between(&before, &after, &held, &mut self.free);
        let is = moves::extents(now.values().map(|known| &known.held), &self.free);
        self.draft.resized(was, &is, event.wall);
        moves
    }
}

/// The type of a group by its record; `None`: a group that had no member yet.
fn kind(record: &Generation) -> Option<GroupKind> {
    match record.protocol_type.raw() {
        "" => None,
        "consumer" => Some(GroupKind::Classic),
        _ => Some(GroupKind::Other(record.protocol_type.clone())),
    }
}
