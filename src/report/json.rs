//! The snapshot as JSON, schema 1; documented in docs/snapshot-json.md. Names are raw text here: they are escaped as JSON
//! does, bidi and C1 controls too.

// The names are the schema's.
#![allow(clippy::struct_field_names)]

pub mod health;
pub mod metadata;
pub mod plans;
mod probe;
mod rebalances;

use serde::Serialize;

use super::Outcome;
use crate::health::{LagTotals, PartitionLag};
use crate::model::{At, GroupKind, LogProgress, Name, Problem, Scope, millis};
use crate::monitor::view::{Feed, GroupView, MemberView, PartitionView, Rates, View};

/// Version of the schema: grows when a field changes its meaning or goes away, not when one is added.
pub const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub struct Snapshot {
    schema: u32,
    version: &'static str,
    /// RFC 3339, by the clock of this machine.
    taken_at: String,
    /// Every selected group was asked for and answered.
    complete: bool,
    simulated: bool,
    cluster: Cluster,
    /// Groups of every kind in the cluster, selected or not.
    groups_total: Option<usize>,
    /// How far the coordinator log was read; `null`: it is not read.
    log: Option<Log>,
    groups: Vec<Group>,
    problems: Vec<ProblemRow>,
}

#[derive(Debug, Serialize)]
struct Cluster {
    name: Name,
    id: Option<Name>,
    brokers: Option<usize>,
    controller: Option<i32>,
}

#[derive(Debug, Serialize)]
struct Log {
    /// Of `__consumer_offsets`, and how many of them are read to the end.
    partitions: usize,
    caught_up: usize,
    /// Partitions in which an open transaction hides what was written after it.
    held: Vec<i32>,
    /// It was read from its beginning.
    whole: bool,
    /// Offsets before the part that is read.
    skipped: u64,
    /// How far back; `null`: all of it, or the newest records.
    history_ms: Option<u64>,
    /// Records.
    read: u64,
    dropped: u64,
    unknown: u64,
    damaged: u64,
    decoding_ms: u64,
    age_ms: u64,
}

#[derive(Debug, Serialize)]
struct Group {
    group: Name,
    r#type: String,
    state: &'static str,
    evidence: crate::model::Evidence,
    assignor: Option<Name>,
    coordinator: Option<i32>,
    /// Generation or group epoch; `null` without the log, as the next three.
    epoch: Option<i32>,
    assignment_epoch: Option<i32>,
    /// Streams: epoch of the topology.
    topology_epoch: Option<i32>,
    /// The group hash of KIP-1101, signed decimal: as a number it would not survive a reader of doubles.
    stored_hash: Option<String>,
    /// Why the log does not tell now.
    log_gap: Option<crate::model::LogGap>,
    simple: bool,
    /// The members and what they hold are those of the last generation: a classic group rebalances.
    last_generation: bool,
    /// Age of members and state, and of the commits, in milliseconds.
    described_age_ms: Option<u64>,
    commits_age_ms: Option<u64>,
    members: Vec<Member>,
    idle_members: usize,
    #[serde(flatten)]
    health: health::VerdictRow,
    /// The longest of its partitions.
    time_lag: health::TimeLagRow,
    /// Where its lag went within the last minute.
    trend: &'static str,
    /// Total lag over the last 10 minutes, at times the same time apart, oldest first.
    lag_history: Vec<u64>,
    /// What the verdict was judged by.
    thresholds: health::ThresholdsRow,
    #[serde(flatten)]
    totals: Totals,
    rates: plans::RatesRow,
    /// As things are.
    drains: Option<plans::GroupDrainRow>,
    current: Option<plans::Judged>,
    plan: Option<plans::Plan>,
    partitions: Vec<Partition>,
    /// `null`: no topic of it is known, or it has no hash.
    metadata: Option<metadata::Metadata>,
    rebalances: rebalances::Rebalances,
    /// Other events of the group, newest first, at most 20.
    events: Vec<rebalances::EventRow>,
    problems: Vec<ProblemRow>,
}

/// A sum of the known lags, and how many partitions are in each state.
#[derive(Debug, Serialize)]
struct Totals {
    /// Records; `null` where no partition's lag is known.
    lag: Option<u64>,
    /// Share groups: records that are not done, by the broker's own formula; `null` for all others.
    backlog: Option<u64>,
    lost: u64,
    /// The lag is an upper bound: more than 1 % of it may be control records, or records that compaction took away.
    at_most: bool,
    states: States,
}

#[derive(Debug, Serialize)]
struct States {
    known: usize,
    backlog: usize,
    no_commit: usize,
    past_end: usize,
    expired: usize,
    no_leader: usize,
    topic_gone: usize,
    partition_gone: usize,
    abandoned: usize,
    stale: usize,
    unknown: usize,
}

