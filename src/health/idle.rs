//! Why a member has no partitions.

use std::fmt;

use crate::assign::GroupInput;

/// The first reason that applies to a member without partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleReason {
    /// A rebalance is under way: it may get some.
    Rebalancing,
    /// It subscribes to nothing that exists.
    NothingSubscribed,
    /// The topics that it subscribes to have fewer partitions than subscribers.
    MoreMembersThanPartitions { members: usize, partitions: usize },
    /// The assignor left it out although there are enough partitions (range over several small topics).
    LeftOut,
}

impl IdleReason {
    /// The reason for member `member` of `group`, which holds nothing. `settled`: no rebalance is under way.
    pub fn of(group: &GroupInput, member: usize, settled: bool) -> Self {
        if !settled {
            return Self::Rebalancing;
        }
        let existing = |topic: &&u32| group.topics.get(**topic as usize).is_some_and(|topic| topic.count() > 0);
        let topics: Vec<u32> = group.members[member].topics.iter().filter(existing).copied().collect();
        if topics.is_empty() {
            return Self::NothingSubscribed;
        }
        let partitions = topics.iter().map(|topic| group.topics[*topic as usize].count() as usize).sum();
        let subscribes = |other: &&crate::assign::MemberInput| other.topics.iter().any(|topic| topics.contains(topic));
        let members = group.members.iter().filter(subscribes).count();
        if members > partitions {
            return Self::MoreMembersThanPartitions { members, partitions };
        }
        Self::LeftOut
    }
}

impl fmt::Display for IdleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebalancing => f.write_str("a rebalance is under way"),
            Self::NothingSubscribed => f.write_str("nothing that it subscribes to exists"),
            Self::MoreMembersThanPartitions { members, partitions } => {
                write!(f, "{members} members > {partitions} partitions")
            }
            Self::LeftOut => f.write_str("left out by the assignor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::{MemberInput, TopicInput};

    fn group(members: usize, partitions: &[u32]) -> GroupInput {
        let topics = partitions.iter().map(|count| TopicInput { partitions: Some(*count), ..TopicInput::default() });
        let topics: Vec<_> = topics.collect();
        let subscribed = (0..topics.len() as u32).collect::<Vec<_>>();
        let member = MemberInput { topics: subscribed, ..MemberInput::default() };
        GroupInput { members: vec![member; members], topics, ..GroupInput::default() }
    }

    #[test]
    fn each_reason_has_its_case() {
        let eight_on_six = IdleReason::of(&group(8, &[6]), 7, true);
        assert_eq!(eight_on_six, IdleReason::MoreMembersThanPartitions { members: 8, partitions: 6 });
        assert_eq!(eight_on_six.to_string(), "8 members > 6 partitions");
        assert_eq!(IdleReason::of(&group(8, &[6]), 7, false), IdleReason::Rebalancing);
        assert_eq!(IdleReason::of(&group(4, &[2, 2]), 3, true), IdleReason::LeftOut);
        assert_eq!(IdleReason::of(&group(1, &[0]), 0, true), IdleReason::NothingSubscribed);
        assert_eq!(IdleReason::of(&group(1, &[]), 0, true), IdleReason::NothingSubscribed);
    }
}
