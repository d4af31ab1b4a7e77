//! The one place where the state changes: an action comes in, the state is another, and effects say what the outside
//! world has to do. Pure: time is part of the action.

use std::time::Duration;

use super::cursor::{end, page, step};
use super::filter::Filter;
use super::keymap::{self, Command, Key};
use super::list::List;
use super::members;
use super::order::{Sort, SortColumn};
use super::past::PastKey;
use super::state::{Page, Pane, Screen, State};
use crate::frame::Order;
use crate::model::Name;
use crate::monitor::view::View;

/// What happens to the dashboard.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Key(Key),
    /// A newer view.
    View(Box<View>),
    /// Columns and rows.
    Resize(u16, u16),
    /// A second has passed.
    Tick,
}

/// What the outside world has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Order(Order),
    /// To the clipboard.
    Copy(String),
    /// Paint the whole screen anew.
    Repaint,
    Suspend,
    Quit,
}

/// Poll intervals to choose from, in milliseconds.
const INTERVALS: [u64; 8] = [500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000];

/// Takes in an action that happened at `now` on the dashboard's clock.
pub fn update(state: &mut State, action: Action, now: Duration) -> Vec<Effect> {
    state.now = now;
    let mut effects = Vec::new();
    match action {
        Action::Key(key) => {
            if state.prompt.is_some() {
                prompt(state, key);
            } else if let Some(command) = keymap::command(key) {
                obey(state, command, &mut effects);
            }
        }
        Action::View(view) if state.paused => state.waiting = Some(*view),
        Action::View(view) => adopt(state, *view),
        Action::Resize(columns, rows) => {
            state.size = (columns, rows);
            effects.push(Effect::Repaint);
        }
        Action::Tick => {
            if state.held {
                state.arrange(true);
            }
        }
    }
    state.see_metadata();
    state.fit();
    tell_what_is_on_screen(state, &mut effects);
    effects
}

fn adopt(state: &mut State, view: View) {
    state.newest = view.observed_at();
    if view.progress.interval_ms != state.view.progress.interval_ms {
        state.interval_ms = view.progress.interval_ms;
    }
    state.view = view;
    state.adopted_at = state.now;
    state.ask_again();
    state.arrange(true);
}

/// A key while a prompt is open.
fn prompt(state: &mut State, key: Key) {
    match key {
        Key::Enter => {
            state.prompt = None;
            return;
        }
        Key::Esc => {
            state.prompt = None;
            *state.filter_mut() = Filter::default();
        }
        Key::Ctrl('c') => {
            if let Some(before) = state.prompt.take() {
                *state.filter_mut() = before;
            }
        }
        Key::Backspace => {
            state.filter_mut().text.pop();
        }
        Key::Ctrl('u') => state.filter_mut().text.clear(),
        Key::Char(c) => state.filter_mut().text.push(c),
        Key::Up => return obey(state, Command::Up, &mut Vec::new()),
        Key::Down => return obey(state, Command::Down, &mut Vec::new()),
        _ => return,
    }
    state.arrange(false);
}

