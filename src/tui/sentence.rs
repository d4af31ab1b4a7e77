//! A group in a few sentences, what people read out on the call: its verdict and why, what stands beside it, and what
//! would help. Nothing is said twice, and nothing that the row above says.

use super::figures::{and_more, count, duration, plural};
use super::look::Look;
use super::standing::{self, needs};
use super::{members, past_words};
use crate::health::verdict::COMPLETE;
use crate::health::{Drain, Finding, Reason, Severity, Verdict};
use crate::model::Wall;
use crate::monitor::view::{GroupView, PlanView};

/// Cells of a name.
const NAME: usize = 40;
/// Cells of a member, and of a partition's topic.
const PART: usize = 24;
/// Reasons beside the first.
const OTHERS: usize = 2;

/// The group in a few sentences.
pub fn of(group: &GroupView, fresh: bool, now: Option<Wall>, look: &Look) -> String {
    let verdict = group.judgement.verdict;
    let past = past_words::sentence(group, now, look);
    let lead = group.judgement.lead();
    let (largest, most) = largest(group, look).unzip();
    let why = lead.and_then(|lead| why(group, lead, past.is_some(), largest, look));
    let mut says = vec![verdict_sentence(group, why, fresh, look)];
    if verdict != Verdict::Unknown && group.judgement.completeness < 1.0 {
        let watched = COMPLETE.mul_f64(group.judgement.completeness);
        let watched =
            if watched.is_zero() { "one look".to_owned() } else { format!("{} of watching", duration(watched)) };
        says.push(format!("Judged on {watched}."));
    }
    says.extend(lead.and_then(|lead| help(&lead.reason)).map(str::to_owned));
    if !group.kind.reads_partitions() && needs(&group.kind).is_none() && !group.members.is_empty() {
        says.push(format!("{} of type {}.", plural(group.members.len(), "member"), group.kind));
    }
    let urgent = group.rebalances.frequency.storm.is_some() || verdict == Verdict::Rebalancing;
    says.extend(past.clone().filter(|_| urgent));
    says.extend(others(group, lead, past.is_some(), look));
    says.extend(most);
    says.extend(group.plan.as_ref().map(|plan| plan_sentence(group, plan)));
    if group.idle > 0 {
        let mut reasons: Vec<String> = Vec::new();
        for reason in group.members.iter().filter_map(members::idle) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let more = and_more(reasons.len().saturating_sub(OTHERS));
        reasons.truncate(OTHERS);
        let colon = if reasons.is_empty() { "" } else { ": " };
        let reasons = reasons.join("; ");
        says.push(format!("{} of {} members idle{colon}{reasons}{more}.", group.idle, group.members_now()));
    }
    says.extend(past.filter(|_| !urgent));
    match group.problems.as_slice() {
        [] => {}
        [problem] => says.push(format!("Problem: {problem}.")),
        [problem, ..] => says.push(format!("{} problems, one: {problem}.", group.problems.len())),
    }
    says.join(" ")
}

/// What the verdict is, and why.
fn verdict_sentence(group: &GroupView, why: Option<String>, fresh: bool, look: &Look) -> String {
    let name = look.name(&group.id, NAME);
    let verdict = group.judgement.verdict;
    let why = match (needs(&group.kind), verdict) {
        (Some(needs), _) => Some(needs.to_owned()),
        (None, Verdict::Empty) => why.or_else(|| Some("no members and nothing to read".to_owned())),
        _ => why,
    };
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    match fresh {
        true => format!("{name} is {verdict}{why}."),
        false if verdict == Verdict::Unknown => format!("{name} is {verdict}: its figures are old."),
        false => format!("{name} is {}: its figures are old. It was {verdict}{why}.", Verdict::Unknown),
    }
}

/// The reason of the verdict, in what its word does not say. `past`: the rebalances of the hour are told;
/// `largest`: so is the member at that place.
fn why(group: &GroupView, lead: &Finding, past: bool, largest: Option<usize>, look: &Look) -> Option<String> {
    let reason = said(group, &lead.reason, look).unwrap_or_else(|| lead.reason.to_string());
    match lead.reason {
        Reason::Rebalancing { .. } if past => None,
        // The verdict is the word before.
        Reason::Rebalancing { .. } => reason.strip_prefix("rebalancing ").map(str::to_owned),
        Reason::CaughtUp | Reason::Nothing => Some(reason),
        _ => {
            let reason = reason.strip_suffix(", catching up").unwrap_or(&reason);
            let owner = owner(group, lead).filter(|owner| lead.severity < Severity::Ok && Some(*owner) != largest);
            Some(placed(group, lead, reason, owner, look))
        }
    }
}

/// Place of the member that owns the partition that shows a finding most.
fn owner(group: &GroupView, finding: &Finding) -> Option<usize> {
    group.partitions.get(finding.partition?)?.owner.filter(|_| group.members.len() > 1)
}

