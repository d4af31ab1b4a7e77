//! Screens as text, and the styles of what matters.

mod keys;
mod metadata;
mod past;
mod verdicts;

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
fn what_if() {
    for (width, height) in SIZES {
        let mut bench = Bench::new((width, height));
        bench.open("billing");
        bench.press("++ax");
        assert!(bench.text().contains("only lag-balanced") || width < 60, "{}", bench.text());
        bench.later(4000);
        insta::assert_snapshot!(format!("what_if_{width}x{height}"), bench.text());
    }
    let mut bench = Bench::new((120, 40));
    bench.open("billing");
    bench.press("-x");
    insta::assert_snapshot!("what_if_fewer", bench.text());
    bench.press("0");
    assert!(!bench.text().contains("ASKED"));
    bench.press(&"-".repeat(8));
    assert!(bench.text().contains("8 cannot leave and one stay"), "{}", bench.text());
    bench.press("++++++++");
    assert!(bench.text().contains("ASKED lag-balanced, 1 member more"), "{}", bench.text());
    // The question goes with the group.
    bench.key(Key::Esc);
    bench.open("orders-enrich");
    assert!(!bench.text().contains("ASKED"));
    bench.press("aaaa");
    assert!(!bench.text().contains("ASKED"), "four assignors could be: {}", bench.text());
    bench.key(Key::Esc);
    bench.open("reports").press("a+-x0");
    assert!(bench.text().contains("there is no plan"), "{}", bench.text());
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
fn what_is_missing_of_the_cluster_alone_is_no_error_of_all() {
    let missing = |missing: &str| {
        let cause = Name::new("no answer within the deadline");
        let scope = Scope::Cluster;
        let problem = Problem { scope, missing: missing.to_owned(), cause, remedy: None, lasting: false, since: At(0) };
        let view = View { problems: vec![problem].into(), ..fixture::view() };
        Bench::with(view, (120, 40)).lines()[0].clone()
    };
    assert!(missing("list of groups").contains("ERROR"), "{}", missing("list of groups"));
    let racks = missing("racks");
    assert!(!racks.contains("ERROR") && racks.contains("1 problem (key 3)"), "{racks}");
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
    assert!(bench.text().contains("? UNKNOWN") && !bench.text().contains("x "));
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
        ("clicks", "x", "LAGGING", Role::Critical),
        ("orders-enrich", "!", "REBALANCING", Role::Warn),
        ("reports", "~", "STOPPED", Role::Accent),
        ("audit", ".", "OK", Role::Ok),
        ("mirror", "?", "UNKNOWN", Role::Unknown),
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
