//! The groups: which one is in trouble, why, and would another assignment help.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::metadata;
use crate::health::{Direction, Drain, TimeLag, Verdict};
use crate::model::{GroupKind, GroupState};
use crate::monitor::view::GroupView;
use crate::tui::canvas::Canvas;
use crate::tui::figures::{drain, ratio};
use crate::tui::look::Look;
use crate::tui::order::GroupColumn;
use crate::tui::past_words;
use crate::tui::standing::{self, WORD};
use crate::tui::state::{Freshness, State};
use crate::tui::theme::Role;
use crate::tui::widgets::bar::spark;
use crate::tui::widgets::table::{self, Column, Fitted, cell};
use crate::tui::would::{self, Would};
use crate::tui::{layout, sentence, text};

/// The columns in their order on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Verdict,
    Group,
    Kind,
    State,
    Members,
    Lag,
    Trend,
    Behind,
    Besides,
    Drains,
    Rebalances,
    Skew,
    Assignor,
    Would,
}

/// From here on there is room for the verdict's word.
const WITH_WORD: u16 = 60;
/// From here on every figure has its words.
const FULL: u16 = 100;
/// Width of the word that a narrow table leaves out: `largest `.
const LARGEST: u16 = 8;
/// Longest the name grows to.
const NAME: u16 = 60;
const TREND: u16 = 9;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let places = layout::groups(area);
    let columns = columns(state, area.width);
    if !state.groups.is_empty() {
        table::head(canvas, places.table, &columns);
    }
    for (row, (_, place, selected)) in state.groups.visible().enumerate() {
        let Some(group) = state.view.groups.get(place) else { continue };
        let y = places.table.y + 1 + row as u16;
        if y >= places.table.bottom() {
            break;
        }
        let look = canvas.look;
        let fresh = state.is_fresh_group(group);
        table::row(canvas, (area.x, y), &columns, |id, width| match id {
            Cell::Group if state.has_metadata_news(group) => changed(look, group, width),
            id => content(look, group, id, width, fresh),
        });
        table::mark(canvas, Rect { y, height: 1, ..area }, selected, fresh);
    }
    if state.groups.is_empty() {
        let below = Rect { y: places.table.y + 1, height: places.table.height.saturating_sub(1), ..area };
        canvas.paragraph(below, &nothing(state), Style::new());
    }
    canvas.rule(places.rule);
    if let Some(group) = state.selected_group() {
        let sentence = sentence::of(group, state.is_fresh_group(group), state.wall(), canvas.look);
        let sentence = match metadata::news(state, group) {
            Some(news) => format!("{news} {sentence}"),
            None => sentence,
        };
        canvas.paragraph(places.sentence, &sentence, Style::new());
    }
}

/// Why the table is empty.
fn nothing(state: &State) -> String {
    if !state.filter().is_empty() {
        return "No group matches the filter; Esc clears it.".to_owned();
    }
    match state.freshness() {
        Freshness::Connecting => format!("connecting to {} ...", state.cluster()),
        _ if state.view.listing.is_none() => "Nothing was read yet.".to_owned(),
        _ if state.view.listing.is_some_and(|listing| listing.total > 0) => {
            "None of the groups is selected: see --group and --exclude-group.".to_owned()
        }
        _ => "There are no groups that we may see.".to_owned(),
    }
}

fn columns(state: &State, width: u16) -> Vec<Fitted<Cell>> {
    let sort = state.group_sort;
    let visible = || state.groups.visible().filter_map(|(_, place, _)| state.view.groups.get(place));
    let name = visible().map(|group| text::width(&group.id.safe())).max().unwrap_or(0);
    let name = u16::try_from(name).unwrap_or(NAME).clamp(5, NAME);
    let longest = |of: &dyn Fn(&GroupView) -> usize| visible().map(|group| of(group)).max().unwrap_or(0) as u16;
    let besides = longest(&|group| standing::besides(&group.totals).len());
    let members = longest(&|group| members(&state.look, group).width()).clamp(9, 18);
    let rebalances = longest(&|group| text::width(&past_words::per_hour(group, &state.look))).clamp(7, 14);
    let would = longest(&|group| would::of(group).map_or(1, |would| would.words(usize::MAX).len()));
    // Below, the sentence has the words.
    let would_title = state.view.assignor.would();
    let would_min =
        if width < FULL { 11 } else { would.saturating_sub(LARGEST).clamp(15, 24).max(would_title.len() as u16) };
    let unread = visible().any(|group| standing::needs(&group.kind).is_some());
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let verdict = if width < WITH_WORD { 1 } else { 2 + WORD };
    let lags = longest(&|group| text::width(&lag(&state.look, group))).clamp(6, 8);
    let ranked = [
        Column {
            sorted: sort.mark(GroupColumn::Verdict),
            ..column(Cell::Verdict, if verdict > 1 { "VERDICT" } else { "" }, verdict, verdict)
        },
        Column { sorted: sort.mark(GroupColumn::Group), ..column(Cell::Group, "GROUP", name.min(20), name) },
        Column { right: true, sorted: sort.mark(GroupColumn::Lag), ..column(Cell::Lag, "LAG", lags, lags) },
        column(Cell::Trend, "TREND", TREND, TREND),
        Column {
            sorted: sort.mark(GroupColumn::Members),
            ..column(Cell::Members, "MEMBERS", members, members.max(11))
        },
        Column {
            sorted: sort.mark(GroupColumn::Rebalances),
            ..column(Cell::Rebalances, "REBAL/h", rebalances, rebalances)
        },
        Column { right: true, ..column(Cell::Drains, "DRAINS", 7, 7) },
        Column { sorted: sort.mark(GroupColumn::State), ..column(Cell::State, "STATE", 11, 11) },
        Column {
            sorted: sort.mark(GroupColumn::Gain),
            ..column(Cell::Would, would_title, would_min, would.max(if unread { 32 } else { 18 }))
        },
        Column { right: true, sorted: sort.mark(GroupColumn::Behind), ..column(Cell::Behind, "BEHIND", 8, 8) },
        Column { right: true, sorted: sort.mark(GroupColumn::Skew), ..column(Cell::Skew, "SKEW", 5, 5) },
        column(Cell::Kind, "TYPE", 9, if unread { 16 } else { 9 }),
        column(Cell::Besides, if besides > 0 { "NOT IN LAG" } else { "" }, besides.min(12), besides),
        column(Cell::Assignor, "ASSIGNOR", 10, 18),
    ];
    let mut columns = table::fit(&ranked, width);
    columns.retain(|fitted| fitted.column.id != Cell::Besides || besides > 0);
    columns.sort_by_key(|fitted| fitted.column.id);
    columns
}

