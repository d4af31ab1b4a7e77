//! The cluster and its brokers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{At, GroupKind, Name};

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
    pub group_defaults: GroupDefaults,
}

/// What a broker's configuration says of groups that have no configuration of their own, in milliseconds; `None`: not
/// known (no right, or an older broker). A group's own (KIP-848, `GroupConfig`) is not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupDefaults {
    /// `group.consumer.session.timeout.ms`.
    pub consumer_session_timeout_ms: Option<i32>,
    /// `group.share.session.timeout.ms`.
    pub share_session_timeout_ms: Option<i32>,
    /// `group.streams.session.timeout.ms`.
    pub streams_session_timeout_ms: Option<i32>,
}

impl GroupDefaults {
    /// Session timeout of a group of this kind, in milliseconds; `None`: not known, or the members choose it themselves
    /// (classic).
    pub fn session_timeout_ms(&self, kind: &GroupKind) -> Option<i32> {
        match kind {
            GroupKind::Consumer => self.consumer_session_timeout_ms,
            GroupKind::Share => self.share_session_timeout_ms,
            GroupKind::Streams => self.streams_session_timeout_ms,
            _ => None,
        }
    }
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
