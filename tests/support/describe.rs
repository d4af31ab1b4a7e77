//! What the Java admin client says of groups, in exact figures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::json;

use super::tool::Tool;

/// `(topic, partition)`, or `(subtopology, partition)` for a task.
pub type Partition = (String, i32);

/// A group as listed.
#[derive(Debug, Clone, Deserialize)]
pub struct GroupListing {
    pub group: String,
    /// `Classic`, `Consumer`, `Share`, `Streams`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// `consumer`, `share`, `streams`, `connect`, or empty.
    pub protocol_type: String,
    pub state: Option<String>,
}

/// A group as described; what its kind does not have is `None` or empty.
#[derive(Debug, Clone, Deserialize)]
pub struct GroupDescription {
    pub group: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub protocol_type: String,
    pub state: String,
    pub assignor: Option<String>,
    pub simple: Option<bool>,
    /// Broker id.
    pub coordinator: i32,
    pub epoch: Option<i32>,
    pub assignment_epoch: Option<i32>,
    pub topology_epoch: Option<i32>,
    pub members: Vec<MemberDescription>,
}

/// A member as described.
#[derive(Debug, Clone, Deserialize)]
pub struct MemberDescription {
    pub id: String,
    pub client_id: String,
    pub host: String,
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub epoch: Option<i32>,
    /// KIP-848 groups: whether it uses the new protocol.
    pub upgraded: Option<bool>,
    pub topology_epoch: Option<i32>,
    #[serde(default)]
    pub assignment: Vec<Partition>,
    pub target: Option<Vec<Partition>>,
    /// Streams members: `active`, `standby`, `warmup`.
    pub tasks: Option<BTreeMap<String, Vec<Partition>>>,
    pub target_tasks: Option<BTreeMap<String, Vec<Partition>>>,
}

/// A commit with the ends of its partition.
#[derive(Debug, Clone, Deserialize)]
pub struct Commit {
    pub topic: String,
    pub partition: i32,
    /// Share groups: the start offset.
    pub offset: i64,
    #[serde(default)]
    pub metadata: String,
    /// Share groups: the broker's figure.
    pub lag: Option<i64>,
    /// `None`: the partition is gone, or cannot be asked.
    pub start: Option<i64>,
    pub end: Option<i64>,
}

impl GroupDescription {
    /// All partitions that somebody owns.
    pub fn owned(&self) -> BTreeSet<Partition> {
        self.members.iter().flat_map(|member| member.assignment.iter().cloned()).collect()
    }

    /// The member with this client id.
    #[track_caller]
    pub fn member(&self, client_id: &str) -> &MemberDescription {
        let found = self.members.iter().find(|member| member.client_id == client_id);
        found.unwrap_or_else(|| panic!("no member {client_id} in {self:?}"))
    }

    /// Whether the group has n members and nobody has anything left to do.
    pub(super) fn settled(&self, n: usize) -> Result<(), String> {
        let wanted = if n == 0 { "Empty" } else { "Stable" };
        let epochs = self.epoch == self.assignment_epoch;
        let members = self.members.iter().all(|member| {
            member.epoch == self.epoch
                && member.target.as_ref().is_none_or(|target| *target == member.assignment)
                && member.tasks == member.target_tasks
        });
        let tasks = self.kind != "Streams"
            || n == 0
            || self.members.iter().flat_map(|m| &m.tasks).any(|tasks| !tasks["active"].is_empty());
        // A classic group has no epochs, and neither have its members.
        if self.state == wanted && self.members.len() == n && (n == 0 || epochs && members && tasks) {
            Ok(())
        } else {
            Err(format!("{self:?}"))
        }
    }
}

impl Tool {
    /// Every group.
    pub fn groups(&self) -> Vec<GroupListing> {
        serde_json::from_value(self.call("groups", json!({}))).expect("groups")
    }

    /// A group; panics if there is none.
    #[track_caller]
    pub fn describe(&self, group: &str) -> GroupDescription {
        match self.try_describe(group) {
            Ok(Some(description)) => description,
            other => panic!("describe {group}: {other:?}"),
        }
    }

    /// A group, if there is one.
    pub fn try_describe(&self, group: &str) -> Result<Option<GroupDescription>, String> {
        let value = self.try_call("describe", json!({"group": group}))?;
        serde_json::from_value(value).map_err(|e| e.to_string())
    }

    /// A group's commits; `kind` is `Classic`, `Consumer`, `Share` or `Streams`.
    pub fn commits(&self, group: &str, kind: &str) -> Vec<Commit> {
        let value = self.call("commits", json!({"group": group, "type": kind}));
        serde_json::from_value(value).expect("commits")
    }
}
