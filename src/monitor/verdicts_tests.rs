//! Situations over time, from the facts of each poll to the verdict.

#![allow(clippy::float_cmp)] // 0 and 1 are exact

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;

use crate::frame::{Frame, Hello, Stamped};
use crate::health::{Direction, PartitionLag, Reason, Rules, Severity, Thresholds, TimeLag, Verdict};
use crate::model::{
    At, Column, Commit, Commits, Description, Group, GroupKind, GroupState, Listing, Member, Name, Partition, Presence,
    Progress, Snapshot, Topic, TopicOffsets, Wall,
};
use crate::monitor::view::GroupView;
use crate::monitor::{Monitor, Preferences};

/// A group `g` on a topic `t`, polled every 2 s.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
struct Scene {
    monitor: Monitor,
    poll: u64,
    kind: GroupKind,
    state: GroupState,
    /// Of each member the partitions of `t` that it holds.
    members: Vec<Vec<i32>>,
    /// What all members subscribe to; `None`: not known.
    subscribed: Option<Vec<&'static str>>,
    commits: Vec<Option<i64>>,
    /// Timestamps of the commits, as the coordinator log has them; empty: there are none.
    committed: Vec<Wall>,
    ends: Vec<i64>,
    starts: Vec<i64>,
    id: u128,
    compacted: Option<bool>,
    stable: Option<Vec<i64>>,
    read_committed: bool,
    /// When the coordinator answered last, if it does not now: seconds.
    answered: Option<u64>,
    /// Its commits were not read yet.
    unread: bool,
    /// Its members and state were not read yet.
    undescribed: bool,
    /// Partitions of topics that were not selected, of each member.
    elsewhere: usize,
    /// No member has ever joined.
    simple: bool,
    /// When the first poll is, in milliseconds.
    begins: u64,
}

impl Scene {
    /// Members that hold these partitions, each at the end of a log of 1000 records.
    fn new(members: &[&[i32]]) -> Self {
        let members: Vec<Vec<i32>> = members.iter().map(|held| held.to_vec()).collect();
        let count = members.iter().flatten().max().map_or(1, |most| *most as usize + 1);
        Self {
            monitor: Monitor::new(Preferences::default()),
            poll: 0,
            kind: GroupKind::Classic,
            state: if members.is_empty() { GroupState::Empty } else { GroupState::Stable },
            members,
            subscribed: Some(vec!["t"]),
            commits: vec![Some(1000); count],
            committed: Vec::new(),
            ends: vec![1000; count],
            starts: vec![0; count],
            id: 1,
            compacted: Some(false),
            stable: None,
            read_committed: false,
            answered: None,
            unread: false,
            undescribed: false,
            elsewhere: 0,
            simple: false,
            begins: 0,
        }
    }

    fn now(&self) -> u64 {
        self.poll * 2
    }

    /// Polls once, as things are.
    fn look(&mut self) -> GroupView {
        let at = At(self.begins + self.poll * 2000);
        self.poll += 1;
        let column = |values: &[i64]| {
            Some(Column { at, values: values.iter().map(|value| Some(*value)).collect(), ..Column::default() })
        };
        let offsets = TopicOffsets {
            start: column(&self.starts),
            end: column(&self.ends),
            stable: self.stable.as_deref().and_then(column),
        };
        let topic = Topic {
            observed_at: at,
            presence: Presence::Present,
            id: Some(Uuid::from_u128(self.id)),
            partitions: vec![Partition { leader: Some(1), ..Partition::default() }; self.ends.len()],
            compacted: self.compacted,
        };
        let name = || Name::new("t");
        let subscription = self.subscribed.as_ref().map(|topics| topics.iter().copied().map(Name::new).collect());
        let members = self.members.iter().enumerate().map(|(place, held)| Member {
            id: Name::new(format!("m{place}")),
            client_id: Name::new(format!("m{place}")),
            assignment: Some(BTreeMap::from([(name(), held.clone())])),
            subscription: subscription.clone(),
            elsewhere: self.elsewhere,
            ..Member::default()
        });
        let commits = self.commits.iter().enumerate().filter_map(|(number, offset)| {
            let committed_at = self.committed.get(number).copied();
            Some((number as i32, Commit { offset: (*offset)?, committed_at, ..Commit::default() }))
        });
        let group = Group {
            kind: self.kind.clone(),
            listed_state: Some(self.state),
            description: (!self.undescribed).then(|| Description {
                state: self.state,
                simple: self.simple,
                members: members.collect(),
                ..Description::default()
            }),
            described_at: (!self.undescribed).then_some(at),
            commits: (!self.unread).then(|| Commits { topics: BTreeMap::from([(name(), commits.collect())]) }),
            commits_at: (!self.unread).then(|| self.answered.map_or(at, |seconds| At(seconds * 1000))),
            ..Group::default()
        };
        let progress = Progress {
            polls: self.poll,
            all_seen: true,
            interval_ms: 2000,
            read_committed: self.read_committed,
            ..Progress::default()
        };
        let body = Snapshot {
            listing: Some(Listing { complete: true, ..Listing::default() }),
            progress: Some(progress),
            topics: BTreeMap::from([(name(), topic)]),
            offsets: BTreeMap::from([(name(), offsets)]),
            groups: BTreeMap::from([(Name::new("g"), group)]),
            ..Snapshot::default()
        };
        if self.poll == 1 {
            self.monitor.fold(Frame::Hello(Hello { started: Wall(1_000_000_000_000), ..Hello::default() }));
            self.monitor.fold(Frame::Full(Stamped { at, body }));
        } else {
            self.monitor.fold(Frame::Partial(Stamped { at, body }));
        }
        (*self.monitor.view().groups[0]).clone()
    }

