//! The cast of the simulated incident, as tables: the cluster, its topics, its groups and what happens to them. What a
//! member or a log *does* is in `group` and `topic`; who plays is here.
//!
//! Everything repeats: a group's script starts again after its period, and a topic's rush after `every`; rates and
//! capacities are such that what piles up in the rush drains before the next one.

use Begin::{Expired, Lag, NoCommit, PastEnd};
use Event::{Crash, Leave, Start};

/// Rack of each broker; broker ids begin with 1. Every partition has a replica on each.
pub const RACKS: [&str; 3] = ["a", "b", "c"];

pub const CLUSTER: &str = "demo";
pub const CLUSTER_ID: &str = "simulated-demo-cluster";

/// A partition that nobody writes to holds this many records.
pub const QUIET_HELD: i64 = 44;

pub struct TopicRole {
    pub name: &'static str,
    /// Records per second written to each partition; 0: none ever.
    pub rates: &'static [u64],
    /// Records that retention leaves in each partition.
    pub kept: i64,
    pub rush: Option<Rush>,
}

/// Some partitions are written to faster for a while, again and again.
pub struct Rush {
    /// Seconds from one rush to the next.
    pub every: u64,
    /// Where in that period it begins, and how long it lasts; seconds.
    pub from: u64,
    pub lasts: u64,
    pub partitions: &'static [usize],
    /// Records per second in each of them.
    pub rate: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Classic,
    /// KIP-848.
    Consumer,
    /// Classic protocol of another type: who the members are is known, not what they hold.
    Connect,
    /// Nothing but its name is known.
    ShareOrStreams,
    /// We have no right to describe it.
    Denied,
}

/// How a group stands at a partition when the simulation begins.
#[derive(Debug, Clone, Copy)]
pub enum Begin {
    Lag(i64),
    /// It has no commit there and never will: its consumer gets nothing.
    NoCommit,
    PastEnd(i64),
    /// The commit is that many records before the log start.
    Expired(i64),
}

/// What happens to the member in a slot.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// Joins (under a new member id).
    Start(u32),
    /// Commits and says goodbye.
    Leave(u32),
    /// Falls silent; the coordinator notices at the end of its session.
    Crash(u32),
}

pub struct GroupRole {
    pub name: &'static str,
    pub protocol: Protocol,
    /// As the group's members or its coordinator call it.
    pub assignor: &'static str,
    pub topics: &'static [&'static str],
    /// For each topic how the partitions begin; those that are not named begin without lag.
    pub begins: &'static [&'static [Begin]],
    /// Commits on topics that no longer exist, by partition.
    pub leftovers: &'static [(&'static str, &'static [i64])],
    /// Members at the beginning.
    pub members: u32,
    /// Members have a `group.instance.id`.
    pub is_static: bool,
    /// Client ids are this and the slot's number.
    pub client: &'static str,
    /// Third part of the members' addresses.
    pub net: u8,
    /// Records per second that a member can process; a multiple of 4.
    pub capacity: i64,
    /// Milliseconds from commit to commit.
    pub commits_every: u64,
    /// Seconds after which the script begins again; 0: nothing happens.
    pub period: u64,
    /// Second of the period, and what happens then.
    pub script: &'static [(u64, Event)],
}

const NOBODY: GroupRole = GroupRole {
    name: "",
    protocol: Protocol::Classic,
    assignor: "range",
    topics: &[],
    begins: &[],
    leftovers: &[],
    members: 0,
    is_static: false,
    client: "",
    net: 0,
    capacity: 0,
    commits_every: 5000,
    period: 0,
    script: &[],
};

pub const TOPICS: &[TopicRole] = &[
    TopicRole {
        name: "payments",
        rates: &[1200, 600, 640, 580, 620, 600],
        kept: 20_000_000,
        rush: Some(Rush { every: 900, from: 0, lasts: 420, partitions: &[0], rate: 6000 }),
    },
    TopicRole {
        name: "orders",
        rates: &[300; 8],
        kept: 5_000_000,
        rush: Some(Rush { every: 420, from: 240, lasts: 90, partitions: &[0, 1, 2, 3, 4, 5, 6, 7], rate: 1200 }),
    },
    TopicRole {
        name: "carts",
        rates: &[60, 60, 60, 20, 20, 20, 20, 20, 20, 20, 20, 20],
        kept: 4_000_000,
        rush: Some(Rush { every: 600, from: 0, lasts: 300, partitions: &[0, 1, 2], rate: 400 }),
    },
    TopicRole {
        name: "stock-asia",
        rates: &[60, 60],
        kept: 3_000_000,
        rush: Some(Rush { every: 480, from: 0, lasts: 240, partitions: &[0, 1], rate: 220 }),
    },
    TopicRole {
        name: "stock-eu",
        rates: &[60, 60],
        kept: 3_000_000,
        rush: Some(Rush { every: 480, from: 0, lasts: 240, partitions: &[0, 1], rate: 240 }),
    },
    TopicRole {
        name: "stock-us",
        rates: &[60, 60],
        kept: 3_000_000,
        rush: Some(Rush { every: 480, from: 0, lasts: 240, partitions: &[0, 1], rate: 200 }),
    },
    TopicRole { name: "audit-log", rates: &[20, 24, 18], kept: 2_000_000, rush: None },
    TopicRole { name: "events-daily", rates: &[15, 12, 14, 11], kept: 4_000_000, rush: None },
    TopicRole { name: "fraud-v2", rates: &[40, 35, 45, 30], kept: 2_000_000, rush: None },
    TopicRole { name: "parcels", rates: &[50, 45, 40, 55, 50, 0, 60, 45], kept: 2_000_000, rush: None },
    TopicRole { name: "ledger", rates: &[3, 0, 0, 0], kept: 500_000, rush: None },
];

