//! Rebalances, other events, and what only the coordinator log tells of members, as JSON.

// Facts of a schema, not states of a machine.
#![allow(clippy::struct_excessive_bools)]

use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::health::rebalances::{
    Cause, CauseKind, Certainty, Gone, Happened, Happening, Members, Moves, Ongoing, Rebalance, Took, Waiting, Who, Why,
};
use crate::model::{Evidence, MemberLog, Name, Tasks, TopicPartitions, Wall, millis};
use crate::monitor::view::RebalanceView;

/// Rebalances and events listed for each group.
const LISTED: usize = 20;

#[derive(Debug, Serialize)]
pub struct Rebalances {
    /// `null`: nothing tells of this group's past.
    since: Option<String>,
    /// `log`, or `polling`: then every count is a lower bound.
    evidence: &'static str,
    per_5min: usize,
    per_hour: usize,
    /// The two above are lower bounds.
    lower_bound: bool,
    /// All since `since`.
    total: usize,
    total_lower_bound: bool,
    /// Why events of its past are missing, in words.
    missing: Option<String>,
    storm: bool,
    missed_per_hour: u32,
    not_stable_share: Option<f64>,
    not_stable_at_least: bool,
    /// Each minute of the last hour, oldest first.
    per_minute: Vec<u32>,
    clock_ahead_ms: Option<u64>,
    ongoing: Option<OngoingRow>,
    /// Newest first.
    newest: Vec<RebalanceRow>,
}

#[derive(Debug, Serialize)]
struct OngoingRow {
    began: Option<String>,
    lasting_ms: u64,
    at_least: bool,
    from: Option<i32>,
    to: Option<i32>,
    bumps: u32,
    causes: Vec<CauseRow>,
    joined: MemberRows<WhoRow>,
    gone: MemberRows<GoneRow>,
    waits_for: Vec<WaitingRow>,
}

#[derive(Debug, Serialize)]
struct RebalanceRow {
    evidence: &'static str,
    /// Partition and offset in the coordinator log.
    log: Option<(i32, i64)>,
    began: Option<String>,
    ended: Option<String>,
    took_ms: u64,
    /// `exact`, `about` (give or take `took_error_ms`), `at_least`.
    took: &'static str,
    took_error_ms: Option<u64>,
    from: Option<i32>,
    to: Option<i32>,
    missed: u32,
    bumps: u32,
    causes: Vec<CauseRow>,
    joined: MemberRows<WhoRow>,
    gone: MemberRows<GoneRow>,
    moves: Option<MovesRow>,
    emptied: bool,
    partial: bool,
}

#[derive(Debug, Serialize)]
struct CauseRow {
    cause: &'static str,
    certainty: &'static str,
    at: Option<String>,
    /// In words.
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<Name>,
    /// As text: a hash, an assignor, a number of partitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Name>,
}

#[derive(Debug, Serialize)]
struct MemberRows<T> {
    count: usize,
    list: Vec<T>,
}

#[derive(Debug, Serialize)]
struct WhoRow {
    member: Name,
    instance_id: Option<Name>,
    client_id: Name,
    host: Name,
}

#[derive(Debug, Serialize)]
struct GoneRow {
    #[serde(flatten)]
    who: WhoRow,
    why: WhyRow,
}

