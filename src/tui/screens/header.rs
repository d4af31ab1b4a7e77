//! The header: which cluster, how fresh, how much of it. The banner: what is wrong with all of it.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::tui::canvas::Canvas;
use crate::tui::figures::{duration, interval, plural};
use crate::tui::order::Sort;
use crate::tui::past_words::moment;
use crate::tui::state::{Freshness, Screen, State};
use crate::tui::text;
use crate::tui::theme::Role;

/// A part of the header; the parts of the highest rank go first when there is no room.
struct Part {
    rank: u8,
    text: String,
    style: Style,
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let mut parts = parts(canvas, state);
    let width = |parts: &[Part]| parts.iter().map(|part| text::width(&part.text) + 2).sum::<usize>();
    while width(&parts) > usize::from(area.width) + 2 {
        let Some(rank) = parts.iter().map(|part| part.rank).max().filter(|rank| *rank > 0) else { break };
        parts.retain(|part| part.rank != rank);
    }
    let mut x = area.x;
    for part in parts {
        x = canvas.put(x, area.y, area.right().saturating_sub(x), &part.text, part.style) + 2;
    }
}

fn parts(canvas: &Canvas<'_>, state: &State) -> Vec<Part> {
    let look = canvas.look;
    let plain = Style::new();
    let muted = look.style(Role::Muted);
    let bold = plain.add_modifier(Modifier::BOLD);
    let warn = look.style(Role::Warn).add_modifier(Modifier::BOLD);
    let critical = look.style(Role::Critical);
    let mut parts = Vec::new();
    let mut part = |rank, text: String, style| parts.push(Part { rank, text, style });
    let view = &state.view;
    part(6, "lagtop".to_owned(), bold);
    let room = (usize::from(state.size.0) / 3).clamp(16, 60);
    part(0, look.name(state.cluster(), room), look.style(Role::Accent));
    if let Some(brokers) = view.cluster.brokers {
        part(7, plural(brokers, "broker"), plain);
    }
    part(8, "READ-ONLY".to_owned(), muted);
    if view.cluster.simulated {
        part(1, "SIMULATED".to_owned(), warn);
    }
    if state.replay {
        let wall = state.wall().map_or_else(String::new, |wall| format!(" {} UTC", moment(wall)));
        part(1, format!("REPLAY{wall}"), warn);
    }
    if state.paused {
        part(0, "PAUSED".to_owned(), warn);
    }
    let error = state.cluster_problem().is_some();
    match state.freshness() {
        Freshness::Ended => part(0, "ENDED".to_owned(), warn),
        Freshness::Stale(_) => part(0, "STALE".to_owned(), critical),
        Freshness::Failed(_) => part(0, "ERROR".to_owned(), critical),
        Freshness::Live | Freshness::Connecting if error => part(0, "ERROR".to_owned(), critical),
        Freshness::Connecting => part(0, "CONNECTING".to_owned(), warn),
        Freshness::Live => {}
    }
    if !state.replay {
        part(5, format!("every {}", interval(state.interval_ms)), plain);
    }
    if let Some(age) = state.age().filter(|_| state.freshness() != Freshness::Ended) {
        let style = if state.is_fresh() { plain } else { critical };
        part(2, format!("data {} old", duration(age)), style);
    }
    if let Some(listing) = view.listing {
        let or_more = if listing.complete { "" } else { "+" };
        // A group may be told before it is counted.
        let (shown, total) = (state.groups.len(), listing.total.max(view.groups.len()));
        part(3, format!("{shown} of {total}{or_more} groups"), plain);
    }
    if *state.screen() == Screen::Groups && !state.filter().is_empty() && state.prompt.is_none() {
        part(1, format!("filter: {}", look.text(&state.filter().text)), look.style(Role::Accent));
    }
    if *state.screen() == Screen::Groups && state.group_sort != Sort::default() {
        let sort = state.group_sort;
        let glyphs = look.glyphs();
        let mark = if sort.descending() { glyphs.descending } else { glyphs.ascending };
        part(3, format!("by {} {mark}", sort.by.name()), plain);
    }
    let problems = view.problems.len();
    if problems > 0 && !error {
        part(4, format!("{} (key 3)", plural(problems, "problem")), warn);
    }
    parts
}

pub fn banner(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    if let Some(banner) = state.banner() {
        canvas.paragraph(area, &banner, canvas.look.style(Role::Critical));
    }
}
