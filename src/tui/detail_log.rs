//! What a detail page says that only the coordinator log tells: epochs, who waits for whom, timeouts, tasks, and how far
//! the log itself is known.

use std::time::Duration;

use super::figures::duration;
use super::members;
use super::page::Entry;
use super::state::State;
use crate::model::{Evidence, GroupKind, LogGap, LogProgress, MemberLog, TopicPartitions};
use crate::monitor::view::{GroupView, MemberView, View};

/// Why the log does not tell of a group for now, in two words.
pub fn gap_word(gap: LogGap) -> &'static str {
    match gap {
        LogGap::CatchingUp => "log catching up",
        LogGap::Held => "log held",
        LogGap::Failed => "log not readable",
    }
}

fn gap_sentence(gap: LogGap) -> &'static str {
    match gap {
        LogGap::CatchingUp => "its partition of the log is still being read; until then the admin calls tell",
        LogGap::Held => "an open transaction holds its partition of the log; until it ends the admin calls tell",
        LogGap::Failed => "its partition of the log cannot be read; the admin calls tell",
    }
}

/// Why the log does not tell something of the group: a bounded history may have begun too late.
fn untold(view: &View, group: &GroupView) -> String {
    match (&view.log, group.log_gap) {
        (_, Some(gap)) => format!("not known: {}", gap_sentence(gap)),
        (None, None) => "not known: needs the coordinator log (READ on __consumer_offsets)".to_owned(),
        (Some(log), None) if group.evidence == Evidence::Log => match back(log) {
            Some(back) => format!("not in the {back}"),
            None => "none".to_owned(),
        },
        (Some(_), None) => "not known".to_owned(),
    }
}

/// How far back a bounded history goes.
fn back(log: &LogProgress) -> Option<String> {
    if log.whole {
        return None;
    }
    let last = |millis| format!("last {}", duration(Duration::from_millis(millis)));
    Some(log.history_ms.map_or_else(|| "newest records".to_owned(), last))
}

/// The group's epochs, and how far the log is known.
pub fn of_group(state: &State, group: &GroupView) -> Vec<Entry> {
    let view = &state.view;
    let epoch = |epoch: Option<i32>| epoch.map_or_else(|| untold(view, group), |epoch| epoch.to_string());
    let mut entries = Vec::new();
    match group.kind {
        GroupKind::Consumer | GroupKind::Share | GroupKind::Streams => {
            entries.push(Entry::new("group epoch", epoch(group.epoch)));
            let behind = group.assignment_epoch.is_some() && group.assignment_epoch < group.epoch;
            let behind = if behind { ": the target is still to be computed" } else { "" };
            entries.push(Entry::new("assignment epoch", format!("{}{behind}", epoch(group.assignment_epoch))));
            let hash = match (group.stored_hash, group.epoch) {
                (Some(hash), _) => format!("{hash:016x}"),
                (None, Some(_)) => "none: no topic, or a broker before KIP-1101".to_owned(),
                (None, None) => untold(view, group),
            };
            entries.push(Entry::new("stored hash", hash));
            if group.kind == GroupKind::Streams {
                entries.push(Entry::new("topology epoch", epoch(group.topology_epoch)));
            }
        }
        GroupKind::Classic | GroupKind::Other(_) => entries.push(Entry::new("generation", epoch(group.epoch))),
        GroupKind::Unknown | GroupKind::ShareOrStreams => {}
    }
    if is_mixed(group) {
        let classic = group.members.iter().filter(|member| speaks_classic(member)).count();
        let all = group.members.len();
        entries.push(Entry::new("protocols", format!("{classic} of {all} members still speak the classic protocol")));
    }
    entries.push(Entry::title("Coordinator log"));
    if let Some(gap) = group.log_gap {
        entries.push(Entry::new("of this group", gap_sentence(gap)));
    }
    match &view.log {
        Some(log) => entries.extend(of_log(log)),
        None => entries.push(Entry::new("read", "no: --coordinator-log off, or no READ on __consumer_offsets")),
    }
    entries
}

