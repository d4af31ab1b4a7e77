//! How things stand, in a glyph, a colour and a word: the health room's verdicts as the screens write them. No other word
//! is a verdict.

use super::figures::{count, duration};
use super::look::Look;
use super::theme::Role;
use crate::health::{Judgement, LagTotals, PartitionLag, Severity, TimeLag, Verdict};
use crate::model::{At, GroupKind};
use crate::monitor::view::{GroupView, PartitionView};

/// The verdict that a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub severity: Severity,
    pub verdict: Verdict,
}

/// Cells of the longest verdict.
pub const WORD: u16 = 11;

/// The verdict of a judgement; of figures that are not of now none is known.
pub fn of(judgement: &Judgement, fresh: bool) -> Standing {
    if fresh {
        Standing { severity: judgement.severity, verdict: judgement.verdict }
    } else {
        Standing { severity: Severity::Unknown, verdict: Verdict::Unknown }
    }
}

impl Standing {
    pub fn glyph(self) -> &'static str {
        match self.severity {
            Severity::Critical => "x",
            Severity::Warn => "!",
            Severity::Note => "~",
            Severity::Unknown => "?",
            Severity::Ok => ".",
        }
    }

    pub fn role(self) -> Role {
        match self.severity {
            Severity::Critical => Role::Critical,
            Severity::Warn => Role::Warn,
            Severity::Note => Role::Accent,
            Severity::Unknown => Role::Unknown,
            Severity::Ok => Role::Ok,
        }
    }

    /// Glyph and word, or the glyph alone where there is room for no more.
    pub fn words(self, room: u16) -> String {
        if room < 2 + WORD { self.glyph().to_owned() } else { format!("{} {}", self.glyph(), self.verdict) }
    }
}

/// What is needed to see more of a group of that kind.
pub fn needs(kind: &GroupKind) -> Option<&'static str> {
    match kind {
        GroupKind::ShareOrStreams => Some("needs READ on __consumer_offsets"),
        _ => None,
    }
}

/// How many partitions are not in the total: `+2 no commit +1 expired`.
pub fn besides(totals: &LagTotals) -> String {
    let parts = totals.exceptions().into_iter().map(|(state, count)| format!("+{count} {state}"));
    parts.collect::<Vec<_>>().join(" ")
}

/// The sum of what is known, `≤` before one that is an upper bound; `?` after one that is old; `-` where nothing is known.
pub fn total(totals: &LagTotals, look: &Look) -> String {
    let at_most = if totals.at_most() { look.glyphs().at_most } else { "" };
    let old = || totals.was_behind().map_or_else(|| "-".to_owned(), |last| format!("{}?", count(last)));
    totals.behind().map_or_else(old, |behind| format!("{at_most}{}", count(behind)))
}

/// A partition's lag in full, `≤` before one of which some may not be there; `None` where there is none.
pub fn lag(partition: &PartitionView, look: &Look) -> Option<String> {
    let at_most = if partition.doubtful > 0 { look.glyphs().at_most } else { "" };
    partition.lag.records().map(|lag| format!("{at_most}{lag}"))
}

/// How long something is behind, of which the lag is known or not: `12m`, `> 4.0s`, `?`, `-`.
pub fn behind(time: TimeLag, lag_known: bool) -> String {
    if lag_known { time.to_string() } else { "-".to_owned() }
}

/// The same of a group.
pub fn group_behind(group: &GroupView) -> String {
    behind(group.time_lag, group.totals.behind().is_some())
}

/// The state of a partition and the figure that goes with it.
pub fn lag_words(partition: &PartitionView, now: At) -> String {
    match &partition.lag {
        PartitionLag::NoCommit { held: Some(held) } => format!("no commit, {held} held"),
        PartitionLag::PastEnd { by } => format!("past end by {by}"),
        PartitionLag::Expired { lost, .. } => format!("expired, {lost} lost"),
        PartitionLag::Stale { since, .. } => format!("stale for {}", duration(now.since(*since))),
        PartitionLag::Known(_) if partition.open_transaction > 0 => {
            format!("open txn {} to end", partition.open_transaction)
        }
        PartitionLag::Known(_) | PartitionLag::Backlog(_) if partition.doubtful > 0 => "at most".to_owned(),
        other => other.name().to_owned(),
    }
}

