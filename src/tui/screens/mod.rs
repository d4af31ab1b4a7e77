//! The screens: each draws the state and changes nothing.

mod events;
mod footer;
mod group;
mod groups;
mod header;
mod judged;
pub mod metadata;
mod page;
mod partitions;
mod plans;
mod problems;
mod rebalances;

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::canvas::Canvas;
use super::layout;
use super::state::{Page, Screen, State};

/// Draws the whole screen into an empty buffer of the state's size.
pub fn draw(state: &State, buffer: &mut Buffer) {
    let mut canvas = Canvas::new(buffer, &state.look);
    let canvas = &mut canvas;
    if layout::is_too_small(state.size) {
        let (columns, rows) = state.size;
        canvas.put(0, 0, columns, &format!("too small ({columns}x{rows})"), Style::new());
        return;
    }
    let places = layout::frame(state);
    header::draw(canvas, places.header, state);
    header::banner(canvas, places.banner, state);
    match (&state.page, state.screen()) {
        (Some(Page::Metadata(group)), _) => metadata::draw(canvas, places.body, state, group.as_ref()),
        (Some(open), _) => page::draw(canvas, places.body, state, open),
        (None, Screen::Groups) => groups::draw(canvas, places.body, state),
        (None, Screen::Group(id)) => group::draw(canvas, places.body, state, id),
        (None, Screen::Problems) => problems::draw(canvas, places.body, state),
        (None, Screen::Rebalances(id)) => rebalances::draw(canvas, places.body, state, id),
        (None, Screen::Events) => events::draw(canvas, places.body, state),
    }
    footer::draw(canvas, places.footer, state);
}
