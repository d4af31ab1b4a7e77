//! One group: the assignment now on the left, the plan's on the right, aligned by member, one lag scale for both.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{judged, partitions, plans};
use crate::health::{Direction, Drain, TimeLag};
use crate::model::{GroupKind, Name};
use crate::monitor::view::{GroupView, MemberChange, MemberView};
use crate::tui::canvas::Canvas;
use crate::tui::detail_log;
use crate::tui::figures::{count, drain, plural};
use crate::tui::layout;
use crate::tui::members::{self, label, lag_now};
use crate::tui::order::MemberColumn;
use crate::tui::standing::{self, WORD};
use crate::tui::state::{Freshness, Pane, State};
use crate::tui::text;
use crate::tui::theme::Role;
use crate::tui::widgets::bar::bar;
use crate::tui::widgets::table;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &State, id: &Name) {
    let places = layout::group(state, area);
    let Some(group) = state.open_group() else {
        let gone = match state.freshness() {
            Freshness::Connecting => format!("connecting to {} ...", state.cluster()),
            _ => format!("The group {id} is no longer listed."),
        };
        canvas.paragraph(area, &gone, Style::new());
        return;
    };
    title(canvas, places.title, state, group);
    if group.members.is_empty() {
        canvas.paragraph(places.members, &nobody(group), canvas.look.style(Role::Accent));
    } else if !group.kind.reads_partitions() {
        others(canvas, places.members, state, group);
    } else if places.members.height > 0 {
        let sides = Sides::of(places.members, group);
        head(canvas, places.members, state, group, &sides);
        rows(canvas, places.members, state, group, &sides);
        judged::draw(canvas, places.metrics, group, sides.middle);
    }
    canvas.rule(places.rule);
    partitions::draw(canvas, places.partitions, state, group);
}

/// Why there are no members to show.
fn nobody(group: &GroupView) -> String {
    match (standing::needs(&group.kind), group.described_at) {
        (Some(needs), _) => format!(
            "Members, partitions and lag of a group of type \"{}\" are in the coordinator log: {needs}.",
            group.kind
        ),
        (None, None) if group.problems.is_empty() => "Its members were not read yet.".to_owned(),
        (None, None) => format!("It could not be read: {}.", group.problems[0]),
        (None, Some(_)) => "No members: nobody consumes.".to_owned(),
    }
}

fn title(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView) {
    let look = canvas.look;
    let glyphs = look.glyphs();
    let standing = standing::of(&group.judgement, state.is_fresh_group(group));
    let x = canvas.put(area.x, area.y, area.width, &standing.words(area.width), look.style(standing.role())) + 2;
    let mut parts = vec![group.state.to_string()];
    let lag = standing::total(&group.totals, look);
    if group.kind.reads_partitions() {
        let arrow = match group.direction {
            Direction::Rising => format!(" {}", glyphs.rising),
            Direction::Falling => format!(" {}", glyphs.falling),
            Direction::Flat => String::new(),
        };
        let besides = standing::besides(&group.totals);
        let besides = if besides.is_empty() { besides } else { format!(" {besides}") };
        parts.push(match group.kind {
            GroupKind::Share if group.totals.shared > 0 => format!("backlog {lag}{besides}"),
            _ => format!("lag {lag}{arrow}{besides}"),
        });
        if !matches!(group.time_lag, TimeLag::Unknown | TimeLag::None) {
            parts.push(format!("behind {}", group.time_lag));
        }
    }
    if group.described_at.is_some() {
        let idle = if group.idle > 0 { format!(", {} idle", group.idle) } else { String::new() };
        let of = if group.last_generation { " of the last generation" } else { "" };
        parts.push(format!("{}{of}{idle}", plural(group.members_now(), "member")));
    }
    parts.push(group.kind.to_string());
    if let Some(epoch) = group.epoch {
        let name = if group.assignment_epoch.is_some() { "epoch" } else { "generation" };
        parts.push(format!("{name} {epoch}"));
    }
    if let Some(gap) = group.log_gap {
        parts.push(detail_log::gap_word(gap).to_owned());
    }
    if let Some(coordinator) = group.coordinator {
        parts.push(format!("coordinator {coordinator}"));
    }
    if !group.problems.is_empty() {
        parts.push(plural(group.problems.len(), "problem"));
    }
    if let Some(question) = state.question() {
        parts.insert(0, format!("ASKED {}", plans::words(question)));
    }
    let filter = state.filter();
    if !filter.is_empty() && state.prompt.is_none() {
        parts.insert(0, format!("filter: {}", look.text(&filter.text)));
    }
    let rest = parts.join("  ");
    // The name gets what it needs, the rest what is left, but never nothing.
    let room = usize::from(area.right().saturating_sub(x));
    let name = look.name(&group.id, room.saturating_sub(text::width(&rest) + 2).max(room / 2));
    let x = canvas.put(x, area.y, area.right().saturating_sub(x), &name, Style::new().add_modifier(Modifier::BOLD)) + 2;
    let room = area.right().saturating_sub(x);
    let rest = text::head(&rest, usize::from(room), glyphs.ellipsis).into_owned();
    canvas.put(x, area.y, room, &rest, Style::new());
}

