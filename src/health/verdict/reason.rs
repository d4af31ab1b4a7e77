//! Why a verdict is what it is, with the numbers that decided.

use std::fmt;
use std::time::Duration;

use crate::health::TimeLag;
use crate::model::figures::{count, duration};
use crate::model::millis;

/// Less than that is one look.
const MOMENT: Duration = Duration::from_secs(1);

/// One reason. Records are counts of records; times are durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    // What is not known.
    /// Its facts were not read yet, or may not be read.
    NotRead,
    /// Its end, or the commits of its group, were read for the last time so long ago.
    Stale {
        since: Duration,
    },
    NoLeader,
    /// It was watched for so short a time that nothing tells whether the lag goes.
    WatchedShortly {
        watched: Duration,
    },
    /// There is no commit: where it would begin is in no API.
    NoCommit {
        held: Option<u64>,
    },
    /// No member commits anything.
    CommitsNothing,
    /// What the members read is not told: another protocol type.
    NoOffsets,
    /// A share or streams group without READ on the coordinator log.
    NeedsLog,

    // What is wrong.
    /// Commits are made, or the same owner's other partitions go on, but this commit does not move.
    Stuck {
        silent: Duration,
        patience: Duration,
    },
    /// No commit moves although there is an owner.
    Silent {
        silent: Duration,
        patience: Duration,
    },
    /// Its owner never committed here, though it does elsewhere and records arrive.
    NeverConsumed {
        held: u64,
    },
    /// The commit is past the end of the log.
    PastEnd {
        by: u64,
    },
    /// The group has no members (`lag` 0: and nothing to read); `growing`: records keep arriving.
    NoMembers {
        lag: u64,
        growing: bool,
    },
    /// No member has it although the group is Stable.
    NoOwner {
        lag: u64,
    },
    /// No member subscribes to its topic.
    NotSubscribed {
        lag: u64,
    },
    /// It is behind for longer than the threshold; `estimate`: by the rate of writing, where the time is not known.
    Behind {
        time: TimeLag,
        estimate: Option<Duration>,
        threshold: Duration,
        growing: bool,
    },
    /// It is behind by more records than the threshold.
    BehindBy {
        lag: u64,
        threshold: u64,
        growing: bool,
    },
    /// Records were deleted before they were read.
    Lost {
        records: u64,
    },
    /// Retention will pass the commit.
    NearLoss {
        time: Duration,
    },
    /// The commit moved back, so long ago.
    Rewound {
        from: i64,
        to: i64,
        ago: Duration,
    },
    /// Partitions change hands, for so long; `at_least`: it may have begun earlier.
    Rebalancing {
        lasting: Duration,
        at_least: bool,
    },
    /// Rebalances follow one another.
    Storm {
        count: usize,
        window: Duration,
    },

    // What is good.
    CatchingUp {
        time: TimeLag,
        estimate: Option<Duration>,
    },
    CaughtUp,
    /// No more than what is on its way between two commits: two mean steps.
    InFlight {
        lag: u64,
        threshold: u64,
    },
    /// Behind, but not for longer than the threshold.
    Within {
        time: TimeLag,
        estimate: Option<Duration>,
        threshold: Duration,
    },
    /// One record, which may be a transaction's marker: nothing that can be read.
    ControlRecord,
    /// All that a read_committed consumer may read; an open transaction holds the rest, `open_for` since the first of it
    /// was written.
    OpenTransaction {
        to_end: u64,
        open_for: TimeLag,
    },
    /// The group has no members, and commits move: a consumer that assigns itself.
    Standalone,

    // What is worth a word.
    Nothing,
    TopicGone,
    PartitionGone,
    /// No member subscribes to it any more.
    Abandoned,
    Idle {
        members: usize,
        of: usize,
    },
    /// One member has so many of the partitions; `member`: its place in the group.
    Uneven {
        partitions: usize,
        of: usize,
        members: usize,
        member: usize,
    },
    /// Members that own partitions to which nothing arrives; `first`: place of the first of them in the group.
    NothingArrives {
        members: usize,
        first: usize,
    },
    /// Facts that could not be had.
    Problems {
        count: usize,
    },
}

