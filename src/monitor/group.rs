//! One group's view from the facts about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::logs::Logs;
use super::plan::{Answered, Basis, Facts, Question};
use super::progress::{self, News};
use super::view::{GroupView, MemberView, PartitionView};
use super::{Memory, PastEnd, Preferences, freshness};
use crate::health::idle::Standing;
use crate::health::{Direction, IdleReason, LagTotals, PartitionFacts, PartitionLag, trend};
use crate::model::{
    At, Column, Description, Evidence, Group, GroupKind, GroupState, Member, Name, Presence, Problem, Scope,
    SharePartition, Snapshot, TopicPartitions,
};

/// Points of a group's trend, and the time that they span.
const TREND: u32 = 60;
const SPAN: Duration = Duration::from_secs(600);
/// Samples of a group's lag that are remembered, of 16 bytes each.
const LAGS: usize = 256;

/// What a view is made of beside the group's own facts.
pub struct Around<'a> {
    pub facts: &'a Snapshot,
    pub logs: &'a Logs,
    pub now: At,
    /// How long the group's rebalances take.
    pub rebalance: Option<Duration>,
    pub preferences: &'a Preferences,
}

pub fn build(id: &Name, group: &Group, memory: &mut Memory, around: &Around<'_>) -> GroupView {
    let Around { facts, logs, now, rebalance, preferences } = *around;
    let nothing = Description::default();
    let description = group.description.as_ref().unwrap_or(&nothing);
    let mut partitions = partitions(group, description, facts, memory, now);
    let mut members = members(description, &mut partitions);
    let news = News {
        group,
        facts,
        logs,
        now,
        interval: freshness(facts),
        keep: preferences.keep,
        abandoned_after: preferences.thresholds.of(id).abandoned_after,
    };
    memory.progress.take(news, &mut partitions, &mut members);
    let totals = totals(&partitions);
    for member in &mut members {
        let held = member.partitions.iter().flatten().filter_map(|place| partitions.get(*place));
        member.totals = self::totals(held);
    }
    // A sum over more partitions, or fewer, is another one.
    let summed = totals.known + totals.expired + totals.shared;
    if summed != memory.summed {
        memory.lags.clear();
        memory.summed = summed;
    }
    if let Some((behind, read_at)) = totals.behind().zip(ends_read_at(&partitions, facts)) {
        memory.lags.push(read_at, i64::try_from(behind).unwrap_or(i64::MAX), preferences.keep, LAGS);
    }
    let mut view = GroupView {
        id: id.clone(),
        kind: group.kind.clone(),
        state: state(group, description),
        evidence: description.evidence,
        assignor: description.assignor.clone(),
        coordinator: description.coordinator,
        // A group that only admin calls have told of has none.
        epoch: description.epoch.filter(|epoch| *epoch >= 0),
        assignment_epoch: description.assignment_epoch,
        stored_hash: description.stored_hash,
        topology_epoch: description.topology_epoch,
        log_gap: description.log_gap,
        simple: description.simple,
        last_generation: description.evidence == Evidence::Log
            && matches!(description.state, GroupState::PreparingRebalance | GroupState::CompletingRebalance),
        described_at: group.described_at,
        commits_at: group.commits_at,
        probes: group.probes.clone(),
        idle: members.iter().filter(|member| member.is_idle()).count(),
        totals,
        trend: trend::spark(&memory.lags, SPAN, TREND),
        direction: Direction::of(&memory.lags, trend::WINDOW),
        problems: problems(id, &partitions, facts),
        ..GroupView::default()
    };
    view.rates = progress::rates(partitions.iter());
    if (group.kind.is_consumer() || group.kind == GroupKind::Streams) && !members.is_empty() {
        let facts = Facts {
            kind: &group.kind,
            description,
            snapshot: facts,
            partitions: &partitions,
            reset: preferences.reset,
            reconciling: members.iter().any(|member| member.reconciling),
            capacity: &memory.progress.capacity,
            rebalance,
        };
        let basis = Basis::of(&facts);
        judge(&mut view, memory, basis, &mut partitions, &mut members, preferences);
    }
    view.members = members;
    view.partitions = partitions;
    view
}

