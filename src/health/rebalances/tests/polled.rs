use std::time::Duration;

use super::*;
use crate::model::{Description, Evidence, GroupState, Member};

fn described(members: &[(&str, &[i32])]) -> Description {
    let members = members.iter().map(|(id, partitions)| Member {
        id: (*id).into(),
        client_id: Name::from(format!("client-{id}")),
        host: "/10.0.0.1".into(),
        assignment: Some(held(partitions)),
        ..Member::default()
    });
    Description { members: members.collect(), ..Description::default() }
}

struct Polls {
    history: History,
    group: Name,
    kind: GroupKind,
}

impl Polls {
    fn new() -> Self {
        Self { history: History::default(), group: "g".into(), kind: GroupKind::Classic }
    }

    fn at(&mut self, at: u64, state: GroupState, members: &[(&str, &[i32])]) {
        self.poll(at, state, members, true, None);
    }

    fn poll(&mut self, at: u64, state: GroupState, members: &[(&str, &[i32])], alone: bool, until: Option<u64>) {
        let description = described(members);
        self.history.poll(&Poll {
            group: &self.group,
            kind: &self.kind,
            state,
            description: &description,
            at: At(at),
            wall: Wall(at as i64),
            unchanged_until: until.map(At),
            alone,
        });
    }

    fn summary(&self, wall: i64) -> Summary {
        let asked = Asked { told_by_log: false, ..asked(wall) };
        self.history.summary(&self.group, asked, &Summary::default())
    }

    fn list(&self) -> Vec<Arc<Rebalance>> {
        self.summary(0).list.iter().rev().cloned().collect()
    }
}

use GroupState::{CompletingRebalance, Empty, PreparingRebalance, Reconciling, Stable, Unknown};

#[test]
fn nothing_happens_in_a_quiet_group() {
    let mut polls = Polls::new();
    for at in [0, 2000, 4000] {
        polls.at(at, Stable, &[("a", &[0, 1])]);
    }
    polls.at(6000, Unknown, &[]);
    polls.at(8000, Stable, &[("a", &[0, 1])]);
    assert!(polls.list().is_empty());
    let summary = polls.summary(8000);
    assert!(summary.lower_bound && summary.total_lower_bound);
    assert_eq!((summary.evidence, summary.since, summary.total), (Evidence::Admin, Some(Wall(0)), 0));
}

#[test]
fn a_rebalance_seen_is_timed_between_polls() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0, 1])]);
    polls.at(2000, PreparingRebalance, &[("a", &[])]);
    polls.at(4000, CompletingRebalance, &[("a", &[]), ("b", &[])]);
    assert_eq!(polls.summary(4500).ongoing.unwrap().lasting, Duration::from_millis(2500));
    polls.at(6000, Stable, &[("a", &[0]), ("b", &[1])]);
    let list = polls.list();
    assert_eq!(list.len(), 1);
    let (took, error) = (Duration::from_secs(4), Duration::from_secs(2));
    assert_eq!(list[0].took, Took::About { took, error });
    assert_eq!((list[0].began, list[0].ended, list[0].log), (Wall(2000), Wall(6000), None));
    assert_eq!(causes(&list[0]), ["joined: client-b @10.0.0.1"]);
    assert_eq!(moves(&list[0]), ["t-1 a>b"]);
    assert_eq!(polls.summary(6000).ongoing, None);
}

#[test]
fn what_changed_between_two_polls_is_one_rebalance() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0, 1]), ("b", &[2])]);
    polls.at(2000, Stable, &[("a", &[0, 1, 2])]);
    polls.at(4000, Stable, &[("a", &[0, 2]), ("c", &[1])]);
    polls.at(6000, Stable, &[("a", &[0, 1]), ("c", &[2])]);
    polls.at(8000, Empty, &[]);
    let list = polls.list();
    assert_eq!(list.len(), 4);
    assert!(list.iter().all(|rebalance| rebalance.took == Took::AtLeast(Duration::ZERO)));
    assert_eq!(causes(&list[0]), ["gone: client-b @10.0.0.1, cannot tell why (no commit known)"]);
    assert_eq!(causes(&list[2]), ["no record tells why"]);
    assert_eq!(moved(&list[2]), (2, 0, 0, 3));
    assert!(list[3].emptied);
    assert_eq!(polls.history.feed().len(), 4);
}

#[test]
fn a_static_member_that_restarts_is_no_rebalance() {
    let mut polls = Polls::new();
    let mut one = |at, id: &str| {
        let mut description = described(&[(id, &[0])]);
        description.members[0].instance_id = Some("i".into());
        polls.history.poll(&Poll {
            group: &polls.group,
            kind: &polls.kind,
            state: Stable,
            description: &description,
            at: At(at),
            wall: Wall(at as i64),
            unchanged_until: None,
            alone: true,
        });
    };
    one(0, "a");
    one(2000, "a2");
    assert!(polls.list().is_empty());
    assert_eq!(polls.summary(0).side[0].what.to_string(), "static member client-a2 (i) @10.0.0.1 restarted");
}

