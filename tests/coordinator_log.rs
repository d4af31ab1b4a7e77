//! Groups of every kind as the coordinator log tells them: equal to what the Java admin client and Apache's tools say,
//! every change an event at its place of the log, and the same history for a collector that is started afterwards.
#![allow(clippy::expect_used, clippy::panic, clippy::unnecessary_wraps)]

mod support;

use std::time::Duration;

use lagtop::model::{Description, Event, GroupState, Member, Name, What};
use support::{
    Cluster, DEADLINE, Frames, GroupDescription, GroupSpec, Happened, happened, shared, snapshot, told, wait_until,
};

fn watch(kafka: &Cluster, id: &str) -> Frames {
    let frames = Frames::collect(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "require"]);
    frames.until("the log to be read", |told| match &told.facts.log {
        Some(log) if log.partitions > 0 && log.caught_up == log.partitions => Ok(()),
        other => Err(format!("{other:?}")),
    });
    frames
}

/// Waits until the log's facts of a group are what the Java admin client says.
#[track_caller]
fn agree(kafka: &Cluster, frames: &Frames, id: &str) -> (Description, GroupDescription) {
    wait_until(&format!("{id} to be told as it is"), DEADLINE, || {
        let ours = frames.told().by_log(id)?.clone();
        let theirs = kafka.agrees(id, &ours)?;
        Ok::<_, String>((ours, theirs))
    })
}

/// The end of a log when an event is read is not the end when it happened, so only who saw it happen knows.
fn without_ends(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        match &mut event.what {
            What::Generation(generation) => generation.gone.iter_mut().for_each(|gone| gone.lag_waiting = None),
            What::MemberGone(gone) => gone.lag_waiting = None,
            _ => {}
        }
    }
    events
}

/// Waits until the events are exactly what the records say; a collector that starts now must tell the same ones.
#[track_caller]
fn history(kafka: &Cluster, frames: &Frames, id: &str) -> Vec<Event> {
    let events = wait_until(&format!("the events of {id}"), DEADLINE, || {
        let events = frames.told().events(id);
        same(&told(&events), &happened(&kafka.group_records(1, id)))?;
        Ok::<_, String>(events)
    });
    let later = Frames::collect(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "require"]);
    later.until("the same history", |now| {
        same(&told(&now.events(id)), &told(&events))?;
        let (now, before) = (without_ends(now.events(id)), without_ends(events.clone()));
        now.iter().zip(&before).find(|(now, before)| now != before).map_or(Ok(()), |pair| Err(format!("{pair:#?}")))
    });
    events
}

fn same(told: &[Happened], truth: &[Happened]) -> Result<(), String> {
    let missing: Vec<_> = truth.iter().filter(|entry| !told.contains(entry)).collect();
    let invented: Vec<_> = told.iter().filter(|entry| !truth.contains(entry)).collect();
    if told == truth { Ok(()) } else { Err(format!("missing {missing:?}, invented {invented:?}")) }
}

fn member<'a>(description: &'a Description, client_id: &str) -> &'a Member {
    let found = description.members.iter().find(|member| member.client_id.raw() == client_id);
    found.unwrap_or_else(|| panic!("no {client_id} in {description:#?}"))
}

fn names(topics: &[&str]) -> Option<Vec<Name>> {
    Some(topics.iter().map(|topic| Name::new(*topic)).collect())
}

fn count(events: &[Event], wanted: impl Fn(&What) -> bool) -> usize {
    events.iter().filter(|event| wanted(&event.what)).count()
}

#[track_caller]
fn gone(kafka: &Cluster, frames: &Frames, id: &str) {
    kafka.delete_group(id);
    frames.until("the group to be gone", |told| match told.group(id) {
        Err(_) => Ok(()),
        Ok(group) => Err(format!("{group:?}")),
    });
}

