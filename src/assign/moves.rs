//! [`Moves`]: what a plan would take from whom. Each voluntary move costs a consumer its place in a partition and the
//! group a pause; a forced one happens under any plan.

use super::assignment::Assignment;
use super::flat::{Flat, Grouped};
use super::input::{GroupInput, TopicPartition};

/// Who has a partition now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A member: place in [`GroupInput::members`].
    Member(u32),
    /// A member that is gone: place in [`GroupInput::departed`].
    Departed(u32),
}

impl Default for Owner {
    fn default() -> Self {
        Self::Member(0)
    }
}

/// One partition that changes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub partition: TopicPartition,
    pub from: Owner,
    /// Place in [`GroupInput::members`].
    pub to: u32,
}

/// What changes from the current assignment to a plan. Lists are in the order of topics and partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// The owner is present and subscribed, and loses the partition to another member.
    pub voluntary: Vec<Move>,
    /// The owner is gone or no longer subscribes to the topic, so the partition moves under any plan.
    pub forced: Vec<Move>,
    /// Partitions that nobody had and somebody gets: no move. Of shared partitions: members that come in addition.
    pub taken: Vec<(TopicPartition, u32)>,
    /// Partitions that an owner loses to nobody (withheld until the next round, or claimed by two and kept by one).
    pub released: Vec<(TopicPartition, Owner)>,
}

impl Moves {
    /// Partitions that change hands, forced or not.
    pub fn count(&self) -> usize {
        self.voluntary.len() + self.forced.len()
    }

    /// Compares the current assignment of `group` with `plan`. Owned partitions that no longer exist are ignored.
    pub fn between(group: &GroupInput, plan: &Assignment) -> Self {
        let flat = &Flat::of(group);
        let before = owners(group, flat);
        let planned = plan.members.iter().enumerate();
        let after = Grouped::new(
            flat.len(),
            planned.flat_map(|(m, tps)| tps.iter().filter_map(move |&tp| Some((flat.number(tp)?, m)))),
        );
        let mut moves = Self::default();
        for number in 0..flat.len() as u32 {
            let partition = flat.partition(number);
            let (owners, heirs) = (before.at(number), after.at(number));
            let mut losers =
                owners.iter().copied().filter(|owner| !heirs.iter().any(|&heir| *owner == Owner::Member(heir as u32)));
            for &heir in heirs {
                let to = heir as u32;
                if owners.contains(&Owner::Member(to)) {
                    continue;
                }
                match losers.next() {
                    None => moves.taken.push((partition, to)),
                    Some(from) if is_forced(group, from, partition.topic) => {
                        moves.forced.push(Move { partition, from, to });
                    }
                    Some(from) => moves.voluntary.push(Move { partition, from, to }),
                }
            }
            moves.released.extend(losers.map(|from| (partition, from)));
        }
        moves
    }
}

/// The owners of each existing partition, by its flat number.
pub(super) fn owners(group: &GroupInput, flat: &Flat) -> Grouped<Owner> {
    let present = group.members.iter().enumerate().map(|(m, member)| (Owner::Member(m as u32), &member.owned));
    let departed = group.departed.iter().enumerate().map(|(d, gone)| (Owner::Departed(d as u32), &gone.owned));
    let all = present.chain(departed);
    let numbered = all.flat_map(|(owner, owned)| owned.iter().filter_map(move |&tp| Some((flat.number(tp)?, owner))));
    Grouped::new(flat.len(), numbered)
}

/// True when the partition has to leave its owner under any plan.
fn is_forced(group: &GroupInput, owner: Owner, topic: u32) -> bool {
    match owner {
        Owner::Departed(_) => true,
        Owner::Member(m) => !group.members[m as usize].topics.contains(&topic),
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{Departed, MemberInput, TopicInput};
    use super::super::lag_based;
    use super::*;

    fn tp(partition: u32) -> TopicPartition {
        TopicPartition { topic: 0, partition }
    }

    fn group(lags: &[u64], current: &[&[u32]]) -> GroupInput {
        let member = |(m, owned): (usize, &&[u32])| MemberInput {
            id: format!("m{m}").into(),
            topics: vec![0],
            owned: owned.iter().map(|&p| tp(p)).collect(),
            ..MemberInput::default()
        };
        let topic = TopicInput { partitions: Some(lags.len() as u32), lags: lags.to_vec(), ..TopicInput::default() };
        let members = current.iter().enumerate().map(member).collect();
        GroupInput { members, topics: vec![topic], ..GroupInput::default() }
    }

    fn plan(members: &[&[u32]]) -> Assignment {
        Assignment { members: members.iter().map(|owned| owned.iter().map(|&p| tp(p)).collect()).collect() }
    }

    #[test]
    fn taking_what_nobody_has_is_no_move() {
        let moves = Moves::between(&group(&[1, 1, 1], &[&[0], &[]]), &plan(&[&[0, 2], &[1]]));
        assert_eq!((moves.count(), moves.taken.len()), (0, 2));
    }

    #[test]
    fn forced_moves_are_told_apart() {
        let mut group = group(&[1, 1, 1, 1], &[&[0], &[1, 2]]);
        group.departed.push(Departed { id: "gone".into(), owned: vec![tp(3)] });
        let moves = Moves::between(&group, &plan(&[&[0, 1, 2, 3], &[]]));
        assert_eq!((moves.voluntary.len(), moves.forced.len()), (2, 1));
        assert_eq!(moves.forced, [Move { partition: tp(3), from: Owner::Departed(0), to: 0 }]);
        group.members[1].topics.clear();
        assert_eq!(Moves::between(&group, &plan(&[&[0, 1, 2, 3], &[]])).forced.len(), 3);
    }

    #[test]
    fn withheld_and_doubly_claimed_partitions_are_released() {
        let moves = Moves::between(&group(&[1, 1], &[&[0, 1], &[1]]), &plan(&[&[], &[1]]));
        assert_eq!(moves.count(), 0);
        assert_eq!(moves.released, [(tp(0), Owner::Member(0)), (tp(1), Owner::Member(0))]);
    }

    /// CASES 56: lags swapped by one record may flip a plan; the number of moved partitions tells.
    #[test]
    fn a_flip_shows_as_moves() {
        let mut group = group(&[11, 10], &[&[0], &[1]]);
        assert_eq!(Moves::between(&group, &lag_based::assign(&group)).count(), 0);
        group.topics[0].lags = vec![10, 11];
        assert_eq!(Moves::between(&group, &lag_based::assign(&group)).voluntary.len(), 2);
    }
}
