//! How it is written what happened: times of day, durations with their certainty, epochs, moves, and counts that may be
//! lower bounds. Every figure is the view's.

use std::time::{Duration, UNIX_EPOCH};

use super::figures::{and_more, duration, plural};
use super::look::Look;
use super::past::Past;
use super::text;
use crate::health::rebalances::{Happened, Rebalance, Took, Waiting};
use crate::model::{Evidence, GroupKind, Wall};
use crate::monitor::view::{GroupView, RebalanceView};

/// The end of the year 9999, in milliseconds: what comes later cannot be written.
const LATEST: u64 = 253_402_300_799_000;
const DAY: i64 = 86_400_000;
/// A lower bound below this says nothing.
const SHORTEST: Duration = Duration::from_millis(100);

/// What kind of event it is, in a word or two.
pub fn kind(what: &Happened) -> &'static str {
    match what {
        Happened::Rebalance(_) => "rebalance",
        Happened::Created => "created",
        Happened::Deleted => "deleted",
        Happened::TypeChanged { .. } => "type changed",
        Happened::StaticAway(_) => "static away",
        Happened::StaticRestarted(_) => "static restart",
        Happened::CommitsBack { .. } => "commits back",
        Happened::Verdict { .. } => "verdict",
        Happened::TopicLeft { .. } => "topic left",
        Happened::Metadata { .. } => "metadata",
    }
}

/// `2026-07-04 03:12:40`, in UTC.
pub fn moment(wall: Wall) -> String {
    let millis = u64::try_from(wall.0).unwrap_or(0).min(LATEST);
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(millis)).to_string();
    text.trim_end_matches('Z').replace('T', " ")
}

/// The time of day, or for another day than that of `now` the date and the time.
pub fn time(wall: Wall, now: Option<Wall>) -> String {
    let moment = moment(wall);
    let today = now.is_none_or(|now| now.0.div_euclid(DAY) == wall.0.div_euclid(DAY));
    let part = if today { moment.get(11..19) } else { moment.get(5..16) };
    part.unwrap_or(&moment).to_owned()
}

/// `0.4s`, `≈2.1s`, `≥12s`; `?` where nothing is known.
pub fn took(took: Took, look: &Look) -> String {
    let glyphs = look.glyphs();
    let known = duration(took.known());
    match took {
        Took::Exact(_) => known,
        Took::About { .. } => format!("{}{known}", glyphs.about),
        Took::AtLeast(least) if least < SHORTEST => "?".to_owned(),
        Took::AtLeast(_) => format!("{}{known}", glyphs.at_least),
    }
}

/// The same in a sentence.
pub fn took_in_words(took: Took) -> String {
    match took {
        Took::Exact(exact) => format!("{}, between two records", duration(exact)),
        Took::About { took, error } => format!("about {}, give or take {}", duration(took), duration(error)),
        Took::AtLeast(least) if least < SHORTEST => "not known: its start is in no record".to_owned(),
        Took::AtLeast(least) => format!("at least {}: its start is in no record", duration(least)),
    }
}

/// `630>631`; empty where neither is known.
pub fn epochs(from: Option<i32>, to: Option<i32>) -> String {
    let known = |epoch: Option<i32>| epoch.map_or_else(|| "?".to_owned(), |epoch| epoch.to_string());
    if from.is_none() && to.is_none() { String::new() } else { format!("{}>{}", known(from), known(to)) }
}

/// What a group's [`epochs`] are.
pub fn epochs_title(kind: &GroupKind) -> &'static str {
    match kind {
        GroupKind::Consumer | GroupKind::Share | GroupKind::Streams => "EPOCH",
        _ => "GENERATION",
    }
}

/// How many partitions changed hands, shortly.
pub fn moved(rebalance: &Rebalance) -> String {
    let Some(changes) = &rebalance.moves else { return "?".to_owned() };
    match (changes.moved, changes.taken, changes.dropped) {
        (0, 0, dropped) if dropped > 0 => format!("{dropped} freed"),
        (0, taken, _) if taken > 0 => format!("{taken} taken"),
        (moved, ..) => format!("{moved} of {}", changes.of),
    }
}

/// What happened, in words.
pub fn what(past: &Past<'_>) -> String {
    match past {
        Past::Rebalance(_, rebalance) => joined(rebalance.causes.iter()),
        Past::Other(happening) => happening.what.to_string(),
        Past::Ongoing(_, ongoing) => {
            let mut parts = vec!["under way".to_owned()];
            match ongoing.waits_for.as_slice() {
                [] => {}
                [first, rest @ ..] => parts.push(format!("waits for {}{}", first.who, and_more(rest.len()))),
            }
            if !ongoing.causes.is_empty() {
                parts.push(joined(ongoing.causes.iter()));
            }
            parts.join("; ")
        }
    }
}

