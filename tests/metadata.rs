//! The metadata watch on three brokers with racks: each kind of change is classified right while KIP-848, share,
//! streams and classic groups run, and the computed group hash equals the stored one after each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod support;

use lagtop::model::Name;
use lagtop::monitor::view::{Consequence, Effect, GroupView, HashState, View};
use serde_json::{Value, json};
use support::{Cluster, ClusterSpec, Collector, GroupSpec, group, lagtop, run, snapshot};

/// Groups with a hash.
const HASHED: [&str; 4] = ["m.consumer", "m.regex", "m.share", "m.streams"];

/// What comes after an arrow is the end of the line: while a replica moves, there are more than at the end.
fn says(line: &str, words: &str) -> bool {
    if words.starts_with('>') { line.ends_with(words) } else { line.contains(words) }
}

/// The test's cluster, the collector that watches it, and how far its changes were looked at.
struct Scene {
    kafka: Cluster,
    collector: Collector,
    seen: u64,
}

fn of<'a>(view: &'a View, id: &str) -> &'a GroupView {
    view.group(&Name::new(id)).unwrap_or_else(|| panic!("no group {id}"))
}

fn epoch(view: &View, id: &str) -> i32 {
    of(view, id).metadata.epoch.unwrap_or(-1)
}

fn all_equal(view: &View) -> bool {
    HASHED.iter().all(|id| view.group(&Name::new(*id)).is_some_and(|group| group.metadata.state == HashState::Equal))
}

impl Scene {
    /// Changes that were noticed since the last call, oldest first: subject, words, effect.
    fn news(&mut self, view: &View) -> Vec<(String, String, Effect)> {
        let newest = view.metadata_feed.first().map_or(self.seen, |line| line.change.number);
        let seen = std::mem::replace(&mut self.seen, newest);
        let new = view.metadata_feed.iter().filter(|line| line.change.number > seen).rev();
        new.map(|line| (line.change.what.subject().to_string(), line.change.what.to_string(), line.change.effect))
            .collect()
    }

    /// A change that would change the hash: all groups of the topic get a new epoch with the hash that is computed.
    fn changes(&mut self, what: &str, groups: &[&str], subject: &str, words: &str) {
        eprintln!("{what}: expecting {subject}: {words}");
        let (before, seen) = (self.collector.view(), self.seen);
        let view = self.collector.until(what, |view| {
            let told = view.metadata_feed.iter().take_while(|line| line.change.number > seen);
            let mut told = told.filter(|line| line.change.what.subject().raw() == subject);
            let told = told.any(|line| says(&line.change.what.to_string(), words));
            told && all_equal(view) && groups.iter().all(|id| epoch(view, id) > epoch(&before, id))
        });
        let news = self.news(&view);
        let change = news.iter().find(|(of, text, _)| of == subject && says(text, words)).expect("the change");
        assert_eq!(change.2, Effect::ChangesHash, "{what}: {news:?}");
        for id in groups {
            let outcome = of(&view, id).metadata.changes.iter().find(|outcome| {
                outcome.change.what.subject().raw() == subject && says(&outcome.change.what.to_string(), words)
            });
            let outcome = outcome.unwrap_or_else(|| panic!("{what}: {id} has no such change"));
            assert!(matches!(outcome.consequence, Consequence::Bumped { .. }), "{what}, {id}: {outcome:?}");
        }
        eprintln!("{what}: {news:#?}");
    }

    /// A change that keeps the hash: nobody gets a new epoch.
    fn keeps(&mut self, what: &str, subject: &str, words: &str) {
        eprintln!("{what}: expecting {subject}: {words}");
        let (before, seen) = (self.collector.view(), self.seen);
        let view = self.collector.until(what, |view| {
            let told = view.metadata_feed.iter().take_while(|line| line.change.number > seen);
            let mut told = told.filter(|line| line.change.what.subject().raw() == subject);
            told.any(|line| line.change.what.to_string().contains(words)) && all_equal(view)
        });
        let news = self.news(&view);
        assert!(news.iter().all(|(_, _, effect)| *effect == Effect::KeepsHash), "{what}: {news:?}");
        for id in HASHED {
            assert_eq!(epoch(&view, id), epoch(&before, id), "{what}: {id}");
        }
        eprintln!("{what}: {news:#?}");
    }
}