    /// Polls for so many seconds; `then` changes the scene before each poll and is told the second.
    fn for_seconds(&mut self, seconds: u64, mut then: impl FnMut(&mut Self, i64)) -> GroupView {
        let until = self.now() + seconds;
        let mut view = None;
        while self.now() < until {
            then(self, self.now() as i64);
            view = Some(self.look());
        }
        view.unwrap_or_else(|| self.look())
    }

    /// Every partition is written to, so many records a second.
    fn write(&mut self, per_second: i64) {
        self.ends.iter_mut().for_each(|end| *end += 2 * per_second);
    }

    /// Every partition is read to the end.
    fn read_all(&mut self) {
        self.commits = self.ends.iter().map(|end| Some(*end)).collect();
    }
}

fn rules(group: &GroupView) -> Vec<&'static str> {
    group.judgement.reasons.iter().map(|finding| finding.reason.rule()).collect()
}

fn verdict(group: &GroupView) -> (Verdict, Severity) {
    (group.judgement.verdict, group.judgement.severity)
}

#[test]
fn a_consumer_that_keeps_up_is_ok() {
    // It commits every 4 s, so some lag is always on its way.
    let mut scene = Scene::new(&[&[0], &[1]]);
    let group = scene.for_seconds(300, |scene, second| {
        scene.write(50);
        if second % 4 == 0 {
            scene.read_all();
        }
    });
    assert_eq!(verdict(&group), (Verdict::Ok, Severity::Ok), "{:?}", group.judgement);
    assert_eq!(group.judgement.completeness, 1.0);
    let on_its_way = matches!(group.judgement.reasons[0].reason, Reason::InFlight { lag: 1..=200, threshold: 400 });
    assert!(on_its_way, "two steps of 4 s: {:?}", group.judgement);
    assert!(group.time_lag.at_least().unwrap() <= Duration::from_secs(6), "{}", group.time_lag);
}

/// linkedin/Burrow#287: the lag must not freeze when the consumer stops.
#[test]
fn a_consumer_that_stops_is_lagging_and_then_stopped() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(100, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    let mut seen = Vec::new();
    scene.for_seconds(200, |scene, second| {
        scene.write(10);
        let group = scene.monitor.view().groups[0].clone();
        let state = (group.judgement.verdict, group.judgement.severity);
        if seen.last().is_none_or(|(_, last)| *last != state) {
            seen.push((second, state));
        }
        assert!(second < 110 || group.totals.lag > 0, "no last known lag of 0");
    });
    let states: Vec<_> = seen.iter().map(|(_, state)| *state).collect();
    let (ok, critical) = (Severity::Ok, Severity::Critical);
    let expected = [(Verdict::Ok, ok), (Verdict::Lagging, critical), (Verdict::Stopped, critical)];
    assert_eq!(states, expected, "{seen:?}");
    // The rhythm was a commit every 2 s: a minute without one is too long.
    assert!((160..=168).contains(&seen[2].0), "{seen:?}");
    let group = scene.look();
    let reason = group.judgement.reasons[0].reason;
    assert!(matches!(reason, Reason::Silent { silent, .. } if silent > Duration::from_secs(190)), "{reason:?}");
    assert_eq!(group.totals.lag, 2000);
    assert!(
        matches!(group.time_lag, TimeLag::Known { time, .. } if time.as_secs().abs_diff(202) <= 4),
        "{}",
        group.time_lag
    );
}

/// linkedin/Burrow#237: start offset 7952519 with lag 2107, 24 s later 7952734 with lag 1892.
#[test]
fn a_window_in_which_the_lag_falls_is_no_stop() {
    let mut scene = Scene::new(&[&[0]]);
    scene.ends = vec![7_954_626];
    let group = scene.for_seconds(26, |scene, second| scene.commits = vec![Some(7_952_519 + second * 215 / 24)]);
    assert_eq!(group.totals.lag, 1892);
    assert!(matches!(verdict(&group).0, Verdict::Ok | Verdict::CatchingUp), "{:?}", group.judgement);
}

#[test]
fn one_that_commits_each_message_has_not_stopped_while_none_comes() {
    let mut scene = Scene::new(&[&[0]]);
    let burst = |scene: &mut Scene| {
        scene.for_seconds(20, |scene, _| {
            scene.write(5);
            scene.read_all();
        })
    };
    burst(&mut scene);
    let quiet = scene.for_seconds(1200, |_, _| {});
    assert_eq!(verdict(&quiet), (Verdict::Ok, Severity::Ok));
    // The first message after a long silence is not an overdue commit.
    scene.ends[0] += 1;
    let one = scene.look();
    assert_eq!(verdict(&one).0, Verdict::Ok, "{:?}", one.judgement);
    burst(&mut scene);
    assert_eq!(verdict(&scene.look()).0, Verdict::Ok);
}

