//! How to come to a plan, or near it, with what Kafka ships; and what is to be known about a plan.

use super::view::{PlanView, Way};
use super::{Basis, Question};
use crate::assign::metrics::Metrics;
use crate::assign::{Assignor, GroupInput, Protocol};

impl Basis {
    /// The built-in assignor whose largest member lag comes nearest to the plan's, and how it is switched on; `None`:
    /// no built-in assignor is better than the assignment now. It runs each of them: not for every group in every poll.
    pub fn way(&self, plan: &PlanView) -> Option<Way> {
        let question = &plan.question;
        let candidates = Assignor::ALL.into_iter().filter(|assignor| assignor.is_built_in());
        let usable = candidates.filter(|assignor| self.protocol.is_some_and(|p| assignor.protocols().contains(&p)));
        let way = |assignor: Assignor| {
            let asked = Question { assignor, max_moves: None, ..question.clone() };
            let plan = self.answer(&asked).ok()?.plan;
            let (property, value) = setting(assignor)?;
            let exact = assignor == question.assignor;
            Some(Way { property, value, assignor, exact, largest_lag: plan.metrics.largest_lag, moves: plan.moves })
        };
        let fits = self.protocol.is_some_and(|protocol| question.assignor.protocols().contains(&protocol));
        if let Some(own) = fits.then(|| way(question.assignor)).flatten() {
            return Some(own);
        }
        let nearest = usable.filter_map(way).min_by_key(|way| (way.largest_lag, way.moves))?;
        let now = Metrics::of(&self.input, &self.current()).largest_lag;
        (nearest.largest_lag < now).then_some(nearest)
    }
}

/// The client's property that switches it on.
fn setting(assignor: Assignor) -> Option<(&'static str, &'static str)> {
    const CLASSIC: &str = "partition.assignment.strategy";
    const REMOTE: &str = "group.remote.assignor";
    Some(match assignor {
        Assignor::Range => (CLASSIC, "org.apache.kafka.clients.consumer.RangeAssignor"),
        Assignor::RoundRobin => (CLASSIC, "org.apache.kafka.clients.consumer.RoundRobinAssignor"),
        Assignor::Sticky => (CLASSIC, "org.apache.kafka.clients.consumer.StickyAssignor"),
        Assignor::CooperativeSticky => (CLASSIC, "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"),
        Assignor::Uniform => (REMOTE, "uniform"),
        Assignor::ServerRange => (REMOTE, "range"),
        Assignor::Simple | Assignor::LagBased | Assignor::LagBalanced => return None,
    })
}

/// What is to be known about the plan of an assignor, in words.
pub fn notes(assignor: Assignor, asked: &GroupInput, metrics: &Metrics, protocol: Option<Protocol>) -> Vec<String> {
    let mut notes = Vec::new();
    if assignor == Assignor::LagBased && is_uneven_over_topics(asked, metrics) {
        let counts = || metrics.loads.iter().map(|load| load.partitions);
        let (most, least) = (counts().max().unwrap_or(0), counts().min().unwrap_or(0));
        notes.push(format!(
            "lag-based works topic by topic: one member gets {most} partitions, another {least}, with the same topics"
        ));
    }
    if assignor.depends_on_hash_order() {
        notes.push("who gets what depends on the order of a Java hash table: a restart may give another".to_owned());
    }
    let fits = protocol.is_some_and(|protocol| assignor.protocols().contains(&protocol));
    match protocol {
        Some(Protocol::Consumer) if !fits => {
            notes.push("groups of KIP-848 are assigned by the coordinator, which does not have it".to_owned());
        }
        Some(Protocol::Classic) if !fits => {
            notes.push("groups of the classic protocol are assigned by their members, which do not have it".to_owned());
        }
        _ => {}
    }
    notes
}

/// Members that read the same topics differ by more than one partition, over several topics.
fn is_uneven_over_topics(asked: &GroupInput, metrics: &Metrics) -> bool {
    let Some(first) = asked.members.first() else { return false };
    let equal = asked.members.iter().all(|member| member.topics == first.topics);
    let counts = || metrics.loads.iter().map(|load| load.partitions);
    equal && first.topics.len() > 1 && counts().max().unwrap_or(0) > counts().min().unwrap_or(0) + 1
}
