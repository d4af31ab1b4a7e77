//! What a plan was made of, as JSON: written under `input`, read by `lagtop plan --input`. Names instead of places, so
//! that a person can read and change it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::assign::{Departed, GroupInput, MemberInput, Protocol, TopicInput, TopicPartition};
use crate::health::Pace;
use crate::model::{Name, millis};
use crate::monitor::plan::Basis;

/// A group at a moment, and all that a plan for it is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved {
    pub group: Name,
    /// As the snapshot calls it: `classic`, `consumer`.
    pub kind: String,
    /// RFC 3339, by the clock of the machine that saw it.
    pub taken_at: Option<String>,
    pub simulated: bool,
    pub basis: Basis,
}

/// Why a text is no input.
#[derive(Debug, Error)]
pub enum InputError {
    #[error("not the JSON that `lagtop plan --format json` writes: {0}")]
    Json(#[from] serde_json::Error),
    #[error("its schema is {0}, and this lagtop reads schema {SCHEMA}")]
    Schema(u32),
    #[error("{0} is there twice")]
    Twice(String),
    #[error("member {member} names topic {topic}, which is not under `topics`")]
    NoSuchTopic { member: Name, topic: Name },
    #[error("topic {topic}: `{field}` has {has} entries for {partitions} partitions")]
    Length { topic: Name, field: &'static str, has: usize, partitions: usize },
    #[error("{0}")]
    TooLarge(String),
}

const SCHEMA: u32 = 1;
/// More than any cluster has; less than what fills the memory.
pub const MOST_PARTITIONS: usize = 1_000_000;
pub const MOST_MEMBERS: usize = 100_000;

#[derive(Debug, Serialize, Deserialize)]
pub struct Input {
    schema: u32,
    group: Name,
    r#type: String,
    #[serde(default)]
    taken_at: Option<String>,
    #[serde(default)]
    simulated: bool,
    #[serde(default)]
    assignor: Option<Name>,
    /// How long a rebalance takes.
    #[serde(default)]
    rebalance_ms: Option<u64>,
    members: Vec<MemberRow>,
    topics: Vec<TopicRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    departed: Vec<DepartedRow>,
    #[serde(default)]
    assumptions: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MemberRow {
    member: Name,
    #[serde(default)]
    instance_id: Option<Name>,
    #[serde(default)]
    rack: Option<Name>,
    subscription: Vec<Name>,
    #[serde(default)]
    owned: BTreeMap<Name, Vec<u32>>,
    /// Generation that it named when it joined.
    #[serde(default)]
    generation: Option<i32>,
    /// Records per second that it was seen to do with a backlog.
    #[serde(default)]
    capacity: Option<f64>,
}

/// Index of the lists = partition.
#[derive(Debug, Serialize, Deserialize)]
struct TopicRow {
    topic: Name,
    #[serde(default)]
    id: Option<Uuid>,
    /// `null`: the topic does not exist.
    lag: Option<Vec<u64>>,
    /// The lag without what is on its way between two commits; the same as the lag if it is not given.
    #[serde(default)]
    backlog: Option<Vec<u64>>,
    /// Records written per second.
    #[serde(default)]
    written: Option<Vec<Option<f64>>>,
    /// Racks of the replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    racks: Vec<Vec<Name>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DepartedRow {
    member: Name,
    owned: BTreeMap<Name, Vec<u32>>,
}

impl Input {
    pub fn of(saved: &Saved) -> Self {
        let Saved { group, kind, taken_at, simulated, basis } = saved;
        let Basis { input, pace, .. } = basis;
        let owned = |owned: &[TopicPartition]| {
            let mut by_topic: BTreeMap<Name, Vec<u32>> = BTreeMap::new();
            for tp in owned {
                by_topic.entry(input.topics[tp.topic as usize].name.clone()).or_default().push(tp.partition);
            }
            by_topic
        };
        let rack = |place: &u32| input.racks.get(*place as usize).cloned();
        let member = |member: &MemberInput| MemberRow {
            member: member.id.clone(),
            instance_id: member.instance_id.clone(),
            rack: member.rack.as_ref().and_then(rack),
            subscription: member.topics.iter().map(|topic| input.topics[*topic as usize].name.clone()).collect(),
            owned: owned(&member.owned),
            generation: member.generation,
            capacity: pace.capacity.get(&member.id).copied(),
        };
        let topic = |(place, topic): (usize, &TopicInput)| TopicRow {
            topic: topic.name.clone(),
            id: topic.id,
            lag: topic.partitions.map(|_| topic.lags.clone()),
            backlog: topic.partitions.and_then(|_| pace.backlog.get(place).cloned()),
            written: topic.partitions.and_then(|_| pace.written.get(place).cloned()),
            racks: topic.racks.iter().map(|racks| racks.iter().filter_map(rack).collect()).collect(),
        };
        let departed =
            input.departed.iter().map(|gone| DepartedRow { member: gone.id.clone(), owned: owned(&gone.owned) });
        Self {
            schema: SCHEMA,
            group: group.clone(),
            r#type: kind.clone(),
            taken_at: taken_at.clone(),
            simulated: *simulated,
            assignor: basis.assignor.clone(),
            rebalance_ms: pace.rebalance.map(millis),
            members: input.members.iter().map(member).collect(),
            topics: input.topics.iter().enumerate().map(topic).collect(),
            departed: departed.collect(),
            assumptions: basis.assumptions.clone(),
        }
    }
}

impl Saved {
    /// Reads an input, or the whole report that has it under `input`.
    ///
    /// # Errors
    /// Where it is none, or contradicts itself.
    pub fn read(text: &str) -> Result<Self, InputError> {
        let mut json: serde_json::Value = serde_json::from_str(text)?;
        let inner = json.get_mut("input").map(serde_json::Value::take);
        let input: Input = serde_json::from_value(inner.unwrap_or(json))?;
        if input.schema != SCHEMA {
            return Err(InputError::Schema(input.schema));
        }
        let mut group = GroupInput::default();
        let mut pace = Pace { rebalance: input.rebalance_ms.map(Duration::from_millis), ..Pace::default() };
        let mut places: HashMap<Name, u32> = HashMap::new();
        let partitions: usize = input.topics.iter().filter_map(|topic| topic.lag.as_ref()).map(Vec::len).sum();
        if partitions > MOST_PARTITIONS || input.members.len() > MOST_MEMBERS {
            let most = format!("more than {MOST_PARTITIONS} partitions or {MOST_MEMBERS} members");
            return Err(InputError::TooLarge(most));
        }
        for row in input.topics {
            if places.insert(row.topic.clone(), group.topics.len() as u32).is_some() {
                return Err(InputError::Twice(format!("topic {}", row.topic)));
            }
            take_topic(row, &mut group, &mut pace)?;
        }
        let known = Known(places);
        let mut ids = HashSet::new();
        for row in input.members {
            if !ids.insert(row.member.clone()) {
                return Err(InputError::Twice(format!("member {}", row.member)));
            }
            let mut topics = Vec::with_capacity(row.subscription.len());
            let mut seen = HashSet::new();
            for topic in &row.subscription {
                if !seen.insert(topic) {
                    return Err(InputError::Twice(format!("topic {topic} in the subscription of {}", row.member)));
                }
                topics.push(known.topic(&row.member, topic)?);
            }
            pace.capacity.extend(row.capacity.map(|capacity| (row.member.clone(), capacity)));
            let rack = row.rack.map(|rack| group.rack(rack.raw()));
            let owned = known.owned(&row.member, &row.owned)?;
            let (id, instance_id, generation) = (row.member, row.instance_id, row.generation);
            group.members.push(MemberInput {
                id,
                instance_id,
                rack,
                topics,
                owned,
                generation,
                ..MemberInput::default()
            });
        }
        for row in input.departed {
            let owned = known.owned(&row.member, &row.owned)?;
            group.departed.push(Departed { id: row.member, owned });
        }
        let protocol = match input.r#type.as_str() {
            "classic" => Some(Protocol::Classic),
            "consumer" => Some(Protocol::Consumer),
            "share" => Some(Protocol::Share),
            _ => None,
        };
        let (assignor, assumptions) = (input.assignor, input.assumptions);
        Ok(Self {
            group: input.group,
            kind: input.r#type,
            taken_at: input.taken_at,
            simulated: input.simulated,
            basis: Basis { protocol, assignor, input: group, pace, assumptions },
        })
    }
}

/// The place of each topic.
struct Known(HashMap<Name, u32>);

impl Known {
    fn topic(&self, member: &Name, topic: &Name) -> Result<u32, InputError> {
        let place = self.0.get(topic).copied();
        place.ok_or_else(|| InputError::NoSuchTopic { member: member.clone(), topic: topic.clone() })
    }

    fn owned(&self, member: &Name, owned: &BTreeMap<Name, Vec<u32>>) -> Result<Vec<TopicPartition>, InputError> {
        let mut all = Vec::new();
        for (topic, numbers) in owned {
            let topic = self.topic(member, topic)?;
            all.extend(numbers.iter().map(|partition| TopicPartition { topic, partition: *partition }));
        }
        Ok(all)
    }
}

fn take_topic(row: TopicRow, group: &mut GroupInput, pace: &mut Pace) -> Result<(), InputError> {
    let partitions = row.lag.as_ref().map(|lags| lags.len() as u32);
    let lags = row.lag.unwrap_or_default();
    let check = |field, has: usize| {
        let same = has == lags.len();
        let topic = row.topic.clone();
        same.then_some(()).ok_or(InputError::Length { topic, field, has, partitions: lags.len() })
    };
    let backlog = row.backlog.unwrap_or_else(|| lags.clone());
    let written = row.written.unwrap_or_else(|| vec![None; lags.len()]);
    check("backlog", backlog.len())?;
    check("written", written.len())?;
    if !row.racks.is_empty() {
        check("racks", row.racks.len())?;
    }
    let racks = row.racks.iter().map(|racks| racks.iter().map(|rack| group.rack(rack.raw())).collect());
    let racks: Vec<Vec<u32>> = racks.collect();
    group.topics.push(TopicInput { name: row.topic, id: row.id, partitions, racks, lags });
    pace.backlog.push(backlog);
    pace.written.push(written);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> Saved {
        let tp = |topic, partition| TopicPartition { topic, partition };
        let mut input = GroupInput::default();
        let (a, b) = (input.rack("a"), input.rack("b"));
        input.topics = vec![
            TopicInput {
                name: "t".into(),
                id: Some(Uuid::from_u128(7)),
                partitions: Some(2),
                racks: vec![vec![a], vec![a, b]],
                lags: vec![5, 70],
            },
            TopicInput { name: "gone".into(), ..TopicInput::default() },
        ];
        let member =
            |id: &str, owned| MemberInput { id: id.into(), topics: vec![1, 0], owned, ..MemberInput::default() };
        input.members = vec![member("\x1bm", vec![tp(0, 0), tp(0, 1)]), member("n", Vec::new())];
        input.members[0].instance_id = Some("i".into());
        input.members[1].rack = Some(b);
        input.members[1].generation = Some(4);
        input.departed = vec![Departed { id: "d".into(), owned: vec![tp(0, 1)] }];
        let pace = Pace {
            written: vec![vec![Some(0.125), None], Vec::new()],
            backlog: vec![vec![0, 70], Vec::new()],
            capacity: BTreeMap::from([("n".into(), 12.345)]),
            rebalance: Some(Duration::from_millis(1500)),
        };
        let basis = Basis {
            protocol: Some(Protocol::Classic),
            assignor: Some("range".into()),
            input,
            pace,
            assumptions: vec!["something".into()],
        };
        Saved { group: "g".into(), kind: "classic".into(), taken_at: Some("now".into()), simulated: true, basis }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let saved = saved();
        let text = serde_json::to_string(&Input::of(&saved)).unwrap();
        assert_eq!(Saved::read(&text).unwrap(), saved);
        assert_eq!(Saved::read(&format!("{{\"more\": 1, \"input\": {text}}}")).unwrap(), saved);
    }

    #[test]
    fn what_contradicts_itself_is_named() {
        let text = serde_json::to_string(&Input::of(&saved())).unwrap();
        let said = |from: &str, to: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            Saved::read(&changed).unwrap_err().to_string()
        };
        assert!(said("\"schema\":1", "\"schema\":2").contains("schema is 2"));
        assert!(said("\"lag\":[5,70]", "\"lag\":[5]").contains("`backlog` has 2 entries for 1 partitions"));
        assert!(said("\"topic\":\"gone\"", "\"topic\":\"t\"").contains("topic t is there twice"));
        assert!(said("[\"gone\",\"t\"]", "[\"other\"]").contains("names topic other"));
        assert!(said("[\"gone\",\"t\"]", "[\"t\",\"t\"]").contains("is there twice"));
        assert!(said("\"member\":\"n\"", "\"member\":\"\\u001bm\"").contains("member \\x1bm is there twice"));
        assert!(Saved::read("[]").is_err() && Saved::read("").is_err() && Saved::read("{}").is_err());
    }
}