#[test]
fn one_that_commits_rarely_has_not_stopped() {
    // A commit every 10 minutes, of all that came.
    let mut scene = Scene::new(&[&[0]]);
    let mut worst = Verdict::Ok;
    scene.for_seconds(7000, |scene, second| {
        scene.write(10);
        if second % 600 == 0 {
            scene.read_all();
        }
        if second > 3000 {
            worst = worst.min(scene.monitor.view().groups[0].judgement.verdict);
        }
    });
    assert_eq!(worst, Verdict::Ok, "its rhythm is known by then");
    let early = Scene::new(&[&[0]]).for_seconds(250, |scene, _| scene.write(10));
    assert_eq!(early.judgement.verdict, Verdict::Lagging, "before, it is behind, and not stopped");
    // And when it really stops, twice the pause is too long.
    let group = scene.for_seconds(1400, |scene, _| scene.write(10));
    assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Critical));
}

#[test]
fn one_falling_step_does_not_hide_a_growing_lag() {
    let mut scene = Scene::new(&[&[0]]);
    let mut consumed = 0;
    let group = scene.for_seconds(300, |scene, second| {
        scene.write(100);
        if second % 10 == 0 {
            consumed += 600;
            scene.commits = vec![Some(1000 + consumed)];
        }
    });
    assert_eq!(verdict(&group), (Verdict::Lagging, Severity::Critical), "{:?}", group.judgement);
    assert!(matches!(group.judgement.reasons[0].reason, Reason::Behind { growing: true, .. }));
}

#[test]
fn one_that_comes_closer_is_catching_up() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(150, |scene, _| scene.write(100));
    let group = scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.commits = vec![scene.commits[0].map(|commit| commit + 240)];
    });
    assert_eq!(verdict(&group), (Verdict::CatchingUp, Severity::Note), "{:?}", group.judgement);
}

#[test]
fn commits_of_a_group_without_members_are_a_standalone_consumers() {
    let mut scene = Scene::new(&[]);
    scene.commits = vec![Some(10)];
    let first = scene.look();
    assert_eq!(verdict(&first), (Verdict::Stopped, Severity::Note), "seen once");
    assert_eq!(first.judgement.completeness, 0.0);
    let group = scene.for_seconds(60, |scene, _| {
        scene.write(5);
        scene.commits = vec![scene.commits[0].map(|commit| commit + 30)];
    });
    assert_eq!(group.judgement.verdict, Verdict::CatchingUp, "{:?}", group.judgement);
    assert!(rules(&group).contains(&"standalone") && group.plan.is_none());
    // It goes, too.
    let group = scene.for_seconds(200, |scene, _| scene.write(5));
    assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Critical));
    assert_eq!(rules(&group)[0], "no_members");
}

#[test]
fn a_commit_that_is_set_by_hand_is_no_consumers() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(30, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    (scene.members, scene.state) = (Vec::new(), GroupState::Empty);
    scene.for_seconds(90, |scene, _| scene.write(10));
    for offset in [1500, 200] {
        scene.commits = vec![Some(offset)];
        let group = scene.for_seconds(10, |scene, _| scene.write(10));
        assert!(rules(&group).contains(&"no_members"), "{:?}", group.judgement);
        assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Critical), "{:?}", group.judgement);
    }
}

#[test]
fn a_group_that_nobody_was_ever_seen_to_read_is_a_note() {
    let of = |commits: &[i64]| {
        let mut scene = Scene::new(&[]);
        (scene.simple, scene.commits) = (true, vec![Some(10)]);
        scene.for_seconds(20, |scene, _| scene.write(10));
        for offset in commits {
            scene.commits = vec![Some(*offset)];
            scene.for_seconds(20, |scene, _| scene.write(10));
        }
        let soon = verdict(&scene.look());
        (soon, verdict(&scene.for_seconds(400, |scene, _| scene.write(10))))
    };
    let (unknown, stopped) = ((Verdict::Unknown, Severity::Unknown), Verdict::Stopped);
    assert_eq!(of(&[]), (unknown, (stopped, Severity::Note)));
    assert_eq!(of(&[200, 300]).1, (stopped, Severity::Critical), "it was seen to read");
}

#[test]
fn retention_does_not_catch_up() {
    let mut scene = Scene::new(&[&[0]]);
    (scene.commits, scene.ends) = (vec![Some(100)], vec![10_000]);
    let group = scene.for_seconds(120, |scene, _| scene.starts[0] += 100);
    assert_eq!(group.partitions[0].direction, Direction::Falling);
    assert!(!rules(&group).contains(&"catching_up"), "{:?}", group.judgement);
}