/// A group under which metadata changed, until somebody looks.
fn changed(look: &Look, group: &GroupView, width: u16) -> Line<'static> {
    let name = look.name(&group.id, usize::from(width).saturating_sub(2));
    cell(format!("{name} *"), look.style(Role::Accent).add_modifier(Modifier::BOLD))
}

fn content(look: &Look, group: &GroupView, id: Cell, width: u16, fresh: bool) -> Line<'static> {
    let plain = Style::new();
    let muted = look.style(Role::Muted);
    let room = usize::from(width);
    match id {
        Cell::Verdict => {
            let standing = standing::of(&group.judgement, fresh);
            cell(standing.words(width), look.style(standing.role()))
        }
        Cell::Group => cell(look.name(&group.id, room), plain),
        Cell::Kind => cell(kind(look, &group.kind, room), plain),
        Cell::State => {
            let style = match group.state {
                GroupState::Stable => plain,
                GroupState::Empty | GroupState::Dead | GroupState::Unknown => muted,
                _ => look.style(Role::Warn),
            };
            cell(short_state(group.state), style)
        }
        Cell::Members => members(look, group),
        Cell::Lag => cell(lag(look, group), plain),
        Cell::Behind => {
            let style = if group.time_lag == TimeLag::Unknown { muted } else { plain };
            cell(standing::group_behind(group), style)
        }
        Cell::Trend => trend(look, group, room),
        Cell::Besides => {
            let besides = standing::besides(&group.totals);
            cell(text::head(&besides, room, look.glyphs().ellipsis).into_owned(), look.style(Role::Accent))
        }
        Cell::Rebalances => {
            let style = match group.rebalances.frequency.storm.is_some() {
                true => look.style(Role::Warn),
                false if group.rebalances.frequency.per_hour == 0 => muted,
                false => plain,
            };
            cell(past_words::per_hour(group, look), style)
        }
        Cell::Drains => drains(look, group),
        Cell::Skew => cell(ratio(group.skew()), plain),
        Cell::Assignor => match &group.assignor {
            Some(assignor) => cell(look.name(assignor, room), plain),
            None => cell("-", muted),
        },
        Cell::Would => match (standing::needs(&group.kind), would::of(group)) {
            (Some(needs), _) => cell(if needs.len() > room { "needs READ" } else { needs }, muted),
            (None, Some(would @ Would::Gain { .. })) => cell(would.words(room), look.style(Role::Accent)),
            (None, Some(would)) => cell(would.words(room), muted),
            (None, None) => cell("-", muted),
        },
    }
}

/// The sum of what is known; `+` where there is more that is not, `*` for a share group's backlog. The digits are under each other.
fn lag(look: &Look, group: &GroupView) -> String {
    let totals = &group.totals;
    let more = match totals.exceptions().is_empty() {
        _ if totals.was_behind().is_some() => "",
        _ if totals.shared > 0 => "*",
        false if totals.has_known() => "+",
        _ => " ",
    };
    format!("{}{more}", standing::total(totals, look))
}

fn members(look: &Look, group: &GroupView) -> Line<'static> {
    if group.described_at.is_none() || standing::needs(&group.kind).is_some() {
        return cell("-", look.style(Role::Muted));
    }
    let all = Span::raw(group.members.len().to_string());
    if group.idle == 0 {
        return Line::from(all);
    }
    Line::from(vec![all, Span::styled(format!(", {} idle", group.idle), look.style(Role::Accent))])
}

