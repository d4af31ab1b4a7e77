//! What makes a group's hash (KIP-1101), as JSON. Hashes are signed decimals in strings: as numbers they would not
//! survive a reader of doubles.

#![allow(clippy::struct_field_names)]

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{At, GroupKind, Name, Presence, millis, print_id};
use crate::monitor::view::{
    Consequence, Effect, Explanation, GroupMetadata, HashState, MetadataChange, Outcome, TopicMetadata, View,
};

/// Changes in a report, the newest.
const CHANGES: usize = 20;

#[derive(Debug, Serialize)]
pub struct Metadata {
    state: &'static str,
    /// Why it is not known, or what explains a difference.
    reason: Option<String>,
    /// Since when it is pending, behind or different.
    state_age_ms: Option<u64>,
    computed_hash: Option<String>,
    stored_hash: Option<String>,
    /// Group epoch that the hash was stored with.
    epoch: Option<i32>,
    topics: Vec<Topic>,
    /// Members with partitions that have no replica in their rack.
    far_members: Vec<FarMember>,
    changes: Vec<Change>,
}

#[derive(Debug, Serialize)]
pub struct Topic {
    pub topic: Name,
    pub presence: Presence,
    pub id: Option<String>,
    pub partitions: usize,
    pub hash: Option<String>,
    /// Replicas by rack; "" = brokers without one.
    pub racks: BTreeMap<Name, usize>,
    /// Partitions whose replicas share one rack.
    pub one_rack: Vec<i32>,
    /// Brokers whose rack is the one last seen, was never seen, or follows from a stored hash.
    pub last_seen_brokers: Vec<i32>,
    pub unknown_brokers: Vec<i32>,
    pub inferred_brokers: Vec<i32>,
}

#[derive(Debug, Serialize)]
struct FarMember {
    member: Name,
    rack: Name,
    far: usize,
    held: usize,
}

#[derive(Debug, Serialize)]
struct Change {
    at: Option<String>,
    age_ms: u64,
    subject: Name,
    text: Name,
    effect: &'static str,
    hash_before: Option<String>,
    hash_after: Option<String>,
    consequence: &'static str,
    /// A bump: from this epoch to that one, so long after the change was noticed (`null`: seen before it).
    epoch_from: Option<i32>,
    epoch_to: Option<i32>,
    after_ms: Option<u64>,
}

impl Metadata {
    pub fn epoch(&self) -> Option<i32> {
        self.epoch
    }

    pub fn computed_hash(&self) -> Option<&str> {
        self.computed_hash.as_deref()
    }

    /// How it stands to the stored hash, for people.
    pub fn verdict(&self) -> String {
        let stored = self.stored_hash.as_deref().map(|hash| format!(" {hash}")).unwrap_or_default();
        match (self.state, &self.reason) {
            ("equal", _) => "equal".to_owned(),
            ("no_log", _) => "not known (no coordinator log)".to_owned(),
            ("not_stored", _) => "none stored".to_owned(),
            (state, None) => format!("{state}{stored}"),
            (state, Some(reason)) => format!("{}{stored}: {reason}", state.replace('_', " ")),
        }
    }
}

/// A group's row, `null` for groups that have nothing of the sort.
pub fn row(kind: &GroupKind, metadata: &GroupMetadata, view: &View) -> Option<Metadata> {
    let none = metadata.topics.is_empty() && metadata.changes.is_empty() && metadata.computed.is_none();
    if none && !matches!(kind, GroupKind::Consumer | GroupKind::Share | GroupKind::Streams) {
        return None;
    }
    let age = |at: At| Some(millis(view.now.since(at)));
    let (reason, state_age_ms) = match &metadata.state {
        HashState::NotKnown(why) => (Some(why.clone()), None),
        HashState::Pending { since } | HashState::Behind { since } => (None, age(*since)),
        HashState::Different { since, reason } => (Some(words(reason)), age(*since)),
        HashState::Unconfirmed { brokers } => {
            let brokers: Vec<String> = brokers.iter().map(i32::to_string).collect();
            (Some(format!("the rack of broker {} was never seen", brokers.join(", "))), None)
        }
        _ => (None, None),
    };
    Some(Metadata {
        state: metadata.state.name(),
        reason,
        state_age_ms,
        computed_hash: metadata.computed.map(|hash| hash.to_string()),
        stored_hash: metadata.stored.map(|hash| hash.to_string()),
        epoch: metadata.epoch,
        topics: metadata.topics.iter().map(|topic| topic_row(topic)).collect(),
        far_members: metadata
            .far
            .iter()
            .map(|far| FarMember { member: far.member.clone(), rack: far.rack.clone(), far: far.far, held: far.held })
            .collect(),
        changes: metadata.changes.iter().take(CHANGES).map(|outcome| change_row(outcome, view)).collect(),
    })
}

pub fn topic_row(topic: &TopicMetadata) -> Topic {
    Topic {
        topic: topic.name.clone(),
        presence: topic.presence,
        id: topic.id.map(print_id),
        partitions: topic.partitions,
        hash: topic.hash.map(|hash| hash.to_string()),
        racks: topic.racks.iter().map(|(rack, replicas)| (rack.clone().unwrap_or_default(), *replicas)).collect(),
        one_rack: topic.one_rack.clone(),
        last_seen_brokers: topic.last_seen.iter().copied().collect(),
        unknown_brokers: topic.unknown.iter().copied().collect(),
        inferred_brokers: topic.inferred.iter().copied().collect(),
    }
}

fn change_row(outcome: &Outcome, view: &View) -> Change {
    let MetadataChange { at, wall, what, effect, hash, .. } = &*outcome.change;
    let (mut epochs, mut after) = (None, None);
    let consequence = match outcome.consequence {
        Consequence::None => "none",
        Consequence::WouldBump => "would_bump",
        Consequence::Pending => "pending",
        Consequence::Bumped { from, to, after: later } => {
            epochs = Some((from, to));
            after = later;
            "bumped"
        }
        Consequence::Undone => "undone",
        Consequence::Rejoins => "rejoins",
        Consequence::Unconfirmed => "unconfirmed",
    };
    Change {
        at: wall.and_then(super::rebalances::time),
        age_ms: millis(view.now.since(*at)),
        subject: what.subject(),
        text: Name::from(what.to_string()),
        effect: match effect {
            Effect::ChangesHash => "changes",
            Effect::KeepsHash => "same_hash",
            Effect::Unconfirmed => "unconfirmed",
            Effect::ByTopic => "by_topic",
        },
        hash_before: hash.map(|(before, _)| before.to_string()),
        hash_after: hash.map(|(_, after)| after.to_string()),
        consequence,
        epoch_from: epochs.map(|(from, _)| from),
        epoch_to: epochs.map(|(_, to)| to),
        after_ms: after.map(millis),
    }
}

/// What explains a difference.
pub fn words(reason: &Explanation) -> String {
    match reason {
        Explanation::None => "no input that clients can see explains it".to_owned(),
        Explanation::Without(topic) => format!("the stored hash is without topic {topic}"),
        Explanation::Before(topic) => format!("the stored hash is of topic {topic} before its last change"),
    }
}
