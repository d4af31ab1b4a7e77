//! The members of a group as the log has told of them so far, and what they subscribe to together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rebalance::Who;
use crate::model::{EventMember, Name, TopicPartitions};

/// One member.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub who: Arc<Who>,
    /// `None`: not told.
    pub subscription: Option<Vec<Name>>,
    pub regex: Option<Name>,
    pub assignor: Option<Name>,
    pub rebalance_timeout_ms: Option<i32>,
    pub session_timeout_ms: Option<i32>,
    /// Member epoch; −2: a static member that is away.
    pub epoch: Option<i32>,
    pub settled: bool,
    /// `None`: cannot be decoded.
    pub held: Option<TopicPartitions>,
}

/// Member epoch of a static member that is away.
pub const AWAY: i32 = -2;

impl Known {
    pub fn new(member: &EventMember) -> Self {
        let mut known = Self { held: Some(TopicPartitions::new()), ..Self::default() };
        known.describe(member);
        known
    }

    /// A member of which only the id is known.
    pub fn unnamed(id: &Name) -> Self {
        let who = Who { id: id.clone(), ..Who::default() };
        Self { who: Arc::new(who), held: Some(TopicPartitions::new()), ..Self::default() }
    }

    /// Takes over what a member's record says; epoch and holdings stay.
    pub fn describe(&mut self, member: &EventMember) {
        let who = Who::from(member);
        if *self.who != who {
            self.who = Arc::new(who);
        }
        self.subscription.clone_from(&member.subscription);
        self.regex.clone_from(&member.regex);
        self.assignor.clone_from(&member.assignor);
        self.rebalance_timeout_ms = member.rebalance_timeout_ms;
        self.session_timeout_ms = member.session_timeout_ms;
    }

    /// Topics added and removed, if the subscription is another one (a changed regex: the patterns).
    pub fn resubscribed(&self, now: &Self) -> Option<(Vec<Name>, Vec<Name>)> {
        let (was, is) = (self.subscription.as_ref(), now.subscription.as_ref());
        let (was, is) = match (was, is) {
            (Some(was), Some(is)) => (was.as_slice(), is.as_slice()),
            _ => (&[][..], &[][..]),
        };
        let without = |these: &[Name], others: &[Name], pattern: &Option<Name>, other: &Option<Name>| {
            let mut rest: Vec<Name> = these.iter().filter(|topic| !others.contains(topic)).cloned().collect();
            rest.extend(pattern.iter().filter(|_| pattern != other).cloned());
            rest.sort_unstable();
            rest
        };
        let pattern = |regex: &Option<Name>| regex.clone().filter(|regex| !regex.is_empty());
        let (old, new) = (pattern(&self.regex), pattern(&now.regex));
        let (added, removed) = (without(is, was, &new, &old), without(was, is, &old, &new));
        (!added.is_empty() || !removed.is_empty()).then_some((added, removed))
    }

    pub fn partitions(&self) -> usize {
        self.held.iter().flatten().map(|(_, partitions)| partitions.len()).sum()
    }
}

/// The union of what the members subscribe to.
#[derive(Debug, Clone, Default)]
pub struct Topics {
    subscribers: BTreeMap<Name, usize>,
    /// Members with a regex, or of which the subscription is not known.
    opaque: usize,
    /// A topic got its first subscriber or lost its last one since the last bump.
    changed: bool,
}

impl Topics {
    pub fn add(&mut self, member: &Known) {
        for topic in member.subscription.iter().flatten() {
            let subscribers = self.subscribers.entry(topic.clone()).or_default();
            *subscribers += 1;
            self.changed |= *subscribers == 1;
        }
        self.opaque += usize::from(opaque(member));
    }

    pub fn remove(&mut self, member: &Known) {
        for topic in member.subscription.iter().flatten() {
            if let Some(subscribers) = self.subscribers.get_mut(topic) {
                *subscribers = subscribers.saturating_sub(1);
                if *subscribers == 0 {
                    self.subscribers.remove(topic);
                    self.changed = true;
                }
            }
        }
        self.opaque = self.opaque.saturating_sub(usize::from(opaque(member)));
    }

    /// Whether the topics changed since the last call, and whether all of them are known.
    pub fn take_changed(&mut self) -> (bool, bool) {
        (std::mem::take(&mut self.changed), self.opaque == 0)
    }
}

fn opaque(member: &Known) -> bool {
    member.subscription.is_none() || member.regex.as_ref().is_some_and(|regex| !regex.is_empty())
}
