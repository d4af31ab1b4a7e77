//! Arguments as meant: librdkafka properties with their secrets read, and how a collector is started.

use std::collections::BTreeMap;
use std::time::Duration;

use thiserror::Error;

use super::args::{AssumeReset, Cluster, CoordinatorLog, Isolation, Judging, Planning, Watch};
use super::config::Property;
use crate::collector::{PatternError, Selection};
use crate::frame::order::{self, LogMode, Settings};
use crate::health::{Rules, Thresholds};
use crate::model::millis;
use crate::model::name::safe;
use crate::monitor::{Preferences, Reset};
use crate::source::live::Launch;

/// What is wrong with the input, and the remedy: exit code 2.
#[derive(Debug, Error)]
pub enum UsageError {
    #[error("no cluster given: use --bootstrap-server HOST:PORT (or look at `lagtop demo`)")]
    NoCluster,
    #[error("bad bootstrap server \"{0}\": write HOST:PORT, several with commas")]
    Bootstrap(String),
    #[error("bad property \"{0}\": write KEY=VALUE, KEY=@FILE or KEY=env:NAME")]
    Property(String),
    #[error("property {key}: the file {file} cannot be read: {cause}")]
    PropertyFile { key: String, file: String, cause: std::io::Error },
    #[error("property {key}: the environment variable {variable} is not set")]
    PropertyVariable { key: String, variable: String },
    #[error("--collector \"{0}\" is not a command: a quote is not closed")]
    Collector(String),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("{0}")]
    Other(String),
}

/// Settings of a collector, and the environment variables that their secrets came from.
pub fn settings(cluster: &Cluster, watch: &Watch, interval: Duration) -> Result<(Settings, Vec<String>), UsageError> {
    let mut hide = Vec::new();
    let mut properties = BTreeMap::new();
    for typed in &cluster.properties {
        let (key, value) = property(typed, &mut hide)?;
        properties.insert(key, value);
    }
    for Property { key, value, place, .. } in &cluster.configured.0 {
        // What was typed instead is not read.
        if !properties.contains_key(key) {
            let value =
                value_of(key, value, &mut hide).map_err(|error| UsageError::Other(format!("{place}: {error}")))?;
            properties.insert(key.clone(), value);
        }
    }
    if let Some(servers) = &cluster.bootstrap_server {
        properties.insert("bootstrap.servers".to_owned(), servers.clone());
    }
    let servers = properties.get("bootstrap.servers").ok_or(UsageError::NoCluster)?;
    check_servers(servers)?;
    let settings = Settings {
        properties,
        groups: watch.groups.clone(),
        exclude_groups: watch.exclude_groups.clone(),
        topics: watch.topics.clone(),
        named_topics: Vec::new(),
        interval_ms: millis(interval),
        log: match watch.coordinator_log {
            CoordinatorLog::Auto => LogMode::Auto,
            CoordinatorLog::Off => LogMode::Off,
            CoordinatorLog::Require => LogMode::Require,
        },
        history: watch.log_history.unwrap_or_default(),
        isolation: match watch.isolation {
            Isolation::ReadUncommitted => order::Isolation::ReadUncommitted,
            Isolation::ReadCommitted => order::Isolation::ReadCommitted,
        },
        probe_time: false,
        resume: BTreeMap::new(),
    };
    watch.selection()?;
    Ok((settings, hide))
}

impl Watch {
    /// The groups and topics that were asked for.
    pub fn selection(&self) -> Result<Selection, PatternError> {
        Selection::new(&Settings {
            groups: self.groups.clone(),
            exclude_groups: self.exclude_groups.clone(),
            topics: self.topics.clone(),
            ..Settings::default()
        })
    }
}

/// How to start a collector for these arguments. `interval` zero: polls only when told to.
pub fn launch(cluster: &Cluster, watch: &Watch, interval: Duration) -> Result<Launch, UsageError> {
    let (settings, hide) = settings(cluster, watch, interval)?;
    let mut command = if let Some(typed) = &cluster.collector {
        let words = shlex::split(typed).filter(|words| !words.is_empty());
        words.ok_or_else(|| UsageError::Collector(safe(typed).into_owned()))?
    } else {
        let own = std::env::current_exe();
        let own = own.map_err(|error| UsageError::Other(format!("lagtop cannot find its own program: {error}")))?;
        vec![own.to_string_lossy().into_owned()]
    };
    command.extend(["collect".to_owned(), "--orders".to_owned()]);
    Ok(Launch { command, hide, settings })
}

