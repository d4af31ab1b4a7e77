use super::*;
use crate::frame::{Gap, Hello, Note};
use crate::health::rebalances::Missing;
use crate::model::{
    Description, Event, EventMember, Evidence, Generation, Group, GroupKind, GroupState, Listing, LogProgress, Member,
    Progress, Wall, What,
};

const STARTED: i64 = 1_000_000_000_000;

fn hello() -> Frame {
    Frame::Hello(Hello { started: Wall(STARTED), ..Hello::default() })
}

fn listing() -> Listing {
    Listing { complete: true, ..Listing::default() }
}

/// A snapshot of one group with these members, all holding nothing.
fn snapshot(at: u64, evidence: Evidence, state: GroupState, members: &[&str]) -> Stamped<Snapshot> {
    let member = |id: &&str| Member { id: (*id).into(), assignment: Some(BTreeMap::new()), ..Member::default() };
    let members = members.iter().map(member).collect();
    let description = Some(Description { evidence, state, members, ..Description::default() });
    let group = Group { kind: GroupKind::Classic, description, described_at: Some(At(at)), ..Group::default() };
    let groups = BTreeMap::from([("g".into(), group)]);
    let progress = Some(Progress { polls: at, ..Progress::default() });
    let body = Snapshot { listing: Some(listing()), progress, groups, ..Snapshot::default() };
    Stamped { at: At(at), body }
}

fn generation(at: u64, offset: i64, generation: i32, members: &[&str]) -> Frame {
    let member = |id: &&str| EventMember { id: (*id).into(), held: Some(BTreeMap::new()), ..EventMember::default() };
    let members = members.iter().map(member).collect();
    let protocol_type = if generation == 0 { "".into() } else { "consumer".into() };
    let record = Generation { generation, protocol_type, members, ..Generation::default() };
    let what = What::Generation(Box::new(record));
    let wall = Wall(STARTED + i64::try_from(at).unwrap());
    Frame::Event(Stamped { at: At(at), body: Event { group: "g".into(), wall, log: (3, offset), what } })
}

#[test]
fn events_reach_the_view_with_the_next_snapshot() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    monitor.fold(generation(100, 1, 0, &[]));
    monitor.fold(generation(200, 2, 1, &["a"]));
    let full = snapshot(300, Evidence::Log, GroupState::Stable, &["a"]);
    monitor.fold(Frame::Full(full.clone()));
    let view = monitor.view();
    let rebalances = &view.groups[0].rebalances;
    assert_eq!((rebalances.total, rebalances.frequency.per_hour), (1, 1));
    assert_eq!(rebalances.evidence, Evidence::Log);
    assert!(!rebalances.lower_bound && rebalances.frequency.storm.is_none());
    assert_eq!(view.events.len(), 2);
    assert_eq!(view.events[0].what.to_string(), view.groups[0].rebalances.list[0].causes[0].to_string());

    // A new collector tells the history again; nothing is counted twice, and what is new is not lost.
    monitor.fold(hello());
    for frame in [generation(100, 1, 0, &[]), generation(200, 2, 1, &["a"]), generation(5100, 3, 2, &["a", "b"])] {
        monitor.fold(frame);
    }
    monitor.fold(Frame::Full(snapshot(5200, Evidence::Log, GroupState::Stable, &["a", "b"])));
    let view = monitor.view();
    assert_eq!((view.groups[0].rebalances.total, view.events.len()), (2, 3));

    // An hour later, without another word about the group, it is quiet.
    let body = Snapshot { listing: Some(listing()), ..Snapshot::default() };
    monitor.fold(Frame::Partial(Stamped { at: At(3_700_000), body }));
    let view = monitor.view();
    assert_eq!(view.groups[0].rebalances.frequency.per_hour, 0);
    assert_eq!(view.groups[0].rebalances.list.len(), 2);

    // It is gone from the list; what happened is still told.
    let body = Snapshot { gone_groups: vec!["g".into()], ..Snapshot::default() };
    monitor.fold(Frame::Partial(Stamped { at: At(3_702_000), body }));
    assert_eq!((monitor.view().groups.len(), monitor.view().events.len()), (0, 3));
}

#[test]
fn a_recording_that_ends_with_events_shows_them() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    monitor.fold(Frame::Full(snapshot(100, Evidence::Log, GroupState::Stable, &["a"])));
    monitor.fold(generation(200, 1, 0, &[]));
    monitor.fold(generation(300, 2, 1, &["a"]));
    assert_eq!(monitor.view().groups[0].rebalances.total, 0);
    monitor.ended(None);
    assert_eq!(monitor.view().groups[0].rebalances.total, 1);
    assert_eq!(monitor.view().feed, Feed::Ended);
}

