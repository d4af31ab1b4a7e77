//! Figures as people read them. Only the way they are written is decided here: every value comes from the view.

use std::time::Duration;

use crate::health::{Drain, MemberForecast, Rate};
pub use crate::model::figures::{and_more, count, duration, plural};

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
    fn rates_and_drains_are_short() {
        let written = |per_second| rate(Some(Rate { per_second, window: Duration::from_secs(10) }));
        assert_eq!([0.0, 0.04, 0.36, 9.94, 9.96, 1400.2].map(written), ["0", "0.0", "0.4", "9.9", "10", "1.4k"]);
        assert_eq!(rate(None), "-");
        assert_eq!(drain(MemberForecast::default()), "?");
        assert_eq!(drain(MemberForecast { drain: Drain::Never, assumed: true }), "~never");
    }

    #[test]
    fn intervals_and_ratios_are_short() {
        assert_eq!((interval(2000), interval(500), interval(60_000)), ("2s".into(), "500ms".into(), "1m".into()));
        assert_eq!((ratio(Some(3.12)), ratio(None), ratio(Some(120.4))), ("3.1".into(), "-".into(), "120".into()));
    }
}
