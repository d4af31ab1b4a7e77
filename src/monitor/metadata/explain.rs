//! Which input makes the hash that a coordinator stored: tried out, since clients do not see all of it.

use std::collections::BTreeSet;

use super::group::Memory;
use super::topics::Topics;
use super::view::Explanation;
use crate::metadata::brokers::Standing;
use crate::metadata::{Brokers, group_hash, topic_hash};
use crate::model::Name;

/// Combinations of racks that are tried.
const MOST: usize = 256;

/// What was found.
pub enum Found {
    /// Brokers are otherwise than clients can see: unregistered, or with racks that were never seen.
    Brokers(Brokers),
    Reason(Explanation),
}

/// What makes `stored` of this group.
pub fn explain(memory: &Memory, topics: &Topics, stored: i64) -> Found {
    if let Some(brokers) = brokers(memory, topics, stored) {
        return Found::Brokers(brokers);
    }
    let existing: Vec<(&Name, i64)> =
        memory.topics().iter().filter_map(|topic| Some((topic, topics.hashes.get(topic)?))).collect();
    let with = |other: usize, hash: Option<i64>| {
        let hashes = existing
            .iter()
            .enumerate()
            .filter_map(|(place, (topic, known))| Some((*topic, if place == other { hash? } else { *known })));
        group_hash(hashes)
    };
    for (place, (topic, _)) in existing.iter().enumerate() {
        if topics.before(topic).is_some_and(|before| with(place, Some(before)) == stored) {
            return Found::Reason(Explanation::Before((*topic).clone()));
        }
        if with(place, None) == stored {
            return Found::Reason(Explanation::Without((*topic).clone()));
        }
    }
    Found::Reason(Explanation::None)
}

/// The one way in which brokers that clients do not see make the stored hash; `None` also if there are several.
fn brokers(memory: &Memory, topics: &Topics, stored: i64) -> Option<Brokers> {
    let states = memory.topics().iter().filter_map(|topic| Some((topic, topics.state(topic)?)));
    let states: Vec<_> = states.collect();
    let replicas = || states.iter().flat_map(|(_, state)| &state.partitions).flat_map(|partition| &partition.replicas);
    let unseen: BTreeSet<i32> = replicas()
        .copied()
        .filter(|id| {
            topics.brokers.get(*id).is_none_or(|broker| broker.standing == Standing::LastSeen && broker.rack.is_some())
        })
        .collect();
    if unseen.is_empty() {
        return None;
    }
    // Each broker that is not seen: as it is known, unregistered, or of any rack.
    let mut tried = vec![topics.brokers.clone()];
    for id in unseen {
        let mut more = Vec::new();
        for brokers in &tried {
            let racks: Vec<Name> = brokers.racks().cloned().collect();
            match brokers.get(id) {
                Some(_) => {
                    more.push(brokers.clone());
                    let mut gone = brokers.clone();
                    gone.unregister(id);
                    more.push(gone);
                }
                None => {
                    for rack in racks.into_iter().map(Some).chain([None]) {
                        let mut guess = brokers.clone();
                        guess.infer(id, rack);
                        more.push(guess);
                    }
                }
            }
        }
        if more.len() > MOST {
            return None;
        }
        tried = more;
    }
    let makes_it = |brokers: &Brokers| {
        let hashes = states.iter().map(|(topic, state)| (*topic, topic_hash(&brokers.input(topic, state))));
        group_hash(hashes) == stored
    };
    let mut right = tried.into_iter().filter(makes_it);
    let one = right.next()?;
    right.next().is_none().then_some(one)
}