/// When the lag will be gone as things are.
fn drains(look: &Look, group: &GroupView) -> Line<'static> {
    let stopped = group.judgement.verdict == Verdict::Stopped;
    match group.drains {
        None if stopped => cell("stopped", look.style(Role::Warn)),
        None => cell("-", look.style(Role::Muted)),
        Some(drains) => match drains.group.drain {
            Drain::Done => cell("-", look.style(Role::Muted)),
            Drain::Unknown => cell("?", look.style(Role::Unknown)),
            Drain::Never => cell(drain(drains.group), look.style(Role::Critical)),
            Drain::In(_) => cell(drain(drains.group), Style::new()),
        },
    }
}

fn trend(look: &Look, group: &GroupView, room: usize) -> Line<'static> {
    let glyphs = look.glyphs();
    let (arrow, role) = match group.direction {
        Direction::Rising => (glyphs.rising, Role::Warn),
        Direction::Falling => (glyphs.falling, Role::Ok),
        Direction::Flat => (" ", Role::Muted),
    };
    let line = spark(&group.trend, room.saturating_sub(1), glyphs);
    Line::from(vec![Span::styled(arrow, look.style(role)), Span::styled(line, look.style(Role::Chart))])
}

fn kind(look: &Look, kind: &GroupKind, room: usize) -> String {
    match kind {
        GroupKind::ShareOrStreams if room < 16 => "share/str".to_owned(),
        GroupKind::Other(protocol) => look.name(protocol, room),
        known => known.to_string(),
    }
}

/// Kafka's word for the state, without `Rebalance`, which makes the two of them too long.
pub fn short_state(state: GroupState) -> &'static str {
    match state {
        GroupState::PreparingRebalance => "Preparing",
        GroupState::CompletingRebalance => "Completing",
        GroupState::Unknown => "?",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::health::{Drain, IdleReason, MemberForecast};
    use crate::model::Name;
    use crate::monitor::view::{DrainView, MemberView, View};
    use crate::tui::look::Charset;
    use crate::tui::theme::Theme;
    use crate::tui::update::{Action, update};
    use crate::tui::{fixture, fixture_past};

    /// A group of which every figure is long.
    fn extreme(group: &GroupView) -> GroupView {
        let mut extreme = group.clone();
        extreme.id = Name::new("組".repeat(120));
        extreme.totals.lag = 184_467_440_737;
        extreme.totals.doubtful = extreme.totals.lag;
        extreme.time_lag = TimeLag::MoreThan(Duration::from_secs(99 * 86_400 + 23 * 3600));
        let idle = MemberView { idle: Some(IdleReason::LeftOut), ..MemberView::default() };
        extreme.members.resize(12_345, idle);
        extreme.idle = 12_340;
        extreme.rebalances.lower_bound = true;
        extreme.rebalances.frequency.per_hour = 12_345;
        extreme.rebalances.frequency.storm = Some(5);
        let group = MemberForecast { drain: Drain::In(Duration::from_secs(99 * 86_400)), assumed: true };
        extreme.drains = Some(DrainView { group, ..DrainView::default() });
        extreme
    }

    #[test]
    fn no_row_is_wider_than_the_screen_and_no_figure_wider_than_its_column() {
        for view in [fixture::view(), fixture_past::view(), fixture::metadata_view()] {
            let mut groups = view.groups.clone();
            groups.extend(view.groups.iter().map(|group| Arc::new(extreme(group))));
            groups.sort_by(|a, b| a.id.cmp(&b.id));
            let view = View { groups, ..view };
            for charset in [Charset::Unicode, Charset::Ascii] {
                for width in [40, 60, 80, 100, 120, 160] {
                    let look = Look { theme: Theme::mono(), charset };
                    let mut state = State::new(look, Name::new("c"), 2000, (width, 60));
                    update(&mut state, Action::View(Box::new(view.clone())), Duration::ZERO);
                    let columns = columns(&state, width);
                    let used: u16 = columns.iter().map(|fitted| fitted.width + 1).sum();
                    assert!(used <= width + 1, "{used} of {width}");
                    for group in &state.view.groups {
                        for fitted in &columns {
                            let id = fitted.column.id;
                            let line = content(&state.look, group, id, fitted.width, true);
                            assert!(line.width() <= usize::from(fitted.width), "{width}: {id:?} {line}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn columns_go_from_the_right_of_their_order() {
        let mut state =
            State::new(Look { theme: Theme::mono(), charset: Charset::Unicode }, Name::new("c"), 2000, (80, 24));
        update(&mut state, Action::View(Box::new(fixture::view())), Duration::ZERO);
        let order = [
            Cell::Verdict,
            Cell::Group,
            Cell::Lag,
            Cell::Trend,
            Cell::Members,
            Cell::Rebalances,
            Cell::Drains,
            Cell::State,
            Cell::Would,
            Cell::Behind,
            Cell::Skew,
            Cell::Kind,
        ];
        for width in 20..200 {
            let shown: Vec<Cell> = columns(&state, width).iter().map(|fitted| fitted.column.id).collect();
            let there = order.iter().take_while(|cell| shown.contains(cell)).count();
            assert!(order[there..].iter().all(|cell| !shown.contains(cell)), "{width}: {shown:?}");
        }
    }
}
