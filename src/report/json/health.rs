//! Verdicts, time lag and what they were made from, as JSON. The rules are in docs/health-rules.md.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::health::{Direction, Finding, Judgement, Reason, Thresholds, TimeLag};
use crate::model::{At, Name, millis};
use crate::monitor::view::{GroupView, PartitionView};

#[derive(Debug, Serialize)]
pub struct VerdictRow {
    verdict: &'static str,
    severity: &'static str,
    /// 0 nothing but one look, 1 all the evidence.
    completeness: f64,
    /// The one that decides first.
    reasons: Vec<ReasonRow>,
}

#[derive(Debug, Serialize)]
pub struct ReasonRow {
    rule: &'static str,
    verdict: &'static str,
    severity: &'static str,
    text: String,
    /// How many partitions it holds for, and the one that shows it most; `null`: it is about the whole.
    partitions: Option<usize>,
    topic: Option<Name>,
    partition: Option<i32>,
    /// The figures that decided, by name.
    #[serde(flatten)]
    figures: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub struct TimeLagRow {
    /// `none`, `known`, `more_than`, `unknown`.
    state: &'static str,
    ms: Option<u64>,
    /// At most so much of it is between two looks.
    error_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct ThresholdsRow {
    lag: Option<u64>,
    time_lag_ms: u64,
    abandoned_after_ms: u64,
    /// So many rebalances within that time are a storm.
    storm_count: usize,
    storm_window_ms: u64,
}

/// What the rules go by.
#[derive(Debug, Serialize)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct SignsRow {
    watched_ms: u64,
    silent_ms: u64,
    patience_ms: u64,
    moves: bool,
    alive: bool,
    unheld: bool,
    alone: bool,
    in_turn: bool,
    arrives: bool,
    /// `null`: not all subscriptions are known.
    subscribed: Option<bool>,
    two_steps: Option<u64>,
    rewound: Option<RewoundRow>,
    to_log_start: Option<u64>,
    time_to_loss_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct RewoundRow {
    from: i64,
    to: i64,
    age_ms: u64,
}

/// A verdict on a group, or on a member or partition of it.
pub fn verdict(judgement: &Judgement, group: &GroupView) -> VerdictRow {
    VerdictRow {
        verdict: judgement.verdict.word(),
        severity: judgement.severity.name(),
        completeness: (judgement.completeness * 1000.0).round() / 1000.0,
        reasons: judgement.reasons.iter().map(|finding| reason(finding, group)).collect(),
    }
}

fn reason(finding: &Finding, group: &GroupView) -> ReasonRow {
    let shown = finding.partition.and_then(|place| group.partitions.get(place));
    ReasonRow {
        rule: finding.reason.rule(),
        verdict: finding.verdict.word(),
        severity: finding.severity.name(),
        text: finding.reason.to_string(),
        partitions: shown.map(|_| finding.count),
        topic: shown.map(|partition| partition.topic.clone()),
        partition: shown.map(|partition| partition.partition),
        figures: figures(&finding.reason, group),
    }
}

/// The figures of a reason, with their units in their names.
fn figures(reason: &Reason, group: &GroupView) -> Map<String, Value> {
    let called = |place: usize| group.members.get(place).map(|member| &member.id);
    let time = |time: TimeLag| json!(time_lag(time));
    let estimate = |estimate: Option<Duration>| json!(estimate.map(millis));
    let figures = match *reason {
        Reason::Stale { since } => json!({ "since_ms": millis(since) }),
        Reason::WatchedShortly { watched } => json!({ "watched_ms": millis(watched) }),
        Reason::NoCommit { held } => json!({ "held": held }),
        Reason::Stuck { silent, patience } | Reason::Silent { silent, patience } => {
            json!({ "silent_ms": millis(silent), "patience_ms": millis(patience) })
        }
        Reason::NeverConsumed { held } => json!({ "held": held }),
        Reason::PastEnd { by } => json!({ "by": by }),
        Reason::NoMembers { lag, growing } => json!({ "lag": lag, "growing": growing }),
        Reason::NoOwner { lag } | Reason::NotSubscribed { lag } => json!({ "lag": lag }),
        Reason::InFlight { lag, threshold } => json!({ "lag": lag, "threshold": threshold }),
        Reason::Behind { time: lag, estimate: about, threshold, growing } => json!({
            "time_lag": time(lag),
            "estimate_ms": estimate(about),
            "threshold_ms": millis(threshold),
            "growing": growing,
        }),
        Reason::BehindBy { lag, threshold, growing } => {
            json!({ "lag": lag, "threshold": threshold, "growing": growing })
        }
        Reason::Lost { records } => json!({ "records": records }),
        Reason::NearLoss { time } => json!({ "time_to_loss_ms": millis(time) }),
        Reason::Rewound { from, to, ago } => json!({ "from": from, "to": to, "ago_ms": millis(ago) }),
        Reason::Rebalancing { lasting, at_least } => json!({ "lasting_ms": millis(lasting), "at_least": at_least }),
        Reason::Storm { count, window } => json!({ "count": count, "window_ms": millis(window) }),
        Reason::CatchingUp { time: lag, estimate: about } => {
            json!({ "time_lag": time(lag), "estimate_ms": estimate(about) })
        }
        Reason::Within { time: lag, estimate: about, threshold } => json!({
            "time_lag": time(lag),
            "estimate_ms": estimate(about),
            "threshold_ms": millis(threshold),
        }),
        Reason::OpenTransaction { to_end, open_for } => json!({ "to_end": to_end, "open_for": time(open_for) }),
        Reason::Idle { members, of } => json!({ "members": members, "of": of }),
        Reason::Uneven { partitions, of, members, member } => {
            json!({ "owned": partitions, "of": of, "members": members, "member": called(member) })
        }
        Reason::NothingArrives { members, first } => json!({ "members": members, "member": called(first) }),
        Reason::Problems { count } => json!({ "count": count }),
        Reason::NotRead
        | Reason::NoLeader
        | Reason::CommitsNothing
        | Reason::NoOffsets
        | Reason::NeedsLog
        | Reason::CaughtUp
        | Reason::ControlRecord
        | Reason::Standalone
        | Reason::Nothing
        | Reason::TopicGone
        | Reason::PartitionGone
        | Reason::Abandoned => Value::Null,
    };
    if let Value::Object(figures) = figures { figures } else { Map::new() }
}

/// How long something is behind.
pub fn time_lag(lag: TimeLag) -> TimeLagRow {
    let (state, ms, error_ms) = match lag {
        TimeLag::None => ("none", Some(0), None),
        TimeLag::Known { time, error } => ("known", Some(millis(time)), Some(millis(error))),
        TimeLag::MoreThan(time) => ("more_than", Some(millis(time)), None),
        TimeLag::Unknown => ("unknown", None, None),
    };
    TimeLagRow { state, ms, error_ms }
}

pub fn thresholds(group: &GroupView) -> ThresholdsRow {
    let Thresholds { lag, time_lag, abandoned_after } = group.thresholds;
    ThresholdsRow {
        lag,
        time_lag_ms: millis(time_lag),
        abandoned_after_ms: millis(abandoned_after),
        storm_count: group.storm.count,
        storm_window_ms: millis(group.storm.window),
    }
}

pub fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Rising => "rising",
        Direction::Falling => "falling",
        Direction::Flat => "flat",
    }
}