/// The role of a partition's state.
pub fn lag_role(lag: &PartitionLag) -> Option<Role> {
    match lag {
        PartitionLag::Known(_) | PartitionLag::Backlog(_) => None,
        PartitionLag::Expired { .. } | PartitionLag::NoLeader => Some(Role::Critical),
        PartitionLag::PastEnd { .. } => Some(Role::Warn),
        PartitionLag::NoCommit { .. }
        | PartitionLag::TopicGone
        | PartitionLag::PartitionGone
        | PartitionLag::Abandoned { .. } => Some(Role::Accent),
        PartitionLag::Stale { .. } | PartitionLag::Unknown => Some(Role::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::look::Charset;
    use crate::tui::theme::Theme;

    const VERDICTS: [Verdict; 9] = [
        Verdict::Ok,
        Verdict::CatchingUp,
        Verdict::Lagging,
        Verdict::Stalled,
        Verdict::Stopped,
        Verdict::Rewound,
        Verdict::Rebalancing,
        Verdict::Empty,
        Verdict::Unknown,
    ];
    const SEVERITIES: [Severity; 5] =
        [Severity::Critical, Severity::Warn, Severity::Note, Severity::Unknown, Severity::Ok];

    #[test]
    fn a_row_says_a_glyph_and_a_verdict() {
        for (severity, glyph) in SEVERITIES.into_iter().zip(["x", "!", "~", "?", "."]) {
            for verdict in VERDICTS {
                let standing = of(&Judgement { verdict, severity, ..Judgement::default() }, true);
                assert_eq!(standing.words(2 + WORD), format!("{glyph} {}", verdict.word()));
                assert!(standing.words(2 + WORD).len() <= usize::from(2 + WORD));
                assert_eq!(standing.words(1), glyph);
                let old = of(&Judgement { verdict, severity, ..Judgement::default() }, false);
                assert_eq!((old.words(2 + WORD).as_str(), old.role()), ("? UNKNOWN", Role::Unknown));
            }
        }
    }

    #[test]
    fn a_partition_says_its_state_with_its_figure() {
        let cases = [
            (PartitionLag::Known(5), "known"),
            (PartitionLag::NoCommit { held: Some(44) }, "no commit, 44 held"),
            (PartitionLag::NoCommit { held: None }, "no commit"),
            (PartitionLag::PastEnd { by: 8220 }, "past end by 8220"),
            (PartitionLag::Expired { lost: 500, readable: 9 }, "expired, 500 lost"),
            (PartitionLag::NoLeader, "no leader"),
            (PartitionLag::TopicGone, "topic gone"),
            (PartitionLag::PartitionGone, "partition gone"),
            (PartitionLag::Abandoned { behind: Some(3) }, "abandoned"),
            (PartitionLag::Stale { last: 3, since: At(1000) }, "stale for 12s"),
            (PartitionLag::Unknown, "unknown"),
        ];
        for (lag, words) in cases {
            assert_eq!(lag_words(&PartitionView { lag, ..PartitionView::default() }, At(13_000)), words);
        }
        let known = PartitionView { lag: PartitionLag::Known(1), ..PartitionView::default() };
        let open = PartitionView { end: Some(1663), stable: Some(200), open_transaction: 1463, ..known.clone() };
        assert_eq!(lag_words(&open, At(0)), "open txn 1463 to end");
        let doubtful = PartitionView { doubtful: 1, ..known };
        assert_eq!(lag_words(&doubtful, At(0)), "at most");
        let look = |charset| Look { theme: Theme::mono(), charset };
        assert_eq!(lag(&doubtful, &look(Charset::Unicode)), Some("≤1".to_owned()));
        assert_eq!(lag(&doubtful, &look(Charset::Ascii)), Some("<=1".to_owned()));
    }

    #[test]
    fn a_total_that_is_old_says_so() {
        let mut totals = LagTotals::default();
        totals.add(&PartitionLag::Stale { last: 440, since: At(0) });
        totals.add(&PartitionLag::Stale { last: 20, since: At(0) });
        let look = Look { theme: Theme::mono(), charset: Charset::Unicode };
        assert_eq!(total(&totals, &look), "460?");
        // What is known is told alone.
        totals.add(&PartitionLag::Known(7));
        assert_eq!(total(&totals, &look), "7");
    }

    #[test]
    fn a_total_that_is_an_upper_bound_says_so() {
        let look = Look { theme: Theme::mono(), charset: Charset::Unicode };
        let known = LagTotals { lag: 12_000, known: 1, abandoned: 2, ..LagTotals::default() };
        assert_eq!((total(&known, &look).as_str(), besides(&known).as_str()), ("12k", "+2 abandoned"));
        assert_eq!(total(&LagTotals { doubtful: 12_000, ..known }, &look), "≤12k");
        assert_eq!(total(&LagTotals::default(), &look), "-");
        assert_eq!(behind(TimeLag::Unknown, true), "?");
        assert_eq!(behind(TimeLag::Unknown, false), "-");
    }
}
