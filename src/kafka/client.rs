//! The one client: a consumer handle that never subscribes and never commits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::KafkaError;
use thiserror::Error;

use crate::model::Name;

/// Properties that keep us read-only and quick to notice a broker that comes or goes; the person's own win, except
/// those in [`FIXED`].
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "lagtop"),
    ("enable.metrics.push", "false"),
    ("topic.metadata.refresh.interval.ms", "5000"),
    ("socket.timeout.ms", "3000"),
    ("socket.connection.setup.timeout.ms", "3000"),
    ("reconnect.backoff.max.ms", "500"),
];

/// Properties that nobody may change, since the promise to be read-only hangs on them. `group.id` is never joined:
/// without one, ListConsumerGroupOffsets can dereference NULL (confluentinc/librdkafka#5040).
const FIXED: &[(&str, &str)] = &[
    ("group.id", "lagtop-never-joined"),
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("allow.auto.create.topics", "false"),
];

#[derive(Debug, Error)]
pub enum ConnectError {
    #[error("property {0} cannot be set: lagtop fixes it to stay read-only")]
    Fixed(String),
    #[error("property {name} is not accepted: {cause}")]
    Property { name: String, cause: Name },
    #[error("the Kafka client cannot start: {0}")]
    Client(Name),
}

/// A connected handle. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pub(super) consumer: Arc<BaseConsumer<Context>>,
    errors: ClientErrors,
}

impl Client {
    /// Creates the handle; connecting happens in the background and its failures come through [`Client::errors`].
    pub fn connect(properties: &BTreeMap<String, String>) -> Result<Self, ConnectError> {
        let mut config = ClientConfig::new();
        for (name, value) in DEFAULTS {
            config.set(*name, *value);
        }
        for (name, value) in properties {
            if FIXED.iter().any(|(fixed, _)| fixed == name) {
                return Err(ConnectError::Fixed(name.clone()));
            }
            config.set(name, value);
        }
        for (name, value) in FIXED {
            config.set(*name, *value);
        }
        // Connections that a broker closes are told in the log alone, at this level.
        let verbose = tracing::enabled!(target: "librdkafka", tracing::Level::DEBUG);
        config.set_log_level(if verbose { RDKafkaLogLevel::Debug } else { RDKafkaLogLevel::Info });
        let errors = ClientErrors::default();
        let consumer = config.create_with_context(Context { errors: errors.clone() }).map_err(|error| match error {
            // The value may be a secret: librdkafka repeats it in some of its texts.
            KafkaError::ClientConfig(_, text, name, value) => {
                let cause = if value.is_empty() { text } else { text.replace(&value, "…") };
                ConnectError::Property { name, cause: Name::from(cause) }
            }
            other => ConnectError::Client(Name::from(other.to_string())),
        })?;
        Ok(Self { consumer: Arc::new(consumer), errors })
    }

    /// What went wrong in the background lately: the only place where failed logins and TLS errors are told.
    pub fn errors(&self) -> &ClientErrors {
        &self.errors
    }

    /// Blocking: `cluster.id`, if a broker answers within `timeout`.
    pub fn cluster_id(&self, timeout: Duration) -> Option<Name> {
        self.consumer.client().fetch_cluster_id(timeout).map(Name::from)
    }
}

/// Version of librdkafka, such as `2.12.1`.
pub fn library_version() -> String {
    rdkafka::util::get_rdkafka_version().1
}

/// Errors of the background connections, newest last.
#[derive(Clone, Default)]
pub struct ClientErrors(Arc<Mutex<VecDeque<Told>>>);

/// An error of a background connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError {
    /// librdkafka's (negative), or the protocol's.
    pub code: i32,
    /// `HOST:PORT/ID: cause`.
    pub text: Name,
    /// Another connection to the same broker failed in the same way. librdkafka tells an error twice and then is silent
    /// for half a minute, so it does not say how often.
    pub again: bool,
}

struct Told {
    at: Instant,
    code: i32,
    text: Name,
    times: usize,
}

/// An error's text without what differs each time: `(after 3ms in state UP, 1 identical error(s) suppressed)`. The state
/// stays.
fn without_time(text: &str) -> String {
    let Some((told, rest)) = text.rsplit_once(" (after ") else { return text.to_owned() };
    let state = rest.split_once(" in state ").map_or("", |(_, state)| state.trim_end_matches(')'));
    let state = state.split(',').next().unwrap_or_default();
    if state.is_empty() { told.to_owned() } else { format!("{told} (in state {state})") }
}