pub const GROUPS: &[GroupRole] = &[
    // Healthy: the one to compare the others with.
    GroupRole {
        name: "audit",
        topics: &["audit-log"],
        members: 3,
        client: "audit",
        net: 1,
        capacity: 400,
        commits_every: 1000,
        ..NOBODY
    },
    // The incident: one hot partition whose owner cannot keep up, two idle members, and a member that crashes, comes
    // back, and is then thrown out again and again: eight rebalances in two minutes.
    GroupRole {
        name: "billing",
        topics: &["payments"],
        begins: &[&[Lag(420_000), Lag(1_200), Lag(400), Lag(900), Lag(2_100), Lag(250)]],
        members: 8,
        client: "pay",
        net: 3,
        capacity: 4000,
        period: 900,
        script: &[
            (20, Crash(0)),
            (50, Start(0)),
            (75, Leave(0)),
            (84, Start(0)),
            (105, Leave(0)),
            (114, Start(0)),
            (135, Leave(0)),
            (144, Start(0)),
            (400, Crash(3)),
            (430, Start(3)),
        ],
        ..NOBODY
    },
    // One member holds the three hot partitions because they stand next to each other: another assignor would help.
    GroupRole {
        name: "checkout",
        topics: &["carts"],
        begins: &[&[Lag(31_000), Lag(46_000), Lag(25_000), Lag(300), Lag(120)]],
        members: 4,
        client: "cart",
        net: 4,
        capacity: 900,
        ..NOBODY
    },
    // Its old topic was deleted, the commits are left.
    GroupRole {
        name: "fraud-check",
        assignor: "roundrobin",
        topics: &["fraud-v2"],
        leftovers: &[("fraud-v1", &[88_120, 91_004, 87_551])],
        members: 2,
        client: "fraud",
        net: 5,
        capacity: 400,
        period: 360,
        script: &[(55, Leave(1)), (67, Start(1))],
        ..NOBODY
    },
    // Range over three topics of two partitions: the first two members get them all, the third nothing.
    GroupRole {
        name: "inventory-sync",
        topics: &["stock-asia", "stock-eu", "stock-us"],
        begins: &[&[Lag(5_200), Lag(4_100)], &[Lag(9_300), Lag(1_900)], &[Lag(2_700), Lag(6_400)]],
        members: 3,
        client: "inventory",
        net: 6,
        capacity: 500,
        ..NOBODY
    },
    // Moved here by a mirror tool, and nobody has started it yet.
    GroupRole {
        name: "ledger-export",
        topics: &["ledger"],
        begins: &[&[Lag(600), NoCommit, PastEnd(8220), Expired(500)]],
        ..NOBODY
    },
    GroupRole {
        name: "mirror",
        protocol: Protocol::Connect,
        members: 3,
        client: "mirror",
        net: 7,
        period: 300,
        script: &[(60, Crash(2)), (95, Start(2))],
        ..NOBODY
    },
    // Catching up; members come and go without stopping the others.
    GroupRole {
        name: "orders-enrich",
        protocol: Protocol::Consumer,
        assignor: "uniform",
        topics: &["orders"],
        begins: &[&[
            Lag(58_000),
            Lag(61_000),
            Lag(64_000),
            Lag(57_000),
            Lag(66_000),
            Lag(59_000),
            Lag(63_000),
            Lag(60_000),
        ]],
        members: 5,
        client: "enrich",
        net: 8,
        capacity: 1500,
        period: 420,
        script: &[(25, Start(5)), (100, Leave(5)), (170, Crash(1)), (205, Start(1))],
        ..NOBODY
    },
    GroupRole { name: "payroll", protocol: Protocol::Denied, ..NOBODY },
    // A batch job that has not run for hours.
    GroupRole {
        name: "reports",
        topics: &["events-daily"],
        begins: &[&[Lag(23_000), Lag(18_400), Lag(21_600), Lag(17_000)]],
        ..NOBODY
    },
    // Static members: one that restarts quickly causes no rebalance. One partition has never had a commit.
    GroupRole {
        name: "shipping",
        topics: &["parcels"],
        begins: &[&[Lag(20), Lag(35), Lag(10), Lag(15), Lag(40), NoCommit, Lag(25), Lag(30)]],
        members: 4,
        is_static: true,
        client: "shipping",
        net: 9,
        capacity: 600,
        period: 240,
        script: &[(80, Crash(1)), (86, Start(1))],
        ..NOBODY
    },
    GroupRole { name: "telemetry", protocol: Protocol::ShareOrStreams, ..NOBODY },
];
