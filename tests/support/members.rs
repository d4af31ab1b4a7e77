//! Members of groups of every kind.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    admin::Offset,
    describe::GroupDescription,
    tool::Tool,
    wait::{DEADLINE, wait_until},
};

/// How the members of a group are to be. In `client_id`, `instance` and `rack` a `{}` stands for the member's number.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    group: String,
    kind: String,
    topics: Vec<String>,
    pattern: Option<String>,
    config: BTreeMap<String, String>,
    commit_after_poll: bool,
    poll_delay: Duration,
    stateful: bool,
}

impl GroupSpec {
    fn new(group: &str, kind: &str) -> Self {
        let spec = Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            topics: Vec::new(),
            pattern: None,
            config: BTreeMap::new(),
            commit_after_poll: false,
            poll_delay: Duration::ZERO,
            stateful: false,
        };
        spec.client_id(&format!("{group}-{{}}"))
    }

    /// The classic protocol; the assignor is `range`, `roundrobin`, `sticky`, `cooperative-sticky` or several of
    /// them with commas.
    pub fn classic(group: &str, assignors: &str) -> Self {
        let classes = assignors.split(',').map(|assignor| match assignor {
            "range" => "org.apache.kafka.clients.consumer.RangeAssignor",
            "roundrobin" => "org.apache.kafka.clients.consumer.RoundRobinAssignor",
            "sticky" => "org.apache.kafka.clients.consumer.StickyAssignor",
            "cooperative-sticky" => "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
            class => class,
        });
        let classes: Vec<_> = classes.collect();
        Self::new(group, "consumer")
            .config("group.protocol", "classic")
            .config("partition.assignment.strategy", &classes.join(","))
            .session_timeout(Duration::from_secs(6))
    }

    /// The KIP-848 protocol.
    pub fn consumer(group: &str) -> Self {
        Self::new(group, "consumer").config("group.protocol", "consumer")
    }

    /// A share group.
    pub fn share(group: &str) -> Self {
        Self::new(group, "share")
    }

    /// A streams group (KIP-1071).
    pub fn streams(group: &str) -> Self {
        Self::new(group, "streams")
    }

    /// A classic group of another protocol type: `connect`, `sr`.
    pub fn other(group: &str, protocol_type: &str) -> Self {
        Self::new(group, protocol_type).session_timeout(Duration::from_secs(6))
    }

    /// Any client property.
    #[must_use]
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(key.to_owned(), value.to_owned());
        self
    }

    /// What they subscribe to.
    #[must_use]
    pub fn topics(mut self, topics: &[&str]) -> Self {
        self.topics = topics.iter().map(|&topic| topic.to_owned()).collect();
        self
    }

    /// What they subscribe to, as a regular expression.
    #[must_use]
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.pattern = Some(pattern.to_owned());
        self
    }

    /// client.id (default: the group's name, a hyphen, the number). Java trims control characters at its ends.
    #[must_use]
    pub fn client_id(self, id: &str) -> Self {
        self.config("client.id", id)
    }

    /// group.instance.id: static members.
    #[must_use]
    pub fn instance(self, id: &str) -> Self {
        self.config("group.instance.id", id)
    }

    /// client.rack.
    #[must_use]
    pub fn rack(self, rack: &str) -> Self {
        self.config("client.rack", rack)
    }

    /// group.remote.assignor of the KIP-848 protocol: `uniform` or `range`.
    #[must_use]
    pub fn remote_assignor(self, name: &str) -> Self {
        self.config("group.remote.assignor", name)
    }

    /// session.timeout.ms of the classic protocol (6 s).
    #[must_use]
    pub fn session_timeout(self, timeout: Duration) -> Self {
        self.config("session.timeout.ms", &timeout.as_millis().to_string())
    }

    /// max.poll.interval.ms.
    #[must_use]
    pub fn max_poll_interval(self, interval: Duration) -> Self {
        self.config("max.poll.interval.ms", &interval.as_millis().to_string())
    }

    /// Commits after each poll that gave records; otherwise only when told.
    #[must_use]
    pub fn commit_after_poll(mut self) -> Self {
        self.commit_after_poll = true;
        self
    }

    /// At most `records` (max.poll.records) each `delay`.
    #[must_use]
    pub fn slowly(mut self, records: usize, delay: Duration) -> Self {
        self.poll_delay = delay;
        self.config("max.poll.records", &records.to_string())
    }

    /// Streams: counts by key, so that there is state and a changelog; otherwise stateless.
    #[must_use]
    pub fn stateful(mut self) -> Self {
        self.stateful = true;
        self
    }

    fn args(&self, number: usize) -> Value {
        let mut config = self.config.clone();
        for key in ["client.id", "group.instance.id", "client.rack"] {
            if let Some(value) = config.get_mut(key) {
                *value = value.replace("{}", &number.to_string());
            }
        }
        json!({
            "group": self.group, "kind": self.kind, "topics": self.topics, "pattern": self.pattern, "config": config,
            "commit_after_poll": self.commit_after_poll, "poll_delay": self.poll_delay.as_millis() as u64,
            "stateful": self.stateful,
        })
    }
}

