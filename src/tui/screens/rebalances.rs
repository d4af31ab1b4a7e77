//! The rebalances of a group: since when they are known, how often, and each with its time, duration, cause and cost;
//! unfolded, who came and went and what moved from whom to whom.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::health::rebalances::{CauseKind, Rebalance};
use crate::model::{GroupKind, Name};
use crate::monitor::view::GroupView;
use crate::tui::canvas::Canvas;
use crate::tui::figures::duration;
use crate::tui::look::Look;
use crate::tui::past::{self, Detail, Past};
use crate::tui::past_words as words;
use crate::tui::standing;
use crate::tui::state::State;
use crate::tui::theme::Role;
use crate::tui::widgets::bar::strip;
use crate::tui::widgets::table::{self, Column, Fitted, cell};
use crate::tui::{layout, members, text};

/// The columns in their order on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Time,
    Epochs,
    Took,
    What,
    Moved,
}

/// What is unfolded stands this far to the right.
const INDENT: u16 = 2;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State, id: &Name) {
    let places = layout::rebalances(area);
    let Some(group) = state.open_group() else {
        canvas.paragraph(area, &format!("The group {id} is no longer listed."), Style::new());
        return;
    };
    title(canvas, places.title, state, group);
    if state.past.is_empty() {
        canvas.paragraph(places.list, &nothing(state, group), canvas.look.style(Role::Muted));
        return;
    }
    let happened = past::of_group(group);
    let visible = visible(state, &happened);
    let columns = columns(canvas.look, &visible, state, group, places.list.width);
    table::head(canvas, places.list, &columns);
    let names = visible.iter().map(|row| match &row.detail {
        Some(Detail::Moved(moved)) => text::width(&moved.topic.safe()) + 1 + moved.partition.to_string().len(),
        _ => 0,
    });
    let names = names.max().unwrap_or(0).min(usize::from(area.width / 2)) as u16;
    for (row, Row { past, detail, selected }) in visible.iter().enumerate() {
        let y = places.list.y + 1 + row as u16;
        if y >= places.list.bottom() {
            break;
        }
        let row = Rect { y, height: 1, ..area };
        match detail {
            None => {
                let look = canvas.look;
                table::row(canvas, (area.x, y), &columns, |id, width| content(look, past, id, width, state));
            }
            Some(detail) => unfolded(canvas, row, detail, names),
        }
        table::mark(canvas, row, *selected, state.is_fresh());
    }
}

/// A row on screen: something that happened, or a line of what it changed.
struct Row<'a> {
    past: Past<'a>,
    detail: Option<Detail<'a>>,
    selected: bool,
}

fn visible<'a>(state: &State, happened: &[Past<'a>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    // Lines of one thing are together: its details are made once.
    let mut known: Option<(usize, Vec<Detail<'a>>)> = None;
    for ((_, line), place, selected) in state.past.visible() {
        let Some(past) = happened.get(place) else { continue };
        let mut detail = None;
        if let Some(line) = line.checked_sub(1) {
            if known.as_ref().is_none_or(|(of, _)| *of != place) {
                known = Some((place, past.details()));
            }
            detail = known.as_ref().and_then(|(_, details)| details.get(line).cloned());
            if detail.is_none() {
                continue;
            }
        }
        rows.push(Row { past: *past, detail, selected });
    }
    rows
}

/// Why the list is empty.
fn nothing(state: &State, group: &GroupView) -> String {
    let known = &group.rebalances;
    if !state.past.filter.is_empty() {
        return "Nothing matches the filter; Esc clears it.".to_owned();
    }
    match (standing::needs(&group.kind), known.since) {
        (Some(needs), _) => format!("The rebalances of a {} group: {needs}.", group.kind),
        (None, Some(since)) => format!("No rebalance since {}.", words::time(since, state.wall())),
        (None, None) if group.kind == GroupKind::Unknown => "What kind of group it is was not read yet.".to_owned(),
        (None, None) => "Nothing is known of its past yet.".to_owned(),
    }
}

