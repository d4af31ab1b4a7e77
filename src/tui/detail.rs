//! What a detail page says about a group, a member, a partition or a problem: entries of a key and a value, full
//! names and full figures.

use super::detail_log;
use super::detail_past;
use super::detail_verdict;
use super::figures::{duration, plural, rate as rate_words, ratio, variation};
use super::look::Look;
use super::members;
use super::page::Entry;
use super::past;
use super::past_words;
use super::sentence;
use super::standing::{self, lag_words};
use super::state::{Page, State};
use crate::assign::metrics::Metrics;
use crate::model::{At, Evidence, GroupKind, Name};
use crate::monitor::view::{DrainView, GroupView, MemberView, PartitionRates, PartitionView, PlanView, Rates};

/// The entries of a page.
pub fn of(state: &State, page: &Page) -> Vec<Entry> {
    let look = &state.look;
    let gone = || vec![Entry::title("It is no longer there.")];
    match page {
        Page::Help | Page::Metadata(_) => Vec::new(),
        Page::Group(id) => state.group(id).map_or_else(gone, |group| of_group(state, group, look)),
        Page::Member(id, member) => {
            let group = state.group(id);
            let place = group.and_then(|group| group.members.iter().position(|known| known.id == *member));
            group.zip(place).map_or_else(gone, |(group, place)| of_member(state, group, place, look))
        }
        Page::Partition(id, topic, number) => {
            let group = state.group(id);
            let found = group.and_then(|group| {
                let same = |known: &&PartitionView| known.topic == *topic && known.partition == *number;
                Some((group, group.partitions.iter().find(same)?))
            });
            found.map_or_else(gone, |(group, partition)| of_partition(state, group, partition, look))
        }
        Page::Past(key) => past::find(&state.view, key).map_or_else(gone, |past| detail_past::of(state, &past)),
        Page::Problem((scope, missing)) => {
            let same = |problem: &&crate::model::Problem| problem.scope == *scope && problem.missing == *missing;
            state.view.problems.iter().find(same).map_or_else(gone, |problem| {
                vec![
                    Entry::title("Problem"),
                    Entry::new("what", problem.scope.to_string()),
                    Entry::new("missing", problem.missing.clone()),
                    Entry::new("cause", problem.cause.to_string()),
                    Entry::new("what would help", problem.remedy.clone().unwrap_or_else(|| "not known".to_owned())),
                    Entry::new("for", duration(state.since(problem.since))),
                ]
            })
        }
    }
}

fn age(state: &State, at: Option<At>) -> String {
    at.map_or_else(|| "never".to_owned(), |at| format!("{} ago", duration(state.since(at))))
}

fn or_unknown(name: Option<&Name>) -> String {
    name.map_or_else(|| "not known".to_owned(), ToString::to_string)
}

fn of_group(state: &State, group: &GroupView, look: &Look) -> Vec<Entry> {
    let evidence = match group.evidence {
        Evidence::Admin => "the admin calls",
        Evidence::Log => "the coordinator log",
    };
    let coordinator = group.coordinator.map_or_else(|| "not known".to_owned(), |id| format!("broker {id}"));
    let mut entries = vec![
        Entry::title("Group"),
        Entry::new("id", group.id.to_string()),
        Entry::new("in a sentence", sentence::of(group, state.is_fresh_group(group), state.wall(), look)),
    ];
    entries.extend(detail_verdict::of_judgement(group, &group.judgement, state.is_fresh_group(group), look));
    entries.push(detail_verdict::of_thresholds(group));
    entries.push(detail_verdict::of_storm(group));
    entries.extend([
        Entry::title("Facts"),
        Entry::new("type", group.kind.to_string()),
        Entry::new("state", group.state.to_string()),
        Entry::new("assignor", or_unknown(group.assignor.as_ref())),
        Entry::new("coordinator", coordinator),
        Entry::new("known from", evidence),
        Entry::new("past known", past_words::since(&group.rebalances, state.wall())),
        Entry::new("members read", age(state, state.view.described_at(group))),
        Entry::new("commits read", age(state, state.view.commits_at(group))),
        Entry::new("members", format!("{}, {} idle", group.members_now(), group.idle)),
    ]);
    if group.last_generation {
        let words = "of the last generation, with what they held: who joins now is in no record yet";
        entries.push(Entry::new("these members are", words));
    }
    if let Some(needs) = standing::needs(&group.kind) {
        entries.push(Entry::new("to see more", needs));
    }
    entries.extend(detail_log::of_group(state, group));
    if group.kind.reads_partitions() {
        entries.push(Entry::title("Lag"));
        let totals = &group.totals;
        let lag = if totals.has_known() { totals.lag.to_string() } else { "not known".to_owned() };
        entries.push(Entry::new("total", lag));
        if totals.doubtful > 0 {
            let doubtful = format!("{} records that may not be there: transaction markers, compacted", totals.doubtful);
            entries.push(Entry::new("of it", doubtful));
        }
        entries.push(detail_verdict::of_time_lag(group.time_lag));
        if totals.shared > 0 {
            entries.push(Entry::new("backlog", format!("{} records that are not done", totals.backlog)));
        }
        let known = totals.known + totals.shared;
        entries.push(Entry::new("partitions", format!("{known} of {} known", group.partitions.len())));
        let others = totals.exceptions();
        entries.extend(others.into_iter().map(|(state, count)| Entry::new(state, plural(count, "partition"))));
        if totals.lost > 0 {
            entries.push(Entry::new("lost", format!("{} records, deleted before they were read", totals.lost)));
        }
    }
    if let Some(metrics) = &group.metrics {
        entries.push(Entry::title("Assignment now"));
        entries.extend(of_metrics(metrics));
        entries.extend(group.drains.as_ref().map(|drains| of_drains(group, drains)));
    }
    if let Some(plan) = &group.plan {
        entries.push(Entry::title(format!("Assignment under {}", plan.assignor)));
        entries.extend(of_metrics(&plan.metrics));
        entries.push(of_drains(group, &plan.drains));
        entries.push(Entry::new("moves", plan.moves.to_string()));
        let points = plan.frontier.iter().map(|point| format!("{}: {}", point.moves, point.largest_lag));
        let points: Vec<String> = points.collect();
        if points.len() > 1 {
            entries.push(Entry::new("largest by moves", points.join(", ")));
        }
        entries.push(Entry::new("can be had", plan.fit.words()));
        entries.extend(group.way.as_ref().map(|way| {
            let setting = format!("{}={}", way.property, way.value);
            let figures = format!("largest {}, {}", way.largest_lag, plural(way.moves, "move"));
            Entry::new(if way.exact { "by" } else { "nearest" }, format!("{setting}: {figures}"))
        }));
        entries.extend(plan.notes.iter().map(|note| Entry::new("note", note.clone())));
        entries.extend(of_assumptions(plan));
    }
    if !group.problems.is_empty() {
        entries.push(Entry::title("Problems"));
        entries.extend(group.problems.iter().map(|problem| Entry::new("", problem.to_string())));
    }
    entries
}

