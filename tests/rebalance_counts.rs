//! Twenty joins and leaves: the rebalances that are told are those that the records of the coordinator log tell by
//! Apache's own decoder, whatever happens to the brokers and to the collector meanwhile.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use rustix::process::Signal;
use serde_json::json;
use support::{Cluster, ClusterSpec, DEADLINE, Frames, GroupSpec, Member, group, rebalances, snapshot, wait_until};

/// Members join (`+`) and leave (`-`); in the end nobody is left.
const STEPS: &str = "+++-+--++-++--+-+---";
const TOPIC: &str = "t";

/// Groups of one member set each, by name.
struct Groups<'a> {
    kafka: &'a Cluster,
    specs: Vec<(&'a str, GroupSpec)>,
}

impl<'a> Groups<'a> {
    fn new(kafka: &'a Cluster, specs: Vec<(&'a str, GroupSpec)>) -> Self {
        let specs = specs.into_iter().map(|(id, spec)| (id, spec.topics(&[TOPIC]))).collect();
        Self { kafka, specs }
    }

    /// Takes the steps, each until all groups are stable; `before` is called with the number of each.
    fn walk(&self, mut before: impl FnMut(usize)) {
        let mut members: Vec<Vec<Member>> = self.specs.iter().map(|_| Vec::new()).collect();
        for (number, step) in STEPS.chars().enumerate() {
            before(number);
            for ((_, spec), members) in self.specs.iter().zip(&mut members) {
                if step == '+' {
                    members.push(self.kafka.join(spec, number));
                } else {
                    members.remove(0).close();
                }
            }
            self.stable(members[0].len());
        }
        assert!(members[0].is_empty() && STEPS.len() == 20);
    }

    fn stable(&self, members: usize) {
        for (_, spec) in &self.specs {
            self.kafka.wait_stable(spec, members);
        }
    }

    /// Waits until a reader of the stream tells exactly the rebalances of the records.
    fn agree(&self, what: &str, frames: &Frames) {
        for (id, _) in &self.specs {
            let leader = usize::try_from(self.kafka.describe(id).coordinator).expect("an id");
            let truth = rebalances(&self.kafka.group_records(leader, id));
            assert!(truth.len() >= STEPS.len(), "{id}: {truth:?}");
            wait_until(&format!("the rebalances of {id}, told {what}"), DEADLINE, || {
                let view = frames.view();
                let group = view.group(&(*id).into()).ok_or("no such group")?;
                let told: Vec<_> = group
                    .rebalances
                    .list
                    .iter()
                    .rev()
                    .map(|rebalance| (rebalance.from.map(i64::from), rebalance.to.map(i64::from)))
                    .collect();
                let wanted: Vec<_> = truth.iter().map(|(from, to)| (Some(*from), Some(*to))).collect();
                let exact = !group.rebalances.lower_bound && !group.rebalances.total_lower_bound;
                if told == wanted && group.rebalances.total == truth.len() && exact {
                    println!("{id}, told {what}: {} rebalances, up to {:?}", truth.len(), truth.last());
                    Ok(())
                } else {
                    Err(format!("{told:?}, but the records say {wanted:?}; {:?}", group.rebalances.lower_bound))
                }
            });
        }
    }

    /// Whoever starts now tells the same.
    fn agree_later(&self) {
        let bootstrap = self.kafka.bootstrap();
        self.agree("afterwards", &Frames::collect(&bootstrap, &["--coordinator-log", "require"]));
        let report = snapshot(&bootstrap, &["--coordinator-log", "require"]);
        for (id, _) in &self.specs {
            let told = &group(&report, id)["rebalances"];
            assert_eq!((&told["ongoing"], &told["storm"]), (&json!(null), &json!(true)), "{told:#}");
        }
    }
}

#[test]
fn twenty_joins_and_leaves() {
    let kafka = Cluster::start(&ClusterSpec::one());
    kafka.create_topic(TOPIC, 6);
    let specs = vec![
        ("eager", GroupSpec::classic("eager", "range")),
        ("cooperative", GroupSpec::classic("cooperative", "cooperative-sticky")),
        ("consumer", GroupSpec::consumer("consumer")),
    ];
    let groups = Groups::new(&kafka, specs);
    let live = Frames::live(&kafka, "*");
    groups.walk(|step| match step {
        7 | 15 => live.kill(Signal::KILL),
        12 => {
            kafka.stop_broker(1);
            kafka.start_broker(1, &[]);
            groups.stable(4);
        }
        _ => {}
    });
    groups.agree("live", live.frames());
    groups.agree_later();
}

#[test]
fn twenty_joins_and_leaves_with_other_coordinators() {
    let kafka = Cluster::start(&ClusterSpec::three());
    kafka.create_topic_with(TOPIC, json!({"partitions": 6, "replication": 3}));
    let specs = vec![("old", GroupSpec::classic("old", "range")), ("new", GroupSpec::consumer("new"))];
    let groups = Groups::new(&kafka, specs);
    let live = Frames::live(&kafka, "*");
    let leader = || usize::try_from(kafka.describe("new").coordinator).expect("an id");
    let mut gone = None;
    groups.walk(|step| match step {
        // The coordinator moves at once when its broker stops.
        6 => {
            let first = leader();
            kafka.stop_broker(first);
            kafka.wait_brokers(2);
            gone = Some(first);
        }
        12 => kafka.start_broker(gone.expect("a stopped broker"), &[]),
        14 => live.kill(Signal::KILL),
        _ => {}
    });
    assert_ne!(gone, Some(leader()), "the coordinator has moved");
    groups.agree("live", live.frames());
    groups.agree_later();
}

#[test]
fn twenty_joins_and_leaves_with_batched_assignments() {
    let spec = ClusterSpec::one().property("group.consumer.assignment.interval.ms", "1000");
    let kafka = Cluster::start(&spec);
    kafka.create_topic(TOPIC, 6);
    let groups = Groups::new(&kafka, vec![("batched", GroupSpec::consumer("batched"))]);
    let live = Frames::live(&kafka, "*");
    groups.walk(|_| {});
    groups.agree("live", live.frames());
    groups.agree_later();
}
