//! What happened in a group: as the records of its log partition say by Apache's own decoder, and as events tell it.

use std::collections::BTreeMap;

use lagtop::model::{Event, What};
use serde_json::Value;

use super::{apache::LogRecord, cluster::Cluster};

/// Offset in the log partition, and what the record there says.
pub type Happened = (i64, String);

/// The same of events.
pub fn told(events: &[Event]) -> Vec<Happened> {
    events.iter().map(|event| (event.log.1, words(&event.what))).collect()
}

fn words(what: &What) -> String {
    match what {
        What::Generation(generation) => {
            format!("generation {} of {}", generation.generation, generation.members.len())
        }
        What::GroupEpoch { epoch, .. } => format!("epoch {epoch}"),
        What::AssignmentEpoch { epoch } => format!("assignment {epoch}"),
        What::Member(member) => format!("member {}", member.id),
        What::MemberEpoch { member, epoch, .. } => format!("{member} at {epoch}"),
        What::MemberGone(departure) => format!("gone {}", departure.member.id),
        What::GroupGone => "deleted".to_owned(),
        What::CommitBack { topic, partition, from, to } => format!("{topic}-{partition} from {from} to {to}"),
    }
}

impl Cluster {
    /// The records of a group on one broker's disk.
    pub fn group_records(&self, broker: usize, group: &str) -> Vec<LogRecord> {
        let segments = self.segments(broker, "__consumer_offsets", self.partition_of(group));
        let mut records = self.dump_log("--offsets-decoder", &segments);
        records.retain(|record| {
            let data = &record.key["data"];
            data["group"] == group || data["groupId"] == group
        });
        records
    }
}

/// What records say happened.
pub fn happened(records: &[LogRecord]) -> Vec<Happened> {
    let mut out = Vec::new();
    let mut members: BTreeMap<String, Value> = BTreeMap::new();
    let mut commits: BTreeMap<(String, i64), i64> = BTreeMap::new();
    let mut classic = false;
    for record in records {
        let data = record.value.as_ref().map(|value| &value["data"]);
        let key = &record.key["data"];
        let number = |field: &str| data.and_then(|data| data[field].as_i64()).expect("a number");
        let member = || key["memberId"].as_str().expect("a member id").to_owned();
        let said = match (record.key["type"].as_str().expect("a type"), data) {
            ("1", data) => {
                let topic = key["topic"].as_str().expect("a topic").to_owned();
                let place = (topic, key["partition"].as_i64().expect("a number"));
                match data.map(|data| data["offset"].as_i64().expect("a number")) {
                    None => {
                        commits.remove(&place);
                        None
                    }
                    Some(to) => {
                        let from = commits.insert(place.clone(), to).filter(|from| *from > to);
                        from.map(|from| format!("{}-{} from {from} to {to}", place.0, place.1))
                    }
                }
            }
            ("2", Some(data)) => {
                classic = true;
                Some(format!(
                    "generation {} of {}",
                    number("generation"),
                    data["members"].as_array().map_or(0, Vec::len)
                ))
            }
            ("2", None) => std::mem::take(&mut classic).then(|| "deleted".to_owned()),
            ("3" | "11" | "17", Some(_)) => Some(format!("epoch {}", number("epoch"))),
            ("3" | "11" | "17", None) => Some("deleted".to_owned()),
            ("5" | "10" | "19", Some(data)) => {
                let before = members.insert(member(), data.clone());
                (before.as_ref() != Some(data)).then(|| format!("member {}", member()))
            }
            ("5" | "10" | "19", None) => {
                members.remove(&member());
                Some(format!("gone {}", member()))
            }
            ("6" | "12" | "20", Some(_)) => Some(format!("assignment {}", number("assignmentEpoch"))),
            ("8" | "14" | "22", Some(_)) => Some(format!("{} at {}", member(), number("memberEpoch"))),
            _ => None,
        };
        out.extend(said.map(|said| (record.offset, said)));
    }
    out
}

/// The rebalances that records tell: the generation or group epoch before and after each. Of classic groups every
/// generation that synced; of the others from the first group epoch ahead of the assignment until the assignment is of
/// the group epoch and every member is at it with nothing left to do.
pub fn rebalances(records: &[LogRecord]) -> Vec<(i64, i64)> {
    let mut out = Vec::new();
    let (mut generation, mut epoch, mut assigned, mut begun) = (None, None, None, None);
    // A change of type deletes the group and writes it anew at once, with the number that it had.
    let mut ended = None;
    let mut members: BTreeMap<String, Option<(i64, i64)>> = BTreeMap::new();
    for record in records {
        let data = record.value.as_ref().map(|value| &value["data"]);
        let number = |field: &str| data.and_then(|data| data[field].as_i64()).expect("a number");
        let member = || record.key["data"]["memberId"].as_str().expect("a member id").to_owned();
        let kind = record.key["type"].as_str().expect("a type");
        let goes_on =
            |ended: Option<(i64, i64)>| ended.filter(|(at, _)| *at == record.timestamp).map(|(_, number)| number);
        // A streams member's state counts from 1.
        let settled = i64::from(kind == "22");
        match (kind, data) {
            ("2", Some(_)) => {
                let now = number("generation");
                generation = generation.or(goes_on(ended));
                let before = generation.replace(now).unwrap_or(0);
                out.extend((now > before).then_some((before, now)));
            }
            ("2", None) => ended = generation.take().map(|number| (record.timestamp, number)),
            ("3" | "11" | "17", Some(_)) => {
                let now = number("epoch");
                if epoch.is_none() {
                    (epoch, assigned) = (goes_on(ended), goes_on(ended));
                }
                let before = epoch.replace(now).unwrap_or(now - 1);
                if now > before && assigned.is_none_or(|assigned| now > assigned) {
                    begun = begun.or(Some(before));
                }
            }
            ("3" | "11" | "17", None) => {
                ended = epoch.map(|number| (record.timestamp, number));
                (epoch, assigned, begun) = (None, None, None);
                members.clear();
            }
            ("5" | "10" | "19", Some(_)) => _ = members.entry(member()).or_default(),
            ("5" | "10" | "19", None) => _ = members.remove(&member()),
            ("6" | "12" | "20", Some(_)) => assigned = Some(number("assignmentEpoch")),
            ("8" | "14" | "22", Some(_)) => {
                members.insert(member(), Some((number("memberEpoch"), number("state") - settled)));
            }
            _ => {}
        }
        let there = epoch.map(|epoch| (epoch, 0));
        let done = members.is_empty() || (assigned == epoch && members.values().all(|at| *at == there));
        if let (Some(before), Some(now), true) = (begun, epoch, done) {
            out.push((before, now));
            begun = None;
        }
    }
    out
}
