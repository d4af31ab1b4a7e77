//! A snapshot: facts as observed, full or partial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{At, Cluster, Group, Name, Problem, Topic, TopicOffsets};

/// Facts as observed. In a *partial* snapshot what is not named is unchanged: a missing map entry, a `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    pub cluster: Option<Cluster>,
    pub listing: Option<Listing>,
    pub progress: Option<Progress>,
    pub log: Option<LogProgress>,
    pub topics: BTreeMap<Name, Topic>,
    pub offsets: BTreeMap<Name, TopicOffsets>,
    /// Selected groups only.
    pub groups: BTreeMap<Name, Group>,
    /// Groups that were there and are no longer listed (partial snapshots only).
    pub gone_groups: Vec<Name>,
    /// All problems as of now; replaces the earlier list.
    pub problems: Option<Vec<Problem>>,
}

/// The list of groups, of which only the selected ones become [`Group`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listing {
    pub observed_at: At,
    /// Groups of every kind in the cluster.
    pub total: usize,
    /// False: a broker did not answer, there may be more.
    pub complete: bool,
}

/// How far the coordinator log was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogProgress {
    pub observed_at: At,
    /// When the log of share groups, `__share_group_state`, was read to its end; `None`: it is not read.
    pub shares_at: Option<At>,
    /// Partitions of `__consumer_offsets`.
    pub partitions: usize,
    /// Of them read to the end, so that they tell what is true now.
    pub caught_up: usize,
    /// Partitions in which an open transaction hides what was written after it.
    pub held: Vec<i32>,
    /// The log was read from its beginning: nothing is older than what is known.
    pub whole: bool,
    /// Offsets before the part that is read (records at most).
    pub skipped: u64,
    /// How far back the history was asked for, in milliseconds; `None`: all of it.
    pub history_ms: Option<u64>,
    /// By partition, the next offset to read: what lies before it was read or left out, and the events of it were told.
    /// A new collector goes on from there.
    pub next: BTreeMap<i32, i64>,
    /// Records read, of them dropped after their key, of an unknown type or version, and damaged.
    pub read: u64,
    pub dropped: u64,
    pub unknown: u64,
    pub damaged: u64,
    /// Milliseconds spent looking at keys and decoding.
    pub decoding_ms: u64,
}

/// How far the collector has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Finished polls.
    pub polls: u64,
    /// Every selected group was asked for at least once, and answered or failed.
    pub all_seen: bool,
    /// Poll interval in milliseconds.
    pub interval_ms: u64,
    /// How long the last poll took, in milliseconds.
    pub took_ms: u64,
    /// The person's consumers read with `isolation.level=read_committed`: what they can read ends at the last stable
    /// offset.
    pub read_committed: bool,
}

impl Snapshot {
    /// Takes over everything that `newer` names. Used to fold partial snapshots into the known facts, and to merge
    /// partial snapshots that wait for a slow reader.
    pub fn apply(&mut self, newer: Snapshot) {
        let Snapshot { cluster, listing, progress, log, topics, offsets, groups, gone_groups, problems } = newer;
        replace(&mut self.cluster, cluster);
        replace(&mut self.listing, listing);
        replace(&mut self.progress, progress);
        replace(&mut self.log, log);
        replace(&mut self.problems, problems);
        self.topics.extend(topics);
        for (name, newer) in offsets {
            self.offsets.entry(name).or_default().apply(newer);
        }
        for name in gone_groups {
            self.groups.remove(&name);
            if !self.gone_groups.contains(&name) {
                self.gone_groups.push(name);
            }
        }
        for (name, group) in groups {
            self.gone_groups.retain(|gone| *gone != name);
            let known = self.groups.entry(name).or_default();
            known.kind = group.kind;
            replace(&mut known.listed_state, group.listed_state);
            replace(&mut known.description, group.description);
            replace(&mut known.described_at, group.described_at);
            replace(&mut known.commits, group.commits);
            replace(&mut known.commits_at, group.commits_at);
            replace(&mut known.share, group.share);
            replace(&mut known.probes, group.probes);
        }
    }
}

fn replace<T>(known: &mut Option<T>, newer: Option<T>) {
    if newer.is_some() {
        *known = newer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Commits, Description, GroupKind};

    fn with_group(name: &str, group: Group) -> Snapshot {
        Snapshot { groups: BTreeMap::from([(Name::new(name), group)]), ..Snapshot::default() }
    }

    #[test]
    fn what_a_partial_snapshot_does_not_name_is_unchanged() {
        let mut known = with_group("a", Group { description: Some(Description::default()), ..Group::default() });
        known.apply(with_group(
            "a",
            Group { kind: GroupKind::Classic, commits: Some(Commits::default()), ..Group::default() },
        ));
        let group = &known.groups["a"];
        assert!(group.description.is_some() && group.commits.is_some());
        assert_eq!(group.kind, GroupKind::Classic);
    }

    #[test]
    fn a_gone_group_leaves_and_may_come_back() {
        let mut known = with_group("a", Group::default());
        known.apply(Snapshot { gone_groups: vec![Name::new("a")], ..Snapshot::default() });
        assert!(known.groups.is_empty());
        assert_eq!(known.gone_groups, vec![Name::new("a")]);
        known.apply(with_group("a", Group::default()));
        assert!(known.groups.contains_key("a") && known.gone_groups.is_empty());
    }
}