impl ClientErrors {
    /// Returns whether that is news: librdkafka repeats "all brokers are down" many times a second.
    fn push(&self, code: i32, text: &str) -> bool {
        let text = without_time(text);
        let at = Instant::now();
        let mut errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = errors.back_mut().filter(|last| last.code == code && last.text.raw() == text) {
            last.at = at;
            last.times += 1;
            return false;
        }
        errors.push_back(Told { at, code, text: Name::from(text), times: 1 });
        if errors.len() > 50 {
            errors.pop_front();
        }
        true
    }

    /// The newest error no older than `age`; a login or TLS failure wins over mere connection trouble, since it is the
    /// cause of the rest, and anything over "all brokers are down", which names no cause.
    pub fn newest(&self, age: Duration) -> Option<ClientError> {
        let errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = || errors.iter().rev().filter(|told| told.at.elapsed() <= age);
        let login = recent().find(|told| is_login(told.code));
        let cause = || recent().find(|told| told.code != ALL_BROKERS_DOWN);
        let newest = login.or_else(cause).or_else(|| recent().next())?;
        let same = recent().filter(|told| told.code == newest.code && told.text == newest.text);
        let again = same.map(|told| told.times).sum::<usize>() > 1;
        Some(ClientError { code: newest.code, text: newest.text.clone(), again })
    }
}

/// `_TRANSPORT`.
const TRANSPORT: i32 = -195;

/// `_ALL_BROKERS_DOWN`.
const ALL_BROKERS_DOWN: i32 = -187;

/// Whether this code of librdkafka means a failed login or TLS handshake: `_SSL`, `_AUTHENTICATION`, or the protocol's
/// own SASL_AUTHENTICATION_FAILED.
pub fn is_login(code: i32) -> bool {
    matches!(code, -181 | -169 | 58)
}

/// Callbacks of librdkafka: its log goes to `tracing`, never to the terminal.
pub struct Context {
    errors: ClientErrors,
}

impl ConsumerContext for Context {}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        if facility == "FAIL" && (level as i32) > RDKafkaLogLevel::Error as i32 {
            // "[thrd:NAME]: NAME: cause"; what is an error or worse comes through `error`, with its code.
            let text =
                message.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map_or(message, |(_, text)| text);
            self.errors.push(TRANSPORT, text);
        }
        let message = Name::new(message);
        match level {
            RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical | RDKafkaLogLevel::Error => {
                tracing::error!(target: "librdkafka", "{facility}: {message}");
            }
            RDKafkaLogLevel::Warning => tracing::warn!(target: "librdkafka", "{facility}: {message}"),
            RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info => {
                tracing::info!(target: "librdkafka", "{facility}: {message}");
            }
            RDKafkaLogLevel::Debug => tracing::debug!(target: "librdkafka", "{facility}: {message}"),
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let code = error.rdkafka_error_code().map_or(0, |code| code as i32);
        if self.errors.push(code, reason) {
            tracing::warn!(target: "librdkafka", "error {code}: {}", Name::new(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_cause_wins_over_its_consequences() {
        let errors = ClientErrors::default();
        let newest = || errors.newest(Duration::from_secs(60)).map(|newest| newest.code);
        assert_eq!(newest(), None);
        errors.push(ALL_BROKERS_DOWN, "1/1 brokers are down");
        assert_eq!(newest(), Some(ALL_BROKERS_DOWN));
        errors.push(-195, "Connection refused");
        errors.push(ALL_BROKERS_DOWN, "1/1 brokers are down");
        assert_eq!(newest(), Some(-195));
        assert!((0..100).all(|_| !errors.push(ALL_BROKERS_DOWN, "1/1 brokers are down")));
        assert_eq!(newest(), Some(-195));
        let newest_again = || errors.newest(Duration::from_secs(60)).is_some_and(|newest| newest.again);
        errors.push(-195, "h:1/1: Disconnected (after 3ms in state UP)");
        assert!(!newest_again());
        errors.push(ALL_BROKERS_DOWN, "1/1 brokers are down");
        errors.push(-195, "h:1/1: Disconnected (after 25ms in state UP, 1 identical error(s) suppressed)");
        assert!(newest_again());
        errors.push(-195, "h:1/1: Disconnected (after 2ms in state SSL_HANDSHAKE)");
        assert!(!newest_again(), "another way");
        errors.push(-169, "Authentication failed");
        errors.push(-195, "Disconnected");
        assert_eq!(newest(), Some(-169));
    }
}
