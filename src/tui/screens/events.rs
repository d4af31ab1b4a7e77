//! What happened in any group, newest first.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::health::rebalances::Happened;
use crate::monitor::view::View;
use crate::tui::canvas::Canvas;
use crate::tui::figures::plural;
use crate::tui::look::Look;
use crate::tui::past::Past;
use crate::tui::past_words as words;
use crate::tui::standing::Standing;
use crate::tui::state::State;
use crate::tui::theme::Role;
use crate::tui::widgets::table::{self, Column, cell};
use crate::tui::{layout, text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Time,
    Group,
    Event,
    What,
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let (title, list) = layout::events(area);
    head(canvas, title, state);
    if state.events.is_empty() {
        let nothing = match state.events.filter.is_empty() {
            true if state.view.log.is_none() => "Nothing has happened since lagtop was started.",
            true => "Nothing has happened in the part of the coordinator log that was read.",
            false => "No event matches the filter; Esc clears it.",
        };
        canvas.paragraph(list, nothing, canvas.look.style(Role::Muted));
        return;
    }
    let events = &state.view.events;
    let visible = || {
        let visible = state.events.visible();
        visible.filter_map(|(_, place, selected)| Some((events.get(place)?, selected)))
    };
    let now = state.wall();
    let names = visible().map(|(event, _)| text::width(&event.group.safe())).max().unwrap_or(0).clamp(5, 60) as u16;
    let time = visible().map(|(event, _)| words::time(event.wall, now).len()).max().unwrap_or(0).max(8) as u16;
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let ranked = [
        column(Cell::Time, "TIME UTC", time, time),
        column(Cell::Group, "GROUP", names.min(16), names),
        column(Cell::What, "WHAT", 14, area.width),
        column(Cell::Event, "EVENT", 14, 14),
    ];
    let mut columns = table::fit(&ranked, area.width);
    columns.sort_by_key(|fitted| fitted.column.id);
    table::head(canvas, list, &columns);
    for (row, (event, selected)) in visible().enumerate() {
        let y = list.y + 1 + row as u16;
        if y >= list.bottom() {
            break;
        }
        let look = canvas.look;
        table::row(canvas, (area.x, y), &columns, |id, width| match id {
            Cell::Time => cell(words::time(event.wall, now), Style::new()),
            Cell::Group => cell(look.name(&event.group, usize::from(width)), Style::new()),
            Cell::Event => cell(words::kind(&event.what), style(look, &event.what)),
            Cell::What => {
                let what = words::what(&Past::of(event));
                let what = text::head(&look.text(&what), usize::from(width), look.glyphs().ellipsis).into_owned();
                cell(what, style(look, &event.what))
            }
        });
        table::mark(canvas, Rect { y, height: 1, ..area }, selected, state.is_fresh());
    }
}

fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let look = canvas.look;
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let x = canvas.put(area.x, area.y, area.width, &plural(state.events.len(), "event"), bold) + 2;
    let filter = &state.events.filter;
    let x = if filter.is_empty() || state.prompt.is_some() {
        x
    } else {
        let filter = format!("filter: {}", look.text(&filter.text));
        canvas.put(x, area.y, area.right().saturating_sub(x), &filter, look.style(Role::Accent)) + 2
    };
    let room = area.right().saturating_sub(x);
    let from = text::head(from(&state.view), usize::from(room), look.glyphs().ellipsis).into_owned();
    canvas.put(x, area.y, room, &from, look.style(Role::Muted));
}

/// Where the feed comes from.
fn from(view: &View) -> &'static str {
    match &view.log {
        None => "of all selected groups, seen by polling",
        Some(log) if log.caught_up < log.partitions => {
            "of all selected groups; the coordinator log is still being read"
        }
        Some(_) => "of all selected groups, from the coordinator log",
    }
}

fn style(look: &Look, what: &Happened) -> Style {
    match *what {
        Happened::Verdict { severity, to: verdict, .. } => look.style(Standing { severity, verdict }.role()),
        Happened::Rebalance(_) | Happened::Created | Happened::StaticRestarted(_) => Style::new(),
        Happened::Metadata { .. } | Happened::Deleted | Happened::TypeChanged { .. } | Happened::StaticAway(_) => {
            look.style(Role::Accent)
        }
        Happened::CommitsBack { .. } | Happened::TopicLeft { .. } => look.style(Role::Warn),
    }
}
