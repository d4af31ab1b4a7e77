//! Groups: which are asked in a poll, and what their answers mean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::{Answer, Call};
use super::{DENIED_EVERY, LISTING_EVERY, LISTING_WITH_LOG_EVERY, METADATA_EVERY, Poller, SLICE, TYPED_EVERY};
use crate::collector::log::generation_of;
use crate::collector::{Selection, causes};
use crate::kafka::records::consumer_protocol::Subscription;
use crate::kafka::{CallError, GroupOffsets, Protocol, TypedName};
use crate::model::{Commits, Description, Group, GroupKind, GroupState, Member, Name, Scope, TopicPartitions};

/// Subscriptions of a classic group's members, by member id: a member's subscription never changes without a new
/// JoinGroup, but the id stays, so they are read again with the members.
pub type Subscriptions = BTreeMap<Name, MemberSubscription>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberSubscription {
    topics: Vec<Name>,
    rack: Option<Name>,
    joined_from: Option<i32>,
}

/// Both answers about one group.
pub struct GroupAnswer {
    pub described: Result<(Protocol, Description), CallError>,
    pub offsets: Result<GroupOffsets, CallError>,
}

/// A targeted old list call for one group at most this often.
const TARGETED_EVERY: Duration = Duration::from_secs(10);

impl Poller {
    /// Asks what is due about the cluster as a whole.
    pub(super) fn ask_cluster(&mut self, forced: bool) {
        let hash_changed = std::mem::take(&mut self.hash_changed);
        if hash_changed {
            // Whatever changed may be an id or a rack, which are asked seldom.
            self.asked.remove(&Call::Topics);
            self.asked.remove(&Call::Cluster);
        }
        let every = |period| if forced || hash_changed { Duration::ZERO } else { period };
        let admin = Arc::clone(&self.admin);
        let with_log = self.tail.is_caught_up();
        if self.due(&Call::Listing, every(if with_log { LISTING_WITH_LOG_EVERY } else { LISTING_EVERY })) {
            let admin = Arc::clone(&admin);
            self.ask(Call::Listing, async move { Answer::Listing(admin.list_groups().await) });
        }
        let metadata_every = if self.tail.state.wants_names() { Duration::ZERO } else { every(METADATA_EVERY) };
        if self.due(&Call::Metadata, metadata_every) {
            let admin = Arc::clone(&admin);
            self.ask(Call::Metadata, async move { Answer::Metadata(admin.metadata().await) });
        }
        // The log tells kinds and subscriptions, too, and describes nobody for it.
        if !with_log && self.due(&Call::Typed(None), TYPED_EVERY) {
            let admin = Arc::clone(&admin);
            self.ask(Call::Typed(None), async move {
                let (names, error) = admin.typed_names(None).await;
                Answer::Typed(None, names, error)
            });
        }
        if self.due(&Call::Cluster, super::CLUSTER_EVERY) {
            self.ask(Call::Cluster, async move { Answer::Cluster(admin.describe_cluster().await) });
        }
    }

    /// Asks the groups on screen, and a slice of the others: those that were not asked for longest.
    pub(super) fn ask_groups(&mut self, forced: bool) {
        let on_screen = |name: &Name| self.on_screen.as_ref().is_some_and(|groups| groups.contains(name));
        let mut due: Vec<(bool, Option<Instant>, Name)> = self
            .tracked
            .iter()
            .filter(|(name, tracked)| {
                if self.tail.state.covers(name) && !self.tail.state.wants_seed(name) {
                    return false;
                }
                let rested = tracked.asked_at.is_none_or(|at| at.elapsed() >= DENIED_EVERY);
                (!tracked.denied || rested || forced) && !self.in_flight.contains(&Call::Group((*name).clone()))
            })
            .map(|(name, tracked)| (!on_screen(name), tracked.asked_at, name.clone()))
            .collect();
        due.sort();
        let shown = due.iter().filter(|(hidden, ..)| !hidden).count();
        due.truncate(shown + SLICE);
        for (_, _, name) in due {
            self.ask_group(name);
        }
    }

