//! The verdict on one partition of a group.

use std::time::Duration;

use super::{COMPLETE, Finding, Judgement, Reason, Severity, Verdict};
use crate::health::partition_history::PATIENCE;
use crate::health::rate::SHORTEST;
use crate::health::{Direction, PartitionLag, Rate, Rewound, Thresholds, TimeLag};
use crate::model::At;

/// Retention that passes the commit sooner than that is a trouble.
pub const NEAR_LOSS: Duration = Duration::from_secs(900);

/// Records keep coming while the last came so lately: some producers write every few minutes.
pub const ARRIVES: Duration = PATIENCE;

/// Who reads a partition, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Owner {
    /// A member has it.
    Member,
    /// No member has it although the group is at rest; `subscribed`: some member subscribes to its topic, as far as known.
    Nobody { subscribed: bool },
    /// The group has no members; `ever`: it had some.
    NoMembers { ever: bool },
    /// Partitions change hands, or nobody can tell.
    #[default]
    Unsettled,
}

/// How the commit of a partition gets on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct CommitSigns {
    /// How long commit and end are watched together.
    pub watched: Duration,
    /// How long a commit is overdue at most.
    pub silent: Duration,
    /// How long one may be waited for.
    pub patience: Duration,
    /// The commit was seen to move within the patience.
    pub moves: bool,
    /// A commit was repeated within the patience, or another partition of the same owner moved: somebody is alive.
    pub alive: bool,
    /// The commit moved within the patience although no member had the partition: a consumer that assigns itself.
    pub unheld: bool,
    /// The same, at any time since nobody has it.
    pub alone: bool,
    /// Its owner works through a backlog of another partition, so that this one may have to wait for its turn, and the lag
    /// of all that the owner holds falls.
    pub in_turn: bool,
    /// Records were seen to arrive in the log within [`ARRIVES`].
    pub arrives: bool,
    pub rewound: Option<Rewound>,
    /// When retention will pass the commit.
    pub time_to_loss: Option<Duration>,
}

/// All that decides the verdict on a partition.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartitionSigns {
    pub now: At,
    pub lag: PartitionLag,
    pub owner: Owner,
    /// The one record that the lag is may be a transaction's marker.
    pub control_record: bool,
    /// Records between the commit and the end, whatever the lag is measured to.
    pub to_end: u64,
    /// Records between the last stable offset and the end: an open transaction.
    pub open_transaction: u64,
    /// How long the oldest of them waits.
    pub open_for: TimeLag,
    pub time_lag: TimeLag,
    pub direction: Direction,
    pub written: Option<Rate>,
    /// The lag is no more than what is on its way between two commits: so many records.
    pub in_flight: Option<u64>,
    pub commit: CommitSigns,
    /// Some partition of the group has a commit.
    pub group_commits: bool,
    /// For how long a rebalance is under way, and whether that may be longer.
    pub rebalancing: Option<(Duration, bool)>,
    pub thresholds: Thresholds,
}

/// The verdict on a partition.
pub fn judge(signs: &PartitionSigns) -> Judgement {
    let mut findings = Vec::new();
    let mut find = |severity, verdict, reason| findings.push(Finding::new(severity, verdict, reason));
    let mut completeness = (signs.commit.watched.as_secs_f64() / COMPLETE.as_secs_f64()).min(1.0);
    match signs.lag {
        PartitionLag::Unknown => {
            completeness = 0.0;
            find(Severity::Unknown, Verdict::Unknown, Reason::NotRead);
        }
        PartitionLag::Stale { since, .. } => {
            completeness = 0.0;
            find(Severity::Unknown, Verdict::Unknown, Reason::Stale { since: signs.now.since(since) });
        }
        PartitionLag::NoLeader => find(Severity::Critical, Verdict::Unknown, Reason::NoLeader),
        PartitionLag::TopicGone => find(Severity::Note, Verdict::Empty, Reason::TopicGone),
        PartitionLag::PartitionGone => find(Severity::Note, Verdict::Empty, Reason::PartitionGone),
        PartitionLag::Abandoned { .. } => find(Severity::Note, Verdict::Empty, Reason::Abandoned),
        PartitionLag::PastEnd { by } => find(Severity::Warn, Verdict::Stalled, Reason::PastEnd { by }),
        PartitionLag::NoCommit { held } => findings.push(no_commit(signs, held)),
        PartitionLag::Known(lag) | PartitionLag::Backlog(lag) => findings.extend(behind(signs, lag)),
        PartitionLag::Expired { lost, readable } => {
            find(Severity::Critical, Verdict::Lagging, Reason::Lost { records: lost });
            findings.extend(behind(signs, readable).into_iter().filter(|other| other.severity < Severity::Unknown));
        }
    }
    Judgement::of(findings, completeness)
}