#[test]
fn a_kip_848_group_through_its_life() {
    let kafka = shared();
    kafka.create_topic("cl.new.a", 4);
    kafka.create_topic("cl.new.b", 2);
    let id = "cl.new";
    let frames = watch(kafka, id);
    let spec = GroupSpec::consumer(id).topics(&["cl.new.a"]).rack("r{}").remote_assignor("range");
    let spec = spec.max_poll_interval(Duration::from_secs(77));
    let mut members = kafka.start_group(&spec, 2);
    let (ours, _) = agree(kafka, &frames, id);
    assert_eq!((ours.state, ours.assignor.as_ref()), (GroupState::Stable, Some(&Name::new("range"))));
    let first = member(&ours, "cl.new-0");
    assert_eq!(first.rack, Some(Name::new("r0")));
    assert_eq!(first.subscription, names(&["cl.new.a"]));
    let log = first.log.as_ref().expect("the log's facts");
    assert_eq!((log.rebalance_timeout_ms, log.session_timeout_ms), (Some(77_000), None));
    assert_eq!((log.regex.as_ref(), log.assignor.as_ref()), (None, Some(&Name::new("range"))));

    let verbose = |what: &str| kafka.consumer_groups(&["--describe", "--group", id, what, "--verbose"]);
    let printed = verbose("--state");
    assert_eq!(printed.rows[0].number("GROUP-EPOCH"), ours.epoch.map(i64::from), "{}", printed.out);
    let assignment = printed.rows[0].number("TARGET-ASSIGNMENT-EPOCH");
    assert_eq!(assignment, ours.assignment_epoch.map(i64::from), "{}", printed.out);
    let printed = verbose("--members");
    assert_eq!(printed.rows.len(), 2, "{}", printed.out);
    for row in &printed.rows {
        let ours = member(&ours, row.text("CLIENT-ID"));
        let epoch = ours.log.as_ref().and_then(|log| log.epoch).map(i64::from);
        assert_eq!(row.number("CURRENT-EPOCH"), epoch, "{}", printed.out);
    }

    members.push(kafka.join(&spec, 2));
    kafka.wait_stable(&spec, 3);
    agree(kafka, &frames, id);
    kafka.create_partitions("cl.new.a", 6);
    kafka.wait_stable(&spec, 3);
    agree(kafka, &frames, id);
    for member in &members {
        member.subscribe(&["cl.new.a", "cl.new.b"]);
    }
    let both = spec.clone().topics(&["cl.new.a", "cl.new.b"]);
    kafka.wait_stable(&both, 3);
    let (ours, _) = agree(kafka, &frames, id);
    assert_eq!(member(&ours, "cl.new-2").subscription, names(&["cl.new.a", "cl.new.b"]));
    members.remove(1).close();
    kafka.wait_stable(&both, 2);
    agree(kafka, &frames, id);

    let process = kafka.process();
    let victim = process.join(&both, 7);
    kafka.wait_stable(&both, 3);
    let (_, theirs) = agree(kafka, &frames, id);
    let killed = theirs.member("cl.new-7").id.clone();
    process.kill();
    drop(victim);
    kafka.wait_stable(&both, 2);
    agree(kafka, &frames, id);
    kafka.alter_config("TOPIC", "cl.new.a", "retention.ms", "-1");
    drop(members);
    kafka.wait_stable(&both, 0);
    agree(kafka, &frames, id);

    let events = history(kafka, &frames, id);
    let departures = count(&events, |what| matches!(what, What::MemberGone(_)));
    assert_eq!(departures, 4, "{:?}", told(&events));
    let crash = events.iter().find_map(|event| match &event.what {
        What::MemberGone(gone) if gone.member.id.raw() == killed => Some(gone),
        _ => None,
    });
    let crash = crash.expect("its departure");
    assert_eq!(crash.member.client_id.raw(), "cl.new-7");
    assert!(!crash.member.held.as_ref().expect("what it held").is_empty(), "{crash:?}");
    gone(kafka, &frames, id);
    let events = history(kafka, &frames, id);
    assert_eq!(events.last().map(|event| &event.what), Some(&What::GroupGone));
}

