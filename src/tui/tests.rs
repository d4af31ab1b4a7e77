//! Screens as text, styles of what matters, and every key.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::fixture;
use super::keymap::BINDINGS;
use super::state::{Page, Pane, Screen};
use super::theme::Role;
use super::{Action, Charset, Depth, Effect, Key, Look, State, Theme, draw, text, update};
use crate::frame::Order;
use crate::model::{At, Name, Problem, Scope};
use crate::monitor::view::{Feed, View};

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 40), (160, 50)];

struct Bench {
    state: State,
    now: Duration,
}

impl Bench {
    fn new(size: (u16, u16)) -> Self {
        Self::with(fixture::view(), size)
    }

    fn with(view: View, size: (u16, u16)) -> Self {
        let look = Look { theme: Theme::load("default", Depth::Ansi16).unwrap(), charset: Charset::Unicode };
        let state = State::new(look, Name::new("kafka-1.prod:9092"), fixture::INTERVAL, size);
        let mut bench = Self { state, now: Duration::from_millis(400) };
        bench.act(Action::View(Box::new(view)));
        bench.later(400);
        bench
    }

    fn act(&mut self, action: Action) -> Vec<Effect> {
        update(&mut self.state, action, self.now)
    }

    fn later(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.act(Action::Tick);
    }

    fn press(&mut self, keys: &str) -> Vec<Effect> {
        keys.chars().flat_map(|c| self.key(Key::Char(c))).collect()
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        self.act(Action::Key(key))
    }

    fn open(&mut self, group: &str) -> &mut Self {
        self.state.groups.select_key(&Name::new(group));
        self.key(Key::Enter);
        assert_eq!(*self.state.screen(), Screen::Group(Name::new(group)));
        self
    }

    fn buffer(&self) -> Buffer {
        let (width, height) = self.state.size;
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        draw(&self.state, &mut buffer);
        buffer
    }

    fn lines(&self) -> Vec<String> {
        let buffer = self.buffer();
        let line = |y| {
            let mut line = String::new();
            let mut covered = 0;
            for x in 0..buffer.area.width {
                if covered > 0 {
                    covered -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                covered = text::width(symbol).saturating_sub(1);
                line.push_str(symbol);
            }
            line.trim_end().to_owned()
        };
        (0..buffer.area.height).map(line).collect()
    }

    fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// The row and column where `needle` starts.
    fn find(&self, needle: &str) -> (u16, u16) {
        for (y, line) in self.lines().iter().enumerate() {
            if let Some(place) = line.find(needle) {
                return (text::width(&line[..place]) as u16, y as u16);
            }
        }
        panic!("no {needle} in\n{}", self.text());
    }
}

#[test]
fn groups_screen() {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("groups_{width}x{height}"), Bench::new((width, height)).text());
    }
}

#[test]
fn group_screen() {
    for (width, height) in SIZES {
        let mut bench = Bench::new((width, height));
        bench.open("billing");
        insta::assert_snapshot!(format!("group_{width}x{height}"), bench.text());
        bench.key(Key::Tab);
        if (width, height) == (40, 10) {
            insta::assert_snapshot!("group_partitions_40x10", bench.text());
        }
    }
}

#[test]
fn groups_of_every_kind() {
    for (name, group) in [
        ("strange", "clicks 组组组"),
        ("connect", "connect-sink"),
        ("share", "mirror"),
        ("empty", "reports"),
        ("reconciling", "orders-enrich"),
        ("denied", "secret-sauce"),
    ] {
        let mut bench = Bench::new((100, 24));
        bench.open(group);
        insta::assert_snapshot!(format!("group_{name}"), bench.text());
    }
}

#[test]
fn pages() {
    let mut bench = Bench::new((100, 40));
    bench.press("?");
    insta::assert_snapshot!("help", bench.text());
    bench.key(Key::Esc);
    bench.press("3");
    insta::assert_snapshot!("problems", bench.text());
    bench.key(Key::Enter);
    insta::assert_snapshot!("problem_detail", bench.text());
    bench.press("1");
    bench.open("billing");
    bench.key(Key::Enter);
    insta::assert_snapshot!("member_detail", bench.text());
    bench.key(Key::Esc);
    bench.key(Key::Tab);
    bench.key(Key::Enter);
    insta::assert_snapshot!("partition_detail", bench.text());
    bench.press("1d");
    insta::assert_snapshot!("group_detail", bench.text());
}

