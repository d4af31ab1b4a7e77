//! What changed hands: the difference between what members held at the end of one rebalance and at the end of the next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::rebalance::{LISTED, Move, Moves, Who};
use crate::model::{Name, TopicPartitions};

/// A member and what it held; `None`: it cannot be decoded.
pub type Holding = (Arc<Who>, Option<TopicPartitions>);

/// Who holds each partition.
type Owners = BTreeMap<(Name, i32), Vec<Arc<Who>>>;

/// What the whole group holds now.
#[derive(Debug)]
pub enum Held {
    /// So many partitions, each held by one member.
    Each(usize),
    /// These, held by any number of members (share groups).
    Together(BTreeSet<(Name, i32)>),
}

/// Partitions that nobody holds for now, and who had them last: a cooperative rebalance takes a partition away in one
/// round and hands it out in the next.
#[derive(Debug, Clone, Default)]
pub struct Free(BTreeMap<(Name, i32), Arc<Who>>);

/// More are not remembered.
const FREE: usize = 20_000;

impl Free {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn put(&mut self, partition: (Name, i32), who: Arc<Who>) {
        if self.0.len() < FREE {
            self.0.insert(partition, who);
        }
    }
}

/// Partitions of a topic that members hold, or that are between two of them: how many, and the highest number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    pub count: usize,
    highest: usize,
}

impl Extent {
    /// Partitions of the topic before and now, if it has more now: all of them were handed out before, and now one
    /// beyond them is.
    pub fn grown(self, now: Self) -> Option<(usize, usize)> {
        (self.count == self.highest + 1 && now.highest > self.highest).then_some((self.count, now.highest + 1))
    }
}

/// The extent of each topic, of partitions that one member each holds.
pub fn extents<'a>(held: impl Iterator<Item = &'a Option<TopicPartitions>>, free: &Free) -> BTreeMap<Name, Extent> {
    let mut extents: BTreeMap<Name, Extent> = BTreeMap::new();
    let mut add = |topic: &Name, partitions: &[i32]| {
        let Some(highest) = partitions.iter().max().and_then(|highest| usize::try_from(*highest).ok()) else { return };
        let extent = extents.entry(topic.clone()).or_default();
        extent.count += partitions.len();
        extent.highest = extent.highest.max(highest);
    };
    held.flatten().flatten().for_each(|(topic, partitions)| add(topic, partitions));
    free.0.keys().for_each(|(topic, partition)| add(topic, &[*partition]));
    extents
}

/// Compares what some members held before with what some hold now: those for which the two may differ.
pub fn between(before: &[Holding], now: &[Holding], held: &Held, free: &mut Free) -> Option<Moves> {
    let (mut lost, mut gained) = (owners(before)?, owners(now)?);
    // What a member, or the static member that it continues, held before and holds now has not moved.
    lost.retain(|partition, losers| {
        let Some(gainers) = gained.get_mut(partition) else { return true };
        losers.retain(|loser| {
            let kept = gainers.iter().position(|gainer| gainer.is(loser));
            kept.map(|place| gainers.remove(place)).is_none()
        });
        !losers.is_empty()
    });
    gained.retain(|_, gainers| !gainers.is_empty());
    let of = match held {
        Held::Each(count) => *count,
        Held::Together(partitions) => partitions.len(),
    };
    let mut moves = Moves { of, ..Moves::default() };
    for (partition, losers) in lost {
        let gainers = gained.remove(&partition).unwrap_or_default();
        let pairs = losers.len().max(gainers.len());
        for place in 0..pairs {
            let (from, to) = (losers.get(place).cloned(), gainers.get(place).cloned());
            match (&from, &to) {
                (Some(_), Some(_)) => moves.moved += 1,
                (Some(who), None) => {
                    moves.dropped += 1;
                    match held {
                        Held::Each(_) if gainers.is_empty() => {
                            moves.of += 1;
                            free.put(partition.clone(), Arc::clone(who));
                        }
                        Held::Together(others) if place == 0 && !others.contains(&partition) => moves.of += 1,
                        _ => {}
                    }
                }
                _ => moves.taken += 1,
            }
            list(&mut moves, &partition, from, to);
        }
    }
    for (partition, gainers) in gained {
        let mut holder = free.0.remove(&partition);
        for to in gainers {
            let from = holder.take();
            match &from {
                // It got back what it had given up.
                Some(who) if who.is(&to) => continue,
                Some(_) => moves.moved += 1,
                None => moves.taken += 1,
            }
            list(&mut moves, &partition, from, Some(to));
        }
    }
    moves
        .list
        .sort_unstable_by(|a, b| (&a.topic, a.partition, &a.from, &a.to).cmp(&(&b.topic, b.partition, &b.from, &b.to)));
    Some(moves)
}

