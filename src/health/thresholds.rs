//! From when on a lag is a trouble: for all groups, and for some of them otherwise.

use std::time::Duration;

use globset::GlobMatcher;

use crate::model::Name;

/// From when on a group lags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A partition that is behind by more than that many records lags, whatever its time; `None`: by time alone.
    pub lag: Option<u64>,
    /// A partition that is behind for longer lags.
    pub time_lag: Duration,
    /// A topic that no member subscribes to is abandoned after that time without a commit.
    pub abandoned_after: Duration,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { lag: None, time_lag: Duration::from_secs(60), abandoned_after: Duration::from_secs(600) }
    }
}

/// What differs from the default for some groups.
#[derive(Debug, Clone)]
pub struct Rule {
    pub groups: GlobMatcher,
    pub lag: Option<u64>,
    pub time_lag: Option<Duration>,
    pub abandoned_after: Option<Duration>,
}

/// The thresholds of every group.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub default: Thresholds,
    /// The last rule that matches a group and names a threshold decides it.
    pub rules: Vec<Rule>,
}

impl Rules {
    /// The thresholds of a group.
    pub fn of(&self, group: &Name) -> Thresholds {
        let matching = self.rules.iter().filter(|rule| rule.groups.is_match(group.raw()));
        matching.fold(self.default, |known, rule| Thresholds {
            lag: rule.lag.or(known.lag),
            time_lag: rule.time_lag.unwrap_or(known.time_lag),
            abandoned_after: rule.abandoned_after.unwrap_or(known.abandoned_after),
        })
    }
}

#[cfg(test)]
mod tests {
    use globset::Glob;

    use super::*;

    #[test]
    fn the_last_rule_that_names_a_threshold_decides_it() {
        let rule = |glob: &str, lag, seconds: Option<u64>| Rule {
            groups: Glob::new(glob).unwrap().compile_matcher(),
            lag,
            time_lag: seconds.map(Duration::from_secs),
            abandoned_after: None,
        };
        let rules = Rules { rules: vec![rule("b*", Some(10), None), rule("bill*", None, Some(5))], ..Rules::default() };
        let of = |group: &str| rules.of(&Name::new(group));
        assert_eq!(of("other"), Thresholds::default());
        assert_eq!((of("b").lag, of("b").time_lag), (Some(10), Duration::from_secs(60)));
        assert_eq!((of("billing").lag, of("billing").time_lag), (Some(10), Duration::from_secs(5)));
    }
}
