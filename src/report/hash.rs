//! `lagtop hash`: topic hashes and group hashes (KIP-1101), of a cluster or of a file.

// The names are those of the JSON.
#![allow(clippy::struct_field_names)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, anyhow};
use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};

use super::json::metadata::{self, Topic};
use super::{Format, Outcome};
use crate::metadata::{TopicInput, group_hash, topic_hash};
use crate::model::{Name, Presence, parse_id, print_id};

/// What there is to print, the same from a cluster and from a file.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: u32,
    /// All that was asked for was read.
    complete: bool,
    topics: Vec<Topic>,
    groups: Vec<Group>,
}

#[derive(Debug, Serialize)]
struct Group {
    group: Name,
    /// `null`: from a file.
    r#type: Option<String>,
    #[serde(flatten)]
    hash: Hash,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Hash {
    Live(Box<metadata::Metadata>),
    File {
        computed_hash: String,
        /// Topics that make the hash, and others, which do not exist.
        topics: Vec<Name>,
        missing: Vec<Name>,
    },
    Unused {
        state: &'static str,
    },
}

/// What `--input` reads: documented in docs/metadata-hash.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    topics: Vec<InputTopic>,
    #[serde(default)]
    groups: BTreeMap<Name, Vec<Name>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputTopic {
    name: Name,
    id: String,
    /// For each partition the rack of each replica, `null` for a broker without one.
    partitions: Vec<Vec<Option<String>>>,
}

impl Report {
    /// Of a file's text.
    pub fn of_file(text: &str) -> anyhow::Result<Self> {
        let input: Input = serde_json::from_str(text).context("it is not what docs/metadata-hash.md describes")?;
        let mut hashes = BTreeMap::new();
        let mut topics = Vec::new();
        for topic in input.topics {
            let id = parse_id(&topic.id)
                .ok_or_else(|| anyhow!("topic {}: \"{}\" is no topic id", topic.name, Name::new(&topic.id)))?;
            let partitions = topic.partitions.iter().map(|racks| racks.iter().map(Option::as_deref));
            let hash = topic_hash(&TopicInput::new(id, topic.name.clone(), partitions));
            if hashes.insert(topic.name.clone(), hash).is_some() {
                return Err(anyhow!("topic {} is there twice", topic.name));
            }
            let mut racks: BTreeMap<Name, usize> = BTreeMap::new();
            for rack in topic.partitions.iter().flatten() {
                *racks.entry(rack.as_deref().map(Name::new).unwrap_or_default()).or_default() += 1;
            }
            topics.push(Topic {
                topic: topic.name,
                presence: Presence::Present,
                id: Some(print_id(id)),
                partitions: topic.partitions.len(),
                hash: Some(hash.to_string()),
                racks,
                one_rack: Vec::new(),
                last_seen_brokers: Vec::new(),
                unknown_brokers: Vec::new(),
                inferred_brokers: Vec::new(),
            });
        }
        let group = |(group, subscribed): (Name, Vec<Name>)| {
            let mut named = subscribed;
            named.sort_unstable();
            named.dedup();
            let hash = group_hash(named.iter().filter_map(|topic| Some((topic, *hashes.get(topic)?))));
            let (topics, missing) = named.into_iter().partition(|topic| hashes.contains_key(topic));
            let hash = Hash::File { computed_hash: hash.to_string(), topics, missing };
            Group { group, r#type: None, hash }
        };
        let groups = input.groups.into_iter().map(group).collect();
        Ok(Self { schema: super::json::SCHEMA, complete: true, topics, groups })
    }

    /// Of what was seen in a cluster; `named`: the topics that were asked for.
    pub fn of_cluster(outcome: &Outcome, named: &[Name]) -> Self {
        let view = &outcome.view;
        let topics: Vec<Topic> = view.topics.values().map(|topic| metadata::topic_row(topic)).collect();
        let read = |name: &Name| view.topics.get(name).is_some_and(|topic| topic.presence != Presence::Unknown);
        let groups = view.groups.iter().map(|group| {
            let row = metadata::row(&group.kind, &group.metadata, view);
            let kind = super::json::kind(&group.kind);
            let unused = Hash::Unused { state: group.metadata.state.name() };
            Group {
                group: group.id.clone(),
                r#type: Some(kind),
                hash: row.map_or(unused, |row| Hash::Live(Box::new(row))),
            }
        });
        Self {
            schema: super::json::SCHEMA,
            complete: outcome.complete && named.iter().all(read),
            topics,
            groups: groups.collect(),
        }
    }

    /// Nothing was found at all.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.groups.is_empty()
    }

