//! A real Kafka with groups that move, to look at: `cargo test --test playground`. Prints the address, runs until
//! standard input ends (Ctrl-D) or Ctrl-C. Not a test: `cargo test` alone does not run it.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use support::{Cluster, ClusterSpec, GroupSpec};

fn main() {
    let three = std::env::args().any(|argument| argument == "three");
    let spec = if three { ClusterSpec::three() } else { ClusterSpec::one() };
    let kafka = Cluster::start(&spec);
    for (topic, partitions) in [("payments", 6), ("orders", 12), ("audit", 3), ("reports", 4), ("events", 2)] {
        kafka.create_topic(topic, partitions);
    }
    let lagging = GroupSpec::classic("billing", "range").topics(&["payments"]).commit_after_poll();
    let lagging = lagging.slowly(20, Duration::from_millis(400)).client_id("pay-{}");
    let _lagging = kafka.start_group(&lagging, 8);
    let fast = GroupSpec::consumer("orders-enrich").topics(&["orders"]).commit_after_poll();
    let _fast = kafka.start_group(&fast, 4);
    let fixed =
        GroupSpec::classic("audit", "cooperative-sticky").topics(&["audit"]).instance("i{}").commit_after_poll();
    let _fixed = kafka.start_group(&fixed, 3);
    let _shared = kafka.start_group(&GroupSpec::share("telemetry").topics(&["events"]), 2);
    let _connect = kafka.start_group(&GroupSpec::other("mirror", "connect"), 2);
    let _streams = kafka.start_group(&GroupSpec::streams("enrich-app").topics(&["orders"]), 1);
    kafka.produce("reports", 0, 50);
    kafka.alter_offsets("nightly", &[("reports", 0, 10), ("reports", 1, 500)]);
    println!("bootstrap {}", kafka.bootstrap());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0u32.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                for partition in 0..6 {
                    kafka.produce("payments", partition, if partition == 0 { 60 } else { 15 });
                }
                for partition in 0..12 {
                    kafka.produce("orders", partition, 10);
                }
                kafka.produce("audit", i32::try_from(round % 3).unwrap(), 5);
                kafka.produce("events", 0, 5);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
}