impl Reason {
    /// The rule's name: in JSON and in docs/health-rules.md.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::NotRead => "not_read",
            Self::Stale { .. } => "stale",
            Self::NoLeader => "no_leader",
            Self::WatchedShortly { .. } => "watched_shortly",
            Self::NoCommit { .. } => "no_commit",
            Self::CommitsNothing => "commits_nothing",
            Self::NoOffsets => "no_offsets",
            Self::NeedsLog => "needs_log",
            Self::Stuck { .. } => "stuck",
            Self::Silent { .. } => "silent",
            Self::NeverConsumed { .. } => "never_consumed",
            Self::PastEnd { .. } => "past_end",
            Self::NoMembers { .. } => "no_members",
            Self::NoOwner { .. } => "no_owner",
            Self::NotSubscribed { .. } => "not_subscribed",
            Self::Behind { .. } => "behind",
            Self::BehindBy { .. } => "behind_by",
            Self::Lost { .. } => "lost",
            Self::NearLoss { .. } => "near_loss",
            Self::Rewound { .. } => "rewound",
            Self::Rebalancing { .. } => "rebalancing",
            Self::Storm { .. } => "storm",
            Self::CatchingUp { .. } => "catching_up",
            Self::CaughtUp => "caught_up",
            Self::InFlight { .. } => "in_flight",
            Self::Within { .. } => "within",
            Self::ControlRecord => "control_record",
            Self::OpenTransaction { .. } => "open_transaction",
            Self::Standalone => "standalone",
            Self::Nothing => "nothing",
            Self::TopicGone => "topic_gone",
            Self::PartitionGone => "partition_gone",
            Self::Abandoned => "abandoned",
            Self::Idle { .. } => "idle",
            Self::Uneven { .. } => "uneven",
            Self::NothingArrives { .. } => "nothing_arrives",
            Self::Problems { .. } => "problems",
        }
    }

    /// It is worth a word beside a verdict, and makes none.
    pub fn is_beside(&self) -> bool {
        matches!(self, Self::Idle { .. } | Self::Uneven { .. } | Self::NothingArrives { .. } | Self::Problems { .. })
    }

    /// The records that it is about, where those of several partitions have a sum.
    pub(super) fn records(&mut self) -> Option<&mut u64> {
        match self {
            Self::NoCommit { held } => held.as_mut(),
            Self::NeverConsumed { held: records }
            | Self::NoMembers { lag: records, .. }
            | Self::NoOwner { lag: records }
            | Self::NotSubscribed { lag: records }
            | Self::InFlight { lag: records, .. }
            | Self::Lost { records }
            | Self::OpenTransaction { to_end: records, .. } => Some(records),
            _ => None,
        }
    }

    /// How much there is of it: of the same rule at several partitions the one with most is told.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::NoCommit { held } => held.unwrap_or(0),
            Self::NeverConsumed { held: lag }
            | Self::NoMembers { lag, .. }
            | Self::NoOwner { lag }
            | Self::NotSubscribed { lag }
            | Self::BehindBy { lag, .. }
            | Self::InFlight { lag, .. }
            | Self::PastEnd { by: lag }
            | Self::Lost { records: lag }
            | Self::OpenTransaction { to_end: lag, .. } => *lag,
            Self::Stale { since: time } | Self::Stuck { silent: time, .. } | Self::Silent { silent: time, .. } => {
                millis(*time)
            }
            Self::Behind { time, estimate, .. }
            | Self::CatchingUp { time, estimate }
            | Self::Within { time, estimate, .. } => millis(time.at_least().max(*estimate).unwrap_or_default()),
            Self::NearLoss { time } => u64::MAX - millis(*time),
            Self::Rewound { from, to, .. } => from.abs_diff(*to),
            _ => 0,
        }
    }
}

