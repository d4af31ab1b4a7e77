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

#[test]
fn members_of_the_last_generation_are_called_so() {
    let mut view = fixture_past::view();
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    std::sync::Arc::make_mut(group).last_generation = true;
    let mut bench = Bench::with(view, (120, 40));
    bench.open("billing");
    assert!(bench.text().contains("members of the last generation"), "{}", bench.text());
    bench.press("d");
    assert!(bench.text().contains("who joins now is in no record yet"), "{}", bench.text());
}

#[test]
fn missing_events_are_said() {
    let mut view = fixture_past::view();
    let group = view.groups.iter_mut().find(|group| group.id.raw() == "billing").unwrap();
    let past = &mut std::sync::Arc::make_mut(group).rebalances;
    (past.missing, past.lower_bound) = (Some(crate::health::rebalances::Missing::Cut), true);
    let mut bench = Bench::with(view, (160, 50));
    bench.open("billing");
    bench.press("e");
    let text = bench.text();
    assert!(text.contains("lower bounds: its log went back") && text.contains("≥7 in 1h"), "{text}");
}

#[test]
fn what_only_the_log_tells() {
    for (name, group) in [("consumer", "orders-enrich"), ("streams", "enrich-app"), ("held", "held-up")] {
        let mut bench = bench((100, 44));
        bench.open(group);
        bench.press("d");
        insta::assert_snapshot!(format!("group_detail_{name}"), bench.text());
    }
    for (name, group) in [("streams", "enrich-app"), ("share", "telemetry"), ("consumer", "orders-enrich")] {
        let mut bench = bench((120, 24));
        bench.open(group);
        insta::assert_snapshot!(format!("group_{name}"), bench.text());
        bench.press("g");
        bench.key(Key::Enter);
        let mut pages = vec![bench.text()];
        bench.key(Key::Esc);
        bench.press("j");
        bench.key(Key::Enter);
        pages.push(bench.text());
        insta::assert_snapshot!(format!("member_detail_{name}"), pages.join("\n"));
    }
    let mut narrow = bench((80, 24));
    narrow.open("telemetry");
    insta::assert_snapshot!("group_share_80x24", narrow.text());
}

#[test]
fn a_rebalance_has_a_page() {
    let mut bench = rebalances("billing", (100, 30));
    bench.press("jjd");
    assert!(matches!(bench.state.page, Some(Page::Past(_))));
    insta::assert_snapshot!("rebalance_detail", bench.text());
    bench.key(Key::Esc);
    bench.press("gd");
    assert!(bench.text().contains("commit of payments-2 moved back 120000 > 118200"), "{}", bench.text());
}

#[test]
fn unfolding_keeps_the_selection_on_its_rebalance() {
    let mut bench = rebalances("billing", (100, 30));
    let rows = bench.state.past.len();
    bench.press("j");
    bench.key(Key::Enter);
    assert_eq!(bench.state.past.len(), rows + 5);
    bench.press("jjj");
    bench.key(Key::Right);
    assert_eq!(bench.state.past.len(), rows, "folded from one of its lines");
    assert_eq!(bench.state.past.selected().unwrap().0.1, 0);
    bench.key(Key::Esc);
    assert_eq!(*bench.state.screen(), Screen::Group(Name::new("billing")));
}

#[test]
fn the_feed_leads_to_the_group_and_to_its_rebalances() {
    let mut bench = bench((100, 30));
    bench.press("E");
    bench.press("/gone: pay");
    bench.key(Key::Enter);
    assert_eq!(bench.state.events.len(), 3);
    assert!(bench.text().contains("filter: gone: pay"), "{}", bench.text());
    assert_eq!(bench.press("y"), [Effect::Copy("billing".to_owned())]);
    bench.press("e");
    assert_eq!(*bench.state.screen(), Screen::Rebalances(Name::new("billing")));
    let (_, y) = bench.find("22:21:17");
    assert!(bench.buffer()[(0, y)].modifier.contains(Modifier::REVERSED), "{}", bench.text());
    assert!(bench.lines()[usize::from(y) + 1].contains("gone    pay-7f3"), "{}", bench.text());
    bench.key(Key::Esc);
    assert_eq!(*bench.state.screen(), Screen::Events);
    bench.key(Key::Enter);
    assert_eq!(*bench.state.screen(), Screen::Group(Name::new("billing")));
    bench.key(Key::Esc);
    assert_eq!(*bench.state.screen(), Screen::Events);
    bench.press("4E5");
    assert_eq!(bench.state.screens.len(), 3, "the same screen is opened once");
}

#[test]
fn a_storm_is_a_warning() {
    let bench = bench((120, 30));
    let (_, y) = bench.find("billing");
    assert!(bench.lines()[usize::from(y)].starts_with("! REBALANCING"));
    assert!(bench.text().contains("7 STORM") && bench.text().contains("rebalances this hour, the last"));
}

#[test]
fn every_key_and_size_on_the_new_screens() {
    let sizes = [(0, 0), (1, 1), (0, 24), (80, 0), (10, 11), (172, 18), (20, 5), (21, 6), (300, 3), (19, 50), (60, 12)];
    for view in [fixture_past::view(), fixture::view(), View::default()] {
        for way in ["e", "e\n", "ejj\nd", "E", "Ed", "\ne/x", "E/x"] {
            let start = || {
                let mut bench = Bench::with(view.clone(), (80, 24));
                for c in way.chars() {
                    bench.key(if c == '\n' { Key::Enter } else { Key::Char(c) });
                }
                bench
            };
            for key in crate::tui::keymap::BINDINGS.iter().flat_map(|binding| binding.keys) {
                let mut bench = start();
                bench.key(*key);
                bench.buffer();
            }
            let mut bench = start();
            for (width, height) in sizes {
                bench.act(Action::Resize(width, height));
                bench.key(Key::PageDown);
                bench.buffer();
            }
        }
    }
}

#[test]
fn ascii_and_escapes() {
    for group in ["clicks 组组组", "billing", "orders-enrich", "telemetry"] {
        for keys in ["", "e", "e\n", "ed", "E", "Ejd", "\n", "\t", "d"] {
            let mut bench = bench((120, 40));
            bench.open(group);
            for c in keys.chars() {
                bench.key(match c {
                    '\n' => Key::Enter,
                    '\t' => Key::Tab,
                    c => Key::Char(c),
                });
            }
            let text = bench.text();
            assert!(!text.replace('\n', "").contains(char::is_control) && !text.contains('\u{202e}'), "{text}");
            bench.state.look.charset = Charset::Ascii;
            assert!(bench.text().is_ascii(), "{}", bench.text());
        }
    }
}

#[test]
fn events_are_found_by_what_they_are() {
    let mut bench = Bench::with(fixture_past::view(), (120, 40));
    bench.press("E/static restart");
    bench.key(Key::Enter);
    let shown = bench.text();
    let events = shown.lines().skip(3).filter(|line| line.contains(':')).count();
    assert!(events > 0 && shown.matches("static restart").count() > events, "{shown}");
}

#[test]
fn a_recording_is_no_live_cluster() {
    let mut bench = Bench::with(fixture_past::view(), (160, 24));
    bench.state.replay = true;
    let header = bench.lines()[0].clone();
    assert!(header.contains("REPLAY 20") && header.contains(" UTC") && !header.contains("every"), "{header}");
}
