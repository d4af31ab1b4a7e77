//! Rebalances, events, and what only the coordinator log tells.

use super::*;
use crate::tui::fixture_past;

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 40), (160, 50)];

fn bench(size: (u16, u16)) -> Bench {
    Bench::with(fixture_past::view(), size)
}

/// The bench on the rebalances of a group.
fn rebalances(group: &str, size: (u16, u16)) -> Bench {
    let mut bench = bench(size);
    bench.open(group);
    bench.press("e");
    assert_eq!(*bench.state.screen(), Screen::Rebalances(Name::new(group)));
    bench
}

#[test]
fn groups_with_a_past() {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("groups_{width}x{height}"), bench((width, height)).text());
    }
}

#[test]
fn rebalances_screen() {
    for (width, height) in SIZES {
        let mut bench = rebalances("billing", (width, height));
        insta::assert_snapshot!(format!("rebalances_{width}x{height}"), bench.text());
        bench.press("j");
        bench.key(Key::Enter);
        insta::assert_snapshot!(format!("rebalances_unfolded_{width}x{height}"), bench.text());
    }
    insta::assert_snapshot!("rebalances_under_way", {
        let mut bench = rebalances("orders-enrich", (100, 24));
        bench.key(Key::Enter);
        bench.text()
    });
    let mut bench = rebalances("clicks 组组组", (100, 24));
    bench.key(Key::Enter);
    insta::assert_snapshot!("rebalances_strange", bench.text());
    let text = rebalances("held-up", (100, 24)).text();
    assert!(text.contains("seen by polling: lower bounds") && text.contains("No rebalance since 22:23:20."), "{text}");
}

#[test]
fn events_screen() {
    for (width, height) in SIZES {
        let mut bench = bench((width, height));
        bench.press("E");
        insta::assert_snapshot!(format!("events_{width}x{height}"), bench.text());
    }
}
