//! The order in which Java's `HashMap` and `HashSet` iterate, for the assignors whose result depends on it.
//!
//! A bucket is `(h ^ (h >>> 16)) & (capacity − 1)`; iteration goes by bucket and inside a bucket by insertion. Buckets
//! that Java turns into trees (more than eight entries in a table of 64 or more) are kept in insertion order here; ids
//! and names of real groups do not get there.

use uuid::Uuid;

/// `String.hashCode`.
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `org.apache.kafka.common.Uuid.hashCode`.
pub fn uuid_hash(id: Uuid) -> i32 {
    let (most, least) = id.as_u64_pair();
    let bits = most ^ least;
    ((bits >> 32) ^ bits) as i32
}

/// `TopicPartition.hashCode`, from the hash of the topic's name.
pub fn topic_partition_hash(topic: i32, partition: u32) -> i32 {
    31i32.wrapping_mul(31i32.wrapping_add(partition as i32)).wrapping_add(topic)
}

/// Capacity of a `new HashMap()`.
pub const DEFAULT_CAPACITY: usize = 16;

/// Capacity of a `new HashSet(collection)` of this many elements.
pub fn capacity_for_copy(elements: usize) -> usize {
    (elements as f32 / 0.75 + 1.0).max(16.0) as usize
}

/// The iteration order of a map into which keys with these hashes were put, all different, in this order: places in
/// `hashes`. `capacity` is that of the new map; it grows as Java's does.
pub fn iteration_order(hashes: &[i32], capacity: usize) -> Vec<u32> {
    let mut capacity = capacity.next_power_of_two();
    let bucket = |hash: i32, capacity: usize| {
        let hash = hash as u32;
        (hash ^ (hash >> 16)) as usize & (capacity - 1)
    };
    let mut sizes = vec![0u32; capacity];
    let grow = |sizes: &mut Vec<u32>, capacity: &mut usize, inserted: &[i32]| {
        *capacity *= 2;
        sizes.clear();
        sizes.resize(*capacity, 0);
        for &hash in inserted {
            sizes[bucket(hash, *capacity)] += 1;
        }
    };
    for (place, &hash) in hashes.iter().enumerate() {
        let size = &mut sizes[bucket(hash, capacity)];
        *size += 1;
        // A ninth entry in a bucket of a small table doubles the table instead of making a tree.
        if *size > 8 && capacity < 64 {
            grow(&mut sizes, &mut capacity, &hashes[..=place]);
        }
        if place + 1 > capacity / 4 * 3 {
            grow(&mut sizes, &mut capacity, &hashes[..=place]);
        }
    }
    let mut starts = Vec::with_capacity(capacity);
    let mut start = 0;
    for size in &sizes {
        starts.push(start);
        start += size;
    }
    let mut order = vec![0; hashes.len()];
    for (place, &hash) in hashes.iter().enumerate() {
        let next = &mut starts[bucket(hash, capacity)];
        order[*next as usize] = place as u32;
        *next += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("hello"), 99_162_322);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN);
        assert_eq!(string_hash("\u{1f600}"), 0xd83d * 31 + 0xde00);
        assert_eq!(topic_partition_hash(string_hash("t"), 0), 31 * 31 + 116);
        assert_eq!(uuid_hash(Uuid::from_u64_pair(1 << 32, 5)), 1 ^ 5);
    }

    #[test]
    fn small_integers_iterate_in_order() {
        assert_eq!(iteration_order(&[3, 1, 2], DEFAULT_CAPACITY), [1, 2, 0]);
        // 16 shares bucket 0 with 0 and came first.
        assert_eq!(iteration_order(&[16, 0, 1], DEFAULT_CAPACITY), [0, 1, 2]);
        // Thirteen entries: the table has 32 buckets now.
        let hashes: Vec<i32> = (0..12).chain([16]).collect();
        assert_eq!(iteration_order(&hashes, DEFAULT_CAPACITY).last(), Some(&12));
    }

    #[test]
    fn a_full_bucket_doubles_a_small_table() {
        // Nine multiples of 32 collide at 16 and at 32; at 64 every other one moves.
        let hashes: Vec<i32> = (0..9).map(|n| n * 32).collect();
        assert_eq!(iteration_order(&hashes, DEFAULT_CAPACITY), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(capacity_for_copy(12), 17);
        assert_eq!(capacity_for_copy(3), 16);
    }
}
