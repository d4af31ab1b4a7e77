//! The partitions pane of the group screen: commit, end, lag with its state, owner now and then.

use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::model::GroupKind;
use crate::monitor::view::{GroupView, PartitionView};
use crate::tui::canvas::Canvas;
use crate::tui::figures::rate;
use crate::tui::look::Look;
use crate::tui::members;
use crate::tui::order::PartitionColumn;
use crate::tui::standing::{self, WORD, lag_role, lag_words};
use crate::tui::state::{Pane, State};
use crate::tui::text;
use crate::tui::theme::Role;
use crate::tui::widgets::table::{self, Column, Fitted, cell};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Verdict,
    Partition,
    Commit,
    End,
    Lag,
    State,
    Behind,
    In,
    Out,
    Now,
    Then,
}

/// From here on the state has a column of its own; below, it takes the place of the lag that there is not.
const WITH_STATE: u16 = 100;
/// From here on there is room for the verdict's word.
const WITH_WORD: u16 = 120;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView) {
    if area.height == 0 {
        return;
    }
    let columns = columns(state, group, area.width);
    table::head(canvas, area, &columns);
    let own_column = area.width >= WITH_STATE;
    let focused = state.pane == Pane::Partitions;
    let fresh = state.is_fresh_group(group);
    let shared = group.kind == GroupKind::Share;
    for (row, (_, place, selected)) in state.partitions.visible().enumerate() {
        let Some(partition) = group.partitions.get(place) else { continue };
        let y = area.y + 1 + row as u16;
        if y >= area.bottom() {
            break;
        }
        let look = canvas.look;
        let moved = group.plan.is_some() && partition.planned != partition.owner;
        let words = lag_words(partition, state.view.now);
        let standing = standing::of(&partition.judgement, fresh);
        let style = lag_role(&partition.lag).map_or_else(Style::new, |role| look.style(role));
        let offset = |offset: Option<i64>| {
            cell(offset.map_or_else(|| "-".to_owned(), |offset| offset.to_string()), Style::new())
        };
        let owner = |owner: Option<usize>, width: u16| {
            members::label_at(group, owner)
                .map_or_else(|| "-".to_owned(), |label| look.name(&label, usize::from(width)))
        };
        table::row(canvas, (area.x, y), &columns, |id, width| match id {
            Cell::Verdict => cell(standing.words(width), look.style(standing.role())),
            Cell::Partition => cell(name(look, partition, usize::from(width)), Style::new()),
            Cell::Commit if shared => offset(partition.share.and_then(|share| share.start)),
            Cell::Commit => offset(partition.commit),
            Cell::End => offset(partition.end),
            Cell::Lag => match standing::lag(partition, look) {
                Some(lag) if own_column || lag_role(&partition.lag).is_none() => cell(lag, Style::new()),
                None if own_column => cell("-", Style::new()),
                _ => cell(words.clone(), style),
            },
            Cell::State => cell(words.clone(), style),
            Cell::Behind => cell(standing::behind(partition.time_lag, partition.lag.records().is_some()), Style::new()),
            Cell::In => cell(rate(partition.rates.written), Style::new()),
            Cell::Out => cell(rate(partition.rates.consumed), Style::new()),
            Cell::Now if shared => cell(holders(group, place, look, usize::from(width)), Style::new()),
            Cell::Now => cell(owner(partition.owner, width), Style::new()),
            Cell::Then if moved => {
                cell(format!("> {}", owner(partition.planned, width.saturating_sub(2))), look.style(Role::Accent))
            }
            Cell::Then => cell("=", look.style(Role::Muted)),
        });
        table::mark(canvas, Rect { y, height: 1, ..area }, selected && focused, fresh);
    }
    if state.partitions.is_empty() {
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let nothing = if state.partitions.filter.is_empty() {
            "no partitions"
        } else {
            "no partition matches the filter; Esc clears it"
        };
        canvas.paragraph(below, nothing, canvas.look.style(Role::Muted));
    }
}