/// `behind for 12m`, `behind for more than 4.0s, about 9m by its rate of writing`.
fn behind(f: &mut fmt::Formatter<'_>, time: TimeLag, estimate: Option<Duration>) -> fmt::Result {
    // The estimate is told where the time is not known, or the estimate is above what the time is at least.
    let tells_more = |estimate: &Duration| match time {
        TimeLag::Known { .. } => false,
        TimeLag::MoreThan(time) => *estimate > time,
        TimeLag::None | TimeLag::Unknown => true,
    };
    match (estimate.filter(tells_more), time.lasting()) {
        (Some(estimate), _) => write!(f, "behind by what is written in about {}", duration(estimate)),
        (None, Some(lasting)) => write!(f, "behind {lasting}"),
        (None, None) => f.write_str("behind"),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let towards = |growing: bool| if growing { " and falling further behind" } else { "" };
        match *self {
            Self::NotRead => f.write_str("not read yet, or not readable"),
            Self::Stale { since } => write!(f, "not read for {}", duration(since)),
            Self::NoLeader => f.write_str("no leader: nobody can read it"),
            Self::WatchedShortly { watched } if watched < MOMENT => {
                f.write_str("seen once: nothing tells whether its lag goes")
            }
            Self::WatchedShortly { watched } => {
                write!(f, "watched for {}: nothing tells yet whether its lag goes", duration(watched))
            }
            Self::NoCommit { held: None } => f.write_str("no commit"),
            Self::NoCommit { held: Some(held) } => write!(f, "no commit, {} records held", count(held)),
            Self::CommitsNothing => f.write_str("commits nothing"),
            Self::NoOffsets => f.write_str("such groups commit no offsets"),
            Self::NeedsLog => f.write_str("needs READ on __consumer_offsets"),
            Self::Stuck { silent, .. } => {
                write!(f, "its commit stands still for {} while others move", duration(silent))
            }
            Self::Silent { silent, .. } => write!(f, "no commit for {} although records wait", duration(silent)),
            Self::NeverConsumed { held } => {
                write!(f, "owned and never committed, though its group commits elsewhere: {} records held", count(held))
            }
            Self::PastEnd { by } => write!(f, "its commit is past the end of the log by {}", count(by)),
            Self::NoMembers { lag: 0, .. } => f.write_str("no members, and no lag"),
            Self::NoMembers { lag, growing: true } => {
                write!(f, "nobody consumes, {} records wait and more arrive", count(lag))
            }
            Self::NoMembers { lag, growing: false } => write!(f, "nobody consumes, {} records wait", count(lag)),
            Self::NoOwner { lag: 0 } => f.write_str("no owner although the group is Stable"),
            Self::NoOwner { lag } => write!(f, "no owner although the group is Stable, {} records wait", count(lag)),
            Self::NotSubscribed { lag: 0 } => f.write_str("no member subscribes to its topic"),
            Self::NotSubscribed { lag } => {
                write!(f, "no member subscribes to its topic, {} records wait", count(lag))
            }
            Self::Behind { time, estimate, growing, .. } => {
                behind(f, time, estimate)?;
                f.write_str(towards(growing))
            }
            Self::BehindBy { lag, threshold, growing } => {
                write!(f, "{} records behind, more than {}{}", count(lag), count(threshold), towards(growing))
            }
            Self::Lost { records } => write!(f, "{} records were deleted before they were read", count(records)),
            Self::NearLoss { time } => write!(f, "retention deletes unread records in about {}", duration(time)),
            Self::Rewound { from, to, ago } => write!(f, "its commit moved back {from} > {to}, {} ago", duration(ago)),
            Self::Rebalancing { lasting, at_least } => {
                write!(f, "rebalancing for {}{}", if at_least { "at least " } else { "" }, duration(lasting))
            }
            Self::Storm { count, window } => write!(f, "{count} rebalances within {}", duration(window)),
            Self::CatchingUp { time, estimate } => {
                behind(f, time, estimate)?;
                f.write_str(", catching up")
            }
            Self::CaughtUp => f.write_str("caught up"),
            Self::InFlight { lag, .. } => write!(f, "{} records on their way between two commits", count(lag)),
            Self::Within { time, estimate, threshold } => {
                behind(f, time, estimate)?;
                write!(f, ", less than {}", duration(threshold))
            }
            Self::ControlRecord => f.write_str("at most one record, which may be a transaction's marker"),
            Self::OpenTransaction { to_end, open_for } => {
                write!(f, "caught up; an open transaction holds the last {} records", count(to_end))?;
                open_for.lasting().map_or(Ok(()), |lasting| write!(f, ", {lasting}"))
            }
            Self::Standalone => f.write_str("no members, and commits move: a consumer that assigns itself"),
            Self::Nothing => f.write_str("nothing to read"),
            Self::TopicGone => f.write_str("topic gone"),
            Self::PartitionGone => f.write_str("partition gone"),
            Self::Abandoned => f.write_str("abandoned: no member subscribes to it any more"),
            Self::Idle { members, of } => write!(f, "{members} of {of} members idle"),
            Self::Uneven { partitions, of, members, .. } => {
                write!(f, "one of {members} members owns {partitions} of {of} partitions")
            }
            Self::NothingArrives { members: 1, .. } => {
                f.write_str("1 member owns only partitions that nothing is written to")
            }
            Self::NothingArrives { members, .. } => {
                write!(f, "{members} members own only partitions that nothing is written to")
            }
            Self::Problems { count: 1 } => f.write_str("1 fact could not be had"),
            Self::Problems { count } => write!(f, "{count} facts could not be had"),
        }
    }
}
