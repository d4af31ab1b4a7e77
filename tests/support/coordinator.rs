//! A group as its coordinator has it: told by `lagtop`'s facts, and by the Java admin client, in one shape.

use std::collections::BTreeMap;

use lagtop::model::{Description, TopicPartitions};

use super::{describe::GroupDescription, describe::Partition, tool::Tool};

/// What both sides tell; what the Java admin client does not tell of such a group is empty on both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinated {
    pub state: String,
    pub assignor: Option<String>,
    pub coordinator: i32,
    pub epoch: Option<i32>,
    pub assignment_epoch: Option<i32>,
    pub topology_epoch: Option<i32>,
    /// By member id.
    pub members: BTreeMap<String, CoordinatedMember>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordinatedMember {
    pub client_id: String,
    pub host: String,
    pub instance: Option<String>,
    pub rack: Option<String>,
    pub epoch: Option<i32>,
    /// Whether it speaks the new protocol.
    pub upgraded: Option<bool>,
    pub held: Vec<Partition>,
    pub target: Option<Vec<Partition>>,
}

fn flat(partitions: &TopicPartitions) -> Vec<Partition> {
    let rows = partitions.iter().flat_map(|(topic, numbers)| numbers.iter().map(|n| (topic.raw().to_owned(), *n)));
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

fn owned(name: Option<&lagtop::model::Name>) -> Option<String> {
    name.map(|name| name.raw().to_owned())
}

impl Coordinated {
    /// From the facts; `kind` as Java calls it.
    pub fn ours(description: &Description, kind: &str) -> Self {
        let classic = kind == "Classic";
        let members = description.members.iter().map(|member| {
            let log = member.log.as_ref().expect("the log's facts");
            let tasks = log.tasks.as_ref().map(|tasks| flat(&tasks.active)).filter(|_| kind == "Streams");
            let figures = CoordinatedMember {
                client_id: member.client_id.raw().to_owned(),
                host: member.host.raw().to_owned(),
                instance: owned(member.instance_id.as_ref()),
                // Java does not tell the rack of a classic member, though its subscription has it.
                rack: owned(member.rack.as_ref()).filter(|_| !classic),
                epoch: log.epoch,
                upgraded: (kind == "Consumer").then_some(!log.classic_protocol),
                held: tasks.unwrap_or_else(|| flat(&member.assignment.clone().unwrap_or_default())),
                target: member.target.as_ref().map(flat).filter(|_| kind == "Consumer"),
            };
            (member.id.raw().to_owned(), figures)
        });
        Self {
            state: description.state.name().to_owned(),
            assignor: owned(description.assignor.as_ref()).filter(|_| matches!(kind, "Classic" | "Consumer")),
            coordinator: description.coordinator.unwrap_or(-1),
            epoch: description.epoch.filter(|_| !classic),
            assignment_epoch: description.assignment_epoch,
            topology_epoch: description.topology_epoch,
            members: members.collect(),
        }
    }

    /// From what the Java admin client says.
    pub fn theirs(group: &GroupDescription) -> Self {
        let sorted = |partitions: &[Partition]| {
            let mut partitions = partitions.to_vec();
            partitions.sort();
            partitions
        };
        let kind = group.kind.as_str();
        let members = group.members.iter().map(|member| {
            let tasks = member.tasks.as_ref().map(|tasks| sorted(&tasks["active"]));
            let figures = CoordinatedMember {
                client_id: member.client_id.clone(),
                host: member.host.clone(),
                instance: member.instance.clone(),
                rack: member.rack.clone().filter(|rack| !rack.is_empty()),
                epoch: member.epoch.filter(|_| kind != "Classic"),
                upgraded: member.upgraded.filter(|_| kind == "Consumer"),
                held: tasks.unwrap_or_else(|| sorted(&member.assignment)),
                target: member.target.as_deref().map(sorted).filter(|_| kind == "Consumer"),
            };
            (member.id.clone(), figures)
        });
        Self {
            state: group.state.clone(),
            assignor: group.assignor.clone().filter(|name| matches!(kind, "Classic" | "Consumer") && !name.is_empty()),
            coordinator: group.coordinator,
            epoch: group.epoch.filter(|_| kind != "Classic"),
            assignment_epoch: group.assignment_epoch.filter(|_| kind != "Classic"),
            topology_epoch: group.topology_epoch,
            members: members.collect(),
        }
    }
}

impl Tool {
    /// Whether the facts are what the Java admin client says; else both, for a wait's last words.
    pub fn agrees(&self, id: &str, ours: &Description) -> Result<GroupDescription, String> {
        let theirs = self.try_describe(id)?.ok_or("no such group")?;
        let (left, right) = (Coordinated::ours(ours, &theirs.kind), Coordinated::theirs(&theirs));
        if left == right { Ok(theirs) } else { Err(format!("{left:#?}\nbut Java says {right:#?}")) }
    }
}
