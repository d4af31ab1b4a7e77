//! Text that fits: widths in terminal cells by grapheme, shortening in the middle, wrapping. Knows no colours.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// Cells that `text` takes. The same count as that of the buffer that draws it.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(cells).sum() }
}

fn cells(grapheme: &str) -> usize {
    usize::from(grapheme.cell_width())
}

/// At most `max` cells of `text`: what is too long loses its middle, so that names with differing tails differ.
/// A wide character is never split.
pub fn shorten<'a>(text: &'a str, max: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= max {
        return Cow::Borrowed(text);
    }
    let room = max.saturating_sub(width(ellipsis));
    if room == 0 {
        return Cow::Owned(ellipsis.chars().take(max).collect());
    }
    let (head, used) = within(text.graphemes(true), room / 2);
    let (tail, _) = within(text.graphemes(true).rev(), room - used);
    let start = text.len() - tail;
    Cow::Owned([&text[..head], ellipsis, &text[start..]].concat())
}

/// At most `max` cells from the start of `text`.
pub fn head<'a>(text: &'a str, max: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= max {
        return Cow::Borrowed(text);
    }
    let (bytes, _) = within(text.graphemes(true), max.saturating_sub(width(ellipsis)));
    Cow::Owned([&text[..bytes], ellipsis].concat())
}

/// Bytes and cells of the graphemes that fit into `room` cells.
fn within<'a>(graphemes: impl Iterator<Item = &'a str>, room: usize) -> (usize, usize) {
    let (mut bytes, mut used) = (0, 0);
    for grapheme in graphemes {
        let next = used + cells(grapheme);
        if next > room {
            break;
        }
        (bytes, used) = (bytes + grapheme.len(), next);
    }
    (bytes, used)
}

/// `text` in lines of at most `max` cells, broken between words, and within a word that is longer than a line.
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        let gap = usize::from(!line.is_empty());
        if used + gap + width(word) > max && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        while width(word) > max {
            let (bytes, _) = within(word.graphemes(true), max);
            // A wide character in a line of one cell: it cannot be shown, but the loop must end.
            let bytes = if bytes == 0 { word.graphemes(true).next().map_or(word.len(), str::len) } else { bytes };
            lines.push(word[..bytes].to_owned());
            word = &word[bytes..];
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// `text` with every character that is not ASCII as an escape: for terminals that cannot show it.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() });
    Cow::Owned(escaped.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_goes_so_that_tails_differ() {
        let blue = format!("{}-blue", "a".repeat(60));
        let green = format!("{}-green", "a".repeat(60));
        let (blue, green) = (shorten(&blue, 20, "…"), shorten(&green, 20, "…"));
        assert_eq!((width(&blue), width(&green)), (20, 20));
        assert_ne!(blue, green);
        assert!(blue.ends_with("-blue") && blue.starts_with("aaaaaaaaa…"), "{blue}");
    }

    #[test]
    fn wide_characters_are_not_split() {
        assert_eq!(width("组组组"), 6);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(shorten("组组组组", 6, "…"), "组…组");
        assert_eq!(shorten("组组组组", 2, "…"), "…");
        assert_eq!(shorten("abc", 0, "…"), "");
        assert_eq!(head("组组组", 5, "…"), "组组…");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two  three", 8), ["one two ", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), Vec::<String>::new());
        assert_eq!(wrap("组组", 1), ["组", "组"]);
    }

    #[test]
    fn ascii_keeps_what_it_can() {
        assert_eq!(ascii("a组"), "a\\u{7ec4}");
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_its_room(text in "\\PC{0,40}", max in 0usize..30) {
            prop_assert!(width(&shorten(&text, max, "…")) <= max);
            if width(&text) <= max {
                prop_assert_eq!(shorten(&text, max, "…"), text.clone());
            }
            for line in wrap(&text, max.max(2)) {
                // One grapheme may be wider than the line: it is shown whole.
                let fits = width(&line) <= max.max(2) || line.graphemes(true).count() == 1;
                prop_assert!(fits, "{:?}", line);
            }
        }
    }
}
