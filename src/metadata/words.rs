//! How changes are told: what changed ([`Change::subject`]) and how (its `Display`), the same on screens and in reports.

use std::fmt;

use super::changes::{BrokerChange, Change, Effect, LeaderDiff, RackCause, RackDiff, TopicChange};
use crate::model::Name;
use crate::model::figures::{and_more, plural};

/// Partitions named before "and n more".
const NAMED: usize = 3;

impl Change {
    /// What changed: a topic's name, or `broker 3`.
    pub fn subject(&self) -> Name {
        match self {
            Self::Topic { topic, .. } => topic.clone(),
            Self::Broker { id, .. } => Name::from(format!("broker {id}")),
        }
    }
}

impl Effect {
    pub fn word(self) -> &'static str {
        match self {
            Self::ChangesHash => "CHANGES",
            Self::KeepsHash => "same hash",
            Self::Unconfirmed => "unconfirmed",
            Self::ByTopic => "by topic",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic { change, .. } => change.fmt(f),
            Self::Broker { change, .. } => change.fmt(f),
        }
    }
}

impl fmt::Display for TopicChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created { partitions, .. } => write!(f, "created, {}", plural(*partitions, "partition")),
            Self::Deleted { .. } => f.write_str("deleted"),
            Self::Recreated { from, to } => {
                let short = |id: &uuid::Uuid| id.simple().to_string().chars().take(8).collect::<String>();
                write!(f, "deleted and created again, id {}.. > {}..", short(from), short(to))
            }
            Self::Partitions { from, to } => write!(f, "{from} > {to} partitions"),
            Self::Racks { causes, partitions } => {
                for (place, cause) in causes.iter().enumerate() {
                    write!(f, "{}{cause}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str(": racks of ")?;
                some(f, partitions, RackDiff::fmt)
            }
            Self::MovedWithinRacks { partitions } => {
                f.write_str("replicas moved within their racks: ")?;
                some(f, partitions, |number, f| write!(f, "{number}"))
            }
            Self::ReplicaOrder { partitions } => {
                f.write_str("replicas in another order: ")?;
                some(f, partitions, |number, f| write!(f, "{number}"))
            }
            Self::Leader { partitions } => {
                f.write_str("leader of ")?;
                some(f, partitions, LeaderDiff::fmt)
            }
            Self::InSync { partitions } => {
                f.write_str("in-sync replicas of ")?;
                some(f, partitions, |number, f| write!(f, "{number}"))
            }
        }
    }
}

impl RackDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} > {}", self.partition, racks(&self.from), racks(&self.to))?;
        if self.unconfirmed { f.write_str(" (one was never seen)") } else { Ok(()) }
    }
}

impl LeaderDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |leader: Option<i32>| leader.map_or_else(|| "none".to_owned(), |id| id.to_string());
        write!(f, "{}: {} > {}", self.partition, id(self.from), id(self.to))
    }
}

impl fmt::Display for RackCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reassigned => f.write_str("replicas moved"),
            Self::BrokerRack { broker } => write!(f, "broker {broker} has another rack"),
            Self::Unregistered { broker } => write!(f, "broker {broker} is unregistered"),
            Self::Registered { broker } => write!(f, "broker {broker} is registered again"),
        }
    }
}

impl fmt::Display for BrokerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appeared { rack } => write!(f, "seen for the first time, {}", rack_words(rack.as_ref())),
            Self::Stopped { rack: None } => f.write_str("stopped, no rack"),
            // No request tells one from the other.
            Self::Stopped { rack } => {
                write!(
                    f,
                    "stopped, {} as last seen; if it is unregistered, the hash changes with a topic's next change",
                    rack_words(rack.as_ref())
                )
            }
            Self::Started { rack } => write!(f, "is back, {} as before", rack_words(rack.as_ref())),
            Self::Rack { from, to } => write!(f, "{} > {}", rack_words(from.as_ref()), rack_words(to.as_ref())),
            Self::Unregistered { rack } => {
                write!(f, "unregistered, as a stored hash shows; it had {}", rack_words(rack.as_ref()))
            }
            Self::Registered { rack } => write!(f, "registered again, {}", rack_words(rack.as_ref())),
        }
    }
}

fn rack_words(rack: Option<&Name>) -> String {
    rack.map_or_else(|| "no rack".to_owned(), |rack| format!("rack {rack}"))
}

fn racks(racks: &[Name]) -> String {
    if racks.is_empty() {
        return "none".to_owned();
    }
    racks.iter().map(Name::to_string).collect::<Vec<_>>().join(" ")
}

fn some<T>(
    f: &mut fmt::Formatter<'_>,
    all: &[T],
    one: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (place, item) in all.iter().take(NAMED).enumerate() {
        f.write_str(if place == 0 { "" } else { ", " })?;
        one(item, f)?;
    }
    f.write_str(&and_more(all.len().saturating_sub(NAMED)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn topic(change: TopicChange) -> String {
        Change::Topic { topic: "orders".into(), change }.to_string()
    }

    #[test]
    fn changes_are_told_in_words() {
        assert_eq!(topic(TopicChange::Partitions { from: 6, to: 8 }), "6 > 8 partitions");
        let diff = |partition| RackDiff {
            partition,
            from: vec!["a".into(), "b".into()],
            to: vec!["\u{1b}a".into()],
            unconfirmed: partition == 1,
        };
        let causes = BTreeSet::from([RackCause::Reassigned, RackCause::BrokerRack { broker: 3 }]);
        assert_eq!(
            topic(TopicChange::Racks { causes, partitions: vec![diff(0), diff(1), diff(2), diff(3)] }),
            "replicas moved, broker 3 has another rack: racks of 0: a b > \\x1ba, 1: a b > \\x1ba (one was never seen), \
             2: a b > \\x1ba and 1 more"
        );
        let partitions = vec![LeaderDiff { partition: 4, from: Some(3), to: None }];
        assert_eq!(topic(TopicChange::Leader { partitions }), "leader of 4: 3 > none");
        let stopped = Change::Broker { id: 3, change: BrokerChange::Stopped { rack: Some("c".into()) } };
        assert_eq!(stopped.subject(), "broker 3".into());
        assert!(stopped.to_string().starts_with("stopped, rack c as last seen; if it is unregistered"));
    }
}
