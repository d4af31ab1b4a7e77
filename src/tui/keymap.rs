//! The keymap: one table from which dispatch, help and the footer's hints are made.

use std::fmt;

use super::what_if::Change;

/// A key as the terminal sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Tab,
    BackTab,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Function(u8),
    WheelUp,
    WheelDown,
}

/// What a person wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Open,
    Back,
    NextPane,
    Detail,
    Metadata,
    Groups,
    Group,
    Problems,
    Rebalances,
    Events,
    Help,
    Filter,
    Sort,
    Reverse,
    Pause,
    PollNow,
    Faster,
    Slower,
    Copy,
    Repaint,
    Suspend,
    Quit,
    /// Of the open group: another question.
    Ask(Change),
    /// Ctrl-C: always quits, but closes an open prompt first.
    Interrupt,
}

/// Where a binding's hint is shown in the footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Groups,
    Group,
    Problems,
    Rebalances,
    Events,
    /// Help or a detail lies over the screen.
    Page,
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    pub keys: &'static [Key],
    pub command: Command,
    /// What it does, for the help.
    pub help: &'static str,
    /// What it does in a word, for the footers of these places.
    pub hint: &'static str,
    pub places: &'static [Place],
}

use Key::{
    BackTab, Backspace, Char, Ctrl, Down, End, Enter, Esc, Function, Home, Left, PageDown, PageUp, Right, Tab, Up,
};
use Place::{Events, Group, Groups, Page, Problems, Rebalances};

const fn silent(keys: &'static [Key], command: Command, help: &'static str) -> Binding {
    Binding { keys, command, help, hint: "", places: &[] }
}

/// The order is that of the help; the footer takes it too.
pub static BINDINGS: &[Binding] = &[
    Binding {
        keys: &[Char('?'), Function(1)],
        command: Command::Help,
        help: "this help",
        hint: "help",
        places: &[Groups, Group, Problems, Rebalances, Events],
    },
    silent(&[Up, Char('k'), Key::WheelUp], Command::Up, "one up"),
    silent(&[Down, Char('j'), Key::WheelDown], Command::Down, "one down"),
    silent(&[PageUp, Ctrl('b')], Command::PageUp, "one page up"),
    silent(&[PageDown, Ctrl('f')], Command::PageDown, "one page down"),
    silent(&[Home, Char('g')], Command::Top, "to the first"),
    silent(&[End, Char('G')], Command::Bottom, "to the last"),
    Binding {
        keys: &[Enter, Right, Char('l')],
        command: Command::Open,
        help: "open what is selected; a rebalance: unfold and fold what it changed",
        hint: "open",
        places: &[Groups, Group, Problems, Rebalances, Events],
    },
    Binding {
        keys: &[Esc, Backspace, Left, Char('h')],
        command: Command::Back,
        help: "one step back; clears a filter; never quits",
        hint: "back",
        places: &[Group, Problems, Rebalances, Events, Page],
    },
    Binding {
        keys: &[Tab, BackTab],
        command: Command::NextPane,
        help: "the other pane: members, partitions",
        hint: "pane",
        places: &[Group],
    },
    Binding {
        keys: &[Char('a')],
        command: Command::Ask(Change::Assignor),
        help: "in a group: what the next assignor would do",
        hint: "assignor",
        places: &[Group],
    },
    Binding {
        keys: &[Char('+'), Char('=')],
        command: Command::Ask(Change::More),
        help: "in a group: with one member more",
        hint: "- members",
        places: &[Group],
    },
    silent(
        &[Char('-')],
        Command::Ask(Change::Fewer),
        "in a group: with one member fewer; those with the least lag leave",
    ),
    Binding {
        keys: &[Char('x')],
        command: Command::Ask(Change::Moves),
        help: "in a group: lag-balanced with fewer moves: the next number of moves that gains something",
        hint: "moves",
        places: &[Group],
    },
    silent(&[Char('0')], Command::Ask(Change::Nothing), "in a group: what was asked is forgotten; the group as it is"),
    Binding {
        keys: &[Char('/')],
        command: Command::Filter,
        help: "filter as you type; lower case finds both cases, ! finds what does not match; Enter keeps, Esc clears",
        hint: "filter",
        places: &[Groups, Group, Problems, Rebalances, Events],
    },
    Binding {
        keys: &[Char('q')],
        command: Command::Quit,
        help: "back; at the groups: quit",
        hint: "quit",
        places: &[Groups, Problems],
    },
    Binding {
        keys: &[Char('s')],
        command: Command::Sort,
        help: "sort by the next column",
        hint: "sort",
        places: &[Groups, Group],
    },
    silent(&[Char('S')], Command::Reverse, "reverse the order"),
    Binding {
        keys: &[Char('p'), Char(' ')],
        command: Command::Pause,
        help: "pause the screen and go on; collecting goes on meanwhile",
        hint: "pause",
        places: &[Groups, Group],
    },
    Binding {
        keys: &[Char('d')],
        command: Command::Detail,
        help: "everything about the group, with full names and figures",
        hint: "detail",
        places: &[Groups, Group, Rebalances, Events],
    },
    Binding {
        keys: &[Char('e'), Char('4')],
        command: Command::Rebalances,
        help: "the rebalances of the group: when, why, how long, what moved",
        hint: "rebalances",
        places: &[Groups, Group, Events],
    },
    Binding {
        keys: &[Char('E'), Char('5')],
        command: Command::Events,
        help: "the events of all groups: rebalances, commits that moved back, static restarts, deletions",
        hint: "events",
        places: &[Groups, Rebalances],
    },
    Binding {
        keys: &[Char('m')],
        command: Command::Metadata,
        help: "metadata: what makes the group's hash, and what changed; again: the changes under all groups",
        hint: "metadata",
        places: &[Groups, Group],
    },
    silent(&[Char('1')], Command::Groups, "the groups"),
    silent(&[Char('2')], Command::Group, "the group that is selected: now beside then"),
    silent(&[Char('3')], Command::Problems, "the problems: what could not be read, why, and what would help"),
    silent(&[Char('r')], Command::PollNow, "read everything now"),
    silent(&[Char('<')], Command::Faster, "a shorter interval"),
    silent(&[Char('>')], Command::Slower, "a longer interval"),
    silent(&[Char('y')], Command::Copy, "copy the selected name (the terminal must allow OSC 52)"),
    silent(&[Ctrl('l')], Command::Repaint, "paint the screen anew"),
    silent(&[Ctrl('z')], Command::Suspend, "to the shell; fg comes back"),
    silent(&[Ctrl('c')], Command::Interrupt, "quit; in a prompt: close it"),
];

