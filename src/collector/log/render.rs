//! From what the log told of a group to the facts of the model; and the other way, once: what admin calls say fills
//! what lies before the part of the log that was read.

use std::collections::BTreeMap;

use super::classic::Classic;
use super::group::LogGroup;
use super::member::{Current, LogMember, MemberState};
use super::topics::{TopicNames, TopicRef};
use crate::model::{
    Commits, Description, EventMember, Evidence, GroupKind, GroupState, Member, MemberLog, Name, Tasks, TopicPartitions,
};

/// The epoch of a member that only admin calls described: they do not tell it.
const UNTOLD: i32 = -1;

/// What the log cannot tell.
pub struct Known {
    /// Of classic groups: no record tells PreparingRebalance.
    pub listed_state: Option<GroupState>,
    /// Leader of the group's log partition.
    pub coordinator: Option<i32>,
}

impl LogGroup {
    /// Whether all that can be known of it is known, although the beginning of the log was not read.
    pub fn tells_all(&self) -> bool {
        self.seeded || (!self.is_seedable() && (self.classic.is_some() || self.epoch.is_some()))
    }

    /// The group as its coordinator knows it.
    pub fn description(&self, names: &TopicNames, known: &Known) -> Description {
        let mut description = Description {
            evidence: Evidence::Log,
            coordinator: known.coordinator,
            stored_hash: self.hash,
            assignment_epoch: self.assignment_epoch,
            ..Description::default()
        };
        if let Some(classic) = &self.classic {
            description.simple = classic.simple;
            description.epoch = Some(classic.generation).filter(|generation| *generation >= 0);
            description.assignor = classic.protocol.clone().filter(|protocol| !protocol.is_empty());
            let foreign = matches!(self.kind, GroupKind::Other(_));
            description.members = classic.members.iter().map(|member| classic_row(member, classic, foreign)).collect();
            description.state = classic_state(known.listed_state, description.members.is_empty());
        } else {
            // Commits, and no record of a group.
            description.simple = self.epoch.is_none() && self.members.is_empty();
            description.epoch = self.epoch;
            description.topology_epoch = self.topology.as_ref().map(|topology| topology.epoch);
            description.topology_topics = self.topology.as_ref().map(|_| self.topology_topics());
            description.members =
                self.members.values().flatten().map(|member| self.modern_row(member, names)).collect();
            description.assignor = self.assignor();
            description.state = self.state(known.listed_state);
        }
        description.members.sort_by(|a, b| a.id.cmp(&b.id));
        description
    }

    /// All commits; deleted ones are not there.
    pub fn committed(&self) -> Commits {
        let mut topics = BTreeMap::new();
        for (topic, commits) in &self.commits {
            let present = commits.iter().filter_map(|(partition, commit)| Some((*partition, commit.clone()?)));
            let present: BTreeMap<_, _> = present.collect();
            if !present.is_empty() {
                topics.insert(topic.clone(), present);
            }
        }
        Commits { topics }
    }

    /// Fills what the part of the log that was read does not tell: members that have not changed since, commits that
    /// are older. What the log told, deletions too, stays.
    pub fn seed(&mut self, description: &Description, commits: &Commits) {
        for (topic, older) in &commits.topics {
            let known = self.commits.entry(topic.clone()).or_default();
            for (partition, commit) in older {
                known.entry(*partition).or_insert_with(|| Some(commit.clone()));
            }
        }
        if self.kind == GroupKind::Consumer {
            for member in &description.members {
                let known = self.members.entry(member.id.clone()).or_insert_with(|| Some(LogMember::default()));
                if let Some(known) = known {
                    fill(known, member);
                }
            }
        } else if self.classic.is_none() && self.kind == GroupKind::Classic {
            self.classic = Some(Classic {
                generation: -1,
                simple: description.simple,
                protocol: description.assignor.clone(),
                members: description.members.iter().map(event_member).collect(),
                joined_from: BTreeMap::new(),
            });
        }
        // Nothing older comes any more: what was deleted can be forgotten.
        self.seeded = true;
        self.forget_deleted();
    }

    /// No answer that is older than what was deleted comes any more.
    pub fn forget_deleted(&mut self) {
        self.members.retain(|_, member| member.is_some());
        self.commits.values_mut().for_each(|commits| commits.retain(|_, commit| commit.is_some()));
        self.commits.retain(|_, commits| !commits.is_empty());
    }

    fn modern_row(&self, member: &LogMember, names: &TopicNames) -> Member {
        let LogMember { who, current, .. } = member;
        let streams = self.kind == GroupKind::Streams;
        // What it must give up is still its own until it says that it has; the coordinator describes it so, too.
        let held = |current: &Current| names.named(&self.owned(current));
        let target = if streams {
            member.target_tasks.as_ref().map(|tasks| names.named(&self.topics_of(&tasks.active)))
        } else {
            member.target.as_ref().map(|held| names.named(held))
        };
        let subscription =
            if streams { self.topology.as_ref().map(|_| self.topology_topics()) } else { self.subscribed(who) };
        Member {
            id: who.id.clone(),
            instance_id: who.instance_id.clone(),
            client_id: who.client_id.clone(),
            host: who.host.clone(),
            rack: who.rack.clone(),
            subscription,
            joined_from: None,
            assignment: Some(current.as_ref().map(held).unwrap_or_default()),
            target,
            elsewhere: 0,
            log: Some(Box::new(MemberLog {
                epoch: current.as_ref().map(|current| current.epoch).filter(|epoch| *epoch != UNTOLD),
                pending_revocation: current.as_ref().map(|current| names.named(&current.pending)).unwrap_or_default(),
                waits: current.as_ref().is_some_and(|current| current.state == MemberState::Unreleased),
                regex: who.regex.clone(),
                assignor: who.assignor.clone(),
                rebalance_timeout_ms: who.rebalance_timeout_ms,
                session_timeout_ms: who.session_timeout_ms,
                classic_protocol: member.classic_protocol,
                tasks: member.tasks.clone().map(|tasks| Tasks { process: member.process.clone(), ..tasks }),
            })),
        }
    }

