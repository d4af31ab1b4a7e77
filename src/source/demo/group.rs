//! A simulated group: members join, leave, crash, consume and commit; rebalances take their time; who gets what is
//! decided by the real assignors.
//!
//! Classic groups rebalance eagerly: everybody commits and lets go, the join phase waits for those who fell silent,
//! then the leader's assignment is handed out. Groups of KIP-848 reconcile member by member, at heartbeats.

use super::TICK;
use super::cast::{Begin, Event, GroupRole, Protocol};
use super::random::Random;
use super::topic::Topic;
use crate::assign::{Assignor, GroupInput, MemberInput, TopicInput, TopicPartition};
use crate::model::Name;

/// A member that is silent for so long is thrown out; milliseconds, as all times here.
const SESSION: u64 = 10_000;
const JOIN: u64 = 3000;
const SYNC: u64 = 1000;
const HEARTBEAT: u64 = 3000;
/// Members do the same thing at different times: each slot this much later.
const STAGGER: u64 = 750;

pub struct Group {
    pub role: &'static GroupRole,
    /// Places in the simulation's topics.
    pub topics: Vec<usize>,
    /// For each of [`Group::topics`] and partition: how far the group is.
    pub marks: Vec<Vec<Mark>>,
    pub members: Vec<Member>,
    pub phase: Phase,
    assignor: Assignor,
    /// Classic groups only.
    generation: i32,
}

#[derive(Clone, Default)]
pub struct Mark {
    pub commit: Option<i64>,
    /// Next offset that the owner reads; `None`: the owner gets nothing.
    pub position: Option<i64>,
}

pub struct Member {
    pub slot: u32,
    pub id: Name,
    pub held: Vec<TopicPartition>,
    /// KIP-848: what it shall hold.
    pub target: Vec<TopicPartition>,
    /// Generation that it named when it joined.
    pub joined_from: Option<i32>,
    /// Generation of which it got its assignment.
    generation: Option<i32>,
    /// It has fallen silent: when the coordinator will throw it out.
    silent_until: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Stable,
    /// PreparingRebalance: until then members may join.
    Joining(u64),
    /// CompletingRebalance.
    Syncing(u64),
}

impl Group {
    pub fn new(role: &'static GroupRole, topics: &[Topic], random: &mut Random) -> Self {
        let places = role.topics.iter().filter_map(|name| topics.iter().position(|topic| topic.role.name == *name));
        let places: Vec<usize> = places.collect();
        let marks = places.iter().enumerate().map(|(topic, place)| {
            let begins = role.begins.get(topic).copied().unwrap_or_default();
            let logs = topics[*place].logs.iter().enumerate();
            logs.map(|(number, log)| {
                let offset = match begins.get(number).copied().unwrap_or(Begin::Lag(0)) {
                    Begin::Lag(lag) => Some(log.end - lag),
                    Begin::NoCommit => None,
                    Begin::PastEnd(by) => Some(log.end + by),
                    Begin::Expired(lost) => Some(log.start - lost),
                };
                Mark { commit: offset, position: offset }
            })
        });
        let marks = marks.map(Iterator::collect).collect();
        let mut group = Self {
            role,
            topics: places,
            marks,
            members: Vec::new(),
            phase: Phase::Stable,
            // An assignor that is not built here: range, which all clients know.
            assignor: role.assignor.parse().unwrap_or(Assignor::Range),
            generation: 1,
        };
        for slot in 0..role.members {
            group.join(slot, random);
        }
        // The cast is on stage when the curtain rises.
        group.retarget(topics);
        for member in &mut group.members {
            member.held.clone_from(&member.target);
            member.generation = Some(group.generation);
        }
        group
    }