fn obey(state: &mut State, command: Command, effects: &mut Vec<Effect>) {
    match command {
        Command::Interrupt => effects.push(Effect::Quit),
        Command::Suspend => effects.push(Effect::Suspend),
        Command::Repaint => effects.push(Effect::Repaint),
        Command::Pause => pause(state),
        Command::PollNow => effects.push(Effect::Order(Order::PollNow)),
        Command::Faster => interval(state, false, effects),
        Command::Slower => interval(state, true, effects),
        Command::Copy => copy(state, effects),
        Command::Groups => {
            state.page = None;
            leave_to_groups(state);
        }
        Command::Group => {
            state.page = None;
            leave_to_groups(state);
            open_group(state);
        }
        Command::Problems => {
            state.page = None;
            if *state.screen() != Screen::Problems {
                state.screens.push(Screen::Problems);
            }
        }
        Command::Metadata => {
            let group = match state.screen() {
                Screen::Group(id) | Screen::Rebalances(id) => Some(id.clone()),
                Screen::Groups => state.groups.selected().map(|(id, _)| id.clone()),
                Screen::Problems | Screen::Events => None,
            };
            let next = match &state.page {
                Some(Page::Metadata(Some(_))) => Some(Page::Metadata(None)),
                Some(Page::Metadata(None)) => None,
                _ => Some(Page::Metadata(group)),
            };
            show(state, next);
        }
        Command::Rebalances => open_rebalances(state),
        Command::Events => {
            state.page = None;
            if *state.screen() != Screen::Events {
                state.screens.push(Screen::Events);
                state.arrange(true);
            }
        }
        Command::Help => {
            let open = state.page != Some(Page::Help);
            show(state, open.then_some(Page::Help));
        }
        Command::Up => step(state, -1),
        Command::Down => step(state, 1),
        Command::PageUp => page(state, -1),
        Command::PageDown => page(state, 1),
        Command::Top => end(state, false),
        Command::Bottom => end(state, true),
        Command::Quit if state.page.is_none() && state.screens.is_empty() => effects.push(Effect::Quit),
        Command::Back | Command::Quit => back(state),
        Command::Open | Command::Detail | Command::NextPane | Command::Filter | Command::Sort | Command::Reverse
            if state.page.is_some() => {}
        Command::Ask(change) if state.page.is_none() => state.ask(change),
        Command::Ask(_) => {}
        Command::Open if *state.screen() == Screen::Groups => open_group(state),
        Command::Open if matches!(state.screen(), Screen::Rebalances(_)) => unfold(state),
        Command::Open if *state.screen() == Screen::Events => {
            if let Some((key, _)) = state.events.selected().cloned() {
                open(state, key.group);
            }
        }
        Command::Open => {
            let page = selected_page(state);
            show(state, page);
        }
        Command::Detail => {
            let page = match state.screen() {
                Screen::Group(id) => Some(Page::Group(id.clone())),
                _ => selected_page(state),
            };
            show(state, page);
        }
        Command::NextPane => {
            state.pane = match state.pane {
                Pane::Members => Pane::Partitions,
                Pane::Partitions => Pane::Members,
            };
        }
        Command::Filter => state.prompt = Some(state.filter().clone()),
        Command::Sort => sort(state, true),
        Command::Reverse => sort(state, false),
    }
}

fn show(state: &mut State, page: Option<Page>) {
    state.groups.keep();
    state.page = page;
    state.page_top = 0;
}

/// One step back: the page, then the filter, then the screen. Never quits.
fn back(state: &mut State) {
    if state.page.take().is_some() {
        return;
    }
    if !state.filter().is_empty() {
        *state.filter_mut() = Filter::default();
        state.arrange(false);
        return;
    }
    state.screens.pop();
    state.arrange(true);
}

fn leave_to_groups(state: &mut State) {
    state.screens.clear();
}

fn open_group(state: &mut State) {
    if let Some((id, _)) = state.groups.selected().cloned() {
        open(state, id);
    }
}

fn open(state: &mut State, id: Name) {
    state.groups.keep();
    state.screens.push(Screen::Group(id));
    state.members = List::default();
    state.partitions = List::default();
    state.ask_anew();
    let members = state.open_group().is_some_and(|group| !group.members.is_empty() || !group.kind.reads_partitions());
    state.pane = if members { Pane::Members } else { Pane::Partitions };
    state.arrange(true);
}

/// The rebalances of the group that is open or selected; of an event: with that event selected and unfolded.
fn open_rebalances(state: &mut State) {
    let event = match state.screen() {
        Screen::Events => state.events.selected().map(|(key, _)| key.clone()),
        _ => None,
    };
    let group = match state.screen() {
        Screen::Rebalances(id) | Screen::Group(id) => Some(id.clone()),
        Screen::Events => event.as_ref().map(|event| event.group.clone()),
        Screen::Groups | Screen::Problems => state.groups.selected().map(|(id, _)| id.clone()),
    };
    let Some(id) = group else { return };
    state.groups.keep();
    state.page = None;
    let screen = Screen::Rebalances(id);
    if *state.screen() == screen {
        return;
    }
    state.screens.push(screen);
    (state.past, state.expanded) = (List::default(), event.iter().cloned().collect());
    state.arrange(true);
    if let Some(event) = event {
        state.past.select_key(&(event, 0));
    }
}

/// Shows what the selected rebalance changed, or no longer.
fn unfold(state: &mut State) {
    let Some(((key, _), _)) = state.past.selected().cloned() else { return };
    if !state.expanded.remove(&key) {
        state.expanded.insert(key.clone());
    }
    state.past.select_key(&(key, 0));
    state.arrange(false);
}

