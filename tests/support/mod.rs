//! A real Apache Kafka for tests: brokers, groups of every kind, and what Apache's own tools say of them.

// Each test binary uses its own part of this.
#![allow(dead_code)]
// A caller writes `json!({…})` where an argument is wanted.
#![allow(clippy::needless_pass_by_value)]
// A helper of a test fails by panicking, like the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod admin;
mod apache;
mod broker;
mod cluster;
mod describe;
mod jars;
mod members;
mod ports;
mod tool;
mod wait;

#[allow(unused_imports)]
pub use self::{
    admin::*,
    apache::*,
    cluster::{Cluster, ClusterSpec, shared},
    describe::*,
    members::*,
    tool::Tool,
    wait::{DEADLINE, wait_until},
};
