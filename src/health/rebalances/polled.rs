//! What polls tell: when a classic group was preparing a rebalance, which no record says; and where the coordinator log
//! cannot be read, rebalances themselves, from successive descriptions. Those are a lower bound: what happens between
//! two polls is at most one of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::cause::{Certainty, Why};
use super::draft::Draft;
use super::group::{GroupHistory, KEPT, line};
use super::moves::{self, Free, Held, Holding};
use super::rebalance::{Gone, Happened, Happening, Rebalance, Took, Who};
use crate::model::{At, Departure, Description, Event, GroupKind, GroupState, Name, Wall};

/// What one poll said of a group.
#[derive(Debug, Clone, Copy)]
pub struct Poll<'a> {
    pub group: &'a Name,
    pub kind: &'a GroupKind,
    /// As shown, which may be derived from epochs or from the list of groups.
    pub state: GroupState,
    pub description: &'a Description,
    /// When it was observed.
    pub at: At,
    pub wall: Wall,
    /// Up to then nothing had changed since the poll before; where only changes are told.
    pub unchanged_until: Option<At>,
    /// No log tells of this group, nor will it: its rebalances are to be derived from polls.
    pub alone: bool,
}

/// A record is as fresh as the poll beside it if its time is so close to the clock of whoever reads.
const LIVE: Duration = Duration::from_secs(30);
/// A duration known less exactly than this is a lower bound.
const BLUR: Duration = Duration::from_secs(30);

/// The polls of one group.
#[derive(Debug, Clone, Default)]
pub struct Polled {
    /// Whether the group was rebalancing when it was last seen.
    last: Option<(At, bool)>,
    watch: Option<Watch>,
    /// Who was there, and what each held, when the group was last at rest.
    rest: Option<BTreeMap<Name, Holding>>,
    free: Free,
    kind: Option<GroupKind>,
    /// When polls began to tell of it.
    pub(super) since: Option<Wall>,
    /// Rebalances derived from polls, oldest first.
    pub(super) list: VecDeque<Arc<Rebalance>>,
    pub(super) total: usize,
}

/// Polls that saw a rebalance.
#[derive(Debug, Clone, Copy)]
struct Watch {
    /// The last time that the group was seen at rest before.
    before: Option<At>,
    first: At,
    last: At,
    /// The first time that it was seen at rest after.
    ended: Option<At>,
}

impl Watch {
    /// How long it took if it was over at `end`, and at least `known`.
    fn took(&self, end: At, known: Duration) -> Took {
        let end = self.ended.map_or(end, |ended| ended.min(end));
        let least = self.last.since(self.first).max(known);
        let most = self.before.map(|before| end.since(before)).filter(|most| *most >= least);
        match most {
            Some(most) if most.saturating_sub(least) <= BLUR => {
                let error = u64::try_from(most.saturating_sub(least).as_millis().div_ceil(2)).unwrap_or(u64::MAX);
                Took::About { took: (most + least) / 2, error: Duration::from_millis(error) }
            }
            _ => Took::AtLeast(least),
        }
    }
}

/// What a poll's state means for the rebalances.
enum Seen {
    /// The state is not known, or a rebalance is under way.
    Nothing,
    /// The group is at rest, and was before, or that is not known.
    AtRest,
    /// The group is at rest, and was not before.
    Ended(Watch),
}

impl Polled {
    /// How long a classic rebalance took whose record this is: the sync phase is in the record, the rest only polls
    /// know, by the stream's own clock.
    pub(super) fn took(&mut self, event: &Event, joined_at: Option<Wall>, seen: super::Seen) -> Took {
        let sync = joined_at.map_or(Duration::ZERO, |joined| event.wall.since(joined));
        let close = |wall: Wall| wall.since(event.wall).max(event.wall.since(wall)) <= LIVE;
        if !seen.wall.is_some_and(close) {
            return Took::AtLeast(sync);
        }
        let Some(watch) = self.watch.take() else { return Took::AtLeast(sync) };
        self.last = Some((seen.at, false));
        watch.took(seen.at, sync)
    }

    /// Since when the group is seen rebalancing, and whether it may be longer.
    pub(super) fn rebalancing(&self) -> Option<(At, bool)> {
        let watch = self.watch.filter(|watch| watch.ended.is_none())?;
        Some((watch.first, watch.before.is_none()))
    }

    fn note(&mut self, poll: &Poll<'_>) -> Seen {
        let rebalancing = match poll.state {
            GroupState::PreparingRebalance
            | GroupState::CompletingRebalance
            | GroupState::Assigning
            | GroupState::Reconciling => true,
            GroupState::Stable | GroupState::Empty => false,
            GroupState::Unknown | GroupState::NotReady | GroupState::Dead => return Seen::Nothing,
        };
        let before = self.last.filter(|(_, rebalancing)| !rebalancing).map(|(at, _)| at);
        let before = before.map(|at| poll.unchanged_until.map_or(at, |until| until.max(at)).min(poll.at));
        self.last = Some((poll.at, rebalancing));
        match &mut self.watch {
            Some(watch) if watch.ended.is_none() => {
                if rebalancing {
                    watch.last = watch.last.max(poll.at);
                    return Seen::Nothing;
                }
                watch.ended = Some(poll.at);
                Seen::Ended(*watch)
            }
            _ if rebalancing => {
                self.watch = Some(Watch { before, first: poll.at, last: poll.at, ended: None });
                Seen::Nothing
            }
            _ => Seen::AtRest,
        }
    }
}