impl Tool {
    /// Starts one member, which is number `number` in its client id; it joins in its own time.
    pub fn join(&self, spec: &GroupSpec, number: usize) -> Member {
        let member = self.call("join", spec.args(number));
        Member { tool: self.clone(), number: member.as_u64().expect("a member's number"), closed: false }
    }

    /// Starts members 0 to n − 1 and waits until the group is stable.
    pub fn start_group(&self, spec: &GroupSpec, n: usize) -> Vec<Member> {
        let members = (0..n).map(|number| self.join(spec, number)).collect();
        self.wait_stable(spec, n);
        members
    }

    /// Waits until a group has n members and is stable, nobody has a partition to give or to take, and all partitions
    /// of its topics are owned (if it has members at all).
    #[track_caller]
    pub fn wait_stable(&self, spec: &GroupSpec, n: usize) -> GroupDescription {
        super::wait_until(&format!("{} to be stable with {n} members", spec.group), super::DEADLINE, || {
            let group = self.try_describe(&spec.group)?.ok_or("no such group")?;
            group.settled(n)?;
            if n > 0 && matches!(spec.kind.as_str(), "consumer" | "share") && !spec.topics.is_empty() {
                let topics = self.try_call("topics", json!({"topics": spec.topics}))?;
                let topics = topics.as_array().ok_or("no topics")?;
                let wanted: usize = topics.iter().filter_map(|t| t["partitions"].as_array()).map(Vec::len).sum();
                let owned = group.owned().len();
                if owned != wanted {
                    return Err(format!("{owned} of {wanted} partitions are owned in {group:?}"));
                }
            }
            Ok(group)
        })
    }
}

/// What a member knows of itself.
#[derive(Debug, Deserialize)]
pub struct MemberInfo {
    /// Records that came from polls.
    pub polled: u64,
    /// Why its thread ended.
    pub failure: Option<String>,
    /// Consumers: the member id.
    pub id: Option<String>,
    /// Consumers: generation or member epoch.
    pub generation: Option<i32>,
    /// Consumers: what it owns.
    #[serde(default)]
    pub assignment: Vec<(String, i32)>,
    /// Streams: the state.
    pub state: Option<String>,
}

/// A running member; leaves its group when dropped.
pub struct Member {
    tool: Tool,
    number: u64,
    closed: bool,
}

impl Member {
    /// Closes it: it leaves the group (a static member of a classic group does not).
    pub fn close(mut self) {
        self.closed = true;
        self.tool.call("member_close", json!({"member": self.number}));
    }

    /// Ends it without a word to the group, which finds out by the session timeout. Share members always leave: for
    /// them, and for a real crash, use a process of their own and kill that.
    pub fn abandon(mut self) {
        self.closed = true;
        self.tool.call("member_close", json!({"member": self.number, "remain": true}));
    }

    /// Commits its positions.
    pub fn commit(&self) {
        self.commit_what(&json!({"member": self.number}));
    }

    /// Commits offsets; partitions that it does not own fail.
    pub fn commit_offsets(&self, offsets: &[Offset]) {
        self.commit_what(&json!({"member": self.number, "offsets": offsets}));
    }

    /// A group that rebalances, as a slow machine lets it, refuses a commit until it is done.
    fn commit_what(&self, what: &Value) {
        wait_until("a commit", DEADLINE, || self.tool.try_call("member_commit", what.clone()));
    }

    /// Subscribes to other topics.
    pub fn subscribe(&self, topics: &[&str]) {
        self.tool.call("member_subscribe", json!({"member": self.number, "topics": topics}));
    }

    /// Moves its positions.
    pub fn seek(&self, offsets: &[Offset]) {
        self.tool.call("member_seek", json!({"member": self.number, "offsets": offsets}));
    }

    /// Fetches nothing from these partitions, and everything from its others.
    pub fn pause(&self, partitions: &[(&str, i32)]) {
        self.tool.call("member_pause", json!({"member": self.number, "partitions": partitions}));
    }

    /// Asks for a rebalance (classic).
    pub fn rejoin(&self) {
        self.tool.call("member_rejoin", json!({"member": self.number}));
    }

    /// Does not poll for this long: a slow poll.
    pub fn stall(&self, time: Duration) {
        self.tool.call("member_stall", json!({"member": self.number, "ms": time.as_millis() as u64}));
    }

    /// What it knows of itself.
    pub fn info(&self) -> MemberInfo {
        let info = self.tool.call("member_info", json!({"member": self.number}));
        serde_json::from_value(info).expect("a member's info")
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if !self.closed {
            self.tool.post("member_close", &json!({"member": self.number}));
        }
    }
}
