//! [`TopicHashes`]: topic hashes computed once for all groups, and again only for the topic that changed.

use std::collections::HashMap;

use super::{TopicInput, topic_hash};
use crate::model::Name;

/// The hash of each topic, kept together with what it was computed from.
#[derive(Debug, Clone, Default)]
pub struct TopicHashes {
    topics: HashMap<Name, (TopicInput, i64)>,
    computed: u64,
}

impl TopicHashes {
    pub fn new() -> Self {
        Self::default()
    }

    /// The hash of a topic as it is now: computed if the topic is new or anything that goes into it differs.
    pub fn put(&mut self, input: TopicInput) -> i64 {
        if let Some((known, hash)) = self.topics.get(input.name())
            && *known == input
        {
            return *hash;
        }
        let hash = topic_hash(&input);
        self.computed += 1;
        self.topics.insert(input.name().clone(), (input, hash));
        hash
    }

    /// Forgets a topic: it is gone, or nobody looks at it any more.
    pub fn remove(&mut self, name: &Name) {
        self.topics.remove(name);
    }

    /// Keeps only the topics that `keep` names.
    pub fn retain(&mut self, mut keep: impl FnMut(&Name) -> bool) {
        self.topics.retain(|name, _| keep(name));
    }

    /// The hash last computed; `None` for a topic that does not exist or was never put.
    pub fn get(&self, name: &Name) -> Option<i64> {
        self.topics.get(name).map(|(_, hash)| *hash)
    }

    /// What the hash was last computed from.
    pub fn input(&self, name: &Name) -> Option<&TopicInput> {
        self.topics.get(name).map(|(input, _)| input)
    }

    /// The hash of a group with these subscribed topics (each named once); those that are not here are left out, as
    /// Kafka leaves out topics that do not exist (`ModernGroup.computeMetadataHash`).
    pub fn group_hash<'a>(&self, subscribed: impl IntoIterator<Item = &'a Name>) -> i64 {
        super::group_hash(subscribed.into_iter().filter_map(|name| Some((name, self.get(name)?))))
    }

    /// How many topic hashes have been computed so far.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Bytes held, for stating the cost of the watch.
    pub fn heap_size(&self) -> usize {
        let slot = size_of::<(Name, (TopicInput, i64))>();
        self.topics.iter().map(|(name, (input, _))| slot + name.raw().len() + input.heap_size()).sum()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn topic(name: &str, partitions: usize) -> TopicInput {
        TopicInput::new(Uuid::nil(), name.into(), vec![[Some("a"), Some("b")]; partitions])
    }

    #[test]
    fn a_change_hashes_that_topic_alone() {
        let mut hashes = TopicHashes::new();
        for n in 0..10 {
            hashes.put(topic(&format!("t{n}"), 4));
        }
        assert_eq!(hashes.computed(), 10);
        let before = hashes.get(&"t3".into());
        for n in 0..10 {
            hashes.put(topic(&format!("t{n}"), if n == 3 { 5 } else { 4 }));
        }
        assert_eq!(hashes.computed(), 11);
        assert_ne!(hashes.get(&"t3".into()), before);
        assert_eq!(hashes.input(&"t3".into()).map(TopicInput::partition_count), Some(5));
    }

    #[test]
    fn topics_that_do_not_exist_are_left_out_of_the_group() {
        let mut hashes = TopicHashes::new();
        let (a, b, gone) = (Name::new("a"), Name::new("b"), Name::new("gone"));
        hashes.put(topic("b", 1));
        hashes.put(topic("a", 1));
        assert_eq!(hashes.group_hash([&gone, &b, &a]), hashes.group_hash([&a, &b]));
        assert_eq!(hashes.group_hash([&gone]), 0);
        hashes.remove(&b);
        let only_a = hashes.group_hash([&a, &b]);
        assert_eq!(only_a, hashes.group_hash([&a]));
        hashes.retain(|name| name.raw() != "a");
        assert_eq!(hashes.get(&a), None);
    }
}