#[test]
fn a_static_kip_848_member_goes_away_and_comes_back() {
    let kafka = shared();
    kafka.create_topic("cl.fixed", 4);
    let id = "cl.fixed";
    let frames = watch(kafka, id);
    // Away longer than the session timeout it would be gone.
    kafka.alter_config("GROUP", id, "consumer.session.timeout.ms", "45000");
    let spec = GroupSpec::consumer(id).topics(&["cl.fixed"]).instance("i{}");
    let mut members = kafka.start_group(&spec, 2);
    let (ours, _) = agree(kafka, &frames, id);
    assert_eq!(member(&ours, "cl.fixed-1").instance_id, Some(Name::new("i1")));
    let epoch = ours.epoch;
    members.remove(1).abandon();
    wait_until("the member to be told as away", DEADLINE, || {
        let ours = frames.told().by_log(id)?.clone();
        let away = ours.members.iter().any(|member| member.log.as_ref().is_some_and(|log| log.epoch == Some(-2)));
        if away { kafka.agrees(id, &ours) } else { Err(format!("{ours:#?}")) }
    });
    members.push(kafka.join(&spec, 1));
    kafka.wait_stable(&spec, 2);
    let (ours, _) = agree(kafka, &frames, id);
    let events = history(kafka, &frames, id);
    assert_eq!(ours.epoch, epoch, "no rebalance: {:#?}", told(&events));
    let away = count(&events, |what| matches!(what, What::MemberEpoch { epoch: -2, .. }));
    assert_eq!(away, 1, "{:?}", told(&events));
}

#[test]
fn a_regex_subscription_is_resolved() {
    let kafka = shared();
    kafka.create_topic("cl.regex.1", 2);
    kafka.create_topic("cl.regex.2", 1);
    let id = "cl.regex-group";
    let frames = watch(kafka, id);
    let spec = GroupSpec::consumer(id).pattern("cl\\.regex\\..*");
    let _members = kafka.start_group(&spec, 1);
    wait_until("three partitions", DEADLINE, || match kafka.describe(id).owned().len() {
        3 => Ok(()),
        other => Err(other),
    });
    let (ours, _) = agree(kafka, &frames, id);
    let only = member(&ours, "cl.regex-group-0");
    assert_eq!(only.subscription, names(&["cl.regex.1", "cl.regex.2"]));
    let regex = only.log.as_ref().and_then(|log| log.regex.clone());
    assert_eq!(regex, Some(Name::new("cl\\.regex\\..*")));
    history(kafka, &frames, id);
}

#[test]
fn a_member_that_does_not_revoke_is_waited_for() {
    let kafka = shared();
    kafka.create_topic("cl.slow", 4);
    let id = "cl.slow";
    let frames = watch(kafka, id);
    let spec = GroupSpec::consumer(id).topics(&["cl.slow"]);
    let members = kafka.start_group(&spec, 1);
    agree(kafka, &frames, id);
    members[0].stall(Duration::from_secs(3600));
    let second = kafka.join(&spec, 1);
    frames.until("the group to be reconciling", |told| {
        let ours = told.by_log(id)?;
        let log = |client: &str| {
            let member = ours.members.iter().find(|member| member.client_id.raw() == client);
            member.and_then(|member| member.log.clone()).ok_or(format!("no {client}"))
        };
        let pending: usize = log("cl.slow-0")?.pending_revocation.values().map(Vec::len).sum();
        let waits = log("cl.slow-1")?.waits;
        if ours.state == GroupState::Reconciling && pending == 2 && waits { Ok(()) } else { Err(format!("{ours:#?}")) }
    });
    let (_, theirs) = agree(kafka, &frames, id);
    assert_eq!(theirs.state, "Reconciling");
    let admin = snapshot(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "off"]);
    let log = snapshot(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "require"]);
    let log = support::group(&log, id);
    assert_eq!(log["state"], "Reconciling");
    let awaits = |client: &str| {
        let row = support::member(log, client);
        let partitions = row["awaits"].as_array().expect("a known target").iter();
        let mut numbers: Vec<_> = partitions.filter_map(|partition| partition["partition"].as_i64()).collect();
        numbers.sort_unstable();
        numbers
    };
    let target = theirs.member("cl.slow-1").target.as_ref().expect("a target");
    assert_eq!(awaits("cl.slow-1"), target.iter().map(|(_, number)| i64::from(*number)).collect::<Vec<_>>());
    assert_eq!((awaits("cl.slow-1").len(), awaits("cl.slow-0")), (2, Vec::new()));
    assert_ne!(support::group(&admin, id)["state"], "Stable", "{admin:#}");
    members[0].stall(Duration::ZERO);
    kafka.wait_stable(&spec, 2);
    agree(kafka, &frames, id);
    history(kafka, &frames, id);
    drop(second);
}