pub fn signs(partition: &PartitionView, now: At) -> SignsRow {
    let signs = &partition.signs;
    SignsRow {
        watched_ms: millis(signs.watched),
        silent_ms: millis(signs.silent),
        patience_ms: millis(signs.patience),
        moves: signs.moves,
        alive: signs.alive,
        unheld: signs.unheld,
        alone: signs.alone,
        in_turn: signs.in_turn,
        arrives: signs.arrives,
        subscribed: partition.subscribed,
        two_steps: partition.rates.two_steps,
        rewound: signs.rewound.map(|rewound| RewoundRow {
            from: rewound.from,
            to: rewound.to,
            age_ms: millis(now.since(rewound.at)),
        }),
        to_log_start: partition.to_log_start(),
        time_to_loss_ms: signs.time_to_loss.map(millis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::rebalances::Storm;
    use crate::health::{Severity, Verdict};
    use crate::monitor::view::{CommitSigns, MemberView, PartitionRates};

    #[test]
    fn what_the_rules_go_by_is_told() {
        let signs = |in_turn, arrives, subscribed, two_steps| {
            let commit = CommitSigns { in_turn, arrives, ..CommitSigns::default() };
            let rates = PartitionRates { two_steps, ..PartitionRates::default() };
            let told = json!(super::signs(
                &PartitionView { signs: commit, subscribed, rates, ..PartitionView::default() },
                At(0)
            ));
            ["in_turn", "arrives", "subscribed", "two_steps"].map(|name| told[name].clone())
        };
        assert_eq!(signs(true, false, Some(false), Some(7)), [json!(true), json!(false), json!(false), json!(7)]);
        assert_eq!(signs(false, true, None, None), [json!(false), json!(true), Value::Null, Value::Null]);
        let reason = Reason::InFlight { lag: 7, threshold: 9 };
        let finding = Finding { verdict: Verdict::Ok, severity: Severity::Ok, reason, partition: None, count: 1 };
        let told = json!(super::reason(&finding, &GroupView::default()));
        assert_eq!((&told["rule"], &told["lag"], &told["threshold"]), (&json!("in_flight"), &json!(7), &json!(9)));
        let member = |id: &str| MemberView { id: id.into(), ..MemberView::default() };
        let group = GroupView { members: vec![member("a"), member("b")], ..GroupView::default() };
        let told = json!(figures(&Reason::Uneven { partitions: 6, of: 8, members: 2, member: 1 }, &group));
        assert_eq!(told, json!({ "owned": 6, "of": 8, "members": 2, "member": "b" }));
        let told = json!(figures(&Reason::NothingArrives { members: 2, first: 0 }, &group));
        assert_eq!(told, json!({ "members": 2, "member": "a" }));
        let storm = Storm { count: 3, window: Duration::from_secs(60) };
        let told = json!(thresholds(&GroupView { storm, ..GroupView::default() }));
        assert_eq!((&told["storm_count"], &told["storm_window_ms"]), (&json!(3), &json!(60_000)));
    }
}