/// What is selected of what happened.
fn selected_past(state: &State) -> Option<&PastKey> {
    match state.screen() {
        Screen::Rebalances(_) => state.past.selected().map(|((key, _), _)| key),
        Screen::Events => state.events.selected().map(|(key, _)| key),
        _ => None,
    }
}

/// The page about what is selected.
fn selected_page(state: &State) -> Option<Page> {
    match (state.screen(), state.pane) {
        (Screen::Groups, _) => state.groups.selected().map(|(id, _)| Page::Group(id.clone())),
        (Screen::Group(group), Pane::Members) => {
            state.members.selected().map(|(id, _)| Page::Member(group.clone(), id.clone()))
        }
        (Screen::Group(group), Pane::Partitions) => {
            let selected = state.partitions.selected();
            selected.map(|((topic, number), _)| Page::Partition(group.clone(), topic.clone(), *number))
        }
        (Screen::Problems, _) => state.problems.selected().map(|(key, _)| Page::Problem(key.clone())),
        (Screen::Rebalances(_) | Screen::Events, _) => selected_past(state).cloned().map(Page::Past),
    }
}

/// The next column, or the same one the other way round.
fn sort(state: &mut State, next: bool) {
    fn turn<C: SortColumn>(sort: &mut Sort<C>, next: bool) {
        *sort = if next { sort.next() } else { Sort { reversed: !sort.reversed, ..*sort } };
    }
    match (state.screen(), state.pane) {
        (Screen::Groups, _) => turn(&mut state.group_sort, next),
        (Screen::Group(_), Pane::Members) => turn(&mut state.member_sort, next),
        (Screen::Group(_), Pane::Partitions) => turn(&mut state.partition_sort, next),
        (Screen::Problems | Screen::Rebalances(_) | Screen::Events, _) => return,
    }
    state.arrange(false);
}

fn pause(state: &mut State) {
    state.paused = !state.paused;
    if !state.paused
        && let Some(view) = state.waiting.take()
    {
        adopt(state, view);
    }
}

fn interval(state: &mut State, slower: bool, effects: &mut Vec<Effect>) {
    let now = state.interval_ms;
    let next = if slower {
        INTERVALS.into_iter().find(|interval| *interval > now)
    } else {
        INTERVALS.into_iter().rev().find(|interval| *interval < now)
    };
    if let Some(next) = next {
        state.interval_ms = next;
        effects.push(Effect::Order(Order::Interval(next)));
    }
}

fn copy(state: &mut State, effects: &mut Vec<Effect>) {
    let name: Option<Name> = match (state.screen(), state.pane) {
        (Screen::Groups, _) => state.groups.selected().map(|(id, _)| id.clone()),
        (Screen::Group(_), Pane::Members) => {
            let member = state.members.selected().and_then(|(_, place)| state.open_group()?.members.get(*place));
            member.map(members::label)
        }
        (Screen::Group(_), Pane::Partitions) => state.partitions.selected().map(|((topic, _), _)| topic.clone()),
        (Screen::Problems, _) => state.problems.selected().map(|((scope, _), _)| Name::new(scope.to_string())),
        (Screen::Rebalances(_) | Screen::Events, _) => selected_past(state).map(|key| key.group.clone()),
    };
    if let Some(name) = name {
        // As it is shown: a control byte in the clipboard would be run by the next shell it is pasted into.
        let text = name.to_string();
        state.message = Some((format!("copied {text}"), state.now));
        effects.push(Effect::Copy(text));
    }
}

/// Orders the source to poll what is on screen, when that is something else than before.
fn tell_what_is_on_screen(state: &mut State, effects: &mut Vec<Effect>) {
    let mut names: Vec<Name> = match state.screen() {
        Screen::Group(id) | Screen::Rebalances(id) => vec![id.clone()],
        Screen::Groups => state.groups.visible().map(|(id, _, _)| id.clone()).collect(),
        Screen::Problems | Screen::Events => return,
    };
    names.sort_unstable();
    if names != state.on_screen && !(names.is_empty() && state.view.groups.is_empty()) {
        state.on_screen.clone_from(&names);
        effects.push(Effect::Order(Order::OnScreen(Some(names))));
    }
}
