//! How many colours there are, and a colour that is not among them replaced by the nearest one that is.

use ratatui::style::Color;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    None,
    #[default]
    Ansi16,
    Ansi256,
    True,
}

/// The sixteen colours as xterm shows them.
const ANSI: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

/// The colour as the terminal can show it; `None` without colour.
pub fn fitted(colour: Color, depth: Depth) -> Option<Color> {
    match (depth, colour) {
        (Depth::None, _) => None,
        (Depth::Ansi256, Color::Rgb(r, g, b)) => Some(Color::Indexed(16 + 36 * level(r) + 6 * level(g) + level(b))),
        (Depth::Ansi16, Color::Rgb(r, g, b)) => Some(nearest([r, g, b])),
        (Depth::Ansi16, Color::Indexed(index)) => Some(nearest(indexed(index))),
        (_, colour) => Some(colour),
    }
}

/// The place of a component in the 6 × 6 × 6 cube.
fn level(component: u8) -> u8 {
    match component {
        0..48 => 0,
        48..115 => 1,
        _ => (component - 35) / 40,
    }
}

fn indexed(index: u8) -> [u8; 3] {
    let component = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    match index {
        0..16 => ANSI[usize::from(index)].1,
        16..232 => {
            let place = index - 16;
            [component(place / 36), component(place / 6 % 6), component(place % 6)]
        }
        _ => [8 + 10 * (index - 232); 3],
    }
}

fn nearest(rgb: [u8; 3]) -> Color {
    let distance =
        |other: &[u8; 3]| -> i32 { rgb.iter().zip(other).map(|(a, b)| (i32::from(*a) - i32::from(*b)).pow(2)).sum() };
    ANSI.iter().min_by_key(|(_, other)| distance(other)).map_or(Color::Reset, |(colour, _)| *colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_fitted() {
        let orange = Color::Rgb(255, 135, 0);
        assert_eq!(fitted(orange, Depth::True), Some(orange));
        assert_eq!(fitted(orange, Depth::Ansi256), Some(Color::Indexed(208)));
        assert_eq!(fitted(Color::Rgb(250, 10, 10), Depth::Ansi16), Some(Color::LightRed));
        assert_eq!(fitted(Color::Indexed(196), Depth::Ansi16), Some(Color::LightRed));
        assert_eq!(fitted(Color::Red, Depth::None), None);
        for index in 0..=255 {
            assert!(fitted(Color::Indexed(index), Depth::Ansi16).is_some());
        }
    }
}
