//! Holds the map of the house in src/lib.rs: a room uses only the rooms that its arrows name.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Room (folder or file of src/) and the rooms that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("frame", &["model"]),
    ("clock", &["model"]),
    ("assign", &["model"]),
    ("metadata", &["model"]),
    ("health", &["model", "assign", "metadata"]),
    ("kafka", &["model"]),
    ("collector", &["kafka", "clock", "frame", "model"]),
    ("source", &["clock", "frame", "model"]),
    ("source/demo", &["frame", "model", "assign", "source"]),
    ("monitor", &["frame", "model", "assign", "metadata", "health"]),
    ("tui", &["monitor", "clock", "health", "assign", "model", "frame", "source"]),
    ("report", &["monitor", "health", "assign", "metadata", "model", "frame", "source"]),
    ("cli", &["assign", "collector", "frame", "health", "metadata", "model", "monitor", "report", "source", "tui"]),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out
}

/// The rooms that a file names as `crate::room`, its test module left out.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut rooms = BTreeSet::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for rest in line.split("crate::").skip(1) {
            if let Some(group) = rest.strip_prefix('{') {
                let names = group.split(['}', ';']).next().unwrap().split(',');
                rooms.extend(names.map(|name| name.trim().split("::").next().unwrap().to_owned()));
            } else {
                rooms.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            }
        }
    }
    rooms
}

#[test]
fn rooms_use_what_their_arrows_name() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in files(&src) {
        let place = file.strip_prefix(&src).unwrap().with_extension("");
        let place = place.to_string_lossy().replace('\\', "/");
        // A file of tests alone.
        if place.ends_with("/tests") || place.contains("/tests/") || place == "lib" || place == "main" {
            continue;
        }
        let inside = |room: &str| place == room || place.starts_with(&format!("{room}/"));
        let (room, allowed) = ARROWS
            .iter()
            .filter(|(room, _)| inside(room))
            .max_by_key(|(room, _)| room.len())
            .unwrap_or_else(|| panic!("{place} belongs to no room"));
        let own = room.split('/').next().unwrap();
        for other in used(&fs::read_to_string(&file).unwrap()) {
            if other != own && !allowed.contains(&other.as_str()) && !other.is_empty() {
                wrong.push(format!("{place} uses {other}, which is no arrow of {room}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_lives_in_the_kafka_room() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in files(&src) {
        let text = fs::read_to_string(&file).unwrap();
        let kafka = file.starts_with(src.join("kafka"));
        assert!(kafka || !text.contains("unsafe_code"), "{} allows unsafe code", file.display());
    }
}

#[test]
fn pure_rooms_have_no_clock_environment_randomness_or_io() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for room in ["model", "assign", "metadata", "health", "monitor", "frame"] {
        for file in files(&src.join(room)).iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for word in ["Instant::now", "SystemTime::now", "std::env", "std::fs", "std::io", "std::net", "rand::"] {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}
