//! Topic ids and names: records of KIP-848, share and streams groups name topics by id.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::model::{Name, TopicPartitions};

/// A topic as a fact named it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicRef {
    Id(Uuid),
    Named(Name),
}

/// Partitions by topic, as records name them.
pub type Held = BTreeMap<TopicRef, Vec<i32>>;

/// Names of topic ids, from DescribeTopics, commit records and share records. An id is never another topic's, so what
/// was once learnt stays true, also of topics that are deleted.
#[derive(Debug, Default)]
pub struct TopicNames(BTreeMap<Uuid, Name>);

impl TopicNames {
    /// Returns whether that is news.
    pub fn learn(&mut self, id: Uuid, name: &Name) -> bool {
        !id.is_nil() && self.0.insert(id, name.clone()).is_none()
    }

    /// The name, or `topic 1a2b3c4d (deleted)` for an id that nobody knows any more.
    pub fn name(&self, topic: &TopicRef) -> Name {
        match topic {
            TopicRef::Named(name) => name.clone(),
            TopicRef::Id(id) => self.0.get(id).cloned().unwrap_or_else(|| {
                let id = id.simple().to_string();
                Name::from(format!("topic {} (deleted)", &id[..8]))
            }),
        }
    }

    /// Whether every topic has a name.
    pub fn knows(&self, held: &Held) -> bool {
        held.keys().all(|topic| match topic {
            TopicRef::Named(_) => true,
            TopicRef::Id(id) => self.0.contains_key(id),
        })
    }

    /// The same partitions by name.
    pub fn named(&self, held: &Held) -> TopicPartitions {
        let mut out = TopicPartitions::new();
        for (topic, partitions) in held.iter().filter(|(_, partitions)| !partitions.is_empty()) {
            let known = out.entry(self.name(topic)).or_default();
            known.extend(partitions);
            known.sort_unstable();
            known.dedup();
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_nobody_knows_says_so() {
        let id = Uuid::from_u64_pair(0x1a2b_3c4d_0000_0000, 1);
        let mut names = TopicNames::default();
        assert_eq!(names.name(&TopicRef::Id(id)).raw(), "topic 1a2b3c4d (deleted)");
        assert!(
            names.learn(id, &"t".into()) && !names.learn(id, &"t".into()) && !names.learn(Uuid::nil(), &"u".into())
        );
        let held = Held::from([
            (TopicRef::Id(id), vec![2, 0]),
            (TopicRef::Named("t".into()), vec![1]),
            (TopicRef::Named("none".into()), vec![]),
        ]);
        assert_eq!(names.named(&held), TopicPartitions::from([("t".into(), vec![0, 1, 2])]));
    }
}
