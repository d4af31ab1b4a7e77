//! [`Flat`]: every existing partition of a group as one number, so that inner loops index arrays instead of hashing.

use std::ops::Range;

use super::input::{GroupInput, TopicPartition};

/// Numbers partitions topic by topic, from 0 without gaps.
pub(super) struct Flat {
    /// The numbers of each topic's partitions.
    ranges: Vec<Range<u32>>,
    /// Topic of each partition.
    topic: Vec<u32>,
}

impl Flat {
    pub(super) fn of(group: &GroupInput) -> Self {
        Self::of_topics(group, 0..group.topics.len() as u32)
    }

    /// Numbers the partitions of some topics, in the order of the topics given.
    pub(super) fn of_topics(group: &GroupInput, topics: impl IntoIterator<Item = u32>) -> Self {
        let mut ranges = vec![0..0; group.topics.len()];
        let mut topic = Vec::new();
        for place in topics {
            let start = topic.len() as u32;
            topic.resize(topic.len() + group.topics[place as usize].count() as usize, place);
            ranges[place as usize] = start..topic.len() as u32;
        }
        Self { ranges, topic }
    }

    /// Number of existing partitions.
    pub(super) fn len(&self) -> usize {
        self.topic.len()
    }

    /// The number of a partition; `None` when it does not exist.
    pub(super) fn number(&self, tp: TopicPartition) -> Option<u32> {
        let numbers = self.ranges.get(tp.topic as usize)?;
        (tp.partition < numbers.end - numbers.start).then(|| numbers.start + tp.partition)
    }

    /// The numbers of a topic's partitions.
    pub(super) fn of_topic(&self, topic: u32) -> Range<u32> {
        self.ranges[topic as usize].clone()
    }

    /// The topic of a partition's number.
    pub(super) fn topic(&self, number: u32) -> u32 {
        self.topic[number as usize]
    }

    /// The partition of a number.
    pub(super) fn partition(&self, number: u32) -> TopicPartition {
        let topic = self.topic(number);
        TopicPartition { topic, partition: number - self.ranges[topic as usize].start }
    }
}

/// Values grouped by a key from 0 to n − 1, in the order in which they came.
pub(super) struct Grouped<T> {
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> Grouped<T> {
    pub(super) fn new(keys: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0u32; keys + 1];
        for (key, _) in pairs.clone() {
            starts[key as usize + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut values = vec![T::default(); starts[keys] as usize];
        let mut next = starts.clone();
        for (key, value) in pairs {
            values[next[key as usize] as usize] = value;
            next[key as usize] += 1;
        }
        Self { starts, values }
    }

    /// The values of a key.
    pub(super) fn at(&self, key: u32) -> &[T] {
        &self.values[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::TopicInput;
    use super::*;

    #[test]
    fn partitions_are_numbered_without_gaps() {
        let topic = |partitions| TopicInput { partitions, ..TopicInput::default() };
        let topics = vec![topic(Some(2)), topic(None), topic(Some(3))];
        let flat = Flat::of(&GroupInput { topics, ..GroupInput::default() });
        assert_eq!(flat.len(), 5);
        for number in 0..5 {
            assert_eq!(flat.number(flat.partition(number)), Some(number));
        }
        assert_eq!(flat.number(TopicPartition { topic: 1, partition: 0 }), None);
        assert_eq!(flat.number(TopicPartition { topic: 9, partition: 0 }), None);
    }

    #[test]
    fn grouping_keeps_the_order() {
        let grouped = Grouped::new(3, [(2, 'a'), (0, 'b'), (2, 'c')].into_iter());
        assert_eq!((grouped.at(0), grouped.at(1), grouped.at(2)), (&['b'][..], &[][..], &['a', 'c'][..]));
    }
}