/// How what is seen is judged.
pub fn preferences(planning: Planning, judging: &Judging) -> Preferences {
    let reset = match planning.assume_reset {
        AssumeReset::Latest => Reset::Latest,
        AssumeReset::Earliest => Reset::Earliest,
    };
    let default = Thresholds { lag: judging.lag, time_lag: judging.time_lag, ..judging.rules.default };
    Preferences {
        reset,
        assignor: planning.plan_assignor,
        storm: planning.storm,
        thresholds: Rules { default, rules: judging.rules.rules.clone() },
        keep: judging.keep,
    }
}

fn property(typed: &str, hide: &mut Vec<String>) -> Result<(String, String), UsageError> {
    // What follows the first = may be a secret: it is not repeated in an error.
    let shown = |typed: &str| safe(typed.split('=').next().unwrap_or_default()).into_owned();
    let (key, value) = typed.split_once('=').ok_or_else(|| UsageError::Property(shown(typed)))?;
    let key = key.trim().to_owned();
    if key.is_empty() {
        return Err(UsageError::Property("=…".to_owned()));
    }
    let value = value_of(&key, value, hide)?;
    Ok((key, value))
}

/// A property's value: as it stands there, of a file, or of a variable, whose name goes to `hide`.
fn value_of(key: &str, value: &str, hide: &mut Vec<String>) -> Result<String, UsageError> {
    Ok(if let Some(file) = value.strip_prefix('@') {
        let text = std::fs::read_to_string(file).map_err(|cause| UsageError::PropertyFile {
            key: key.to_owned(),
            file: safe(file).into_owned(),
            cause,
        })?;
        // An editor ends the last line of a file.
        text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line)).to_owned()
    } else if let Some(variable) = value.strip_prefix("env:") {
        let secret = std::env::var(variable)
            .map_err(|_| UsageError::PropertyVariable { key: key.to_owned(), variable: safe(variable).into_owned() })?;
        hide.push(variable.to_owned());
        secret
    } else {
        value.to_owned()
    })
}

/// Whether these are brokers' addresses.
pub fn check_servers(servers: &str) -> Result<(), UsageError> {
    let bad = |server: &str| UsageError::Bootstrap(safe(server).into_owned());
    for server in servers.split(',') {
        let server = server.trim();
        let address = server.rsplit_once("://").map_or(server, |(_, address)| address);
        let (host, port) = match address.rsplit_once(':') {
            // An IPv6 address in brackets may stand without a port.
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (address, None),
        };
        let bad_port = port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0));
        if host.is_empty() || bad_port || host.contains(char::is_whitespace) {
            return Err(bad(server));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn cluster(properties: &[&str]) -> Cluster {
        Cluster {
            bootstrap_server: Some("localhost:9092".into()),
            properties: properties.iter().map(ToString::to_string).collect(),
            ..Cluster::default()
        }
    }

    fn read(properties: &[&str]) -> Result<Settings, UsageError> {
        settings(&cluster(properties), &Watch::default(), Duration::from_secs(2)).map(|(settings, _)| settings)
    }

    #[test]
    fn properties_come_from_text_file_and_environment() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "a,b\"c;d=e\\").unwrap();
        let typed = format!("sasl.password=@{}", file.path().display());
        let read = read(&[&typed, "ssl.ca.location=/ca.pem", "x=a=b", "home=env:PATH"]).unwrap().properties;
        assert_eq!(read["sasl.password"], "a,b\"c;d=e\\");
        assert_eq!(read["x"], "a=b");
        assert_eq!(read["home"], std::env::var("PATH").unwrap());
        let (_, hide) = settings(&cluster(&["home=env:PATH"]), &Watch::default(), Duration::ZERO).unwrap();
        assert_eq!(hide, ["PATH"]);
    }

    #[test]
    fn bad_input_is_named_and_secrets_are_not_repeated() {
        for (typed, named) in [
            ("nonsense", "bad property \"nonsense\""),
            ("=hunter2", "bad property"),
            ("sasl.password=@/no/such/file", "the file /no/such/file cannot be read"),
            ("sasl.password=env:LAGTOP_NO_SUCH", "LAGTOP_NO_SUCH is not set"),
        ] {
            let error = read(&[typed]).unwrap_err().to_string();
            assert!(error.contains(named) && !error.contains("hunter2"), "{error}");
        }
        for servers in ["", "host:port", "host:0", "host:70000", ":9092", "a b:1", "one:1,,two:2"] {
            assert!(matches!(check_servers(servers), Err(UsageError::Bootstrap(_))), "{servers}");
        }
        for servers in ["host", "host:9092", "PLAINTEXT://host:9092", "[::1]:9092", "[::1]", "a:1,b:2"] {
            assert!(check_servers(servers).is_ok(), "{servers}");
        }
        let nowhere = settings(&Cluster::default(), &Watch::default(), Duration::ZERO);
        assert!(matches!(nowhere, Err(UsageError::NoCluster)));
    }
}
