//! From a failed call to a problem in plain words: what is missing, why, and which right or act would help.

use std::collections::BTreeMap;

use crate::kafka::{CallError, ClientError, is_login};
use crate::model::{At, Name, Problem, Scope};

/// The problems as of now, by what they are about. A fact that can be had again clears its problem.
#[derive(Debug, Default)]
pub struct Problems {
    known: BTreeMap<(Scope, &'static str), Problem>,
    changed: bool,
}

impl Problems {
    /// `missing` could not be had; a problem that lasts keeps its `since`.
    pub fn failed(&mut self, scope: Scope, missing: &'static str, error: &CallError, now: At) {
        let cause = explain(&scope, error);
        self.set(scope, missing, cause, now);
    }

    pub fn set(&mut self, scope: Scope, missing: &'static str, cause: Cause, now: At) {
        let key = (scope.clone(), missing);
        let since = self.known.get(&key).map_or(now, |known| known.since);
        let Cause { text, remedy, lasting } = cause;
        let problem = Problem { scope, missing: missing.to_owned(), cause: text, remedy, lasting, since };
        if self.known.get(&key) != Some(&problem) {
            self.changed = true;
            self.known.insert(key, problem);
        }
    }

    /// The fact could be had.
    pub fn cleared(&mut self, scope: Scope, missing: &'static str) {
        self.changed |= self.known.remove(&(scope, missing)).is_some();
    }

    /// Nothing about this group or topic is asked any more.
    pub fn forget(&mut self, scope: &Scope) {
        let before = self.known.len();
        self.known.retain(|(known, _), _| known != scope);
        self.changed |= self.known.len() != before;
    }

    /// Whether anything misses this.
    pub fn any(&self, missing: &str) -> bool {
        self.known.keys().any(|(_, known)| *known == missing)
    }

    pub fn all(&self) -> Vec<Problem> {
        self.known.values().cloned().collect()
    }

    /// All problems, if they changed since the last call.
    pub fn take_changed(&mut self) -> Option<Vec<Problem>> {
        std::mem::take(&mut self.changed).then(|| self.all())
    }
}

/// Why a fact could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub text: Name,
    /// The right or the act that would help.
    pub remedy: Option<String>,
    /// Trying again is pointless until somebody changes something.
    pub lasting: bool,
}

/// Whether trying again soon is pointless: a right is missing. Such calls are repeated slowly, since brokers log each
/// denial (redpanda-data/kminion#138).
pub fn is_denied(error: &CallError) -> bool {
    matches!(error.code(), Some(29..=31))
}

/// What is missing when no broker can be talked to.
pub const CONNECTION: &str = "connection";

/// What a background error of the client means, with the act that would help. Its text is librdkafka's:
/// `HOST:PORT/ID: cause (in state UP)`.
///
/// It lasts if a login or a TLS handshake is refused, or what answers is no Kafka; also if the connection was closed at
/// the same early step twice, as happens where one side speaks TLS or SASL and the other does not. A broker that is going
/// down closes connections, too, but then takes no new ones.
pub fn of_connection(error: &ClientError) -> Cause {
    let raw = error.text.raw();
    let has = |part: &str| raw.contains(part);
    let told = raw.rsplit_once(" (in state ").map_or(raw, |(told, _)| told).replacen("/bootstrap: ", ": ", 1);
    let who = told.split_once(": ").map_or("", |(who, _)| who);
    let closed = has("Disconnected");
    let foreign = has("Invalid response size");
    let (text, remedy) = match error.code {
        -169 | 58 => (None, Some("authentication failed: check sasl.mechanism, sasl.username and sasl.password")),
        // librdkafka's own words know the authority alone (OpenSSL does not tell it which of the two).
        -181 if has("certificate verify failed") => {
            let text = format!(
                "{who}: the broker's certificate cannot be verified: it is for another name, or no authority in \
                 ssl.ca.location has signed it"
            );
            let act = "TLS failed: connect by a name in the broker's certificate, or check ssl.ca.location";
            (Some(text), Some(act))
        }
        -181 => {
            let act = "TLS failed: check security.protocol, ssl.ca.location and the name in the broker's certificate";
            (None, Some(act))
        }
        -193 => (None, Some("check the host name in the bootstrap servers")),
        _ if has("SSL handshake failed") || has("SSL_HANDSHAKE") => {
            (None, Some("TLS failed: check security.protocol; it may be a plaintext port"))
        }
        _ if has("Connection refused") => (None, Some("nothing listens there: check host and port")),
        _ if foreign => {
            let text = format!("{who}: what answers there does not speak Kafka, or wants TLS");
            (Some(text), Some("check host, port and security.protocol"))
        }
        // librdkafka blames a broker of before 0.10, which nobody runs.
        _ if has("ApiVersionRequest failed") => {
            let text = format!("{who}: it took the connection and does not answer");
            (Some(text), Some("the broker hangs or is overloaded, or that is no Kafka port"))
        }
        _ if closed && has("APIVERSION_QUERY") => {
            let text = format!("{who}: closed the connection at the first request");
            (Some(text), Some("check security.protocol: it may want TLS, or is no Kafka port"))
        }
        _ if closed && has("in state UP") => (
            Some(format!("{who}: closed the connection")),
            Some("if this lasts, check security.protocol: it may want SASL"),
        ),
        _ if has("security.protocol") => (None, Some("check security.protocol: TLS and plaintext ports differ")),
        _ => (None, None),
    };
    let text = Name::from(text.unwrap_or(told));
    let lasting = is_login(error.code) || foreign || (closed && error.again);
    Cause { text, remedy: remedy.map(str::to_owned), lasting }
}