/// What a key means outside a prompt.
pub fn command(key: Key) -> Option<Command> {
    BINDINGS.iter().find(|binding| binding.keys.contains(&key)).map(|binding| binding.command)
}

/// The footer's hints at a place: a key and its word.
pub fn hints(place: Place) -> impl Iterator<Item = (String, &'static str)> {
    let here = BINDINGS.iter().filter(move |binding| binding.places.contains(&place));
    here.filter_map(|binding| Some((binding.keys.first()?.to_string(), binding.hint)))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(' ') => f.write_str("Space"),
            Self::Char(c) => write!(f, "{c}"),
            Self::Ctrl(c) => write!(f, "Ctrl-{}", c.to_ascii_uppercase()),
            Self::Function(number) => write!(f, "F{number}"),
            Self::BackTab => f.write_str("Shift-Tab"),
            Self::PageUp => f.write_str("PgUp"),
            Self::PageDown => f.write_str("PgDn"),
            Self::WheelUp => f.write_str("wheel"),
            Self::WheelDown => f.write_str("wheel down"),
            named => write!(f, "{named:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let keys: Vec<Key> = BINDINGS.iter().flat_map(|binding| binding.keys).copied().collect();
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key), "{key} is bound twice");
        }
    }

    #[test]
    fn a_main_action_needs_no_chord_and_no_function_key() {
        for binding in BINDINGS.iter().filter(|binding| !binding.places.is_empty()) {
            assert!(!matches!(binding.keys[0], Key::Ctrl(_) | Key::Function(_)), "{:?}", binding.command);
            assert!(!binding.hint.is_empty() && !binding.help.is_empty());
        }
    }

    #[test]
    fn q_does_what_the_help_says() {
        let quit = BINDINGS.iter().find(|binding| binding.keys.contains(&Key::Char('q'))).unwrap();
        assert_eq!((quit.command, command(Key::Char('q'))), (Command::Quit, Some(Command::Quit)));
        assert_eq!(command(Key::Char('€')), None);
        assert!(hints(Place::Groups).any(|(key, word)| key == "?" && word == "help"));
    }
}
