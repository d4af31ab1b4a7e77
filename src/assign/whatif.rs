//! Other questions than the group as it is: more members, fewer, without one, more partitions.
//!
//! Each function gives a new [`GroupInput`] for an assignor to answer. Members and topics of the old one that remain keep
//! their order; members that leave become [`Departed`], so that [`super::moves`] counts what they had as forced moves.

use std::collections::HashMap;

use super::assignment::Assignment;
use super::input::{Departed, GroupInput, MemberInput};
use super::metrics::Metrics;
use crate::model::Name;

/// Why a question makes no sense for a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    #[error("the group has no member {0}")]
    NoSuchMember(Name),
    #[error("the group has {members} members, so {wanted} cannot leave and one stay")]
    TooFewMembers { members: usize, wanted: usize },
    #[error("no member subscribes to a topic {0} that exists")]
    NoSuchTopic(Name),
    #[error("topic {topic} has {has} partitions, and Kafka cannot take any away")]
    FewerPartitions { topic: Name, has: u32 },
}

/// `count` members more, with the subscription that most members have. They own nothing and are called `new-1`, `new-2`
/// and so on. A group without members stays without: nobody knows what a new one would read.
#[must_use]
pub fn with_more_members(group: &GroupInput, count: usize) -> GroupInput {
    let mut changed = group.clone();
    let Some(like) = typical(group) else { return changed };
    let model = MemberInput { topics: group.members[like].topics.clone(), ..MemberInput::default() };
    let mut number = 0;
    while changed.members.len() < group.members.len() + count {
        number += 1;
        let id = Name::new(format!("new-{number}"));
        if group.members.iter().all(|member| member.id != id) {
            changed.members.push(MemberInput { id, ..model.clone() });
        }
    }
    changed
}

/// The first member that has the most common subscription.
fn typical(group: &GroupInput) -> Option<usize> {
    let mut seen: HashMap<Vec<u32>, (usize, usize)> = HashMap::new();
    for (place, member) in group.members.iter().enumerate() {
        let mut topics = member.topics.clone();
        topics.sort_unstable();
        seen.entry(topics).or_insert((0, place)).0 += 1;
    }
    let most = seen.into_values().max_by_key(|&(count, place)| (count, std::cmp::Reverse(place)));
    most.map(|(_, place)| place)
}

/// `count` members fewer: those with the least lag now leave, of equals the one with the fewest partitions, then the one
/// with the largest id.
///
/// # Errors
/// [`WhatIfError::TooFewMembers`] when nobody would be left.
pub fn with_fewer_members(group: &GroupInput, count: usize) -> Result<GroupInput, WhatIfError> {
    let members = group.members.len();
    if count >= members {
        return Err(WhatIfError::TooFewMembers { members, wanted: count });
    }
    let loads = Metrics::of(group, &Assignment::current(group)).loads;
    let mut order = group.members_by_id();
    order.reverse();
    order.sort_by_key(|&member| (loads[member as usize].lag, loads[member as usize].partitions));
    let mut stays = vec![true; members];
    for &member in &order[..count] {
        stays[member as usize] = false;
    }
    Ok(keep(group, &stays))
}

/// The group without one member.
///
/// # Errors
/// [`WhatIfError::NoSuchMember`] when there is none of that id.
pub fn without_member(group: &GroupInput, id: &str) -> Result<GroupInput, WhatIfError> {
    let stays: Vec<bool> = group.members.iter().map(|member| member.id.raw() != id).collect();
    if stays.iter().all(|&stays| stays) {
        return Err(WhatIfError::NoSuchMember(Name::new(id)));
    }
    Ok(keep(group, &stays))
}

fn keep(group: &GroupInput, stays: &[bool]) -> GroupInput {
    let mut changed = GroupInput { members: Vec::new(), ..group.clone() };
    for (member, &stays) in group.members.iter().zip(stays) {
        if stays {
            changed.members.push(member.clone());
        } else {
            changed.departed.push(Departed { id: member.id.clone(), owned: member.owned.clone() });
        }
    }
    changed
}

