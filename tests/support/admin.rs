//! Commands of the [`Tool`] that change a cluster: topics, records, commits, rights.

use serde_json::{Value, json};

use super::tool::Tool;

/// `(topic, partition, offset)`.
pub type Offset<'a> = (&'a str, i32, i64);

impl Tool {
    /// Creates a topic with one replica a partition and waits until it has leaders; its id as Kafka prints it.
    pub fn create_topic(&self, topic: &str, partitions: usize) -> String {
        self.create_topic_with(topic, json!({"partitions": partitions}))
    }

    /// With `partitions` and `replication`, or `replicas: [[1, 2], [2, 3]]`, and `config: {…}`.
    pub fn create_topic_with(&self, topic: &str, mut spec: Value) -> String {
        spec["topic"] = json!(topic);
        let id = self.call("create_topic", spec);
        self.wait_topic(topic);
        id.as_str().expect("an id").to_owned()
    }

    /// Waits until every partition of a topic has a leader.
    pub fn wait_topic(&self, topic: &str) {
        super::wait_until(&format!("leaders of {topic}"), super::DEADLINE, || {
            let topics = self.try_call("topics", json!({"topics": [topic]}))?;
            let partitions = topics[0]["partitions"].as_array().ok_or("no partitions")?;
            if partitions.iter().all(|p| p["leader"].is_i64()) { Ok(()) } else { Err(topics.to_string()) }
        });
    }

    /// Deletes a topic and waits until it is gone.
    pub fn delete_topic(&self, topic: &str) {
        self.call("delete_topic", json!({"topic": topic}));
        super::wait_until(&format!("{topic} to be gone"), super::DEADLINE, || {
            match self.try_call("topics", json!({"topics": [topic]})) {
                Ok(topics) => Err(topics.to_string()),
                Err(_) => Ok(()),
            }
        });
    }

    /// Grows a topic to `count` partitions.
    pub fn create_partitions(&self, topic: &str, count: usize) {
        self.call("create_partitions", json!({"topic": topic, "count": count}));
        self.wait_topic(topic);
    }

    /// Moves a partition to other brokers (the first is the preferred leader) and waits until that is done.
    pub fn reassign(&self, topic: &str, partition: i32, replicas: &[usize]) {
        self.call("reassign", json!({"topic": topic, "partition": partition, "replicas": replicas}));
        super::wait_until("the reassignment", super::DEADLINE, || {
            match self.try_call("reassigning", json!({}))?.as_u64() {
                Some(0) => Ok(()),
                left => Err(format!("{left:?} are left")),
            }
        });
    }

    /// Elects preferred leaders.
    pub fn elect_leaders(&self, partitions: &[(&str, i32)]) {
        self.call("elect_leaders", json!({"partitions": partitions}));
    }

    /// Deletes the records before these offsets.
    pub fn delete_records(&self, before: &[Offset]) {
        self.call("delete_records", json!({"before": before}));
    }

    /// Forgets a stopped broker, and so its rack.
    pub fn unregister_broker(&self, id: usize) {
        self.call("unregister_broker", json!({"id": id}));
    }

    /// Sets commits of a group without members, anywhere: past the end, or below the start.
    pub fn alter_offsets(&self, group: &str, offsets: &[Offset]) {
        self.call("alter_offsets", json!({"group": group, "offsets": offsets}));
    }

    /// Deletes commits of a group.
    pub fn delete_offsets(&self, group: &str, partitions: &[(&str, i32)]) {
        self.call("delete_offsets", json!({"group": group, "partitions": partitions}));
    }

    /// Deletes a group.
    pub fn delete_group(&self, group: &str) {
        self.call("delete_group", json!({"group": group}));
    }

    /// Commits as a consumer that assigned itself its partitions and is in no group.
    pub fn commit_standalone(&self, group: &str, offsets: &[Offset]) {
        self.call("commit_standalone", json!({"group": group, "offsets": offsets}));
    }

    /// Sets a config; `kind` is `TOPIC`, `GROUP` or `BROKER`.
    pub fn alter_config(&self, kind: &str, name: &str, key: &str, value: &str) {
        self.call("alter_config", json!({"kind": kind, "name": name, "config": {key: value}}));
    }

    /// Allows a principal an operation, such as `("User:lag", "TOPIC", "*", "DESCRIBE")`.
    pub fn allow(&self, principal: &str, resource: &str, name: &str, operation: &str) {
        let acl = json!({"principal": principal, "resource": resource, "name": name, "operation": operation});
        self.call("create_acls", json!({"acls": [acl]}));
    }

    /// Denies a principal an operation, whatever was allowed.
    pub fn deny(&self, principal: &str, resource: &str, name: &str, operation: &str) {
        let acl = json!({"principal": principal, "resource": resource, "name": name, "operation": operation, "permission": "DENY"});
        self.call("create_acls", json!({"acls": [acl]}));
    }

    /// A SCRAM user; `mechanism` is `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    pub fn add_scram_user(&self, mechanism: &str, user: &str, password: &str) {
        self.call("add_scram", json!({"mechanism": mechanism, "user": user, "password": password}));
    }

    /// Produces `count` records to a partition; the offset of the last.
    pub fn produce(&self, topic: &str, partition: i32, count: usize) -> i64 {
        let last = self.call("produce", json!({"topic": topic, "partition": partition, "count": count}));
        last.as_i64().expect("an offset")
    }

    /// Produces a record with each of these timestamps (milliseconds since the Unix epoch); their offsets and timestamps
    /// as the log has them.
    pub fn produce_at(&self, topic: &str, partition: i32, timestamps: &[i64]) -> Vec<(i64, i64)> {
        let args = json!({"topic": topic, "partition": partition, "timestamps": timestamps});
        serde_json::from_value(self.call("produce_at", args)).expect("offsets and timestamps")
    }

    /// Begins a transaction, which stays open until it is ended.
    pub fn begin(&self, id: &str) -> Transaction {
        self.call("begin", json!({"transaction": id}));
        Transaction { tool: self.clone(), id: id.to_owned() }
    }

    /// `(log start, end)` of a partition.
    pub fn ends(&self, topic: &str, partition: i32) -> (i64, i64) {
        let rows = self.call("end_offsets", json!({"partitions": [[topic, partition]]}));
        (rows[0][2].as_i64().expect("an offset"), rows[0][3].as_i64().expect("an offset"))
    }

    /// Where read_committed reading of a partition ends.
    pub fn last_stable_offset(&self, topic: &str, partition: i32) -> i64 {
        let rows = self.call("end_offsets", json!({"partitions": [[topic, partition]], "committed": true}));
        rows[0][3].as_i64().expect("an offset")
    }
}

/// An open transaction.
pub struct Transaction {
    tool: Tool,
    id: String,
}

impl Transaction {
    /// Produces inside the transaction.
    pub fn produce(&self, topic: &str, partition: i32, count: usize) -> i64 {
        let args = json!({"transaction": self.id, "topic": topic, "partition": partition, "count": count});
        self.tool.call("send", args).as_i64().expect("an offset")
    }

    /// Commits offsets of a group inside the transaction; they count when it commits.
    pub fn send_offsets(&self, group: &str, offsets: &[Offset]) {
        self.tool.call("send_offsets", json!({"transaction": self.id, "group": group, "offsets": offsets}));
    }

    /// Commits it.
    pub fn commit(self) {
        self.tool.call("end", json!({"transaction": self.id, "commit": true}));
    }

    /// Aborts it.
    pub fn abort(self) {
        self.tool.call("end", json!({"transaction": self.id, "commit": false}));
    }
}