/// Where the columns of both sides are.
struct Sides {
    /// The verdict: a glyph, and a word where there is room.
    verdict: u16,
    name: u16,
    host: u16,
    /// 0 where there is no room for them.
    partitions: u16,
    lag: u16,
    /// How long it is behind; 0 where there is no room for it.
    behind: u16,
    bar: u16,
    /// 0 where there is no room for it.
    drains: u16,
    /// Column of the line between the sides.
    middle: u16,
    /// The longest bar.
    largest: u64,
}

impl Sides {
    fn of(area: Rect, group: &GroupView) -> Self {
        let width = area.width;
        let planned = group.plan.is_some();
        let (partitions, moves) = match width {
            0..60 => (0, if planned { 6 } else { 0 }),
            _ if !planned => (5, 0),
            60..100 => (5, 6),
            _ => (5, 8),
        };
        let host = if width >= 110 { 15 } else { 0 };
        let drains = match width {
            _ if !planned => 0,
            0..72 => 0,
            72..100 => 6,
            _ => BOTH_DRAINS,
        };
        let lag = 7;
        let verdict = if width >= if planned { 140 } else { 80 } { 2 + WORD } else { 1 };
        let behind = if width >= if planned { 100 } else { 60 } { 8 } else { 0 };
        let gap = |column: u16| if column > 0 { column + 1 } else { 0 };
        let both = gap(partitions) + gap(lag);
        let fixed = gap(verdict)
            + gap(host)
            + gap(behind)
            + both
            + if planned { 4 + both + gap(moves) + gap(drains) } else { 0 };
        let rest = width.saturating_sub(fixed + 1);
        let longest = group.members.iter().map(|member| text::width(&label(member).safe())).max().unwrap_or(0);
        let longest = u16::try_from(longest).unwrap_or(u16::MAX).clamp(8, 44);
        let bars = if planned { 2 } else { 1 };
        let bar = match width {
            0..60 => 0,
            _ => (rest.saturating_sub(longest) / bars).max(rest * 3 / (3 * bars + 4)).min(48),
        };
        let name = rest.saturating_sub(bars * bar).min(if bar == 0 { rest } else { longest });
        let middle = gap(verdict) + name + 1 + gap(host) + gap(behind) + both + bar;
        Self {
            verdict,
            name,
            host,
            partitions,
            lag,
            behind,
            bar,
            drains,
            middle: area.x + middle,
            largest: members::largest(group),
        }
    }
}

fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView, sides: &Sides) {
    let look = canvas.look;
    let style = look.style(Role::Muted);
    let title = |title: &str, column: MemberColumn| match state.member_sort.mark(column) {
        Some(true) => format!("{title}{}", look.glyphs().descending),
        Some(false) => format!("{title}{}", look.glyphs().ascending),
        None => title.to_owned(),
    };
    let y = area.y;
    let mut x = area.x;
    let verdict = title(if sides.verdict > 1 { "VERDICT" } else { "" }, MemberColumn::Verdict);
    canvas.put(x, y, sides.verdict, &verdict, style);
    x += sides.verdict + 1;
    canvas.put(x, y, sides.name, &title("MEMBER", MemberColumn::Member), style);
    x += sides.name + 1;
    if sides.host > 0 {
        canvas.put(x, y, sides.host, "HOST", style);
        x += sides.host + 1;
    }
    if sides.partitions > 0 {
        canvas.put_right(x, y, sides.partitions, &title("PART", MemberColumn::Partitions), style);
        x += sides.partitions + 1;
    }
    canvas.put_right(x, y, sides.lag, &format!("{} ", title("LAG", MemberColumn::Lag)), style);
    x += sides.lag + 1;
    if sides.behind > 0 {
        canvas.put_right(x, y, sides.behind, "BEHIND", style);
        x += sides.behind + 1;
    }
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let now = match &group.assignor {
        Some(assignor) => format!("NOW {}", look.full(assignor)),
        None => "NOW".to_owned(),
    };
    let now = text::shorten(&now, usize::from(sides.bar), look.glyphs().ellipsis).into_owned();
    canvas.put_right(x, y, sides.bar, &now, bold);
    let Some(plan) = &group.plan else { return };
    canvas.put(sides.middle + 1, y, 1, look.glyphs().vertical, look.style(Role::Border));
    let mut x = sides.middle + 3;
    // The title of the lag leaves some of its column free.
    let room = (sides.bar + sides.lag).saturating_sub(4);
    let then = match format!("THEN {}", plan.assignor) {
        _ if sides.bar == 0 => String::new(),
        then if then.len() <= usize::from(room) => then,
        _ => plan.assignor.to_string(),
    };
    let then = text::head(&then, usize::from(room), look.glyphs().ellipsis).into_owned();
    canvas.put(x, y, room, &then, bold);
    x += sides.bar + 1;
    canvas.put_right(x, y, sides.lag, "LAG ", style);
    x += sides.lag + 1;
    if sides.partitions > 0 {
        canvas.put_right(x, y, sides.partitions, "PART", style);
        x += sides.partitions + 1;
    }
    let moves = title("MOVES", MemberColumn::Gain);
    canvas.put(x, y, area.right().saturating_sub(x), &moves, style);
    if sides.drains > 0 {
        canvas.put_right(area.right() - sides.drains, y, sides.drains, "DRAINS", style);
    }
}

