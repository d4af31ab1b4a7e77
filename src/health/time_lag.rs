//! How long a consumer is behind, in time.

use std::fmt;
use std::time::Duration;

use crate::model::figures::duration;

/// Time since the first record was written that the group has not committed past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeLag {
    /// There is no lag.
    None,
    /// It is known within `error`, the time between the two samples of the log's end around it.
    Known { time: Duration, error: Duration },
    /// The record is older than what was watched, or was written while nobody looked: more than that.
    MoreThan(Duration),
    /// Nothing was watched yet, or the commit is not known.
    #[default]
    Unknown,
}

impl TimeLag {
    /// The known part of it.
    pub fn at_least(self) -> Option<Duration> {
        match self {
            Self::None => Some(Duration::ZERO),
            Self::Known { time, .. } | Self::MoreThan(time) => Some(time),
            Self::Unknown => None,
        }
    }

    /// `for 12m`, `for more than 12m`; `None`: there is nothing to tell.
    pub fn lasting(self) -> Option<String> {
        match self {
            Self::Known { time, .. } => Some(format!("for {}", duration(time))),
            Self::MoreThan(time) => Some(format!("for more than {}", duration(time))),
            Self::None | Self::Unknown => None,
        }
    }

    /// The longest; of equals one that may be more. Unknown ones count for nothing, unless all are.
    pub fn longest(all: impl IntoIterator<Item = Self>) -> Self {
        let open = |lag: &Self| (lag.at_least(), matches!(lag, Self::MoreThan(_)));
        all.into_iter().max_by_key(open).unwrap_or_default()
    }
}

impl fmt::Display for TimeLag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("0s"),
            Self::Known { time, .. } => f.write_str(&duration(*time)),
            Self::MoreThan(time) => write!(f, "> {}", duration(*time)),
            Self::Unknown => f.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_the_groups() {
        let known = |seconds| TimeLag::Known { time: Duration::from_secs(seconds), error: Duration::ZERO };
        let more = |seconds| TimeLag::MoreThan(Duration::from_secs(seconds));
        assert_eq!(TimeLag::longest([TimeLag::None, known(5), TimeLag::Unknown, more(5), known(4)]), more(5));
        assert_eq!(TimeLag::longest([TimeLag::Unknown, TimeLag::None]), TimeLag::None);
        assert_eq!(TimeLag::longest([]), TimeLag::Unknown);
        assert_eq!(
            [TimeLag::None, known(130), more(3), TimeLag::Unknown].map(|lag| lag.to_string()),
            ["0s", "2m10s", "> 3.0s", "?"]
        );
    }
}
