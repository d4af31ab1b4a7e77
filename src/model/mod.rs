//! The facts, plain data: what was observed at a cluster and when. What the facts mean is not said here.

pub mod cluster;
pub mod event;
pub mod figures;
pub mod group;
pub mod name;
pub mod offsets;
pub mod probe;
pub mod problem;
pub mod snapshot;
pub mod time;
pub mod topic;

pub use cluster::{Broker, Cluster, GroupDefaults};
pub use event::{Departure, Event, EventMember, Generation, What};
pub use group::{
    Description, Evidence, Group, GroupKind, GroupState, LogGap, Member, MemberLog, Tasks, TopicPartitions,
};
pub use name::Name;
pub use offsets::{Column, Commit, Commits, ShareOffsets, SharePartition, TopicOffsets};
pub use probe::{Age, Probe, Probes, RecordTime, TimestampType};
pub use problem::{Problem, Scope};
pub use snapshot::{Listing, LogProgress, Progress, Snapshot};
pub use time::{At, Wall, millis};
pub use topic::{Partition, Presence, Topic, parse_id, print_id};
