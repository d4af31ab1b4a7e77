//! What Apache's own command line tools say, read from their tables.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};

use super::tool::Tool;

/// A row of a table by the names of its columns, as printed: `-` is `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row(pub BTreeMap<String, String>);

impl Row {
    /// A cell; panics if the table has no such column.
    #[track_caller]
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column} in {:?}", self.0))
    }

    /// A number; `-` is `None`.
    #[track_caller]
    pub fn number(&self, column: &str) -> Option<i64> {
        match self.text(column) {
            "-" => None,
            text => Some(text.parse().unwrap_or_else(|_| panic!("{column} is {text:?}"))),
        }
    }

    /// `t:0,2;u:1` as partitions, sorted.
    #[track_caller]
    pub fn partitions(&self, column: &str) -> Vec<(String, i32)> {
        let mut partitions = Vec::new();
        for part in self.text(column).split(';').filter(|part| !matches!(*part, "-" | "")) {
            let (topic, numbers) = part.rsplit_once(':').unwrap_or_else(|| panic!("{column} is {part:?}"));
            partitions.extend(numbers.split(',').map(|n| (topic.to_owned(), n.parse().expect("a partition"))));
        }
        partitions.sort();
        partitions
    }
}

/// What a tool printed.
#[derive(Debug)]
pub struct Printed {
    /// The rows of all its tables.
    pub rows: Vec<Row>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// Exit code.
    pub code: i64,
}

/// A record of a coordinator's log as `DumpLogSegments` decodes it.
#[derive(Debug, Clone)]
pub struct LogRecord {
    pub offset: i64,
    /// Milliseconds.
    pub timestamp: i64,
    /// `{"type": "1", "data": {…}}`.
    pub key: Value,
    /// `{"version": "4", "data": {…}}`; a tombstone has none.
    pub value: Option<Value>,
}

impl Tool {
    /// `kafka-consumer-groups.sh`, such as `--describe --group g --members --verbose`.
    pub fn consumer_groups(&self, args: &[&str]) -> Printed {
        self.apache("consumer_groups", args)
    }

    /// `kafka-share-groups.sh`.
    pub fn share_groups(&self, args: &[&str]) -> Printed {
        self.apache("share_groups", args)
    }

    /// `kafka-streams-groups.sh`.
    pub fn streams_groups(&self, args: &[&str]) -> Printed {
        self.apache("streams_groups", args)
    }

    fn apache(&self, command: &str, args: &[&str]) -> Printed {
        let printed = self.call(command, json!({"args": args}));
        let out = printed["out"].as_str().expect("text").to_owned();
        Printed {
            rows: rows(&out),
            out,
            err: printed["err"].as_str().expect("text").to_owned(),
            code: printed["code"].as_i64().expect("a code"),
        }
    }

    /// The records in segments of `__consumer_offsets` (see `Cluster::segments`), or with
    /// `--share-group-state-decoder` of `__share_group_state`.
    pub fn dump_log(&self, decoder: &str, segments: &[PathBuf]) -> Vec<LogRecord> {
        let files: Vec<_> = segments.iter().map(|file| file.display().to_string()).collect();
        let printed = self.call("dump_log", json!({"args": [decoder, "--files", files.join(",")]}));
        let out = printed["out"].as_str().expect("text");
        out.lines().filter(|line| line.starts_with("| offset: ")).filter_map(record).collect()
    }
}

/// The records of a dump; control records and keys that it cannot decode have no JSON and are left out.
fn record(line: &str) -> Option<LogRecord> {
    let number = |name: &str| line.split_once(name)?.1.split(' ').next()?.parse().ok();
    let (key, value) = line.split_once(" key: ")?.1.split_once(" payload: ")?;
    Some(LogRecord {
        offset: number("| offset: ")?,
        timestamp: number(" CreateTime: ")?,
        key: serde_json::from_str(key).ok()?,
        value: serde_json::from_str(value).ok(),
    })
}

/// The rows of all tables in a text: a table begins with a line whose first word is GROUP and ends with an empty one.
pub fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut columns = Vec::new();
    for line in text.lines() {
        let words = words(line);
        if words.first().is_some_and(|&(at, word)| at == 0 && word == "GROUP") {
            columns = words;
            // "COORDINATOR (ID)" is one column.
            columns.retain(|&(_, word)| word != "(ID)");
        } else if words.is_empty() {
            columns.clear();
        } else if !columns.is_empty() {
            let cells = cells(&columns, line, words);
            let names = columns.iter().map(|&(_, name)| name.to_owned());
            rows.push(Row(names.zip(cells.into_iter().map(str::to_owned)).collect()));
        }
    }
    rows
}

/// Cells are padded to the places of the column names, but a longer one pushes the next to the right; and a client id
/// (so a member id) may hold spaces, as the coordinator and a streams member's tasks do.
fn cells<'a>(columns: &[(usize, &str)], line: &'a str, words: Vec<(usize, &'a str)>) -> Vec<&'a str> {
    let extra = words.len().checked_sub(columns.len()).unwrap_or_else(|| panic!("cells are missing in {line:?}"));
    if extra == 0 {
        return words.into_iter().map(|(_, word)| word).collect();
    }
    let bytes = line.as_bytes();
    let begins = |at: usize| bytes.get(at).is_some_and(|&b| b != b' ') && (at == 0 || bytes[at - 1] == b' ');
    if line.is_ascii() && columns.iter().all(|&(at, _)| begins(at)) {
        let ends = columns.iter().skip(1).map(|&(at, _)| at).chain([line.len()]);
        return columns.iter().zip(ends).map(|(&(at, _), end)| line[at..end].trim_end()).collect();
    }
    let wide = ["ASSIGNMENTS", "COORDINATOR", "CLIENT-ID"];
    let wide = wide.iter().find_map(|name| columns.iter().position(|&(_, column)| column == *name));
    let wide = wide.unwrap_or_else(|| panic!("too many cells in {line:?}"));
    let (start, _) = words[wide];
    let (last, word) = words[wide + extra];
    let joined = &line[start..last + word.len()];
    let before = words[..wide].iter().map(|&(_, word)| word);
    before.chain([joined]).chain(words[wide + extra + 1..].iter().map(|&(_, word)| word)).collect()
}

/// Words with their places.
fn words(line: &str) -> Vec<(usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split(' ').filter(|word| !word.is_empty()).map(|word| (word.as_ptr() as usize - start, word)).collect()
}