    /// One tick, which ends at `now`.
    pub fn advance(&mut self, now: u64, topics: &[Topic], random: &mut Random) {
        if self.follow_script(now, random) | self.end_sessions(now) {
            self.rebalance(now, topics);
        }
        match self.phase {
            Phase::Joining(until) if now >= until && self.members.iter().all(Member::is_alive) => {
                self.phase = Phase::Syncing(now + SYNC);
            }
            Phase::Syncing(until) if now >= until => self.sync(topics),
            _ => {}
        }
        for place in 0..self.members.len() {
            if !self.members[place].is_alive() {
                continue;
            }
            if self.role.protocol == Protocol::Consumer && self.is_due(place, now, HEARTBEAT) {
                self.reconcile(place);
            }
            self.consume(place, topics);
            if self.is_due(place, now, self.role.commits_every) {
                self.commit(place);
            }
        }
    }

    pub fn client_id(&self, slot: u32) -> String {
        format!("{}-{}", self.role.client, slot + 1)
    }

    fn is_due(&self, place: usize, now: u64, every: u64) -> bool {
        (now + u64::from(self.members[place].slot) * STAGGER).is_multiple_of(every)
    }

    /// What the script wants at `now`; true if that calls for a rebalance.
    fn follow_script(&mut self, now: u64, random: &mut Random) -> bool {
        if !now.is_multiple_of(1000) {
            return false;
        }
        let Some(second) = (now / 1000).checked_rem(self.role.period) else { return false };
        let mut disturbed = false;
        for (_, event) in self.role.script.iter().filter(|(at, _)| *at == second) {
            disturbed |= self.happen(*event, now, random);
        }
        disturbed
    }

    fn happen(&mut self, event: Event, now: u64, random: &mut Random) -> bool {
        let (Event::Start(slot) | Event::Leave(slot) | Event::Crash(slot)) = event;
        let place = self.members.iter().position(|member| member.slot == slot);
        match (event, place) {
            // A static member is back before its session ended: another id, the same place.
            (Event::Start(_), Some(place)) if self.role.is_static => {
                let id = self.new_id(slot, random);
                (self.members[place].id, self.members[place].silent_until) = (id, None);
                false
            }
            (Event::Start(_), _) => {
                self.join(slot, random);
                true
            }
            (Event::Leave(_), Some(place)) => {
                self.commit(place);
                self.members.remove(place);
                true
            }
            (Event::Crash(_), Some(place)) => {
                self.members[place].silent_until = Some(now + SESSION);
                false
            }
            (_, None) => false,
        }
    }

    fn join(&mut self, slot: u32, random: &mut Random) {
        let id = self.new_id(slot, random);
        self.members.push(Member {
            slot,
            id,
            held: Vec::new(),
            target: Vec::new(),
            joined_from: None,
            generation: None,
            silent_until: None,
        });
    }

    /// Classic: client or instance id, and a UUID. KIP-848: the client's own UUID.
    fn new_id(&self, slot: u32, random: &mut Random) -> Name {
        match self.role.protocol {
            Protocol::Consumer => random.kafka_uuid(),
            _ => Name::new(format!("{}-{}", self.client_id(slot), random.uuid())),
        }
    }

    /// Throws out who was silent for too long; true if there was one.
    fn end_sessions(&mut self, now: u64) -> bool {
        let before = self.members.len();
        self.members.retain(|member| member.silent_until.is_none_or(|end| end > now));
        self.members.len() < before
    }

    fn rebalance(&mut self, now: u64, topics: &[Topic]) {
        if self.role.protocol == Protocol::Consumer {
            return self.retarget(topics);
        }
        for place in 0..self.members.len() {
            if self.members[place].is_alive() {
                self.commit(place);
            }
            let member = &mut self.members[place];
            member.held.clear();
            member.joined_from = member.generation;
        }
        self.phase = if self.members.is_empty() { Phase::Stable } else { Phase::Joining(now + JOIN) };
    }

    /// The assignment of the rebalance that ends here.
    fn sync(&mut self, topics: &[Topic]) {
        self.phase = Phase::Stable;
        self.generation = self.generation.saturating_add(1);
        self.retarget(topics);
        for place in 0..self.members.len() {
            let target = self.members[place].target.clone();
            self.members[place].generation = Some(self.generation);
            self.take(place, &target);
        }
    }