#[test]
fn before_anything_is_known() {
    let bench = Bench::with(View::default(), (80, 24));
    assert!(bench.text().contains("connecting to kafka-1.prod:9092 ..."), "{}", bench.text());
    assert!(bench.lines()[0].contains("CONNECTING"));
    let refused = Problem {
        scope: Scope::Cluster,
        missing: "connection".to_owned(),
        cause: Name::new("kafka-1.prod:9092: Connect to ipv4#10.0.0.1:9092 failed: Connection refused"),
        remedy: Some("nothing listens there: check host and port".to_owned()),
        lasting: false,
        since: At(1000),
    };
    let view = View { now: At(13_000), problems: vec![refused].into(), ..View::default() };
    insta::assert_snapshot!("refused", Bench::with(view, (80, 24)).text());
}

#[test]
fn a_lost_source_dims_the_rows_and_takes_verdicts_back() {
    let mut view = fixture::view();
    view.feed = Feed::Stale { since: view.now, cause: Name::new("the collector was killed by signal 9") };
    let mut bench = Bench::with(view, (80, 24));
    bench.later(12_000);
    insta::assert_snapshot!("stale", bench.text());
    let (x, y) = bench.find("billing");
    assert!(bench.buffer()[(x, y + 1)].modifier.contains(Modifier::DIM));
    assert!(bench.text().contains("? stale"));
}

#[test]
fn silence_is_told_too() {
    let mut bench = Bench::new((120, 24));
    bench.later(20_000);
    assert!(bench.text().contains("STALE") && bench.text().contains("data 20s old"), "{}", bench.text());
}

#[test]
fn severity_is_colour_and_glyph_and_word() {
    let bench = Bench::new((120, 30));
    let buffer = bench.buffer();
    for (group, glyph, word, role) in [
        ("clicks", "x", "lost", Role::Critical),
        ("billing", "!", "rising", Role::Warn),
        ("reports", "~", "stopped", Role::Accent),
        ("audit", ".", "fine", Role::Ok),
        ("mirror", "?", "not known", Role::Unknown),
    ] {
        let (_, y) = bench.find(group);
        let line = &bench.lines()[usize::from(y)];
        assert!(line.starts_with(&format!("{glyph} {word}")), "{line}");
        let style = bench.state.look.style(role);
        let cell = &buffer[(0, y)];
        assert_eq!(Some(cell.fg), style.fg.or(Some(ratatui::style::Color::Reset)), "{group}");
        assert!(cell.modifier.contains(style.add_modifier));
    }
}

#[test]
fn the_selection_is_reversed_in_every_theme() {
    for theme in Theme::names() {
        let mut bench = Bench::new((80, 24));
        bench.state.look.theme = Theme::load(theme, Depth::Ansi16).unwrap();
        bench.key(Key::Down);
        let buffer = bench.buffer();
        let reversed = |y: u16| buffer[(0, y)].modifier.contains(Modifier::REVERSED);
        assert_eq!((2..12).filter(|y| reversed(*y)).count(), 1);
    }
}

#[test]
fn ascii_is_ascii() {
    for keys in ["", "\n", "\n\t", "?", "3", "d", "\n\n"] {
        let mut bench = Bench::new((120, 40));
        bench.state.look.charset = Charset::Ascii;
        for c in keys.chars() {
            match c {
                '\n' => bench.key(Key::Enter),
                '\t' => bench.key(Key::Tab),
                c => bench.key(Key::Char(c)),
            };
        }
        assert!(bench.text().is_ascii(), "{}", bench.text());
    }
}

#[test]
fn no_byte_of_a_stranger_reaches_the_screen() {
    for group in ["clicks 组组组", "billing"] {
        for keys in ["", "\n", "\t", "\t\n"] {
            let mut bench = Bench::new((160, 50));
            bench.open(group);
            for c in keys.chars() {
                bench.key(if c == '\n' { Key::Enter } else { Key::Tab });
            }
            let text = bench.text();
            assert!(!text.replace('\n', "").contains(char::is_control), "{text}");
        }
    }
    let mut bench = Bench::new((160, 50));
    bench.open("clicks 组组组");
    assert!(bench.text().contains("\\x1b]0;x\\x07evil"), "{}", bench.text());
}

#[test]
fn wide_names_keep_columns_aligned() {
    let bench = Bench::new((120, 30));
    let (x, _) = bench.find("STATE");
    for group in ["billing", "clicks", "reports"] {
        let (_, y) = bench.find(group);
        assert_eq!(bench.buffer()[(x - 1, y)].symbol(), " ", "{group}");
        assert_ne!(bench.buffer()[(x, y)].symbol(), " ", "{group}");
    }
}

