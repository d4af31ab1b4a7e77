//! Groups of the classic protocol as the coordinator log tells them: one record has the whole group.

use std::collections::BTreeMap;

use super::group::{LogGroup, Surroundings};
use crate::kafka::records::classic::{GroupMetadataValue, MemberMetadata};
use crate::kafka::records::consumer_protocol::{Assignment, Subscription, cooperative_sticky_generation};
use crate::model::{Departure, EventMember, Generation, GroupKind, Name, TopicPartitions, Wall, What};

/// A group of the classic protocol, as its last GroupMetadata record has it.
#[derive(Debug, Clone, Default)]
pub struct Classic {
    pub generation: i32,
    /// No member has ever joined it.
    pub simple: bool,
    pub protocol: Option<Name>,
    pub members: Vec<EventMember>,
    /// Generation that each member named when it joined, by member id.
    pub joined_from: BTreeMap<Name, i32>,
}

impl LogGroup {
    /// A generation that synced.
    pub(super) fn generation(&mut self, value: GroupMetadataValue, around: &Surroundings<'_>) -> What {
        let consumers = matches!(value.protocol_type.raw(), "consumer" | "");
        self.kind = if consumers { GroupKind::Classic } else { GroupKind::Other(value.protocol_type.clone()) };
        let before = self.classic.take().unwrap_or_default();
        let mut joined_from = BTreeMap::new();
        let mut members = Vec::with_capacity(value.members.len());
        for member in value.members {
            let subscription = consumers.then(|| Subscription::decode(&member.subscription.0).ok()).flatten();
            if let Some(generation) = subscription.as_ref().and_then(generation_of) {
                joined_from.insert(member.member_id.clone(), generation);
            }
            members.push(classic_member(member, subscription, consumers));
        }
        let gone = before.members.into_iter().filter(|old| !members.iter().any(|member| member.id == old.id));
        let gone: Vec<Departure> = gone.map(|member| self.departure(member, around)).collect();
        self.classic = Some(Classic {
            generation: value.generation,
            simple: value.protocol_type.is_empty(),
            protocol: value.protocol.clone(),
            members: members.clone(),
            joined_from,
        });
        What::Generation(Box::new(Generation {
            generation: value.generation,
            protocol_type: value.protocol_type,
            protocol: value.protocol,
            joined_at: value.current_state_timestamp.filter(|at| *at > 0).map(Wall),
            members,
            gone,
        }))
    }
}

/// A member of a GroupMetadata record; of other protocol types the bytes are nobody's business.
fn classic_member(member: MemberMetadata, subscription: Option<Subscription>, consumers: bool) -> EventMember {
    let held = consumers.then(|| Assignment::decode(&member.assignment.0).ok()).flatten().map(|assignment| {
        let mut held = TopicPartitions::new();
        for topic in assignment.assigned_partitions {
            held.entry(topic.topic).or_default().extend(topic.partitions);
        }
        for numbers in held.values_mut() {
            numbers.sort_unstable();
        }
        held
    });
    let (subscription, rack) = match subscription {
        Some(subscription) => (Some(subscription.topics), subscription.rack_id),
        None => (None, None),
    };
    EventMember {
        id: member.member_id,
        instance_id: member.group_instance_id,
        client_id: member.client_id,
        host: member.client_host,
        rack,
        subscription,
        rebalance_timeout_ms: member.rebalance_timeout,
        session_timeout_ms: Some(member.session_timeout),
        held,
        ..EventMember::default()
    }
}

/// The generation that a member named when it joined.
pub fn generation_of(subscription: &Subscription) -> Option<i32> {
    let user_data = || {
        let bytes = subscription.user_data.as_ref().filter(|bytes| bytes.0.len() == 4)?;
        cooperative_sticky_generation(&bytes.0).ok().flatten()
    };
    subscription.generation_id.filter(|generation| *generation >= 0).or_else(user_data)
}
