//! Orders: what the parent tells a collector on its stdin, one JSON object a line. The first is the settings, so that
//! no secret is ever on a command line or in the environment. End of input means stop.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::Name;

/// One order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Must be the first order, and comes once.
    Settings(Settings),
    /// New poll interval in milliseconds; 0 switches the timer off (then only `PollNow` polls).
    Interval(u64),
    /// The groups on screen: polled at every interval, the others in slices. `None`: all are alike.
    OnScreen(Option<Vec<Name>>),
    PollNow,
    Stop,
}

/// What a collector is to observe, and how to reach it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// librdkafka properties, `bootstrap.servers` among them. May hold secrets.
    pub properties: BTreeMap<String, String>,
    /// Globs of group ids to watch; empty: all.
    pub groups: Vec<String>,
    /// Globs of group ids to leave out; wins over `groups`.
    pub exclude_groups: Vec<String>,
    /// Globs of topics whose partitions count; empty: all.
    pub topics: Vec<String>,
    /// Topics that are told of although no selected group may read them.
    pub named_topics: Vec<Name>,
    /// Poll interval in milliseconds; 0: the timer is off.
    pub interval_ms: u64,
    /// Whether the coordinator log is read, and how far back.
    pub log: LogMode,
    pub history: History,
    pub isolation: Isolation,
    /// Read one record at each commit that has lag, once: the exact time lag.
    pub probe_time: bool,
    /// Where the collector before this one was in the coordinator log: by partition, the next offset to read. Reading
    /// begins there at the latest.
    pub resume: BTreeMap<i32, i64>,
}

/// `isolation.level` of the consumers that are watched: no API tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// They read to the high watermark.
    #[default]
    ReadUncommitted,
    /// They read to the last stable offset.
    ReadCommitted,
}

/// Whether `__consumer_offsets` is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogMode {
    /// Where the rights allow it.
    #[default]
    Auto,
    /// Admin calls alone.
    Off,
    /// Without it there is nothing to show.
    Require,
}

/// How far back a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    All,
    /// Milliseconds before now.
    Last(u64),
}

impl Default for History {
    fn default() -> Self {
        Self::Last(6 * 3600 * 1000)
    }
}

/// Properties may hold secrets: only their names are shown.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("properties", &self.properties.keys().collect::<Vec<_>>())
            .field("groups", &self.groups)
            .field("exclude_groups", &self.exclude_groups)
            .field("topics", &self.topics)
            .field("named_topics", &self.named_topics)
            .field("interval_ms", &self.interval_ms)
            .field("log", &self.log)
            .field("history", &self.history)
            .field("isolation", &self.isolation)
            .field("probe_time", &self.probe_time)
            .field("resume", &self.resume)
            .finish()
    }
}

impl Settings {
    /// What the person calls the cluster.
    pub fn cluster(&self) -> &str {
        self.properties.get("bootstrap.servers").map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_value() {
        let properties = BTreeMap::from([("sasl.password".to_owned(), "hunter2".to_owned())]);
        let resume = BTreeMap::from([(3, 7)]);
        let order = Order::Settings(Settings { properties, resume, ..Settings::default() });
        let shown = format!("{order:?}");
        assert!(shown.contains("sasl.password") && !shown.contains("hunter2"), "{shown}");
        let line = serde_json::to_string(&order).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Order>(&line).unwrap(), order);
    }
}