/// Judges the current assignment, gives idle members their reason, and makes the alternative. There is none while nothing
/// is held (a rebalance, or no topics), nor of a streams group: its tasks are not handed out partition by partition.
fn judge(
    view: &mut GroupView,
    memory: &mut Memory,
    basis: Basis,
    partitions: &mut [PartitionView],
    members: &mut [MemberView],
    preferences: &Preferences,
) {
    if memory.planned.as_ref().is_none_or(|(before, ..)| **before != basis) {
        let basis = Arc::new(basis);
        let now = basis.now();
        let planned = view.kind.is_consumer() && !basis.current().is_empty();
        let answer = planned.then(|| basis.answer(&Question::of(preferences.assignor)).ok()).flatten();
        memory.planned = Some((basis, now, answer));
    }
    let Some((basis, now, answer)) = &memory.planned else { return };
    let Answered { metrics, drains, members: forecasts } = now;
    let assumed = members.iter().any(|member| member.subscription.is_none());
    let (count, active) = (members.len(), members.iter().map(MemberView::active_tasks).sum());
    for (place, member) in members.iter_mut().enumerate() {
        member.drain = forecasts.get(place).copied().unwrap_or_default();
        if member.is_idle() {
            let at = standing(view, member);
            let reason = match &member.log {
                Some(log) if view.kind == GroupKind::Streams => {
                    IdleReason::of_tasks(&log.tasks.clone().unwrap_or_default(), count, active, at)
                }
                _ => IdleReason::of(&basis.input, place, at),
            };
            member.idle = Some(reason);
            member.idle_assumed = assumed && reason.needs_subscriptions();
        }
    }
    if let Some(answer) = answer {
        // Topics of the basis are those of the partitions, in their order.
        for (topic, same_topic) in partitions.chunk_by_mut(|a, b| a.topic == b.topic).enumerate() {
            for partition in same_topic {
                partition.planned = answer.owner(topic, partition.partition);
            }
        }
        view.plan = Some(answer.plan.clone());
    }
    view.metrics = Some(metrics.clone());
    view.drains = Some(*drains);
    // A question would be about another assignment.
    view.basis = view.kind.is_consumer().then(|| Arc::clone(basis));
}

/// Where a member without partitions is in the group's rebalance.
fn standing(view: &GroupView, member: &MemberView) -> Standing {
    let epoch = member.log.as_ref().and_then(|log| log.epoch);
    let awaits = member.awaits.as_ref().map_or(0, Vec::len);
    let behind = epoch.zip(view.assignment_epoch).is_some_and(|(epoch, assignment)| (0..assignment).contains(&epoch));
    match view.state {
        _ if awaits > 0 => Standing::Awaits(awaits),
        GroupState::Stable => Standing::Settled,
        GroupState::NotReady => Standing::NotReady,
        // It has its target, nothing, though others are not there yet.
        GroupState::Reconciling if epoch.is_some() && epoch == view.epoch => Standing::Settled,
        GroupState::Reconciling | GroupState::Assigning if behind || epoch == Some(0) => Standing::Joined,
        _ => Standing::Rebalancing,
    }
}

/// When log ends were last read: a lag is a sample of that moment.
fn ends_read_at(partitions: &[PartitionView], facts: &Snapshot) -> Option<At> {
    let mut topics: Vec<&Name> = partitions.iter().map(|partition| &partition.topic).collect();
    topics.dedup();
    topics.into_iter().filter_map(|topic| Some(facts.offsets.get(topic)?.end.as_ref()?.at)).max()
}

/// librdkafka does not know Assigning and Reconciling: they follow from current and target assignment.
fn state(group: &Group, description: &Description) -> GroupState {
    let described = match group.description {
        Some(_) => description.state,
        None => group.listed_state.unwrap_or_default(),
    };
    if described != GroupState::Unknown || group.kind != GroupKind::Consumer || description.members.is_empty() {
        return described;
    }
    if description.members.iter().any(reconciling) { GroupState::Reconciling } else { GroupState::Assigning }
}