#[test]
fn an_epoch_without_an_assignment_is_assigning() {
    let kafka = shared();
    kafka.create_topic("cl.assigning", 4);
    let id = "cl.assigning";
    let frames = watch(kafka, id);
    kafka.alter_config("GROUP", id, "consumer.assignment.interval.ms", "15000");
    let spec = GroupSpec::consumer(id).topics(&["cl.assigning"]);
    let mut members = kafka.start_group(&spec, 1);
    members.push(kafka.join(&spec, 1));
    frames.until("the group to be assigning", |told| {
        let ours = told.by_log(id)?;
        if ours.state == GroupState::Assigning { Ok(()) } else { Err(format!("{ours:#?}")) }
    });
    agree(kafka, &frames, id);
    kafka.wait_stable(&spec, 2);
    agree(kafka, &frames, id);
    history(kafka, &frames, id);
}

#[test]
fn classic_groups_through_their_lives() {
    let kafka = shared();
    for (id, assignor) in [("cl.eager", "range"), ("cl.coop", "cooperative-sticky")] {
        kafka.create_topic(id, 4);
        kafka.produce(id, 0, 10);
        let frames = watch(kafka, id);
        let spec = GroupSpec::classic(id, assignor).topics(&[id]).max_poll_interval(Duration::from_secs(66));
        let spec = spec.rack("r{}");
        let mut members = kafka.start_group(&spec, 2);
        let (ours, _) = agree(kafka, &frames, id);
        assert_eq!(ours.assignor, Some(Name::new(assignor)));
        let first = member(&ours, &format!("{id}-0"));
        assert_eq!((first.rack.clone(), first.subscription.clone()), (Some(Name::new("r0")), names(&[id])));
        let log = first.log.as_ref().expect("the log's facts");
        assert_eq!((log.rebalance_timeout_ms, log.session_timeout_ms), (Some(66_000), Some(6_000)));
        assert_eq!(ours.epoch, members[0].info().generation, "generation");

        members.push(kafka.join(&spec, 2));
        kafka.wait_stable(&spec, 3);
        agree(kafka, &frames, id);
        kafka.create_partitions(id, 6);
        kafka.wait_stable(&spec, 3);
        agree(kafka, &frames, id);
        members.remove(1).close();
        kafka.wait_stable(&spec, 2);
        let process = kafka.process();
        let victim = process.join(&spec, 7);
        kafka.wait_stable(&spec, 3);
        agree(kafka, &frames, id);
        process.kill();
        drop(victim);
        kafka.wait_stable(&spec, 2);
        agree(kafka, &frames, id);
        drop(members);
        kafka.wait_stable(&spec, 0);
        kafka.alter_offsets(id, &[(id, 0, 8)]);
        kafka.alter_offsets(id, &[(id, 0, 3)]);
        frames.until("the commit", |told| match told.commit(id, id, 0) {
            Some(3) => Ok(()),
            other => Err(format!("{other:?}")),
        });
        agree(kafka, &frames, id);
        let events = history(kafka, &frames, id);
        let back = What::CommitBack { topic: Name::new(id), partition: 0, from: 8, to: 3 };
        assert_eq!(count(&events, |what| *what == back), 1);
        gone(kafka, &frames, id);
        let events = history(kafka, &frames, id);
        assert_eq!(count(&events, |what| *what == What::GroupGone), 1, "{:?}", told(&events));
    }
}

