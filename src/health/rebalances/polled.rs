//! What polls tell: when a classic group was preparing a rebalance, which no record says; and where the coordinator log
//! cannot be read, rebalances themselves, from successive descriptions. Those are a lower bound: what happens between
//! two polls is at most one of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::cause::{Cause, CauseKind, Certainty, RIGHT_BEFORE, Why};
use super::draft::Draft;
use super::group::{GroupHistory, KEPT, line};
use super::members::Known;
use super::moves::{self, Free, Held, Holding};
use super::rebalance::{Gone, Happened, Happening, Rebalance, Took, Who};
use crate::model::{At, Departure, Description, Event, GroupKind, GroupState, Member, Name, TopicPartitions, Wall};

/// What one poll said of a group.
#[derive(Debug, Clone)]
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
    /// Where polls alone tell of it; `None`: its commits could not be read yet.
    pub commits: Option<Vec<Committed<'a>>>,
}

/// A commit, as a poll read it.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'a> {
    pub topic: &'a Name,
    pub partition: i32,
    pub offset: i64,
    /// Whether records wait behind it; `None`: not known.
    pub lag_waiting: Option<bool>,
}

/// A record is as fresh as the poll beside it if its time is so close to the clock of whoever reads.
const LIVE: Duration = Duration::from_secs(30);
/// A duration known less exactly than this is a lower bound.
const BLUR: Duration = Duration::from_secs(30);
/// Subscriptions of classic members are read so rarely that they may be seen to change so much after the rebalance.
const SUBSCRIPTIONS_LATER: Duration = Duration::from_secs(120);

/// The polls of one group.
#[derive(Debug, Clone, Default)]
pub struct Polled {
    /// Whether the group was rebalancing when it was last seen.
    last: Option<(At, bool)>,
    watch: Option<Watch>,
    /// When the group was last at rest.
    rest: Option<Rest>,
    /// Where polls alone tell of it, and once its commits were read.
    commits: Option<BTreeMap<(Name, i32), Moved>>,
    free: Free,
    kind: Option<GroupKind>,
    /// When polls began to tell of it.
    pub(super) since: Option<Wall>,
    /// Rebalances derived from polls, oldest first.
    pub(super) list: VecDeque<Arc<Rebalance>>,
    pub(super) total: usize,
}

/// A group at rest.
#[derive(Debug, Clone, Default)]
struct Rest {
    at: At,
    assignor: Option<Name>,
    members: BTreeMap<Name, There>,
}

/// A member of a group at rest.
#[derive(Debug, Clone, Default)]
struct There {
    known: Known,
    /// How many it held, also of topics that were not selected; `None`: cannot be decoded.
    partitions: Option<usize>,
}

impl From<&Member> for There {
    fn from(member: &Member) -> Self {
        let held = member.assignment.clone();
        let partitions = held.as_ref().map(|held| held.values().map(Vec::len).sum::<usize>() + member.elsewhere);
        let (who, subscription) = (Arc::new(Who::from(member)), member.subscription.clone());
        Self { known: Known { who, subscription, held, ..Known::default() }, partitions }
    }
}

