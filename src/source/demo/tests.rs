//! The incident as the monitor sees it: what a person would see on the screens.

use std::collections::BTreeMap;
use std::time::Duration;

use super::cast::{GROUPS, TOPICS};
use super::*;
use crate::frame::Frame;
use crate::health::{Direction, IdleReason, PartitionLag};
use crate::model::{GroupKind, GroupState, Name, Presence, Snapshot};
use crate::monitor::view::{Feed, GroupView, View};
use crate::monitor::{Monitor, Preferences};

const POLL: u64 = 2000;

fn frames(seed: u64) -> Frames {
    Frames::new(Options { seed, interval: Duration::from_millis(POLL), ..Options::default() })
}

/// A demo that was watched from its beginning, poll by poll.
struct Watched {
    frames: Frames,
    monitor: Monitor,
    now: u64,
}

impl Watched {
    fn new() -> Self {
        let mut monitor = Monitor::new(Preferences::default());
        monitor.fold(Frames::hello(Wall(1_700_000_000_000)));
        let mut watched = Self { frames: frames(1), monitor, now: 0 };
        watched.poll();
        watched
    }

    fn poll(&mut self) -> View {
        let frame = self.frames.poll(At(self.now));
        self.now += POLL;
        self.monitor.fold(frame);
        self.monitor.view()
    }

    /// The view of the poll at `second`.
    fn at(&mut self, second: u64) -> View {
        while self.now < second * 1000 {
            self.poll();
        }
        self.poll()
    }
}

fn group<'a>(view: &'a View, id: &str) -> &'a GroupView {
    view.group(&Name::new(id)).unwrap()
}