#[test]
fn a_group_that_lost_all_its_members_is_no_standalone_consumer() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    // The last commit is seen with the news that all are gone.
    (scene.state, scene.members) = (GroupState::Empty, Vec::new());
    scene.read_all();
    let group = scene.for_seconds(4, |scene, _| scene.write(10));
    assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Warn), "it may restart: {:?}", group.judgement);
    assert_eq!(rules(&group)[0], "no_members");
    let group = scene.for_seconds(66, |scene, _| scene.write(10));
    assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Critical), "{:?}", group.judgement);
    let told = feed(&scene);
    assert_eq!(told.iter().filter(|(_, line)| line.contains("OK > STOPPED")).count(), 1, "{told:?}");
    assert!(told.iter().all(|(_, line)| !line.contains("STOPPED >")), "{told:?}");
}

#[test]
fn a_stalled_partition_is_told_from_a_consumer_that_stopped() {
    let mut scene = Scene::new(&[&[0, 1]]);
    let read = |scene: &mut Scene, only_first: bool| {
        scene.write(10);
        let (first, second) = (Some(scene.ends[0]), Some(scene.ends[1]));
        scene.commits = vec![first, if only_first { scene.commits[1] } else { second }];
    };
    scene.for_seconds(60, |scene, _| read(scene, false));
    let group = scene.for_seconds(100, |scene, _| read(scene, true));
    assert_eq!(verdict(&group), (Verdict::Stalled, Severity::Critical));
    assert_eq!(group.judgement.reasons[0].partition, Some(1));
    assert_eq!(group.members[0].judgement.verdict, Verdict::Stalled);
    assert_eq!(group.partitions[0].judgement.verdict, Verdict::Ok);
    let group = scene.for_seconds(100, |scene, _| scene.write(10));
    assert_eq!(group.judgement.verdict, Verdict::Stopped, "now nothing moves");
}

#[test]
fn one_that_takes_its_partitions_in_turn_leaves_none_of_them() {
    let mut scene = Scene::new(&[&[0, 1]]);
    scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    // It reads 200 records in 2 s, of one partition for 80 s and then of the other.
    let in_turn = |scene: &mut Scene, second: i64| {
        let turn = usize::from(second / 80 % 2 == 1);
        let end = scene.ends[turn];
        scene.commits[turn] = scene.commits[turn].map(|commit| end.min(commit + 200));
    };
    let mut seen = Vec::new();
    let mut look = |scene: &mut Scene, per_second: i64| {
        for _ in 0..200 {
            scene.write(per_second);
            in_turn(scene, scene.now() as i64);
            seen.push(scene.look());
        }
        std::mem::take(&mut seen)
    };
    let more = look(&mut scene, 100);
    let behind: Vec<_> = more[60..].iter().map(|group| (verdict(group), rules(group)[0])).collect();
    assert!(behind.iter().all(|now| *now == ((Verdict::Lagging, Severity::Critical), "behind")), "{behind:?}");
    let less = look(&mut scene, 5);
    let verdicts: Vec<_> = less[40..].iter().map(verdict).collect();
    assert!(verdicts.iter().all(|now| *now == (Verdict::CatchingUp, Severity::Note)), "{verdicts:?}");
    // One that is left for longer than any turn takes is.
    let group = scene.for_seconds(400, |scene, _| {
        scene.write(200);
        scene.commits[0] = scene.commits[0].map(|commit| commit + 200);
    });
    assert_eq!((verdict(&group).0, rules(&group)[0]), (Verdict::Stalled, "stuck"), "{:?}", group.judgement);
}

#[test]
fn a_commit_that_is_made_again_and_does_not_move_is_stuck() {
    let mut scene = Scene::new(&[&[0]]);
    scene.committed = vec![Wall(5_000_000)];
    scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.read_all();
        scene.committed[0].0 += 2000;
    });
    let group = scene.for_seconds(100, |scene, _| {
        scene.write(10);
        scene.committed[0].0 += 2000;
    });
    assert_eq!(verdict(&group), (Verdict::Stalled, Severity::Critical), "{:?}", group.judgement);
}

#[test]
fn commits_that_were_not_read_yet_are_not_known() {
    let mut scene = Scene::new(&[&[0]]);
    scene.unread = true;
    let group = scene.look();
    assert_eq!((group.partitions[0].lag, group.totals.no_commit), (PartitionLag::Unknown, 0));
    assert_eq!((verdict(&group).0, rules(&group)), (Verdict::Unknown, vec!["not_read"]));
    scene.unread = false;
    assert_eq!(verdict(&scene.look()).0, Verdict::Ok);
}

#[test]
fn a_commit_past_the_end_is_told() {
    let mut scene = Scene::new(&[&[0]]);
    scene.commits = vec![Some(9220)];
    let once = scene.look();
    assert_eq!(once.partitions[0].lag, PartitionLag::Known(0), "once may be a race");
    let group = scene.look();
    assert_eq!(group.partitions[0].lag, PartitionLag::PastEnd { by: 8220 });
    assert_eq!((verdict(&group), group.totals.lag), ((Verdict::Stalled, Severity::Warn), 0));
}