/// A commit over the polls.
#[derive(Debug, Clone, Copy)]
struct Moved {
    offset: i64,
    /// When it was first seen, if it was another one before; polls do not tell that the same offset is committed again.
    wall: Option<Wall>,
    lag_waiting: Option<bool>,
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
        self.polled.note_commits(poll);
        let watch = match self.polled.note(poll) {
            Seen::Nothing => return,
            Seen::AtRest => None,
            Seen::Ended(watch) => Some(watch),
        };
        let members = poll.description.members.iter().map(|member| (member.id.clone(), There::from(member)));
        let now = Rest { at: poll.at, assignor: poll.description.assignor.clone(), members: members.collect() };
        let before = self.polled.rest.replace(now.clone());
        let known = self.polled.kind.replace(poll.kind.clone());
        if !poll.alone {
            return;
        }
        let side = |what| Happening { group: poll.group.clone(), wall: poll.wall, log: None, what };
        let real = |kind: &GroupKind| !matches!(kind, GroupKind::Unknown | GroupKind::ShareOrStreams);
        let changed_type = known.filter(|known| known != poll.kind && real(known) && real(poll.kind));
        let same_type = changed_type.is_none();
        if let Some(from) = changed_type {
            self.side(side(Happened::TypeChanged { from, to: poll.kind.clone() }), out);
        }
        let Some(before) = before else { return };
        let default = self.defaults.session_timeout_ms(poll.kind);
        let (mut draft, back) = self.polled.compare(&before, &now, poll, default);
        if same_type {
            assignor_changed(&mut draft, &before, &now, poll.wall);
        }
        for who in &back {
            self.side(side(Happened::StaticRestarted(Some(Arc::clone(who)))), out);
        }
        let was = moves::extents(before.held(), &self.polled.free);
        let (lost, gained) = (differing(&before, &now), differing(&now, &before));
        let held = now.members.values().map(|there| there.known.partitions()).sum();
        let was_free = !self.polled.free.is_empty();
        let moves = moves::between(&lost, &gained, &Held::Each(held), &mut self.polled.free);
        let changed = moves.as_ref().is_some_and(|moves| moves.moved + moves.taken + moves.dropped > 0);
        let alone = watch.is_none() && !changed && draft.causes.is_empty();
        resubscribed(&mut draft, &before, &now, poll.wall);
        if alone && (draft.causes.is_empty() || self.polled.belongs_to_last(&draft, poll, out)) {
            return;
        }
        draft.resized(was, &moves::extents(now.held(), &self.polled.free), poll.wall);
        for who in back {
            draft.cause(CauseKind::StaticBack(who), Certainty::Likely, poll.wall);
        }
        let cooperative = now.assignor.as_ref().is_some_and(|assignor| assignor.raw().contains("cooperative"));
        if draft.causes.is_empty() {
            let kind = if cooperative && was_free { CauseKind::SecondRound } else { CauseKind::Untold };
            draft.cause(kind, Certainty::Likely, poll.wall);
        }
        self.polled.watch = None;
        let took = watch.map_or(Took::default(), |watch| watch.took(poll.at, Duration::ZERO));
        let emptied = now.members.is_empty();
        if emptied {
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
            emptied,
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

impl Polled {
    fn note_commits(&mut self, poll: &Poll<'_>) {
        let Some(commits) = &poll.commits else { return };
        let known = self.commits.take();
        let each = commits.iter().map(|commit| {
            let Committed { topic, partition, offset, lag_waiting } = *commit;
            let place = (topic.clone(), partition);
            let wall = match known.as_ref().map(|known| known.get(&place)) {
                Some(Some(before)) if before.offset == offset => before.wall,
                Some(_) => Some(poll.wall),
                None => None,
            };
            (place, Moved { offset, wall, lag_waiting })
        });
        self.commits = Some(each.collect());
    }

    /// Who came and went, and the static members that came back under another id. `default`: the broker's session
    /// timeout for groups of the kind, in milliseconds.
    fn compare(&self, before: &Rest, now: &Rest, poll: &Poll<'_>, default: Option<i32>) -> (Draft, Vec<Arc<Who>>) {
        let (mut draft, mut back) = (Draft::default(), Vec::new());
        for there in before.without(now) {
            let who = &there.known.who;
            if now.same_instance(who).is_none() {
                let departure = self.departure(there, before.at, poll);
                let why = Why::of(&departure, poll.wall, there.partitions, false, default);
                draft.gone(Gone { who: Arc::clone(who), why }, poll.wall);
            }
        }
        for there in now.without(before) {
            let who = Arc::clone(&there.known.who);
            if before.same_instance(&who).is_some() {
                back.push(who);
            } else {
                draft.joined(who, Certainty::Certain, poll.wall);
            }
        }
        (draft, back)
    }

    /// What is known of a member that was there when the group was at rest before.
    fn departure(&self, there: &There, rested: At, poll: &Poll<'_>) -> Departure {
        // After a longer time whoever got its partitions may have committed, and when it went is known too badly.
        let soon = poll.at.since(rested) <= RIGHT_BEFORE;
        let mut departure = Departure::default();
        for (topic, partitions) in there.known.held.iter().flatten() {
            for partition in partitions {
                let commits = self.commits.as_ref();
                let Some(commit) = commits.and_then(|commits| commits.get(&(topic.clone(), *partition))) else {
                    continue;
                };
                departure.last_commit = departure.last_commit.max(commit.wall.filter(|_| soon));
                if let Some(waiting) = commit.lag_waiting {
                    departure.lag_waiting = Some(waiting || departure.lag_waiting == Some(true));
                }
            }
        }
        departure
    }

    /// Causes that were seen by themselves: those of the rebalance seen last, if that was not long ago.
    fn belongs_to_last(&mut self, draft: &Draft, poll: &Poll<'_>, out: &mut Vec<Happening>) -> bool {
        let last = self.list.back_mut().filter(|last| poll.wall.since(last.ended) <= SUBSCRIPTIONS_LATER);
        let Some(last) = last else { return false };
        let causes = &mut Arc::make_mut(last).causes;
        causes.retain(|cause| cause.kind != CauseKind::Untold);
        causes.extend(draft.causes.iter().map(|cause| Cause { certainty: Certainty::Likely, ..cause.clone() }));
        out.push(line(poll.group, last));
        true
    }
}

impl Rest {
    /// The members that are not in `other`.
    fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a There> {
        self.members.iter().filter(|(id, _)| !other.members.contains_key(*id)).map(|(_, there)| there)
    }

    fn same_instance(&self, who: &Who) -> Option<&There> {
        who.instance_id.as_ref()?;
        self.members.values().find(|there| there.known.who.instance_id == who.instance_id)
    }

    fn held(&self) -> impl Iterator<Item = &Option<TopicPartitions>> {
        self.members.values().map(|there| &there.known.held)
    }
}

fn assignor_changed(draft: &mut Draft, before: &Rest, now: &Rest, wall: Wall) {
    let named = |rest: &Rest| rest.assignor.clone().filter(|assignor| !assignor.is_empty());
    let (from, to) = (named(before), named(now));
    if from.is_some() && to.is_some() && from != to {
        draft.cause(CauseKind::Assignor { from, to }, Certainty::Certain, wall);
    }
}

/// Members that subscribe to something else, as far as subscriptions are known.
fn resubscribed(draft: &mut Draft, before: &Rest, now: &Rest, wall: Wall) {
    for there in now.members.values() {
        let who = &there.known.who;
        let same = before.members.get(&who.id).or_else(|| before.same_instance(who));
        if let Some((added, removed)) = same.and_then(|same| same.known.resubscribed(&there.known)) {
            let kind = CauseKind::Subscription { first: Arc::clone(who), members: 1, added, removed };
            draft.cause(kind, Certainty::Certain, wall);
        }
    }
}

/// What members of `these` hold, where it is not the same in `others`.
fn differing(these: &Rest, others: &Rest) -> Vec<Holding> {
    let differs = |(id, there): &(&Name, &There)| {
        let held = &there.known.held;
        held.is_none() || others.members.get(*id).is_none_or(|other| other.known.held != *held)
    };
    let holding = |(_, there): (&Name, &There)| (Arc::clone(&there.known.who), there.known.held.clone());
    these.members.iter().filter(differs).map(holding).collect()
}
