//! What is said about a plan in a line: what was asked, how to get there, what each number of moves gives.

use crate::monitor::Question;
use crate::monitor::view::{Fit, GroupView, PlanView};
use crate::tui::figures::{count, plural};

/// Points of the frontier that are shown.
const POINTS: usize = 7;

/// The question: `sticky, 2 more members`.
pub fn words(question: &Question) -> String {
    let mut words = vec![question.assignor.to_string()];
    let by = question.members.unsigned_abs() as usize;
    match question.members {
        0 => {}
        1.. => words.push(format!("{} more", plural(by, "member"))),
        _ => words.push(format!("{} fewer", plural(by, "member"))),
    }
    if let Some(moves) = question.max_moves {
        words.push(format!("at most {}", plural(moves as usize, "move")));
    }
    words.join(", ")
}

/// How to come to the plan, and what each number of moves gives, as far as there is room.
pub fn way(group: &GroupView, plan: &PlanView, room: usize) -> String {
    let mut words = match &group.way {
        None if plan.moves == 0 => "The plan moves nothing.".to_owned(),
        None => "No built-in assignor does this.".to_owned(),
        Some(way) if way.exact => {
            let class = way.value.rsplit('.').next().unwrap_or(way.value);
            format!("By {}={class}.", way.property)
        }
        Some(way) => {
            let (largest, moves) = (count(way.largest_lag), plural(way.moves, "move"));
            format!("Nearest built-in: {}, largest {largest}, {moves}.", way.assignor)
        }
    };
    if plan.fit == Fit::NotThisProtocol {
        words.insert_str(0, "NOT FOR THIS PROTOCOL. ");
    }
    let points = plan.frontier.len();
    let fits = |line: &String| words.len() + 1 + line.len() <= room;
    if points > 1
        && let Some(line) = (2..=points.min(POINTS)).rev().map(|shown| frontier(plan, shown)).find(fits)
    {
        words.push(' ');
        words.push_str(&line);
    }
    words
}

/// So many points of the frontier, the first and the last with them: `Moves 0: 107k, 2: 59k, [4: 48k]`.
fn frontier(plan: &PlanView, shown: usize) -> String {
    let points = &plan.frontier;
    let places = (0..shown).map(|place| place * (points.len() - 1) / (shown - 1));
    let points = places.filter_map(|place| points.get(place)).map(|point| {
        let words = format!("{}: {}", point.moves, count(point.largest_lag));
        if point.moves as usize == plan.moves { format!("[{words}]") } else { words }
    });
    format!("Moves {}.", points.collect::<Vec<_>>().join(", "))
}

/// What is to be known, and what is assumed.
pub fn said(plan: &PlanView) -> String {
    let mut said: Vec<String> = plan.notes.iter().map(|note| format!("{note}.")).collect();
    if !plan.assumptions.is_empty() {
        said.push(format!("Assumes: {}.", plan.assumptions.join("; ")));
    }
    said.join(" ")
}
