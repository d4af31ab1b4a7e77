//! How fast the coordinator log is caught up with: fills `__consumer_offsets` with a million commits and reads it, with
//! every group selected and with none of them. `cargo test --release --test catch_up`. Not a test: `cargo test` alone
//! does not run it.
#![allow(clippy::print_stdout, clippy::expect_used)]

mod support;

use std::time::Instant;

use support::{Cluster, ClusterSpec, Frames, Offset};

const PARTITIONS: usize = 1000;
const ROUNDS: usize = 1000;
const GROUPS: usize = 50;

fn main() {
    let kafka = Cluster::start(&ClusterSpec::one());
    kafka.create_topic("t", PARTITIONS);
    let begun = Instant::now();
    for round in 0..ROUNDS {
        let at = i64::try_from(round).expect("fits");
        let partitions = 0..i32::try_from(PARTITIONS).expect("fits");
        let commits: Vec<Offset> = partitions.map(|partition| ("t", partition, at)).collect();
        kafka.alter_offsets(&format!("g{}", round % GROUPS), &commits);
    }
    println!("{} commits written in {:.0} s", PARTITIONS * ROUNDS, begun.elapsed().as_secs_f64());
    for (what, groups) in [("all groups", "*"), ("one of 50 groups", "g7"), ("no group", "none")] {
        let begun = Instant::now();
        let frames = Frames::collect(&kafka.bootstrap(), &["-g", groups, "--log-history", "all"]);
        let log = frames.until("the log to be read", |told| match &told.facts.log {
            Some(log) if log.partitions > 0 && log.caught_up == log.partitions => Ok(log.clone()),
            other => Err(format!("{other:?}")),
        });
        let took = begun.elapsed().as_secs_f64();
        let decoding = log.decoding_ms as f64 / 1000.0;
        println!(
            "{what}: {} records in {took:.1} s, {:.0} a second, start included; {} dropped after their key; \
             looking at keys and decoding took {decoding:.2} s, {:.0} %",
            log.read,
            log.read as f64 / took,
            log.dropped,
            100.0 * decoding / took,
        );
    }
}
