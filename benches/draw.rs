//! What a frame costs with 10,000 groups: drawing alone, taking in a view, moving the cursor, filtering.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lagtop::assign::metrics::{Load, Metrics};
use lagtop::health::{Direction, Finding, Judgement, LagTotals, Reason, Severity, TimeLag, Verdict};
use lagtop::model::{At, GroupKind, GroupState, Listing, Name, Progress};
use lagtop::monitor::view::{Feed, GroupView, MemberView, PlanView, PlannedMember, View};
use lagtop::tui::{Action, Charset, Depth, Key, Look, State, Theme, draw, update};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const GROUPS: u64 = 10_000;
const SIZE: (u16, u16) = (160, 50);

fn group(number: u64) -> GroupView {
    let lag = number.wrapping_mul(2_654_435_761) % 3_000_000;
    let loads = vec![Load { partitions: 1, lag }; 3];
    let metrics = |largest_lag| Metrics {
        loads: loads.clone(),
        largest_lag,
        lag_over_mean: Some(1.5),
        lag_variation: Some(0.3),
        ..Metrics::default()
    };
    GroupView {
        id: Name::new(format!("team-{}.service-{number}.consumer", number % 37)),
        kind: GroupKind::Classic,
        state: GroupState::Stable,
        described_at: Some(At(1000)),
        commits_at: Some(At(1000)),
        members: vec![MemberView::default(); 3],
        totals: LagTotals { lag, known: 3, ..LagTotals::default() },
        metrics: Some(metrics(lag)),
        plan: Some(PlanView {
            members: vec![PlannedMember::default(); 3],
            metrics: metrics(lag / 2),
            moves: 2,
            ..PlanView::default()
        }),
        trend: (0..60).map(|step| lag + step * number % 1000).collect(),
        direction: Direction::Rising,
        time_lag: TimeLag::MoreThan(Duration::from_secs(number % 7200)),
        judgement: judgement(number),
        ..GroupView::default()
    }
}

/// A verdict of many.
fn judgement(number: u64) -> Judgement {
    let (verdict, severity) = match number % 5 {
        0 => (Verdict::Lagging, Severity::Critical),
        1 => (Verdict::Stopped, Severity::Note),
        2 => (Verdict::Unknown, Severity::Unknown),
        _ => (Verdict::Ok, Severity::Ok),
    };
    let reason = Reason::NoMembers { lag: number, growing: true };
    let reasons = vec![Finding { verdict, severity, reason, partition: None, count: 1 }; 4];
    Judgement { verdict, severity, completeness: 0.5, reasons }
}

fn view() -> View {
    let mut groups: Vec<Arc<GroupView>> = (0..GROUPS).map(|number| Arc::new(group(number))).collect();
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    View {
        now: At(1000),
        feed: Feed::Live,
        listing: Some(Listing { observed_at: At(1000), total: groups.len(), complete: true }),
        progress: Progress { polls: 1, all_seen: true, interval_ms: 2000, took_ms: 10, ..Progress::default() },
        groups,
        ..View::default()
    }
}

fn state(view: View) -> Option<State> {
    let theme = Theme::load("default", Depth::Ansi16).ok()?;
    let mut state = State::new(Look { theme, charset: Charset::Unicode }, Name::new("bench"), 2000, SIZE);
    update(&mut state, Action::View(Box::new(view)), Duration::ZERO);
    Some(state)
}

fn benches(criterion: &mut Criterion) {
    let view = view();
    let Some(mut state) = state(view.clone()) else { return };
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 });
    criterion.bench_function("draw 10k groups", |bencher| {
        bencher.iter(|| {
            buffer.reset();
            draw(black_box(&state), &mut buffer);
        });
    });
    let mut now = Duration::ZERO;
    criterion.bench_function("key and draw 10k groups", |bencher| {
        bencher.iter(|| {
            now += Duration::from_millis(10);
            update(&mut state, Action::Key(Key::Down), now);
            buffer.reset();
            draw(&state, &mut buffer);
        });
    });
    criterion.bench_function("adopt 10k groups", |bencher| {
        bencher.iter(|| {
            now += Duration::from_secs(2);
            update(&mut state, Action::View(Box::new(view.clone())), now)
        });
    });
    criterion.bench_function("filter 10k groups", |bencher| {
        bencher.iter(|| {
            for key in [Key::Char('/'), Key::Char('7'), Key::Esc] {
                update(&mut state, Action::Key(key), now);
            }
        });
    });
}

criterion_group!(draws, benches);
criterion_main!(draws);