impl GroupHistory {
    /// Takes in what a poll said.
    pub fn poll(&mut self, poll: &Poll<'_>, out: &mut Vec<Happening>) {
        self.name_members(poll.description);
        self.polled.since.get_or_insert(poll.wall);
        let watch = match self.polled.note(poll) {
            Seen::Nothing => return,
            Seen::AtRest => None,
            Seen::Ended(watch) => Some(watch),
        };
        let now: BTreeMap<Name, Holding> = poll
            .description
            .members
            .iter()
            .map(|member| (member.id.clone(), (Arc::new(Who::from(member)), member.assignment.clone())))
            .collect();
        let before = self.polled.rest.replace(now);
        let known = self.polled.kind.replace(poll.kind.clone());
        if !poll.alone {
            return;
        }
        let side = |what| Happening { group: poll.group.clone(), wall: poll.wall, log: None, what };
        let real = |kind: &GroupKind| !matches!(kind, GroupKind::Unknown | GroupKind::ShareOrStreams);
        if let Some(from) = known.filter(|known| known != poll.kind && real(known) && real(poll.kind)) {
            self.side(side(Happened::TypeChanged { from, to: poll.kind.clone() }), out);
        }
        let Some(before) = before else { return };
        let now = self.polled.rest.clone().unwrap_or_default();
        let (mut draft, back) = compare(&before, &now, poll.wall);
        for who in back {
            self.side(side(Happened::StaticRestarted(Some(who))), out);
        }
        let (was, is): (Vec<Holding>, Vec<Holding>) = (differing(&before, &now), differing(&now, &before));
        let held = now.values().flat_map(|(_, held)| held.iter().flatten()).map(|(_, partitions)| partitions.len());
        let moves = moves::between(&was, &is, &Held::Each(held.sum()), &mut self.polled.free);
        let changed = moves.as_ref().is_some_and(|moves| moves.moved + moves.taken + moves.dropped > 0);
        if watch.is_none() && !changed && draft.causes.is_empty() {
            return;
        }
        self.polled.watch = None;
        let took = watch.map_or(Took::default(), |watch| watch.took(poll.at, Duration::ZERO));
        if draft.causes.is_empty() {
            draft.cause(super::CauseKind::Untold, Certainty::Certain, poll.wall);
        }
        if now.is_empty() {
            self.polled.free.clear();
        }
        let rebalance = Rebalance {
            log: None,
            began: poll.wall.minus(took.known()),
            ended: poll.wall,
            took,
            causes: draft.causes,
            joined: draft.joined,
            gone: draft.gone,
            moves,
            emptied: now.is_empty(),
            ..Rebalance::default()
        };
        let rebalance = Arc::new(rebalance);
        out.push(line(poll.group, &rebalance));
        self.polled.push(rebalance);
    }

    /// Members of which the log told no more than the id, because it is not read from its beginning.
    fn name_members(&mut self, description: &Description) {
        if self.members.values().all(|known| !known.who.client_id.is_empty() || !known.who.host.is_empty()) {
            return;
        }
        for member in &description.members {
            if let Some(known) = self.members.get_mut(&member.id)
                && known.who.client_id.is_empty()
            {
                known.who = Arc::new(Who::from(member));
            }
        }
    }
}

impl Polled {
    fn push(&mut self, rebalance: Arc<Rebalance>) {
        self.total += 1;
        self.list.push_back(rebalance);
        if self.list.len() > KEPT {
            self.list.pop_front();
        }
        let mut details: usize = self.list.iter().map(|rebalance| rebalance.details()).sum();
        for old in &mut self.list {
            if details <= super::group::DETAILS {
                break;
            }
            details -= old.details();
            Arc::make_mut(old).thin();
        }
    }
}

/// Who came and went, and the static members that came back under another id.
fn compare(before: &BTreeMap<Name, Holding>, now: &BTreeMap<Name, Holding>, wall: Wall) -> (Draft, Vec<Arc<Who>>) {
    let (mut draft, mut back) = (Draft::default(), Vec::new());
    let instance = |who: &Who, others: &BTreeMap<Name, Holding>| {
        who.instance_id.is_some() && others.values().any(|(other, _)| other.instance_id == who.instance_id)
    };
    for (id, (who, held)) in before.iter().filter(|(id, _)| !now.contains_key(*id)) {
        if !instance(who, now) {
            let held = held.as_ref().map(|held| held.values().map(Vec::len).sum());
            let mut departure = Departure::default();
            departure.member.id = id.clone();
            let why = Why { idle: held == Some(0), ..Why::default() };
            draft.gone(Gone { who: Arc::clone(who), why }, wall);
        }
    }
    for (who, _) in now.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, holding)| holding) {
        if instance(who, before) {
            back.push(Arc::clone(who));
        } else {
            draft.joined(Arc::clone(who), Certainty::Certain, wall);
        }
    }
    (draft, back)
}

/// Those of `these` that are not the same in `others`.
fn differing(these: &BTreeMap<Name, Holding>, others: &BTreeMap<Name, Holding>) -> Vec<Holding> {
    let differs =
        |(id, (_, held)): &(&Name, &Holding)| held.is_none() || others.get(*id).is_none_or(|(_, other)| other != held);
    these.iter().filter(differs).map(|(_, holding)| holding.clone()).collect()
}
