//! A page over a screen: help, or everything about one thing.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::tui::canvas::Canvas;
use crate::tui::page::{self, Line};
use crate::tui::state::{Page, State};
use crate::tui::theme::Role;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State, open: &Page) {
    let lines = page::lines(state, open, usize::from(area.width));
    let shown = lines.iter().skip(state.page_top).take(usize::from(area.height));
    let key_style = canvas.look.style(Role::Muted);
    for (row, line) in shown.enumerate() {
        let y = area.y + row as u16;
        match line {
            Line::Title(title) => {
                let style = canvas.look.style(Role::Accent).add_modifier(Modifier::BOLD);
                canvas.put(area.x, y, area.width, title, style);
            }
            Line::Pair { key, value, indent } => {
                let indent = *indent as u16;
                canvas.put(area.x, y, indent.saturating_sub(1), key, key_style);
                canvas.put(area.x + indent, y, area.width.saturating_sub(indent), value, Style::new());
            }
        }
    }
}
