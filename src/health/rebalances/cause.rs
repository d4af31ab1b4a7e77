//! Why a rebalance happened, with the evidence, and whether that is certain; why a member went, which is in no record and
//! always inferred.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::rebalance::Who;
use crate::model::figures::and_more;
use crate::model::{Departure, Name, Wall};

/// One reason of a rebalance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub kind: CauseKind,
    pub certainty: Certainty,
    /// When the record was written that tells it; seen by polling: when it was seen.
    pub wall: Wall,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Certainty {
    /// A record says so, or polls saw it.
    #[default]
    Certain,
    /// Inferred; the evidence is beside it.
    Likely,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CauseKind {
    /// Members joined: [`super::Rebalance::joined`]; the first of them.
    Joined { first: Arc<Who>, members: usize },
    /// Members went: [`super::Rebalance::gone`]; the first of them.
    Gone { first: Arc<Who>, members: usize, why: Why },
    /// A static member is away (member epoch −2) while the group rebalances.
    StaticAway(Arc<Who>),
    /// A static member came back.
    StaticBack(Arc<Who>),
    /// Members changed what they subscribe to, all of them in this way.
    Subscription { first: Arc<Who>, members: usize, added: Vec<Name>, removed: Vec<Name> },
    /// KIP-848: the group hash (KIP-1101) differs although the subscribed topics are the same: partitions added, another
    /// rack, or a topic created or deleted.
    Metadata { from: Option<i64>, to: Option<i64> },
    /// Where there is no group hash (classic, seen by polls): a topic has more partitions than before; likely: another
    /// number of them is handed out.
    Partitions { topic: Name, from: usize, to: usize },
    /// The assignor changed: the chosen one of a classic group, the one that a member asks for in the others.
    Assignor { from: Option<Name>, to: Option<Name> },
    /// Cooperative: what was given up in the round before is handed out.
    SecondRound,
    /// No record tells it: a member joined again, a configuration changed, an assignment was computed again. Likely: polls
    /// do not tell it.
    Untold,
}

impl CauseKind {
    /// Name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Joined { .. } => "joined",
            Self::Gone { .. } => "gone",
            Self::StaticAway(_) => "static_away",
            Self::StaticBack(_) => "static_back",
            Self::Subscription { .. } => "subscription",
            Self::Metadata { .. } => "metadata",
            Self::Partitions { .. } => "partitions",
            Self::Assignor { .. } => "assignor",
            Self::SecondRound => "second_round",
            Self::Untold => "untold",
        }
    }

    /// Takes in another cause of the same kind; false: it is another one.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Joined { members, .. }, Self::Joined { members: more, .. })
            | (Self::Gone { members, .. }, Self::Gone { members: more, .. }) => {
                *members += more;
                true
            }
            (
                Self::Subscription { members, added, removed, .. },
                Self::Subscription { members: more, added: also_added, removed: also_removed, .. },
            ) if added == also_added && removed == also_removed => {
                *members += more;
                true
            }
            (this, other) => this == other,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.certainty == Certainty::Likely && self.kind != CauseKind::Untold {
            f.write_str("likely ")?;
        }
        let and_more = |members: usize| and_more(members.saturating_sub(1));
        match &self.kind {
            CauseKind::Joined { first, members } => write!(f, "joined: {first}{}", and_more(*members)),
            CauseKind::Gone { first, members: 1, why } => write!(f, "gone: {first}, {why}"),
            CauseKind::Gone { first, members, .. } => write!(f, "gone: {first}{}", and_more(*members)),
            CauseKind::StaticAway(who) => write!(f, "static member away: {who}"),
            CauseKind::StaticBack(who) => write!(f, "static member back: {who}"),
            CauseKind::Subscription { first, members, added, removed } => {
                write!(f, "subscription changed: {first}{}", and_more(*members))?;
                for (sign, topics) in [('+', added), ('-', removed)] {
                    for topic in topics.iter().take(3) {
                        write!(f, " {sign}{topic}")?;
                    }
                    if topics.len() > 3 {
                        write!(f, " {sign}{} more", topics.len() - 3)?;
                    }
                }
                Ok(())
            }
            CauseKind::Metadata { .. } => f.write_str("metadata hash changed"),
            CauseKind::Partitions { topic, from, to } => write!(f, "{topic} {from} > {to} partitions"),
            CauseKind::Assignor { from, to } => {
                let word = |name: &Option<Name>| name.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
                write!(f, "assignor {} > {}", word(from), word(to))
            }
            CauseKind::SecondRound => f.write_str("second round of a cooperative rebalance"),
            CauseKind::Untold if self.certainty == Certainty::Likely => f.write_str("polls do not tell why"),
            CauseKind::Untold => f.write_str("no record tells why"),
        }
    }
}

/// Why a member went. Never certain, except for a static member that was away before: a slow poll sends the same leave
/// request as a close, and a session that ends leaves the same tombstone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Why {
    pub verdict: Departed,
    /// From the last commit of a partition that it held until it was gone; `None`: no commit is known.
    pub quiet: Option<Duration>,
    /// It held nothing.
    pub idle: bool,
    /// Whether records waited in its partitions; `None`: not known.
    pub lag_waiting: Option<bool>,
    /// A static member that had said goodbye before (member epoch −2) and did not come back in time.
    pub was_away: bool,
    pub rebalance_timeout: Option<Duration>,
    pub session_timeout: Option<Duration>,
    /// The session timeout is the broker's default, since no record has it: the group may have one of its own.
    pub session_default: bool,
    /// A member of the same client id and host joined so much later, within two rebalance timeouts.
    pub back_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Departed {
    #[default]
    CannotTell,
    /// It closed, unsubscribed, or was shut down in an orderly way.
    Left,
    /// Its session ended: crashed, killed, or cut off from the coordinator.
    Crashed,
    /// It did not poll within `max.poll.interval.ms`.
    SlowPoll,
}