#[test]
fn a_static_classic_member_repeats_a_generation() {
    let kafka = shared();
    kafka.create_topic("cl.static", 4);
    let id = "cl.static";
    let frames = watch(kafka, id);
    let spec = GroupSpec::classic(id, "range").topics(&[id]).instance("i{}");
    let spec = spec.session_timeout(Duration::from_secs(45));
    let mut members = kafka.start_group(&spec, 2);
    let (before, _) = agree(kafka, &frames, id);
    let old = member(&before, "cl.static-1").id.clone();
    members.remove(1).close();
    members.push(kafka.join(&spec, 1));
    frames.until("the member to be back", |told| {
        let ours = told.by_log(id)?;
        let back = ours.members.len() == 2 && ours.members.iter().all(|member| member.id != old);
        if back { Ok(()) } else { Err(format!("{ours:#?}")) }
    });
    let (after, _) = agree(kafka, &frames, id);
    assert_eq!(after.epoch, before.epoch);
    let events = history(kafka, &frames, id);
    let generations = events.iter().filter_map(|event| match &event.what {
        What::Generation(generation) => Some(generation),
        _ => None,
    });
    let generations: Vec<_> = generations.collect();
    let [.., before, after] = &generations[..] else { panic!("{generations:?}") };
    assert_eq!((before.generation, after.gone.len()), (after.generation, 1), "{generations:#?}");
}

#[test]
fn a_share_group_and_its_backlog() {
    let kafka = shared();
    kafka.create_topic("cl.share", 2);
    let id = "cl.share";
    kafka.alter_config("GROUP", id, "share.auto.offset.reset", "earliest");
    (0..2).for_each(|partition| _ = kafka.produce(id, partition, 20));
    let frames = watch(kafka, id);
    let spec = GroupSpec::share(id).topics(&[id]).commit_after_poll().rack("r{}");
    let mut members = kafka.start_group(&spec, 2);
    let (ours, _) = agree(kafka, &frames, id);
    assert_eq!(ours.state, GroupState::Stable);
    assert_eq!(member(&ours, "cl.share-1").subscription, names(&[id]));
    assert_eq!(member(&ours, "cl.share-1").rack, Some(Name::new("r1")));
    let backlogs = || {
        let printed = kafka.share_groups(&["--describe", "--group", id, "--offsets"]);
        let rows = printed.rows.into_iter();
        let mut rows: Vec<_> =
            rows.map(|row| (row.number("PARTITION"), row.number("START-OFFSET"), row.number("LAG"))).collect();
        rows.sort_unstable();
        rows
    };
    let told = |told: &support::Told| {
        let offsets = told.group(id)?.share.as_ref().ok_or("no share offsets")?;
        let ends = told.facts.offsets.get(&Name::new(id)).and_then(|offsets| offsets.end.as_ref()).ok_or("no ends")?;
        let rows = offsets.topics.get(&Name::new(id)).ok_or("no such topic")?.iter().map(|(partition, state)| {
            let end = ends.get(*partition).map(|(end, _)| end);
            let lag = end.and_then(|end| state.backlog(end)).map(|lag| lag as i64);
            (Some(i64::from(*partition)), state.start, lag)
        });
        Ok::<Vec<_>, String>(rows.collect())
    };
    let equal = |wanted: &dyn Fn(i64) -> bool| {
        wait_until("the backlogs to be the broker's", DEADLINE, || {
            let (ours, theirs) = (told(&frames.told())?, backlogs());
            let total: i64 = theirs.iter().filter_map(|(_, _, lag)| *lag).sum();
            let all = theirs.len() == 2 && theirs.iter().all(|(_, _, lag)| lag.is_some());
            if ours == theirs && all && wanted(total) { Ok(()) } else { Err(format!("{ours:?}, but {theirs:?}")) }
        });
    };
    equal(&|total| total == 0);
    for member in &members {
        member.stall(Duration::from_secs(3600));
        // Answered between polls: the last one is over.
        member.info();
    }
    kafka.produce(id, 1, 30);
    equal(&|total| total == 30);
    members.remove(1).close();
    kafka.wait_stable(&spec, 1);
    agree(kafka, &frames, id);
    members[0].stall(Duration::ZERO);
    equal(&|total| total == 0);
    let report = snapshot(&kafka.bootstrap(), &["-g", id]);
    let row = support::group(&report, id);
    for (number, start, _) in backlogs() {
        let partitions = row["partitions"].as_array().expect("partitions").iter();
        let ours = partitions.filter(|partition| partition["partition"].as_i64() == number);
        let ours: Vec<_> = ours.map(|partition| partition["share_start"].as_i64()).collect();
        assert_eq!(ours, [start], "{row:#}");
    }
    drop(members);
    kafka.wait_stable(&spec, 0);
    agree(kafka, &frames, id);
    history(kafka, &frames, id);
}