#[derive(Debug, Serialize)]
struct WhyRow {
    verdict: &'static str,
    certainty: &'static str,
    last_commit_before_ms: Option<u64>,
    idle: bool,
    lag_waiting: Option<bool>,
    was_away: bool,
    rebalance_timeout_ms: Option<u64>,
    session_timeout_ms: Option<u64>,
    /// It is the broker's default.
    session_default: bool,
    back_after_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct WaitingRow {
    #[serde(flatten)]
    who: WhoRow,
    epoch: Option<i32>,
    settled: bool,
}

#[derive(Debug, Serialize)]
struct MovesRow {
    moved: usize,
    taken: usize,
    dropped: usize,
    of: usize,
    list: Vec<MoveRow>,
}

#[derive(Debug, Serialize)]
struct MoveRow {
    topic: Name,
    partition: i32,
    from: Option<WhoRow>,
    to: Option<WhoRow>,
}

#[derive(Debug, Serialize)]
pub struct EventRow {
    event: &'static str,
    at: Option<String>,
    log: Option<(i32, i64)>,
    /// In words.
    text: String,
    /// The figures of it, by name.
    #[serde(flatten)]
    figures: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub struct MemberLogRow {
    epoch: Option<i32>,
    pending_revocation: TopicPartitions,
    waits: bool,
    regex: Option<Name>,
    assignor: Option<Name>,
    rebalance_timeout_ms: Option<i32>,
    session_timeout_ms: Option<i32>,
    /// A member of a KIP-848 group that still speaks the classic protocol.
    classic_protocol: bool,
    tasks: Option<Tasks>,
}

pub fn rows(view: &RebalanceView) -> Rebalances {
    let frequency = &view.frequency;
    Rebalances {
        since: view.since.and_then(time),
        evidence: evidence(view.evidence),
        per_5min: frequency.per_5min,
        per_hour: frequency.per_hour,
        lower_bound: view.lower_bound,
        total: view.total,
        total_lower_bound: view.total_lower_bound,
        missing: view.missing.map(|why| why.to_string()),
        storm: frequency.storm.is_some(),
        missed_per_hour: frequency.missed_per_hour,
        not_stable_share: frequency.not_stable_share,
        not_stable_at_least: frequency.not_stable_at_least,
        per_minute: frequency.strip.clone(),
        clock_ahead_ms: view.clock_ahead.map(millis),
        ongoing: view.ongoing.as_ref().map(ongoing),
        newest: view.list.iter().take(LISTED).map(|rebalance| row(rebalance)).collect(),
    }
}

pub fn events(view: &RebalanceView) -> Vec<EventRow> {
    view.side.iter().take(LISTED).map(|happening| event(happening)).collect()
}

pub fn member_log(log: &MemberLog) -> MemberLogRow {
    MemberLogRow {
        epoch: log.epoch,
        pending_revocation: log.pending_revocation.clone(),
        waits: log.waits,
        regex: log.regex.clone(),
        assignor: log.assignor.clone(),
        rebalance_timeout_ms: log.rebalance_timeout_ms,
        session_timeout_ms: log.session_timeout_ms,
        classic_protocol: log.classic_protocol,
        tasks: log.tasks.clone(),
    }
}

fn ongoing(ongoing: &Ongoing) -> OngoingRow {
    OngoingRow {
        began: ongoing.began.and_then(time),
        lasting_ms: millis(ongoing.lasting),
        at_least: ongoing.at_least,
        from: ongoing.from,
        to: ongoing.to,
        bumps: ongoing.bumps,
        causes: ongoing.causes.iter().map(cause).collect(),
        joined: members(&ongoing.joined, |joined| who(joined)),
        gone: members(&ongoing.gone, gone),
        waits_for: ongoing.waits_for.iter().map(waiting).collect(),
    }
}

fn row(rebalance: &Rebalance) -> RebalanceRow {
    let (took, error) = match rebalance.took {
        Took::Exact(_) => ("exact", None),
        Took::About { error, .. } => ("about", Some(error)),
        Took::AtLeast(_) => ("at_least", None),
    };
    RebalanceRow {
        evidence: evidence(rebalance.evidence()),
        log: rebalance.log,
        began: time(rebalance.began),
        ended: time(rebalance.ended),
        took_ms: millis(rebalance.took.known()),
        took,
        took_error_ms: error.map(millis),
        from: rebalance.from,
        to: rebalance.to,
        missed: rebalance.missed,
        bumps: rebalance.bumps,
        causes: rebalance.causes.iter().map(cause).collect(),
        joined: members(&rebalance.joined, |joined| who(joined)),
        gone: members(&rebalance.gone, gone),
        moves: rebalance.moves.as_ref().map(moves),
        emptied: rebalance.emptied,
        partial: rebalance.partial,
    }
}

fn cause(cause: &Cause) -> CauseRow {
    let mut row = CauseRow {
        cause: cause.kind.name(),
        certainty: certainty(cause.certainty),
        at: time(cause.wall),
        text: cause.to_string(),
        members: None,
        topic: None,
        from: None,
        to: None,
        added: Vec::new(),
        removed: Vec::new(),
    };
    let text = |number: &dyn ToString| Some(Name::from(number.to_string()));
    match &cause.kind {
        CauseKind::Joined { members, .. } | CauseKind::Gone { members, .. } => row.members = Some(*members),
        CauseKind::Subscription { members, added, removed, .. } => {
            (row.members, row.added, row.removed) = (Some(*members), added.clone(), removed.clone());
        }
        CauseKind::Metadata { from, to } => {
            (row.from, row.to) = (from.and_then(|from| text(&from)), to.and_then(|to| text(&to)));
        }
        CauseKind::Partitions { topic, from, to } => {
            (row.topic, row.from, row.to) = (Some(topic.clone()), text(from), text(to));
        }
        CauseKind::Assignor { from, to } => (row.from, row.to) = (from.clone(), to.clone()),
        CauseKind::StaticAway(_) | CauseKind::StaticBack(_) | CauseKind::SecondRound | CauseKind::Untold => {}
    }
    row
}

fn members<T, R>(members: &Members<T>, row: impl Fn(&T) -> R) -> MemberRows<R> {
    MemberRows { count: members.count, list: members.list.iter().map(row).collect() }
}

fn who(who: &Who) -> WhoRow {
    WhoRow {
        member: who.id.clone(),
        instance_id: who.instance_id.clone(),
        client_id: who.client_id.clone(),
        host: who.host.clone(),
    }
}

fn gone(gone: &Gone) -> GoneRow {
    GoneRow { who: who(&gone.who), why: why(&gone.why) }
}

fn why(why: &Why) -> WhyRow {
    WhyRow {
        verdict: why.verdict.name(),
        certainty: certainty(why.certainty()),
        last_commit_before_ms: why.quiet.map(millis),
        idle: why.idle,
        lag_waiting: why.lag_waiting,
        was_away: why.was_away,
        rebalance_timeout_ms: why.rebalance_timeout.map(millis),
        session_timeout_ms: why.session_timeout.map(millis),
        session_default: why.session_default,
        back_after_ms: why.back_after.map(millis),
    }
}

fn waiting(waiting: &Waiting) -> WaitingRow {
    WaitingRow { who: who(&waiting.who), epoch: waiting.epoch, settled: waiting.settled }
}

fn moves(moves: &Moves) -> MovesRow {
    let list = moves.list.iter().map(|each| MoveRow {
        topic: each.topic.clone(),
        partition: each.partition,
        from: each.from.as_deref().map(who),
        to: each.to.as_deref().map(who),
    });
    MovesRow { moved: moves.moved, taken: moves.taken, dropped: moves.dropped, of: moves.of, list: list.collect() }
}

fn event(happening: &Happening) -> EventRow {
    debug_assert!(!matches!(happening.what, Happened::Rebalance(_)), "rebalances have a list of their own");
    EventRow {
        event: happening.what.name(),
        at: time(happening.wall),
        log: happening.log,
        text: happening.what.to_string(),
        figures: figures(&happening.what),
    }
}

/// What an event tells beside its words.
fn figures(what: &Happened) -> Map<String, Value> {
    let figures = match what {
        Happened::CommitsBack { partitions, records, topic, partition, from, to } => json!({
            "topic": topic,
            "partition": partition,
            "from": from,
            "to": to,
            "partitions": partitions,
            "records": records,
        }),
        Happened::Verdict { from, to, severity, reason, partition } => {
            let (topic, partition) = partition.as_ref().map(|(topic, partition)| (topic, *partition)).unzip();
            json!({
                "from": from.word(),
                "to": to.word(),
                "severity": severity.name(),
                "rule": reason.rule(),
                "topic": topic,
                "partition": partition,
            })
        }
        Happened::TypeChanged { from, to } => json!({ "from": super::kind(from), "to": super::kind(to) }),
        Happened::StaticAway(gone) => json!({ "who": who(gone) }),
        Happened::StaticRestarted(back) => json!({ "who": back.as_deref().map(who) }),
        Happened::TopicLeft { topic } => json!({ "topic": topic }),
        Happened::Metadata { subject, .. } => json!({ "subject": subject }),
        Happened::Rebalance(_) | Happened::Created | Happened::Deleted => Value::Null,
    };
    if let Value::Object(figures) = figures { figures } else { Map::new() }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Admin => "polling",
        Evidence::Log => "log",
    }
}

fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Likely => "likely",
    }
}

