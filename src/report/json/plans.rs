//! Assignments, plans, rates and forecasts as JSON: of the snapshot and of `lagtop plan`.

use serde::Serialize;

use crate::assign::metrics::Metrics;
use crate::health::{Drain, MemberForecast, Rate};
use crate::model::{Name, millis};
use crate::monitor::view::{DrainView, Fit, MemberChange, PlanView, Rates, Way};

/// Records per second.
#[derive(Debug, Serialize)]
pub struct RatesRow {
    written: Option<RateRow>,
    consumed: Option<RateRow>,
}

#[derive(Debug, Serialize)]
struct RateRow {
    per_second: f64,
    window_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct DrainRow {
    /// `done`, `in`, `never`, `unknown`.
    drain: &'static str,
    /// With `in`.
    ms: Option<u64>,
    /// A capacity is assumed.
    assumed: bool,
}

#[derive(Debug, Serialize)]
pub struct GroupDrainRow {
    #[serde(flatten)]
    drain: DrainRow,
    /// The member that decides it.
    last: Option<Name>,
    /// Members whose capacity was measured, of how many.
    measured: usize,
    of: usize,
    /// What is added for a rebalance.
    rebalance_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Judged {
    largest_lag: u64,
    largest_over_mean: Option<f64>,
    lag_variation: Option<f64>,
    partitions_over_mean: Option<f64>,
    idle: usize,
    lower_bound: u64,
    /// `largest_lag` ÷ `lower_bound`.
    over_bound: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct Plan {
    assignor: &'static str,
    moves: usize,
    forced_moves: usize,
    #[serde(flatten)]
    judged: Judged,
    drains: GroupDrainRow,
    members: Vec<PlannedMember>,
    frontier: Vec<Point>,
    /// `built_in`, `own_class`, `not_this_protocol`.
    fit: &'static str,
    hash_order: bool,
    notes: Vec<String>,
    assumptions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PlannedMember {
    member: Name,
    /// `stays`, `new`, `leaves`.
    presence: &'static str,
    partitions: usize,
    lag: u64,
    gained: usize,
    lost: usize,
    drains: DrainRow,
}

#[derive(Debug, Serialize)]
struct Point {
    moves: u32,
    largest_lag: u64,
    even: bool,
}

/// How to come to the plan, or near it.
#[derive(Debug, Serialize)]
pub struct WayRow {
    property: &'static str,
    value: &'static str,
    assignor: &'static str,
    exact: bool,
    largest_lag: u64,
    moves: usize,
}

pub fn rates(rates: Rates) -> RatesRow {
    RatesRow { written: rates.written.map(rate), consumed: rates.consumed.map(rate) }
}

fn rate(rate: Rate) -> RateRow {
    RateRow { per_second: rate.per_second, window_ms: millis(rate.window) }
}

pub fn drain(forecast: MemberForecast) -> DrainRow {
    let (drain, ms) = match forecast.drain {
        Drain::Done => ("done", None),
        Drain::In(time) => ("in", Some(millis(time))),
        Drain::Never => ("never", None),
        Drain::Unknown => ("unknown", None),
    };
    DrainRow { drain, ms, assumed: forecast.assumed }
}

/// `called`: the id of the member at a place.
pub fn group_drain(drains: &DrainView, called: impl Fn(usize) -> Option<Name>) -> GroupDrainRow {
    GroupDrainRow {
        drain: drain(drains.group),
        last: drains.last.and_then(called),
        measured: drains.measured,
        of: drains.of,
        rebalance_ms: drains.rebalance.map(millis),
    }
}

pub fn judged(metrics: &Metrics) -> Judged {
    Judged {
        largest_lag: metrics.largest_lag,
        largest_over_mean: metrics.lag_over_mean,
        lag_variation: metrics.lag_variation,
        partitions_over_mean: metrics.partitions_over_mean,
        idle: metrics.idle,
        lower_bound: metrics.lower_bound,
        over_bound: metrics.over_bound,
    }
}

pub fn plan(plan: &PlanView) -> Plan {
    let members = plan.members.iter().map(|member| PlannedMember {
        member: member.id.clone(),
        presence: match member.presence {
            MemberChange::Stays => "stays",
            MemberChange::New => "new",
            MemberChange::Leaves => "leaves",
        },
        partitions: member.partitions,
        lag: member.lag,
        gained: member.gained,
        lost: member.lost,
        drains: drain(member.drain),
    });
    let frontier = plan.frontier.iter();
    Plan {
        assignor: plan.assignor.name(),
        moves: plan.moves,
        forced_moves: plan.forced,
        judged: judged(&plan.metrics),
        drains: group_drain(&plan.drains, |place| Some(plan.members.get(place)?.id.clone())),
        members: members.collect(),
        frontier: frontier
            .map(|point| Point { moves: point.moves, largest_lag: point.largest_lag, even: point.even })
            .collect(),
        fit: match plan.fit {
            Fit::BuiltIn => "built_in",
            Fit::OwnClass => "own_class",
            Fit::NotThisProtocol => "not_this_protocol",
        },
        hash_order: plan.hash_order,
        notes: plan.notes.clone(),
        assumptions: plan.assumptions.clone(),
    }
}

pub fn way(way: &Way) -> WayRow {
    let Way { property, value, assignor, exact, largest_lag, moves } = *way;
    WayRow { property, value, assignor: assignor.name(), exact, largest_lag, moves }
}