fn of_log(log: &LogProgress) -> Vec<Entry> {
    let mut entries =
        vec![Entry::new("read to its end", format!("{} of {} partitions", log.caught_up, log.partitions))];
    if !log.held.is_empty() {
        let held: Vec<String> = log.held.iter().map(ToString::to_string).collect();
        let held = held.join(", ");
        entries.push(Entry::new("held", format!("by open transactions, in partitions {held}")));
    }
    let reach = match back(log) {
        None => "to its first record; what compaction took away is gone".to_owned(),
        Some(back) => format!("the {back}; {} offsets before are not read", log.skipped),
    };
    entries.push(Entry::new("history", reach));
    let mut records = vec![format!("{} read", log.read), format!("{} dropped after their key", log.dropped)];
    let odd = [(log.unknown, "of an unknown type or version"), (log.damaged, "damaged")];
    records.extend(odd.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    entries.push(Entry::new("records", records.join(", ")));
    entries
}

fn speaks_classic(member: &MemberView) -> bool {
    member.log.as_ref().is_some_and(|log| log.classic_protocol)
}

/// A KIP-848 group on its way from or to the classic protocol.
fn is_mixed(group: &GroupView) -> bool {
    group.kind == GroupKind::Consumer && group.members.iter().any(speaks_classic)
}

/// What only the log tells of a member, and whom it waits for.
pub fn of_member(group: &GroupView, member: &MemberView) -> Vec<Entry> {
    let mut entries = Vec::new();
    entries.extend(member.awaits.iter().flatten().filter_map(|place| {
        let partition = group.partitions.get(*place)?;
        let holder = match members::label_at(group, partition.owner) {
            Some(holder) => format!("still held by {holder}"),
            None => "held by nobody".to_owned(),
        };
        Some(Entry::new("waits for", format!("{}-{}, {holder}", partition.topic, partition.partition)))
    }));
    let Some(log) = &member.log else { return entries };
    if is_mixed(group) {
        let protocol = if log.classic_protocol { "classic, in a KIP-848 group" } else { "consumer (KIP-848)" };
        entries.push(Entry::new("protocol", protocol));
    }
    entries.extend(of_log_member(group, log));
    entries
}

fn of_log_member(group: &GroupView, log: &MemberLog) -> Vec<Entry> {
    let mut entries = Vec::new();
    if let Some(epoch) = log.epoch {
        let text = match (epoch, group.epoch) {
            (-2, _) => "-2: a static member that is away".to_owned(),
            (epoch, Some(group)) if epoch != group => format!("{epoch}; the group is at {group}"),
            (epoch, _) => epoch.to_string(),
        };
        entries.push(Entry::new("member epoch", text));
    }
    if log.waits {
        entries.push(Entry::new("waits", "for partitions that others have not given up yet"));
    }
    let to_give_up = listed(&log.pending_revocation, "-");
    if !to_give_up.is_empty() {
        entries.push(Entry::new("has to give up", to_give_up));
    }
    if let Some(regex) = &log.regex {
        entries.push(Entry::new("subscribes by regex", regex.to_string()));
    }
    if let Some(assignor) = &log.assignor {
        entries.push(Entry::new("asks for assignor", assignor.to_string()));
    }
    for (name, millis) in [("rebalance timeout", log.rebalance_timeout_ms), ("session timeout", log.session_timeout_ms)]
    {
        if let Some(millis) = millis.and_then(|millis| u64::try_from(millis).ok()) {
            entries.push(Entry::new(name, duration(Duration::from_millis(millis))));
        }
    }
    if let Some(tasks) = &log.tasks {
        entries.push(Entry::new("process", tasks.process.to_string()));
        for (name, tasks) in
            [("active tasks", &tasks.active), ("standby tasks", &tasks.standby), ("warm-up tasks", &tasks.warmup)]
        {
            let tasks = listed(tasks, "_");
            entries.push(Entry::new(name, if tasks.is_empty() { "none".to_owned() } else { tasks }));
        }
    }
    entries
}

/// `orders-0, orders-1`; tasks as Kafka Streams writes them: `0_1`.
fn listed(topics: &TopicPartitions, between: &str) -> String {
    let all = topics.iter().flat_map(|(topic, numbers)| numbers.iter().map(move |number| (topic, number)));
    all.map(|(topic, number)| format!("{topic}{between}{number}")).collect::<Vec<_>>().join(", ")
}
