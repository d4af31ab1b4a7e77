//! The lines of a page: entries laid out in two columns for a width. Help is a page like any other.

use super::detail;
use super::keymap::BINDINGS;
use super::look::Look;
use super::screens::metadata;
use super::state::{Page, State};
use super::text;

/// A title, or a key and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Title(String),
    Pair(String, String),
}

impl Entry {
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Pair(key.into(), value.into())
    }

    pub fn title(title: impl Into<String>) -> Self {
        Self::Title(title.into())
    }
}

/// A line on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Title(String),
    /// The value starts at `indent`; it may go on in the next line, without a key.
    Pair {
        key: String,
        value: String,
        indent: usize,
    },
}

/// What the table's signs mean.
const LEGEND: &[(&str, &str)] = &[
    ("x ! ~ . ?", "how much it matters: in trouble, to be watched, worth knowing, fine, not known"),
    ("OK", "it keeps up"),
    ("CATCHING UP", "it is behind and comes closer"),
    ("LAGGING", "it is behind and does not come closer"),
    ("STALLED", "somebody has it and is alive, but its commit does not get past what waits"),
    ("STOPPED", "nobody commits although records wait"),
    ("REWOUND", "its commit moved back: it reads again what it had read"),
    ("REBALANCING", "partitions change hands"),
    ("EMPTY", "nothing to read, and nobody to read it"),
    ("UNKNOWN", "not read yet, not readable, watched for too short a time, or too old; d says which"),
    ("LAG", "records between commit and end, over the partitions where both are known; + where some are not"),
    ("<=12k", "at most: some may be a transaction's marker, or compacted away"),
    ("BEHIND", "how long ago the oldest record that waits was written; > at least that; ? not known"),
    ("REBAL/h", "rebalances this hour; >= where there may be more; STORM: too many in a short time (--storm)"),
    ("12k*", "of a share group the backlog: records that are not done; in no sum of lags"),
    ("SKEW", "lag of the most loaded member over the mean; 1.0 is even"),
    ("WOULD", "what that assignor would move, and the most loaded member before > after"),
    ("IN/s OUT/s", "records written, and committed by the group, per second; - until 10 s and 3 commits were seen"),
    ("DRAINS", "when the lag is gone; ~ a capacity is assumed; never: more comes than was ever consumed; ? not known"),
    ("bound", "no assignment has a smaller largest member"),
    ("idle", "members without partitions"),
    ("name *", "metadata changed under the group so that its hash changes, or its clients rejoin: m shows it"),
];

/// How many lines a page has at a width.
pub fn height(state: &State, page: &Page, width: usize) -> usize {
    match page {
        Page::Metadata(group) => metadata::lines(state, group.as_ref(), width).len(),
        page => lines(state, page, width).len(),
    }
}

/// The lines of a page at a width.
pub fn lines(state: &State, page: &Page, width: usize) -> Vec<Line> {
    let entries = if *page == Page::Help { help() } else { detail::of(state, page) };
    laid_out(&entries, width, &state.look)
}

fn help() -> Vec<Entry> {
    let mut entries = vec![Entry::title("Keys")];
    entries.extend(BINDINGS.iter().map(|binding| {
        let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
        Entry::new(keys.join("  "), binding.help)
    }));
    entries.push(Entry::title("Signs"));
    entries.extend(LEGEND.iter().map(|(sign, meaning)| Entry::new(*sign, *meaning)));
    entries.push(Entry::title("lagtop only reads: it joins no group, commits nothing, changes nothing."));
    entries
}

fn laid_out(entries: &[Entry], width: usize, look: &Look) -> Vec<Line> {
    let keys = entries.iter().filter_map(|entry| match entry {
        Entry::Title(_) => None,
        Entry::Pair(key, _) => Some(text::width(key)),
    });
    let indent = keys.max().unwrap_or(0).min(width / 3).min(40) + 2;
    let mut lines = Vec::new();
    for entry in entries {
        match entry {
            Entry::Title(title) => lines.extend(text::wrap(&look.text(title), width).into_iter().map(Line::Title)),
            Entry::Pair(key, value) => {
                let key = text::shorten(&look.text(key), indent - 2, look.glyphs().ellipsis).into_owned();
                let mut values = text::wrap(&look.text(value), width.saturating_sub(indent)).into_iter();
                lines.push(Line::Pair { key, value: values.next().unwrap_or_default(), indent });
                lines.extend(values.map(|value| Line::Pair { key: String::new(), value, indent }));
            }
        }
    }
    lines
}