/// RFC 3339; `None` for what is no time of this era: record timestamps are whatever somebody's clock said.
pub fn time(wall: Wall) -> Option<String> {
    const YEAR_10000: u64 = 253_402_300_800_000;
    let millis = u64::try_from(wall.0).ok().filter(|millis| *millis < YEAR_10000)?;
    Some(humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::health::{Reason, Severity, Verdict};
    use crate::model::GroupKind;

    #[test]
    fn times_of_any_clock_are_written() {
        assert_eq!(time(Wall(1_700_000_000_123)).as_deref(), Some("2023-11-14T22:13:20.123Z"));
        assert_eq!((time(Wall(-1)), time(Wall(i64::MAX))), (None, None));
    }

    #[test]
    fn an_event_has_its_figures_beside_its_words() {
        let figures_of =
            |what: Happened| json!(event(&Happening { group: "g".into(), wall: Wall(0), log: None, what }));
        let back = Happened::CommitsBack {
            partitions: 2,
            records: 130,
            topic: "t\u{1b}".into(),
            partition: 3,
            from: 90,
            to: 10,
        };
        let told = figures_of(back);
        assert_eq!(
            (&told["event"], &told["topic"], &told["partition"]),
            (&json!("commits_back"), &json!("t\u{1b}"), &json!(3))
        );
        assert_eq!((&told["from"], &told["to"]), (&json!(90), &json!(10)));
        assert_eq!((&told["partitions"], &told["records"]), (&json!(2), &json!(130)));
        assert!(told["text"].as_str().unwrap().contains("moved back 90 > 10"), "{told:#}");
        let (from, to, severity) = (Verdict::Ok, Verdict::CatchingUp, Severity::Note);
        let partition = Some(("t".into(), 1));
        let told = figures_of(Happened::Verdict { from, to, severity, reason: Reason::CaughtUp, partition });
        assert_eq!(
            (&told["from"], &told["to"], &told["severity"]),
            (&json!("OK"), &json!("CATCHING UP"), &json!("note"))
        );
        assert_eq!((&told["rule"], &told["topic"], &told["partition"]), (&json!("caught_up"), &json!("t"), &json!(1)));
        let told = figures_of(Happened::Verdict { from, to, severity, reason: Reason::CaughtUp, partition: None });
        assert_eq!((&told["topic"], &told["partition"]), (&Value::Null, &Value::Null));
        assert_eq!(figures_of(Happened::TopicLeft { topic: "t".into() })["topic"], "t");
        let told = figures_of(Happened::Metadata { subject: "broker 3".into(), text: "it is in rack b".to_owned() });
        assert_eq!(told["subject"], "broker 3");
        let (from, to) = (GroupKind::Classic, GroupKind::Other("x y".into()));
        let told = figures_of(Happened::TypeChanged { from, to });
        assert_eq!((&told["from"], &told["to"]), (&json!("classic"), &json!("x y")));
        let who = Who { id: "m-1".into(), ..Who::default() };
        assert_eq!(figures_of(Happened::StaticAway(Arc::new(who)))["who"]["member"], "m-1");
        assert_eq!(figures_of(Happened::Deleted).as_object().unwrap().len(), 4);
    }

    #[test]
    fn a_rebalance_has_all_its_fields() {
        let who = Arc::new(Who { id: "m-1".into(), client_id: "pay".into(), host: "/h".into(), instance_id: None });
        let why = Why { quiet: Some(Duration::from_secs(45)), lag_waiting: Some(true), ..Why::default() };
        let kind = CauseKind::Metadata { from: Some(i64::MIN), to: None };
        let mut gone = Members { count: 1, list: Vec::new() };
        gone.list.push(Gone { who: Arc::clone(&who), why });
        let list = vec![crate::health::rebalances::Move { topic: "t".into(), partition: 3, from: Some(who), to: None }];
        let rebalance = Rebalance {
            log: Some((3, 9)),
            took: Took::About { took: Duration::from_secs(3), error: Duration::from_millis(500) },
            causes: vec![Cause { kind, certainty: Certainty::Likely, wall: Wall(0) }],
            gone,
            moves: Some(Moves { dropped: 1, of: 1, list, ..Moves::default() }),
            ..Rebalance::default()
        };
        let view = RebalanceView { list: Arc::new(vec![Arc::new(rebalance)]), ..RebalanceView::default() };
        let rows = serde_json::to_value(rows(&view)).unwrap();
        let row = &rows["newest"][0];
        assert_eq!((&row["log"], &row["evidence"]), (&json!([3, 9]), &json!("log")));
        assert_eq!(
            (&row["took_ms"], &row["took"], &row["took_error_ms"]),
            (&json!(3000), &json!("about"), &json!(500))
        );
        let cause = &row["causes"][0];
        assert_eq!((&cause["cause"], &cause["certainty"]), (&json!("metadata"), &json!("likely")));
        assert_eq!((&cause["from"], &cause["to"]), (&json!("-9223372036854775808"), &Value::Null));
        let gone = &row["gone"]["list"][0];
        assert_eq!((&gone["client_id"], &gone["why"]["last_commit_before_ms"]), (&json!("pay"), &json!(45000)));
        assert_eq!(row["moves"]["list"][0]["from"]["member"], json!("m-1"));
    }
}