#[derive(Debug, Serialize)]
struct Member {
    member: Name,
    instance_id: Option<Name>,
    client_id: Name,
    host: Name,
    rack: Option<Name>,
    /// `null`: not known by this evidence.
    subscription: Option<Vec<Name>>,
    /// `null`: cannot be decoded (another protocol type).
    partitions: Option<Vec<TopicPartition>>,
    /// Of its target what it does not hold; `null`: no target is known.
    awaits: Option<Vec<TopicPartition>>,
    /// How many more it holds, of topics that were not selected.
    elsewhere: usize,
    #[serde(flatten)]
    totals: Totals,
    #[serde(flatten)]
    health: health::VerdictRow,
    time_lag: health::TimeLagRow,
    /// Why it holds nothing.
    idle: Option<String>,
    /// The reason takes for granted that every member subscribes to all that the group owns.
    idle_assumed: bool,
    rates: plans::RatesRow,
    /// The most that it was seen to do with a backlog, in records per second.
    capacity: Option<f64>,
    drains: plans::DrainRow,
    /// KIP-848: it holds something else than its target.
    reconciling: bool,
    /// What only the coordinator log tells of it.
    log: Option<rebalances::MemberLogRow>,
}

#[derive(Debug, Serialize)]
struct TopicPartition {
    topic: Name,
    partition: i32,
}

#[derive(Debug, Serialize)]
struct Partition {
    topic: Name,
    partition: i32,
    commit: Option<i64>,
    start: Option<i64>,
    end: Option<i64>,
    /// Last stable offset.
    stable: Option<i64>,
    state: &'static str,
    /// Records that can still be read; `null` where that is not known.
    lag: Option<u64>,
    /// Records of the lag that may not be there.
    doubtful: u64,
    /// Records that an open transaction holds.
    open_transaction: u64,
    /// How long the oldest of them waits.
    open_for: health::TimeLagRow,
    /// Records deleted before they were read.
    lost: Option<u64>,
    /// How far the commit is past the end.
    past_end: Option<u64>,
    /// Without a commit: records that the log holds.
    held: Option<u64>,
    /// Of a share group: records that are not done.
    backlog: Option<u64>,
    /// Of a share group: the share-partition start offset, below which all is done.
    share_start: Option<i64>,
    /// end − commit, as the Apache tool prints it.
    raw: Option<i64>,
    owner: Option<Name>,
    planned_owner: Option<Name>,
    rates: plans::RatesRow,
    /// Its lag is on its way between two commits: no backlog.
    in_flight: bool,
    time_lag: health::TimeLagRow,
    trend: &'static str,
    #[serde(flatten)]
    health: health::VerdictRow,
    signs: health::SignsRow,
    /// `null`: not asked for, no lag, or not read.
    probe: Option<probe::ProbeRow>,
}

#[derive(Debug, Serialize)]
struct ProblemRow {
    scope: Scope,
    missing: String,
    cause: Name,
    remedy: Option<String>,
    /// It will not pass by itself.
    lasting: bool,
    age_ms: u64,
}

/// The report of what was seen.
pub fn snapshot(outcome: &Outcome) -> Snapshot {
    let view = &outcome.view;
    let mut problems: Vec<ProblemRow> = view.problems.iter().map(|problem| problem_row(problem, view.now)).collect();
    if let Feed::Stale { since, cause } = &view.feed {
        let (missing, remedy) = ("collector".to_owned(), None);
        let problem =
            Problem { scope: Scope::Cluster, missing, cause: cause.clone(), remedy, lasting: false, since: *since };
        problems.push(problem_row(&problem, view.now));
    }
    Snapshot {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        taken_at: humantime::format_rfc3339_millis(outcome.taken_at).to_string(),
        complete: outcome.complete,
        simulated: view.cluster.simulated,
        cluster: Cluster {
            name: view.cluster.name.clone(),
            id: view.cluster.id.clone(),
            brokers: view.cluster.brokers,
            controller: view.cluster.controller,
        },
        groups_total: view.listing.map(|listing| listing.total),
        log: view.log.as_ref().map(|log| log_row(log, view.now)),
        groups: view.groups.iter().map(|group| group_row(group, view)).collect(),
        problems,
    }
}

fn log_row(log: &LogProgress, now: At) -> Log {
    Log {
        partitions: log.partitions,
        caught_up: log.caught_up,
        held: log.held.clone(),
        whole: log.whole,
        skipped: log.skipped,
        history_ms: log.history_ms,
        read: log.read,
        dropped: log.dropped,
        unknown: log.unknown,
        damaged: log.damaged,
        decoding_ms: log.decoding_ms,
        age_ms: millis(now.since(log.observed_at)),
    }
}

