//! The verdicts on a member and on a group: those of its partitions, and what is to say of the whole.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Finding, Judgement, Reason, Severity, Verdict};
use crate::health::PartitionLag;

/// What is to know of a group beside its partitions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GroupSigns {
    /// Members and state were read.
    pub described: bool,
    /// Its progress through partitions can be known at all.
    pub reads_partitions: bool,
    /// It can be known from the coordinator log alone, which is not readable.
    pub needs_log: bool,
    pub members: usize,
    /// Members without partitions.
    pub idle: usize,
    /// Members that own only partitions that nothing is written to, in a group to which something is: how many, and the
    /// place of the first.
    pub nothing_arrives: Option<(usize, usize)>,
    /// The most partitions that one member owns, its place, and how many all own.
    pub most: usize,
    pub largest: usize,
    pub owned: usize,
    /// For how long a rebalance is under way, and whether that may be longer.
    pub rebalancing: Option<(Duration, bool)>,
    /// Rebalances within the window of a storm; `None`: it is none.
    pub storm: Option<(usize, Duration)>,
    /// Facts of the group that could not be had.
    pub problems: usize,
}

/// A partition's state and verdict, and its place in the group.
pub type Grouped<'a> = (usize, &'a PartitionLag, &'a Judgement);

/// The verdict on a member, from the partitions that it holds.
pub fn judge_member<'a>(held: impl IntoIterator<Item = Grouped<'a>>) -> Judgement {
    judge_group(&GroupSigns { described: true, reads_partitions: true, members: 1, ..GroupSigns::default() }, held)
}

/// The verdict on a group.
///
/// A partition whose lag is not known makes a group UNKNOWN only if there is no other, or if it has no leader (one whose
/// lag is known, and nobody can say yet whether it goes, makes it so before one that is OK); one that
/// is empty, gone or abandoned never makes its verdict. What is only worth a word raises the severity to a note and
/// leaves the verdict.
pub fn judge_group<'a>(signs: &GroupSigns, partitions: impl IntoIterator<Item = Grouped<'a>>) -> Judgement {
    let (mut findings, completeness) = gathered(partitions);
    let known = signs.described && signs.reads_partitions;
    let completeness = completeness.unwrap_or(if known { 1.0 } else { 0.0 });
    let mut find = |severity, verdict, reason| findings.push(Finding::new(severity, verdict, reason));
    if let Some((lasting, at_least)) = signs.rebalancing {
        find(Severity::Warn, Verdict::Rebalancing, Reason::Rebalancing { lasting, at_least });
    }
    if let Some((count, window)) = signs.storm {
        find(Severity::Warn, Verdict::Rebalancing, Reason::Storm { count, window });
    }
    if signs.needs_log {
        find(Severity::Unknown, Verdict::Unknown, Reason::NeedsLog);
    } else if !signs.described {
        find(Severity::Unknown, Verdict::Unknown, Reason::NotRead);
    } else if !signs.reads_partitions && signs.members > 0 {
        find(Severity::Unknown, Verdict::Unknown, Reason::NoOffsets);
    }
    tell_rebalance_once(&mut findings);
    let (verdict, mut severity) = decided(&findings, signs);
    if verdict == Verdict::Empty && !findings.is_empty() {
        findings.push(Finding::new(severity, verdict, Reason::NoMembers { lag: 0, growing: false }));
    }
    findings.extend(worth_a_word(signs).map(|reason| Finding::new(Severity::Note, verdict, reason)));
    if severity == Severity::Ok && findings.iter().any(|finding| finding.severity == Severity::Note) {
        severity = Severity::Note;
    }
    if findings.is_empty() {
        findings.push(Finding::new(severity, verdict, Reason::Nothing));
    }
    findings.sort_by_key(|finding| {
        let decides = finding.verdict == verdict && !finding.reason.is_beside();
        // How far it is behind says more than that it has read the rest.
        (!decides, finding.severity, finding.verdict, finding.reason == Reason::CaughtUp)
    });
    Judgement { verdict, severity, completeness, reasons: findings }
}

