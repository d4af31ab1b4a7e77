//! The dashboard in a real (pseudo-)terminal, on the simulated cluster: it appears, obeys, and gives the terminal back
//! in every way that it may end.

mod support;

use rustix::process::Signal;
use support::terminal::Terminal;

const SMALL: (u16, u16) = (80, 24);

#[test]
fn groups_appear_keys_work_and_q_restores() {
    let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
    terminal.shows("SIMULATED");
    terminal.shows("billing");
    terminal.press("/billing\r");
    terminal.wait("only billing", |text| !text.contains("orders-enrich") && text.contains("billing"));
    terminal.press("\r");
    terminal.shows("│ lag-balanced");
    terminal.shows("max/mean");
    terminal.press("\t\r");
    terminal.shows("owner now");
    terminal.press("qq\x1b");
    terminal.shows("orders-enrich");
    terminal.press("?");
    terminal.shows("this help");
    terminal.press("q");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}

#[test]
fn sizes_change_and_nothing_breaks() {
    let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
    terminal.shows("billing");
    for (columns, rows) in [(172, 18), (10, 11), (1, 1), (100, 5), (160, 50), (40, 10)] {
        terminal.resize(columns, rows);
        for key in ["\r", "\t", "\x1b", "?", "\x1b"] {
            terminal.press(key);
        }
    }
    terminal.shows("billing");
    terminal.resize(15, 4);
    terminal.shows("too small");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::QUIT, 131), (Signal::HUP, 129)] {
        let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
        terminal.shows("billing");
        terminal.signal(signal);
        assert_eq!(terminal.ended(), code);
        terminal.restored();
    }
}

#[test]
fn a_stopped_dashboard_comes_back() {
    let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
    terminal.shows("billing");
    terminal.signal(Signal::TSTP);
    terminal.restored();
    terminal.signal(Signal::CONT);
    terminal.shows("billing");
    terminal.press("q");
    assert_eq!(terminal.ended(), 0);
    terminal.restored();
}

#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
    terminal.shows("billing");
    // The next frame, at most a second later, makes the reader leave; then nobody holds the other end.
    terminal.vanish();
    terminal.ended();
}

/// Nobody reads what is written, as over a link that stalls: the write blocks, and a signal must end it all the same.
#[test]
fn a_signal_ends_a_blocked_write() {
    let mut terminal = Terminal::start(&["demo"], SMALL, &[]);
    terminal.shows("billing");
    terminal.stall();
    // Each is a whole repaint: far more than a terminal takes that nobody reads.
    for _ in 0..60 {
        terminal.press("\x0c");
    }
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.ended(), 143);
}

#[test]
fn poor_terminals_get_ascii_or_a_word() {
    let mut plain = Terminal::start(&["demo"], SMALL, &[("LANG", "C"), ("NO_COLOR", "1")]);
    plain.shows("billing");
    plain.shows("VERDICTv");
    let written = plain.written();
    assert!(written.is_ascii());
    assert!(!written.contains("\x1b[m"), "a bare reset cancels bold and reverse");
    for colour in ["\x1b[31m", "\x1b[32m", "\x1b[38;"] {
        assert!(!written.contains(colour));
    }
    plain.press("q");
    plain.ended();
    let mut dumb = Terminal::start(&["demo"], SMALL, &[("TERM", "dumb")]);
    dumb.shows("lagtop snapshot");
    assert_eq!(dumb.ended(), 2);
    assert!(!dumb.written().contains('\x1b'));
}

#[test]
fn where_nobody_looks_it_says_so() {
    let piped = support::lagtop(&["demo"]).output().expect("lagtop runs");
    assert_eq!(piped.status.code(), Some(2));
    let said = String::from_utf8_lossy(&piped.stderr);
    assert!(piped.stdout.is_empty() && said.contains("lagtop snapshot") && !said.contains('\x1b'), "{said}");
}