fn reconciling(member: &Member) -> bool {
    let held = |topics: &Option<crate::model::TopicPartitions>| {
        let topics = topics.iter().flatten().filter(|(_, partitions)| !partitions.is_empty());
        topics.map(|(topic, partitions)| (topic.clone(), partitions.clone())).collect::<BTreeMap<_, _>>()
    };
    member.target.is_some() && held(&member.target) != held(&member.assignment)
}

/// Every partition of every topic that the group commits to, owns or subscribes to.
fn partitions(
    group: &Group,
    description: &Description,
    facts: &Snapshot,
    memory: &mut Memory,
    now: At,
) -> Vec<PartitionView> {
    if !group.kind.reads_partitions() {
        return Vec::new();
    }
    let mut numbers: BTreeMap<&Name, BTreeSet<i32>> = BTreeMap::new();
    for (topic, commits) in group.commits.iter().flat_map(|commits| &commits.topics) {
        numbers.entry(topic).or_default().extend(commits.keys());
    }
    for member in &description.members {
        for (topic, held) in member.assignment.iter().chain(&member.target).flatten() {
            numbers.entry(topic).or_default().extend(held);
        }
        for topic in member.subscription.iter().flatten() {
            numbers.entry(topic).or_default();
        }
    }
    for (topic, shared) in group.share.iter().flat_map(|share| &share.topics) {
        numbers.entry(topic).or_default().extend(shared.keys());
    }
    for topic in description.topology_topics.iter().flatten() {
        numbers.entry(topic).or_default();
    }
    let fresh = freshness(facts);
    let committed_only = facts.progress.is_some_and(|progress| progress.read_committed);
    let subscribed = subscribed(description);
    // Nothing is known yet of what it committed: that is not "no commit".
    let unread = group.commits.is_none() && group.share.is_none();
    let mut past_end = BTreeMap::new();
    let mut out = Vec::new();
    for (name, mut numbers) in numbers {
        let topic = facts.topics.get(name);
        let count = topic.map_or(0, |topic| topic.partitions.len());
        numbers.extend(0..count as i32);
        let offsets = facts.offsets.get(name);
        let read = |column: Option<&Column>, partition| column.and_then(|column| column.get(partition));
        for number in numbers {
            let partition = topic.and_then(|topic| topic.partitions.get(usize::try_from(number).ok()?));
            let commit = group.commits.as_ref().and_then(|commits| commits.topics.get(name)?.get(&number));
            let mut known = PartitionFacts {
                presence: topic.map_or(Presence::Unknown, |topic| topic.presence),
                exists: partition.is_some(),
                has_leader: partition.is_some_and(|partition| partition.leader.is_some()),
                commit: commit.map(|commit| commit.offset),
                start: read(offsets.and_then(|offsets| offsets.start.as_ref()), number).map(|(start, _)| start),
                end: read(offsets.and_then(|offsets| offsets.end.as_ref()), number),
                stable: None,
                past_end_before: false,
                share: share_facts(group, name, number),
            };
            if known.presence == Presence::Gone || (known.presence == Presence::Present && !known.exists) {
                (known.start, known.end) = (None, None);
            }
            if let Some(past) = still_past_end(&known, memory.past_end.get(&(name.clone(), number))) {
                known.past_end_before = past.confirmed;
                past_end.insert((name.clone(), number), past);
            }
            let stable = read(offsets.and_then(|offsets| offsets.stable.as_ref()), number);
            let stable = stable.filter(|_| known.end.is_some());
            known.stable = stable.filter(|(_, at)| committed_only && now.since(*at) <= fresh).map(|(stable, _)| stable);
            let stable = stable.map(|(stable, _)| stable);
            out.push(PartitionView {
                topic: name.clone(),
                partition: number,
                commit: known.commit,
                start: known.start,
                end: known.end.map(|(end, _)| end),
                stable,
                lag: match PartitionLag::of(&known, now, fresh) {
                    PartitionLag::NoCommit { .. } if unread => PartitionLag::Unknown,
                    lag => lag,
                },
                share: known.share,
                subscribed: subscribed.as_ref().map(|topics| topics.contains(name)),
                ..PartitionView::default()
            });
        }
    }
    memory.past_end = past_end;
    out
}