fn joined(causes: impl Iterator<Item = impl ToString>) -> String {
    causes.map(|cause| cause.to_string()).collect::<Vec<_>>().join("; ")
}

/// Where a member is that a rebalance waits for.
pub fn waiting(waiting: &Waiting) -> String {
    let epoch = match waiting.epoch {
        None => String::new(),
        Some(-2) => ", away".to_owned(),
        Some(epoch) => format!(", at epoch {epoch}"),
    };
    let unsettled = if waiting.settled { "" } else { ", still gives up partitions or waits for some" };
    format!("{}{epoch}{unsettled}", waiting.who)
}

fn at_least(lower_bound: bool, look: &Look) -> &'static str {
    if lower_bound { look.glyphs().at_least } else { "" }
}

/// Rebalances an hour in a cell: `14 STORM`, `≥3`, `?`, `-`.
pub fn per_hour(group: &GroupView, look: &Look) -> String {
    let known = &group.rebalances;
    if matches!(group.kind, GroupKind::Unknown) {
        return "-".to_owned();
    }
    if known.since.is_none() {
        return "?".to_owned();
    }
    let storm = if known.frequency.storm.is_some() { " STORM" } else { "" };
    format!("{}{}{storm}", at_least(known.lower_bound, look), known.frequency.per_hour)
}

/// From when on the group's past is known, and from what.
pub fn since(known: &RebalanceView, now: Option<Wall>) -> String {
    let Some(since) = known.since else { return "nothing is known of its past".to_owned() };
    let since = time(since, now);
    if let Some(missing) = known.missing {
        return format!("since {since}, coordinator log; lower bounds: {missing}");
    }
    match known.evidence {
        Evidence::Log => format!("since {since}, coordinator log"),
        Evidence::Admin => format!("since {since}, seen by polling: lower bounds"),
    }
}

/// The counts, most important first.
pub fn counts(known: &RebalanceView, now: Option<Wall>, look: &Look) -> Vec<String> {
    let frequency = &known.frequency;
    let least = at_least(known.lower_bound, look);
    let storm = if frequency.storm.is_some() { " STORM" } else { "" };
    let mut counts =
        vec![format!("{least}{} in 1h", frequency.per_hour), format!("{least}{} in 5min{storm}", frequency.per_5min)];
    if let Some(share) = frequency.not_stable_share {
        let percent = share * 100.0;
        let percent = if (0.05..1.0).contains(&percent) { format!("{percent:.1}") } else { format!("{percent:.0}") };
        let least = at_least(frequency.not_stable_at_least, look);
        let whole = known.since.zip(now).is_some_and(|(since, now)| now.0.saturating_sub(since.0) >= 3_600_000);
        let span = if whole { "the hour" } else { "that time" };
        counts.push(format!("{least}{percent} % of {span} not Stable"));
    }
    if frequency.missed_per_hour > 0 {
        counts.push(format!("{} never synced", plural(frequency.missed_per_hour as usize, "round")));
    }
    counts.push(format!("{}{} in all", at_least(known.total_lower_bound, look), known.total));
    counts
}

/// The rebalances in a sentence; `None`: there were none this hour.
pub fn sentence(group: &GroupView, now: Option<Wall>, look: &Look) -> Option<String> {
    const LONGEST: usize = 100;
    let known = &group.rebalances;
    let count = known.frequency.per_hour;
    if count == 0 {
        return None;
    }
    let or_more = if known.lower_bound { "At least " } else { "" };
    let mut says = format!("{or_more}{} this hour", plural(count, "rebalance"));
    let (when, past) = match (&known.ongoing, known.list.first()) {
        (Some(ongoing), _) => {
            (format!("one under way for {}", duration(ongoing.lasting)), Past::Ongoing(&group.id, ongoing))
        }
        (None, Some(last)) => {
            let ago = now.map(|now| u64::try_from(now.0.saturating_sub(last.began.0)).unwrap_or(0));
            let ago =
                ago.map_or_else(String::new, |ago| format!("the last {} ago", duration(Duration::from_millis(ago))));
            (ago, Past::Rebalance(&group.id, last))
        }
        (None, None) => return Some(format!("{says}.")),
    };
    let what = what(&past);
    let what = what.strip_prefix("under way; ").unwrap_or(&what);
    if !when.is_empty() {
        says.push_str(", ");
        says.push_str(&when);
    }
    if what != "under way" {
        says.push_str(": ");
        says.push_str(&text::head(what, LONGEST, look.glyphs().ellipsis));
    }
    says.push('.');
    Some(says)
}
