//! [`Assignor`]: the assignors by name, who can use which, and one door to all of them.

use std::fmt;
use std::str::FromStr;

use super::assignment::Assignment;
use super::input::GroupInput;
use super::{
    cooperative_sticky, coordinator, lag_balanced, lag_based, range, roundrobin, server_range, share_simple, sticky,
    uniform,
};

/// Who can use an assignor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Classic consumer groups: the clients assign (`partition.assignment.strategy`).
    Classic,
    /// KIP-848 consumer groups: the coordinator assigns (`group.remote.assignor`).
    Consumer,
    /// Share groups (KIP-932).
    Share,
}

/// Every assignor that `lagtop` can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Assignor {
    /// `org.apache.kafka.clients.consumer.RangeAssignor`.
    Range,
    /// `org.apache.kafka.clients.consumer.RoundRobinAssignor`.
    RoundRobin,
    /// `org.apache.kafka.clients.consumer.StickyAssignor`.
    Sticky,
    /// `org.apache.kafka.clients.consumer.CooperativeStickyAssignor`, after all the rebalances that it needs.
    CooperativeSticky,
    /// `org.apache.kafka.coordinator.group.assignor.UniformAssignor`.
    Uniform,
    /// `org.apache.kafka.coordinator.group.assignor.RangeAssignor`.
    ServerRange,
    /// `org.apache.kafka.coordinator.group.assignor.SimpleAssignor`.
    Simple,
    /// KAFKA-5337; not part of Kafka.
    LagBased,
    /// Ours: lag over all topics at once, and with few moves; not part of Kafka.
    #[default]
    LagBalanced,
}

/// Why an assignor gave no assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignError {
    #[error("the group has no members")]
    NoMembers,
    #[error("a member subscribes to topic {0}, which does not exist")]
    UnknownTopic(crate::model::Name),
}

impl Assignor {
    /// All, in the order in which a screen offers them.
    pub const ALL: [Self; 9] = [
        Self::LagBalanced,
        Self::LagBased,
        Self::Range,
        Self::RoundRobin,
        Self::Sticky,
        Self::CooperativeSticky,
        Self::Uniform,
        Self::ServerRange,
        Self::Simple,
    ];

    /// The name on screen and on the command line; unique.
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
            Self::Uniform => "uniform",
            Self::ServerRange => "server-range",
            Self::Simple => "simple",
            Self::LagBased => "lag-based",
            Self::LagBalanced => "lag-balanced",
        }
    }

    /// The name by which Kafka's configuration and group descriptions call it.
    pub fn kafka_name(self) -> &'static str {
        match self {
            Self::ServerRange => "range",
            other => other.name(),
        }
    }

    /// The assignor that a group of a protocol means by a name (`range` is another one for each protocol).
    pub fn of_group(protocol: Protocol, name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|assignor| assignor.protocols().contains(&protocol) && assignor.kafka_name() == name)
    }

    /// The title of a column that says what it would do.
    pub fn would(self) -> &'static str {
        match self {
            Self::Range => "RANGE WOULD",
            Self::RoundRobin => "ROUNDROBIN WOULD",
            Self::Sticky => "STICKY WOULD",
            Self::CooperativeSticky => "COOPERATIVE-STICKY WOULD",
            Self::Uniform => "UNIFORM WOULD",
            Self::ServerRange => "SERVER-RANGE WOULD",
            Self::Simple => "SIMPLE WOULD",
            Self::LagBased => "LAG-BASED WOULD",
            Self::LagBalanced => "LAG-BALANCED WOULD",
        }
    }

    /// The protocols whose groups can run it.
    pub fn protocols(self) -> &'static [Protocol] {
        match self {
            Self::Range
            | Self::RoundRobin
            | Self::Sticky
            | Self::CooperativeSticky
            | Self::LagBased
            | Self::LagBalanced => &[Protocol::Classic],
            Self::Uniform | Self::ServerRange => &[Protocol::Consumer],
            Self::Simple => &[Protocol::Share],
        }
    }

    /// True when Kafka ships it, so that configuration alone switches to it.
    pub fn is_built_in(self) -> bool {
        !matches!(self, Self::LagBased | Self::LagBalanced)
    }

    /// True when its result depends on the order of a Java hash table, so that another run of the same group may differ
    /// in who gets which partition (not in how many).
    pub fn depends_on_hash_order(self) -> bool {
        matches!(self, Self::Uniform | Self::Simple | Self::Sticky | Self::CooperativeSticky)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Where the Java class throws: no members, or for server-side assignors a topic that does not exist.
    pub fn assign(self, group: &GroupInput) -> Result<Assignment, AssignError> {
        match self {
            Self::Range => Ok(range::assign(group)),
            Self::RoundRobin => roundrobin::assign(group),
            Self::Sticky => sticky::assign(group),
            Self::CooperativeSticky => cooperative_sticky::assign(group),
            Self::Uniform => coordinator::run(group, uniform::assign),
            Self::ServerRange => server_range::assign(group),
            Self::Simple => coordinator::run(group, share_simple::assign),
            Self::LagBased => Ok(lag_based::assign(group)),
            Self::LagBalanced => Ok(lag_balanced::assign(group)),
        }
    }
}

impl fmt::Display for Assignor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Assignor {
    type Err = UnknownAssignor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|assignor| assignor.name() == name).ok_or(UnknownAssignor)
    }
}

/// The name is no assignor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown assignor; known are {}", Assignor::ALL.map(Assignor::name).join(", "))]
pub struct UnknownAssignor;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse() {
        for assignor in Assignor::ALL {
            assert_eq!(assignor.name().parse(), Ok(assignor));
        }
        assert!("nobody".parse::<Assignor>().is_err());
        assert_eq!(Assignor::of_group(Protocol::Classic, "range"), Some(Assignor::Range));
        assert_eq!(Assignor::of_group(Protocol::Consumer, "range"), Some(Assignor::ServerRange));
        assert_eq!(Assignor::of_group(Protocol::Share, "range"), None);
    }
}
