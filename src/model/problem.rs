//! Problems: facts that could not be had.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{At, Name};

/// A fact that could not be had, and what would help. Problems are data: nothing else is lost with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub scope: Scope,
    /// What is missing: "describe", "commits", "end offsets", …
    pub missing: String,
    /// The cause in plain words; may contain a broker's text.
    pub cause: Name,
    /// The right or the act that would help.
    #[serde(default)]
    pub remedy: Option<String>,
    /// It will not pass by itself: a right is missing, a login or a TLS handshake is refused.
    #[serde(default)]
    pub lasting: bool,
    pub since: At,
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Cluster,
    Broker(i32),
    Group(Name),
    Topic(Name),
    Partition(Name, i32),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => f.write_str("cluster"),
            Self::Broker(id) => write!(f, "broker {id}"),
            Self::Group(name) => write!(f, "group {name}"),
            Self::Topic(name) => write!(f, "topic {name}"),
            Self::Partition(name, partition) => write!(f, "partition {name}-{partition}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no {}: {}", self.scope, self.missing, self.cause)?;
        match &self.remedy {
            Some(remedy) => write!(f, " ({remedy})"),
            None => Ok(()),
        }
    }
}
