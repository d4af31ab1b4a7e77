//! The topics and brokers of the watch: what was last seen of each, its hash, and what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::view::{MetadataChange, TopicMetadata};
use crate::metadata::brokers::{Rack, Standing};
use crate::metadata::changes::{BrokerChange, Change, Effect, Observation, PartitionState, TopicState, changes};
use crate::metadata::{Brokers, TopicHashes};
use crate::model::{Cluster, Name, Presence, Snapshot, Topic};

/// What is known of topics and brokers.
#[derive(Debug, Default)]
pub struct Topics {
    pub brokers: Brokers,
    pub hashes: TopicHashes,
    watched: BTreeMap<Name, Watched>,
    /// Topics that were looked at anew since they were last taken.
    redone: BTreeSet<Name>,
    /// Some topic is shown otherwise than before.
    other: bool,
}

#[derive(Debug)]
struct Watched {
    /// `None`: there is no such topic.
    state: Option<TopicState>,
    view: Arc<TopicMetadata>,
    /// The hash before its last change.
    before: Option<i64>,
}

/// A change with the hash of its topic before and after.
pub struct Found {
    pub change: Change,
    pub hash: Option<(i64, i64)>,
}

impl Topics {
    pub fn view(&self, topic: &Name) -> Option<&Arc<TopicMetadata>> {
        self.watched.get(topic).map(|topic| &topic.view)
    }

    /// The topic's hash before its last change.
    pub fn before(&self, topic: &Name) -> Option<i64> {
        self.watched.get(topic)?.before
    }

    pub fn state(&self, topic: &Name) -> Option<&TopicState> {
        self.watched.get(topic)?.state.as_ref()
    }

    /// Remembers the newest change that would change a topic's hash.
    pub fn changed(&mut self, topic: &Name, change: &Arc<MetadataChange>) {
        if let Some(watched) = self.watched.get_mut(topic) {
            Arc::make_mut(&mut watched.view).changed = Some(Arc::clone(change));
            self.other = true;
        }
    }

    /// All topics.
    pub fn all(&self) -> BTreeMap<Name, Arc<TopicMetadata>> {
        self.watched.iter().map(|(name, topic)| (name.clone(), Arc::clone(&topic.view))).collect()
    }

    /// Whether some topic is shown otherwise than when this was last asked.
    pub fn take_other(&mut self) -> bool {
        std::mem::take(&mut self.other)
    }

    /// Topics that were looked at anew: changed, read for the first time, or under other racks.
    pub fn take_redone(&mut self) -> BTreeSet<Name> {
        std::mem::take(&mut self.redone)
    }

    /// Topics that have a replica on this broker.
    pub fn on_broker(&self, id: i32) -> impl Iterator<Item = &Name> {
        let has = move |topic: &Watched| {
            topic.state.iter().flat_map(|state| &state.partitions).any(|partition| partition.replicas.contains(&id))
        };
        self.watched.iter().filter(move |(_, topic)| has(topic)).map(|(name, _)| name)
    }

    /// Takes in what is known now; `named`: the topics that may have changed, `None`: any.
    pub fn look(&mut self, facts: &Snapshot, named: Option<&BTreeSet<Name>>) -> Vec<Found> {
        let before = self.brokers.clone();
        if let Some(cluster) = facts.cluster.as_ref().filter(|cluster| !cluster.brokers.is_empty()) {
            self.brokers.observe(racks(cluster));
        }
        if named.is_none() {
            self.watched.retain(|name, _| facts.topics.contains_key(name));
            self.other = true;
            self.hashes.retain(|name| facts.topics.contains_key(name));
        }
        let news = match named {
            Some(named) => named.iter().filter_map(|name| facts.topics.get_key_value(name)).collect::<Vec<_>>(),
            None => facts.topics.iter().collect(),
        };
        self.compare(before, news)
    }

    /// Follows what was found out about brokers since `before`.
    pub fn recheck(&mut self, before: Brokers) -> Vec<Found> {
        self.compare(before, Vec::new())
    }