impl Departed {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::CannotTell => "cannot_tell",
            Self::Left => "left",
            Self::Crashed => "crashed",
            Self::SlowPoll => "slow_poll",
        }
    }
}

/// A commit this short before is "right before": `close()` commits, and a classic group's record comes only after the
/// others have joined again, which takes a heartbeat (3 s) and a sync.
pub(super) const RIGHT_BEFORE: Duration = Duration::from_secs(10);
/// Java commits every 5 s (`auto.commit.interval.ms`), and the others have to join again.
const SLACK: Duration = Duration::from_secs(15);
/// `max.poll.interval.ms` where the record has none: Java's default.
const REBALANCE_TIMEOUT: Duration = Duration::from_secs(300);

impl Why {
    /// What is known of a departure. `left` is when it was gone, `held` how many partitions it had, `default` the broker's
    /// session timeout for groups of its kind, in milliseconds.
    pub(super) fn of(
        departure: &Departure,
        left: Wall,
        held: Option<usize>,
        was_away: bool,
        default: Option<i32>,
    ) -> Self {
        let own = timeout(departure.member.session_timeout_ms);
        let mut why = Self {
            verdict: Departed::CannotTell,
            quiet: departure.last_commit.map(|commit| left.since(commit)),
            idle: held == Some(0),
            lag_waiting: departure.lag_waiting,
            was_away,
            rebalance_timeout: timeout(departure.member.rebalance_timeout_ms),
            session_timeout: own.or(timeout(default)),
            session_default: own.is_none() && default.is_some(),
            back_after: None,
        };
        why.judge();
        why
    }

    /// A member of the same client id and host has joined.
    pub(super) fn is_back(&mut self, after: Duration) {
        self.back_after = Some(after);
        self.judge();
    }

    /// The broker's default session timeout, in milliseconds, is known now; whether that tells more of this departure.
    pub(super) fn times_out(&mut self, default: i32) -> bool {
        let unknown = self.session_timeout.is_none();
        if unknown {
            (self.session_timeout, self.session_default) = (timeout(Some(default)), true);
            self.judge();
        }
        unknown
    }

    /// How long a return is still told of this departure.
    pub(super) fn return_window(&self) -> Duration {
        2 * self.rebalance_timeout.unwrap_or(REBALANCE_TIMEOUT)
    }

    pub fn certainty(&self) -> Certainty {
        if self.was_away { Certainty::Certain } else { Certainty::Likely }
    }

    /// The word for the numbers.
    fn judge(&mut self) {
        self.verdict = self.word();
    }

    fn word(&self) -> Departed {
        if self.was_away || self.idle {
            return Departed::Left;
        }
        let Some(quiet) = self.quiet else { return Departed::CannotTell };
        // A session is renewed by heartbeats, at most a third of it apart; the last commit may be later than the last
        // of them, or an auto-commit interval before it.
        let session = self.session_timeout.map(|timeout| (timeout / 3 * 2, timeout + SLACK.max(timeout / 2)));
        // The last commit is made in the last poll at the latest.
        let poll = self.rebalance_timeout.map(|timeout| (timeout / 20 * 19, timeout + SLACK.max(timeout / 2)));
        let first = [session, poll].into_iter().flatten().map(|(earliest, _)| earliest).min();
        if quiet <= RIGHT_BEFORE && first.is_none_or(|first| quiet < first) {
            return Departed::Left;
        }
        if self.lag_waiting == Some(false) {
            return Departed::CannotTell;
        }
        let about = |range: Option<(Duration, Duration)>| range.is_some_and(|(min, max)| (min..=max).contains(&quiet));
        // That it comes back is evidence by itself, also for those who know no log end of that time.
        if about(poll) && self.back_after.is_some() {
            return Departed::SlowPoll;
        }
        if about(session) && self.lag_waiting == Some(true) {
            return Departed::Crashed;
        }
        Departed::CannotTell
    }
}

/// A time limit as records have it, in milliseconds; 0 and less are none.
fn timeout(millis: Option<i32>) -> Option<Duration> {
    millis.and_then(|millis| u64::try_from(millis).ok()).filter(|millis| *millis > 0).map(Duration::from_millis)
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Departed::Left if self.was_away => return f.write_str("was away and did not come back in time"),
            Departed::Left => f.write_str("likely left")?,
            Departed::Crashed => f.write_str("likely crashed or cut off")?,
            Departed::SlowPoll => f.write_str("likely slow poll")?,
            Departed::CannotTell => f.write_str("cannot tell why")?,
        }
        match self.quiet {
            _ if self.idle => return f.write_str(" (it held nothing)"),
            Some(quiet) => write!(f, " (last commit {} before", humantime::format_duration(rounded(quiet)))?,
            None => return f.write_str(" (no commit known)"),
        }
        match self.session_timeout {
            Some(session) if self.session_default && self.verdict == Departed::Crashed => {
                write!(f, "; session timeout {}, the broker's default)", humantime::format_duration(session))
            }
            _ => f.write_str(")"),
        }
    }
}

/// Whole seconds above one second.
fn rounded(duration: Duration) -> Duration {
    if duration.as_secs() > 0 { Duration::from_secs(duration.as_secs()) } else { duration }
}