/// Parts of the title: those that do not fit are left out, the last ones first.
fn fitting(canvas: &mut Canvas<'_>, (x, y): (u16, u16), right: u16, parts: &[(String, Style)]) -> u16 {
    let mut x = x;
    for (part, style) in parts {
        if usize::from(x) + text::width(part) > usize::from(right) {
            break;
        }
        x = canvas.put(x, y, right - x, part, *style) + 2;
    }
    x
}

fn title(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView) {
    let look = canvas.look;
    let known = &group.rebalances;
    let now = state.wall();
    let standing = standing::of(&group.judgement, state.is_fresh_group(group));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let x = canvas.put(area.x, area.y, area.width, &standing.words(area.width), look.style(standing.role())) + 2;
    let room = area.right().saturating_sub(x);
    let x = canvas.put(x, area.y, room, &look.name(&group.id, usize::from(room.min(60))), bold) + 2;
    let counts = words::counts(known, now, look).into_iter().map(|count| {
        let role = if count.ends_with("STORM") { look.style(Role::Warn).add_modifier(Modifier::BOLD) } else { bold };
        (count, role)
    });
    let mut first = Vec::new();
    if !state.past.filter.is_empty() && state.prompt.is_none() {
        first.push((format!("filter: {}", look.text(&state.past.filter.text)), look.style(Role::Accent)));
    }
    first.push((words::since(known, now), Style::new()));
    if let Some(ahead) = known.clock_ahead {
        first.push((format!("its coordinator's clock is {} ahead", duration(ahead)), look.style(Role::Accent)));
    }
    if area.height <= 1 {
        let mut all: Vec<(String, Style)> = counts.collect();
        all.extend(first);
        fitting(canvas, (x, area.y), area.right(), &all);
        return;
    }
    fitting(canvas, (x, area.y), area.right(), &first);
    let counts: Vec<(String, Style)> = counts.collect();
    let x = fitting(canvas, (area.x, area.y + 1), area.right(), &counts);
    let slots = known.frequency.strip.len();
    let line = strip(&known.frequency.strip, slots, look.glyphs());
    let chart = look.style(Role::Chart);
    let room = usize::from(area.right().saturating_sub(x));
    if area.height > 2 {
        let x = canvas.put(area.x, area.y + 2, area.width, "last hour, by minute", look.style(Role::Muted)) + 1;
        let room = usize::from(area.right().saturating_sub(x));
        let line = strip(&known.frequency.strip, slots.min(room), look.glyphs());
        canvas.put(x, area.y + 2, area.right().saturating_sub(x), &line, chart);
    } else if slots > 0 && room >= slots {
        canvas.put_right(x, area.y + 1, area.right() - x, &line, chart);
    }
}

fn columns(look: &Look, visible: &[Row<'_>], state: &State, group: &GroupView, width: u16) -> Vec<Fitted<Cell>> {
    let longest = |id: Cell, least: u16| {
        let lengths = visible.iter().map(|row| content(look, &row.past, id, u16::MAX, state).width());
        u16::try_from(lengths.max().unwrap_or(0)).unwrap_or(u16::MAX).clamp(least, 24)
    };
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let fixed = |id, title: &'static str, least| {
        let width = longest(id, least);
        column(id, title, width, width)
    };
    let epochs = words::epochs_title(&group.kind);
    let epochs = if width < 100 && epochs == "GENERATION" { "GENER." } else { epochs };
    let ranked = [
        fixed(Cell::Time, "TIME UTC", 8),
        column(Cell::What, "WHY", 14, width),
        Column { right: true, ..fixed(Cell::Took, "TOOK", 4) },
        fixed(Cell::Moved, "MOVED", 5),
        fixed(Cell::Epochs, epochs, text::width(epochs) as u16),
    ];
    let mut columns = table::fit(&ranked, width);
    columns.sort_by_key(|fitted| fitted.column.id);
    columns
}

