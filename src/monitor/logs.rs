//! The logs that groups read: what was seen of their ends and starts, once for all groups.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use crate::health::LogHistory;
use crate::model::{Column, Name, Snapshot};

/// The past of every partition of the topics that are read.
#[derive(Debug, Default)]
pub struct Logs {
    topics: BTreeMap<Name, Topic>,
}

#[derive(Debug, Default)]
struct Topic {
    id: Option<Uuid>,
    /// Index = partition number.
    partitions: Vec<LogHistory>,
}

impl Logs {
    /// Takes in what the newest facts say of these topics.
    pub fn take<'a>(&mut self, facts: &Snapshot, topics: impl IntoIterator<Item = &'a Name>, keep: Duration) {
        for name in topics {
            let Some(topic) = facts.topics.get(name) else { continue };
            let known = self.topics.entry(name.clone()).or_default();
            if topic.id.is_some() && known.id != topic.id {
                if known.id.is_some() {
                    known.partitions.iter_mut().for_each(LogHistory::renewed);
                }
                known.id = topic.id;
            }
            known.partitions.resize_with(topic.partitions.len(), LogHistory::default);
            let Some(offsets) = facts.offsets.get(name) else { continue };
            let read = |column: &Option<Column>, number: usize| column.as_ref()?.get(i32::try_from(number).ok()?);
            for (number, log) in known.partitions.iter_mut().enumerate() {
                if let Some((end, at)) = read(&offsets.end, number) {
                    if let Some((stable, at)) = read(&offsets.stable, number) {
                        log.stable(at, stable, end);
                    }
                    log.end(at, end, keep);
                }
                if let Some((start, at)) = read(&offsets.start, number) {
                    log.start(at, start, keep);
                }
            }
        }
    }

    /// Forgets topics that are no longer read.
    pub fn tidy(&mut self, facts: &Snapshot) {
        if self.topics.len() > facts.topics.len() {
            self.topics.retain(|name, _| facts.topics.contains_key(name));
        }
    }

    /// Those of a topic; index = partition number.
    pub fn of(&self, topic: &Name) -> &[LogHistory] {
        self.topics.get(topic).map_or(&[], |topic| &topic.partitions)
    }
}
