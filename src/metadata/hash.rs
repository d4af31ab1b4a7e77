//! The topic hash and the group hash of Kafka 4.1 to 4.4, bit for bit: XXH3-64 with seed 0 over a byte stream that
//! `org.apache.kafka.coordinator.group.Utils` feeds to hash4j (KIP-1101).
//!
//! | hash | bytes, integers little-endian |
//! | --- | --- |
//! | topic | 0u8 · id, most then least significant i64 · string name · i32 partitions · for each: i32 number, and for each of its racks, sorted: i32 UTF-16 units, string rack |
//! | group | the topic hashes as i64, in the order of the topics' names |
//!
//! A string is its UTF-16 units, then their count as i32.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::TopicInput;
use crate::model::Name;

/// Hashed whenever so many bytes have been gathered: stays in the first-level cache.
const CHUNK: usize = 8 << 10;

/// `Utils.computeTopicHash` of a topic that exists. (Java gives 0 for one that does not; here there is no input then.)
pub fn topic_hash(input: &TopicInput) -> i64 {
    // Each rack is encoded once, however many partitions have a replica there; and partitions that follow each other
    // mostly have the same racks, so their part of the stream is copied in one piece.
    let racks: Vec<Vec<u8>> = input.racks().iter().map(encoded_rack).collect();
    let (mut last, mut piece): (&[u32], Vec<u8>) = (&[], Vec::new());
    let mut hash = Xxh3Default::new();
    let mut bytes = Vec::with_capacity(CHUNK * 2);
    bytes.push(0);
    let (high, low) = input.id().as_u64_pair();
    bytes.extend(high.to_le_bytes());
    bytes.extend(low.to_le_bytes());
    put_string(&mut bytes, input.name());
    bytes.extend((input.partition_count() as i32).to_le_bytes());
    for (number, ranks) in (0i32..).zip(input.partitions()) {
        bytes.extend(number.to_le_bytes());
        if ranks != last {
            piece.clear();
            for &rank in ranks {
                piece.extend_from_slice(&racks[rank as usize]);
            }
            last = ranks;
        }
        bytes.extend_from_slice(&piece);
        if bytes.len() >= CHUNK {
            hash.update(&bytes);
            bytes.clear();
        }
    }
    hash.update(&bytes);
    hash.digest() as i64
}

/// `Utils.computeGroupHash`: of the subscribed topics that exist, each once, in any order. 0 without any.
///
/// The names give the order and are not hashed themselves (each topic's hash has its name).
pub fn group_hash<'a>(topics: impl IntoIterator<Item = (&'a Name, i64)>) -> i64 {
    let mut topics: Vec<_> = topics.into_iter().collect();
    if topics.is_empty() {
        return 0;
    }
    topics.sort_unstable_by(|(a, _), (b, _)| a.cmp_utf16(b));
    let bytes: Vec<u8> = topics.iter().flat_map(|(_, hash)| hash.to_le_bytes()).collect();
    xxh3_64(&bytes) as i64
}

/// Yes, the length twice: `putInt(rack.length()).putString(rack)`, and hash4j adds the length to every string.
fn encoded_rack(rack: &Name) -> Vec<u8> {
    let mut bytes = Vec::new();
    let units = rack.raw().encode_utf16().count() as i32;
    bytes.extend(units.to_le_bytes());
    put_string(&mut bytes, rack);
    bytes
}

fn put_string(bytes: &mut Vec<u8>, name: &Name) {
    let mut units = 0i32;
    for unit in name.raw().encode_utf16() {
        bytes.extend(unit.to_le_bytes());
        units += 1;
    }
    bytes.extend(units.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ID: Uuid = Uuid::from_u128(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210);

    fn hash(id: Uuid, name: &str, partitions: &[&[&str]]) -> i64 {
        let partitions = partitions.iter().map(|racks| racks.iter().copied().map(Some));
        topic_hash(&TopicInput::new(id, name.into(), partitions))
    }

    /// Computed by an independent model of XXH3 and of the byte stream.
    #[test]
    fn golden_topic_hashes() {
        assert_eq!(hash(ID, "foo", &[&["rack1", "rack0"], &["rack2", "rack1"]]), 4_231_092_367_357_902_416);
        let bar = Uuid::from_u64_pair(0x1111_1111_1111_1111, 0x2222_2222_2222_2222);
        assert_eq!(hash(bar, "bar", &[&[]]), 8_733_119_781_167_439_863);
        assert_eq!(hash(Uuid::nil(), "empty", &[]), 728_769_691_835_767_132);
        assert_eq!(hash(ID, "foo", &[&["r", "r"]]), 2_883_780_561_648_472_600);
        assert_eq!(hash(ID, "foo", &[&["\u{e000}", "\u{1f600}"]]), 4_767_223_826_197_171_634);
        assert_eq!(hash(ID, "té", &[&["é"]]), 480_043_309_326_700_168);
    }

    #[test]
    fn golden_group_hashes() {
        let (foo, bar) = (&Name::new("foo"), &Name::new("bar"));
        let foo_hash = hash(ID, "foo", &[&["rack1", "rack0"], &["rack2", "rack1"]]);
        let bar_id = Uuid::from_u64_pair(0x1111_1111_1111_1111, 0x2222_2222_2222_2222);
        let bar_hash = hash(bar_id, "bar", &[&[]]);
        assert_eq!(group_hash([]), 0);
        assert_eq!(group_hash([(foo, foo_hash)]), -3_651_539_661_068_893_492);
        assert_eq!(group_hash([(foo, foo_hash), (bar, bar_hash)]), -556_879_919_459_959_918);
        assert_eq!(group_hash([(bar, bar_hash), (foo, foo_hash)]), -556_879_919_459_959_918);
        assert_eq!(group_hash([(foo, 456), (bar, 123)]), 1_482_712_172_080_382_793);
    }

    /// apache/kafka KRaftCoordinatorMetadataImage: the racks of a partition are a list, not a set; null is skipped.
    #[test]
    fn duplicate_and_missing_racks() {
        assert_ne!(hash(ID, "t", &[&["a", "b", "b"]]), hash(ID, "t", &[&["a", "a", "b"]]));
        assert_eq!(hash(ID, "t", &[&["b", "a"]]), hash(ID, "t", &[&["a", "b"]]));
        let with_null = TopicInput::new(ID, "t".into(), [[None, Some("a")]]);
        assert_eq!(topic_hash(&with_null), hash(ID, "t", &[&["a"]]));
    }

    #[test]
    fn longer_than_a_chunk_is_the_same_stream() {
        let racks: &[&str] = &["rack-a", "rack-b", "rack-c"];
        let partitions = vec![racks; 1000];
        let input = TopicInput::new(ID, "t".into(), partitions.iter().map(|p| p.iter().copied().map(Some)));
        let mut bytes = vec![0];
        bytes.extend(0x0123_4567_89ab_cdef_u64.to_le_bytes());
        bytes.extend(0xfedc_ba98_7654_3210_u64.to_le_bytes());
        put_string(&mut bytes, input.name());
        bytes.extend(1000i32.to_le_bytes());
        for number in 0..1000i32 {
            bytes.extend(number.to_le_bytes());
            for rack in racks {
                bytes.extend(6i32.to_le_bytes());
                put_string(&mut bytes, &Name::new(rack));
            }
        }
        assert_eq!(topic_hash(&input), xxh3_64(&bytes) as i64);
    }
}
