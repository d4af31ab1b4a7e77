//! Moving about: in the list that is on screen, whatever its rows are, or in the page over it.

use std::time::Duration;

use super::list::List;
use super::state::{Pane, Screen, State};

/// A row or line on.
pub fn step(state: &mut State, by: isize) {
    if state.page.is_some() {
        state.page_top = state.page_top.saturating_add_signed(by);
        return;
    }
    let now = state.now;
    on_list(state, |list| list.step(by, now));
}

/// A screenful on.
pub fn page(state: &mut State, by: isize) {
    if state.page.is_some() {
        let rows = isize::try_from(state.size.1.saturating_sub(4).max(1)).unwrap_or(1);
        return step(state, by * rows);
    }
    let now = state.now;
    on_list(state, |list| list.page(by, now));
}

/// To the first row or line, or to the last.
pub fn end(state: &mut State, last: bool) {
    if state.page.is_some() {
        // The end is found when the page is fitted.
        state.page_top = if last { usize::MAX } else { 0 };
        return;
    }
    let now = state.now;
    on_list(state, |list| list.end(last, now));
}

/// What can be done to a list, whatever its rows are.
trait Cursor {
    fn step(&mut self, by: isize, now: Duration);
    fn page(&mut self, by: isize, now: Duration);
    fn end(&mut self, last: bool, now: Duration);
}

impl<K: Ord + Clone> Cursor for List<K> {
    fn step(&mut self, by: isize, now: Duration) {
        List::step(self, by, now);
    }

    fn page(&mut self, by: isize, now: Duration) {
        List::page(self, by, now);
    }

    fn end(&mut self, last: bool, now: Duration) {
        List::end(self, last, now);
    }
}

fn on_list(state: &mut State, act: impl FnOnce(&mut dyn Cursor)) {
    match (state.screen(), state.pane) {
        (Screen::Groups, _) => act(&mut state.groups),
        (Screen::Group(_), Pane::Members) => act(&mut state.members),
        (Screen::Group(_), Pane::Partitions) => act(&mut state.partitions),
        (Screen::Problems, _) => act(&mut state.problems),
        (Screen::Rebalances(_), _) => act(&mut state.past),
        (Screen::Events, _) => act(&mut state.events),
    }
}