fn no_commit(signs: &PartitionSigns, held: Option<u64>) -> Finding {
    match held {
        Some(0) => Finding::new(Severity::Ok, Verdict::Empty, Reason::Nothing),
        _ if !signs.group_commits => Finding::new(Severity::Unknown, Verdict::Unknown, Reason::CommitsNothing),
        Some(held) if is_never_consumed(signs) => {
            Finding::new(Severity::Warn, Verdict::Stalled, Reason::NeverConsumed { held })
        }
        held => Finding::new(Severity::Note, Verdict::Unknown, Reason::NoCommit { held }),
    }
}

/// It is owned and was written to for long enough, and yet nothing was committed.
fn is_never_consumed(signs: &PartitionSigns) -> bool {
    signs.owner == Owner::Member && signs.commit.arrives && signs.commit.watched > signs.commit.patience
}

/// What is to say of a partition with a lag (or a share group's backlog) of so many records.
fn behind(signs: &PartitionSigns, lag: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |severity, verdict, reason| findings.push(Finding::new(severity, verdict, reason));
    if let Some(Rewound { from, to, at }) = signs.commit.rewound {
        let reason = Reason::Rewound { from, to, ago: signs.now.since(at) };
        find(Severity::Warn, Verdict::Rewound, reason);
    }
    if lag == 0 {
        match signs.open_transaction {
            0 => find(Severity::Ok, Verdict::Ok, Reason::CaughtUp),
            _ => findings.push(open_transaction(signs)),
        }
        let mut find = |severity, verdict, reason| findings.push(Finding::new(severity, verdict, reason));
        if signs.owner == (Owner::Nobody { subscribed: true }) {
            find(Severity::Note, Verdict::Ok, Reason::NoOwner { lag });
        }
        return findings;
    }
    if let Some(time) = signs.commit.time_to_loss.filter(|time| *time < NEAR_LOSS) {
        find(Severity::Critical, Verdict::Lagging, Reason::NearLoss { time });
    }
    let (growing, watched) = (signs.commit.arrives, signs.commit.watched);
    // A service that restarts is away for a moment.
    let shortly = matches!(signs.time_lag, TimeLag::Known { time, .. } if time <= signs.thresholds.time_lag);
    let left = if shortly { Severity::Warn } else { Severity::Critical };
    match signs.owner {
        _ if signs.control_record => {
            find(Severity::Ok, Verdict::Ok, Reason::ControlRecord);
            return findings;
        }
        // An open transaction of which nobody knows whether the group may read it.
        _ if signs.open_transaction > 0 && signs.open_transaction >= signs.to_end => {
            findings.push(open_transaction(signs));
            return findings;
        }
        // Somebody who assigns itself its partitions shows by its commits alone, and those may be rare.
        Owner::NoMembers { ever: false } if !signs.commit.unheld && growing && watched <= signs.commit.patience => {
            find(Severity::Unknown, Verdict::Unknown, Reason::WatchedShortly { watched });
            return findings;
        }
        Owner::NoMembers { ever } if !signs.commit.unheld => {
            // Whether somebody ever read it is not known of commits that nobody was seen to make.
            let severity = if growing && (ever || signs.commit.alone) { left } else { Severity::Note };
            find(severity, Verdict::Stopped, Reason::NoMembers { lag, growing });
            return findings;
        }
        Owner::Nobody { subscribed } if !signs.commit.unheld => {
            let severity = if growing && subscribed { left } else { Severity::Note };
            let reason = if subscribed { Reason::NoOwner { lag } } else { Reason::NotSubscribed { lag } };
            find(severity, Verdict::Stopped, reason);
            return findings;
        }
        Owner::NoMembers { .. } => find(Severity::Ok, Verdict::Ok, Reason::Standalone),
        _ => {}
    }
    if let Some((lasting, at_least)) = signs.rebalancing {
        let severity = if lasting > signs.thresholds.time_lag { Severity::Critical } else { Severity::Warn };
        find(severity, Verdict::Rebalancing, Reason::Rebalancing { lasting, at_least });
    } else if signs.commit.silent > signs.commit.patience {
        let (silent, patience) = (signs.commit.silent, signs.commit.patience);
        let (verdict, reason) = if signs.commit.alive {
            (Verdict::Stalled, Reason::Stuck { silent, patience })
        } else {
            (Verdict::Stopped, Reason::Silent { silent, patience })
        };
        find(Severity::Critical, verdict, reason);
    }
    findings.push(progress(signs, lag));
    findings
}