    /// Names and the topics that the regex matched; unknown until its record exists.
    fn subscribed(&self, who: &EventMember) -> Option<Vec<Name>> {
        let mut topics = who.subscription.clone()?;
        if let Some(regex) = &who.regex {
            topics.extend(self.regexes.get(regex)?.iter().cloned());
            topics.sort_unstable();
            topics.dedup();
        }
        Some(topics)
    }

    fn topology_topics(&self) -> Vec<Name> {
        let subtopologies = self.topology.iter().flat_map(|topology| &topology.subtopologies);
        let mut topics: Vec<Name> = subtopologies
            .flat_map(|subtopology| {
                let repartition = subtopology.repartition_source_topics.iter().map(|topic| &topic.name);
                subtopology.source_topics.iter().chain(repartition).cloned()
            })
            .collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    /// The server-side assignor that most members ask for, as the coordinator chooses it; without a wish it is the
    /// broker's first, which no record tells.
    fn assignor(&self) -> Option<Name> {
        let mut wishes: BTreeMap<&Name, usize> = BTreeMap::new();
        for wish in self.members.values().flatten().filter_map(|member| member.who.assignor.as_ref()) {
            *wishes.entry(wish).or_default() += 1;
        }
        wishes.into_iter().max_by_key(|(_, count)| *count).map(|(assignor, _)| assignor.clone())
    }

    /// Whether the topics of a streams group's topology were found to be there (`StreamsGroup.maybeUpdateGroupState`).
    /// Where it is not stored nobody is given tasks either, unless the broker never stores it.
    fn is_ready(&self) -> bool {
        let Some(topology) = &self.topology else { return false };
        let mut targets = self.members.values().flatten().filter_map(|member| member.target_tasks.as_ref());
        match self.validated_topology {
            Some(validated) => validated == topology.epoch,
            None => targets.any(|tasks| !tasks.active.is_empty()),
        }
    }

    /// State of a KIP-848, share or streams group from its epochs.
    fn state(&self, listed: Option<GroupState>) -> GroupState {
        let members: Vec<&LogMember> = self.members.values().flatten().collect();
        if self.epoch.is_none() {
            return listed.unwrap_or_default();
        }
        if members.is_empty() {
            return GroupState::Empty;
        }
        if self.kind == GroupKind::Share {
            return GroupState::Stable;
        }
        if self.kind == GroupKind::Streams && !self.is_ready() {
            return GroupState::NotReady;
        }
        if self.epoch > self.assignment_epoch {
            return GroupState::Assigning;
        }
        // As the coordinator has it: a static member that is away (−2) is one that is waited for.
        let behind = |member: &&LogMember| match &member.current {
            Some(current) if current.epoch == UNTOLD => member.target.as_ref().is_some_and(|to| *to != current.held),
            Some(current) => Some(current.epoch) != self.epoch || current.state != MemberState::Stable,
            None => true,
        };
        if members.iter().any(behind) { GroupState::Reconciling } else { GroupState::Stable }
    }
}

fn classic_state(listed: Option<GroupState>, empty: bool) -> GroupState {
    match listed {
        Some(rebalancing @ (GroupState::PreparingRebalance | GroupState::CompletingRebalance)) => rebalancing,
        _ if empty => GroupState::Empty,
        _ => GroupState::Stable,
    }
}

fn classic_row(member: &EventMember, classic: &Classic, foreign: bool) -> Member {
    Member {
        id: member.id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        rack: member.rack.clone(),
        subscription: member.subscription.clone(),
        joined_from: classic.joined_from.get(&member.id).copied(),
        assignment: if foreign { None } else { Some(member.held.clone().unwrap_or_default()) },
        target: None,
        elsewhere: 0,
        log: Some(Box::new(MemberLog {
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            classic_protocol: true,
            ..MemberLog::default()
        })),
    }
}

fn event_member(member: &Member) -> EventMember {
    EventMember {
        id: member.id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        rack: member.rack.clone(),
        subscription: member.subscription.clone(),
        held: member.assignment.clone(),
        ..EventMember::default()
    }
}

/// What an admin call says of a member goes where the log has said nothing.
fn fill(known: &mut LogMember, member: &Member) {
    if known.who.client_id.is_empty() {
        known.who = EventMember { held: None, ..event_member(member) };
    }
    let by_name = |topics: &TopicPartitions| {
        topics.iter().map(|(topic, numbers)| (TopicRef::Named(topic.clone()), numbers.clone())).collect()
    };
    if known.current.is_none()
        && let Some(held) = &member.assignment
    {
        known.current = Some(Current { epoch: UNTOLD, held: by_name(held), ..Current::default() });
    }
    if known.target.is_none() {
        known.target = member.target.as_ref().map(by_name);
    }
}
