//! How a group stands, in a glyph, a word and a sentence. It reads the view's figures and adds none of its own; the
//! verdicts of the health room will take its place.

use super::figures::count;
use super::look::Look;
use super::members;
use super::past_words;
use super::theme::Role;
use crate::health::{Direction, Drain, LagTotals, PartitionLag};
use crate::model::{At, GroupKind, GroupState, Wall};
use crate::monitor::view::{GroupView, PlanView};

/// The gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Critical,
    Warn,
    /// Worth knowing, nothing to do.
    Note,
    Unknown,
    Ok,
}

impl Severity {
    pub fn glyph(self) -> &'static str {
        match self {
            Self::Critical => "x",
            Self::Warn => "!",
            Self::Note => "~",
            Self::Unknown => "?",
            Self::Ok => ".",
        }
    }

    pub fn role(self) -> Role {
        match self {
            Self::Critical => Role::Critical,
            Self::Warn => Role::Warn,
            Self::Note => Role::Accent,
            Self::Unknown => Role::Unknown,
            Self::Ok => Role::Ok,
        }
    }
}

/// A group's standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub severity: Severity,
    /// At most [`WORD`] cells.
    pub word: &'static str,
}

/// The longest word of a standing.
pub const WORD: u16 = 10;

/// The standing of a group; `fresh`: the figures are of now.
pub fn of(group: &GroupView, fresh: bool) -> Standing {
    let standing = |severity, word| Standing { severity, word };
    let totals = &group.totals;
    let nobody = group.members.is_empty();
    if !fresh {
        return standing(Severity::Unknown, "stale");
    }
    let storm = group.rebalances.frequency.storm;
    if is_rebalancing(group.state) && !storm {
        return standing(Severity::Warn, "rebalance");
    }
    if storm && (!group.kind.reads_partitions() || group.commits_at.is_none()) {
        return standing(Severity::Warn, "storm");
    }
    if !group.kind.reads_partitions() || needs(&group.kind).is_some() {
        return standing(Severity::Unknown, "not known");
    }
    if group.described_at.is_none() && group.commits_at.is_none() {
        return standing(Severity::Unknown, if group.problems.is_empty() { "not read" } else { "denied" });
    }
    match group.direction {
        _ if totals.expired > 0 => standing(Severity::Critical, "lost"),
        _ if totals.no_leader > 0 => standing(Severity::Critical, "no leader"),
        Direction::Rising if nobody => standing(Severity::Critical, "no members"),
        _ if storm => standing(Severity::Warn, "storm"),
        _ if totals.past_end > 0 => standing(Severity::Warn, "past end"),
        Direction::Rising if totals.lag > 0 => standing(Severity::Warn, "rising"),
        _ if nobody && totals.lag > 0 => standing(Severity::Note, "stopped"),
        _ if !totals.has_known() && totals.shared == 0 && !group.partitions.is_empty() && totals.no_commit == 0 => {
            standing(Severity::Unknown, if totals.stale > 0 { "stale" } else { "not known" })
        }
        _ if totals.topic_gone > 0 => standing(Severity::Note, "topic gone"),
        _ if totals.partition_gone > 0 => standing(Severity::Note, "part. gone"),
        _ if !group.problems.is_empty() => standing(Severity::Note, "problem"),
        _ if group.idle > 0 => standing(Severity::Note, "idle"),
        _ if totals.no_commit > 0 => standing(Severity::Note, "no commit"),
        _ if nobody => standing(Severity::Ok, "empty"),
        Direction::Falling if totals.lag > 0 => standing(Severity::Ok, "falling"),
        _ if totals.lag > 0 => standing(Severity::Ok, "steady"),
        _ => standing(Severity::Ok, "fine"),
    }
}