#[test]
fn without_the_log_polls_count() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    monitor.fold(Frame::Full(snapshot(0, Evidence::Admin, GroupState::Stable, &["a"])));
    monitor.fold(Frame::Partial(snapshot(2000, Evidence::Admin, GroupState::PreparingRebalance, &["a"])));
    let view = monitor.view();
    let ongoing = view.groups[0].rebalances.ongoing.as_ref().unwrap();
    assert_eq!((ongoing.lasting, ongoing.at_least), (Duration::ZERO, false));
    // Nothing new of the group, and yet it goes on.
    let body = Snapshot { listing: Some(listing()), ..Snapshot::default() };
    monitor.fold(Frame::Partial(Stamped { at: At(3000), body }));
    assert_eq!(monitor.view().groups[0].rebalances.ongoing.as_ref().unwrap().lasting, Duration::from_secs(1));
    monitor.fold(Frame::Partial(snapshot(4000, Evidence::Admin, GroupState::Stable, &["a", "b"])));
    let view = monitor.view();
    let rebalances = &view.groups[0].rebalances;
    assert_eq!((rebalances.total, rebalances.lower_bound, rebalances.evidence), (1, true, Evidence::Admin));
    assert_eq!(rebalances.since, Some(Wall(STARTED)));
    assert_eq!(rebalances.ongoing, None);
    assert_eq!(view.events.len(), 1);
}

#[test]
fn polls_know_the_commits_of_a_member_that_goes() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    (0..3).for_each(|number| monitor.fold(poll(number, "b")));
    let Frame::Partial(mut frame) = poll(3, "a") else { panic!("a partial snapshot") };
    let description = frame.body.groups.get_mut("g").and_then(|group| group.description.as_mut()).unwrap();
    description.members.retain(|member| member.id == "a".into());
    monitor.fold(Frame::Partial(frame));
    let rebalance = monitor.view().groups[0].rebalances.list[0].clone();
    let why = &rebalance.gone.list[0].why;
    assert_eq!((why.quiet, why.lag_waiting), (Some(Duration::ZERO), Some(false)));
    assert!(why.to_string().starts_with("likely left (last commit"), "{why}");
}

#[test]
fn a_log_read_back_far_enough_makes_no_lower_bound() {
    let bounded =
        LogProgress { partitions: 5, caught_up: 5, history_ms: Some(6 * 3_600_000), ..LogProgress::default() };
    let lower_bound = |log: LogProgress| {
        let mut monitor = Monitor::default();
        monitor.fold(hello());
        let mut full = snapshot(1000, Evidence::Log, GroupState::Stable, &["a"]);
        full.body.log = Some(log);
        monitor.fold(generation(500, 9, 7, &["a"]));
        monitor.fold(Frame::Full(full));
        let rebalances = monitor.view().groups[0].rebalances.clone();
        assert!(rebalances.total_lower_bound);
        (rebalances.lower_bound, rebalances.since.map(|since| since.0 - STARTED))
    };
    assert_eq!(lower_bound(bounded.clone()), (false, Some(-6 * 3_600_000)));
    assert_eq!(lower_bound(LogProgress { caught_up: 4, ..bounded.clone() }), (true, Some(500)));
    assert_eq!(lower_bound(LogProgress { read: 1_990_000, ..bounded.clone() }), (true, Some(500)));
    assert!(lower_bound(LogProgress { history_ms: Some(3_600_000 - 1001), ..bounded.clone() }).0);
    assert_eq!(lower_bound(LogProgress { whole: true, history_ms: None, ..bounded }), (false, Some(500)));
}

#[test]
fn how_far_back_the_log_was_read_counts_from_where_it_was_skipped() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    monitor.fold(generation(500, 9, 7, &["a"]));
    let mut look = |at: u64, log: Option<LogProgress>, gap: Option<Gap>| {
        let body = Note { gap, ..Note::new(Level::Warning, "something is missing") };
        monitor.fold(Frame::Note(Stamped { at: At(at), body }));
        let mut news = snapshot(at, Evidence::Log, GroupState::Stable, &["a"]);
        news.body.log = log;
        monitor.fold(Frame::Partial(news));
        monitor.view().groups[0].rebalances.lower_bound
    };
    let log = |whole| LogProgress { partitions: 5, caught_up: 5, whole, history_ms: Some(1), ..LogProgress::default() };
    assert!(!look(1000, Some(log(true)), None));
    // Of another partition: of this group nothing is missing, but how far back it is known is not known any more.
    assert!(look(2000, None, Some(Gap::Skipped { partition: 4, until: Wall(STARTED + 2000) })));
    assert!(look(3000, Some(log(false)), None), "a millisecond");
}

