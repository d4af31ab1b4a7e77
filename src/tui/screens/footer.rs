//! The footer: the keys that matter here, or the open prompt, or a message.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::tui::canvas::Canvas;
use crate::tui::keymap::{self, Place};
use crate::tui::state::{Screen, State};
use crate::tui::text;
use crate::tui::theme::Role;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if area.height == 0 {
        return;
    }
    if state.prompt.is_some() {
        let shown = canvas.look.text(&state.filter().text).into_owned();
        // The end is what is being typed.
        let room = usize::from(area.width).saturating_sub(2);
        let start = shown.char_indices().map(|(place, _)| place).find(|place| text::width(&shown[*place..]) <= room);
        let x = canvas.put(area.x, area.y, 1, "/", canvas.look.style(Role::Accent));
        let x = canvas.put(x, area.y, area.width, &shown[start.unwrap_or(shown.len())..], Style::new());
        canvas.put(x, area.y, 1, " ", Style::new().add_modifier(Modifier::REVERSED));
        let help = "Enter keeps  Esc clears";
        if usize::from(area.right().saturating_sub(x)) > help.len() + 3 {
            canvas.put_right(area.x, area.y, area.width, help, canvas.look.style(Role::Muted));
        }
        return;
    }
    if let Some(message) = state.message() {
        let message = canvas.look.text(message).into_owned();
        let message = text::shorten(&message, usize::from(area.width), canvas.look.glyphs().ellipsis).into_owned();
        canvas.put(area.x, area.y, area.width, &message, canvas.look.style(Role::Accent));
        return;
    }
    let place = match (&state.page, state.screen()) {
        (Some(_), _) => Place::Page,
        (None, Screen::Groups) => Place::Groups,
        (None, Screen::Group(_)) => Place::Group,
        (None, Screen::Problems) => Place::Problems,
        (None, Screen::Rebalances(_)) => Place::Rebalances,
        (None, Screen::Events) => Place::Events,
    };
    let muted = canvas.look.style(Role::Muted);
    let mut x = area.x;
    for (key, word) in keymap::hints(place) {
        let hint = key.len() + word.len() + 1;
        if usize::from(x) + hint > usize::from(area.right()) {
            break;
        }
        x = canvas.put(x, area.y, area.width, &key, Style::new().add_modifier(Modifier::BOLD)) + 1;
        x = canvas.put(x, area.y, area.width, word, muted) + 2;
    }
}
