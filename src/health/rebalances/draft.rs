//! A rebalance in the making: what was seen since the last one ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cause::{Cause, CauseKind, Certainty};
use super::moves::Extent;
use super::rebalance::{Gone, Members, Who};
use crate::model::{Event, Name, Wall};

/// Causes come before the epoch is bumped, in the same batch of records; so a draft exists before its rebalance begins.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Set once it has begun.
    pub begun: Option<Begun>,
    pub bumps: u32,
    pub causes: Vec<Cause>,
    pub joined: Members<Arc<Who>>,
    pub gone: Members<Gone>,
}

/// Where a rebalance began.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    pub log: (i32, i64),
    pub wall: Wall,
    /// Group epoch before.
    pub from: i32,
}

/// More causes that differ are not listed.
const CAUSES: usize = 50;

impl Draft {
    pub fn joined(&mut self, who: Arc<Who>, certainty: Certainty, wall: Wall) {
        self.cause(CauseKind::Joined { first: Arc::clone(&who), members: 1 }, certainty, wall);
        self.joined.push(who);
    }

    pub fn gone(&mut self, gone: Gone, wall: Wall) {
        let (first, why) = (Arc::clone(&gone.who), gone.why.clone());
        self.cause(CauseKind::Gone { first, members: 1, why }, Certainty::Certain, wall);
        self.gone.push(gone);
    }

    pub fn cause(&mut self, kind: CauseKind, certainty: Certainty, wall: Wall) {
        if self.begun.is_none() {
            self.drop_alone(wall);
        }
        let merged = self.causes.iter_mut().any(|known| known.certainty == certainty && known.kind.merge(&kind));
        if !merged && self.causes.len() < CAUSES {
            self.causes.push(Cause { kind, certainty, wall });
        }
    }

    /// Topics that have more partitions than before are a cause; that other numbers are handed out is a likely one where
    /// there is no other.
    pub fn resized(&mut self, was: BTreeMap<Name, Extent>, is: &BTreeMap<Name, Extent>, wall: Wall) {
        let untold = self.causes.is_empty();
        for (topic, was) in was {
            let Some(is) = is.get(&topic) else { continue };
            if let Some((from, to)) = was.grown(*is) {
                self.cause(CauseKind::Partitions { topic, from, to }, Certainty::Certain, wall);
            } else if untold && was.count != is.count {
                let kind = CauseKind::Partitions { topic, from: was.count, to: is.count };
                self.cause(kind, Certainty::Likely, wall);
            }
        }
    }

    /// The log turns out to tell everything: whoever seemed to join did.
    pub fn all_told(&mut self) {
        for cause in self.causes.iter_mut().filter(|cause| matches!(cause.kind, CauseKind::Joined { .. })) {
            cause.certainty = Certainty::Certain;
        }
    }

    /// Takes back that a static member is gone: it is back under another id. Returns who it was.
    pub fn is_back(&mut self, back: &Who) -> Option<Gone> {
        let place = self.gone.list.iter().position(|gone| gone.who.instance_id == back.instance_id)?;
        let gone = self.gone.list.remove(place);
        self.gone.count -= 1;
        let rest = self.gone.list.first().cloned();
        self.causes.retain_mut(|cause| match (&mut cause.kind, &rest) {
            (CauseKind::Gone { .. }, None) => false,
            (CauseKind::Gone { first, members, why }, Some(rest)) => {
                (*members, *first, *why) = (*members - 1, Arc::clone(&rest.who), rest.why.clone());
                true
            }
            _ => true,
        });
        Some(gone)
    }

    /// The group epoch was bumped and is ahead of the assignment.
    pub fn begin(&mut self, event: &Event, from: i32) {
        self.begun = Some(Begun { log: event.log, wall: event.wall, from });
        self.drop_alone(event.wall);
    }

    /// Some things do not bump the epoch by themselves: they are a cause only if they came with the bump.
    fn drop_alone(&mut self, wall: Wall) {
        self.causes.retain(|cause| {
            let alone =
                matches!(cause.kind, CauseKind::StaticAway(_) | CauseKind::StaticBack(_) | CauseKind::Assignor { .. });
            !alone || cause.wall == wall
        });
    }
}