    fn compare(&mut self, brokers: Brokers, news: Vec<(&Name, &Topic)>) -> Vec<Found> {
        let mut before = Observation { topics: BTreeMap::new(), brokers };
        let mut after = Observation { topics: BTreeMap::new(), brokers: self.brokers.clone() };
        for (name, topic) in news {
            let now = match said(topic) {
                Said::Is(state) => Some(state),
                Said::Gone => None,
                Said::Nothing => {
                    if topic.presence == Presence::Denied {
                        self.redone.extend(self.watched.remove(name).map(|_| name.clone()));
                        self.hashes.remove(name);
                    }
                    continue;
                }
            };
            let known = self.watched.get(name);
            if known.is_some_and(|known| known.state == now) {
                continue;
            }
            if let Some(known) = known {
                before.topics.insert(name.clone(), known.state.clone());
            }
            after.topics.insert(name.clone(), now);
        }
        let racks_changed = before.brokers != after.brokers;
        if racks_changed {
            for (name, topic) in &self.watched {
                if !after.topics.contains_key(name) {
                    before.topics.insert(name.clone(), topic.state.clone());
                    after.topics.insert(name.clone(), topic.state.clone());
                }
            }
        }
        if after.topics.is_empty() && !racks_changed {
            return Vec::new();
        }
        // Before the first brokers were seen there was nothing that could change.
        let first = before.brokers.is_empty();
        let mut found = changes(&before, &after);
        found.retain(|change| {
            !(first && matches!(change, Change::Broker { change: BrokerChange::Appeared { .. }, .. }))
        });
        let mut hashes = BTreeMap::new();
        for (name, state) in after.topics {
            let was = self.hashes.get(&name);
            self.put(name.clone(), state);
            hashes.insert(name.clone(), was.unwrap_or(0)..self.hashes.get(&name).unwrap_or(0));
        }
        let with_hash = |change: Change| {
            let hash = match &change {
                Change::Topic { topic, .. } if change.effect() != Effect::KeepsHash => hashes.get(topic),
                _ => None,
            };
            Found { hash: hash.map(|hash| (hash.start, hash.end)), change }
        };
        found.into_iter().map(with_hash).collect()
    }

    /// A topic as it is now, under the racks as they are now.
    fn put(&mut self, name: Name, state: Option<TopicState>) {
        let was = self.hashes.get(&name);
        let mut view = TopicMetadata { name: name.clone(), presence: Presence::Gone, ..TopicMetadata::default() };
        let known = self.watched.remove(&name);
        view.changed = known.as_ref().and_then(|known| known.view.changed.clone());
        if let Some(state) = &state {
            view.hash = Some(self.hashes.put(self.brokers.input(&name, state)));
            view.presence = Presence::Present;
            view.id = Some(state.id);
            view.partitions = state.partitions.len();
            let certainty = self.brokers.certainty(state);
            view.last_seen = certainty.last_seen;
            view.unknown = certainty.unknown;
            self.describe_racks(&mut view, state);
        } else {
            self.hashes.remove(&name);
        }
        let before = if was == view.hash { known.and_then(|known| known.before) } else { was };
        self.redone.insert(name.clone());
        self.other = true;
        self.watched.insert(name, Watched { state, view: Arc::new(view), before });
    }

    fn describe_racks(&self, view: &mut TopicMetadata, state: &TopicState) {
        let mut on: BTreeMap<i32, usize> = BTreeMap::new();
        for (number, partition) in (0i32..).zip(&state.partitions) {
            for id in &partition.replicas {
                *on.entry(*id).or_default() += 1;
            }
            let mut racks = partition.replicas.iter().map(|id| match self.brokers.rack(*id) {
                Rack::Known(rack) => rack,
                Rack::Unknown => None,
            });
            let first = racks.next().flatten();
            if partition.replicas.len() > 1 && first.is_some() && racks.all(|rack| rack == first) {
                view.one_rack.push(number);
            }
        }
        let mut racks: BTreeMap<Option<Name>, usize> = BTreeMap::new();
        for (id, replicas) in on {
            let Some(broker) = self.brokers.get(id) else { continue };
            let rack = broker.rack.clone().filter(|_| broker.standing != Standing::Unregistered);
            *racks.entry(rack).or_default() += replicas;
            if broker.standing == Standing::Inferred {
                view.inferred.insert(id);
            }
        }
        view.racks = racks.into_iter().collect();
    }

    /// Bytes held, for stating the cost of the watch.
    pub fn heap_size(&self) -> usize {
        let partition = |partition: &PartitionState| {
            size_of::<PartitionState>() + size_of::<i32>() * (partition.replicas.capacity() + partition.isr.capacity())
        };
        let topic = |topic: &Watched| {
            let states = topic.state.iter().flat_map(|state| &state.partitions).map(partition).sum::<usize>();
            states + size_of::<Watched>() + size_of::<TopicMetadata>() + size_of::<i32>() * topic.view.one_rack.len()
        };
        self.hashes.heap_size() + self.watched.values().map(topic).sum::<usize>()
    }
}

/// The brokers that clients see, whose racks were asked since they are up.
fn racks(cluster: &Cluster) -> impl Iterator<Item = (i32, Option<Name>)> {
    cluster.brokers.iter().filter(|(_, broker)| !broker.rack_pending).map(|(id, broker)| (*id, broker.rack.clone()))
}

/// What an observation says of a topic.
enum Said {
    /// Nothing: it was not read, or not wholly.
    Nothing,
    /// There is no such topic.
    Gone,
    Is(TopicState),
}

fn said(topic: &Topic) -> Said {
    match (topic.presence, topic.id) {
        (Presence::Gone, _) => Said::Gone,
        (Presence::Present, Some(id)) => {
            let partition = |partition: &crate::model::Partition| PartitionState {
                leader: partition.leader,
                replicas: partition.replicas.clone(),
                isr: partition.isr.clone(),
            };
            Said::Is(TopicState { id, partitions: topic.partitions.iter().map(partition).collect() })
        }
        (Presence::Present | Presence::Unknown | Presence::Denied, _) => Said::Nothing,
    }
}