/// A poll every 2 s of a group with two members; `a` is behind and commits 100 a poll, `b` keeps up with 10.
fn poll(poll: u64, owner_of_1: &str) -> Frame {
    use crate::model::{Column, Commit, Commits, Partition, Presence, Topic, TopicOffsets};
    let at = At(poll * 2000);
    let commit = |offset: u64| Commit { offset: offset as i64, ..Commit::default() };
    let offsets = [100 * poll, 10 * poll];
    let commits = offsets.iter().enumerate().map(|(number, offset)| (number as i32, commit(*offset))).collect();
    let ends = [5000 + 40 * poll, 10 * poll].map(|end| Some(end as i64)).to_vec();
    let partition = Partition { leader: Some(1), ..Partition::default() };
    let topic = Topic { presence: Presence::Present, partitions: vec![partition; 2], ..Topic::default() };
    let mut body = snapshot(at.0, Evidence::Admin, GroupState::Stable, &["a", "b"]).body;
    if let Some(group) = body.groups.get_mut("g") {
        group.commits = Some(Commits { topics: BTreeMap::from([("t".into(), commits)]) });
        group.commits_at = Some(at);
        for member in group.description.iter_mut().flat_map(|description| &mut description.members) {
            let held = if member.id == "a".into() { vec![0] } else { Vec::new() };
            let held = held.into_iter().chain((member.id.raw() == owner_of_1).then_some(1)).collect();
            member.assignment = Some(BTreeMap::from([("t".into(), held)]));
            member.subscription = Some(vec!["t".into()]);
        }
    }
    body.topics.insert("t".into(), topic);
    let end = Some(Column { at, values: ends, ..Column::default() });
    body.offsets.insert("t".into(), TopicOffsets { end, ..TopicOffsets::default() });
    Frame::Partial(Stamped { at, body })
}

/// What a share group has done is told when it changes; between that, that its log is read.
#[test]
fn a_share_group_whose_log_is_not_read_any_more_is_stale() {
    use crate::health::PartitionLag;
    use crate::model::{ShareOffsets, SharePartition};
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    let mut look = |number: u64, done: Option<i64>, read: Option<u64>| {
        let Frame::Partial(Stamped { at, mut body }) = poll(number, "b") else { panic!("no poll") };
        body.progress = Some(Progress { polls: number, interval_ms: 2000, ..Progress::default() });
        let shares_at = read.map(|read| At(read * 2000));
        body.log = Some(LogProgress { observed_at: at, shares_at, ..LogProgress::default() });
        for group in body.groups.values_mut() {
            group.kind = GroupKind::Share;
            group.description.as_mut().unwrap().evidence = Evidence::Log;
            group.share = done.map(|done| {
                let state = SharePartition { start: Some(done), done: Some(0) };
                ShareOffsets { at, topics: [("t".into(), [(0, state)].into())].into() }
            });
        }
        monitor.fold(Frame::Partial(Stamped { at, body }));
        let group = monitor.view().groups[0].clone();
        (group.partitions[0].lag, group.totals.stale)
    };
    assert_eq!(look(0, Some(0), Some(0)), (PartitionLag::Backlog(5000), 0));
    // Nothing happens, and its log tells so.
    for number in 1..50 {
        assert_eq!(look(number, None, Some(number)).0, PartitionLag::Backlog(5000 + 40 * number));
    }
    // The right to read it is taken away; the ends go on.
    assert_eq!(look(50, None, None).0, PartitionLag::Backlog(7000), "two looks may be missing");
    let stale = PartitionLag::Stale { last: 7400, since: At(98_000) };
    assert_eq!(look(60, None, None), (stale, 1));
    assert_eq!(look(61, Some(7000), Some(61)), (PartitionLag::Backlog(440), 0));
}

