//! Figures as people read them. Only the way they are written is decided here: every value comes from the view.

use std::time::Duration;

use crate::health::{Drain, MemberForecast, Rate};

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

/// Records per second: `0.4`, `12`, `1.4k`.
pub fn rate(rate: Option<Rate>) -> String {
    match rate {
        None => "-".to_owned(),
        Some(rate) if rate.per_second > 0.0 && rate.per_second < 9.95 => format!("{:.1}", rate.per_second),
        Some(rate) => count(rate.per_second.max(0.0).round() as u64),
    }
}

/// A drain in a few cells: `?` where it is not known.
pub fn drain(forecast: MemberForecast) -> String {
    if forecast.drain == Drain::Unknown { "?".to_owned() } else { forecast.to_string() }
}

/// One decimal, as much as a ratio is worth: `3.1`, `120`.
pub fn ratio(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 99.95 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Two decimals: a coefficient of variation.
pub fn variation(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
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

/// An interval: no decimals that say nothing.
pub fn interval(milliseconds: u64) -> String {
    match milliseconds {
        0 => "off".to_owned(),
        _ if milliseconds.is_multiple_of(1000) => {
            let seconds = milliseconds / 1000;
            if seconds < 60 { format!("{seconds}s") } else { duration(Duration::from_secs(seconds)) }
        }
        _ => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn rates_and_drains_are_short() {
        let written = |per_second| rate(Some(Rate { per_second, window: Duration::from_secs(10) }));
        assert_eq!([0.0, 0.04, 0.36, 9.94, 9.96, 1400.2].map(written), ["0", "0.0", "0.4", "9.9", "10", "1.4k"]);
        assert_eq!(rate(None), "-");
        assert_eq!(drain(MemberForecast::default()), "?");
        assert_eq!(drain(MemberForecast { drain: Drain::Never, assumed: true }), "~never");
    }

    #[test]
    fn times_are_short() {
        let cases = [(430, "0.4s"), (9_990, "9.9s"), (48_000, "48s"), (130_000, "2m10s"), (720_000, "12m")];
        for (millis, written) in cases {
            assert_eq!(duration(Duration::from_millis(millis)), written);
        }
        assert_eq!(duration(Duration::from_secs(6 * 3600 + 300)), "6h05m");
        assert_eq!(duration(Duration::from_secs(100 * 3600)), "4d4h");
        assert_eq!((interval(2000), interval(500), interval(60_000)), ("2s".into(), "500ms".into(), "1m".into()));
        assert_eq!((ratio(Some(3.12)), ratio(None), ratio(Some(120.4))), ("3.1".into(), "-".into(), "120".into()));
    }
}
