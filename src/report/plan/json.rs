//! A plan as JSON; documented in docs/snapshot-json.md.

use serde::Serialize;

use super::input::{Input, Saved};
use super::{Moved, PlanReport};
use crate::model::Name;
use crate::monitor::plan::Question;
use crate::report::json::plans::{self, DrainRow, GroupDrainRow, Judged, Plan, WayRow};

#[derive(Debug, Serialize)]
pub struct Report<'a> {
    schema: u32,
    version: &'static str,
    group: &'a Name,
    r#type: &'a str,
    question: QuestionRow<'a>,
    current: Current,
    plan: Plan,
    moves: Vec<Move<'a>>,
    way: Option<WayRow>,
    input: Input,
}

#[derive(Debug, Serialize)]
struct QuestionRow<'a> {
    assignor: &'static str,
    max_moves: Option<u32>,
    members: i32,
    without: &'a [Name],
    partitions: Vec<TopicPartitions<'a>>,
}

#[derive(Debug, Serialize)]
struct TopicPartitions<'a> {
    topic: &'a Name,
    partitions: u32,
}

#[derive(Debug, Serialize)]
struct Current {
    assignor: Option<Name>,
    #[serde(flatten)]
    judged: Judged,
    drains: GroupDrainRow,
    members: Vec<CurrentMember>,
}

#[derive(Debug, Serialize)]
struct CurrentMember {
    member: Name,
    partitions: u32,
    lag: u64,
    drains: DrainRow,
}

#[derive(Debug, Serialize)]
struct Move<'a> {
    topic: &'a Name,
    partition: u32,
    /// `null`: nobody had it.
    from: Option<&'a Name>,
    to: &'a Name,
}

pub fn plan<'a>(report: &'a PlanReport<'a>) -> Report<'a> {
    let Saved { group, kind, basis, .. } = report.saved;
    let Question { assignor, max_moves, members, without, partitions } = &report.plan().question;
    let ids = || basis.input.members.iter().map(|member| &member.id);
    let current = ids().zip(&report.now.metrics.loads).zip(&report.now.members);
    let current = current.map(|((id, load), drain)| CurrentMember {
        member: id.clone(),
        partitions: load.partitions,
        lag: load.lag,
        drains: plans::drain(*drain),
    });
    Report {
        schema: crate::report::json::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        group,
        r#type: kind,
        question: QuestionRow {
            assignor: assignor.name(),
            max_moves: *max_moves,
            members: *members,
            without,
            partitions: partitions.iter().map(|(topic, n)| TopicPartitions { topic, partitions: *n }).collect(),
        },
        current: Current {
            assignor: basis.assignor.clone(),
            judged: plans::judged(&report.now.metrics),
            drains: plans::group_drain(&report.now.drains, |place| ids().nth(place).cloned()),
            members: current.collect(),
        },
        plan: plans::plan(report.plan()),
        moves: report
            .moves()
            .into_iter()
            .map(|Moved { topic, partition, from, to }| Move { topic, partition, from, to })
            .collect(),
        way: report.way.as_ref().map(plans::way),
        input: Input::of(report.saved),
    }
}
