//! Figures as people read them, the same in every room. Only the way they are written is decided here.

use std::time::Duration;

/// Three digits and a suffix: `999`, `1.84k`, `212k`, `1.1M`.
pub fn count(value: u64) -> String {
    if value < 1000 {
        return value.to_string();
    }
    let mut scaled = value as f64;
    let mut suffix = "";
    for next in ["k", "M", "G", "T", "P", "E"] {
        // 999.5 and above would be written as 1000.
        if scaled < 999.5 {
            break;
        }
        scaled /= 1000.0;
        suffix = next;
    }
    let decimals = match scaled {
        scaled if scaled < 9.995 => 2,
        scaled if scaled < 99.95 => 1,
        _ => 0,
    };
    let digits = format!("{scaled:.decimals$}");
    let digits = if decimals > 0 { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    format!("{digits}{suffix}")
}

/// `0.4s`, `48s`, `2m10s`, `6h05m`, `3d4h`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", duration.as_millis().saturating_sub(duration.as_millis() % 100) as f64 / 1000.0),
        10..60 => format!("{seconds}s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 if seconds % 3600 < 60 => format!("{}h", seconds / 3600),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `1 move`, `2 moves`.
pub fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// What follows those of a list that are named, of which so many are not: ` and 4 more`, or nothing.
pub fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural_and_none_is_no_more() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "move")), ["0 moves", "1 move", "2 moves"]);
        assert_eq!([0, 1, 4].map(and_more), ["", " and 1 more", " and 4 more"]);
    }

    #[test]
    fn counts_have_three_digits() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1k"),
            (1840, "1.84k"),
            (9_994, "9.99k"),
            (9_996, "10k"),
            (80_000, "80k"),
            (212_345, "212k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_100_000, "1.1M"),
            (1_844_674_407, "1.84G"),
            (u64::MAX, "18.4E"),
        ];
        for (value, written) in cases {
            assert_eq!(count(value), written);
            assert!(count(value).len() <= 5);
        }
    }

    #[test]
    fn times_are_short() {
        let cases = [(430, "0.4s"), (9_990, "9.9s"), (48_000, "48s"), (130_000, "2m10s"), (720_000, "12m")];
        for (millis, written) in cases {
            assert_eq!(duration(Duration::from_millis(millis)), written);
        }
        assert_eq!(duration(Duration::from_secs(6 * 3600 + 300)), "6h05m");
        assert_eq!(duration(Duration::from_secs(100 * 3600)), "4d4h");
    }
}