#[test]
fn a_topic_under_the_same_name_has_no_past() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(100, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    scene.id = 2;
    scene.ends = vec![2500];
    let group = scene.look();
    assert_eq!(group.partitions[0].rates.written, None);
    assert_eq!(group.time_lag, TimeLag::Unknown, "one sample of the new log");
    assert_eq!(group.partitions[0].signs.watched, Duration::ZERO);
}

#[test]
fn a_transactions_marker_is_at_most_one_record() {
    let mut scene = Scene::new(&[&[0]]);
    scene.commits = vec![Some(100)];
    scene.ends = vec![101];
    let group = scene.for_seconds(700, |_, _| {});
    assert_eq!(verdict(&group), (Verdict::Ok, Severity::Ok), "{:?}", group.judgement);
    assert_eq!((group.totals.lag, group.totals.at_most()), (1, true));
    assert_eq!(rules(&group), ["control_record"]);
}

#[test]
fn an_open_transaction_is_not_the_consumers_fault() {
    let open = |read_committed: bool| {
        let mut scene = Scene::new(&[&[0]]);
        (scene.commits, scene.stable, scene.ends) = (vec![Some(200)], Some(vec![200]), vec![1663]);
        scene.read_committed = read_committed;
        scene.for_seconds(400, |_, _| {})
    };
    let group = open(true);
    assert_eq!(
        (group.totals.lag, group.partitions[0].raw(), group.partitions[0].open_transaction),
        (0, Some(1463), 1463)
    );
    // That the transaction is open for so long is worth a word.
    assert_eq!((verdict(&group), rules(&group)), ((Verdict::Ok, Severity::Note), vec!["open_transaction"]));
    // Nobody knows which isolation level the group has: the lag is to the end, the verdict does not blame it.
    let group = open(false);
    assert_eq!((group.totals.lag, verdict(&group)), (1463, (Verdict::Ok, Severity::Note)));
}

#[test]
fn lag_on_a_compacted_topic_is_an_upper_bound() {
    let mut scene = Scene::new(&[&[0]]);
    scene.commits = vec![Some(400)];
    assert!(!scene.look().totals.at_most());
    scene.compacted = Some(true);
    let group = scene.look();
    assert_eq!((group.totals.lag, group.totals.at_most(), group.partitions[0].doubtful), (600, true, 600));
}

#[test]
fn retention_that_comes_near_is_told_before_it_is_too_late() {
    let mut scene = Scene::new(&[&[0]]);
    (scene.commits, scene.ends) = (vec![Some(4000)], vec![100_000]);
    let group = scene.for_seconds(121, |scene, second| scene.starts = vec![second / 30 * 600]);
    let partition = &group.partitions[0];
    assert_eq!(partition.to_log_start(), Some(1600));
    let time = partition.signs.time_to_loss.unwrap();
    assert!((70..=90).contains(&time.as_secs()), "20 a second: {time:?}");
    assert_eq!((verdict(&group), rules(&group)[0]), ((Verdict::Lagging, Severity::Critical), "near_loss"));
    scene.starts = vec![4500];
    let group = scene.look();
    assert_eq!(group.partitions[0].lag, PartitionLag::Expired { lost: 500, readable: 95_500 });
    assert_eq!((verdict(&group), rules(&group)[0]), ((Verdict::Lagging, Severity::Critical), "lost"));
}

#[test]
fn a_topic_that_nobody_subscribes_to_is_abandoned_after_a_while() {
    let thresholds = Thresholds { abandoned_after: Duration::from_secs(60), ..Thresholds::default() };
    let preferences =
        Preferences { thresholds: Rules { default: thresholds, rules: Vec::new() }, ..Preferences::default() };
    let mut scene = Scene::new(&[&[]]);
    scene.monitor = Monitor::new(preferences);
    (scene.commits, scene.subscribed) = (vec![Some(900)], Some(vec!["other"]));
    let group = scene.for_seconds(60, |_, _| {});
    assert_eq!((group.totals.lag, group.totals.abandoned), (100, 0));
    assert_eq!(rules(&group)[0], "not_subscribed");
    let group = scene.look();
    assert_eq!((group.totals.lag, group.totals.abandoned), (0, 1));
    assert_eq!(group.totals.exceptions(), [("abandoned", 1)]);
    assert_eq!(verdict(&group), (Verdict::Empty, Severity::Note), "there is nothing to read");
    // Where a subscription is not known, nothing is.
    scene.subscribed = None;
    assert_eq!(scene.look().totals.abandoned, 0);
}

#[test]
fn what_the_coordinator_recorded_tells_at_once_what_is_abandoned() {
    let mut scene = Scene::new(&[&[]]);
    (scene.commits, scene.ends, scene.starts) = (vec![Some(900), Some(990)], vec![1000, 1000], vec![0, 0]);
    scene.subscribed = Some(vec!["other"]);
    scene.committed = vec![Wall(1_000), Wall(600_999)];
    assert_eq!(scene.look().totals.abandoned, 0);
    scene.committed = vec![Wall(1_000), Wall(601_000)];
    let group = scene.look();
    assert_eq!((group.totals.lag, group.totals.abandoned), (10, 1), "nothing for 10 min before its newest commit");
}

