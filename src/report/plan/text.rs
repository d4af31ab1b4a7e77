//! A plan as text for people: a table for a terminal, or Markdown for a ticket. Names are printed safely.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::{Moved, PlanReport, Saved};
use crate::assign::metrics::Metrics;
use crate::model::Name;
use crate::monitor::view::{DrainView, MemberChange, PlannedMember};

/// Moves that are listed.
const LISTED: usize = 50;

/// How text is put on the page.
struct Page {
    out: String,
    markdown: bool,
}

impl Page {
    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{}", line.trim_end());
    }

    fn title(&mut self, title: &str) {
        self.line("");
        let title = if self.markdown { format!("### {title}\n") } else { title.to_owned() };
        self.line(&title);
    }

    fn item(&mut self, item: &str) {
        let item = if self.markdown { format!("- {item}") } else { format!("  {item}") };
        self.line(&item);
    }

    /// `right`: columns of figures.
    fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>, right: &[usize]) {
        let mut table = Table::new();
        table.load_style(if self.markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        table.set_header(head.iter().copied());
        for place in right {
            if let Some(column) = table.column_mut(*place) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.add_rows(rows);
        for line in table.lines() {
            self.line(&line);
        }
    }

    /// A name that cannot break the page.
    fn name(&self, name: &Name) -> String {
        let safe = name.safe();
        if !self.markdown {
            return safe.into_owned();
        }
        let mut escaped = String::with_capacity(safe.len());
        for c in safe.chars() {
            if "\\`*_[]<>|#&~".contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
        escaped
    }
}

pub fn print(report: &PlanReport<'_>, markdown: bool) -> String {
    let mut page = Page { out: String::new(), markdown };
    head(&mut page, report);
    members(&mut page, report);
    page.line("");
    figures(&mut page, report);
    moves(&mut page, report);
    frontier(&mut page, report);
    page.title("How to get there");
    let way = how(report);
    page.item(&way);
    let plan = report.plan();
    if !plan.notes.is_empty() {
        page.title("Notes");
        plan.notes.iter().for_each(|note| page.item(note));
    }
    if !plan.assumptions.is_empty() {
        page.title("Assumptions");
        plan.assumptions.iter().for_each(|assumption| page.item(assumption));
    }
    page.out
}

fn head(page: &mut Page, report: &PlanReport<'_>) {
    let Saved { group, kind, taken_at, simulated, basis } = report.saved;
    let plan = report.plan();
    let mut words = vec![page.name(group), kind.clone()];
    if let Some(assignor) = &basis.assignor {
        words.push(format!("{} now", page.name(assignor)));
    }
    words.push(format!("{} then ({})", plan.assignor, plan.fit.words()));
    if *simulated {
        words.push("SIMULATED".to_owned());
    }
    if let Some(taken_at) = taken_at {
        words.push(page.name(&Name::new(taken_at)));
    }
    let line = words.join("  ");
    page.line(&if page.markdown { format!("## {line}\n") } else { line });
    let now = basis.input.members.iter().map(|member| &member.id).collect::<Vec<_>>();
    let then = plan.members.iter().map(|member| &member.id).collect::<Vec<_>>();
    let now = drains(page, &report.now.drains, &now);
    let then = drains(page, &plan.drains, &then);
    let moves = if plan.moves == 1 { "1 move".to_owned() } else { format!("{} moves", plan.moves) };
    let sentence = format!("Drains now: {now}. With {}: {then}, {moves}.", plan.assignor);
    page.line(&sentence);
    page.line("");
}

/// The drain of a group and, where it is never or unknown, why.
fn drains(page: &Page, drains: &DrainView, members: &[&Name]) -> String {
    let why = drains.why(|place| members.get(place).map(|id| page.name(id)).unwrap_or_default());
    match why {
        Some(why) => format!("{} ({why})", drains.group),
        None => drains.group.to_string(),
    }
}

fn members(page: &mut Page, report: &PlanReport<'_>) {
    let now = &report.now;
    let row = |(place, planned): (usize, &PlannedMember)| {
        let mut row = vec![page.name(&planned.id)];
        match now.metrics.loads.get(place).zip(now.members.get(place)) {
            Some((load, drain)) => row.extend([load.partitions.to_string(), load.lag.to_string(), drain.to_string()]),
            None => row.extend([String::new(), String::new(), "new".into()]),
        }
        row.push(if page.markdown { "→".into() } else { ">".into() });
        if planned.presence == MemberChange::Leaves {
            row.extend([String::new(), String::new(), "leaves".into()]);
        } else {
            row.extend([planned.partitions.to_string(), planned.lag.to_string(), planned.drain.to_string()]);
        }
        let gained = if planned.gained > 0 { format!("+{} ", planned.gained) } else { String::new() };
        let lost = if planned.lost > 0 { format!("-{}", planned.lost) } else { String::new() };
        row.push(format!("{gained}{lost}").trim_end().to_owned());
        row
    };
    let rows = report.plan().members.iter().enumerate().map(row).collect();
    let head = ["MEMBER", "PARTITIONS", "LAG", "DRAINS", "", "PARTITIONS", "LAG", "DRAINS", "MOVES"];
    page.table(&head, rows, &[1, 2, 3, 5, 6, 7]);
}

fn figures(page: &mut Page, report: &PlanReport<'_>) {
    let (now, then) = (&report.now.metrics, &report.plan().metrics);
    let ratio = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let row = |what: &str, figure: &dyn Fn(&Metrics) -> String| vec![what.to_owned(), figure(now), figure(then)];
    let rows = vec![
        row("largest member lag", &|metrics| metrics.largest_lag.to_string()),
        row("lower bound of it", &|metrics| metrics.lower_bound.to_string()),
        row("times the bound", &|metrics| ratio(metrics.over_bound)),
        row("lag, max / mean", &|metrics| ratio(metrics.lag_over_mean)),
        row("lag, variation (cv)", &|metrics| ratio(metrics.lag_variation)),
        row("partitions, max / mean", &|metrics| ratio(metrics.partitions_over_mean)),
        row("idle members", &|metrics| metrics.idle.to_string()),
        vec!["drains".into(), report.now.drains.group.to_string(), report.plan().drains.group.to_string()],
    ];
    page.table(&["", "NOW", "THEN"], rows, &[1, 2]);
}

fn moves(page: &mut Page, report: &PlanReport<'_>) {
    let moves = report.moves();
    let plan = report.plan();
    let taken = moves.iter().filter(|moved| moved.from.is_none()).count();
    let mut title = format!("Moves: {}", plan.moves);
    if plan.forced > 0 {
        let _ = write!(title, ", {} of them under any plan", plan.forced);
    }
    if taken > 0 {
        let _ = write!(title, "; taken by somebody that nobody had: {taken}");
    }
    page.title(&title);
    for Moved { topic, partition, from, to } in moves.iter().take(LISTED) {
        let from = from.map_or_else(|| "nobody".to_owned(), |from| page.name(from));
        let line = format!("{}-{partition}  {from} > {}", page.name(topic), page.name(to));
        page.item(&line);
    }
    if moves.len() > LISTED {
        page.item(&format!("and {} more", moves.len() - LISTED));
    }
}

fn frontier(page: &mut Page, report: &PlanReport<'_>) {
    let frontier = &report.plan().frontier;
    if frontier.len() < 2 {
        return;
    }
    page.title("What each number of moves gives");
    let rows = frontier.iter().map(|point| {
        let even = if point.even { "" } else { "partition counts less even" };
        vec![point.moves.to_string(), point.largest_lag.to_string(), even.to_owned()]
    });
    page.table(&["MOVES", "LARGEST MEMBER LAG", ""], rows.collect(), &[0, 1]);
}

/// The setting that comes nearest.
fn how(report: &PlanReport<'_>) -> String {
    match &report.way {
        None => "no built-in assignor does this".to_owned(),
        Some(way) if way.exact => format!("{}={}", way.property, way.value),
        Some(way) => format!(
            "nearest: {}={} (largest member lag {}, {} moves)",
            way.property, way.value, way.largest_lag, way.moves
        ),
    }
}
