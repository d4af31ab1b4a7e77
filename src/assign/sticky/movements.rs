//! [`Movements`]: the moves of one run of the general sticky algorithm, so that a move back undoes an earlier one.
//!
//! Where a partition would move between two members between which another of the same topic has moved the other way,
//! that one moves back instead; of several the first in the order of a Java hash table.

use std::collections::HashMap;

use super::super::input::TopicPartition;
use super::super::java_hash::{DEFAULT_CAPACITY, iteration_order, string_hash, topic_partition_hash};

/// A member that lost partitions and the one that got them.
type Pair = (u32, u32);

#[derive(Default)]
pub(super) struct Movements {
    /// Where each moved partition came from at first, and where it is.
    pairs: HashMap<TopicPartition, Pair>,
    /// Partitions by topic and pair.
    moved: HashMap<(u32, Pair), Moved>,
}

/// A Java `HashSet<TopicPartition>`: entries in the order of insertion, and the capacity, which never shrinks.
struct Moved {
    partitions: Vec<u32>,
    capacity: usize,
}

impl Movements {
    /// The partition that has to move from `from` to `to` so that `tp` need not. `topic` is the topic's name.
    pub(super) fn instead_of(&self, tp: TopicPartition, from: u32, to: u32, topic: &str) -> TopicPartition {
        let from = self.pairs.get(&tp).map_or(from, |pair| pair.0);
        let Some(moved) = self.moved.get(&(tp.topic, (to, from))) else { return tp };
        let hash = string_hash(topic);
        let hashes: Vec<i32> = moved.partitions.iter().map(|&p| topic_partition_hash(hash, p)).collect();
        let first = iteration_order(&hashes, moved.capacity).first().copied();
        first.map_or(tp, |place| TopicPartition { partition: moved.partitions[place as usize], ..tp })
    }

    /// Notes that `tp` moved.
    pub(super) fn add(&mut self, tp: TopicPartition, from: u32, to: u32) {
        let mut origin = from;
        if let Some(pair) = self.pairs.remove(&tp) {
            origin = pair.0;
            if let Some(moved) = self.moved.get_mut(&(tp.topic, pair)) {
                moved.partitions.retain(|&partition| partition != tp.partition);
                if moved.partitions.is_empty() {
                    self.moved.remove(&(tp.topic, pair));
                }
            }
            if origin == to {
                return;
            }
        }
        self.pairs.insert(tp, (origin, to));
        let moved = self.moved.entry((tp.topic, (origin, to)));
        let moved = moved.or_insert_with(|| Moved { partitions: Vec::new(), capacity: DEFAULT_CAPACITY });
        moved.partitions.push(tp.partition);
        while moved.partitions.len() > moved.capacity / 4 * 3 {
            moved.capacity *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_back_undoes_the_first_one() {
        let tp = |partition| TopicPartition { topic: 0, partition };
        let mut movements = Movements::default();
        movements.add(tp(3), 1, 2);
        assert_eq!(movements.instead_of(tp(5), 2, 1, "t"), tp(3));
        assert_eq!(movements.instead_of(tp(5), 1, 2, "t"), tp(5));
        movements.add(tp(3), 2, 4);
        assert_eq!(movements.instead_of(tp(5), 2, 1, "t"), tp(5));
        assert_eq!(movements.instead_of(tp(5), 4, 1, "t"), tp(3));
        movements.add(tp(3), 4, 1);
        assert_eq!(movements.instead_of(tp(5), 4, 1, "t"), tp(5));
    }
}