/// A topic with more partitions: the new ones are unowned, without lag and without known racks. Kafka spreads keys anew
/// then; how that changes the lag of the others is not guessed.
///
/// # Errors
/// [`WhatIfError::NoSuchTopic`] for a topic that no member reads or that does not exist, and
/// [`WhatIfError::FewerPartitions`], which Kafka cannot do.
pub fn with_partitions(group: &GroupInput, topic: &str, count: u32) -> Result<GroupInput, WhatIfError> {
    let place = group.topics.iter().position(|input| input.name.raw() == topic && input.partitions.is_some());
    let read = |place: &usize| group.members.iter().any(|member| member.topics.contains(&(*place as u32)));
    let Some(place) = place.filter(read) else { return Err(WhatIfError::NoSuchTopic(Name::new(topic))) };
    let has = group.topics[place].count();
    if count < has {
        return Err(WhatIfError::FewerPartitions { topic: group.topics[place].name.clone(), has });
    }
    let mut changed = group.clone();
    changed.topics[place].partitions = Some(count);
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::super::input::{TopicInput, TopicPartition};
    use super::super::lag_balanced;
    use super::super::moves::Moves;
    use super::*;

    /// Three members on six partitions; the last owns least lag.
    fn group() -> GroupInput {
        let member = |n: u32| MemberInput {
            id: format!("m{n}").into(),
            topics: vec![0],
            owned: (2 * n..2 * n + 2).map(|partition| TopicPartition { topic: 0, partition }).collect(),
            ..MemberInput::default()
        };
        let lags = vec![60, 50, 40, 30, 20, 10];
        let topic = TopicInput { name: "t".into(), partitions: Some(6), lags, ..TopicInput::default() };
        GroupInput { members: (0..3).map(member).collect(), topics: vec![topic], ..GroupInput::default() }
    }

    #[test]
    fn new_members_are_like_the_others() {
        let mut group = group();
        group.members[0].topics.clear();
        group.members[1].id = "new-1".into();
        let more = with_more_members(&group, 2);
        let new: Vec<(&str, &[u32])> = more.members[3..].iter().map(|m| (m.id.raw(), m.topics.as_slice())).collect();
        assert_eq!(new, [("new-2", &[0][..]), ("new-3", &[0][..])]);
        assert!(with_more_members(&GroupInput::default(), 2).members.is_empty());
    }

    #[test]
    fn those_with_the_least_lag_leave() {
        let fewer = with_fewer_members(&group(), 1).unwrap();
        assert_eq!(fewer.departed[0].id, "m2".into());
        let plan = lag_balanced::assign(&fewer);
        let moves = Moves::between(&fewer, &plan);
        assert_eq!((moves.forced.len(), plan.len()), (2, 6));
        assert!(matches!(with_fewer_members(&group(), 3), Err(WhatIfError::TooFewMembers { .. })));
    }

    #[test]
    fn one_member_leaves_by_name() {
        let without = without_member(&group(), "m0").unwrap();
        assert_eq!(without.members.len(), 2);
        assert_eq!(without.departed[0].owned.len(), 2);
        assert!(matches!(without_member(&group(), "m9"), Err(WhatIfError::NoSuchMember(_))));
    }

    #[test]
    fn partitions_can_only_be_added() {
        let more = with_partitions(&group(), "t", 8).unwrap();
        assert_eq!((more.topics[0].count(), more.topics[0].lag(7)), (8, 0));
        let plan = lag_balanced::assign(&more);
        assert_eq!((plan.len(), Moves::between(&more, &plan).forced.len()), (8, 0));
        assert!(matches!(with_partitions(&group(), "t", 5), Err(WhatIfError::FewerPartitions { has: 6, .. })));
        assert!(matches!(with_partitions(&group(), "gone", 5), Err(WhatIfError::NoSuchTopic(_))));
    }
}
