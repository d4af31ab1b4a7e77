//! What a rebalance is: when, why, who came and went, what moved. Plain data; how it is found out is in the files
//! beside this one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cause::{Cause, Why};
use crate::health::{Reason, Severity, Verdict};
use crate::model::figures::plural;
use crate::model::{EventMember, Evidence, GroupKind, Member, Name, Wall};

/// One rebalance that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebalance {
    /// Partition and offset of its first record in the coordinator log; `None`: seen by polling alone.
    pub log: Option<(i32, i64)>,
    /// By the coordinator's clock; seen by polling: by the clock of whoever polled.
    pub began: Wall,
    pub ended: Wall,
    pub took: Took,
    /// Classic: generations. KIP-848, share, streams: group epochs. `None`: polling tells neither.
    pub from: Option<i32>,
    pub to: Option<i32>,
    /// Classic: generations between `from` and `to`, rounds that never synced (or whose record is compacted away).
    pub missed: u32,
    /// KIP-848, share, streams: bumps of the group epoch inside it.
    pub bumps: u32,
    /// In the order in which they came; never empty.
    pub causes: Vec<Cause>,
    pub joined: Members<Arc<Who>>,
    pub gone: Members<Gone>,
    /// `None`: what the members hold cannot be decoded.
    pub moves: Option<Moves>,
    /// It left the group without members.
    pub emptied: bool,
    /// Not every member of the group was known: the log is not known from the group's beginning. What is listed is
    /// true, there may be more.
    pub partial: bool,
}

impl Rebalance {
    pub fn evidence(&self) -> Evidence {
        if self.log.is_some() { Evidence::Log } else { Evidence::Admin }
    }

    /// How many members and moves it lists.
    pub(super) fn details(&self) -> usize {
        let moves = self.moves.as_ref().map_or(0, |moves| moves.list.len());
        self.joined.list.len() + self.gone.list.len() + moves
    }

    /// Forgets who and which, keeps how many.
    pub(super) fn thin(&mut self) {
        self.joined.list = Vec::new();
        self.gone.list = Vec::new();
        if let Some(moves) = &mut self.moves {
            moves.list = Vec::new();
        }
    }
}

/// How long a rebalance took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Took {
    /// Between two records.
    Exact(Duration),
    /// Between polls: give or take `error`.
    About { took: Duration, error: Duration },
    /// Its start is in no record and no poll saw it.
    AtLeast(Duration),
}

impl Default for Took {
    fn default() -> Self {
        Self::AtLeast(Duration::ZERO)
    }
}

impl Took {
    /// The duration, or the known part of it.
    pub fn known(self) -> Duration {
        match self {
            Self::Exact(took) | Self::About { took, .. } | Self::AtLeast(took) => took,
        }
    }

    pub fn is_lower_bound(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }
}

/// A member as people know it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    pub id: Name,
    pub instance_id: Option<Name>,
    /// Empty where only the id is known.
    pub client_id: Name,
    pub host: Name,
}

impl Who {
    /// The same member for its partitions: a static member keeps them under a new id.
    pub fn is(&self, other: &Who) -> bool {
        self.id == other.id || (self.instance_id.is_some() && self.instance_id == other.instance_id)
    }

    /// Whether it may be the same process, started or joined again.
    pub(super) fn resembles(&self, other: &Who) -> bool {
        !self.client_id.is_empty() && self.client_id == other.client_id && self.host == other.host
    }
}

impl From<&EventMember> for Who {
    fn from(member: &EventMember) -> Self {
        Self {
            id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            host: member.host.clone(),
        }
    }
}

impl From<&Member> for Who {
    fn from(member: &Member) -> Self {
        Self {
            id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            host: member.host.clone(),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.client_id.is_empty() && self.host.is_empty() {
            return write!(f, "{}", self.id);
        }
        write!(f, "{}", self.client_id)?;
        if let Some(instance) = &self.instance_id {
            write!(f, " ({instance})")?;
        }
        let host = self.host.safe();
        write!(f, " @{}", host.strip_prefix('/').unwrap_or(&host))
    }
}

/// A member that went, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gone {
    pub who: Arc<Who>,
    pub why: Why,
}

/// Members of a rebalance: how many, and those that are still remembered by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members<T> {
    pub count: usize,
    /// All of them, the first of very many, or none in a rebalance of long ago.
    pub list: Vec<T>,
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self { count: 0, list: Vec::new() }
    }
}

/// Most members and moves that one rebalance lists.
pub(super) const LISTED: usize = 2_000;

impl<T> Members<T> {
    pub(super) fn push(&mut self, member: T) {
        self.count += 1;
        if self.list.len() < LISTED {
            self.list.push(member);
        }
    }
}

