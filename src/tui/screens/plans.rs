//! What is said about a plan in a line: what was asked, how to get there, what each number of moves gives.

use crate::monitor::Question;
use crate::monitor::view::{Fit, GroupView, PlanView};
use crate::tui::figures::count;
use crate::tui::standing::plural;

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

/// How to come to the plan, and what each number of moves gives.
pub fn way(group: &GroupView, plan: &PlanView) -> String {
    let mut words = Vec::new();
    if plan.fit == Fit::NotThisProtocol {
        words.push(format!("{}: {}.", plan.assignor, plan.fit.words()));
    }
    words.push(match &group.way {
        None => "No built-in assignor does this.".to_owned(),
        Some(way) if way.exact => {
            let class = way.value.rsplit('.').next().unwrap_or(way.value);
            format!("By {}={class}.", way.property)
        }
        Some(way) => {
            let (largest, moves) = (count(way.largest_lag), plural(way.moves, "move"));
            format!("Nearest built-in: {}, largest {largest}, {moves}.", way.assignor)
        }
    });
    words.extend(frontier(plan));
    words.join(" ")
}

/// `Moves: 0 107k, 2 59k, [4 48k]`.
fn frontier(plan: &PlanView) -> Option<String> {
    let points = &plan.frontier;
    if points.len() < 2 {
        return None;
    }
    let shown = POINTS.min(points.len());
    let places = (0..shown).map(|place| place * (points.len() - 1) / (shown - 1));
    let points = places.filter_map(|place| points.get(place)).map(|point| {
        let words = format!("{} {}", point.moves, count(point.largest_lag));
        if point.moves as usize == plan.moves { format!("[{words}]") } else { words }
    });
    Some(format!("Largest by moves: {}.", points.collect::<Vec<_>>().join(", ")))
}

/// What is to be known, and what is assumed.
pub fn said(plan: &PlanView) -> String {
    let mut said: Vec<String> = plan.notes.iter().map(|note| format!("{note}.")).collect();
    if !plan.assumptions.is_empty() {
        said.push(format!("Assumes: {}.", plan.assumptions.join("; ")));
    }
    said.join(" ")
}
