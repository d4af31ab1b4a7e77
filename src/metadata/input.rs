//! [`TopicInput`]: exactly what goes into a topic hash, and nothing else.

use std::collections::HashMap;

use uuid::Uuid;

use crate::model::Name;

/// What the hash of a topic is computed from: two inputs are equal if and only if Kafka hashes the same bytes.
///
/// Leaders, in-sync replicas, broker ids and the order of replicas are not in it. The racks of a partition are a
/// multiset: one for each replica on a registered broker that has a rack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInput {
    id: Uuid,
    name: Name,
    /// The racks that occur, each once, in Java's string order.
    racks: Vec<Name>,
    /// Indexes into `racks`, ascending in each partition; the partitions one after the other.
    ranks: Vec<u32>,
    /// For each partition, by number, where its part of `ranks` ends.
    ends: Vec<u32>,
}

impl TopicInput {
    /// `partitions` are those with the numbers 0, 1, 2, …; each gives the rack of each of its replicas in any order,
    /// `None` for a broker without rack or one that is not registered.
    pub fn new<'a, P>(id: Uuid, name: Name, partitions: P) -> Self
    where
        P: IntoIterator<Item: IntoIterator<Item = Option<&'a str>>>,
    {
        let partitions = partitions.into_iter();
        let expected = partitions.size_hint().0;
        let mut distinct = Distinct::default();
        let mut ranks: Vec<u32> = Vec::with_capacity(expected * 3);
        let mut ends: Vec<u32> = Vec::with_capacity(expected);
        for partition in partitions {
            ranks.extend(partition.into_iter().flatten().map(|rack| distinct.index_of(rack)));
            ends.push(ranks.len() as u32);
        }
        let (sorted, places) = distinct.sorted();
        for rank in &mut ranks {
            *rank = places[*rank as usize];
        }
        let mut start = 0;
        for &end in &ends {
            let partition = &mut ranks[start..end as usize];
            if !partition.is_sorted() {
                partition.sort_unstable();
            }
            start = end as usize;
        }
        Self { id, name, racks: sorted, ranks, ends }
    }

    pub fn id(&self) -> Uuid {
        self.id
    }

    pub fn name(&self) -> &Name {
        &self.name
    }

    pub fn partition_count(&self) -> usize {
        self.ends.len()
    }

    /// The racks that occur, in Java's string order.
    pub fn racks(&self) -> &[Name] {
        &self.racks
    }

    /// For each partition, by number: indexes into [`TopicInput::racks`], ascending, duplicates kept.
    pub fn partitions(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let ranks = &self.ranks[start..end as usize];
            start = end as usize;
            ranks
        })
    }

    /// The racks of one partition, sorted; empty if it does not exist.
    pub fn racks_of(&self, partition: usize) -> impl Iterator<Item = &Name> {
        let ranks = self.partitions().nth(partition).unwrap_or_default();
        ranks.iter().filter_map(|&rank| self.racks.get(rank as usize))
    }

    /// Bytes that this input holds, for stating the cost of the watch.
    pub fn heap_size(&self) -> usize {
        let names: usize = self.racks.iter().map(|rack| size_of::<Name>() + rack.raw().len()).sum();
        names + size_of::<u32>() * (self.ranks.capacity() + self.ends.capacity())
    }
}

/// Numbers the distinct racks of one topic in the order in which they turn up.
#[derive(Default)]
struct Distinct<'a> {
    racks: Vec<&'a str>,
    /// Only for more than [`Distinct::FEW`] racks; looking through a few is faster than hashing.
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Distinct<'a> {
    const FEW: usize = 12;

    fn index_of(&mut self, rack: &'a str) -> u32 {
        if self.racks.len() <= Self::FEW {
            // Mostly it is the very same text, which needs no comparing.
            let same = self.racks.iter().position(|&known| std::ptr::eq(known, rack));
            // Racks of one cluster mostly differ in their last character alone.
            let last = rack.as_bytes().last();
            let equal = |known: &&str| known.as_bytes().last() == last && *known == rack;
            if let Some(index) = same.or_else(|| self.racks.iter().position(equal)) {
                return index as u32;
            }
        } else if let Some(&index) = self.numbers.get(rack) {
            return index;
        }
        let index = self.racks.len() as u32;
        self.racks.push(rack);
        if self.racks.len() == Self::FEW + 1 {
            self.numbers = self.racks.iter().copied().zip(0..).collect();
        } else if self.racks.len() > Self::FEW {
            self.numbers.insert(rack, index);
        }
        index
    }

    /// The racks in Java's order, and the place there of each index.
    fn sorted(self) -> (Vec<Name>, Vec<u32>) {
        let mut racks: Vec<(Name, usize)> =
            self.racks.iter().enumerate().map(|(index, rack)| (Name::new(rack), index)).collect();
        racks.sort_unstable_by(|(a, _), (b, _)| a.cmp_utf16(b));
        let mut places = vec![0; racks.len()];
        for (place, &(_, index)) in (0u32..).zip(&racks) {
            places[index] = place;
        }
        (racks.into_iter().map(|(rack, _)| rack).collect(), places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(partitions: &[&[Option<&str>]]) -> TopicInput {
        TopicInput::new(Uuid::nil(), "t".into(), partitions.iter().map(|p| p.iter().copied()))
    }

    #[test]
    fn order_of_replicas_and_missing_racks_are_not_in_it() {
        let a = input(&[&[Some("b"), Some("a"), None], &[]]);
        assert_eq!(a, input(&[&[Some("a"), Some("b")], &[None]]));
        assert_ne!(a, input(&[&[Some("a"), Some("b"), Some("b")], &[]]));
        assert_ne!(a, input(&[&[Some("a"), Some("b")]]));
        assert_eq!(a.racks_of(0).map(Name::raw).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(a.racks_of(7).count(), 0);
    }

    #[test]
    fn racks_sort_by_utf16_units() {
        let a = input(&[&[Some("\u{e000}"), Some("\u{1f600}")]]);
        assert_eq!(a.racks_of(0).map(Name::raw).collect::<Vec<_>>(), ["\u{1f600}", "\u{e000}"]);
    }

    #[test]
    fn many_racks_are_numbered_like_few() {
        let names: Vec<String> = (0..40).map(|n| format!("rack-{:02}", n * 7 % 40)).collect();
        let once: Vec<Option<&str>> = names.iter().map(|n| Some(n.as_str())).collect();
        let twice = [&once[..], &once[..]].concat();
        let a = input(&[&once, &twice]);
        assert_eq!(a.racks().len(), 40);
        assert!(a.racks().is_sorted());
        assert_eq!(a.racks_of(1).count(), 80);
        assert!(a.racks_of(1).is_sorted());
    }
}
