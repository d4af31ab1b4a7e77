//! The snapshot as text for people: groups, then what each needs to know, then problems. Names are printed safely.

use std::cmp::Reverse;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::Outcome;
use crate::health::Judgement;
use crate::model::figures::{and_more, duration};
use crate::model::{GroupKind, Probe};
use crate::monitor::view::{GroupView, View};

/// The report of what was seen.
pub fn snapshot(outcome: &Outcome) -> String {
    let view = &outcome.view;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", head(outcome));
    if !view.groups.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header([
            "VERDICT",
            "GROUP",
            "TYPE",
            "STATE",
            "MEMBERS",
            "LAG",
            "BEHIND",
            "NOT IN LAG",
            "LARGEST",
            "SKEW",
            "ASSIGNOR",
            view.assignor.would(),
            "WHY",
        ]);
        for place in [5, 6, 8, 9] {
            if let Some(column) = table.column_mut(place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // The worst first, as on the screen.
        let mut groups: Vec<&GroupView> = view.groups.iter().map(|group| &**group).collect();
        groups.sort_by_key(|group| {
            let Judgement { severity, verdict, .. } = group.judgement;
            (severity, verdict, Reverse(group.totals.behind()))
        });
        for group in groups {
            table.add_row(row(group));
        }
        for line in table.lines() {
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    for problem in view.problems.iter() {
        let _ = writeln!(out, "problem: {problem}");
    }
    out
}

fn head(outcome: &Outcome) -> String {
    let View { cluster, listing, groups, .. } = &outcome.view;
    let mut parts = vec![cluster.name.to_string()];
    if cluster.simulated {
        parts.push("SIMULATED".to_owned());
    }
    if let Some(brokers) = cluster.brokers {
        parts.push(format!("{brokers} broker{}", if brokers == 1 { "" } else { "s" }));
    }
    if let Some(listing) = listing {
        parts.push(format!("{} of {} groups", groups.len(), listing.total));
    }
    if !outcome.complete {
        parts.push("INCOMPLETE".to_owned());
    }
    parts.join("  ")
}

fn row(group: &GroupView) -> Vec<String> {
    let members = match (group.members.len(), group.idle) {
        _ if group.described_at.is_none() => "?".to_owned(),
        (count, 0) => count.to_string(),
        (count, idle) => format!("{count}, {idle} idle"),
    };
    let at_most = if group.totals.at_most() { "<=" } else { "" };
    let lag = if group.totals.has_known() {
        format!("{at_most}{}", group.totals.lag)
    } else if group.totals.shared > 0 {
        format!("{at_most}{} backlog", group.totals.backlog)
    } else if group.kind.is_consumer() && group.commits_at.is_some() {
        "-".to_owned()
    } else {
        "?".to_owned()
    };
    let exceptions = group.totals.exceptions().into_iter().map(|(state, count)| format!("{count} {state}"));
    let mut exceptions: Vec<String> = exceptions.collect();
    if group.totals.lost > 0 {
        exceptions.push(format!("{} records lost", group.totals.lost));
    }
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    vec![
        group.judgement.verdict.to_string(),
        group.id.to_string(),
        group.kind.to_string(),
        group.state.to_string(),
        members,
        lag,
        behind(group),
        exceptions.join(", "),
        group.metrics.as_ref().map_or_else(|| "-".to_owned(), |metrics| metrics.largest_lag.to_string()),
        figure(group.skew()),
        group.assignor.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        would(group),
        why(group),
    ]
}

/// How long it is behind: exactly where records were read for it.
fn behind(group: &GroupView) -> String {
    let Some(probes) = &group.probes else {
        return if group.totals.behind().is_some() { group.time_lag.to_string() } else { "-".to_owned() };
    };
    let all = || probes.topics.values().flat_map(|topic| topic.values());
    match probes.oldest() {
        Some(_) if all().all(|probe| *probe == Probe::NothingToRead) => "nothing to read".to_owned(),
        Some(oldest) if oldest.clock_skew => "0s, clock skew".to_owned(),
        // The records that it waited for first were deleted.
        Some(oldest) if group.totals.expired > 0 => format!("> {}", duration(oldest.age)),
        Some(oldest) => format!("{} exactly", duration(oldest.age)),
        None => "-".to_owned(),
    }
}

/// The gravest of the findings that made the verdict, and where it shows most; not what is only worth a word beside it.
fn why(group: &GroupView) -> String {
    let Some(finding) = group.judgement.lead() else { return "-".to_owned() };
    let Some(partition) = finding.partition.and_then(|place| group.partitions.get(place)) else {
        return finding.reason.to_string();
    };
    let more = and_more(finding.count.saturating_sub(1));
    format!("{} ({}-{}{more})", finding.reason, partition.topic, partition.partition)
}

fn would(group: &GroupView) -> String {
    match (&group.plan, &group.metrics) {
        (Some(plan), Some(metrics)) if group.would_gain() => {
            format!("{} moves, largest {} > {}", plan.moves, metrics.largest_lag, plan.metrics.largest_lag)
        }
        (Some(_), _) => "nothing to gain".to_owned(),
        (None, _) if group.kind == GroupKind::ShareOrStreams => "needs the coordinator log".to_owned(),
        (None, _) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Finding, Judgement, LagTotals, Reason, Severity, TimeLag, Verdict};
    use crate::model::Name;
    use crate::monitor::view::PartitionView;

    #[test]
    fn a_row_says_its_verdict_and_why() {
        let partition = |partition| PartitionView { topic: Name::new("t"), partition, ..PartitionView::default() };
        let finding =
            |verdict, severity, reason, partition, count| Finding { verdict, severity, reason, partition, count };
        let mut group = GroupView {
            id: Name::new("g"),
            partitions: vec![partition(0), partition(1)],
            totals: LagTotals { lag: 7, known: 2, doubtful: 7, abandoned: 1, ..LagTotals::default() },
            time_lag: TimeLag::MoreThan(std::time::Duration::from_secs(4)),
            judgement: Judgement {
                verdict: Verdict::Stopped,
                severity: Severity::Critical,
                completeness: 1.0,
                reasons: vec![
                    finding(Verdict::Stopped, Severity::Critical, Reason::NoOwner { lag: 7 }, Some(1), 2),
                    finding(Verdict::Stopped, Severity::Note, Reason::Idle { members: 1, of: 2 }, None, 1),
                ],
            },
            ..GroupView::default()
        };
        let told = row(&group);
        assert_eq!(told[..2], ["STOPPED", "g"]);
        assert_eq!(told[5..8], ["<=7", "> 4.0s", "1 abandoned"]);
        let why = "no owner although the group is Stable, 7 records wait (t-1 and 1 more)";
        assert_eq!(told.last().map(String::as_str), Some(why));
        group.judgement.reasons.clear();
        group.totals = LagTotals::default();
        let told = row(&group);
        assert_eq!((told[6].as_str(), told.last().map(String::as_str)), ("-", Some("-")));
    }
}