fn of_metrics(metrics: &Metrics) -> Vec<Entry> {
    vec![
        Entry::new("largest member", metrics.largest_lag.to_string()),
        Entry::new("max/mean", ratio(metrics.lag_over_mean)),
        Entry::new("variation (cv)", variation(metrics.lag_variation)),
        Entry::new("idle members", metrics.idle.to_string()),
        Entry::new("lower bound", format!("{}: no assignment has a smaller largest member", metrics.lower_bound)),
    ]
}

/// When the lag will be gone, and what that is made of.
fn of_drains(group: &GroupView, drains: &DrainView) -> Entry {
    let mut words = vec![drains.group.to_string()];
    let called = |place| members::label_at(group, Some(place)).map_or_else(String::new, |label| label.to_string());
    words.extend(drains.why(called));
    words.push(format!("capacity of {} of {} members measured", drains.measured, drains.of));
    words.extend(drains.rebalance.map(|time| format!("{} for the rebalance in it", duration(time))));
    Entry::new("drains", words.join("; "))
}

/// Rates with the time that they hold for.
fn of_rates(rates: Rates) -> [Entry; 2] {
    let words = |rate: Option<crate::health::Rate>| match rate {
        None => "not watched for long enough".to_owned(),
        Some(per) => format!("{} records per second, over {}", rate_words(rate), duration(per.window)),
    };
    [Entry::new("written", words(rates.written)), Entry::new("consumed", words(rates.consumed))]
}

fn of_assumptions(plan: &PlanView) -> impl Iterator<Item = Entry> {
    plan.assumptions.iter().map(|assumption| Entry::new("assumes", assumption.clone()))
}