/// One that is open for long is no fault of the consumer, and yet holds it up.
fn open_transaction(signs: &PartitionSigns) -> Finding {
    let (to_end, open_for) = (signs.open_transaction, signs.open_for);
    let long = open_for.at_least().is_some_and(|time| time > signs.thresholds.time_lag);
    let severity = if long { Severity::Note } else { Severity::Ok };
    Finding::new(severity, Verdict::Ok, Reason::OpenTransaction { to_end, open_for })
}

/// How far behind it is, and where that goes.
fn progress(signs: &PartitionSigns, lag: u64) -> Finding {
    let Thresholds { lag: most, time_lag: longest, .. } = signs.thresholds;
    let (time, growing) = (signs.time_lag, signs.direction == Direction::Rising);
    // Where the time is not known: how long it took to write what is behind.
    let writing = signs.written.filter(|rate| rate.per_second > 0.0 && !matches!(time, TimeLag::Known { .. }));
    let estimate =
        writing.map(|rate| Duration::try_from_secs_f64(lag as f64 / rate.per_second).unwrap_or(Duration::MAX));
    let severity = if growing { Severity::Critical } else { Severity::Warn };
    // Retention alone makes a lag fall, too. A share group finishes records above its start.
    let goes_on = signs.commit.moves || matches!(signs.lag, PartitionLag::Backlog(_));
    let falling = signs.direction == Direction::Falling && goes_on;
    if let Some(threshold) = most.filter(|most| lag > *most) {
        return if falling {
            Finding::new(Severity::Note, Verdict::CatchingUp, Reason::CatchingUp { time, estimate })
        } else {
            Finding::new(severity, Verdict::Lagging, Reason::BehindBy { lag, threshold, growing })
        };
    }
    if let Some(threshold) = signs.in_flight {
        return Finding::new(Severity::Ok, Verdict::Ok, Reason::InFlight { lag, threshold });
    }
    let known = time.at_least().max(estimate);
    if known.is_some_and(|known| known > longest) {
        return if falling {
            Finding::new(Severity::Note, Verdict::CatchingUp, Reason::CatchingUp { time, estimate })
        } else {
            Finding::new(severity, Verdict::Lagging, Reason::Behind { time, estimate, threshold: longest, growing })
        };
    }
    // Not old as far as was seen; whether it is older, only time or the rate of writing tells.
    let told = signs.commit.watched >= SHORTEST && (estimate.is_some() || signs.commit.moves);
    if told || matches!(time, TimeLag::Known { .. }) {
        return Finding::new(Severity::Ok, Verdict::Ok, Reason::Within { time, estimate, threshold: longest });
    }
    Finding::new(Severity::Unknown, Verdict::Unknown, Reason::WatchedShortly { watched: signs.commit.watched })
}