/// The topics that the members subscribe to; `None`: there are none, or it is not known of all.
pub fn subscribed(description: &Description) -> Option<BTreeSet<&Name>> {
    let members = Some(&description.members).filter(|members| !members.is_empty())?;
    let all: Option<Vec<&Vec<Name>>> = members.iter().map(|member| member.subscription.as_ref()).collect();
    Some(all?.into_iter().flatten().collect())
}

/// The totals of those partitions.
fn totals<'a>(partitions: impl IntoIterator<Item = &'a PartitionView>) -> LagTotals {
    let mut totals = LagTotals::default();
    for partition in partitions {
        totals.add(&partition.lag);
        totals.doubt(partition.doubtful);
    }
    totals
}

/// Share groups commit nothing: their progress is the share coordinator's.
fn share_facts(group: &Group, topic: &Name, partition: i32) -> Option<SharePartition> {
    let shared = || group.share.as_ref()?.topics.get(topic)?.get(&partition).copied();
    (group.kind == GroupKind::Share).then(|| shared().unwrap_or_default())
}

/// A commit that is ahead of its end, and whether it was ahead of an end that was read earlier, too.
fn still_past_end(facts: &PartitionFacts, before: Option<&PastEnd>) -> Option<PastEnd> {
    let (commit, (end, end_read)) = (facts.commit?, facts.end?);
    if commit <= end {
        return None;
    }
    Some(match before {
        Some(before) if commit <= before.commit => {
            PastEnd { commit, confirmed: before.confirmed || end_read > before.end_read, ..*before }
        }
        _ => PastEnd { commit, end_read, confirmed: false },
    })
}

/// The members, and into `partitions` who owns what.
fn members(description: &Description, partitions: &mut [PartitionView]) -> Vec<MemberView> {
    let member = |(place, member): (usize, &Member)| {
        let held = member.assignment.as_ref().map(|topics| {
            let places = places(topics, partitions);
            for held in &places {
                partitions[*held].owner = Some(place);
            }
            places
        });
        let target = member.target.as_ref().filter(|_| held.is_some());
        let awaits = target.map(|target| {
            let mut awaits = places(target, partitions);
            awaits.retain(|place| !held.iter().flatten().any(|held| held == place));
            awaits
        });
        MemberView {
            id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            host: member.host.clone(),
            rack: member.rack.clone(),
            subscription: member.subscription.clone(),
            partitions: held,
            elsewhere: member.elsewhere,
            reconciling: reconciling(member),
            awaits,
            log: member.log.clone(),
            ..MemberView::default()
        }
    };
    description.members.iter().enumerate().map(member).collect()
}

/// Where those partitions are among the group's.
fn places(topics: &TopicPartitions, partitions: &[PartitionView]) -> Vec<usize> {
    let all = topics.iter().flat_map(|(topic, numbers)| numbers.iter().map(move |number| (topic, *number)));
    let place = |(topic, number): (&Name, i32)| {
        partitions.binary_search_by(|known| (&known.topic, known.partition).cmp(&(topic, number))).ok()
    };
    let mut places: Vec<usize> = all.filter_map(place).collect();
    places.sort_unstable();
    places
}

fn problems(id: &Name, partitions: &[PartitionView], facts: &Snapshot) -> Vec<Problem> {
    let topics: BTreeSet<&Name> = partitions.iter().map(|partition| &partition.topic).collect();
    let concerns = |problem: &&Problem| match &problem.scope {
        Scope::Group(group) => group == id,
        Scope::Topic(topic) | Scope::Partition(topic, _) => topics.contains(topic),
        Scope::Cluster | Scope::Broker(_) => false,
    };
    facts.problems.iter().flatten().filter(concerns).cloned().collect()
}
