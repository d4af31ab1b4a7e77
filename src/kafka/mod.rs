//! Kafka: the only room that knows rdkafka, and the only one with `unsafe`. What leaves it is plain model data.
//!
//! Everything here runs in the collector process alone, because librdkafka can abort its process when a broker drops
//! (confluentinc/librdkafka#4605). Nothing here joins a group, commits, produces or changes anything.

mod admin;
mod client;
mod configs;
mod coordinator_log;
mod error;
mod groups;
mod log_offsets;
mod probe;
pub mod records;
mod topics;

pub use admin::Admin;
pub use client::{Client, ClientError, ClientErrors, ConnectError, is_login, library_version};
pub use configs::{Configs, Resource};
pub use coordinator_log::{Counts, Log, LogReader, Message, Position, Record};
pub use error::CallError;
pub use groups::{ClassicMember, GroupList, GroupOffsets, ListedGroup, Protocol, TypedName};
pub use log_offsets::{LogOffsets, Spec};
pub use probe::{Place, Probed, probe};
pub use topics::{Metadata, TopicAnswer};