    fn ask_group(&mut self, name: Name) {
        let kind = self.kind_of(&name);
        if let Some(tracked) = self.tracked.get_mut(&name) {
            tracked.asked_at = Some(Instant::now());
        }
        match kind {
            GroupKind::Classic | GroupKind::Consumer | GroupKind::Unknown => {
                let admin = Arc::clone(&self.admin);
                self.ask(Call::Group(name.clone()), async move {
                    let (described, offsets) = tokio::join!(admin.describe_group(&name), admin.group_offsets(&name));
                    Answer::Group(name, Box::new(GroupAnswer { described, offsets }))
                });
            }
            GroupKind::Other(_) => self.ask_typed(name),
            // Nothing but the coordinator log tells more about them.
            GroupKind::Share | GroupKind::Streams | GroupKind::ShareOrStreams => {}
        }
    }

    fn ask_typed(&mut self, name: Name) {
        let call = Call::Typed(Some(name.clone()));
        if self.due(&call, TARGETED_EVERY) {
            let admin = Arc::clone(&self.admin);
            self.ask(call, async move {
                let (names, error) = admin.typed_names(Some(&name)).await;
                Answer::Typed(Some(name), names, error)
            });
        }
    }

    pub(super) fn kind_of(&self, name: &Name) -> GroupKind {
        let told = self.tail.state.kind(name);
        let told_now = told.filter(|_| self.tail.state.gap(name).is_none());
        let listed = || self.listed.get(name).map(|(kind, _)| kind);
        told_now.or_else(listed).or(told).or_else(|| self.unlisted.get(name)).cloned().unwrap_or_default()
    }

    /// State as the lists give it; with the log, only whether a classic group is rebalancing is asked in each poll.
    pub(super) fn listed_state(&self, name: &Name) -> Option<GroupState> {
        self.rebalancing.get(name).copied().or_else(|| {
            let listed = self.listed.get(name).map(|(_, state)| *state)?;
            let passing = matches!(listed, GroupState::PreparingRebalance | GroupState::CompletingRebalance);
            (!passing || !self.tail.is_caught_up()).then_some(listed)
        })
    }

    /// Groups of every kind that are known.
    pub(super) fn total(&self) -> usize {
        let unlisted = self.unlisted.len();
        let logged = self
            .tail
            .state
            .kinds()
            .filter(|(name, _)| !self.listed.contains_key(*name) && !self.unlisted.contains_key(*name));
        self.listed.len() + unlisted + logged.count()
    }

    /// Brings the tracked groups in line with the lists.
    pub(super) fn track(&mut self) {
        let logged = self.tail.state.kinds().map(|(name, _)| name);
        let names = self.listed.keys().chain(self.unlisted.keys()).chain(logged);
        let selected: std::collections::BTreeSet<Name> =
            names.filter(|name| self.selection.group(name)).cloned().collect();
        for name in &selected {
            let kind = self.kind_of(name);
            let seen = matches!(kind, GroupKind::ShareOrStreams);
            if !self.tracked.contains_key(name) {
                // The log may have told of it before the list did.
                self.tail.state.mark(vec![name.clone()]);
            }
            let tracked = self.tracked.entry(name.clone()).or_default();
            tracked.seen |= seen;
            let listed_state = self.listed_state(name);
            let news = self.news.groups.entry(name.clone()).or_default();
            news.kind = kind;
            news.listed_state = listed_state;
        }
        let gone: Vec<Name> = self.tracked.keys().filter(|name| !selected.contains(*name)).cloned().collect();
        for name in gone {
            self.tracked.remove(&name);
            self.subscriptions.remove(&name);
            self.problems.forget(&Scope::Group(name.clone()));
            self.tail.state.forget(&name);
            self.news.groups.remove(&name);
            self.news.gone_groups.push(name);
        }
    }

