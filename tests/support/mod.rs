//! A real Apache Kafka for tests: brokers, groups of every kind, and what Apache's own tools say of them.
//!
//! ```ignore
//! mod support;
//! use support::{Cluster, ClusterSpec, DEADLINE, GroupSpec, shared, wait_until};
//!
//! let kafka = shared(); // one broker for the tests of this binary: use names of your own
//! kafka.create_topic("t", 6);
//! kafka.produce("t", 0, 100);
//! let spec = GroupSpec::consumer("g").topics(&["t"]); // or classic("g", "range"), share, streams, other("g", "connect")
//! let members = kafka.start_group(&spec, 2); // client ids g-0 and g-1; waits until stable and all is assigned
//! members[0].commit_offsets(&[("t", 0, 40)]); // nothing is committed unless told
//! let truth = kafka.describe("g"); // the Java admin client: epochs, members, targets
//! let rows = kafka.consumer_groups(&["--describe", "--group", "g", "--offsets"]).rows; // the Apache tool
//! ```
//!
//! | for | see |
//! | --- | --- |
//! | a cluster of one's own: three brokers, properties, SASL, TLS, ACLs, restarts | [`ClusterSpec`], [`Cluster`] |
//! | topics, records, commits, transactions, rights, anything by name | [`Tool`] (a [`Cluster`] dereferences to one) |
//! | members: how they are, what they do | [`GroupSpec`], [`Member`] |
//! | members that crash or stand still: SIGKILL and SIGSTOP of a process of theirs | [`Cluster::process`], [`Tool::kill`] |
//! | what is true | [`Tool::describe`], [`Tool::commits`], [`Tool::consumer_groups`], [`Tool::dump_log`] |
//! | the program under test | [`snapshot`], [`run`], [`lagtop`]; [`Collector`]; [`Tool::compare`] with what Apache's tool says |
//! | what a collector's frames tell, folded | [`Frames`]; [`Tool::agrees`], [`happened`], [`rebalances`] with the truth |
//! | the requests that a client sends | [`Proxy`], [`ClusterSpec::advertise`] |
//! | a condition with a deadline | [`wait_until`] |
//!
//! JDK 17 or later and Maven are needed; without them each test that wants a cluster fails and names the packages
//! (`tests/run` installs them). Everything that was started ends with the test, however that ends: the Java processes
//! watch their standard input, and the tool kills what cannot see it and removes the cluster's directory.
//!
//! Time limits of the cluster are short: sessions 3 s (classic members 6 s), heartbeats 0.3–0.5 s, a killed broker is
//! fenced after 6 s. Any of them is a property in [`ClusterSpec::property`].

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
mod collect;
mod coordinator;
mod describe;
mod frames;
mod happened;
mod jars;
mod lagtop;
mod members;
mod ports;
mod proxy;
mod security;
pub mod terminal;
mod tool;
mod truth;
mod wait;

#[allow(unused_imports)]
pub use self::{
    admin::*,
    apache::*,
    cluster::{Cluster, ClusterSpec, OFFSETS_PARTITIONS, shared},
    collect::*,
    coordinator::*,
    describe::*,
    frames::*,
    happened::*,
    lagtop::*,
    members::*,
    proxy::*,
    tool::Tool,
    truth::*,
    wait::{DEADLINE, wait_until},
};