/// The cause in plain words, and the right or act that would help.
pub fn explain(scope: &Scope, error: &CallError) -> Cause {
    let as_told = || Cause { text: Name::new(error.to_string()), remedy: None, lasting: false };
    let Some(code) = error.code() else { return as_told() };
    let named = |right: &str| match scope {
        Scope::Topic(name) | Scope::Partition(name, _) => Some(format!("needs {right} on topic {name}")),
        Scope::Group(name) => Some(format!("needs {right} on group {name}")),
        Scope::Cluster | Scope::Broker(_) => Some(format!("needs {right} on the cluster")),
    };
    let (cause, remedy) = match code {
        14 => ("the coordinator is loading the group", None),
        15 | 16 => ("the group's coordinator is not available or has moved", None),
        29 => ("not authorized to describe the topic", named("DESCRIBE")),
        30 => ("not authorized to describe the group", named("DESCRIBE")),
        31 => ("not authorized on the cluster", named("DESCRIBE")),
        3 | 5 | 6 | -188 => ("the partition has no leader, or it has just moved", None),
        -193 => ("the host name cannot be resolved", Some("check the bootstrap server's name".to_owned())),
        -195 | -187 => ("no connection to the broker", None),
        _ => return as_told(),
    };
    Cause { text: Name::new(cause), remedy, lasting: is_denied(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: i32) -> CallError {
        CallError::Code { code, text: Name::new("Broker: text") }
    }

    fn error(code: i32, text: &str, again: bool) -> ClientError {
        ClientError { code, text: Name::new(text), again }
    }

    #[test]
    fn a_problem_keeps_its_since_and_is_told_once() {
        let mut problems = Problems::default();
        let scope = Scope::Group(Name::new("g"));
        problems.failed(scope.clone(), "commits", &code(30), At(5));
        let told = problems.take_changed().unwrap();
        assert_eq!(
            told[0].to_string(),
            "group g: no commits: not authorized to describe the group (needs DESCRIBE on group g)"
        );
        problems.failed(scope.clone(), "commits", &code(30), At(9));
        assert_eq!(problems.take_changed(), None);
        assert_eq!(problems.all()[0].since, At(5));
        problems.cleared(scope, "commits");
        assert_eq!(problems.take_changed(), Some(Vec::new()));
    }

    #[test]
    fn causes_of_the_client_lose_their_noise() {
        let cause = |code, text: &str| {
            let cause = of_connection(&error(code, text, false));
            (cause.text.raw().to_owned(), cause.remedy.unwrap_or_default())
        };
        let (text, act) =
            cause(-195, "h:1/bootstrap: Connect to ipv4#1.2.3.4:1 failed: Connection refused (in state CONNECT)");
        assert_eq!(text, "h:1: Connect to ipv4#1.2.3.4:1 failed: Connection refused");
        assert!(act.contains("check host and port"), "{act}");
        let (text, _) =
            cause(-199, "h:1/bootstrap: Receive failed: Invalid response size 1213486160 (0..100000000): increase x");
        assert_eq!(text, "h:1: what answers there does not speak Kafka, or wants TLS");
        let hangs = "h:1/2: ApiVersionRequest failed: Local: Timed out: probably due to broker version < 0.10 (see x)";
        assert_eq!(cause(-195, hangs).0, "h:1/2: it took the connection and does not answer");
        let (_, act) = cause(-195, "h:1/2: Disconnected: by peer (in state APIVERSION_QUERY)");
        assert!(act.contains("security.protocol"), "{act}");
        assert_eq!(cause(-187, "1/1 brokers are down"), ("1/1 brokers are down".into(), String::new()));
    }

    #[test]
    fn unknown_codes_show_the_brokers_text() {
        let cause = explain(&Scope::Cluster, &code(77));
        assert_eq!(cause, Cause { text: Name::new("Broker: text (77)"), remedy: None, lasting: false });
    }

    #[test]
    fn what_only_a_person_can_change_lasts() {
        assert!(explain(&Scope::Cluster, &code(31)).lasting && !explain(&Scope::Cluster, &code(14)).lasting);
        let lasts = |code, text, again| of_connection(&error(code, text, again)).lasting;
        assert!(lasts(-169, "text", false) && lasts(-181, "text", false));
        assert!(!lasts(-195, "text", true));
        let closed = "h:1/bootstrap: Disconnected (in state SSL_HANDSHAKE)";
        assert!(!lasts(-195, closed, false) && lasts(-195, closed, true));
        assert!(lasts(-199, "h:1: Receive failed: Invalid response size 1213486160", false));
    }
}