    pub(super) fn take_typed(&mut self, asked: Option<&Name>, names: Vec<TypedName>, error: Option<&CallError>) {
        if let Some(error) = error {
            tracing::warn!("the old list of groups is not complete: {error}");
        }
        if asked.is_none() {
            if error.is_none() {
                self.unlisted.clear();
            }
            for row in &names {
                if let Some(kind) = unlisted_kind(row).filter(|_| !self.listed.contains_key(&row.id)) {
                    self.unlisted.insert(row.id.clone(), kind);
                }
            }
            self.track();
            let total = self.total();
            if let Some(listing) = self.news.listing.as_mut() {
                listing.total = total;
            }
        }
        for row in names {
            if !self.tracked.contains_key(&row.id) {
                continue;
            }
            match self.kind_of(&row.id) {
                GroupKind::Classic => self.take_subscriptions(row),
                GroupKind::Other(_) => self.take_foreign(row),
                _ => {}
            }
        }
    }

    /// Members of a group of another protocol type: who they are, not what they hold.
    fn take_foreign(&mut self, row: TypedName) {
        let members = row.members.into_iter().map(|member| Member {
            id: member.id,
            client_id: member.client_id,
            host: member.host,
            ..Member::default()
        });
        let mut description =
            Description { state: state_named(row.state.raw()), members: members.collect(), ..Description::default() };
        description.members.sort_by(|a, b| a.id.cmp(&b.id));
        if let Some(tracked) = self.tracked.get_mut(&row.id) {
            tracked.seen = true;
        }
        self.tell_description(&row.id, description);
    }

    fn take_subscriptions(&mut self, row: TypedName) {
        let read = row.members.into_iter().filter_map(|member| {
            let subscription = Subscription::decode(&member.metadata).ok()?;
            let joined_from = generation_of(&subscription);
            let told = MemberSubscription { topics: subscription.topics, rack: subscription.rack_id, joined_from };
            Some((member.id, told))
        });
        let read: Subscriptions = read.collect();
        if self.subscriptions.get(&row.id) == Some(&read) {
            return;
        }
        self.subscriptions.insert(row.id.clone(), read);
        if let Some(description) = self.newest(|facts| facts.groups.get(&row.id)?.description.clone()) {
            self.tell_description(&row.id, description);
        }
    }

    pub(super) fn take_group(&mut self, name: Name, answer: GroupAnswer) {
        let Some(tracked) = self.tracked.get_mut(&name) else { return };
        let GroupAnswer { described, offsets } = answer;
        tracked.seen = true;
        tracked.denied = described.as_ref().err().is_some_and(causes::is_denied)
            && offsets.as_ref().err().is_some_and(causes::is_denied);
        let (now, scope) = (self.clock.now(), Scope::Group(name.clone()));
        if let (Ok(offsets), Ok((_, description))) = (&offsets, &described)
            && self.tail.state.wants_seed(&name)
        {
            let commits = Commits { topics: offsets.commits.clone() };
            let kind = self.kind_of(&name);
            self.tail.state.seed(&name, &kind, description, &commits);
        } else {
            self.tail.state.unseeded(&name);
        }
        if let Some(assignor) = described.as_ref().ok().and_then(|(_, description)| description.assignor.clone()) {
            self.assignors.insert(name.clone(), assignor);
        }
        // The log has caught up while the call was under way: it knows better.
        if self.tail.state.covers(&name) {
            return;
        }
        match described {
            Ok((kind, mut description)) => {
                self.problems.cleared(scope.clone(), "state and members");
                if kind != GroupKind::Unknown
                    && let Some(listed) = self.listed.get_mut(&name)
                {
                    listed.0 = kind;
                }
                description.members.sort_by(|a, b| a.id.cmp(&b.id));
                leave_out(&mut description, &self.selection);
                let stranger =
                    |member: &Member| self.subscriptions.get(&name).is_none_or(|known| !known.contains_key(&member.id));
                let unknown = description.state == GroupState::Stable && description.members.iter().any(stranger);
                if unknown && self.kind_of(&name) == GroupKind::Classic && self.asked_all_types() {
                    self.ask_typed(name.clone());
                }
                self.tell_description(&name, description);
            }
            Err(error) => self.problems.failed(scope.clone(), "state and members", &error, now),
        }
        match offsets {
            Ok(offsets) => {
                self.problems.cleared(scope.clone(), "commits");
                match offsets.failed.first() {
                    None => self.problems.cleared(scope, "commits of some partitions"),
                    Some((topic, _, error)) => {
                        let cause = causes::explain(&Scope::Topic(topic.clone()), error);
                        self.problems.set(scope, "commits of some partitions", cause, now);
                    }
                }
                let mut commits = Commits { topics: offsets.commits };
                commits.topics.retain(|topic, _| self.selection.topic(topic));
                let unchanged =
                    self.known.groups.get(&name).is_some_and(|known| known.commits.as_ref() == Some(&commits));
                let news = self.news_of(&name);
                news.commits = (!unchanged).then_some(commits);
                news.commits_at = Some(now);
                self.answered.insert(name);
            }
            Err(error) => self.problems.failed(scope, "commits", &error, now),
        }
    }

