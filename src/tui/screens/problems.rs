//! The problems: what could not be read, why, since when, and what would help.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::canvas::Canvas;
use crate::tui::figures::duration;
use crate::tui::state::State;
use crate::tui::theme::Role;
use crate::tui::widgets::table::{self, Column, cell};
use crate::tui::{look::Look, text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Since,
    Scope,
    Missing,
    Cause,
    Remedy,
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if state.problems.is_empty() {
        let nothing = if state.filter().is_empty() {
            "No problems: everything that was asked for was read."
        } else {
            "No problem matches the filter; Esc clears it."
        };
        canvas.paragraph(area, nothing, Style::new());
        return;
    }
    let ellipsis = canvas.look.glyphs().ellipsis;
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let longest = |text: &dyn Fn(usize) -> usize| {
        state.problems.visible().map(|(_, place, _)| text(place)).max().unwrap_or(0).min(200) as u16
    };
    let problems = &state.view.problems;
    let scope = longest(&|place| problems.get(place).map_or(0, |problem| text::width(&problem.scope.to_string())));
    let cause = longest(&|place| problems.get(place).map_or(0, |problem| text::width(&problem.cause.safe())));
    let ranked = [
        column(Cell::Scope, "WHAT", scope.min(16), scope.min(40)),
        column(Cell::Cause, "CAUSE", 16, cause),
        column(Cell::Missing, "MISSING", 12, 14),
        column(Cell::Since, "FOR", 6, 6),
        column(Cell::Remedy, "WHAT WOULD HELP", 16, 200),
    ];
    let mut columns = table::fit(&ranked, area.width);
    columns.sort_by_key(|fitted| fitted.column.id);
    table::head(canvas, area, &columns);
    for (row, (_, place, selected)) in state.problems.visible().enumerate() {
        let Some(problem) = problems.get(place) else { continue };
        let y = area.y + 1 + row as u16;
        if y >= area.bottom() {
            break;
        }
        let look = canvas.look;
        let cut = |text: &str, width: u16| text::head(&look.text(text), usize::from(width), ellipsis).into_owned();
        table::row(canvas, (area.x, y), &columns, |id, width| match id {
            Cell::Since => cell(duration(state.since(problem.since)), look.style(Role::Muted)),
            Cell::Scope => cell(middle(look, &problem.scope.to_string(), width), Style::new()),
            Cell::Missing => cell(cut(&problem.missing, width), Style::new()),
            Cell::Cause => cell(cut(problem.cause.safe().as_ref(), width), look.style(Role::Warn)),
            Cell::Remedy => cell(cut(problem.remedy.as_deref().unwrap_or("-"), width), Style::new()),
        });
        table::mark(canvas, Rect { y, height: 1, ..area }, selected, true);
    }
}

fn middle(look: &Look, text: &str, width: u16) -> String {
    text::shorten(&look.text(text), usize::from(width), look.glyphs().ellipsis).into_owned()
}
