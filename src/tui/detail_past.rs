//! What a detail page says about something that happened: everything, with full names.

use std::sync::Arc;

use super::figures::duration;
use super::page::Entry;
use super::past::{Detail, Past};
use super::past_words as words;
use super::state::State;
use crate::health::rebalances::{Cause, Rebalance, Who};
use crate::model::Evidence;

/// The entries of its page.
pub fn of(state: &State, past: &Past<'_>) -> Vec<Entry> {
    let mut entries = match past {
        Past::Ongoing(group, ongoing) => {
            let least = if ongoing.at_least { "at least " } else { "" };
            let mut entries = vec![
                Entry::title("Rebalance under way"),
                Entry::new("group", group.to_string()),
                Entry::new("for", format!("{least}{}", duration(ongoing.lasting))),
            ];
            if let Some(began) = ongoing.began {
                entries.push(Entry::new("began", format!("{} UTC", words::moment(began))));
            }
            entries.push(Entry::new("from and to", or_not_known(words::epochs(ongoing.from, ongoing.to))));
            entries.extend(causes(&ongoing.causes));
            entries
        }
        Past::Rebalance(group, rebalance) => {
            let mut entries = vec![Entry::title("Rebalance"), Entry::new("group", group.to_string())];
            entries.extend(of_rebalance(rebalance));
            entries
        }
        Past::Other(happening) => vec![
            Entry::title("Event"),
            Entry::new("group", happening.group.to_string()),
            Entry::new("time", format!("{} UTC", words::moment(happening.wall))),
            Entry::new("what", words::what(past)),
            Entry::new("known from", known_from(happening.log)),
        ],
    };
    let details = past.details();
    if !details.is_empty() {
        entries.push(Entry::title("What changed"));
        entries.extend(details.iter().filter_map(entry));
    }
    if let Some(ahead) = state.view.group(&past.key().group).and_then(|group| group.rebalances.clock_ahead) {
        entries.push(Entry::new("clock", format!("its coordinator's clock is {} ahead of ours", duration(ahead))));
    }
    entries
}

fn of_rebalance(rebalance: &Rebalance) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new("began", format!("{} UTC", words::moment(rebalance.began))),
        Entry::new("ended", format!("{} UTC", words::moment(rebalance.ended))),
        Entry::new("took", words::took_in_words(rebalance.took)),
        Entry::new("from and to", or_not_known(words::epochs(rebalance.from, rebalance.to))),
        Entry::new("known from", known_from(rebalance.log)),
    ];
    entries.extend(causes(&rebalance.causes));
    if rebalance.evidence() == Evidence::Admin {
        entries.push(Entry::new("", "seen by polling: shorter ones are missed"));
    }
    entries
}

fn causes(causes: &[Cause]) -> impl Iterator<Item = Entry> {
    causes.iter().map(|cause| Entry::new("cause", format!("{cause}, at {} UTC", words::moment(cause.wall))))
}

fn or_not_known(epochs: String) -> String {
    if epochs.is_empty() { "not known".to_owned() } else { epochs }
}

fn known_from(log: Option<(i32, i64)>) -> String {
    match log {
        Some((partition, offset)) => format!("the coordinator log, partition {partition}, offset {offset}"),
        None => "polls".to_owned(),
    }
}

fn entry(detail: &Detail<'_>) -> Option<Entry> {
    let entry = match detail {
        // Told above, with their times.
        Detail::Cause(_) => return None,
        Detail::Waits(waiting) => {
            Entry::new("waits for", format!("{}; id {}", words::waiting(waiting), waiting.who.id))
        }
        Detail::Joined(who) => Entry::new("joined", full(who)),
        Detail::Gone(gone) => {
            let mut text = format!("{}; {}", full(&gone.who), gone.why);
            if let Some(after) = gone.why.back_after {
                text.push_str("; one of the same client id and host joined ");
                text.push_str(&duration(after));
                text.push_str(" later");
            }
            Entry::new("gone", text)
        }
        Detail::Moved(moved) => {
            let who = |who: &Option<Arc<Who>>| who.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
            let key = format!("{}-{}", moved.topic, moved.partition);
            Entry::new(key, format!("{} > {}", who(&moved.from), who(&moved.to)))
        }
        Detail::Note(note) => Entry::new("", note.clone()),
    };
    Some(entry)
}

fn full(who: &Who) -> String {
    format!("{who}; id {}", who.id)
}