#[test]
fn another_type_is_told() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0])]);
    polls.kind = GroupKind::Consumer;
    polls.at(2000, Reconciling, &[("a", &[0])]);
    polls.at(4000, Stable, &[("a", &[0])]);
    let side: Vec<_> = polls.summary(0).side.iter().map(|line| line.what.to_string()).collect();
    assert_eq!(side, ["group changed from classic to consumer"]);
}

/// CASES 26: one member is busy for half an hour, a second one joins.
#[test]
fn preparing_for_a_long_time_grows() {
    let mut polls = Polls::new();
    polls.poll(0, Stable, &[("a", &[0])], false, None);
    polls.poll(10_000, PreparingRebalance, &[("a", &[])], false, Some(8_000));
    for at in (12_000..=760_000).step_by(2000) {
        polls.poll(at, PreparingRebalance, &[("a", &[])], false, Some(at - 2000));
    }
    let ongoing = polls.summary(760_000).ongoing.unwrap();
    assert_eq!((ongoing.lasting, ongoing.at_least), (Duration::from_secs(750), false));
    assert_eq!(polls.summary(762_000).ongoing.unwrap().lasting, Duration::from_secs(752));
    assert_eq!(polls.summary(760_000).frequency.per_hour, 1);
    // Started in the middle of it.
    let mut late = Polls::new();
    late.poll(0, PreparingRebalance, &[("a", &[])], false, None);
    assert!(late.summary(2000).ongoing.unwrap().at_least);
}

#[test]
fn polls_time_a_classic_rebalance_of_the_log() {
    let event = |offset, wall, what| Event { group: "g".into(), wall: Wall(wall), log: (0, offset), what };
    // The coordinator's clock is 400 ms behind: no matter, the durations are of the stream's clock.
    let seen = |at: u64| Seen { at: At(at), wall: Some(Wall(at as i64)) };
    let mut polls = Polls::new();
    polls.history.event(&event(1, 0, created()), seen(0));
    polls.history.event(&event(2, 0, generation(1, vec![holding("a", &[0, 1])], &[])), seen(0));
    polls.poll(2000, Stable, &[("a", &[0, 1])], false, Some(0));
    polls.poll(10_000, PreparingRebalance, &[("a", &[])], false, Some(8_000));
    polls.poll(12_000, PreparingRebalance, &[("a", &[])], false, Some(10_000));
    let members = vec![holding("a", &[0]), holding("b", &[1])];
    let record = Generation { generation: 2, joined_at: Some(Wall(11_000)), members, ..consumer() };
    polls.history.event(&event(3, 12_600, what(record)), seen(13_000));
    polls.poll(14_000, Stable, &[("a", &[0]), ("b", &[1])], false, Some(12_000));
    let last = polls.list().last().unwrap().clone();
    // Seen for 2 s, at rest 5 s before the record came.
    let (took, error) = (Duration::from_millis(3500), Duration::from_millis(1500));
    assert_eq!(last.took, Took::About { took, error });
    assert_eq!(polls.list().len(), 2);
    assert_eq!(polls.summary(14_000).ongoing, None);
    // Read later, from a history: the polls were of another time.
    let mut later = Polls::new();
    later.poll(5_000_000, PreparingRebalance, &[("a", &[])], false, None);
    later.history.event(&event(1, 0, created()), seen(5_001_000));
    later.history.event(&event(2, 1000, generation(1, vec![holding("a", &[0])], &[])), seen(5_001_000));
    assert_eq!(later.list()[0].took, Took::AtLeast(Duration::ZERO));
    assert!(later.summary(5_002_000).ongoing.is_some());
}

#[test]
fn what_the_log_tells_replaces_what_polls_saw() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0, 1])]);
    polls.at(2000, Stable, &[("b", &[0, 1])]);
    assert_eq!(polls.history.feed().len(), 1);
    let event = Event { group: "g".into(), wall: Wall(1000), log: (0, 9), what: generation(9, vec![], &[]) };
    polls.history.event(&event, Seen::default());
    assert!(polls.list().is_empty() && polls.history.feed().is_empty());
    // Described by the log: not derived once more.
    polls.poll(4000, Stable, &[("c", &[0, 1])], false, None);
    assert!(polls.list().is_empty());
}

#[test]
fn a_group_that_is_no_longer_listed_was_deleted() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0])]);
    polls.history.gone(&"g".into(), Some(Wall(2000)));
    polls.history.gone(&"never seen".into(), Some(Wall(2000)));
    let feed: Vec<_> = polls.history.feed().iter().map(|line| line.what.to_string()).collect();
    assert_eq!(feed, ["group deleted"]);
}
