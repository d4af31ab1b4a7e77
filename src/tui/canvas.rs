//! What screens draw on: a buffer that nothing can be drawn outside of, and the look.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::look::Look;
use super::text;
use super::theme::Role;

/// A buffer and the look to draw with.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    pub look: &'a Look,
}

impl<'a> Canvas<'a> {
    pub fn new(buffer: &'a mut Buffer, look: &'a Look) -> Self {
        Self { buffer, look }
    }

    /// Draws `text` into at most `max` cells; returns where the next text would start.
    pub fn put(&mut self, x: u16, y: u16, max: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y >= area.bottom() || x >= area.right() {
            return x;
        }
        if !text.is_ascii() {
            return self.buffer.set_stringn(x, y, text, usize::from(max), style).0;
        }
        // Most text is: no graphemes to look for.
        let mut at = x;
        let end = area.right().min(x.saturating_add(max));
        for character in text.chars().filter(|character| !character.is_ascii_control()) {
            if at >= end {
                break;
            }
            self.buffer[(at, y)].set_char(character).set_style(style);
            at += 1;
        }
        at
    }

    /// Draws `text` so that it ends at the right of `width` cells.
    pub fn put_right(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) {
        let used = u16::try_from(text::width(text)).unwrap_or(width).min(width);
        self.put(x + width - used, y, used, text, style);
    }

    /// Draws a styled line into at most `max` cells.
    pub fn line(&mut self, x: u16, y: u16, max: u16, line: &Line<'_>) {
        let mut at = x;
        for span in &line.spans {
            let room = (x + max).saturating_sub(at);
            at = self.put(at, y, room, &span.content, line.style.patch(span.style));
        }
    }

    /// Adds a style to what is drawn there.
    pub fn style(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        self.buffer.set_style(area, style);
    }

    /// Marks the selected row. Reversed wins over every colour, so that the row is one block.
    pub fn select(&mut self, area: Rect) {
        let selection = self.look.style(Role::Selection);
        self.style(area, selection);
        if !selection.add_modifier.contains(Modifier::REVERSED) && selection.bg.is_none() {
            self.style(area, Style::new().add_modifier(Modifier::REVERSED));
        }
    }

    /// A horizontal line.
    pub fn rule(&mut self, area: Rect) {
        if area.height > 0 {
            let line = self.look.glyphs().horizontal.repeat(usize::from(area.width));
            self.put(area.x, area.y, area.width, &line, self.look.style(Role::Border));
        }
    }

    /// Text in lines, broken between words, as many as there are rows.
    pub fn paragraph(&mut self, area: Rect, text: &str, style: Style) {
        let lines = text::wrap(&self.look.text(text), usize::from(area.width));
        let rows = usize::from(area.height);
        for (row, line) in lines.iter().take(rows).enumerate() {
            let y = area.y + row as u16;
            self.put(area.x, y, area.width, line, style);
            if row + 1 == rows && lines.len() > rows {
                let ellipsis = self.look.glyphs().ellipsis;
                let x = area.x + (text::width(line) as u16).min(area.width.saturating_sub(1));
                self.put(x, y, area.right().saturating_sub(x), ellipsis, style);
            }
        }
    }
}