#[test]
fn members_of_whom_nothing_is_known_are_not_ok() {
    let of = |scene: &mut Scene| {
        let judgement = scene.look().members[0].judgement.clone();
        (judgement.verdict, judgement.completeness, judgement.reasons[0].reason.rule())
    };
    let mut connect = Scene::new(&[&[0]]);
    connect.kind = GroupKind::Other(Name::new("connect"));
    assert_eq!(of(&mut connect), (Verdict::Unknown, 0.0, "no_offsets"));
    // All that it holds is of topics that were not selected.
    let mut elsewhere = Scene::new(&[&[]]);
    elsewhere.elsewhere = 3;
    assert_eq!(of(&mut elsewhere), (Verdict::Unknown, 0.0, "not_read"));
    assert_eq!(of(&mut Scene::new(&[&[]])), (Verdict::Empty, 1.0, "nothing"), "an idle one does nothing wrong");
}

#[test]
fn a_group_whose_members_were_not_read_is_not_empty() {
    let mut scene = Scene::new(&[]);
    scene.undescribed = true;
    assert_eq!(verdict(&scene.look()), (Verdict::Ok, Severity::Ok), "it has read everything, whoever it is");
    let mut scene = Scene { undescribed: true, unread: true, ..Scene::new(&[]) };
    assert_eq!(verdict(&scene.look()), (Verdict::Unknown, Severity::Unknown));
}

/// icanbwell/fhir-server#2539: the group is Stable, and nobody has the partition.
#[test]
fn a_partition_without_owner_in_a_stable_group_is_told() {
    let mut scene = Scene::new(&[&[0]]);
    (scene.commits, scene.ends) = (vec![Some(1000), Some(900)], vec![1000, 1000]);
    let group = scene.look();
    assert_eq!((verdict(&group), rules(&group)[0]), ((Verdict::Stopped, Severity::Note), "no_owner"));
    let group = scene.for_seconds(30, |scene, _| {
        scene.write(5);
        scene.commits[0] = Some(scene.ends[0]);
    });
    assert_eq!(verdict(&group), (Verdict::Stopped, Severity::Critical), "and more arrives");
}

#[test]
fn a_rewound_commit_is_told_until_it_is_made_good() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(30, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    scene.commits = vec![Some(1000)];
    let group = scene.look();
    assert_eq!((verdict(&group), rules(&group)[0]), ((Verdict::Rewound, Severity::Warn), "rewound"));
    assert!(group.partitions[0].rates.consumed.is_none_or(|rate| rate.per_second >= 0.0));
    scene.read_all();
    assert_eq!(verdict(&scene.look()).0, Verdict::Ok);
}

#[test]
fn a_commit_past_the_end_that_is_reset_to_it_reads_nothing_again() {
    let mut scene = Scene::new(&[&[0]]);
    scene.commits = vec![Some(9220)];
    scene.for_seconds(20, |_, _| {});
    scene.read_all();
    scene.for_seconds(20, |_, _| {});
    let told = feed(&scene);
    assert!(told.iter().any(|(_, line)| line == "commit of t-0 moved back 9220 > 1000"), "{told:?}");
    let group = scene.for_seconds(60, |scene, _| {
        scene.read_all();
        scene.write(10);
    });
    assert_eq!(verdict(&group), (Verdict::Ok, Severity::Ok), "{:?}", group.judgement);
}

#[test]
fn nothing_is_judged_as_stopped_while_partitions_change_hands() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    scene.state = GroupState::PreparingRebalance;
    let group = scene.for_seconds(40, |scene, _| scene.write(10));
    assert_eq!(verdict(&group), (Verdict::Rebalancing, Severity::Warn), "{:?}", group.judgement);
    // For twelve minutes, with a lag that grows: it is grave.
    let group = scene.for_seconds(700, |scene, _| scene.write(10));
    assert_eq!(group.judgement.severity, Severity::Critical);
    assert!(rules(&group).contains(&"rebalancing"));
}

#[test]
fn a_suspended_machine_does_not_invent_a_time() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(30, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    // An hour later the machine wakes up.
    scene.poll += 1750;
    scene.ends[0] += 36_000;
    let group = scene.look();
    assert_eq!(group.time_lag, TimeLag::Unknown, "it was exceeded while nobody looked");
    let group = scene.look();
    assert_eq!(group.time_lag, TimeLag::MoreThan(Duration::from_secs(2)));
}

/// What the feed says, the oldest first: seconds since the start, and the line.
fn feed(scene: &Scene) -> Vec<(i64, String)> {
    let events = scene.monitor.view().events;
    events.iter().rev().map(|event| ((event.wall.0 - 1_000_000_000_000) / 1000, event.what.to_string())).collect()
}

