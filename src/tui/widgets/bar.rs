//! Bars and sparklines as text: a value beside its like.

use std::fmt::Write;

use crate::tui::look::Glyphs;

/// A bar of at most `width` cells; `largest` fills them all. What is more than 0 is never invisible.
pub fn bar(value: u64, largest: u64, width: u16, glyphs: &Glyphs) -> String {
    if value == 0 || largest == 0 || width == 0 {
        return String::new();
    }
    let eighths = (value.min(largest) as f64 / largest as f64 * f64::from(width) * 8.0).round();
    let eighths = (eighths as usize).max(1);
    let mut bar = glyphs.bar[7].repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push_str(glyphs.bar[eighths % 8 - 1]);
    }
    if bar.trim().is_empty() { glyphs.bar[7].to_owned() } else { bar }
}

/// The last values in `width` cells: their shape between their least and their most. What hardly moves is a flat line.
pub fn spark(values: &[u64], width: usize, glyphs: &Glyphs) -> String {
    let Some((least, most)) = values.iter().min().zip(values.iter().max()) else { return String::new() };
    let width = width.min(values.len());
    let mut line = String::with_capacity(3 * width);
    for cell in 0..width {
        // The newest value of each slice, so that the right end is now.
        let value = values[(cell + 1) * values.len() / width - 1];
        let level = match most - least {
            _ if *most == 0 => 0,
            range if range <= most / 50 => 3,
            range => ((value - least) as f64 / range as f64 * 7.0).round() as usize,
        };
        let _ = write!(line, "{}", glyphs.spark[level.min(7)]);
    }
    line
}

/// Counts over time, one to a cell, the newest at the right: what is more than 0 is never as low as 0.
pub fn strip(counts: &[u32], width: usize, glyphs: &Glyphs) -> String {
    let shown = counts.get(counts.len().saturating_sub(width)..).unwrap_or_default();
    let most = shown.iter().copied().max().unwrap_or(0).max(1);
    let level = |count: u32| if count == 0 { 0 } else { (count as usize * 7).div_ceil(most as usize) };
    shown.iter().map(|count| glyphs.spark[level(*count).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::look::{Charset, Look};
    use crate::tui::theme::Theme;

    fn glyphs(charset: Charset) -> &'static Glyphs {
        Look { theme: Theme::mono(), charset }.glyphs()
    }

    #[test]
    fn bars_share_a_scale() {
        let glyphs = glyphs(Charset::Unicode);
        assert_eq!(bar(100, 100, 4, glyphs), "████");
        assert_eq!(bar(50, 100, 4, glyphs), "██");
        assert_eq!(bar(53, 100, 4, glyphs), "██▏");
        assert_eq!(bar(1, 1_000_000, 4, glyphs), "▏");
        assert_eq!(bar(0, 100, 4, glyphs), "");
        assert_eq!(bar(u64::MAX, u64::MAX, 3, glyphs), "███");
    }

    #[test]
    fn ascii_bars_are_never_invisible() {
        let glyphs = glyphs(Charset::Ascii);
        assert_eq!(bar(1, 1_000_000, 4, glyphs), "#");
        assert_eq!(bar(50, 100, 4, glyphs), "##");
    }

    #[test]
    fn strips_count_from_zero() {
        let glyphs = glyphs(Charset::Unicode);
        assert_eq!(strip(&[0, 1, 100, 50], 10, glyphs), "▁▂█▅");
        assert_eq!(strip(&[3, 0, 1], 2, glyphs), "▁█");
        assert_eq!(strip(&[0, 0], 2, glyphs), "▁▁");
        assert_eq!(strip(&[], 2, glyphs), "");
    }

    #[test]
    fn sparklines_show_the_shape() {
        let glyphs = glyphs(Charset::Unicode);
        assert_eq!(spark(&[0, 1, 2, 3, 4, 5, 6, 7], 8, glyphs), "▁▂▃▄▅▆▇█");
        assert_eq!(spark(&[1000, 1001, 1000], 8, glyphs), "▄▄▄");
        assert_eq!(spark(&[0, 0, 0], 2, glyphs), "▁▁");
        assert_eq!(spark(&[], 8, glyphs), "");
        assert_eq!(spark(&(0..120).collect::<Vec<_>>(), 4, glyphs), "▃▄▆█");
    }
}