fn worth_a_word(signs: &GroupSigns) -> impl Iterator<Item = Reason> {
    let GroupSigns { members, idle, nothing_arrives, most, largest, owned, problems, .. } = *signs;
    // Twice a fair share, and more than one above it.
    let fair = owned.div_ceil(members.max(1));
    let uneven = members > 1 && most >= 2 * fair && most > fair + 1;
    let said = [
        (idle > 0).then_some(Reason::Idle { members: idle, of: members }),
        nothing_arrives.map(|(members, first)| Reason::NothingArrives { members, first }),
        uneven.then_some(Reason::Uneven { partitions: most, of: owned, members, member: largest }),
        (problems > 0).then_some(Reason::Problems { count: problems }),
    ];
    said.into_iter().flatten()
}

/// A group's rebalance is told of its partitions, too: once is enough, with the gravest of severities.
fn tell_rebalance_once(findings: &mut Vec<Finding>) {
    let is = |finding: &Finding| matches!(finding.reason, Reason::Rebalancing { .. });
    let Some(severity) = findings.iter().filter(|finding| is(finding)).map(|finding| finding.severity).min() else {
        return;
    };
    findings.retain(|finding| !is(finding) || finding.partition.is_none());
    findings.iter_mut().filter(|finding| is(finding)).for_each(|finding| finding.severity = severity);
}

/// The verdict of what is known and counts.
fn decided(findings: &[Finding], signs: &GroupSigns) -> (Verdict, Severity) {
    let counts = |finding: &&Finding| match finding.verdict {
        // Of a lag that is known nobody can say yet whether it goes.
        Verdict::Unknown if matches!(finding.reason, Reason::WatchedShortly { .. }) => true,
        Verdict::Unknown => finding.severity == Severity::Critical,
        Verdict::Empty => false,
        _ => true,
    };
    let gravest = findings.iter().filter(counts).min_by_key(|finding| (finding.severity, finding.verdict));
    let unknown = findings.iter().any(|finding| finding.verdict == Verdict::Unknown);
    let standalone = findings.iter().any(|finding| matches!(finding.reason, Reason::Standalone));
    match gravest {
        Some(finding) if finding.verdict != Verdict::Ok => (finding.verdict, finding.severity),
        None if unknown => (Verdict::Unknown, Severity::Unknown),
        // There is nothing to read; or nobody reads, and nothing is left to read.
        None if signs.described && signs.reads_partitions => (Verdict::Empty, Severity::Ok),
        _ if signs.described && signs.members == 0 && !standalone => (Verdict::Empty, Severity::Ok),
        _ => (Verdict::Ok, Severity::Ok),
    }
}

/// The findings of partitions, those of one rule and verdict as one, with the sum of their records; and the mean completeness of what
/// counts; `None`: nothing does.
fn gathered<'a>(partitions: impl IntoIterator<Item = Grouped<'a>>) -> (Vec<Finding>, Option<f64>) {
    let mut findings: BTreeMap<(Severity, Verdict, &'static str), (Finding, u64)> = BTreeMap::new();
    let (mut complete, mut counted) = (0.0, 0usize);
    for (place, lag, judgement) in partitions {
        if !matches!(lag, PartitionLag::TopicGone | PartitionLag::PartitionGone | PartitionLag::Abandoned { .. }) {
            complete += judgement.completeness;
            counted += 1;
        }
        for finding in &judgement.reasons {
            let mut new = Finding { partition: Some(place), ..finding.clone() };
            let records = new.reason.records().map_or(0, |records| *records);
            let rule = (finding.severity, finding.verdict, finding.reason.rule());
            let (known, sum) = findings.entry(rule).or_insert_with(|| (Finding { count: 0, ..new.clone() }, 0));
            let count = known.count + 1;
            if new.reason.size() > known.reason.size() {
                *known = new;
            }
            known.count = count;
            *sum = sum.saturating_add(records);
        }
    }
    let completeness = (counted > 0).then(|| complete / counted as f64);
    let findings = findings.into_values().map(|(mut finding, sum)| {
        finding.reason.records().into_iter().for_each(|records| *records = sum);
        finding
    });
    (findings.collect(), completeness)
}
