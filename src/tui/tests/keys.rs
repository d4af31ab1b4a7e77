//! Every key does what the help says, on every screen.

use super::*;

#[test]
fn q_goes_back_and_quits_at_the_top() {
    let mut bench = Bench::new((80, 24));
    bench.open("billing");
    bench.key(Key::Enter);
    assert!(matches!(bench.state.page, Some(Page::Member(..))));
    assert_eq!(bench.press("q"), []);
    assert_eq!(bench.state.page, None);
    bench.press("q");
    assert_eq!(*bench.state.screen(), Screen::Groups);
    assert_eq!(bench.press("q"), [Effect::Quit]);
}

#[test]
fn esc_never_quits() {
    let mut bench = Bench::new((80, 24));
    bench.open("billing");
    for _ in 0..5 {
        for key in [Key::Esc, Key::Backspace, Key::Left] {
            assert!(!bench.key(key).contains(&Effect::Quit));
        }
    }
    assert_eq!(*bench.state.screen(), Screen::Groups);
}

#[test]
fn ctrl_c_closes_the_prompt_first() {
    let mut bench = Bench::new((80, 24));
    bench.press("/bill");
    assert_eq!(bench.state.groups.len(), 1);
    bench.key(Key::Ctrl('c'));
    assert_eq!((bench.state.prompt.is_none(), bench.state.groups.len()), (true, 10));
    assert_eq!(bench.key(Key::Ctrl('c')), [Effect::Quit]);
}

#[test]
fn the_filter_is_live_and_esc_clears_it() {
    let mut bench = Bench::new((120, 24));
    bench.press("/REP");
    assert!(bench.text().contains("No group matches"));
    for _ in 0..3 {
        bench.key(Key::Backspace);
    }
    bench.press("rep");
    assert_eq!(bench.state.groups.len(), 1);
    assert_eq!(bench.lines()[23].split("  ").next(), Some("/rep"));
    bench.key(Key::Enter);
    assert!(bench.lines()[0].contains("1 of 214 groups  filter: rep"), "{}", bench.lines()[0]);
    assert_eq!(bench.press("q"), [Effect::Quit], "q is a key again");
    bench.key(Key::Esc);
    assert_eq!(bench.state.groups.len(), 10);
    bench.press("/!a");
    assert!(bench.state.groups.len() < 10 && !bench.text().contains("audit"));
    bench.key(Key::Esc);
    assert_eq!(bench.state.groups.len(), 10);
}

#[test]
fn members_and_partitions_have_filters_of_their_own() {
    let mut bench = Bench::new((120, 40));
    bench.open("billing");
    bench.press("/8aa");
    bench.key(Key::Enter);
    assert_eq!((bench.state.members.len(), bench.state.partitions.len()), (1, 6));
    bench.key(Key::Tab);
    bench.press("/no commit");
    bench.key(Key::Enter);
    assert_eq!((bench.state.members.len(), bench.state.partitions.len()), (1, 1));
}

#[test]
fn sorting_goes_through_the_columns_and_back() {
    let mut bench = Bench::new((120, 30));
    let first = |bench: &Bench| bench.state.groups.visible().next().map(|(id, _, _)| id.to_string()).unwrap();
    assert_eq!(first(&bench), "billing", "the worst first");
    assert!(bench.text().contains("VERDICT▼"));
    bench.press("s");
    assert!(bench.text().contains("LAG▼") && first(&bench) == "billing", "most lag first");
    bench.press("s");
    assert!(bench.text().contains("BEHIND▼"));
    assert!(bench.lines()[0].contains("by behind ▼"), "{}", bench.lines()[0]);
    bench.act(Action::Resize(80, 24));
    assert!(bench.lines()[0].contains("by behind ▼"), "the column has no room: {}", bench.text());
    bench.act(Action::Resize(120, 30));
    bench.press("s");
    assert!(bench.text().contains("GROUP▲") && first(&bench).starts_with("aaa"));
    bench.press("S");
    assert!(bench.text().contains("GROUP▼") && first(&bench) == "secret-sauce");
    bench.press("ssssss");
    assert!(bench.text().contains("VERDICT▼"));
    bench.press("S");
    assert_eq!(first(&bench), "audit", "the best first");
    bench.press("sS");
    let order: Vec<_> = bench.state.groups.visible().map(|(id, _, _)| id.to_string()).collect();
    assert_eq!(order[0], "audit", "least lag first");
    assert!(order[8..].contains(&"mirror".to_owned()), "what is not known stays last: {order:?}");
}

#[test]
fn the_selection_survives_refreshes() {
    let mut bench = Bench::new((120, 30));
    bench.press("jj");
    let selected = bench.state.groups.selected().unwrap().0.clone();
    bench.later(2000);
    let mut view = fixture::view();
    view.groups.remove(0);
    bench.act(Action::View(Box::new(view)));
    assert_eq!(bench.state.groups.selected().unwrap().0, selected);
    bench.press("s");
    assert_eq!(bench.state.groups.selected().unwrap().0, selected);
}

