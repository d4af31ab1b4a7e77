//! Under the members of a group: what the assignment now and the plan are worth, how to get there, what is assumed.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::plans;
use crate::assign::metrics::Metrics;
use crate::monitor::view::{DrainView, GroupView};
use crate::tui::canvas::Canvas;
use crate::tui::figures::{count, drain, plural, ratio, variation};
use crate::tui::members;
use crate::tui::text;
use crate::tui::theme::Role;

/// What each side is worth, and what the plan takes for granted.
///
/// `middle`: column of the line between the sides.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, group: &GroupView, middle: u16) {
    let Some(current) = &group.metrics else { return };
    if area.height == 0 {
        return;
    }
    let look = canvas.look;
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let evenness = |metrics: &Metrics| {
        vec![
            format!("max/mean {}", ratio(metrics.lag_over_mean)),
            format!("cv {}", variation(metrics.lag_variation)),
            format!("idle {}", metrics.idle),
        ]
    };
    let largest = |metrics: &Metrics| format!("largest {}", count(metrics.largest_lag));
    let right = area.right();
    let mut line = |row: u16, left: &[String], other: Option<Vec<String>>| {
        if row >= area.height {
            return;
        }
        let y = area.y + row;
        let room = if other.is_some() { middle.saturating_sub(area.x) } else { area.width };
        canvas.put(area.x, y, room, &fitting(left, room), bold);
        if let Some(other) = other {
            canvas.put(middle + 1, y, 1, look.glyphs().vertical, look.style(Role::Border));
            let x = middle + 3;
            let room = right.saturating_sub(x);
            canvas.put(x, y, room, &fitting(&other, room), bold);
        }
    };
    let plan = group.plan.as_ref();
    line(0, &evenness(current), plan.map(|plan| evenness(&plan.metrics)));
    let over = |metrics: &Metrics| match metrics.over_bound {
        Some(over) => format!("{over:.2} x bound {}", count(metrics.lower_bound)),
        None => "bound 0".to_owned(),
    };
    let then = plan.map(|plan| vec![plural(plan.moves, "move"), largest(&plan.metrics), over(&plan.metrics)]);
    line(1, &[largest(current), over(current)], then);
    let drains = |drains: &DrainView| {
        let why = drains.why(|place| {
            members::label_at(group, Some(place)).map_or_else(String::new, |label| look.full(&label).into_owned())
        });
        let mut words = vec![format!("drains {}", drain(drains.group))];
        words.extend(why.map(|why| format!("({why})")));
        words
    };
    let now = group.drains.as_ref().map(drains).unwrap_or_default();
    line(2, &now, plan.map(|plan| drains(&plan.drains)));
    let Some(plan) = plan else { return };
    let mut below = Rect { y: area.y + 3, height: area.height.saturating_sub(3), ..area };
    let said = plans::said(plan);
    if below.height > u16::from(!said.is_empty()) {
        let way = plans::way(group, plan, usize::from(area.width));
        let way = text::head(&way, usize::from(area.width), look.glyphs().ellipsis).into_owned();
        canvas.put(below.x, below.y, below.width, &way, Style::new());
        below = Rect { y: below.y + 1, height: below.height - 1, ..below };
    }
    canvas.paragraph(below, &said, look.style(Role::Muted));
}

/// As many figures as fit; none is cut.
fn fitting(figures: &[String], room: u16) -> String {
    let mut line = String::new();
    for figure in figures {
        let gap = if line.is_empty() { "" } else { "  " };
        if line.len() + gap.len() + figure.len() > usize::from(room) {
            break;
        }
        line.push_str(gap);
        line.push_str(figure);
    }
    line
}