#[test]
fn a_streams_group_and_its_tasks() {
    let kafka = shared();
    kafka.create_topic("cl.streams", 4);
    let id = "cl.streams-app";
    let frames = watch(kafka, id);
    let spec = GroupSpec::streams(id).topics(&["cl.streams"]).stateful();
    let mut members = kafka.start_group(&spec, 2);
    let (ours, theirs) = agree(kafka, &frames, id);
    assert_eq!(ours.topology_topics, names(&["cl.streams"]));
    for member in &ours.members {
        let told = theirs.members.iter().find(|told| told.id == member.id.raw()).expect("the same member");
        let tasks = member.log.as_ref().and_then(|log| log.tasks.clone()).expect("tasks");
        let count: usize = tasks.active.values().map(Vec::len).sum();
        assert_eq!(count, told.tasks.as_ref().expect("tasks")["active"].len());
        let read: usize = member.assignment.iter().flatten().map(|(_, numbers)| numbers.len()).sum();
        assert_eq!((read, count), (2, 2), "a task reads its partition");
    }
    let report = snapshot(&kafka.bootstrap(), &["-g", id]);
    let told = support::group(&report, id)["topology_epoch"].as_i64();
    assert_eq!((told, told.is_some()), (theirs.topology_epoch.map(i64::from), true), "{report:#}");
    let printed = kafka.streams_groups(&["--describe", "--group", id, "--members", "--verbose"]);
    for row in &printed.rows {
        let ours = ours.members.iter().find(|member| member.id.raw() == row.text("MEMBER")).expect("the same member");
        let log = ours.log.as_ref().expect("the log's facts");
        assert_eq!(row.number("MEMBER-EPOCH"), log.epoch.map(i64::from), "{}", printed.out);
    }
    members.remove(1).close();
    kafka.wait_stable(&spec, 1);
    agree(kafka, &frames, id);
    drop(members);
    kafka.wait_stable(&spec, 0);
    agree(kafka, &frames, id);
    history(kafka, &frames, id);
}

#[test]
fn a_streams_group_is_not_ready_while_a_source_topic_is_missing() {
    let kafka = shared();
    kafka.create_topic("cl.there", 2);
    let is = |id: &str, frames: &Frames, state: &str| {
        let (ours, _) = agree(kafka, frames, id);
        assert_eq!(ours.state.name(), state);
        let printed = kafka.streams_groups(&["--describe", "--group", id, "--state"]);
        assert_eq!(printed.rows[0].text("STATE"), state, "{}", printed.out);
        let report = snapshot(&kafka.bootstrap(), &["-g", id, "--coordinator-log", "require"]);
        assert_eq!(support::group(&report, id)["state"], state, "{report:#}");
    };
    for there_at_first in [false, true] {
        let topic = format!("cl.missing.{there_at_first}");
        let id = &format!("cl.unready.{there_at_first}");
        let frames = watch(kafka, id);
        // Its client soon gives up; stopped, it stays as it was.
        kafka.alter_config("GROUP", id, "streams.session.timeout.ms", "60000");
        let process = kafka.process();
        let spec = GroupSpec::streams(id).topics(&[&topic, "cl.there"]);
        if there_at_first {
            kafka.create_topic(&topic, 2);
        }
        let member = process.join(&spec, 0);
        if there_at_first {
            kafka.wait_stable(&spec, 1);
            is(id, &frames, "Stable");
            kafka.delete_topic(&topic);
        }
        wait_until("the group not to be ready", DEADLINE, || {
            let theirs = kafka.try_describe(id)?.ok_or("no such group")?;
            if theirs.state == "NotReady" { Ok(()) } else { Err(format!("{theirs:?}")) }
        });
        process.pause();
        is(id, &frames, "NotReady");
        history(kafka, &frames, id);
        process.kill();
        drop(member);
    }
}