    /// The old list call of all groups has been answered: until then a targeted one would ask for the same.
    fn asked_all_types(&self) -> bool {
        self.asked.contains_key(&Call::Typed(None)) && !self.in_flight.contains(&Call::Typed(None))
    }

    pub(super) fn news_of(&mut self, name: &Name) -> &mut Group {
        let kind = self.kind_of(name);
        let news = self.news.groups.entry(name.clone()).or_default();
        news.kind = kind;
        news
    }

    /// Tells a description with the subscriptions that are known for its members; only if it is news.
    fn tell_description(&mut self, name: &Name, mut description: Description) {
        if let Some(subscriptions) = self.subscriptions.get(name) {
            for member in &mut description.members {
                if let Some(known) = subscriptions.get(&member.id) {
                    member.subscription = Some(known.topics.clone());
                    member.rack = known.rack.clone();
                    member.joined_from = known.joined_from;
                }
            }
        }
        description.log_gap = self.tail.log_gap(name);
        let now = self.clock.now();
        let known = self.known.groups.get(name).and_then(|known| known.description.as_ref());
        let unchanged = known == Some(&description);
        let news = self.news_of(name);
        news.described_at = Some(now);
        if !unchanged {
            news.description = Some(description);
        }
    }
}

/// What members hold of topics that were not selected becomes a count.
pub(super) fn leave_out(description: &mut Description, selection: &Selection) {
    let selected = |topics: &mut TopicPartitions| {
        let all: usize = topics.values().map(Vec::len).sum();
        topics.retain(|topic, _| selection.topic(topic));
        all - topics.values().map(Vec::len).sum::<usize>()
    };
    for member in &mut description.members {
        member.target.as_mut().map(selected);
        member.elsewhere = member.assignment.as_mut().map_or(0, selected);
    }
}

/// The kind of a group that ListConsumerGroups leaves out.
fn unlisted_kind(row: &TypedName) -> Option<GroupKind> {
    match row.protocol_type.raw() {
        "consumer" => None,
        "" => Some(GroupKind::ShareOrStreams),
        "share" => Some(GroupKind::Share),
        "streams" => Some(GroupKind::Streams),
        _ => Some(GroupKind::Other(row.protocol_type.clone())),
    }
}

fn state_named(name: &str) -> GroupState {
    [
        GroupState::Empty,
        GroupState::Stable,
        GroupState::PreparingRebalance,
        GroupState::CompletingRebalance,
        GroupState::Dead,
    ]
    .into_iter()
    .find(|state| state.name() == name)
    .unwrap_or_default()
}
