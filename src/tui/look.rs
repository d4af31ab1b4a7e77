//! How things look: the theme's roles and the characters that the terminal can show. Decides nothing.

use std::borrow::Cow;

use ratatui::style::Style;

use super::text;
use super::theme::{Role, Theme};
use crate::model::Name;
use crate::model::name::safe;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charset {
    #[default]
    Unicode,
    Ascii,
}

/// The characters to draw with.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    pub ellipsis: &'static str,
    pub at_least: &'static str,
    pub at_most: &'static str,
    pub about: &'static str,
    pub rising: &'static str,
    pub falling: &'static str,
    /// One to eight eighths of a cell, filled from the left.
    pub bar: [&'static str; 8],
    /// One to eight eighths of a cell, filled from below.
    pub spark: [&'static str; 8],
    pub horizontal: &'static str,
    pub vertical: &'static str,
    pub ascending: &'static str,
    pub descending: &'static str,
}

static UNICODE: Glyphs = Glyphs {
    ellipsis: "…",
    at_least: "≥",
    at_most: "≤",
    about: "≈",
    rising: "▲",
    falling: "▼",
    bar: ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    spark: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    horizontal: "─",
    vertical: "│",
    ascending: "▲",
    descending: "▼",
};

static ASCII: Glyphs = Glyphs {
    ellipsis: "~",
    at_least: ">=",
    at_most: "<=",
    about: "~",
    rising: "^",
    falling: "v",
    bar: [" ", " ", " ", "#", "#", "#", "#", "#"],
    spark: ["_", "_", ".", "-", "=", "+", "*", "#"],
    horizontal: "-",
    vertical: "|",
    ascending: "^",
    descending: "v",
};

/// Theme and characters: all that a screen needs to know of the terminal.
#[derive(Debug, Clone)]
pub struct Look {
    pub theme: Theme,
    pub charset: Charset,
}

impl Look {
    pub fn glyphs(&self) -> &'static Glyphs {
        match self.charset {
            Charset::Unicode => &UNICODE,
            Charset::Ascii => &ASCII,
        }
    }

    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// A stranger's text in at most `max` cells: escaped, shortened in the middle.
    pub fn name(&self, name: &Name, max: usize) -> String {
        let shown = self.full(name);
        text::shorten(&shown, max, self.glyphs().ellipsis).into_owned()
    }

    /// A stranger's text in full, escaped.
    pub fn full<'a>(&self, name: &'a Name) -> Cow<'a, str> {
        self.printable(name.safe())
    }

    /// Any other text, made fit for this terminal. Escaping what is escaped already changes nothing.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.printable(safe(text))
    }

    fn printable<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        if self.charset == Charset::Unicode || text.is_ascii() {
            return text;
        }
        Cow::Owned(text::ascii(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_before_they_are_measured() {
        let look = Look { theme: Theme::mono(), charset: Charset::Unicode };
        assert_eq!(look.name(&Name::new("\x1b]0;x\x07"), 40), "\\x1b]0;x\\x07");
        assert_eq!(text::width(&look.name(&Name::new("\x1b]0;x\x07"), 6)), 6);
        let look = Look { charset: Charset::Ascii, ..look };
        assert!(look.name(&Name::new("组组组组组组"), 10).is_ascii());
    }
}
