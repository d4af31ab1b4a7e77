//! The figures of a group: as `lagtop snapshot --format json` tells them, and as Apache's own tool and the Java admin
//! client do, in one shape to compare.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    apache::Row,
    lagtop::{group, snapshot},
    tool::Tool,
    wait::{DEADLINE, wait_until},
};

/// Everything that both sides tell of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// `classic`, `consumer`.
    pub kind: String,
    pub state: String,
    pub assignor: Option<String>,
    /// No member has ever joined.
    pub simple: bool,
    pub coordinator: i64,
    /// By member id.
    pub members: BTreeMap<String, MemberFigures>,
    /// What has a commit or an owner.
    pub partitions: BTreeMap<(String, i64), PartitionFigures>,
    /// Sum of end − commit.
    pub total: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberFigures {
    pub client_id: String,
    pub host: String,
    pub instance: Option<String>,
    pub partitions: Vec<(String, i32)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionFigures {
    pub commit: Option<i64>,
    pub end: Option<i64>,
    pub raw: Option<i64>,
    /// Member id.
    pub owner: Option<String>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Figures {
    /// From a group's row of a snapshot. Of the partitions those that Apache's tool lists: a commit, or an owner.
    pub fn of_snapshot(row: &Value) -> Self {
        let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let members = rows(&row["members"]).into_iter().map(|member| {
            let held = rows(&member["partitions"]);
            let held = held.iter().map(|held| (text(&held["topic"]).expect("a topic"), number(&held["partition"])));
            let figures = MemberFigures {
                client_id: text(&member["client_id"]).expect("a client id"),
                host: text(&member["host"]).expect("a host"),
                instance: text(&member["instance_id"]),
                partitions: held.map(|(topic, partition)| (topic, i32::try_from(partition).expect("fits"))).collect(),
            };
            (text(&member["member"]).expect("a member id"), figures)
        });
        let partitions = rows(&row["partitions"]).into_iter().filter_map(|row| {
            let (commit, owner) = (row["commit"].as_i64(), text(&row["owner"]));
            if commit.is_none() && owner.is_none() {
                return None;
            }
            let figures = PartitionFigures { commit, end: row["end"].as_i64(), raw: row["raw"].as_i64(), owner };
            Some(((text(&row["topic"]).expect("a topic"), number(&row["partition"])), figures))
        });
        let partitions: BTreeMap<_, _> = partitions.collect();
        Self {
            kind: text(&row["type"]).expect("a type"),
            state: text(&row["state"]).expect("a state"),
            assignor: text(&row["assignor"]),
            simple: row["simple"].as_bool().expect("a flag"),
            coordinator: row["coordinator"].as_i64().unwrap_or(-1),
            members: members.collect(),
            total: row["lag"].as_i64().unwrap_or(0),
            partitions,
        }
    }
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

impl Tool {
    /// What Apache's ConsumerGroupCommand prints of a group; type and instance ids from the Java admin client, which
    /// must agree with the tool about the rest.
    pub fn figures(&self, group: &str) -> Figures {
        let printed = |what: &[&str]| self.consumer_groups(&[&["--describe", "--group", group], what].concat()).rows;
        let state = printed(&["--state"]);
        let state = state.first().expect("the group's row");
        let cell = |row: &Row, column: &str| Some(row.text(column).to_owned()).filter(|text| text != "-");
        let java = self.describe(group);

        let mut members = BTreeMap::new();
        for row in printed(&["--members", "--verbose"]) {
            let id = row.text("CONSUMER-ID").to_owned();
            let told = java.members.iter().find(|member| member.id == id).expect("the same member");
            let mut partitions = row.partitions("CURRENT-ASSIGNMENT");
            partitions.sort();
            assert_eq!(partitions, told.assignment, "tool and admin client about {id}");
            let figures = MemberFigures {
                client_id: row.text("CLIENT-ID").to_owned(),
                host: row.text("HOST").to_owned(),
                instance: told.instance.clone(),
                partitions,
            };
            members.insert(id, figures);
        }
        let mut partitions = BTreeMap::new();
        for row in printed(&["--offsets"]) {
            // A member without partitions has a row, too.
            let Some(partition) = row.number("PARTITION") else { continue };
            let figures = PartitionFigures {
                commit: row.number("CURRENT-OFFSET"),
                end: row.number("LOG-END-OFFSET"),
                raw: row.number("LAG"),
                owner: cell(&row, "CONSUMER-ID"),
            };
            partitions.insert((row.text("TOPIC").to_owned(), partition), figures);
        }
        let coordinator = state.text("COORDINATOR");
        let coordinator = coordinator.rsplit_once('(').and_then(|(_, id)| id.trim_end_matches(')').parse().ok());
        assert_eq!(coordinator, Some(i64::from(java.coordinator)), "tool and admin client about the coordinator");
        assert_eq!(state.number("#MEMBERS"), Some(members.len() as i64));
        Figures {
            kind: java.kind.to_lowercase(),
            state: state.text("STATE").to_owned(),
            assignor: cell(state, "ASSIGNMENT-STRATEGY"),
            simple: java.simple == Some(true),
            coordinator: coordinator.expect("a broker id"),
            members,
            total: partitions.values().filter_map(|row| row.raw).sum(),
            partitions,
        }
    }

    /// Compares a quiet group's snapshot with what Apache's tool says, in both ways of knowing a group: by the
    /// coordinator log where it can be read, and by admin calls alone. Returns the group's row.
    #[track_caller]
    pub fn compare(&self, bootstrap: &str, id: &str) -> Value {
        self.compare_with(bootstrap, id, &["--coordinator-log", "off"]);
        self.compare_with(bootstrap, id, &[])
    }

    /// Compares snapshots taken with these arguments: only where those before and after agree, else again.
    #[track_caller]
    pub fn compare_with(&self, bootstrap: &str, id: &str, args: &[&str]) -> Value {
        let (row, ours, theirs) = wait_until(&format!("{id} to stand still"), DEADLINE, || {
            let take = || snapshot(bootstrap, &[&["-g", id], args].concat());
            let before = take();
            let theirs = self.figures(id);
            let after = take();
            let ours = Figures::of_snapshot(group(&before, id));
            let later = Figures::of_snapshot(group(&after, id));
            if ours == later {
                Ok((group(&after, id).clone(), ours, theirs))
            } else {
                Err(format!("{ours:?} {later:?}"))
            }
        });
        assert_eq!(ours, theirs, "{args:?} {row:#}");
        row
    }
}
