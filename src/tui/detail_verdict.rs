//! What a detail page says of a verdict: every finding with its rule, how much is known, and the figures that it was
//! judged by.

use super::figures::{and_more, duration, plural};
use super::look::Look;
use super::page::Entry;
use super::sentence;
use super::standing;
use crate::health::verdict::{ARRIVES, COMPLETE, Finding};
use crate::health::{Judgement, Rewound, TimeLag};
use crate::monitor::view::{GroupView, PartitionView};

/// Verdict, findings, and how much of the evidence is there.
pub fn of_judgement(group: &GroupView, judgement: &Judgement, fresh: bool, look: &Look) -> Vec<Entry> {
    let standing = standing::of(judgement, fresh);
    let words = standing.words(u16::MAX);
    let verdict = if fresh {
        format!("{words}, {}", standing.severity.name())
    } else {
        format!("{words}: its figures are old; it was {}", judgement.verdict)
    };
    let mut entries = vec![Entry::title("Verdict"), Entry::new("verdict", verdict)];
    let found = |finding: &Finding| Entry::new(format!("  {}", finding.reason.rule()), found(group, finding, look));
    entries.extend(judgement.reasons.iter().map(found));
    let percent = (judgement.completeness * 100.0).floor();
    let evidence = if judgement.completeness < 1.0 {
        format!("{percent:.0} %: complete after {} of watching", duration(COMPLETE))
    } else {
        "complete".to_owned()
    };
    entries.push(Entry::new("evidence", evidence));
    entries
}

/// `critical, STALLED, payments-3 and 4 more: no commit for 6m although records wait`.
fn found(group: &GroupView, finding: &Finding, look: &Look) -> String {
    let more = and_more(finding.count.saturating_sub(1));
    let place = sentence::partition(group, finding, look).map_or_else(String::new, |place| format!(", {place}{more}"));
    let reason = sentence::said(group, &finding.reason, look).unwrap_or_else(|| finding.reason.to_string());
    format!("{}, {}{place}: {reason}", finding.severity.name(), finding.verdict)
}

/// How many rebalances of the group are a storm.
pub fn of_storm(group: &GroupView) -> Entry {
    let rebalances = plural(group.storm.count, "rebalance");
    Entry::new("a storm is", format!("{rebalances} within {}", duration(group.storm.window)))
}

/// From when on the group lags.
pub fn of_thresholds(group: &GroupView) -> Entry {
    let thresholds = group.thresholds;
    let mut words = vec![format!("behind for more than {}", duration(thresholds.time_lag))];
    words.extend(thresholds.lag.map(|lag| format!("or by more than {lag} records")));
    words.push(format!("a topic is abandoned after {} without a commit", duration(thresholds.abandoned_after)));
    Entry::new("thresholds", words.join("; "))
}

/// How long it is behind, and how exactly that is known.
pub fn of_time_lag(time: TimeLag) -> Entry {
    let words = match time {
        TimeLag::None => "0s: nothing waits".to_owned(),
        TimeLag::Known { time, error } => format!("{}, give or take {}", duration(time), duration(error)),
        TimeLag::MoreThan(time) => {
            format!("more than {}: written before it was watched, or while nobody looked", duration(time))
        }
        TimeLag::Unknown => "not known".to_owned(),
    };
    Entry::new("behind for", words)
}

/// How the commit of a partition gets on, and how far it is from what deletes and hides records.
pub fn of_signs(partition: &PartitionView, now: crate::model::At) -> Vec<Entry> {
    let signs = &partition.signs;
    let mut entries = vec![Entry::new("watched", duration(signs.watched))];
    if partition.commit.is_some() {
        let moved = if signs.moves { "it moved within that time" } else { "it did not move within that time" };
        entries.push(Entry::new("overdue", format!("its commit, for {} at most", duration(signs.silent))));
        entries.push(Entry::new("may take", format!("{}: {moved}", duration(signs.patience))));
        let alive = if signs.alive {
            "seen within that time: it committed again, or committed elsewhere"
        } else {
            "no commit was seen within that time, here or elsewhere"
        };
        entries.push(Entry::new("owner", alive));
    }
    if signs.in_turn {
        let turn = "its owner works through another partition, and the lag of all that it holds falls";
        entries.push(Entry::new("in turn", turn));
    }
    let arrives = if signs.arrives { "came" } else { "none came" };
    entries.push(Entry::new("records", format!("{arrives} within the last {}", duration(ARRIVES))));
    if let Some(most) = partition.rates.two_steps {
        let most = plural_records(most);
        entries
            .push(Entry::new("on its way", format!("a lag of at most {most}: two mean steps from commit to commit")));
    }
    if partition.subscribed == Some(false) {
        entries.push(Entry::new("subscribed", "by no member"));
    }
    if let Some(Rewound { from, to, at }) = signs.rewound {
        entries.push(Entry::new("rewound", format!("from {from} to {to}, {} ago", duration(now.since(at)))));
    }
    if let Some(distance) = partition.to_log_start() {
        let loss = signs.time_to_loss.map_or_else(
            || "retention does not come nearer, as far as was seen".to_owned(),
            |time| format!("retention passes the commit in about {}", duration(time)),
        );
        entries.push(Entry::new("to log start", format!("{}; {loss}", plural_records(distance))));
    }
    if let Some(stable) = partition.stable {
        let open = partition.open_transaction;
        let open_for = partition.open_for.lasting().map_or_else(String::new, |lasting| format!(", {lasting}"));
        let held = if open > 0 {
            format!("{stable}: an open transaction holds {}{open_for}", plural_records(open))
        } else {
            format!("{stable}: no transaction is open")
        };
        entries.push(Entry::new("last stable", held));
    }
    if partition.doubtful > 0 {
        let why = "a transaction's marker, or compacted away";
        entries.push(Entry::new("at most", format!("{} of the lag may not be there: {why}", partition.doubtful)));
    }
    entries
}

fn plural_records(count: u64) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), "record")
}