fn facts(frame: &Frame) -> &Snapshot {
    match frame {
        Frame::Full(stamped) | Frame::Partial(stamped) => &stamped.body,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_steps_give_the_same_frames() {
    let watch = |seed| {
        let mut frames = frames(seed);
        (0..150).map(|poll| frames.poll(At(poll * POLL))).collect::<Vec<_>>()
    };
    let first = watch(7);
    assert_eq!(first, watch(7));
    assert_ne!(first, watch(8));
}

#[test]
fn steps_may_be_cut_in_any_way() {
    let (mut whole, mut pieces) = (Simulation::new(3), Simulation::new(3));
    whole.advance(Duration::from_millis(100_100));
    for _ in 0..1001 {
        pieces.advance(Duration::from_millis(100));
    }
    assert_eq!(whole.snapshot(At(5)), pieces.snapshot(At(5)));
}

#[test]
fn partial_frames_add_up_to_what_is_there() {
    let (mut frames, mut simulation) = (frames(1), Simulation::new(1));
    let (mut known, mut partial) = (Snapshot::default(), 0);
    for poll in 0..200 {
        let at = At(poll * POLL);
        let frame = frames.poll(at);
        match &frame {
            Frame::Full(full) => known = full.body.clone(),
            Frame::Partial(news) => {
                partial += 1;
                assert!(news.body.groups["payroll"].description.is_none());
                known.apply(news.body.clone());
            }
            other => panic!("{other:?}"),
        }
        let seen = simulation.snapshot(at);
        for (name, group) in &seen.groups {
            assert_eq!(known.groups[name].description, group.description);
            assert_eq!(
                (&known.groups[name].commits, known.groups[name].commits_at),
                (&group.commits, group.commits_at)
            );
        }
        let ends =
            |snapshot: &Snapshot| snapshot.offsets.values().map(|offsets| offsets.end.clone()).collect::<Vec<_>>();
        assert_eq!(ends(&known), ends(&seen));
        assert_eq!(facts(&frame).progress.map(|progress| (progress.polls, progress.all_seen)), Some((poll + 1, true)));
        simulation.advance(Duration::from_millis(POLL));
    }
    assert_eq!(partial, 198, "full at 0 s and at 300 s");
    // A quiet group costs two times, nothing more.
    let reports = facts(&frames.poll(At(400_000))).groups["reports"].clone();
    assert!(reports.description.is_none() && reports.commits.is_none() && reports.commits_at == Some(At(400_000)));
}

#[test]
fn an_hour_passes_and_the_books_are_right() {
    let mut simulation = Simulation::new(1);
    let mut ends: BTreeMap<(Name, usize), i64> = BTreeMap::new();
    let mut rebalances = 0;
    for poll in 1..=1800 {
        simulation.advance(Duration::from_millis(POLL));
        let seen = simulation.snapshot(At(poll * POLL));
        for (topic, offsets) in &seen.offsets {
            let (start, end) = (offsets.start.as_ref().unwrap(), offsets.end.as_ref().unwrap());
            for (number, (start, end)) in start.values.iter().zip(&end.values).enumerate() {
                let last = ends.insert((topic.clone(), number), end.unwrap());
                assert!(start.unwrap() <= end.unwrap() && last.unwrap_or(0) <= end.unwrap());
            }
        }
        for (name, group) in &seen.groups {
            let members = group.description.iter().flat_map(|description| &description.members);
            let mut owned = Vec::new();
            for member in members {
                for (topic, numbers) in member.assignment.iter().flatten() {
                    owned.extend(numbers.iter().map(|number| (topic.clone(), *number)));
                }
            }
            let count = owned.len();
            owned.sort();
            owned.dedup();
            assert_eq!(owned.len(), count, "{name}: a partition has two owners");
            rebalances += u32::from(group.listed_state == Some(GroupState::PreparingRebalance));
            for (topic, commits) in group.commits.iter().flat_map(|commits| &commits.topics) {
                let Some(offsets) = seen.offsets.get(topic) else { continue };
                for (number, commit) in commits {
                    let (end, _) = offsets.end.as_ref().unwrap().get(*number).unwrap();
                    let is_designed = name.raw() == "ledger-export" && *number == 2;
                    assert_eq!(commit.offset > end, is_designed, "{name} {topic}-{number}");
                }
            }
        }
    }
    assert!(rebalances > 30);
    // Nothing drifts: the carts' records came at the rates of the cast.
    let (start, now) = (Simulation::new(1).snapshot(At(0)), simulation.snapshot(At(3_600_000)));
    let end = |snapshot: &Snapshot| snapshot.offsets["carts"].end.as_ref().unwrap().values[3].unwrap();
    let written = end(&now) - end(&start);
    assert!((71_500..72_500).contains(&written), "{written} of 20/s × 3600 s");
}

#[test]
fn the_curtain_rises_on_an_incident() {
    let view = Watched::new().monitor.view();
    assert_eq!((view.feed.clone(), view.cluster.simulated, view.cluster.brokers), (Feed::Live, true, Some(3)));
    assert_eq!(view.groups.len(), GROUPS.len());
    assert_eq!(view.listing.map(|listing| (listing.total, listing.complete)), Some((GROUPS.len(), true)));
    let billing = group(&view, "billing");
    assert_eq!((billing.state, billing.members.len(), billing.idle), (GroupState::Stable, 8, 2));
    let idle = billing.members.iter().filter_map(|member| member.idle);
    assert!(idle.eq([IdleReason::MoreMembersThanPartitions { members: 8, partitions: 6 }; 2]));
    assert!(billing.skew().unwrap() > 3.0, "{:?}", billing.skew());
    let (audit, inventory) = (group(&view, "audit"), group(&view, "inventory-sync"));
    assert_eq!((audit.totals.lag, audit.idle), (0, 0));
    assert_eq!(inventory.members[2].idle, Some(IdleReason::LeftOut));
    let checkout = group(&view, "checkout");
    let plan = checkout.plan.as_ref().unwrap();
    assert!(plan.moves > 0 && plan.metrics.lag_over_mean < checkout.skew(), "another assignor would help");
}

#[test]
fn what_is_odd_is_told() {
    let mut watched = Watched::new();
    let view = watched.at(10);
    let ledger = group(&view, "ledger-export");
    let lags: Vec<&PartitionLag> = ledger.partitions.iter().map(|partition| &partition.lag).collect();
    assert!(matches!(lags[0], PartitionLag::Known(600..)), "{lags:?}");
    assert_eq!(*lags[1], PartitionLag::NoCommit { held: Some(44) });
    assert_eq!(*lags[2], PartitionLag::PastEnd { by: 8220 });
    assert_eq!(*lags[3], PartitionLag::Expired { lost: 500, readable: 44 });
    let fraud = group(&view, "fraud-check");
    assert_eq!((fraud.totals.topic_gone, fraud.totals.known), (3, 4));
    let shipping = group(&view, "shipping");
    assert!(shipping.members.iter().all(|member| member.instance_id.is_some()));
    let silent = shipping.partitions.iter().find(|partition| partition.commit.is_none()).unwrap();
    assert!(silent.owner.is_some() && silent.lag == PartitionLag::NoCommit { held: Some(44) });
    let mirror = group(&view, "mirror");
    assert_eq!((&mirror.kind, mirror.members.len()), (&GroupKind::Other(Name::new("connect")), 3));
    assert!(mirror.members.iter().all(|member| !member.host.is_empty() && member.partitions.is_none()));
    assert!(mirror.partitions.is_empty());
    assert_eq!(group(&view, "telemetry").kind, GroupKind::ShareOrStreams);
    let payroll = group(&view, "payroll");
    assert_eq!((payroll.state, payroll.problems.len()), (GroupState::Stable, 2));
    assert_eq!(
        payroll.problems[1].to_string(),
        "group payroll: no state and members: not authorized to describe the group (needs DESCRIBE on group payroll)"
    );
    let reports = group(&view, "reports");
    assert_eq!((reports.state, reports.members.len()), (GroupState::Empty, 0));
    let later = watched.at(100);
    assert!(group(&later, "reports").totals.lag > reports.totals.lag);
    assert_eq!(group(&later, "audit").totals.lag / 100, 0);
}

#[test]
fn billing_goes_through_a_storm() {
    let mut watched = Watched::new();
    let before = watched.at(18);
    assert_eq!(group(&before, "billing").direction, Direction::Rising);
    let hot = |view: &View| group(view, "billing").partitions[0].owner;
    assert_eq!(hot(&before), Some(0));
    // pay-1 falls silent at 20 s, is thrown out at 30 s, and comes back at 50 s under another id.
    assert_eq!(group(&watched.at(28), "billing").members.len(), 8);
    let thrown_out = watched.at(32);
    let billing = group(&thrown_out, "billing");
    assert_eq!((billing.state, billing.members.len()), (GroupState::PreparingRebalance, 7));
    assert_eq!((billing.idle, billing.assignor.clone()), (7, None));
    let without = watched.at(40);
    let billing = group(&without, "billing");
    assert_eq!((billing.state, billing.members.len(), billing.idle), (GroupState::Stable, 7, 1));
    let back = watched.at(60);
    let billing = group(&back, "billing");
    assert_eq!((billing.members.len(), billing.idle), (8, 2));
    assert_eq!(billing.members[0].client_id, Name::new("pay-1"));
    assert_ne!(billing.members[0].id, group(&before, "billing").members[0].id);
    let mut rebalances = 0;
    let mut last = GroupState::Stable;
    while watched.now < 160_000 {
        let state = group(&watched.poll(), "billing").state;
        rebalances += u32::from(state != GroupState::Stable && last == GroupState::Stable);
        last = state;
    }
    assert_eq!(rebalances, 6);
    let peak = group(&watched.at(420), "billing").totals.lag;
    assert!(peak > group(&before, "billing").totals.lag, "{peak}");
    let calm = watched.at(600);
    assert_eq!(group(&calm, "billing").direction, Direction::Falling);
    assert!(group(&calm, "billing").totals.lag < peak);
}

#[test]
fn orders_enrich_reconciles_and_catches_up() {
    let mut watched = Watched::new();
    let first = watched.at(20);
    let orders = group(&first, "orders-enrich");
    assert_eq!((&orders.kind, orders.state, orders.members.len()), (&GroupKind::Consumer, GroupState::Stable, 5));
    let mut reconciling = 0;
    while watched.now < 40_000 {
        reconciling += u32::from(group(&watched.poll(), "orders-enrich").state == GroupState::Reconciling);
    }
    assert!((1..6).contains(&reconciling), "{reconciling}");
    let joined = watched.at(45);
    let orders = group(&joined, "orders-enrich");
    assert_eq!((orders.state, orders.members.len(), orders.idle), (GroupState::Stable, 6, 0));
    assert!(orders.partitions.iter().all(|partition| partition.owner.is_some()));
    assert_eq!(orders.direction, Direction::Falling);
    let caught_up = watched.at(235);
    assert!(group(&caught_up, "orders-enrich").totals.lag < 20_000);
}

#[test]
fn a_static_member_restarts_without_a_rebalance() {
    let mut watched = Watched::new();
    let before = watched.at(78);
    for _ in 0..10 {
        assert_eq!(group(&watched.poll(), "shipping").state, GroupState::Stable);
    }
    let after = watched.monitor.view();
    let (before, after) = (&group(&before, "shipping").members[1], &group(&after, "shipping").members[1]);
    assert_ne!(before.id, after.id);
    assert_eq!((&before.instance_id, &before.partitions), (&after.instance_id, &after.partitions));
}

#[test]
fn the_story_goes_on_for_hours() {
    let mut watched = Watched { frames: frames(1), ..Watched::new() };
    watched.frames.poll(At(4 * 3_600_000));
    watched.now = 4 * 3_600_000 + POLL;
    let view = watched.at(4 * 3600 + 10);
    // What piles up drains again; only the group without members falls behind for good.
    for (id, most) in [("audit", 200), ("billing", 900_000), ("checkout", 120_000), ("orders-enrich", 500_000)] {
        assert!(group(&view, id).totals.lag < most, "{id}: {}", group(&view, id).totals.lag);
    }
    let idle = (group(&view, "billing").members.len(), group(&view, "inventory-sync").members.len());
    assert_eq!(idle, (8, 3));
    for group in &view.groups {
        assert_eq!(group.totals.expired, usize::from(group.id.raw() == "ledger-export"), "{}", group.id);
    }
}

#[test]
fn only_what_is_selected_is_told() {
    let groups: Selected = Arc::new(|name| name.raw().starts_with(['p', 'b']));
    let mut frames = Frames::new(Options { groups: Some(groups), ..Options::default() });
    let frame = frames.poll(At(0));
    let told = facts(&frame);
    assert!(told.groups.keys().map(Name::raw).eq(["billing", "payroll"]));
    assert!(told.topics.keys().chain(told.offsets.keys()).map(Name::raw).eq(["payments", "payments"]));
    assert_eq!(told.problems.as_ref().map(Vec::len), Some(2));
    assert_eq!(told.listing.map(|listing| listing.total), Some(GROUPS.len()));
    let topics: Selected = Arc::new(|name| name.raw() != "payments");
    let frame = Frames::new(Options { topics: Some(topics), ..Options::default() }).poll(At(0));
    let told = facts(&frame);
    assert_eq!(
        (told.groups.len(), told.topics.len(), told.offsets.len()),
        (GROUPS.len(), TOPICS.len(), TOPICS.len() - 1)
    );
}

#[test]
fn the_tables_are_sound() {
    let snapshot = Simulation::new(1).snapshot(At(0));
    let present = snapshot.topics.values().filter(|topic| topic.presence == Presence::Present).count();
    assert_eq!((present, snapshot.topics.len()), (TOPICS.len(), TOPICS.len() + 1));
    for role in GROUPS {
        assert_eq!(role.capacity % 4, 0);
        for (topic, begins) in role.topics.iter().zip(role.begins) {
            let count = snapshot.topics[*topic].partitions.len();
            assert!(begins.len() <= count, "{}", role.name);
        }
        assert!(role.topics.iter().all(|topic| snapshot.topics.contains_key(*topic)), "{}", role.name);
        assert!(role.script.iter().all(|(second, _)| *second > 0 && *second < role.period), "{}", role.name);
    }
    for rush in TOPICS.iter().filter_map(|role| role.rush.as_ref()) {
        assert!(rush.from + rush.lasts <= rush.every);
    }
}

#[tokio::test]
async fn a_started_demo_honours_orders() {
    let mut source = start(Options { interval: Duration::ZERO, ..Options::default() });
    let Some(Input::Frame(Frame::Hello(hello))) = source.inputs.recv().await else { panic!("no hello") };
    assert!(hello.simulated && hello.cluster == Name::new("demo"));
    let Some(Input::Frame(Frame::Full(first))) = source.inputs.recv().await else { panic!("no facts") };
    assert_eq!(first.body.progress.map(|progress| progress.interval_ms), Some(0));
    for order in [Order::OnScreen(None), Order::PollNow, Order::Interval(10)] {
        source.orders.send(order).await.unwrap();
    }
    let mut last = first.at;
    for _ in 0..4 {
        let Some(Input::Frame(Frame::Partial(news))) = source.inputs.recv().await else { panic!("no news") };
        assert!(news.at >= last);
        last = news.at;
    }
    source.orders.send(Order::Stop).await.unwrap();
    while source.inputs.recv().await.is_some() {}
}

#[tokio::test]
async fn a_demo_that_nobody_reads_ends() {
    let Source { inputs, orders } = start(Options::default());
    drop(inputs);
    orders.closed().await;
}