fn rows(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView, sides: &Sides) {
    let fresh = state.is_fresh_group(group);
    let focused = state.pane == Pane::Members;
    let x = area.x + sides.verdict + 1;
    for (row, (_, place, selected)) in state.members.visible().enumerate() {
        let Some(member) = group.members.get(place) else { continue };
        let y = area.y + 1 + row as u16;
        if y >= area.bottom() {
            break;
        }
        if place < group.members_now() {
            let standing = standing::of(&member.judgement, fresh);
            let style = canvas.look.style(standing.role());
            canvas.put(area.x, y, sides.verdict, &standing.words(sides.verdict), style);
            now(canvas, (x, y), group, member, place, sides);
        } else {
            let style = canvas.look.style(Role::Accent);
            canvas.put(x, y, sides.name, &canvas.look.name(&label(member), usize::from(sides.name)), style);
            let x = x + sides.name + 1;
            canvas.put(x, y, sides.middle.saturating_sub(x), "NEW", style);
        }
        then(canvas, y, group, place, sides, area.right());
        table::mark(canvas, Rect { y, height: 1, ..area }, selected && focused, fresh);
    }
    if state.members.is_empty() {
        let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        canvas.paragraph(below, "no member matches the filter; Esc clears it", canvas.look.style(Role::Muted));
    }
}

fn now(
    canvas: &mut Canvas<'_>,
    (x, y): (u16, u16),
    group: &GroupView,
    member: &MemberView,
    place: usize,
    sides: &Sides,
) {
    let look = canvas.look;
    let idle = members::idle(member);
    let style = if idle.is_some() { look.style(Role::Accent) } else { Style::new() };
    canvas.put(x, y, sides.name, &look.name(&label(member), usize::from(sides.name)), style);
    let mut x = x + sides.name + 1;
    if sides.host > 0 {
        canvas.put(x, y, sides.host, &look.name(&members::host(member), usize::from(sides.host)), style);
        x += sides.host + 1;
    }
    if let Some(reason) = idle {
        let room = sides.middle.saturating_sub(x);
        let words = text::head(&format!("IDLE {reason}"), usize::from(room), look.glyphs().ellipsis).into_owned();
        canvas.put(x, y, room, &words, style);
        return;
    }
    let Some(held) = &member.partitions else {
        canvas.put(x, y, sides.middle.saturating_sub(x), "assignment not readable", look.style(Role::Unknown));
        return;
    };
    if sides.partitions > 0 {
        canvas.put_right(x, y, sides.partitions, &held.len().to_string(), style);
        x += sides.partitions + 1;
    }
    let lag = lag_now(group, member, place);
    let more = if member.totals.exceptions().is_empty() { " " } else { "+" };
    // Members of a share group may hold the same partitions: none of it is one member's.
    let at_most = if member.totals.at_most() { look.glyphs().at_most } else { "" };
    let shared = group.kind == GroupKind::Share;
    let lag_word = if shared { "- ".to_owned() } else { format!("{at_most}{}{more}", count(lag)) };
    canvas.put_right(x, y, sides.lag, &lag_word, style);
    x += sides.lag + 1;
    if sides.behind > 0 {
        let behind = standing::behind(member.time_lag, !shared && member.totals.has_known());
        canvas.put_right(x, y, sides.behind, &behind, style);
        x += sides.behind + 1;
    }
    if member.is_quiet() {
        let words = text::head("no writes", usize::from(sides.bar), look.glyphs().ellipsis).into_owned();
        canvas.put(x, y, sides.bar, &words, look.style(Role::Accent));
        return;
    }
    canvas.put(x, y, sides.bar, &bar(lag, sides.largest, sides.bar, look.glyphs()), look.style(Role::Chart));
}

