//! The cluster and its brokers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{At, Name};

/// The cluster as clients see it: a broker that is down is not in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cluster {
    pub observed_at: At,
    /// `cluster.id`; unknown while no broker has answered.
    pub id: Option<Name>,
    /// Broker id of the (active) controller as clients see it.
    pub controller: Option<i32>,
    pub brokers: BTreeMap<i32, Broker>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Broker {
    pub host: Name,
    pub port: u16,
    /// `broker.rack`.
    pub rack: Option<Name>,
    /// The rack was not asked since the broker was seen to come up: whatever `rack` says may be old.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rack_pending: bool,
}