    pub fn print(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Json => crate::model::name::safe_json(&serde_json::to_string_pretty(self)?).into_owned() + "\n",
            Format::Table => self.table(),
        })
    }

    fn table(&self) -> String {
        let mut out = String::new();
        if !self.topics.is_empty() {
            let mut table = table(&["TOPIC", "ID", "PARTITIONS", "HASH", "HEX", "RACKS"]);
            for topic in &self.topics {
                let (hash, hex) = hash_cells(topic.hash.as_deref());
                table.add_row([
                    topic.topic.to_string(),
                    topic.id.clone().unwrap_or_else(|| "-".to_owned()),
                    topic.partitions.to_string(),
                    hash,
                    hex,
                    racks(topic),
                ]);
            }
            lines(&mut out, &table);
        }
        if !self.groups.is_empty() {
            let mut table = table(&["GROUP", "TYPE", "EPOCH", "COMPUTED", "HEX", "STORED"]);
            for group in &self.groups {
                let (epoch, computed, stored) = match &group.hash {
                    Hash::Live(live) => (live.epoch(), live.computed_hash(), live.verdict()),
                    Hash::File { computed_hash, missing, .. } if missing.is_empty() => {
                        (None, Some(computed_hash.as_str()), "-".to_owned())
                    }
                    Hash::File { computed_hash, missing, .. } => {
                        let missing: Vec<String> = missing.iter().map(Name::to_string).collect();
                        (None, Some(computed_hash.as_str()), format!("- (no such topic: {})", missing.join(", ")))
                    }
                    Hash::Unused { .. } => (None, None, "no hash in this protocol".to_owned()),
                };
                let (computed, hex) = hash_cells(computed);
                table.add_row([
                    group.group.to_string(),
                    group.r#type.as_deref().map_or_else(|| "-".to_owned(), |kind| Name::new(kind).to_string()),
                    epoch.map_or_else(|| "-".to_owned(), |epoch| epoch.to_string()),
                    computed,
                    hex,
                    stored,
                ]);
            }
            if !out.is_empty() {
                out.push('\n');
            }
            lines(&mut out, &table);
        }
        out
    }
}

/// Signed decimal, as records and Java have it, and the same bits as hexadecimal.
fn hash_cells(hash: Option<&str>) -> (String, String) {
    let value: Option<i64> = hash.and_then(|hash| hash.parse().ok());
    value.map_or_else(|| ("-".to_owned(), "-".to_owned()), |hash| (hash.to_string(), format!("{hash:016x}")))
}

fn racks(topic: &Topic) -> String {
    if topic.presence == Presence::Gone {
        return "no such topic".to_owned();
    }
    let mut parts: Vec<String> = topic
        .racks
        .iter()
        .map(|(rack, count)| format!("{}:{count}", if rack.is_empty() { "(none)".into() } else { rack.safe() }))
        .collect();
    for (brokers, words) in [
        (&topic.last_seen_brokers, "as last seen"),
        (&topic.unknown_brokers, "never seen: unconfirmed"),
        (&topic.inferred_brokers, "by the stored hash"),
    ] {
        if !brokers.is_empty() {
            let brokers: Vec<String> = brokers.iter().map(i32::to_string).collect();
            parts.push(format!("(broker {} {words})", brokers.join(", ")));
        }
    }
    parts.join(" ")
}

fn table(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles.iter().copied());
    for (place, title) in titles.iter().enumerate() {
        if let (Some(column), "PARTITIONS" | "HASH" | "EPOCH" | "COMPUTED") = (table.column_mut(place), *title) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn lines(out: &mut String, table: &Table) {
    for line in table.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
        "topics": [
            {"name": "foo", "id": "01234567-89ab-cdef-fedc-ba9876543210",
             "partitions": [["rack1", "rack0"], ["rack2", "rack1", null]]},
            {"name": "bar", "id": "ERERERERERESIiIiIiIiIg", "partitions": [[]]}
        ],
        "groups": {"g": ["foo", "bar", "foo"], "h": ["gone", "foo"]}
    }"#;

    /// The values of the Java classes: see the golden values of the hash.
    #[test]
    fn a_file_gives_the_same_hashes_as_kafka() {
        let report = Report::of_file(&FILE.replace("ERERERERERESIiIiIiIiIg", "11111111-1111-1111-2222-222222222222"));
        let json: serde_json::Value = serde_json::from_str(&report.unwrap().print(Format::Json).unwrap()).unwrap();
        assert_eq!(json["topics"][0]["hash"], "4231092367357902416");
        assert_eq!(json["topics"][0]["id"], "ASNFZ4mrze_-3LqYdlQyEA");
        assert_eq!(json["topics"][1]["hash"], "8733119781167439863");
        assert_eq!(json["groups"][0]["computed_hash"], "-556879919459959918");
        assert_eq!(json["groups"][1]["computed_hash"], "-3651539661068893492");
        assert_eq!(json["groups"][1]["missing"], serde_json::json!(["gone"]));
    }

    #[test]
    fn the_table_has_the_hash_in_both_ways_of_writing() {
        let report = Report::of_file(&FILE.replace("ERERERERERESIiIiIiIiIg", "11111111-1111-1111-2222-222222222222"));
        let table = report.unwrap().print(Format::Table).unwrap();
        assert!(table.contains("4231092367357902416  3ab8") || table.contains("4231092367357902416"), "{table}");
        assert!(table.contains("(none):1 rack0:1 rack1:2 rack2:1"), "{table}");
        assert!(table.contains("(no such topic: gone)"), "{table}");
    }

    #[test]
    fn bad_files_are_named() {
        for (text, why) in [
            ("{}", "docs/metadata-hash.md"),
            (r#"{"topics": [{"name": "a", "id": "x", "partitions": []}]}"#, "is no topic id"),
            (
                r#"{"topics": [{"name": "a", "id": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": []},
                {"name": "a", "id": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": []}]}"#,
                "twice",
            ),
        ] {
            let error = Report::of_file(text).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }
}