#[test]
fn another_verdict_is_told_once_it_holds() {
    let mut scene = Scene::new(&[&[0]]);
    let keep_up = |scene: &mut Scene, _: i64| {
        scene.write(10);
        scene.read_all();
    };
    scene.for_seconds(100, keep_up);
    scene.for_seconds(70, |scene, _| scene.write(10));
    scene.for_seconds(20, keep_up);
    let told = feed(&scene);
    assert_eq!(told.len(), 2, "two seconds of LAGGING in between are not: {told:?}");
    assert!(told[0].1.starts_with("OK > STOPPED: t-0: no commit for 1m0") && told[0].0 >= 160, "{told:?}");
    assert_eq!(told[1], (170, "STOPPED > OK: t-0: caught up".to_owned()));
    // A rebalance is not told a second time as a verdict.
    scene.state = GroupState::PreparingRebalance;
    scene.for_seconds(20, keep_up);
    scene.state = GroupState::Stable;
    scene.for_seconds(20, keep_up);
    assert!(feed(&scene).iter().all(|(_, line)| !line.contains("REBALANCING")), "{:?}", feed(&scene));
}

#[test]
fn what_a_rebalance_leaves_is_told_where_it_was_the_first_that_held() {
    let mut scene = Scene::new(&[&[0]]);
    scene.state = GroupState::PreparingRebalance;
    scene.for_seconds(10, |scene, _| scene.write(10));
    (scene.members, scene.state) = (Vec::new(), GroupState::Empty);
    scene.for_seconds(20, |scene, _| scene.write(10));
    let told = feed(&scene);
    assert!(told.len() == 1 && told[0].1.starts_with("REBALANCING > STOPPED: t-0: nobody consumes"), "{told:?}");
}

#[test]
fn records_that_come_in_bursts_keep_coming() {
    let mut scene = Scene::new(&[]);
    scene.commits = vec![Some(900), Some(1500)];
    scene.ends = vec![1000, 1000];
    scene.starts = vec![0, 0];
    scene.look();
    scene.look();
    let mut seen = Vec::new();
    for second in 0..150 {
        if second % 30 == 0 {
            scene.ends[0] += 50;
        }
        let group = scene.look();
        seen.push((verdict(&group), rules(&group)[0]));
    }
    let critical = ((Verdict::Stopped, Severity::Critical), "no_members");
    assert!(seen.iter().all(|now| *now == critical), "{seen:?}");
    assert_eq!(feed(&scene), [], "how it was found is no change");
    let group = scene.for_seconds(310, |_, _| {});
    assert_eq!(verdict(&group), (Verdict::Stalled, Severity::Warn), "no more come: {:?}", group.judgement);
}

#[test]
fn commits_that_polls_saw_moving_back_are_told_once() {
    let mut scene = Scene::new(&[&[0, 1]]);
    scene.for_seconds(10, |_, _| {});
    scene.commits = vec![Some(400), Some(900)];
    scene.for_seconds(10, |_, _| {});
    let back =
        |scene: &Scene| feed(scene).into_iter().filter(|(_, line)| line.starts_with("commit of")).collect::<Vec<_>>();
    assert_eq!(
        back(&scene),
        [(10, "commit of t-0 moved back 1000 > 400 (and 1 more partition, 700 records in all)".to_owned())]
    );
    scene.commits = vec![Some(100), Some(900)];
    scene.look();
    assert_eq!(back(&scene).len(), 2);
}

#[test]
fn a_topic_that_loses_its_last_subscriber_is_told() {
    let mut scene = Scene::new(&[&[0]]);
    scene.look();
    // In a rebalance everybody is away for a moment.
    (scene.state, scene.subscribed) = (GroupState::PreparingRebalance, Some(vec!["other"]));
    scene.look();
    assert!(feed(&scene).is_empty());
    scene.state = GroupState::Stable;
    scene.look();
    scene.look();
    let told: Vec<_> = feed(&scene).into_iter().filter(|(_, line)| line.contains("subscribes")).collect();
    assert_eq!(told, [(4, "no member subscribes to t any more".to_owned())]);
}

#[test]
fn changes_of_metadata_are_in_the_feed_of_the_groups_that_they_concern() {
    let mut scene = Scene::new(&[&[0]]);
    scene.look();
    scene.ends.push(0);
    scene.starts.push(0);
    scene.commits.push(None);
    scene.look();
    let told: Vec<_> = feed(&scene).into_iter().filter(|(_, line)| line.contains("partitions")).collect();
    assert_eq!(told, [(2, "t: 1 > 2 partitions".to_owned())]);
    scene.look();
    assert_eq!(feed(&scene).iter().filter(|(_, line)| line.starts_with("t: ")).count(), 1, "once");
}