    /// Runs the assignor.
    fn retarget(&mut self, topics: &[Topic]) {
        let plan = self.assignor.assign(&self.input(topics)).unwrap_or_default();
        let mut plan = plan.members.into_iter();
        for member in &mut self.members {
            member.target = plan.next().unwrap_or_default();
            member.target.sort_unstable();
        }
    }

    /// Racks are left out: every partition has a replica in each.
    fn input(&self, topics: &[Topic]) -> GroupInput {
        let topic = |place: &usize| {
            let topic = &topics[*place];
            let (name, partitions) = (Name::new(topic.role.name), Some(topic.logs.len() as u32));
            TopicInput { name, id: Some(topic.id), partitions, ..TopicInput::default() }
        };
        let member = |member: &Member| MemberInput {
            id: member.id.clone(),
            instance_id: self.role.is_static.then(|| Name::new(self.client_id(member.slot))),
            topics: (0..self.topics.len() as u32).collect(),
            owned: if self.role.protocol == Protocol::Consumer { member.target.clone() } else { member.held.clone() },
            generation: member.joined_from,
            ..MemberInput::default()
        };
        GroupInput {
            members: self.members.iter().map(member).collect(),
            topics: self.topics.iter().map(topic).collect(),
            ..GroupInput::default()
        }
    }

    /// One heartbeat of a KIP-848 member: first it lets go what it shall not hold, then it takes what is free.
    fn reconcile(&mut self, place: usize) {
        let Member { held, target, .. } = &self.members[place];
        if held.iter().all(|tp| target.contains(tp)) {
            let is_free = |tp: &TopicPartition| !self.members.iter().any(|member| member.held.contains(tp));
            let free: Vec<TopicPartition> = target.iter().copied().filter(is_free).collect();
            self.take(place, &free);
        } else {
            self.commit(place);
            let Member { held, target, .. } = &mut self.members[place];
            held.retain(|tp| target.contains(tp));
        }
    }

    /// The member begins to read where the group committed: what the last owner read beyond is read again.
    fn take(&mut self, place: usize, partitions: &[TopicPartition]) {
        for tp in partitions {
            let mark = &mut self.marks[tp.topic as usize][tp.partition as usize];
            mark.position = mark.commit;
        }
        self.members[place].held.extend_from_slice(partitions);
        self.members[place].held.sort_unstable();
    }

    /// Reads for one tick, with the same effort for every partition that has something left.
    fn consume(&mut self, place: usize, topics: &[Topic]) {
        let mut waiting: Vec<(i64, TopicPartition)> = Vec::new();
        for tp in &self.members[place].held {
            let log = &topics[self.topics[tp.topic as usize]].logs[tp.partition as usize];
            let mark = &mut self.marks[tp.topic as usize][tp.partition as usize];
            // What retention took is skipped.
            mark.position = mark.position.map(|position| position.max(log.start));
            if let Some(position) = mark.position.filter(|position| *position < log.end) {
                waiting.push((log.end - position, *tp));
            }
        }
        waiting.sort_unstable();
        let mut budget = self.role.capacity * TICK.as_millis() as i64 / 1000;
        for (place, (lag, tp)) in waiting.iter().enumerate() {
            let read = (*lag).min(budget / (waiting.len() - place) as i64);
            budget -= read;
            if let Some(position) = &mut self.marks[tp.topic as usize][tp.partition as usize].position {
                *position += read;
            }
        }
    }

    fn commit(&mut self, place: usize) {
        for tp in &self.members[place].held {
            let mark = &mut self.marks[tp.topic as usize][tp.partition as usize];
            mark.commit = mark.position.or(mark.commit);
        }
    }
}

impl Member {
    fn is_alive(&self) -> bool {
        self.silent_until.is_none()
    }
}
