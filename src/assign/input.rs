//! [`GroupInput`]: a consumer group as an assignor sees it. Built by whoever knows the group; read by all assignors.
//!
//! It holds no commit, no offset and no time: lag comes in as one number a partition, with partitions without a
//! commit already resolved by the reset policy that the caller assumes (`latest`: 0, `earliest`: end − start).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::Name;

/// More partitions than this are taken for a mistake in what was read.
const MAX_PARTITIONS: u64 = 10_000_000;

/// A partition of a topic of one [`GroupInput`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicPartition {
    /// Place of the topic in [`GroupInput::topics`].
    pub topic: u32,
    /// Partition number.
    pub partition: u32,
}

/// A group: its members, the topics they name, and the racks. As JSON it is what a plan can be computed from again;
/// [`GroupInput::check`] what was read.
///
/// The order of `members` matters where Java's result depends on the order in which a coordinator lists them; an
/// assignor that depends on it says so ([`super::Assignor::depends_on_hash_order`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupInput {
    pub members: Vec<MemberInput>,
    pub topics: Vec<TopicInput>,
    /// Rack names that members and partitions refer to by place; see [`GroupInput::rack`].
    pub racks: Vec<Name>,
    /// Members that are gone but whose partitions nobody has taken over yet; only [`super::moves`] and
    /// `lag-balanced` (for its budget of moves) look at them.
    pub departed: Vec<Departed>,
}

/// A member of the group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberInput {
    pub id: Name,
    /// `group.instance.id` of a static member.
    pub instance_id: Option<Name>,
    /// `client.rack`: place in [`GroupInput::racks`].
    pub rack: Option<u32>,
    /// Subscribed topics, as places in [`GroupInput::topics`], each once, in the order of the subscription.
    /// A topic that does not exist is listed too: it makes subscriptions unequal for the sticky assignors.
    pub topics: Vec<u32>,
    /// The partitions that the member has now.
    pub owned: Vec<TopicPartition>,
    /// Generation in which it got them; `None` = not known (`-1` on the wire).
    pub generation: Option<i32>,
    /// Generation inside the user data of a sticky assignor, which clients before Kafka 3.5 sent instead of
    /// `generation`. `None` for everybody who does not decode user data.
    pub user_data_generation: Option<i32>,
}

/// A topic that some member names or owns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicInput {
    pub name: Name,
    pub id: Option<Uuid>,
    /// Number of partitions; `None` = the topic does not exist.
    pub partitions: Option<u32>,
    /// For each partition the racks of its replicas, as places in [`GroupInput::racks`], replicas on brokers without a
    /// rack left out. Empty when no rack is known.
    pub racks: Vec<Vec<u32>>,
    /// For each partition its lag in records. What is missing counts as 0.
    pub lags: Vec<u64>,
}

/// A member that is gone, and what it had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Departed {
    pub id: Name,
    pub owned: Vec<TopicPartition>,
}

impl TopicInput {
    /// Number of partitions, 0 for a topic that does not exist.
    pub fn count(&self) -> u32 {
        self.partitions.unwrap_or(0)
    }

    /// Lag of a partition, 0 where it is not known.
    pub fn lag(&self, partition: u32) -> u64 {
        self.lags.get(partition as usize).copied().unwrap_or(0)
    }
}

impl GroupInput {
    /// The place of a rack in [`GroupInput::racks`]; adds it when it is new. Clusters have few racks.
    pub fn rack(&mut self, name: &str) -> u32 {
        let place = self.racks.iter().position(|rack| rack.raw() == name);
        place.unwrap_or_else(|| {
            self.racks.push(Name::new(name));
            self.racks.len() - 1
        }) as u32
    }

