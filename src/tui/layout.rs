//! Where things go on a screen of a given size. Screens draw into these places; the lists learn their heights here.

use ratatui::layout::Rect;

use super::state::{Pane, Screen, State};
use super::text;

/// Below this there is nothing to see.
pub const SMALLEST: (u16, u16) = (20, 5);
/// Least height of the group screen's body that has room for both panes.
const BOTH_PANES: u16 = 14;

/// The places of every screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    pub header: Rect,
    /// What is wrong with the whole cluster; empty if nothing is.
    pub banner: Rect,
    pub body: Rect,
    pub footer: Rect,
}

/// Rows of each list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heights {
    pub groups: usize,
    pub members: usize,
    pub partitions: usize,
    pub problems: usize,
    pub past: usize,
    pub events: usize,
}

/// The places of the groups screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupsPlaces {
    /// The table with its head.
    pub table: Rect,
    pub rule: Rect,
    /// The selected group in a sentence.
    pub sentence: Rect,
}

/// The places of the group screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupPlaces {
    pub title: Rect,
    /// The members with their head; empty where only partitions fit.
    pub members: Rect,
    /// Metrics of both sides and what the plan assumes.
    pub metrics: Rect,
    pub rule: Rect,
    /// The partitions with their head; empty where only members fit.
    pub partitions: Rect,
}

/// The places of the rebalances screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RebalancesPlaces {
    /// Which group, since when its past is known, and how often it rebalances.
    pub title: Rect,
    /// The list with its head.
    pub list: Rect,
}

pub fn is_too_small((columns, rows): (u16, u16)) -> bool {
    columns < SMALLEST.0 || rows < SMALLEST.1
}

/// Cuts `height` rows off the top of `area`.
fn cut(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    let top = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    top
}

pub fn frame(state: &State) -> Frame {
    let (width, height) = state.size;
    let mut rest = Rect { x: 0, y: 0, width, height };
    let header = cut(&mut rest, 1);
    let lines = state.banner().map_or(0, |banner| text::wrap(&banner, usize::from(width)).len().min(3)) as u16;
    let banner = cut(&mut rest, lines.min(height / 4));
    let body = Rect { height: rest.height.saturating_sub(1), ..rest };
    let footer = Rect { y: rest.y + body.height, height: rest.height - body.height, ..rest };
    Frame { header, banner, body, footer }
}

pub fn groups(body: Rect) -> GroupsPlaces {
    let lines = match (body.height, body.width) {
        (0..9, _) => 0,
        (9..16, _) => 1,
        (_, 0..100) => 4,
        _ => 3,
    };
    let mut rest = body;
    let table = cut(&mut rest, body.height - if lines > 0 { lines + 1 } else { 0 });
    let rule = cut(&mut rest, lines.min(1));
    GroupsPlaces { table, rule, sentence: rest }
}

pub fn group(state: &State, body: Rect) -> GroupPlaces {
    let mut rest = body;
    let title = cut(&mut rest, 1);
    let nothing = Rect { height: 0, ..title };
    let group = state.open_group();
    let planned = group.is_some_and(|group| group.metrics.is_some());
    let plan = group.and_then(|group| group.plan.as_ref());
    let said = plan.is_some_and(|plan| !plan.assumptions.is_empty() || !plan.notes.is_empty());
    let has_partitions = group.is_some_and(|group| !group.partitions.is_empty());
    let lines = 3 + u16::from(said && body.height >= 12) + u16::from(plan.is_some() && body.height >= 16);
    let metrics_lines = if planned { lines } else { 0 };
    if rest.height + 1 < BOTH_PANES || !has_partitions {
        if state.pane == Pane::Partitions && has_partitions {
            return GroupPlaces { title, members: nothing, metrics: nothing, rule: nothing, partitions: rest };
        }
        let lines = if rest.height >= 6 { metrics_lines } else { 0 };
        let members = cut(&mut rest, body.height.saturating_sub(1 + lines));
        return GroupPlaces { title, members, metrics: rest, rule: nothing, partitions: nothing };
    }
    // Both panes have a head; the rest is shared, and what one does not need the other gets.
    let rows = rest.height - metrics_lines - 1 - 2;
    let wanted = |count: usize| u16::try_from(count).unwrap_or(u16::MAX).max(1);
    let wants_members = wanted(group.map_or(0, |group| group.members.len()));
    let wants_partitions = wanted(group.map_or(0, |group| group.partitions.len()));
    let member_rows = wants_members.min((rows / 2).max(rows.saturating_sub(wants_partitions)));
    let members = cut(&mut rest, member_rows + 1);
    let metrics = cut(&mut rest, metrics_lines);
    let rule = cut(&mut rest, 1);
    GroupPlaces { title, members, metrics, rule, partitions: rest }
}

pub fn rebalances(body: Rect) -> RebalancesPlaces {
    let lines = match (body.height, body.width) {
        (0..10, _) => 1,
        (10..16, _) | (_, 140..) => 2,
        _ => 3,
    };
    let mut rest = body;
    let title = cut(&mut rest, lines);
    RebalancesPlaces { title, list: rest }
}

/// The feed with its head, below a line that says what it is.
pub fn events(body: Rect) -> (Rect, Rect) {
    let mut rest = body;
    (cut(&mut rest, 1), rest)
}

/// Rows of each list at the state's size.
pub fn heights(state: &State) -> Heights {
    let body = frame(state).body;
    let rows = |area: Rect| usize::from(area.height.saturating_sub(1));
    let group = match state.screen() {
        Screen::Group(_) => group(state, body),
        Screen::Groups | Screen::Problems | Screen::Rebalances(_) | Screen::Events => GroupPlaces::default(),
    };
    Heights {
        groups: rows(groups(body).table),
        members: rows(group.members),
        partitions: rows(group.partitions),
        problems: rows(body),
        past: rows(rebalances(body).list),
        events: rows(events(body).1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Name;
    use crate::tui::look::{Charset, Look};
    use crate::tui::theme::Theme;

    #[test]
    fn places_never_leave_the_screen() {
        for width in [0, 1, 10, 20, 40, 80, 172] {
            for height in 0..40 {
                let look = Look { theme: Theme::mono(), charset: Charset::Ascii };
                let mut state = State::new(look, Name::new("c"), 2000, (width, height));
                for screen in [None, Some(Screen::Group(Name::new("g"))), Some(Screen::Problems), Some(Screen::Events)]
                {
                    state.screens = screen.into_iter().collect();
                    let frame = frame(&state);
                    assert_eq!(
                        frame.header.height + frame.banner.height + frame.body.height + frame.footer.height,
                        height
                    );
                    let places = groups(frame.body);
                    assert!(places.sentence.bottom() <= frame.body.bottom());
                    let places = rebalances(frame.body);
                    assert!(places.list.bottom() <= frame.body.bottom() && places.title.bottom() <= height);
                    let places = group(&state, frame.body);
                    assert!(places.partitions.bottom() <= frame.body.bottom() && places.metrics.bottom() <= height);
                }
            }
        }
    }
}