/// Partitions that changed hands between the end of the rebalance before and the end of this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves {
    /// From one member to another, also from a member that is gone.
    pub moved: usize,
    /// Nobody had them before.
    pub taken: usize,
    /// Nobody has them now.
    pub dropped: usize,
    /// Partitions that members hold now or held before.
    pub of: usize,
    /// Sorted by topic and partition; the first of very many, or none in a rebalance of long ago.
    pub list: Vec<Move>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub topic: Name,
    pub partition: i32,
    /// Who had it last, also if it was free in between (a cooperative rebalance of two rounds).
    pub from: Option<Arc<Who>>,
    pub to: Option<Arc<Who>>,
}

/// The rebalance that is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ongoing {
    /// By the coordinator's clock; `None`: only polls have seen it.
    pub began: Option<Wall>,
    pub lasting: Duration,
    /// It may have begun earlier.
    pub at_least: bool,
    /// Group epoch before it and now; `None`: a classic group, whose generation is known at the end.
    pub from: Option<i32>,
    pub to: Option<i32>,
    pub bumps: u32,
    pub causes: Vec<Cause>,
    pub joined: Members<Arc<Who>>,
    pub gone: Members<Gone>,
    /// Members that are not where the group is; empty for classic groups, where no record tells.
    pub waits_for: Vec<Waiting>,
}

/// A member that a rebalance waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub who: Arc<Who>,
    /// Its member epoch; −2: a static member that is away.
    pub epoch: Option<i32>,
    /// False: it still has to give up partitions, or waits for others to do so.
    pub settled: bool,
}

/// Something worth a line of its own, of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    pub group: Name,
    pub wall: Wall,
    /// Place in the coordinator log; `None`: seen by polling.
    pub log: Option<(i32, i64)>,
    pub what: Happened,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happened {
    Rebalance(Arc<Rebalance>),
    Created,
    Deleted,
    TypeChanged {
        from: GroupKind,
        to: GroupKind,
    },
    /// A static member went and may come back: nothing is reassigned until its session ends.
    StaticAway(Arc<Who>),
    /// A static member came back under a new member id; it kept its partitions. `None`: the record does not tell who.
    StaticRestarted(Option<Arc<Who>>),
    /// Commits moved back within a few seconds: an offset reset, or a member that committed late.
    CommitsBack {
        partitions: usize,
        /// Sum over the partitions.
        records: u64,
        /// The first of them.
        topic: Name,
        partition: i32,
        from: i64,
        to: i64,
    },
    /// Another verdict, which has held for a while.
    Verdict {
        from: Verdict,
        to: Verdict,
        severity: Severity,
        /// What decided, and the partition that shows it most.
        reason: Reason,
        partition: Option<(Name, i32)>,
    },
    /// Topics, racks or subscriptions changed in a way that may change who owns what (KIP-1101).
    Metadata {
        subject: Name,
        text: String,
    },
    /// The last member that subscribed to a topic is gone, or subscribes to others.
    TopicLeft {
        topic: Name,
    },
}

impl Happened {
    /// Name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rebalance(_) => "rebalance",
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::TypeChanged { .. } => "type_changed",
            Self::StaticAway(_) => "static_away",
            Self::StaticRestarted(_) => "static_restarted",
            Self::CommitsBack { .. } => "commits_back",
            Self::Verdict { .. } => "verdict",
            Self::TopicLeft { .. } => "topic_left",
            Self::Metadata { .. } => "metadata",
        }
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebalance(rebalance) => {
                for (place, cause) in rebalance.causes.iter().enumerate() {
                    write!(f, "{}{cause}", if place == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Self::Created => f.write_str("group created"),
            Self::Deleted => f.write_str("group deleted"),
            Self::TypeChanged { from, to } => write!(f, "group changed from {from} to {to}"),
            Self::StaticAway(who) => write!(f, "static member {who} went and may come back"),
            Self::StaticRestarted(Some(who)) => write!(f, "static member {who} restarted"),
            Self::StaticRestarted(None) => f.write_str("a static member restarted"),
            Self::Verdict { from, to, reason, partition, .. } => {
                write!(f, "{from} > {to}: ")?;
                match partition {
                    Some((topic, number)) => write!(f, "{topic}-{number}: {reason}"),
                    None => write!(f, "{reason}"),
                }
            }
            Self::Metadata { subject, text } => write!(f, "{subject}: {text}"),
            Self::TopicLeft { topic } => write!(f, "no member subscribes to {topic} any more"),
            Self::CommitsBack { partitions, records, topic, partition, from, to } => {
                write!(f, "commit of {topic}-{partition} moved back {from} > {to}")?;
                match partitions {
                    0 | 1 => Ok(()),
                    more => write!(f, " (and {}, {records} records in all)", plural(more - 1, "more partition")),
                }
            }
        }
    }
}