fn group_row(group: &GroupView, view: &View) -> Group {
    let age = |at: Option<At>| at.map(|at| millis(view.now.since(at)));
    let called = |place: usize| Some(group.members.get(place)?.id.clone());
    Group {
        group: group.id.clone(),
        r#type: kind(&group.kind),
        state: group.state.name(),
        evidence: group.evidence,
        assignor: group.assignor.clone(),
        coordinator: group.coordinator,
        epoch: group.epoch,
        assignment_epoch: group.assignment_epoch,
        topology_epoch: group.topology_epoch,
        stored_hash: group.stored_hash.map(|hash| hash.to_string()),
        log_gap: group.log_gap,
        simple: group.simple,
        last_generation: group.last_generation,
        described_age_ms: age(view.described_at(group)),
        commits_age_ms: age(view.commits_at(group)),
        members: group.members.iter().map(|member| member_row(member, group)).collect(),
        idle_members: group.idle,
        health: health::verdict(&group.judgement, group),
        time_lag: health::time_lag(group.time_lag),
        trend: health::direction(group.direction),
        lag_history: group.trend.clone(),
        thresholds: health::thresholds(group),
        totals: totals(&group.totals),
        rates: plans::rates(group.rates),
        drains: group.drains.as_ref().map(|drains| plans::group_drain(drains, called)),
        current: group.metrics.as_ref().map(plans::judged),
        plan: group.plan.as_ref().map(plans::plan),
        partitions: group.partitions.iter().map(|partition| partition_row(partition, group, view.now)).collect(),
        metadata: metadata::row(&group.kind, &group.metadata, view),
        rebalances: rebalances::rows(&group.rebalances),
        events: rebalances::events(&group.rebalances),
        problems: group.problems.iter().map(|problem| problem_row(problem, view.now)).collect(),
    }
}

/// The type of a group as reports call it: of a foreign protocol its raw name.
pub(super) fn kind(kind: &GroupKind) -> String {
    match kind {
        GroupKind::Other(protocol_type) => protocol_type.raw().to_owned(),
        kind => kind.to_string(),
    }
}

fn totals(totals: &LagTotals) -> Totals {
    Totals {
        lag: totals.has_known().then_some(totals.lag),
        backlog: (totals.shared > 0).then_some(totals.backlog),
        lost: totals.lost,
        at_most: totals.at_most(),
        states: States {
            known: totals.known,
            backlog: totals.shared,
            no_commit: totals.no_commit,
            past_end: totals.past_end,
            expired: totals.expired,
            no_leader: totals.no_leader,
            topic_gone: totals.topic_gone,
            partition_gone: totals.partition_gone,
            abandoned: totals.abandoned,
            stale: totals.stale,
            unknown: totals.unknown,
        },
    }
}

fn member_row(member: &MemberView, group: &GroupView) -> Member {
    let held = |places: &Vec<usize>| {
        let held = places.iter().map(|place| &group.partitions[*place]);
        held.map(|held| TopicPartition { topic: held.topic.clone(), partition: held.partition }).collect()
    };
    Member {
        member: member.id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        rack: member.rack.clone(),
        subscription: member.subscription.clone(),
        partitions: member.partitions.as_ref().map(held),
        awaits: member.awaits.as_ref().map(held),
        elsewhere: member.elsewhere,
        totals: totals(&member.totals),
        health: health::verdict(&member.judgement, group),
        time_lag: health::time_lag(member.time_lag),
        idle: member.idle.map(|reason| reason.to_string()),
        idle_assumed: member.idle_assumed,
        rates: plans::rates(member.rates),
        capacity: member.capacity,
        drains: plans::drain(member.drain),
        reconciling: member.reconciling,
        log: member.log.as_deref().map(rebalances::member_log),
    }
}

fn partition_row(partition: &PartitionView, group: &GroupView, now: At) -> Partition {
    let member = |place: Option<usize>| place.map(|place| group.members[place].id.clone());
    let (mut lost, mut past_end, mut held, mut backlog) = (None, None, None, None);
    match partition.lag {
        PartitionLag::Expired { lost: records, .. } => lost = Some(records),
        PartitionLag::PastEnd { by } => past_end = Some(by),
        PartitionLag::Backlog(records) => backlog = Some(records),
        PartitionLag::NoCommit { held: records } => held = records,
        _ => {}
    }
    Partition {
        topic: partition.topic.clone(),
        partition: partition.partition,
        commit: partition.commit,
        start: partition.start,
        end: partition.end,
        stable: partition.stable,
        state: partition.lag.name(),
        lag: partition.lag.readable(),
        doubtful: partition.doubtful,
        open_transaction: partition.open_transaction,
        open_for: health::time_lag(partition.open_for),
        lost,
        past_end,
        held,
        backlog,
        share_start: partition.share.and_then(|share| share.start),
        raw: partition.raw(),
        owner: member(partition.owner),
        planned_owner: member(partition.planned),
        rates: plans::rates(Rates { written: partition.rates.written, consumed: partition.rates.consumed }),
        in_flight: partition.rates.in_flight,
        time_lag: health::time_lag(partition.time_lag),
        trend: health::direction(partition.direction),
        health: health::verdict(&partition.judgement, group),
        signs: health::signs(partition, now),
        probe: group.probes.as_ref().and_then(|probes| {
            let found = probes.get(&partition.topic, partition.partition)?;
            Some(probe::row(found, probes.at))
        }),
    }
}

fn problem_row(problem: &Problem, now: At) -> ProblemRow {
    ProblemRow {
        scope: problem.scope.clone(),
        missing: problem.missing.clone(),
        cause: problem.cause.clone(),
        remedy: problem.remedy.clone(),
        lasting: problem.lasting,
        age_ms: millis(now.since(problem.since)),
    }
}
