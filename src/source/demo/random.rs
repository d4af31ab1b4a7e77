//! The simulation's own generator of pseudo-random numbers (SplitMix64): the same seed gives the same incident.

use uuid::{Builder, Uuid};

use crate::model::Name;

#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, or 0. Slightly uneven, which does not matter here.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    /// A random (version 4) UUID.
    pub fn uuid(&mut self) -> Uuid {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }

    /// A UUID as Kafka's `Uuid.toString` writes it (22 characters of URL-safe base64): the member ids of KIP-848.
    pub fn kafka_uuid(&mut self) -> Name {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let bits = self.uuid().as_u128();
        // The last letter holds the 2 bits that are left, followed by zeros.
        let sextet = |place: u32| if place < 21 { bits >> (122 - 6 * place) } else { bits << 4 };
        let letters: Vec<u8> = (0..22).map(|place| LETTERS[(sextet(place) & 63) as usize]).collect();
        Name::from_bytes(&letters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn ids_look_like_kafkas() {
        let mut random = Random::new(1);
        assert_eq!(random.uuid().get_version_num(), 4);
        let (one, two) = (random.kafka_uuid(), random.kafka_uuid());
        assert_eq!(one.raw().len(), 22);
        assert_ne!(one, two);
    }
}