fn is_rebalancing(state: GroupState) -> bool {
    matches!(
        state,
        GroupState::PreparingRebalance
            | GroupState::CompletingRebalance
            | GroupState::Assigning
            | GroupState::Reconciling
    )
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

/// The state of a partition and the figure that goes with it.
pub fn lag_words(lag: &PartitionLag, now: At) -> String {
    match lag {
        PartitionLag::NoCommit { held: Some(held) } => format!("no commit, {held} held"),
        PartitionLag::PastEnd { by } => format!("past end by {by}"),
        PartitionLag::Expired { lost, .. } => format!("expired, {lost} lost"),
        PartitionLag::Stale { since, .. } => format!("stale for {}", super::figures::duration(now.since(*since))),
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

/// What the plan would change: the largest member now and then, and how many partitions it would move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Would {
    Gain { moves: usize, now: u64, then: u64, drains: Option<String> },
    Nothing,
}

/// What the plan would change; `None` where there is no plan.
pub fn would(group: &GroupView) -> Option<Would> {
    let (plan, metrics) = (group.plan.as_ref()?, group.metrics.as_ref()?);
    if !group.would_gain() {
        return Some(Would::Nothing);
    }
    let (now, then) = (group.drains.map(|drains| drains.group.drain), plan.drains.group);
    let sooner = match (now, then.drain) {
        (Some(Drain::In(now)), Drain::In(then)) => then < now,
        (Some(Drain::Never), Drain::In(_)) => true,
        _ => false,
    };
    let drains = sooner.then(|| then.to_string());
    Some(Would::Gain { moves: plan.moves, now: metrics.largest_lag, then: plan.metrics.largest_lag, drains })
}

impl Would {
    /// In as many words as there is room for; never cut within a figure.
    pub fn words(&self, width: usize) -> String {
        let Self::Gain { moves, now, then, drains } = self else {
            return if width < 15 { "no gain" } else { "nothing to gain" }.to_owned();
        };
        let moves = plural(*moves, "move");
        let (now, then) = (count(*now), count(*then));
        let forms =
            [format!("{moves}, largest {now} > {then}"), format!("{moves}, {now} > {then}"), format!("{now}>{then}")];
        let drained =
            drains.iter().flat_map(|drains| [format!("drain in {drains}, {moves}"), format!("drain in {drains}")]);
        drained.chain(forms).find(|form| form.len() <= width).unwrap_or(moves)
    }
}

/// `1 move`, `2 moves`.
pub fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The group in a few sentences: what people read out on the call.
pub fn sentence(group: &GroupView, fresh: bool, now: Option<Wall>, look: &Look) -> String {
    const NAME: usize = 40;
    let standing = of(group, fresh);
    let mut says = vec![format!("{} is {}.", look.name(&group.id, NAME), adjective(standing))];
    let rebalances = past_words::sentence(group, now, look);
    let storm = group.rebalances.frequency.storm;
    says.extend(rebalances.clone().filter(|_| storm));
    if let Some(needs) = needs(&group.kind) {
        says.push(format!("Members and lag of a {} group: {needs}.", group.kind));
    } else if !group.kind.reads_partitions() {
        says.push(format!(
            "{} of type {}; such groups commit no offsets.",
            plural(group.members.len(), "member"),
            group.kind
        ));
    }
    if group.kind.reads_partitions() && (group.commits_at.is_some() || group.totals.shared > 0) {
        says.push(lag_sentence(group));
    }
    let largest = group.metrics.as_ref().filter(|metrics| metrics.largest_lag > 0);
    if let Some(metrics) = largest {
        let place = metrics.loads.iter().position(|load| load.lag == metrics.largest_lag);
        if let Some(label) = members::label_at(group, place) {
            let over = metrics.lag_over_mean.map_or_else(String::new, |over| format!(", {over:.1} times the mean"));
            says.push(format!("{} holds {} of it{over}.", look.name(&label, NAME), count(metrics.largest_lag)));
        }
    }
    if group.members.is_empty() && group.kind.reads_partitions() && group.described_at.is_some() {
        says.push("Nobody consumes.".to_owned());
    }
    if group.idle > 0 {
        let reason = group.members.iter().find_map(|member| member.idle);
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        says.push(format!("{} of {} members idle{reason}.", group.idle, group.members_now()));
    }
    says.extend(rebalances.filter(|_| !storm));
    if let Some(plan) = &group.plan {
        says.push(plan_sentence(group, plan));
    }
    match group.problems.as_slice() {
        [] => {}
        [problem] => says.push(format!("Problem: {problem}.")),
        [problem, ..] => says.push(format!("{} problems, one: {problem}.", group.problems.len())),
    }
    says.join(" ")
}

fn lag_sentence(group: &GroupView) -> String {
    let towards = match group.direction {
        _ if group.trend.len() < 2 => "",
        Direction::Rising => ", rising",
        Direction::Falling => ", falling",
        Direction::Flat => ", steady",
    };
    let besides = besides(&group.totals);
    if group.totals.shared > 0 {
        let besides = if besides.is_empty() { besides } else { format!(" ({besides})") };
        return format!("Backlog {}{besides}.", count(group.totals.backlog));
    }
    if !group.totals.has_known() {
        let besides = besides.trim_start_matches('+');
        return if besides.is_empty() { "No commits.".to_owned() } else { format!("Lag not known: {besides}.") };
    }
    let besides = if besides.is_empty() { besides } else { format!(" ({besides})") };
    let lost = match group.totals.lost {
        0 => String::new(),
        lost => format!(", {} records were deleted before they were read", count(lost)),
    };
    format!("Lag {}{towards}{besides}{lost}.", count(group.totals.lag))
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

/// The standing as it stands in a sentence after "is".
fn adjective(standing: Standing) -> &'static str {
    match standing.word {
        "lost" => "LOSING RECORDS",
        "no leader" => "CUT OFF: a partition has no leader",
        "no members" => "FALLING BEHIND: it has no members",
        "past end" => "past the end of a log",
        "rebalance" => "rebalancing",
        "storm" => "REBALANCING AGAIN AND AGAIN",
        "rising" => "falling behind",
        "stopped" => "stopped",
        "idle" | "steady" | "no commit" => "steady",
        "topic gone" => "reading a topic that is gone",
        "part. gone" => "reading a partition that is gone",
        "problem" => "not fully readable",
        "falling" => "catching up",
        "empty" => "empty",
        "stale" => "not known now: its figures are old",
        "not read" => "not read yet",
        "denied" => "not readable",
        "not known" => "not known",
        _ => "fine",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Name;

    fn group(state: GroupState, totals: LagTotals, direction: Direction) -> GroupView {
        GroupView {
            id: Name::new("g"),
            kind: GroupKind::Classic,
            state,
            totals,
            direction,
            described_at: Some(At(1)),
            commits_at: Some(At(1)),
            members: vec![crate::monitor::view::MemberView::default()],
            ..GroupView::default()
        }
    }

    #[test]
    fn every_standing_has_its_severity() {
        let known = LagTotals { lag: 10, known: 1, ..LagTotals::default() };
        let cases = [
            (
                group(GroupState::Stable, LagTotals { expired: 1, ..known }, Direction::Flat),
                true,
                Severity::Critical,
                "lost",
            ),
            (
                group(GroupState::Stable, LagTotals { no_leader: 1, ..known }, Direction::Flat),
                true,
                Severity::Critical,
                "no leader",
            ),
            (
                group(GroupState::Stable, LagTotals { past_end: 1, ..known }, Direction::Flat),
                true,
                Severity::Warn,
                "past end",
            ),
            (group(GroupState::Reconciling, known, Direction::Flat), true, Severity::Warn, "rebalance"),
            (group(GroupState::Stable, known, Direction::Rising), true, Severity::Warn, "rising"),
            (group(GroupState::Stable, known, Direction::Rising), false, Severity::Unknown, "stale"),
            (group(GroupState::Stable, known, Direction::Falling), true, Severity::Ok, "falling"),
            (
                group(GroupState::Stable, LagTotals { known: 1, ..LagTotals::default() }, Direction::Flat),
                true,
                Severity::Ok,
                "fine",
            ),
        ];
        for (group, fresh, severity, word) in cases {
            assert_eq!(of(&group, fresh), Standing { severity, word });
            assert!(word.len() <= usize::from(WORD));
        }
        let nobody = GroupView { members: Vec::new(), ..group(GroupState::Empty, known, Direction::Flat) };
        assert_eq!(of(&nobody, true).word, "stopped");
        assert_eq!(of(&GroupView { direction: Direction::Rising, ..nobody }, true).severity, Severity::Critical);
        let share = GroupView { kind: GroupKind::ShareOrStreams, ..group(GroupState::Stable, known, Direction::Flat) };
        assert_eq!(of(&share, true).severity, Severity::Unknown);
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
            (PartitionLag::Stale { last: 3, since: At(1000) }, "stale for 12s"),
            (PartitionLag::Unknown, "unknown"),
        ];
        for (lag, words) in cases {
            assert_eq!(lag_words(&lag, At(13_000)), words);
        }
    }
}
