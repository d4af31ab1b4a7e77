//! Facts that a collector tells beside members, commits and ends, each against a real cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use lagtop::model::Name;
use support::{Frames, Told, shared};

/// `(last stable offset, end)` of partition 0.
fn ends(told: &Told, topic: &str) -> Result<(i64, i64), String> {
    let offsets = told.facts.offsets.get(&Name::new(topic)).ok_or("no offsets")?;
    let of = |column: &Option<lagtop::model::Column>| column.as_ref()?.get(0).map(|(offset, _)| offset);
    Ok((of(&offsets.stable).ok_or("no last stable offset")?, of(&offsets.end).ok_or("no end")?))
}

#[test]
fn an_open_transaction_holds_the_last_stable_offset() {
    let kafka = shared();
    for isolation in ["read_uncommitted", "read_committed"] {
        let topic = format!("f.stable.{isolation}");
        kafka.create_topic(&topic, 1);
        kafka.produce(&topic, 0, 3);
        kafka.commit_standalone(&topic, &[(&topic, 0, 1)]);
        let transaction = kafka.begin(&topic);
        transaction.produce(&topic, 0, 5);
        let frames = Frames::collect(&kafka.bootstrap(), &["-g", &topic, "--isolation", isolation]);
        let told = |wanted: (i64, i64)| {
            frames.until("offsets", |told| match ends(told, &topic)? {
                ends if ends == wanted => Ok(()),
                other => Err(format!("{other:?}, not {wanted:?}")),
            });
        };
        told((3, 8));
        assert_eq!(kafka.last_stable_offset(&topic, 0), 3);
        let read_committed = frames.told().facts.progress.expect("progress").read_committed;
        assert_eq!(read_committed, isolation == "read_committed");
        transaction.produce(&topic, 0, 2);
        told((3, 10));
        transaction.commit();
        // The marker is a record.
        told((11, 11));
        if read_committed {
            kafka.produce(&topic, 0, 1);
            told((12, 12));
        }
    }
}