#[test]
fn the_cursor_reaches_every_end() {
    let mut bench = Bench::new((80, 10));
    let index = |bench: &Bench| {
        let selected = bench.state.groups.selected().unwrap().0.clone();
        crate::tui::order::groups(&bench.state.view, bench.state.group_sort, &bench.state.groups.filter)
            .iter()
            .position(|(id, _)| *id == selected)
            .unwrap()
    };
    bench.press("G");
    assert_eq!(index(&bench), 9);
    bench.press("k");
    assert_eq!(index(&bench), 8);
    bench.press("g");
    assert_eq!(index(&bench), 0);
    bench.key(Key::PageDown);
    assert!(index(&bench) > 1);
    bench.key(Key::PageUp);
    bench.key(Key::Up);
    assert_eq!(index(&bench), 0);
    bench.key(Key::End);
    assert_eq!(index(&bench), 9);
    bench.key(Key::Home);
    assert_eq!(index(&bench), 0);
}

#[test]
fn pause_keeps_the_screen_and_takes_the_newest_on_return() {
    let mut bench = Bench::new((120, 24));
    let before = bench.lines()[1..22].join("\n");
    bench.press("p");
    bench.act(Action::View(Box::default()));
    assert!(bench.lines()[0].contains("PAUSED"));
    assert_eq!(bench.lines()[1..22].join("\n"), before);
    bench.press(" ");
    assert!(bench.text().contains("connecting"));
}

#[test]
fn the_source_is_told_what_is_on_screen() {
    let mut bench = Bench::new((80, 24));
    let effects = bench.open("billing").key(Key::Esc);
    let [Effect::Order(Order::OnScreen(Some(names)))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(names.len(), 10);
    bench.state.groups.select_key(&Name::new("billing"));
    let effects = bench.key(Key::Enter);
    assert_eq!(effects, [Effect::Order(Order::OnScreen(Some(vec![Name::new("billing")])))]);
    assert_eq!(bench.key(Key::Down), []);
}

#[test]
fn keys_give_orders() {
    let mut bench = Bench::new((80, 24));
    assert_eq!(bench.press("r"), [Effect::Order(Order::PollNow)]);
    assert_eq!(bench.press(">"), [Effect::Order(Order::Interval(5000))]);
    assert!(bench.lines()[0].contains("every 5s"));
    assert_eq!(bench.press("<<<<"), [2000, 1000, 500].map(|interval| Effect::Order(Order::Interval(interval))));
    assert_eq!(bench.press("y"), [Effect::Copy("billing".to_owned())]);
    assert!(bench.lines()[23].contains("copied billing"));
    assert_eq!(bench.key(Key::Ctrl('l')), [Effect::Repaint]);
    assert_eq!(bench.key(Key::Ctrl('z')), [Effect::Suspend]);
}

#[test]
fn views_have_numbers() {
    let mut bench = Bench::new((80, 24));
    bench.press("3");
    assert_eq!(*bench.state.screen(), Screen::Problems);
    bench.press("2");
    assert_eq!(*bench.state.screen(), Screen::Group(Name::new("billing")));
    bench.key(Key::Tab);
    assert_eq!(bench.state.pane, Pane::Partitions);
    bench.press("1");
    assert_eq!(*bench.state.screen(), Screen::Groups);
}

#[test]
fn every_key_works_on_every_screen() {
    let screens: [&[Key]; 6] =
        [&[], &[Key::Enter], &[Key::Enter, Key::Tab], &[Key::Char('3')], &[Key::Char('?')], &[Key::Enter, Key::Enter]];
    for view in [fixture::view(), View::default()] {
        for way in screens {
            for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
                let mut bench = Bench::with(view.clone(), (80, 24));
                for step in way {
                    bench.key(*step);
                }
                bench.key(*key);
                bench.buffer();
            }
        }
    }
}

#[test]
fn a_page_scrolls_and_stops_at_its_end() {
    let mut bench = Bench::new((80, 12));
    bench.press("?");
    let first = bench.text();
    bench.press("j");
    assert_ne!(bench.text(), first);
    bench.press("G");
    let last = bench.text();
    assert!(last.contains("changes nothing"), "{last}");
    bench.press("k");
    assert_ne!(bench.text(), last, "one up from the end");
    bench.press("g");
    assert_eq!(bench.text(), first);
}

#[test]
fn a_group_that_goes_leaves_the_screen_standing() {
    let mut bench = Bench::new((80, 24));
    bench.open("reports");
    let mut view = fixture::view();
    view.groups.retain(|group| group.id.raw() != "reports");
    bench.act(Action::View(Box::new(view)));
    assert!(bench.text().contains("The group reports is no longer listed."), "{}", bench.text());
}