fn of_member(state: &State, group: &GroupView, place: usize, look: &Look) -> Vec<Entry> {
    let Some(member) = group.members.get(place) else { return Vec::new() };
    let mut entries = vec![
        Entry::title("Member"),
        Entry::new("group", group.id.to_string()),
        Entry::new("id", member.id.to_string()),
    ];
    if let Some(instance) = &member.instance_id {
        entries.push(Entry::new("instance id", format!("{instance} (static member)")));
    }
    entries.push(Entry::new("client id", member.client_id.to_string()));
    entries.push(Entry::new("host", member.host.to_string()));
    entries.push(Entry::new("rack", or_unknown(member.rack.as_ref())));
    entries.push(Entry::new(
        "subscribes to",
        match &member.subscription {
            None => "not known".to_owned(),
            Some(topics) if topics.is_empty() => "nothing".to_owned(),
            Some(topics) => topics.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        },
    ));
    if member.reconciling {
        entries.push(Entry::new("reconciling", "it holds something else than its target"));
    }
    entries.extend(detail_log::of_member(group, member));
    entries.extend(members::idle(member).map(|reason| Entry::new("idle", reason)));
    if !group.kind.reads_partitions() {
        return entries;
    }
    entries.extend(detail_verdict::of_judgement(group, &member.judgement, state.is_fresh_group(group), look));
    entries.push(Entry::title("Now"));
    entries.extend(held(state, group, member, look));
    if let Some((plan, planned)) = group.plan.as_ref().and_then(|plan| Some((plan, plan.members.get(place)?))) {
        entries.push(Entry::title(format!("Under {}", plan.assignor)));
        entries.push(Entry::new("partitions", planned.partitions.to_string()));
        entries.push(Entry::new("lag", planned.lag.to_string()));
        entries.push(Entry::new("drains", planned.drain.to_string()));
        let mine = |owner: Option<usize>| owner == Some(place);
        let changed = |gained: bool| {
            let moved = group.partitions.iter().filter(move |partition| {
                let (before, after) = (mine(partition.owner), mine(partition.planned));
                before != after && after == gained
            });
            moved.map(|partition| format!("{}-{}", partition.topic, partition.partition)).collect::<Vec<_>>()
        };
        if planned.gained > 0 {
            entries.push(Entry::new("gains", format!("{}: {}", planned.gained, changed(true).join(", "))));
        }
        if planned.lost > 0 {
            entries.push(Entry::new("gives away", format!("{}: {}", planned.lost, changed(false).join(", "))));
        }
        entries.extend(of_assumptions(plan));
    }
    entries
}

fn held(state: &State, group: &GroupView, member: &MemberView, look: &Look) -> Vec<Entry> {
    let Some(places) = &member.partitions else {
        return vec![Entry::new("partitions", "not known")];
    };
    let mut entries = vec![Entry::new("partitions", places.len().to_string())];
    // Of a share group, a partition may be several members': none of its backlog is one member's.
    if group.kind != GroupKind::Share {
        entries.push(Entry::new("lag", format!("{} {}", member.totals.lag, standing::besides(&member.totals))));
        entries.push(detail_verdict::of_time_lag(member.time_lag));
    }
    entries.extend(of_rates(member.rates));
    let capacity = member.capacity.map_or_else(
        || "never seen with a backlog".to_owned(),
        |capacity| format!("{capacity:.0} records per second, the most that was seen with a backlog"),
    );
    entries.push(Entry::new("capacity", capacity));
    entries.push(Entry::new("drains", member.drain.to_string()));
    for partition in places.iter().filter_map(|place| group.partitions.get(*place)) {
        let name = format!("  {}-{}", look.name(&partition.topic, 60), partition.partition);
        entries.push(Entry::new(name, figure(state, partition)));
    }
    entries
}

/// Lag and, if it is not simply known, its state.
fn figure(state: &State, partition: &PartitionView) -> String {
    let words = lag_words(partition, state.view.now);
    match partition.lag.records() {
        Some(lag) if words == "known" => lag.to_string(),
        Some(lag) => format!("{lag} ({words})"),
        None => words,
    }
}

fn of_partition(state: &State, group: &GroupView, partition: &PartitionView, look: &Look) -> Vec<Entry> {
    let offset = |offset: Option<i64>| offset.map_or_else(|| "not known".to_owned(), |offset| offset.to_string());
    let member = |place| match members::label_at(group, place) {
        Some(label) => label.to_string(),
        None => "nobody".to_owned(),
    };
    let mut entries = vec![
        Entry::title("Partition"),
        Entry::new("topic", partition.topic.to_string()),
        Entry::new("partition", partition.partition.to_string()),
        Entry::new("group", group.id.to_string()),
        Entry::new("log start", offset(partition.start)),
        match partition.share {
            Some(share) => Entry::new("share start", offset(share.start)),
            None => {
                Entry::new("commit", partition.commit.map_or_else(|| "none".to_owned(), |commit| commit.to_string()))
            }
        },
        Entry::new("log end", offset(partition.end)),
        Entry::new("lag", figure(state, partition)),
    ];
    let PartitionRates { written, consumed, in_flight, .. } = partition.rates;
    entries.extend(of_rates(Rates { written, consumed }));
    if in_flight && partition.lag.readable().is_some_and(|lag| lag > 0) {
        entries.push(Entry::new("backlog", "none: its lag is on its way between two commits"));
    }
    if let Some(raw) = partition.raw() {
        entries.push(Entry::new("end - commit", raw.to_string()));
    }
    if group.kind != GroupKind::Unknown {
        entries.push(Entry::new("owner now", member(partition.owner)));
    }
    if let Some(plan) = &group.plan {
        entries.push(Entry::new(format!("under {}", plan.assignor), member(partition.planned)));
    }
    entries.extend(detail_verdict::of_judgement(group, &partition.judgement, state.is_fresh_group(group), look));
    entries.push(detail_verdict::of_thresholds(group));
    entries.push(detail_verdict::of_time_lag(partition.time_lag));
    entries.extend(detail_verdict::of_signs(partition, state.view.now));
    entries
}