fn list(moves: &mut Moves, (topic, partition): &(Name, i32), from: Option<Arc<Who>>, to: Option<Arc<Who>>) {
    if moves.list.len() < LISTED {
        moves.list.push(Move { topic: topic.clone(), partition: *partition, from, to });
    }
}

/// Who holds what; `None` where a member's part cannot be decoded. Share groups give a partition to several members.
fn owners(holdings: &[Holding]) -> Option<Owners> {
    let mut owners = Owners::new();
    for (who, held) in holdings {
        for (topic, partitions) in held.as_ref()? {
            for partition in partitions {
                owners.entry((topic.clone(), *partition)).or_default().push(Arc::clone(who));
            }
        }
    }
    Some(owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(id: &str) -> Arc<Who> {
        Arc::new(Who { id: id.into(), ..Who::default() })
    }

    fn holding(id: &str, partitions: &[i32]) -> Holding {
        (who(id), Some(BTreeMap::from([("t".into(), partitions.to_vec())])))
    }

    fn shown(moves: &Moves) -> Vec<String> {
        let name = |who: &Option<Arc<Who>>| who.as_ref().map_or("-".to_owned(), |who| who.id.to_string());
        moves.list.iter().map(|m| format!("{}-{} {}>{}", m.topic, m.partition, name(&m.from), name(&m.to))).collect()
    }

    #[test]
    fn each_kind_of_change_is_counted() {
        let mut free = Free::default();
        let (before, now) = ([holding("a", &[0, 1, 2])], [holding("a", &[0]), holding("b", &[1, 3])]);
        let moves = between(&before, &now, &Held::Each(3), &mut free).unwrap();
        assert_eq!((moves.moved, moves.taken, moves.dropped, moves.of), (1, 1, 1, 4));
        assert_eq!(shown(&moves), ["t-1 a>b", "t-2 a>-", "t-3 ->b"]);
        // The next round hands out what was given up: it came from a.
        let moves = between(&[holding("b", &[1, 3])], &[holding("b", &[1, 2, 3])], &Held::Each(4), &mut free).unwrap();
        assert_eq!((moves.moved, moves.taken, moves.of), (1, 0, 4));
        assert_eq!(shown(&moves), ["t-2 a>b"]);
        assert!(free.is_empty());
    }

    #[test]
    fn who_gets_its_own_back_has_not_moved_anything() {
        let mut free = Free::default();
        between(&[holding("a", &[0])], &[holding("a", &[])], &Held::Each(0), &mut free);
        let moves = between(&[holding("a", &[])], &[holding("a", &[0])], &Held::Each(1), &mut free).unwrap();
        assert_eq!(moves, Moves { of: 1, ..Moves::default() });
    }

    #[test]
    fn a_static_member_keeps_its_partitions_under_a_new_id() {
        let named = |id: &str| Arc::new(Who { instance_id: Some("i".into()), ..(*who(id)).clone() });
        let held = || Some(BTreeMap::from([("t".into(), vec![0, 1])]));
        let moves =
            between(&[(named("a"), held())], &[(named("b"), held())], &Held::Each(2), &mut Free::default()).unwrap();
        assert_eq!(moves, Moves { of: 2, ..Moves::default() });
    }

    #[test]
    fn share_members_hold_a_partition_together() {
        let mut free = Free::default();
        let before = [holding("a", &[0]), holding("b", &[0])];
        let now = [holding("b", &[0]), holding("c", &[0]), holding("d", &[0])];
        let together = Held::Together(BTreeSet::from([("t".into(), 0)]));
        let moves = between(&before, &now, &together, &mut free).unwrap();
        assert_eq!(shown(&moves), ["t-0 ->d", "t-0 a>c"]);
        assert_eq!((moves.moved, moves.taken, moves.of), (1, 1, 1));
        assert!(free.is_empty());
    }

    #[test]
    fn what_cannot_be_decoded_is_unknown() {
        assert_eq!(between(&[(who("a"), None)], &[], &Held::Each(0), &mut Free::default()), None);
    }
}