/// Who holds a partition of a share group: it may be several.
fn holders(group: &GroupView, place: usize, look: &Look, room: usize) -> String {
    let mut holders =
        group.members.iter().filter(|member| member.partitions.iter().flatten().any(|held| *held == place));
    let Some(first) = holders.next() else { return "-".to_owned() };
    let more = match holders.count() {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    format!("{}{more}", look.name(&members::label(first), room.saturating_sub(more.len())))
}

/// The topic shortened in its middle, the number never.
fn name(look: &Look, partition: &PartitionView, room: usize) -> String {
    let number = format!("-{}", partition.partition);
    let topic = look.name(&partition.topic, room.saturating_sub(number.len()));
    format!("{topic}{number}")
}

fn columns(state: &State, group: &GroupView, width: u16) -> Vec<Fitted<Cell>> {
    let sort = state.partition_sort;
    let visible = || state.partitions.visible().filter_map(|(_, place, _)| group.partitions.get(place));
    let longest = |of: &dyn Fn(&PartitionView) -> usize, least: u16, most: u16| {
        let longest = visible().map(of).max().unwrap_or(0);
        u16::try_from(longest).unwrap_or(most).clamp(least, most)
    };
    let digits = |offset: Option<i64>| offset.map_or(1, |offset| offset.to_string().len());
    let names =
        longest(&|partition| text::width(&partition.topic.safe()) + 1 + partition.partition.to_string().len(), 9, 60);
    let shared = group.kind == GroupKind::Share;
    let done = |partition: &PartitionView| partition.share.and_then(|share| share.start);
    let commit = longest(&|partition| digits(if shared { done(partition) } else { partition.commit }), 6, 20);
    let end = longest(&|partition| digits(partition.end), 6, 20);
    let words = longest(&|partition| lag_words(partition, state.view.now).len(), 5, 24);
    let own_column = width >= WITH_STATE;
    let lag = longest(
        &|partition| match standing::lag(partition, &state.look) {
            Some(lag) if own_column || lag_role(&partition.lag).is_none() => text::width(&lag),
            _ if own_column => 1,
            _ => lag_words(partition, state.view.now).len(),
        },
        if shared { 8 } else { 6 },
        24,
    );
    let owner = |owner: Option<usize>| members::label_at(group, owner).map_or(1, |label| text::width(&label.safe()));
    // Of a share group, several may hold it.
    let more = if shared { 3 } else { 0 };
    let now = longest(&|partition| owner(partition.owner) + more, 4, 44);
    let then = longest(&|partition| owner(partition.planned) + 2, 4, 46);
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let mark = |column| sort.mark(column);
    let verdict = if width >= WITH_WORD { 2 + WORD } else { 1 };
    let verdict_title = if verdict > 1 { "VERDICT" } else { "" };
    let lag_title = if shared { "BACKLOG" } else { "LAG" };
    let ranked = [
        Some(Column {
            sorted: mark(PartitionColumn::Verdict),
            ..column(Cell::Verdict, verdict_title, verdict, verdict)
        }),
        Some(Column {
            sorted: mark(PartitionColumn::Partition),
            ..column(Cell::Partition, "PARTITION", names.min(16), names)
        }),
        Some(Column { right: true, sorted: mark(PartitionColumn::Lag), ..column(Cell::Lag, lag_title, lag, lag) }),
        own_column
            .then(|| Column { sorted: mark(PartitionColumn::State), ..column(Cell::State, "STATE", words, words) }),
        Some(Column { right: true, ..column(Cell::Commit, if shared { "START" } else { "COMMIT" }, commit, commit) }),
        Some(Column { right: true, ..column(Cell::End, "END", end, end) }),
        Some(Column { sorted: mark(PartitionColumn::Owner), ..column(Cell::Now, "NOW", now.min(10), now) }),
        group.plan.is_some().then(|| column(Cell::Then, "THEN", then.min(10), then)),
        (!shared).then(|| Column {
            right: true,
            sorted: mark(PartitionColumn::Behind),
            ..column(Cell::Behind, "BEHIND", 8, 8)
        }),
        (!shared).then(|| Column { right: true, ..column(Cell::In, "IN/s", 5, 5) }),
        (!shared).then(|| Column { right: true, ..column(Cell::Out, "OUT/s", 5, 5) }),
    ];
    let ranked: Vec<Column<Cell>> = ranked.into_iter().flatten().collect();
    let mut columns = table::fit(&ranked, width);
    columns.sort_by_key(|fitted| fitted.column.id);
    columns
}