/// The findings that matter beside the first, and how many more there are.
fn others(group: &GroupView, lead: Option<&Finding>, past: bool, look: &Look) -> Vec<String> {
    let told = |reason: &Reason| match reason {
        // With the members, and with the problems.
        Reason::Idle { .. } | Reason::Problems { .. } => true,
        Reason::Rebalancing { .. } | Reason::Storm { .. } => past,
        // With how long was watched.
        Reason::WatchedShortly { .. } => group.judgement.completeness < 1.0,
        _ => false,
    };
    let mut others: Vec<&Finding> = Vec::new();
    for finding in &group.judgement.reasons {
        let said = lead.iter().chain(&others).any(|other| is_same(other, finding));
        if finding.severity < Severity::Ok && !said && !told(&finding.reason) {
            others.push(finding);
        }
    }
    let shown = others.iter().take(OTHERS).map(|finding| {
        let reason = said(group, &finding.reason, look).unwrap_or_else(|| capital(&finding.reason.to_string()));
        format!("{}.", placed(group, finding, &reason, None, look))
    });
    let mut says: Vec<String> = shown.collect();
    if others.len() > OTHERS {
        says.push(format!("{} more (d).", plural(others.len() - OTHERS, "reason")));
    }
    says
}

/// A reason that is about members, with the one that it names.
pub fn said(group: &GroupView, reason: &Reason, look: &Look) -> Option<String> {
    let called = |place| members::label_at(group, Some(place)).map(|label| look.name(&label, PART));
    match *reason {
        Reason::Uneven { partitions, of, members, member } => {
            Some(format!("{}, one of {members} members, owns {partitions} of {of} partitions", called(member)?))
        }
        Reason::NothingArrives { members, first } => {
            let owns = if members == 1 { "owns" } else { "own" };
            let more = and_more(members.saturating_sub(1));
            Some(format!("{}{more} {owns} only partitions that nothing is written to", called(first)?))
        }
        _ => None,
    }
}

/// The same rule, and the same that it makes of the verdict: it is told once.
fn is_same(a: &Finding, b: &Finding) -> bool {
    (a.verdict, a.reason.rule()) == (b.verdict, b.reason.rule())
}

/// A reason and where it shows most: `no commit for 6m although records wait (payments-3 of pay-7f3 and 4 more)`.
fn placed(group: &GroupView, finding: &Finding, reason: &str, owner: Option<usize>, look: &Look) -> String {
    match place(group, finding, owner, look) {
        Some(place) => format!("{reason} ({place})"),
        None => reason.to_owned(),
    }
}

fn place(group: &GroupView, finding: &Finding, owner: Option<usize>, look: &Look) -> Option<String> {
    let place = partition(group, finding, look)?;
    let owner = members::label_at(group, owner);
    let owner = owner.map_or_else(String::new, |owner| format!(" of {}", look.name(&owner, PART)));
    let same = group.judgement.reasons.iter().filter(|other| is_same(other, finding));
    let count: usize = same.map(|finding| finding.count).sum();
    Some(format!("{place}{owner}{}", and_more(count.saturating_sub(1))))
}

/// The partition that shows a finding most: `payments-3`.
pub fn partition(group: &GroupView, finding: &Finding, look: &Look) -> Option<String> {
    let partition = group.partitions.get(finding.partition?)?;
    Some(format!("{}-{}", look.name(&partition.topic, PART), partition.partition))
}

/// What would help, where there is one thing that would.
fn help(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::PastEnd { .. } => Some("Resetting its offsets would help."),
        Reason::NearLoss { .. } => Some("A longer retention of the topic would keep them."),
        Reason::NoLeader => Some("A broker with a replica in sync has to come back."),
        Reason::NotSubscribed { .. } => Some("If nobody is to read it again, delete its offsets."),
        _ => None,
    }
}

/// Which member has most of the lag: its place, and a sentence.
fn largest(group: &GroupView, look: &Look) -> Option<(usize, String)> {
    if matches!(group.judgement.verdict, Verdict::Ok | Verdict::Empty | Verdict::Unknown) || group.members.len() < 2 {
        return None;
    }
    let metrics = group.metrics.as_ref().filter(|metrics| metrics.largest_lag > 0)?;
    let place = metrics.loads.iter().position(|load| load.lag == metrics.largest_lag)?;
    let label = members::label_at(group, Some(place))?;
    let over = metrics.lag_over_mean.map_or_else(String::new, |over| format!(", {over:.1} times the mean"));
    let (largest, total) = (count(metrics.largest_lag), standing::total(&group.totals, look));
    Some((place, format!("{} holds {largest} of {total} lag{over}.", look.name(&label, PART))))
}

fn plan_sentence(group: &GroupView, plan: &PlanView) -> String {
    if !group.would_gain() {
        return format!("{} would gain nothing.", capital(plan.assignor.name()));
    }
    let now = group.metrics.as_ref().map_or(0, |metrics| metrics.largest_lag);
    let (now, then) = (count(now), count(plan.metrics.largest_lag));
    let moves = plural(plan.moves, "partition");
    let (before, after) = (group.drains.unwrap_or_default().group, plan.drains.group);
    let drains = match (before.drain, after.drain) {
        (_, Drain::Unknown | Drain::Done) | (Drain::Unknown, _) => String::new(),
        (Drain::Never, Drain::Never) => "; never drains".to_owned(),
        (_, Drain::Never) => format!("; then never drains, now in {before}"),
        _ => format!("; drains in {after}, now {before}"),
    };
    format!("{} moves {moves}: largest member {now} > {then}{drains}.", capital(plan.assignor.name()))
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
