//! Verdicts: how a partition, a member or a group stands, why, and how much is known of it. Every rule and its numbers are
//! in docs/health-rules.md.

mod group;
mod partition;
mod reason;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

pub use group::{GroupSigns, Grouped, judge_group, judge_member};
pub use partition::{ARRIVES, CommitSigns, Owner, PartitionSigns, judge};
pub use reason::Reason;

/// A partition that is watched for so long is judged on complete evidence.
pub const COMPLETE: Duration = Duration::from_secs(60);

/// How something stands; nothing else is ever said. The graver first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Its commit does not go on: somebody has it and commits, but not past what is waiting; or it is past the end.
    Stalled,
    /// Nobody commits although records wait.
    Stopped,
    /// It is behind, and does not come closer.
    Lagging,
    /// Its commit moved back: it reads again what it had read.
    Rewound,
    /// Partitions change hands.
    Rebalancing,
    /// It is behind and comes closer.
    CatchingUp,
    #[default]
    Unknown,
    /// There is nothing to read and nobody to read it.
    Empty,
    Ok,
}

impl Verdict {
    /// The word on screens and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::CatchingUp => "CATCHING UP",
            Self::Lagging => "LAGGING",
            Self::Stalled => "STALLED",
            Self::Stopped => "STOPPED",
            Self::Rewound => "REWOUND",
            Self::Rebalancing => "REBALANCING",
            Self::Empty => "EMPTY",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// How much it matters; the gravest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Critical,
    Warn,
    /// Worth knowing, nothing to do.
    Note,
    #[default]
    Unknown,
    Ok,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warn => "warn",
            Self::Note => "note",
            Self::Unknown => "unknown",
            Self::Ok => "ok",
        }
    }
}

/// A verdict with its reasons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub severity: Severity,
    /// How much of the evidence is there: 0 nothing but one look, 1 all.
    pub completeness: f64,
    /// The one that decides first, then the gravest.
    pub reasons: Vec<Finding>,
}

/// One reason, what it makes of the verdict, and where it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub verdict: Verdict,
    pub severity: Severity,
    pub reason: Reason,
    /// Of a group or a member: place of the partition in the group that shows it most; `None`: it is about the whole.
    pub partition: Option<usize>,
    /// Partitions that it holds for.
    pub count: usize,
}

impl Finding {
    pub(super) fn new(severity: Severity, verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, severity, reason, partition: None, count: 1 }
    }
}

impl Judgement {
    /// What makes the verdict, first of all.
    pub fn lead(&self) -> Option<&Finding> {
        self.reasons.first()
    }

    /// Nothing is known, for one reason.
    pub fn unknown(reason: Reason) -> Self {
        Self::of(vec![Finding::new(Severity::Unknown, Verdict::Unknown, reason)], 0.0)
    }

    /// Adds what is only worth a word: it makes a note of what is in order, and leaves the verdict.
    pub fn note(&mut self, reason: Reason) {
        self.reasons.push(Finding::new(Severity::Note, self.verdict, reason));
        if self.severity == Severity::Ok {
            self.severity = Severity::Note;
        }
    }

    /// The gravest of the findings decides.
    pub(super) fn of(mut reasons: Vec<Finding>, completeness: f64) -> Self {
        reasons.sort_by_key(|finding| (finding.severity, finding.verdict));
        let first = reasons.first().map(|finding| (finding.severity, finding.verdict));
        let (severity, verdict) = first.unwrap_or_default();
        Self { verdict, severity, completeness, reasons }
    }
}
