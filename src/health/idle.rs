//! Why a member has no partitions.

use std::fmt;

use crate::assign::GroupInput;
use crate::model::figures::plural;
use crate::model::{Tasks, TopicPartitions};

/// The first reason that applies to a member without partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleReason {
    /// A rebalance is under way: it may get some.
    Rebalancing,
    /// The group's target gives it some, which their owners have not given up yet.
    WaitsForRevocation { partitions: usize },
    /// It joined after the assignment was made.
    JoinedSince,
    /// It subscribes to nothing that exists.
    NothingSubscribed,
    /// The topics that it subscribes to have fewer partitions than subscribers.
    MoreMembersThanPartitions { members: usize, partitions: usize },
    /// The assignor left it out although there are enough partitions (range over several small topics), or tasks.
    LeftOut,
    /// Streams: nobody is given tasks.
    NotReady,
    /// Streams: it keeps copies of what others do.
    NoActiveTask { standby: bool, warmup: bool },
    /// Streams: there are fewer tasks than members.
    MoreMembersThanTasks { members: usize, tasks: usize },
}

/// Where a member without partitions is in its group's rebalance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has what it shall have: nothing.
    Settled,
    Rebalancing,
    /// It shall have so many partitions, and has none of them yet.
    Awaits(usize),
    /// It is not in the assignment that the group has.
    Joined,
    /// Streams: a topic of the topology is missing, or the coordinator has not looked yet.
    NotReady,
}

impl Standing {
    /// Why it has nothing yet; `None`: it has what it shall have.
    fn reason(self) -> Option<IdleReason> {
        match self {
            Self::Settled => None,
            Self::Rebalancing => Some(IdleReason::Rebalancing),
            Self::Awaits(partitions) => Some(IdleReason::WaitsForRevocation { partitions }),
            Self::Joined => Some(IdleReason::JoinedSince),
            Self::NotReady => Some(IdleReason::NotReady),
        }
    }
}

impl IdleReason {
    /// Whether it goes by what the members subscribe to.
    pub fn needs_subscriptions(self) -> bool {
        matches!(self, Self::NothingSubscribed | Self::MoreMembersThanPartitions { .. } | Self::LeftOut)
    }

    /// The reason for member `member` of `group`, which holds nothing and is at that point.
    pub fn of(group: &GroupInput, member: usize, at: Standing) -> Self {
        if let Some(reason) = at.reason() {
            return reason;
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

    /// The reason for a member of a streams group that has these tasks, none of them active; `tasks`: how many are active
    /// in all.
    pub fn of_tasks(own: &Tasks, members: usize, tasks: usize, at: Standing) -> Self {
        let any = |tasks: &TopicPartitions| tasks.values().any(|numbers| !numbers.is_empty());
        let (standby, warmup) = (any(&own.standby), any(&own.warmup));
        match at.reason() {
            Some(reason) => reason,
            None if standby || warmup => Self::NoActiveTask { standby, warmup },
            None if members > tasks => Self::MoreMembersThanTasks { members, tasks },
            None => Self::LeftOut,
        }
    }
}

impl fmt::Display for IdleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebalancing => f.write_str("a rebalance is under way"),
            Self::WaitsForRevocation { partitions: 1 } => f.write_str("waits for 1 partition that another still has"),
            Self::WaitsForRevocation { partitions } => {
                write!(f, "waits for {partitions} partitions that others still have")
            }
            Self::JoinedSince => f.write_str("joined since the last rebalance"),
            Self::NothingSubscribed => f.write_str("nothing that it subscribes to exists"),
            Self::MoreMembersThanPartitions { members, partitions } => {
                write!(f, "{members} members > {}", plural(*partitions, "partition"))
            }
            Self::LeftOut => f.write_str("left out by the assignor"),
            Self::NotReady => f.write_str("no tasks while the group is NotReady"),
            Self::NoActiveTask { warmup: false, .. } => f.write_str("standby tasks only"),
            Self::NoActiveTask { standby: false, .. } => f.write_str("warm-up tasks only"),
            Self::NoActiveTask { .. } => f.write_str("standby and warm-up tasks only"),
            Self::MoreMembersThanTasks { members, tasks } => {
                write!(f, "{members} members > {}", plural(*tasks, "task"))
            }
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
        let eight_on_six = IdleReason::of(&group(8, &[6]), 7, Standing::Settled);
        assert_eq!(eight_on_six, IdleReason::MoreMembersThanPartitions { members: 8, partitions: 6 });
        assert_eq!(eight_on_six.to_string(), "8 members > 6 partitions");
        let of = |members, partitions: &[u32], at| IdleReason::of(&group(members, partitions), members - 1, at);
        assert_eq!(of(8, &[6], Standing::Rebalancing), IdleReason::Rebalancing);
        assert_eq!(of(8, &[6], Standing::Awaits(2)), IdleReason::WaitsForRevocation { partitions: 2 });
        assert_eq!(of(8, &[6], Standing::Joined), IdleReason::JoinedSince);
        assert_eq!(of(4, &[2, 2], Standing::Settled), IdleReason::LeftOut);
        assert_eq!(of(1, &[0], Standing::Settled), IdleReason::NothingSubscribed);
        assert_eq!(of(1, &[], Standing::Settled), IdleReason::NothingSubscribed);
    }

    #[test]
    fn a_streams_member_without_active_tasks_says_why() {
        let some = || TopicPartitions::from([("0".into(), vec![1])]);
        let none = || TopicPartitions::from([("0".into(), Vec::new())]);
        let says = |standby, warmup, members, at| {
            let own = Tasks { standby, warmup, ..Tasks::default() };
            IdleReason::of_tasks(&own, members, 4, at).to_string()
        };
        assert_eq!(says(some(), none(), 5, Standing::Settled), "standby tasks only");
        assert_eq!(says(none(), some(), 5, Standing::Settled), "warm-up tasks only");
        assert_eq!(says(some(), some(), 5, Standing::Settled), "standby and warm-up tasks only");
        assert_eq!(says(none(), none(), 5, Standing::Settled), "5 members > 4 tasks");
        assert_eq!(says(none(), none(), 4, Standing::Settled), "left out by the assignor");
        assert_eq!(says(some(), none(), 5, Standing::Rebalancing), "a rebalance is under way");
        assert_eq!(says(none(), none(), 5, Standing::NotReady), "no tasks while the group is NotReady");
    }
}