#[test]
fn rates_and_forecast_come_with_time() {
    use crate::health::{Drain, Rate};
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    (0..5).for_each(|number| monitor.fold(poll(number, "b")));
    let group = monitor.view().groups[0].clone();
    assert_eq!((group.rates.written, group.members[0].capacity), (None, None), "8 s are too short");
    assert_eq!(group.drains.unwrap().group.drain, Drain::Unknown);

    monitor.fold(poll(5, "b"));
    let group = monitor.view().groups[0].clone();
    let per = |per_second| Some(Rate { per_second, window: Duration::from_secs(10) });
    let [behind, level] = [group.partitions[0].rates, group.partitions[1].rates];
    assert_eq!((behind.written, behind.consumed, behind.in_flight), (per(20.0), per(50.0), false));
    assert_eq!((level.written, level.consumed, level.in_flight), (per(5.0), per(5.0), true));
    assert_eq!((behind.two_steps, level.two_steps), (Some(200), Some(20)));
    assert_eq!((group.rates.written, group.rates.consumed), (per(25.0), per(55.0)));
    assert_eq!((group.members[0].capacity, group.members[1].capacity), (Some(50.0), None));
    // 4700 behind, and 30 a second gained on them.
    assert_eq!(group.members[0].drain.drain, Drain::In(Duration::from_secs_f64(4700.0 / 30.0)));
    assert_eq!((group.members[1].drain.drain, group.drains.unwrap().measured), (Drain::Done, 1));

    // Another owner: its window begins anew, the other member's stays.
    monitor.fold(poll(6, "a"));
    let group = monitor.view().groups[0].clone();
    assert_eq!((group.partitions[1].rates.consumed, group.partitions[0].rates.consumed), (None, per(50.0)));
    assert_eq!(group.members[0].capacity, Some(50.0));
}

#[test]
fn the_same_facts_are_not_planned_again() {
    let mut monitor = Monitor::default();
    monitor.fold(hello());
    (0..3).for_each(|number| monitor.fold(poll(number, "b")));
    let basis = |monitor: &Monitor| monitor.view().groups[0].basis.clone().unwrap();
    let before = basis(&monitor);
    monitor.fold(poll(2, "b"));
    assert!(Arc::ptr_eq(&before, &basis(&monitor)));
    monitor.fold(poll(3, "b"));
    assert!(!Arc::ptr_eq(&before, &basis(&monitor)));
}

#[test]
fn another_assignor_may_stand_beside() {
    let mut monitor = Monitor::new(Preferences { assignor: Assignor::RoundRobin, ..Preferences::default() });
    monitor.fold(hello());
    monitor.fold(poll(0, "a"));
    let view = monitor.view();
    assert_eq!(view.assignor, Assignor::RoundRobin);
    assert_eq!(view.groups[0].plan.as_ref().unwrap().assignor, Assignor::RoundRobin);
}

#[test]
fn a_gap_of_the_stream_reaches_the_view() {
    for (gap, why) in [
        (Gap::Dropped { groups: vec!["g".into()], newest: Wall(STARTED + 250) }, Missing::Dropped),
        (Gap::Cut { partition: 3, offset: 2 }, Missing::Cut),
        (Gap::Skipped { partition: 3, until: Wall(STARTED + 400) }, Missing::Skipped),
    ] {
        let mut monitor = Monitor::default();
        monitor.fold(hello());
        monitor.fold(generation(100, 1, 0, &[]));
        monitor.fold(generation(200, 2, 1, &["a"]));
        let full = || Frame::Full(snapshot(300, Evidence::Log, GroupState::Stable, &["a"]));
        monitor.fold(full());
        assert!(!monitor.view().groups[0].rebalances.lower_bound);
        let body = Note { gap: Some(gap), ..Note::new(Level::Warning, "something is missing") };
        monitor.fold(Frame::Note(Stamped { at: At(400), body }));
        monitor.fold(full());
        let view = monitor.view();
        let told = &view.groups[0].rebalances;
        assert_eq!((told.lower_bound, told.total_lower_bound, told.missing), (true, true, Some(why)));
        assert_eq!(told.total, 1, "what was counted happened");
    }
}

/// The topology may lie before the part of the log that was read: then nothing tells which partitions a task reads.
#[test]
fn a_streams_member_with_an_active_task_is_not_idle() {
    use crate::model::{MemberLog, Tasks};
    let member = |active: &[i32]| {
        let tasks = Tasks { active: BTreeMap::from([("0".into(), active.to_vec())]), ..Tasks::default() };
        let log = Some(Box::new(MemberLog { tasks: Some(tasks), ..MemberLog::default() }));
        view::MemberView { partitions: Some(Vec::new()), log, ..view::MemberView::default() }
    };
    assert_eq!((member(&[0, 1]).is_idle(), member(&[]).is_idle()), (false, true));
}