fn then(canvas: &mut Canvas<'_>, y: u16, group: &GroupView, place: usize, sides: &Sides, right: u16) {
    let Some(planned) = group.plan.as_ref().and_then(|plan| plan.members.get(place)) else { return };
    let look = canvas.look;
    canvas.put(sides.middle + 1, y, 1, look.glyphs().vertical, look.style(Role::Border));
    let mut x = sides.middle + 3;
    if planned.presence == MemberChange::Leaves {
        canvas.put(x, y, right.saturating_sub(x), "LEAVES", look.style(Role::Warn));
    } else if planned.partitions == 0 && sides.bar > 0 {
        canvas.put(x, y, sides.bar, "IDLE", look.style(Role::Accent));
    } else {
        canvas.put(
            x,
            y,
            sides.bar,
            &bar(planned.lag, sides.largest, sides.bar, look.glyphs()),
            look.style(Role::Chart),
        );
    }
    x += sides.bar + 1;
    let stays = planned.presence != MemberChange::Leaves;
    if stays {
        canvas.put_right(x, y, sides.lag, &format!("{} ", count(planned.lag)), Style::new());
    }
    x += sides.lag + 1;
    if sides.partitions > 0 {
        if stays {
            canvas.put_right(x, y, sides.partitions, &planned.partitions.to_string(), Style::new());
        }
        x += sides.partitions + 1;
    }
    if sides.drains > 0 && stays {
        let before = group.members.get(place).filter(|_| planned.presence == MemberChange::Stays);
        let before = before.map(|member| member.drain).filter(|_| sides.drains == BOTH_DRAINS);
        let then = drain(planned.drain);
        let words = match before.map(drain) {
            Some(now) if now != then => format!("{now} > {then}"),
            _ => then,
        };
        let role = drain_role(planned.drain.drain);
        let style = role.map_or_else(Style::new, |role| look.style(role));
        canvas.put_right(right - sides.drains, y, sides.drains, &words, style);
    }
    let right = right - if sides.drains > 0 { sides.drains + 1 } else { 0 };
    let room = |x: u16| right.saturating_sub(x);
    if planned.gained > 0 {
        x = canvas.put(x, y, room(x), &format!("+{}", planned.gained), look.style(Role::Accent)) + 1;
    }
    if planned.lost > 0 {
        canvas.put(x, y, room(x), &format!("-{}", planned.lost), look.style(Role::Warn));
    }
}

/// Width of the drain now and then.
const BOTH_DRAINS: u16 = 15;

fn drain_role(drain: Drain) -> Option<Role> {
    match drain {
        Drain::Never => Some(Role::Critical),
        Drain::Unknown => Some(Role::Unknown),
        Drain::Done | Drain::In(_) => None,
    }
}

/// Members of a group that commits no offsets: who they are and where.
fn others(canvas: &mut Canvas<'_>, area: Rect, state: &State, group: &GroupView) {
    use table::{Column, cell, fit};
    let widest = |of: &dyn Fn(&MemberView) -> usize| group.members.iter().map(of).max().unwrap_or(0).min(60) as u16;
    let name = widest(&|member| text::width(&label(member).safe())).max(6);
    let host = widest(&|member| text::width(&members::host(member).safe())).max(4);
    let client = widest(&|member| text::width(&member.client_id.safe())).max(9);
    let column = |id, title, min, want| Column { id, title, min, want, right: false, sorted: None };
    let ranked = [
        Column { sorted: state.member_sort.mark(MemberColumn::Member), ..column(0, "MEMBER", name.min(20), name) },
        column(1, "HOST", host.min(15), host),
        column(2, "CLIENT ID", client.min(16), client),
    ];
    let columns = fit(&ranked, area.width);
    table::head(canvas, area, &columns);
    let mut y = area.y + 1;
    for (_, place, selected) in state.members.visible() {
        let Some(member) = group.members.get(place) else { continue };
        if y >= area.bottom() {
            break;
        }
        let look = canvas.look;
        table::row(canvas, (area.x, y), &columns, |id, width| {
            let name = match id {
                0 => label(member),
                1 => members::host(member),
                _ => member.client_id.clone(),
            };
            cell(look.name(&name, usize::from(width)), Style::new())
        });
        table::mark(canvas, Rect { y, height: 1, ..area }, selected, state.is_fresh_group(group));
        y += 1;
    }
    let rest = Rect { y: y + 1, height: area.bottom().saturating_sub(y + 1), ..area };
    let explained = format!(
        "A group of type {} commits no offsets: there is no lag to show, and no assignment of partitions to plan.",
        group.kind
    );
    canvas.paragraph(rest, &explained, canvas.look.style(Role::Muted));
}
