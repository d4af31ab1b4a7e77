//! Runs every vector in `tests/data/oracle` (or in the folder named by `LAGTOP_ORACLE_DIR`) and prints, for each file,
//! how many cases ran and how many failed. No case is sampled or skipped; a file whose subject is not built yet is
//! listed as pending, and an unknown or empty file is a failure.
//!
//! Where the vectors come from and what has to be equal: `tests/data/oracle/README.md`. A subject is one file here with
//! a function from a case to `Ok` or what is wrong with it, and one line in [`SUBJECTS`].

#![expect(clippy::expect_used, clippy::panic, reason = "a test program")]

mod classic;
mod consumer_protocol;
mod coordinator_records;
mod group;
mod group_hash;
mod lag_based;
mod server;
mod sticky;
mod topic_hash;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Checks one case; the error says what differs.
type Check = fn(&Value) -> Result<(), String>;

/// Every file that may be there, and what checks its cases: `None` while that part is not built.
const SUBJECTS: [(&str, Option<Check>); 12] = [
    ("assignor_cooperative-sticky.jsonl", Some(sticky::cooperative)),
    ("assignor_range.jsonl", Some(classic::range)),
    ("assignor_roundrobin.jsonl", Some(classic::roundrobin)),
    ("assignor_sticky.jsonl", Some(sticky::sticky)),
    ("consumer_protocol.jsonl", Some(consumer_protocol::check)),
    ("coordinator_records.jsonl", Some(coordinator_records::check)),
    ("group_hash.jsonl", Some(group_hash::check)),
    ("lag_based.jsonl", Some(lag_based::check)),
    ("server_range.jsonl", Some(server::range)),
    ("server_uniform.jsonl", Some(server::uniform)),
    ("share_simple.jsonl", Some(server::simple)),
    ("topic_hash.jsonl", Some(topic_hash::check)),
];

/// At most this many failures of a file are printed in full.
const SHOWN: usize = 5;

#[test]
fn every_vector_agrees() {
    let folder = env::var_os("LAGTOP_ORACLE_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle"), PathBuf::from);
    let files = jsonl_files(&folder);
    assert!(!files.is_empty(), "no *.jsonl in {}", folder.display());
    let bad: Vec<String> = files.iter().filter(|file| !run(file)).map(|file| name(file)).collect();
    assert!(bad.is_empty(), "these files failed: {}", bad.join(", "));
}

fn jsonl_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("cannot list {}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

fn name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs one file; true when it is in order.
fn run(file: &Path) -> bool {
    let name = name(file);
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) => return say(&format!("{name}: unreadable: {e}"), false),
    };
    let Some((_, check)) = SUBJECTS.iter().find(|(known, _)| *known == name) else {
        return say(&format!("{name}: unknown file, no subject checks it"), false);
    };
    let lines: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return say(&format!("{name}: empty file"), false);
    }
    let Some(check) = check else {
        return say(&format!("{name}: pending ({} cases)", lines.len()), true);
    };
    let mut failures = Vec::new();
    for &(number, line) in &lines {
        let result = serde_json::from_str(line)
            .map_err(|e| e.to_string())
            .and_then(|case| check(&case).map_err(|e| format!("{} {e}", case["kind"].as_str().unwrap_or_default())));
        if let Err(error) = result {
            failures.push(format!("  line {}: {error}", number + 1));
        }
    }
    say(&format!("{name}: {} cases run, {} failed", lines.len(), failures.len()), true);
    for failure in failures.iter().take(SHOWN) {
        say(failure, false);
    }
    failures.is_empty()
}

/// Prints past the test harness, which would swallow the counts of a passing run.
fn say(line: &str, result: bool) -> bool {
    writeln!(io::stdout(), "{line}").expect("stdout");
    result
}
