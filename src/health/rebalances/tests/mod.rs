//! Hand-made sequences of events, one for each rule.

mod causes;
mod classic;
mod epochs;
mod frequency;
mod missing;
mod polled;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::model::{
    At, Departure, Event, EventMember, Generation, GroupDefaults, GroupKind, Name, TopicPartitions, Wall, What,
};

/// Partitions of topic `t`.
fn held(partitions: &[i32]) -> TopicPartitions {
    if partitions.is_empty() { BTreeMap::new() } else { BTreeMap::from([("t".into(), partitions.to_vec())]) }
}

fn member(id: &str) -> EventMember {
    EventMember {
        id: id.into(),
        client_id: Name::from(format!("client-{id}")),
        host: "/10.0.0.1".into(),
        subscription: Some(vec!["t".into()]),
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: Some(45_000),
        ..EventMember::default()
    }
}

fn fixed(id: &str, instance: &str) -> EventMember {
    EventMember { instance_id: Some(instance.into()), ..member(id) }
}

fn holding(id: &str, partitions: &[i32]) -> EventMember {
    EventMember { held: Some(held(partitions)), ..member(id) }
}

fn generation(generation: i32, members: Vec<EventMember>, gone: &[&str]) -> What {
    let gone = gone.iter().map(|id| Departure { member: member(id), ..Departure::default() }).collect();
    what(Generation { generation, members, gone, ..consumer() })
}

fn consumer() -> Generation {
    Generation { protocol_type: "consumer".into(), protocol: Some("range".into()), ..Generation::default() }
}

fn what(generation: Generation) -> What {
    What::Generation(Box::new(generation))
}

fn created() -> What {
    what(Generation::default())
}

fn epoch(epoch: i32) -> What {
    hashed(epoch, 7)
}

fn hashed(epoch: i32, hash: i64) -> What {
    What::GroupEpoch { kind: GroupKind::Consumer, epoch, hash: Some(hash) }
}

fn assigned(epoch: i32) -> What {
    What::AssignmentEpoch { epoch }
}

fn joins(id: &str) -> What {
    What::Member(Box::new(member(id)))
}

fn at_epoch(id: &str, epoch: i32, partitions: &[i32]) -> What {
    What::MemberEpoch { member: id.into(), epoch, settled: true, held: held(partitions) }
}

fn gone(id: &str) -> What {
    What::MemberGone(Box::new(Departure { member: member(id), ..Departure::default() }))
}

/// A log of one partition and one group.
#[derive(Default)]
struct Log {
    history: History,
    offset: i64,
    group: Name,
}

impl Log {
    fn new() -> Self {
        Self { group: "g".into(), ..Self::default() }
    }

    /// Events at a time, in milliseconds.
    fn at(&mut self, wall: i64, events: impl IntoIterator<Item = What>) {
        for event in self.events(wall, events) {
            self.history.event(&event, Seen::default());
        }
    }

    fn events(&mut self, wall: i64, events: impl IntoIterator<Item = What>) -> Vec<Event> {
        let each = events.into_iter().map(|what| {
            self.offset += 1;
            Event { group: self.group.clone(), wall: Wall(wall), log: (0, self.offset), what }
        });
        each.collect()
    }

    fn summary(&self, wall: i64) -> Summary {
        self.history.summary(&self.group, asked(wall), &Summary::default())
    }

    /// Oldest first.
    fn list(&self) -> Vec<Arc<Rebalance>> {
        self.summary(0).list.iter().rev().cloned().collect()
    }

    fn only(&self) -> Rebalance {
        let list = self.list();
        assert_eq!(list.len(), 1, "{list:#?}");
        (*list[0]).clone()
    }

    fn last(&self) -> Rebalance {
        (**self.list().last().unwrap()).clone()
    }

    /// Other events, oldest first, in words.
    fn side(&self) -> Vec<String> {
        self.summary(0).side.iter().rev().map(|happening| happening.what.to_string()).collect()
    }
}

fn asked(wall: i64) -> Asked {
    Asked {
        at: At(u64::try_from(wall).unwrap_or(0)),
        wall: Some(Wall(wall)),
        storm: Storm::default(),
        told_by_log: true,
        reach: Reach::Unknown,
        gap: false,
        at_rest: false,
    }
}

fn causes(rebalance: &Rebalance) -> Vec<String> {
    rebalance.causes.iter().map(ToString::to_string).collect()
}

fn moved(rebalance: &Rebalance) -> (usize, usize, usize, usize) {
    let moves = rebalance.moves.as_ref().unwrap();
    (moves.moved, moves.taken, moves.dropped, moves.of)
}

fn moves(rebalance: &Rebalance) -> Vec<String> {
    let who = |who: &Option<Arc<Who>>| who.as_ref().map_or_else(|| "-".to_owned(), |who| who.id.to_string());
    let moves = rebalance.moves.iter().flat_map(|moves| &moves.list);
    moves.map(|each| format!("{}-{} {}>{}", each.topic, each.partition, who(&each.from), who(&each.to))).collect()
}
