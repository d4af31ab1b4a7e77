//! The snapshot as text for people: groups, then what each needs to know, then problems. Names are printed safely.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};

use super::Outcome;
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
        let probed = view.groups.iter().any(|group| group.probes.is_some());
        let mut header = vec![
            "GROUP",
            "TYPE",
            "STATE",
            "MEMBERS",
            "LAG",
            "NOT KNOWN",
            "LARGEST",
            "SKEW",
            "ASSIGNOR",
            view.assignor.would(),
        ];
        if probed {
            header.push("TIME LAG");
        }
        table.set_header(header);
        for place in [4, 6, 7] {
            if let Some(column) = table.column_mut(place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for group in &view.groups {
            let mut cells = row(group);
            if probed {
                cells.push(time_lag(group));
            }
            table.add_row(cells);
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
        parts.push(format!("{brokers} brokers"));
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
    let lag = if group.totals.has_known() {
        group.totals.lag.to_string()
    } else if group.totals.shared > 0 {
        format!("{} backlog", group.totals.backlog)
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
        group.id.to_string(),
        group.kind.to_string(),
        group.state.to_string(),
        members,
        lag,
        exceptions.join(", "),
        group.metrics.as_ref().map_or_else(|| "-".to_owned(), |metrics| metrics.largest_lag.to_string()),
        figure(group.skew()),
        group.assignor.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        would(group),
    ]
}

/// The largest exact time lag of its partitions.
fn time_lag(group: &GroupView) -> String {
    let Some(probes) = &group.probes else { return "-".to_owned() };
    let all = || probes.topics.values().flat_map(|topic| topic.values());
    match probes.oldest() {
        Some(_) if all().all(|probe| *probe == Probe::NothingToRead) => "nothing to read".to_owned(),
        Some(oldest) if oldest.clock_skew => "0s, clock skew".to_owned(),
        Some(oldest) => humantime::format_duration(Duration::from_secs(oldest.age.as_secs())).to_string(),
        None => "-".to_owned(),
    }
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