#[test]
fn tails_of_long_names_differ() {
    let bench = Bench::new((40, 24));
    let lines = bench.lines();
    assert!(lines.iter().any(|line| line.contains("-blue")) && lines.iter().any(|line| line.contains("-green")));
}

#[test]
fn no_size_panics() {
    let sizes = [(0, 0), (1, 1), (0, 24), (80, 0), (10, 11), (172, 18), (20, 5), (21, 6), (300, 3), (19, 50), (60, 12)];
    for group in
        [None, Some("billing"), Some("clicks 组组组"), Some("connect-sink"), Some("mirror"), Some("secret-sauce")]
    {
        for keys in ["", "?", "3", "d", "\t", "\t/x", "/", "\n"] {
            let mut bench = Bench::new((80, 24));
            if let Some(group) = group {
                bench.open(group);
            }
            for c in keys.chars() {
                bench.key(match c {
                    '\n' => Key::Enter,
                    '\t' => Key::Tab,
                    c => Key::Char(c),
                });
            }
            for (width, height) in sizes {
                bench.act(Action::Resize(width, height));
                bench.key(Key::PageDown);
                let buffer = bench.buffer();
                assert_eq!(buffer.area, Rect { x: 0, y: 0, width, height });
            }
            bench.act(Action::Resize(80, 24));
            assert!(!bench.text().contains("too small"));
        }
    }
}

#[test]
fn too_small_says_so_and_q_works() {
    let mut bench = Bench::new((19, 4));
    assert_eq!(bench.lines()[0], "too small (19x4)");
    assert_eq!(bench.press("q"), [Effect::Quit]);
}

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
    assert_eq!(first(&bench), "billing", "most lag first");
    assert!(bench.text().contains("LAG▼"));
    bench.press("s");
    assert!(bench.text().contains("GROUP▲") && first(&bench).starts_with("aaa"));
    bench.press("S");
    assert!(bench.text().contains("GROUP▼") && first(&bench) == "secret-sauce");
    bench.press("ssss");
    assert!(bench.text().contains("LAG▼"));
    bench.press("S");
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
        super::order::groups(&bench.state.view, bench.state.group_sort, &bench.state.groups.filter)
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

#[test]
fn metadata_of_a_group() {
    let metadata = |size, keys: &str| {
        let mut bench = Bench::with(fixture::metadata_view(), size);
        bench.state.groups.select_key(&Name::new("orders-enrich"));
        bench.press(keys);
        bench
    };
    for (width, height) in SIZES {
        let size = (width, height);
        insta::assert_snapshot!(format!("metadata_{width}x{height}"), metadata(size, "m").text());
    }
    insta::assert_snapshot!("metadata_feed_80x24", metadata((80, 24), "mm").text());
    insta::assert_snapshot!("metadata_feed_120x40", metadata((120, 40), "mm").text());
    insta::assert_snapshot!("metadata_marks_120x40", metadata((120, 40), "").text());
    let bench = metadata((120, 40), "mmm");
    assert_eq!(bench.state.page, None);
}

#[test]
fn metadata_that_was_looked_at_is_marked_no_more() {
    let mut bench = Bench::with(fixture::metadata_view(), (120, 40));
    let marks = |bench: &Bench| bench.lines().iter().filter(|line| line.contains(" * ")).count();
    let before = marks(&bench);
    assert!(before > 1, "{}", bench.text());
    bench.state.groups.select_key(&Name::new("orders-enrich"));
    bench.press("m");
    bench.key(Key::Esc);
    assert_eq!(marks(&bench), before - 1);
    bench.press("mm");
    bench.key(Key::Esc);
    assert_eq!(marks(&bench), 0);
}

#[test]
fn the_stored_hashes_of_the_fixture_are_those_of_its_topics() {
    let view = fixture::metadata_view();
    let metadata = &view.group(&Name::new("orders-enrich")).unwrap().metadata;
    let hashes: Vec<_> = metadata.changes.iter().rev().filter_map(|outcome| outcome.change.hash).collect();
    let group = |hash: i64| {
        let topic = Name::new("orders");
        crate::metadata::group_hash([(&topic, hash)])
    };
    assert_eq!((group(hashes[0].0), group(hashes[0].1)), (fixture::OLD_HASH, fixture::NEW_HASH));
}