    /// Errs when a place points at nothing. The assignors take places as they are, so check what comes from outside.
    ///
    /// # Errors
    /// Says which place of what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let within = |kind: &str, place: u32, len: usize| {
            let there = (place as usize) < len;
            there.then_some(()).ok_or_else(|| format!("there is no {kind} {place}: the group has {len}"))
        };
        let topic = |place: u32| within("topic", place, self.topics.len());
        let rack = |place: u32| within("rack", place, self.racks.len());
        let partitions: u64 = self.topics.iter().map(|topic| u64::from(topic.count())).sum();
        if partitions > MAX_PARTITIONS {
            return Err(format!("{partitions} partitions are more than the {MAX_PARTITIONS} that any cluster has"));
        }
        for member in &self.members {
            let mut seen = vec![false; self.topics.len()];
            for &place in &member.topics {
                topic(place)?;
                if std::mem::replace(&mut seen[place as usize], true) {
                    return Err(format!("member {} names topic {place} twice", member.id));
                }
            }
            member.owned.iter().try_for_each(|tp| topic(tp.topic))?;
            member.rack.iter().try_for_each(|&place| rack(place))?;
        }
        self.departed.iter().flat_map(|gone| &gone.owned).try_for_each(|tp| topic(tp.topic))?;
        self.topics.iter().flat_map(|topic| topic.racks.iter().flatten()).try_for_each(|&place| rack(place))
    }

    /// True when the partition exists.
    pub fn exists(&self, tp: TopicPartition) -> bool {
        self.topics.get(tp.topic as usize).is_some_and(|topic| tp.partition < topic.count())
    }

    /// Lag of a partition in records.
    pub fn lag(&self, tp: TopicPartition) -> u64 {
        self.topics.get(tp.topic as usize).map_or(0, |topic| topic.lag(tp.partition))
    }

    /// For each topic its subscribers, in the order of [`GroupInput::members`].
    pub fn subscribers(&self) -> Vec<Vec<u32>> {
        self.subscribers_in(0..self.members.len() as u32)
    }

    /// For each topic its subscribers, in the order given.
    pub(super) fn subscribers_in(&self, members: impl IntoIterator<Item = u32>) -> Vec<Vec<u32>> {
        let mut counts = vec![0usize; self.topics.len()];
        for &topic in self.members.iter().flat_map(|member| &member.topics) {
            counts[topic as usize] += 1;
        }
        let mut subscribers: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for member in members {
            for &topic in &self.members[member as usize].topics {
                subscribers[topic as usize].push(member);
            }
        }
        subscribers
    }

    /// Members sorted by member id, as Java sorts strings.
    pub(super) fn members_by_id(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.members.len() as u32).collect();
        order.sort_by(|&a, &b| self.members[a as usize].id.cmp_utf16(&self.members[b as usize].id));
        order
    }

    /// Members as Java's `MemberInfo` sorts them: static ones first, by instance id; then the others by member id.
    pub(super) fn members_static_first(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.members.len() as u32).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.members[a as usize], &self.members[b as usize]);
            match (&a.instance_id, &b.instance_id) {
                (Some(x), Some(y)) => x.cmp_utf16(y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => a.id.cmp_utf16(&b.id),
            }
        });
        order
    }

    /// Topics sorted by name, as Java sorts strings.
    pub(super) fn topics_by_name(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.topics.len() as u32).collect();
        order.sort_by(|&a, &b| self.topics[a as usize].name.cmp_utf16(&self.topics[b as usize].name));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racks_are_kept_once() {
        let mut group = GroupInput::default();
        assert_eq!((group.rack("a"), group.rack("b"), group.rack("a")), (0, 1, 0));
        assert_eq!(group.racks.len(), 2);
    }

    #[test]
    fn a_group_survives_json() {
        let mut group = GroupInput::default();
        let rack = Some(group.rack("a"));
        let owned = vec![TopicPartition { topic: 0, partition: 3 }];
        group.members.push(MemberInput { id: "m".into(), rack, topics: vec![0], owned, ..MemberInput::default() });
        group.topics.push(TopicInput { name: "t".into(), partitions: Some(4), ..TopicInput::default() });
        let json = serde_json::to_string(&group).unwrap();
        assert_eq!(serde_json::from_str::<GroupInput>(&json).unwrap(), group);
        assert_eq!(serde_json::from_str::<GroupInput>("{}").unwrap(), GroupInput::default());
    }

    #[test]
    fn places_from_outside_are_checked() {
        let check = |json: &str| serde_json::from_str::<GroupInput>(json).unwrap().check();
        assert_eq!(check(r#"{"topics":[{"partitions":1}],"members":[{"topics":[0]}]}"#), Ok(()));
        assert!(check(r#"{"members":[{"topics":[0]}]}"#).is_err());
        assert!(check(r#"{"topics":[{}],"members":[{"topics":[0,0]}]}"#).is_err());
        assert!(check(r#"{"members":[{"rack":0}]}"#).is_err());
        assert!(check(r#"{"departed":[{"owned":[{"topic":1,"partition":0}]}]}"#).is_err());
        assert!(check(r#"{"topics":[{"racks":[[1]]}]}"#).is_err());
        assert!(check(r#"{"topics":[{"partitions":4000000000}]}"#).is_err());
    }

    #[test]
    fn static_members_come_first() {
        let member = |id: &str, instance: Option<&str>| MemberInput {
            id: id.into(),
            instance_id: instance.map(Name::from),
            ..MemberInput::default()
        };
        let members = vec![member("a", None), member("z", Some("i2")), member("b", Some("i10")), member("m10", None)];
        let group = GroupInput { members, ..GroupInput::default() };
        assert_eq!(group.members_static_first(), [2, 1, 0, 3]);
        assert_eq!(group.members_by_id(), [0, 2, 3, 1]);
    }
}
