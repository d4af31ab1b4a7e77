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
    /// Commit of each partition of `t`, and whether records wait behind it.
    commits: Option<Vec<(i64, bool)>>,
}

impl Polls {
    fn new() -> Self {
        Self { history: History::default(), group: "g".into(), kind: GroupKind::Classic, commits: None }
    }

    fn at(&mut self, at: u64, state: GroupState, members: &[(&str, &[i32])]) {
        self.poll(at, state, members, true, None);
    }

    fn poll(&mut self, at: u64, state: GroupState, members: &[(&str, &[i32])], alone: bool, until: Option<u64>) {
        self.described(at, state, &described(members), alone, until);
    }

    /// At rest.
    fn rests(&mut self, at: u64, description: &Description) {
        self.described(at, Stable, description, true, None);
    }

    fn described(&mut self, at: u64, state: GroupState, description: &Description, alone: bool, until: Option<u64>) {
        let topic = "t".into();
        let commit = |(partition, (offset, waiting)): (usize, &(i64, bool))| Committed {
            topic: &topic,
            partition: partition as i32,
            offset: *offset,
            lag_waiting: Some(*waiting),
        };
        self.history.poll(&Poll {
            group: &self.group,
            kind: &self.kind,
            state,
            description,
            at: At(at),
            wall: Wall(at as i64),
            unchanged_until: until.map(At),
            alone,
            commits: self.commits.as_ref().map(|commits| commits.iter().enumerate().map(commit).collect()),
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
    assert_eq!(
        (causes(&list[2]), list[2].causes[0].certainty),
        (vec!["polls do not tell why".into()], Certainty::Likely)
    );
    assert_eq!(moved(&list[2]), (2, 0, 0, 3));
    assert!(list[3].emptied);
    assert_eq!(polls.history.feed().len(), 4);
}

#[test]
fn a_static_member_that_restarts_is_no_rebalance() {
    let mut polls = Polls::new();
    let one = |id: &str| {
        let mut description = described(&[(id, &[0])]);
        description.members[0].instance_id = Some("i".into());
        description
    };
    polls.rests(0, &one("a"));
    polls.rests(2000, &one("a2"));
    assert!(polls.list().is_empty());
    assert_eq!(polls.summary(0).side[0].what.to_string(), "static member client-a2 (i) @10.0.0.1 restarted");
    // With a rebalance it is likely its cause.
    polls.described(4000, PreparingRebalance, &one("a2"), true, None);
    polls.rests(6000, &one("a3"));
    assert_eq!(causes(&polls.list()[0]), ["likely static member back: client-a3 (i) @10.0.0.1"]);
}

/// The words for a member that held partition 1 and is gone at the last poll, 2 s after the one before.
fn gone_after(kind: GroupKind, commits: &[(u64, i64)], waiting: bool, last: u64) -> Why {
    let mut polls = Polls::new();
    polls.kind = kind;
    let consumer_session_timeout_ms = Some(45_000);
    polls.history.set_defaults(GroupDefaults { consumer_session_timeout_ms, ..GroupDefaults::default() });
    for (at, commit) in commits {
        polls.commits = Some(vec![(7, false), (*commit, waiting)]);
        polls.at(*at, Stable, &[("a", &[0]), ("b", &[1])]);
    }
    polls.at(last, Stable, &[("a", &[0, 1])]);
    polls.list()[0].gone.list[0].why.clone()
}

#[test]
fn why_a_member_went_follows_from_what_polls_saw() {
    // Its commit moved right before.
    let why = gone_after(GroupKind::Classic, &[(0, 10), (2000, 20), (4000, 20)], true, 6000);
    assert_eq!(why.to_string(), "likely left (last commit 4s before)");
    assert_eq!((why.lag_waiting, why.certainty()), (Some(true), Certainty::Likely));
    // A session timeout ago, with records waiting; the brokers' configuration tells of KIP-848 groups alone.
    let crash: Vec<(u64, i64)> =
        std::iter::once((0, 10)).chain((2000..=46_000).step_by(2000).map(|at| (at, 20))).collect();
    let why = gone_after(GroupKind::Consumer, &crash, true, 48_000);
    assert_eq!(
        why.to_string(),
        "likely crashed or cut off (last commit 46s before; session timeout 45s, the broker's default)"
    );
    let why = gone_after(GroupKind::Classic, &crash, true, 48_000);
    assert_eq!(why.to_string(), "cannot tell why (last commit 46s before)");
    assert_eq!(gone_after(GroupKind::Consumer, &crash, false, 48_000).verdict, Departed::CannotTell);
    // When its commit last moved is not known: it did before the first poll, or polls were far apart.
    let why = gone_after(GroupKind::Classic, &[(0, 10), (2000, 10)], true, 4000);
    assert_eq!(why.to_string(), "cannot tell why (no commit known)");
    let why = gone_after(GroupKind::Classic, &[(0, 10), (2000, 20)], true, 32_000);
    assert_eq!((why.to_string().as_str(), why.quiet), ("cannot tell why (no commit known)", None));
}

#[test]
fn an_idle_member_that_goes_left() {
    let mut polls = Polls::new();
    polls.at(0, Stable, &[("a", &[0, 1]), ("b", &[])]);
    polls.at(2000, Stable, &[("a", &[0, 1])]);
    assert_eq!(causes(&polls.list()[0]), ["gone: client-b @10.0.0.1, likely left (it held nothing)"]);
    // It holds partitions of topics that were not selected.
    let mut elsewhere = described(&[("a", &[0, 1]), ("b", &[])]);
    elsewhere.members[1].elsewhere = 2;
    polls.rests(4000, &elsewhere);
    polls.at(6000, Stable, &[("a", &[0, 1])]);
    assert_eq!(causes(&polls.list()[2]), ["gone: client-b @10.0.0.1, cannot tell why (no commit known)"]);
}

#[test]
fn assignor_and_partition_count_are_seen_by_polls() {
    let mut polls = Polls::new();
    let by = |assignor: &str, members: &[(&str, &[i32])]| Description {
        assignor: Some(assignor.into()),
        ..described(members)
    };
    polls.rests(0, &by("range", &[("a", &[0, 1])]));
    polls.rests(2000, &by("sticky", &[("a", &[0, 1])]));
    polls.rests(4000, &by("sticky", &[("a", &[0, 1, 2])]));
    polls.rests(6000, &by("cooperative-sticky", &[("a", &[0, 1]), ("b", &[])]));
    polls.rests(8000, &by("cooperative-sticky", &[("a", &[0, 1]), ("b", &[2])]));
    // Of an empty group and of another protocol it says nothing.
    polls.rests(10_000, &by("", &[]));
    polls.rests(12_000, &by("range", &[("a", &[0, 1, 2])]));
    polls.kind = GroupKind::Consumer;
    polls.rests(14_000, &by("uniform", &[("a", &[0, 1, 2])]));
    let list = polls.list();
    let told: Vec<_> = list.iter().flat_map(|rebalance| causes(rebalance)).collect();
    assert_eq!(
        told,
        [
            "assignor range > sticky",
            "t 2 > 3 partitions",
            "joined: client-b @10.0.0.1",
            "assignor sticky > cooperative-sticky",
            "likely second round of a cooperative rebalance",
            "gone: client-a @10.0.0.1 and 1 more",
            "joined: client-a @10.0.0.1",
        ]
    );
    assert!(list[..2].iter().all(|rebalance| rebalance.causes[0].certainty == Certainty::Certain));
}

#[test]
fn another_subscription_is_seen_by_polls() {
    let mut polls = Polls::new();
    let to = |topics: Option<&[&str]>, partitions: &[i32]| {
        let mut description = described(&[("a", partitions)]);
        description.members[0].subscription =
            topics.map(|topics| topics.iter().map(|topic| Name::from(*topic)).collect());
        description
    };
    polls.rests(0, &to(None, &[0, 1]));
    polls.rests(2000, &to(Some(&["t"]), &[0, 1]));
    assert!(polls.list().is_empty());
    // Read with the members.
    polls.rests(4000, &to(Some(&["u"]), &[0]));
    assert_eq!(causes(&polls.list()[0]), ["subscription changed: client-a @10.0.0.1 +u -t"]);
    // Read later: it belongs to the rebalance that was seen before.
    polls.rests(6000, &to(Some(&["u"]), &[]));
    assert_eq!(causes(&polls.list()[1]), ["polls do not tell why"]);
    polls.rests(60_000, &to(Some(&["t"]), &[]));
    assert_eq!(causes(&polls.list()[1]), ["likely subscription changed: client-a @10.0.0.1 +t -u"]);
    // No rebalance was seen that it could belong to.
    polls.rests(600_000, &to(Some(&["t", "v"]), &[]));
    let list = polls.list();
    assert_eq!((list.len(), causes(&list[2])), (3, vec!["subscription changed: client-a @10.0.0.1 +v".into()]));
    assert_eq!(polls.history.feed().len(), 3);
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