/// Ends are read for other groups that read the topic, too.
#[test]
fn a_coordinator_that_does_not_answer_makes_no_lag() {
    let mut scene = Scene::new(&[&[0]]);
    scene.for_seconds(100, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    scene.answered = Some(scene.now() - 2);
    let group = scene.for_seconds(10, |scene, _| scene.write(10));
    assert_eq!(group.judgement.verdict, Verdict::Ok, "three looks may be missing: {:?}", group.judgement);
    let group = scene.for_seconds(600, |scene, _| scene.write(10));
    assert_eq!((verdict(&group), rules(&group)), ((Verdict::Unknown, Severity::Unknown), vec!["stale"]));
    assert!(
        matches!(group.partitions[0].lag, PartitionLag::Stale { since: At(98_000), .. }),
        "{:?}",
        group.partitions[0].lag
    );
    scene.answered = None;
    scene.read_all();
    assert_eq!(scene.look().judgement.verdict, Verdict::Ok);
}

#[test]
fn owners_of_empty_partitions_are_named_and_say_so_themselves() {
    let mut scene = Scene::new(&[&[0], &[1], &[2, 3]]);
    let group = scene.for_seconds(60, |scene, _| {
        scene.ends[0] += 20;
        scene.read_all();
        // An empty log, where many consumers commit nothing.
        (scene.ends[1], scene.commits[1]) = (0, None);
    });
    let reason = group.judgement.reasons.iter().map(|finding| finding.reason);
    let named = Reason::NothingArrives { members: 2, first: 1 };
    assert_eq!(reason.filter(|reason| *reason == named).count(), 1, "{:?}", group.judgement);
    let quiet: Vec<bool> = group.members.iter().map(super::super::view::MemberView::is_quiet).collect();
    assert_eq!(quiet, [false, true, true]);
    let own = &group.members[2].judgement;
    assert_eq!((own.verdict, own.severity), (Verdict::Ok, Severity::Note), "{own:?}");
    assert_eq!(own.reasons.last().unwrap().reason, Reason::NothingArrives { members: 1, first: 2 });
    // Once is enough, however often it is judged.
    assert_eq!(own.reasons.len(), 2, "{own:?}");
    let busy = &group.members[0].judgement;
    assert_eq!((busy.verdict, busy.severity, busy.reasons.len()), (Verdict::Ok, Severity::Ok, 1), "{busy:?}");
    // Records come to all: nobody is named any more.
    let group = scene.for_seconds(60, |scene, _| {
        scene.write(10);
        scene.read_all();
    });
    assert!(!group.members.iter().any(super::super::view::MemberView::is_quiet), "{:?}", group.judgement);
}

#[test]
fn the_member_that_owns_most_is_named() {
    let mut scene = Scene::new(&[&[0], &[1, 2, 3, 4, 5, 6], &[7]]);
    let group = scene.look();
    let uneven = Reason::Uneven { partitions: 6, of: 8, members: 3, member: 1 };
    let of = |judgement: &crate::health::Judgement| judgement.reasons.iter().any(|finding| finding.reason == uneven);
    assert!(of(&group.judgement), "{:?}", group.judgement);
    let own: Vec<bool> = group.members.iter().map(|member| of(&member.judgement)).collect();
    assert_eq!(own, [false, true, false]);
}

#[test]
fn a_streams_groups_assignment_is_judged_and_has_no_alternative() {
    let mut scene = Scene::new(&[&[0, 1, 2, 3], &[4]]);
    (scene.kind, scene.ends[4]) = (GroupKind::Streams, 1600);
    let group = scene.look();
    assert!(!rules(&group).contains(&"uneven"), "not twice a fair share");
    let metrics = group.metrics.unwrap();
    assert_eq!((metrics.largest_lag, metrics.lag_over_mean, metrics.partitions_over_mean), (600, Some(2.0), Some(1.6)));
    assert!(group.plan.is_none() && group.basis.is_none());
    scene.members.extend([Vec::new(), Vec::new()]);
    let group = scene.look();
    let uneven = Reason::Uneven { partitions: 4, of: 5, members: 4, member: 0 };
    assert!(group.judgement.reasons.iter().any(|finding| finding.reason == uneven), "{:?}", group.judgement);
}

/// What a consumer does for three polls: how many tens of records are written in each, and whether it stands still, reads
/// everything, reads all but the last twenty, or goes back by fifty.
type Act = (i64, u8);

/// The verdicts on a group and its two partitions, poll by poll, where every record stands for `scale` records.
fn verdicts(script: &[Act], begins: u64, scale: i64) -> Vec<Vec<(Verdict, Severity)>> {
    let mut scene = Scene::new(&[&[0, 1]]);
    scene.begins = begins;
    scene.ends.iter_mut().for_each(|end| *end *= scale);
    scene.commits = vec![Some(1000 * scale); 2];
    let mut seen = Vec::new();
    for (written, does) in script.iter().flat_map(|act| [act; 3]) {
        scene.ends[0] += written * 10 * scale;
        let (end, commit) = (scene.ends[0], scene.commits[0].unwrap());
        scene.commits[0] = Some(match does {
            0 => commit,
            1 => end,
            2 => commit.max(end - 20 * scale),
            _ => commit - 50 * scale,
        });
        let group = scene.look();
        let judged = group.partitions.iter().map(|partition| &partition.judgement).chain([&group.judgement]);
        seen.push(judged.map(|judgement| (judgement.verdict, judgement.severity)).collect());
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Neither when it happens nor how many records a record stands for changes what is said.
    #[test]
    fn shifting_time_or_scaling_records_changes_no_verdict(
        script in proptest::collection::vec((0i64..5, 0u8..4), 1..60),
        begins in 0u64..10_000_000_000,
        scale in 2i64..1000,
    ) {
        let as_it_is = verdicts(&script, 0, 1);
        prop_assert_eq!(&as_it_is, &verdicts(&script, begins, 1));
        prop_assert_eq!(&as_it_is, &verdicts(&script, 0, scale));
    }
}
