//! Tables: which columns fit, and rows of cells in them.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::tui::canvas::Canvas;
use crate::tui::text;
use crate::tui::theme::Role;

/// A column as it would like to be.
#[derive(Debug, Clone, Copy)]
pub struct Column<C> {
    pub id: C,
    pub title: &'static str,
    /// Least width.
    pub min: u16,
    /// Width that all its cells would like.
    pub want: u16,
    pub right: bool,
    /// The table is sorted by it: descending?
    pub sorted: Option<bool>,
}

/// A column that fits, and its width.
#[derive(Debug, Clone, Copy)]
pub struct Fitted<C> {
    pub column: Column<C>,
    pub width: u16,
}

/// The columns that fit into `width` with a cell between them. `ranked`: the most important first, up to the first
/// that does not fit; what is left over goes to all of them in equal parts, up to what each wants.
pub fn fit<C: Copy>(ranked: &[Column<C>], width: u16) -> Vec<Fitted<C>> {
    let mut used = 0u16;
    let mut fitted = Vec::with_capacity(ranked.len());
    for column in ranked {
        let gap = u16::from(!fitted.is_empty());
        let Some(left) = width.checked_sub(used.saturating_add(gap)) else { break };
        // The first column is cut rather than dropped.
        if column.min > left && !fitted.is_empty() {
            break;
        }
        let width = column.min.min(left);
        used += gap + width;
        fitted.push(Fitted { column: *column, width });
    }
    let mut grown = true;
    while used < width && grown {
        grown = false;
        for fitted in fitted.iter_mut().filter(|fitted| fitted.width < fitted.column.want) {
            if used < width {
                fitted.width += 1;
                used += 1;
                grown = true;
            }
        }
    }
    fitted
}

/// Draws the column titles.
pub fn head<C>(canvas: &mut Canvas<'_>, area: Rect, columns: &[Fitted<C>]) {
    if area.height == 0 {
        return;
    }
    let glyphs = canvas.look.glyphs();
    let style = canvas.look.style(Role::Muted);
    let mut x = area.x;
    for fitted in columns {
        let column = &fitted.column;
        let mark = match column.sorted {
            Some(true) => glyphs.descending,
            Some(false) => glyphs.ascending,
            None => "",
        };
        let room = usize::from(fitted.width).saturating_sub(text::width(mark));
        let title = format!("{}{mark}", text::head(column.title, room, ""));
        let style = if column.sorted.is_some() { style.add_modifier(Modifier::BOLD) } else { style };
        if column.right {
            canvas.put_right(x, area.y, fitted.width, &title, style);
        } else {
            canvas.put(x, area.y, fitted.width, &title, style);
        }
        x += fitted.width + 1;
    }
}

/// Draws a row of cells.
pub fn row<'c, C: Copy>(
    canvas: &mut Canvas<'_>,
    (x, y): (u16, u16),
    columns: &[Fitted<C>],
    mut cell: impl FnMut(C, u16) -> Line<'c>,
) {
    let mut x = x;
    for fitted in columns {
        let line = cell(fitted.column.id, fitted.width);
        let used = u16::try_from(line.width()).unwrap_or(u16::MAX).min(fitted.width);
        let start = if fitted.column.right { x + fitted.width - used } else { x };
        canvas.line(start, y, fitted.width, &line);
        x += fitted.width + 1;
    }
}

/// Marks a row as selected, or as old.
pub fn mark(canvas: &mut Canvas<'_>, area: Rect, selected: bool, fresh: bool) {
    if !fresh {
        canvas.style(area, canvas.look.style(Role::Muted));
    }
    if selected {
        canvas.select(area);
    }
}

/// A cell of one style.
pub fn cell<'c>(text: impl Into<std::borrow::Cow<'c, str>>, style: Style) -> Line<'c> {
    Line::styled(text, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(id: char, min: u16, want: u16) -> Column<char> {
        Column { id, title: "", min, want, right: false, sorted: None }
    }

    fn fitted(width: u16) -> Vec<(char, u16)> {
        let ranked = [column('a', 2, 2), column('b', 10, 30), column('c', 8, 8), column('d', 20, 28)];
        fit(&ranked, width).iter().map(|fitted| (fitted.column.id, fitted.width)).collect()
    }

    #[test]
    fn columns_drop_from_the_end_and_the_rest_grows() {
        assert_eq!(fitted(0), [('a', 0)]);
        assert_eq!(fitted(13), [('a', 2), ('b', 10)]);
        assert_eq!(fitted(40), [('a', 2), ('b', 28), ('c', 8)]);
        assert_eq!(fitted(43), [('a', 2), ('b', 10), ('c', 8), ('d', 20)]);
        assert_eq!(fitted(70), [('a', 2), ('b', 29), ('c', 8), ('d', 28)]);
    }
}