impl Scene {
    /// While a replica moves, the partition has the old one and the new one: for that time the hash is another one, and
    /// a heartbeat that falls in it bumps the epoch twice. Whether we see it depends on when we look; that the hash is
    /// the same afterwards does not.
    fn within_a_rack(&mut self) {
        let (before, seen) = (self.collector.view(), self.seen);
        let view = self.collector.until("a move within a rack", |view| {
            let told = view.metadata_feed.iter().take_while(|line| line.change.number > seen);
            let mut told = told.map(|line| line.change.what.to_string());
            let done = told.any(|words| words.contains("moved within their racks: 0") || words.ends_with("> a b"));
            done && all_equal(view)
        });
        eprintln!("{:#?}", self.news(&view));
        for id in HASHED {
            let (before, now) = (&of(&before, id).metadata, &of(&view, id).metadata);
            assert_eq!(now.computed, before.computed, "{id}");
            let bumped = now.changes.iter().take_while(|outcome| outcome.change.number > seen);
            let bumped = bumped.filter(|outcome| matches!(outcome.consequence, Consequence::Bumped { .. })).count();
            assert_eq!(bumped > 0, now.epoch > before.epoch, "{id}: {:?}", now.changes);
        }
    }
}

/// `lagtop hash` and the snapshot say the same as what the coordinator stored.
fn reports_agree(bootstrap: &str) {
    let snapshot = snapshot(bootstrap, &["-g", "m.*"]);
    let ran = run(&mut lagtop(&["hash", "-b", bootstrap, "-g", "m.*", "--format", "json", "--timeout", "30s"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let hashes = ran.json();
    for id in HASHED {
        let row = &group(&snapshot, id)["metadata"];
        assert_eq!(row["state"], "equal", "{id}: {row:#}");
        assert_eq!(row["computed_hash"], group(&snapshot, id)["stored_hash"], "{id}: {row:#}");
        assert_eq!(group(&hashes, id)["computed_hash"], row["computed_hash"]);
    }
    assert_eq!(group(&snapshot, "m.classic")["metadata"]["state"], "not_used");
    let topic = |topics: &Value| topics.as_array().unwrap().iter().find(|row| row["topic"] == "m.a").unwrap().clone();
    let ran = run(&mut lagtop(&["hash", "-b", bootstrap, "--topic", "m.a", "m.none", "--format", "json"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let alone = ran.json();
    assert_eq!(topic(&alone["topics"])["hash"], topic(&hashes["topics"])["hash"]);
    assert_eq!(alone["complete"], true, "{ran:?}");
    assert_eq!(alone["topics"][1]["presence"], "gone", "{alone:#}");
}

#[test]
fn each_change_is_classified_and_the_hash_stays_equal_to_the_stored_one() {
    // The coordinator log and the controller must do without one broker.
    let spec = ClusterSpec::three()
        .offsets_partitions(3)
        .property("offsets.topic.replication.factor", "3")
        .property("share.coordinator.state.topic.replication.factor", "3")
        .property("group.consumer.regex.refresh.interval.ms", "10000");
    let kafka = Cluster::start(&spec);
    // Broker 3 leads nothing of the topics, so that its stop moves few leaders.
    let replicas = json!({"replicas": [[1, 3], [2, 3], [1, 2]]});
    kafka.create_topic_with("m.a", replicas.clone());
    kafka.create_topic_with("m.b", json!({"replicas": [[2, 3]]}));
    let _members = [
        kafka.start_group(&GroupSpec::consumer("m.consumer").topics(&["m.a", "m.b"]).rack("a"), 2),
        kafka.start_group(&GroupSpec::consumer("m.regex").pattern("m\\.(a|c.*)"), 1),
        kafka.start_group(&GroupSpec::share("m.share").topics(&["m.a"]), 1),
        kafka.start_group(&GroupSpec::streams("m.streams").topics(&["m.a"]), 1),
        kafka.start_group(&GroupSpec::classic("m.classic", "range").topics(&["m.a"]), 1),
    ];
    let bootstrap = kafka.bootstrap();
    let mut collector = Collector::start(&mut lagtop(&["collect", "-b", &bootstrap, "-g", "m.*", "-i", "500ms"]));
    let view = collector.until("equal hashes", all_equal);
    assert_eq!(of(&view, "m.classic").metadata.state, HashState::NotUsed);
    let far = &of(&view, "m.consumer").metadata.far;
    assert!(
        far.iter().all(|far| far.rack.raw() == "a") && far.iter().map(|far| far.far).sum::<usize>() == 2,
        "{far:?}"
    );
    reports_agree(&bootstrap);
    let mut scene = Scene { kafka, collector, seen: 0 };
    let view = scene.collector.view();
    scene.news(&view);

    scene.kafka.create_partitions("m.a", 4);
    scene.changes("partitions", &HASHED, "m.a", "3 > 4 partitions");
    let view = scene.collector.view();
    let classic = &of(&view, "m.classic").metadata.changes[0];
    assert_eq!(classic.consequence, Consequence::Rejoins);

    scene.kafka.reassign("m.a", 0, &[1, 2]);
    scene.changes("another rack", &HASHED, "m.a", "> a b");
    scene.kafka.reassign("m.a", 0, &[2, 1]);
    scene.keeps("another order", "m.a", "replicas in another order: 0");
    scene.kafka.elect_leaders(&[("m.a", 0)]);
    scene.keeps("another leader", "m.a", "leader of 0: 1 > 2");

    scene.kafka.stop_broker(3);
    scene.keeps("a stopped broker", "broker 3", "stopped, rack c as last seen");
    scene.kafka.start_broker(3, &[]);
    scene.keeps("the same rack again", "broker 3", "is back, rack c as before");
    scene.kafka.stop_broker(3);
    scene.keeps("stopped again", "broker 3", "stopped, rack c as last seen");
    scene.kafka.start_broker(3, &[("broker.rack", "b")]);
    scene.changes("another rack of a broker", &HASHED, "m.a", "broker 3 has another rack");

    // Now brokers 2 and 3 share rack b.
    scene.kafka.reassign("m.b", 0, &[3, 2]);
    scene.keeps("order in one rack", "m.b", "replicas in another order: 0");
    let view = scene.collector.view();
    let b = view.topics.get(&Name::new("m.b")).unwrap();
    assert_eq!(b.one_rack, [0]);
    scene.kafka.reassign("m.a", 0, &[3, 1]);
    scene.within_a_rack();

    scene.kafka.create_topic_with("m.c", json!({"replicas": [[1, 2]]}));
    scene.changes("a topic that the regex matches", &["m.regex"], "m.regex", "subscribes to m.c");
    scene.kafka.delete_topic("m.b");
    scene.changes("a deleted topic", &["m.consumer"], "m.b", "deleted");
    scene.kafka.create_topic_with("m.b", json!({"replicas": [[2, 3]]}));
    scene.changes("a created topic", &["m.consumer"], "m.b", "created, 1 partition");

    // Without broker 3 this time.
    scene.kafka.delete_topic("m.b");
    scene.kafka.create_topic_with("m.b", json!({"replicas": [[2, 1]]}));
    scene.changes("a topic deleted and created", &["m.consumer"], "m.b", "created");

    scene.kafka.stop_broker(3);
    scene.keeps("stopped once more", "broker 3", "stopped, rack b as last seen");
    // The coordinator computes the hash of a topic anew only when the topic itself changed: its epoch is bumped with
    // the next change, even one that keeps the hash.
    scene.kafka.unregister_broker(3);
    scene.kafka.reassign("m.a", 2, &[2, 1]);
    scene.changes("unregistered", &HASHED, "m.a", "broker 3 is unregistered");
    reports_agree_without_broker_3(&scene);
}

/// Who starts now never saw broker 3; the stored hash tells that it has no rack.
fn reports_agree_without_broker_3(scene: &Scene) {
    let snapshot = snapshot(&scene.kafka.bootstrap(), &["-g", "m.*"]);
    for id in HASHED {
        assert_eq!(group(&snapshot, id)["metadata"]["state"], "equal", "{:#}", group(&snapshot, id)["metadata"]);
    }
}