fn content(look: &Look, past: &Past<'_>, id: Cell, width: u16, state: &State) -> Line<'static> {
    let plain = Style::new();
    let muted = look.style(Role::Muted);
    match (id, past) {
        (Cell::Time, _) => match past.wall() {
            Some(wall) => cell(words::time(wall, state.wall()), plain),
            None => cell("now", look.style(Role::Warn)),
        },
        (Cell::Epochs, Past::Rebalance(_, rebalance)) => cell(words::epochs(rebalance.from, rebalance.to), muted),
        (Cell::Epochs, Past::Ongoing(_, ongoing)) => cell(words::epochs(ongoing.from, ongoing.to), muted),
        (Cell::Took, Past::Rebalance(_, rebalance)) => cell(words::took(rebalance.took, look), plain),
        (Cell::Took, Past::Ongoing(_, ongoing)) => {
            let least = if ongoing.at_least { look.glyphs().at_least } else { "" };
            cell(format!("{least}{}", duration(ongoing.lasting)), look.style(Role::Warn))
        }
        (Cell::Moved, Past::Rebalance(_, rebalance)) => cell(words::moved(rebalance), plain),
        (Cell::Epochs | Cell::Took, Past::Other(_)) | (Cell::Moved, _) => cell("", plain),
        (Cell::What, _) => {
            let what = words::what(past);
            let what = look.text(&what);
            cell(text::head(&what, usize::from(width), look.glyphs().ellipsis).into_owned(), style(look, past))
        }
    }
}

/// What went and what is under way stand out; what is no rebalance is apart.
fn style(look: &Look, past: &Past<'_>) -> Style {
    let went = |rebalance: &Rebalance| {
        rebalance.causes.iter().any(|cause| matches!(cause.kind, CauseKind::Gone { .. } | CauseKind::StaticAway(_)))
    };
    match past {
        Past::Ongoing(..) => look.style(Role::Warn),
        Past::Rebalance(_, rebalance) if went(rebalance) => look.style(Role::Warn),
        Past::Rebalance(..) => Style::new(),
        Past::Other(_) => look.style(Role::Accent),
    }
}

fn unfolded(canvas: &mut Canvas<'_>, area: Rect, detail: &Detail<'_>, names: u16) {
    let look = canvas.look;
    let ellipsis = look.glyphs().ellipsis;
    let (x, room) = (area.x + INDENT, area.width.saturating_sub(INDENT));
    let head = |text: &str, room: usize| text::head(&look.text(text), room, ellipsis).into_owned();
    let labelled = |label: &str, role: Role, what: &str| {
        let label = format!("{label:<8}");
        let room = usize::from(room).saturating_sub(label.len());
        Line::from(vec![Span::styled(label, look.style(role)), Span::raw(head(what, room))])
    };
    let line = match detail {
        Detail::Waits(waiting) => labelled("waits", Role::Warn, &words::waiting(waiting)),
        Detail::Cause(cause) => labelled("cause", Role::Muted, &cause.to_string()),
        Detail::Joined(who) => labelled("joined", Role::Ok, &who.to_string()),
        Detail::Gone(gone) => labelled("gone", Role::Warn, &format!("{}, {}", gone.who, gone.why)),
        Detail::Note(note) => cell(head(note, usize::from(room)), look.style(Role::Muted)),
        Detail::Moved(moved) => {
            let number = format!("-{}", moved.partition);
            let topic = look.name(&moved.topic, usize::from(names).saturating_sub(number.len()));
            let partition = format!("{topic}{number}");
            let gap = usize::from(names).saturating_sub(text::width(&partition)) + 2;
            let each = usize::from(room).saturating_sub(usize::from(names) + 5) / 2;
            let who = |who: &Option<std::sync::Arc<_>>| match who {
                Some(who) => look.name(&members::label_of(who), each),
                None => "nobody".to_owned(),
            };
            Line::from(vec![
                Span::raw(format!("{partition}{}", " ".repeat(gap))),
                Span::raw(format!("{} ", who(&moved.from))),
                Span::styled(format!("> {}", who(&moved.to)), look.style(Role::Accent)),
            ])
        }
    };
    canvas.line(x, area.y, room, &line);
}
