//! From the JSON of a case to a [`GroupInput`], and from an assignment back to what a case expects.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lagtop::assign::{Assignment, GroupInput, MemberInput, TopicInput, TopicPartition};
use lagtop::model::Name;
use serde_json::{Map, Value};

/// Member id → list of topic and partition.
pub type Owned = BTreeMap<String, Vec<(String, u32)>>;

/// A group and the places of its topics.
pub struct Case {
    pub group: GroupInput,
    places: HashMap<String, u32>,
}

impl Case {
    /// Reads `topics` and `members` of a case. `assigned` is the field that has a member's current partitions.
    pub fn read(case: &Value, assigned: &str) -> Result<Self, String> {
        let mut this = Self { group: GroupInput::default(), places: HashMap::new() };
        for (name, topic) in case["topics"].as_object().ok_or("no topics")? {
            this.add_topic(name, topic)?;
        }
        for member in array(&case["members"])? {
            let member = this.member(member, assigned)?;
            this.group.members.push(member);
        }
        Ok(this)
    }

    fn add_topic(&mut self, name: &str, topic: &Value) -> Result<(), String> {
        let mut input = TopicInput { name: Name::new(name), ..TopicInput::default() };
        if let Some(partitions) = topic.as_array() {
            // lag_based: partitions in any order, with their lag.
            input.partitions = Some(partitions.len() as u32);
            input.lags = vec![0; partitions.len()];
            for partition in partitions {
                let place = partition["partition"].as_u64().ok_or("no partition")? as usize;
                *input.lags.get_mut(place).ok_or("partitions have gaps")? =
                    partition["lag"].as_u64().ok_or("no lag")?;
            }
        } else {
            input.partitions = topic["partitions"].as_u64().map(|count| count as u32);
            input.id = topic["topic_id"].as_str().map(|id| id.parse().map_err(|_| "bad topic id")).transpose()?;
            for replicas in topic["racks"].as_array().into_iter().flatten() {
                let racks = array(replicas)?.iter().filter_map(Value::as_str).map(|rack| self.group.rack(rack));
                input.racks.push(racks.collect());
            }
        }
        self.places.insert(name.to_owned(), self.group.topics.len() as u32);
        self.group.topics.push(input);
        Ok(())
    }

    /// The place of a topic; one that the case does not define does not exist.
    pub fn topic(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.group.topics.len() as u32;
        self.group.topics.push(TopicInput { name: Name::new(name), ..TopicInput::default() });
        self.places.insert(name.to_owned(), place);
        place
    }

    /// A partition of a topic by name.
    pub fn partition(&mut self, topic: &str, partition: u32) -> TopicPartition {
        TopicPartition { topic: self.topic(topic), partition }
    }

    fn member(&mut self, member: &Value, assigned: &str) -> Result<MemberInput, String> {
        let text = |field: &str| member[field].as_str().map(Name::new);
        let number = |field: &str| member[field].as_i64().map(|n| n as i32);
        let mut topics = Vec::new();
        for topic in array(&member["topics"])? {
            topics.push(self.topic(topic.as_str().ok_or("topic is no text")?));
        }
        let mut owned = Vec::new();
        for (topic, partition) in pairs(member.get(assigned).unwrap_or(&Value::Array(Vec::new())))? {
            owned.push(self.partition(&topic, partition));
        }
        Ok(MemberInput {
            id: text("id").ok_or("no member id")?,
            instance_id: text("instance_id"),
            rack: member["rack"].as_str().map(|rack| self.group.rack(rack)),
            topics,
            owned,
            generation: number("generation"),
            user_data_generation: number("user_data_generation"),
        })
    }

    /// The assignment as member id → topics and partitions, in the assignment's order.
    pub fn named(&self, plan: &Assignment) -> Owned {
        let name = |tp: &TopicPartition| (self.group.topics[tp.topic as usize].name.raw().to_owned(), tp.partition);
        let members = self.group.members.iter().zip(&plan.members);
        members.map(|(member, tps)| (member.id.raw().to_owned(), tps.iter().map(name).collect())).collect()
    }

    /// Errs unless `plan` is what the case expects, as sets.
    pub fn expect_sets(&self, plan: &Assignment, expected: &Value) -> Result<(), String> {
        expect_equal(&sorted(self.named(plan)), &sorted(owned(expected)?))
    }

    /// Errs unless every partition of a subscribed topic has exactly one owner, and owners subscribe.
    pub fn expect_sound(&self, plan: &Assignment) -> Result<(), String> {
        self.expect_owned(plan)?;
        let mut all: Vec<TopicPartition> = plan.members.iter().flatten().copied().collect();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("{:?} has two owners", pair[0])),
            None => Ok(()),
        }
    }

    /// Errs unless every partition of a subscribed topic has an owner, owners subscribe, and nobody has anything twice.
    pub fn expect_owned(&self, plan: &Assignment) -> Result<(), String> {
        let mut free: BTreeSet<TopicPartition> = BTreeSet::new();
        for topic in self.group.members.iter().flat_map(|member| &member.topics) {
            let count = self.group.topics[*topic as usize].count();
            free.extend((0..count).map(|partition| TopicPartition { topic: *topic, partition }));
        }
        for (member, tps) in self.group.members.iter().zip(&plan.members) {
            let distinct: BTreeSet<&TopicPartition> = tps.iter().collect();
            if distinct.len() < tps.len() {
                return Err(format!("{} gets something twice", member.id));
            }
            for tp in tps {
                if !member.topics.contains(&tp.topic) {
                    return Err(format!("{} does not subscribe to what it gets", member.id));
                }
                if !self.group.exists(*tp) {
                    return Err(format!("{tp:?} does not exist"));
                }
                free.remove(tp);
            }
        }
        if free.is_empty() { Ok(()) } else { Err(format!("without owner: {free:?}")) }
    }
}

/// `expected` of a case.
pub fn owned(expected: &Value) -> Result<Owned, String> {
    let members: &Map<String, Value> = expected.as_object().ok_or("no expected assignment")?;
    members.iter().map(|(id, list)| Ok((id.clone(), pairs(list)?))).collect()
}

pub fn sorted(mut owned: Owned) -> Owned {
    for list in owned.values_mut() {
        list.sort();
    }
    owned
}

pub fn expect_equal(got: &Owned, expected: &Owned) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("got {got:?}, expected {expected:?}")) }
}

pub fn array(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("not a list: {value}"))
}

fn pairs(value: &Value) -> Result<Vec<(String, u32)>, String> {
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_u64()? as u32));
    array(value)?.iter().map(|p| pair(p).ok_or_else(|| format!("not a partition: {p}"))).collect()
}
