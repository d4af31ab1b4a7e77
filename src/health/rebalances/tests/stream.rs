use proptest::prelude::*;

use super::*;

/// One step of a group's life: which kind, which member, at which distance from the one before.
type Step = (u8, u8, u8);

/// A life that is odd and still possible to write down: epochs and generations of two groups and two partitions.
fn life(steps: &[Step]) -> Vec<Event> {
    let (mut wall, mut numbers) = (0, [0_i32; 2]);
    let mut event = |place: usize, (kind, who, wait): &Step| {
        let group = usize::from(who % 2);
        wall += i64::from(*wait) * 100;
        let id = format!("m{}", who % 7);
        let number = &mut numbers[group];
        let what = match (kind % 10, group) {
            (0..=2, 0) => {
                *number += i32::from(kind % 3);
                let members: Vec<_> =
                    (0..who % 5).map(|place| holding(&format!("m{place}"), &[place.into()])).collect();
                generation(*number, members, &[])
            }
            (0..=2, _) => {
                *number += 1;
                hashed(*number, i64::from(who % 3))
            }
            (3, _) => assigned(*number),
            (4, _) => joins(&id),
            (5 | 6, _) => at_epoch(&id, *number, &[i32::from(*who)]),
            (7, _) => gone(&id),
            (8, _) => What::CommitBack { topic: "t".into(), partition: 0, from: 9, to: i64::from(*who) % 9 },
            _ if *wait == 0 => What::GroupGone,
            _ => at_epoch(&id, -2, &[]),
        };
        let group_name = if group == 0 { "classic" } else { "consumer" };
        Event { group: group_name.into(), wall: Wall(wall), log: (i32::try_from(group).unwrap(), place as i64), what }
    };
    steps.iter().enumerate().map(|(place, step)| event(place, step)).collect()
}

fn told(history: &mut History) -> (Vec<Summary>, Vec<Happening>) {
    let summary = |group: &str| history.summary(&group.into(), asked(100_000), &Summary::default());
    let summaries = vec![summary("classic"), summary("consumer")];
    (summaries, history.feed().iter().map(|line| (**line).clone()).collect())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any::<Step>(), 0..120)
}

proptest! {
    /// A new collector tells its part of the log again, from any place: nothing is counted twice, nothing lost.
    #[test]
    fn told_again_changes_nothing(steps in steps(), split in 0..120_usize, back in 0..120_usize) {
        let events = life(&steps);
        let mut once = History::default();
        for event in &events {
            once.event(event, Seen::default());
        }
        let split = split.min(events.len());
        let again = split.saturating_sub(back);
        let mut twice = History::default();
        for event in events[..split].iter().chain(&events[again..]).chain(&events) {
            twice.event(event, Seen::default());
        }
        prop_assert_eq!(told(&mut once), told(&mut twice));
    }

    /// Partitions of the log may be told in any order among each other.
    #[test]
    fn partitions_are_independent(steps in steps()) {
        let events = life(&steps);
        let (mut mixed, mut apart) = (History::default(), History::default());
        for event in &events {
            mixed.event(event, Seen::default());
        }
        for partition in [1, 0] {
            let part = events.iter().filter(|event| event.log.0 == partition);
            for event in part {
                apart.event(event, Seen::default());
            }
        }
        prop_assert_eq!(told(&mut mixed), told(&mut apart));
    }

    /// No figure is absurd, whatever the log says.
    #[test]
    fn figures_are_sane(steps in steps(), now in -100_000..1_000_000_i64) {
        let mut history = History::default();
        for event in &life(&steps) {
            history.event(event, Seen::default());
        }
        for group in ["classic", "consumer"] {
            let summary = history.summary(&group.into(), asked(now), &Summary::default());
            prop_assert!(summary.frequency.not_stable_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            prop_assert!(summary.frequency.per_5min <= summary.frequency.per_hour);
            for rebalance in summary.list.iter() {
                prop_assert!(!rebalance.causes.is_empty() && rebalance.began <= rebalance.ended);
                if let Some(moves) = &rebalance.moves {
                    prop_assert!(moves.list.len() <= moves.moved + moves.taken + moves.dropped);
                }
            }
        }
    }
}

#[test]
fn memory_is_bounded() {
    let mut log = Log::new();
    log.at(0, [created()]);
    for number in 1..1200_i32 {
        // 100 members change places and names each time.
        let members = (0..100).map(|place| holding(&format!("m{place}-{number}"), &[place, place + 100])).collect();
        log.at(i64::from(number) * 1000, [generation(number, members, &[])]);
        log.at(i64::from(number) * 1000 + 500, [generation(number, vec![], &[])]);
    }
    let summary = log.summary(1_200_000);
    assert_eq!((summary.total, summary.list.len(), summary.side.len()), (1199, 500, 100));
    let details = |rebalance: &Rebalance| rebalance.joined.list.len() + rebalance.moves.as_ref().unwrap().list.len();
    let listed: usize = summary.list.iter().map(|rebalance| details(rebalance)).sum();
    assert!((10_000..=20_000).contains(&listed), "{listed}");
    // What is no longer listed is still counted, and the newest are whole.
    assert!(summary.list.iter().all(|rebalance| rebalance.joined.count == 100));
    assert_eq!(summary.list[0].joined.list.len(), 100);
    assert_eq!(log.history.feed().len(), 1000);
}

#[test]
fn more_in_an_hour_than_are_kept_is_a_lower_bound() {
    let mut log = Log::new();
    log.at(0, [created()]);
    for number in 1..=501 {
        log.at(i64::from(number) * 1000, [generation(number, vec![holding("a", &[number])], &[])]);
    }
    let summary = log.summary(501_000);
    assert_eq!((summary.frequency.per_hour, summary.total), (500, 501));
    assert!(summary.lower_bound && !summary.total_lower_bound);
}

#[test]
fn a_reset_of_many_commits_is_one_line() {
    let mut log = Log::new();
    let back = |partition, from| What::CommitBack { topic: "t".into(), partition, from, to: 10 };
    log.at(1000, (0..50).map(|partition| back(partition, 110)));
    log.at(6000, [back(50, 20)]);
    log.at(7000, [back(0, 11)]);
    let told = [
        "commit of t-0 moved back 110 > 10 (and 50 more partitions, 5010 records in all)",
        "commit of t-0 moved back 11 > 10",
    ];
    assert_eq!(log.side(), told);
    let feed: Vec<_> = log.history.feed().iter().map(|line| (line.wall, line.what.to_string())).collect();
    assert_eq!(feed, [(Wall(7000), told[1].to_owned()), (Wall(1000), told[0].to_owned())]);
}

#[test]
fn deleted_groups_of_long_ago_are_forgotten() {
    let mut history = History::default();
    for number in 0..1500_i32 {
        let group = Name::from(format!("console-{number}"));
        let wall = Wall(i64::from(number));
        for (place, what) in [created(), What::GroupGone].into_iter().enumerate() {
            let log = (0, i64::from(number) * 2 + place as i64);
            history.event(&Event { group: group.clone(), wall, log, what }, Seen::default());
        }
    }
    history.tidy(|name| name.raw() == "console-3");
    let known = |number: i32| {
        let summary = history.summary(&format!("console-{number}").into(), asked(0), &Summary::default());
        summary.since.is_some()
    };
    assert!(!known(0) && known(3) && !known(499) && known(1499));
}

#[test]
fn what_did_not_change_is_shared() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0])], &[])]);
    let before = log.summary(1000);
    let after = log.history.summary(&log.group, asked(2000), &before);
    assert!(Arc::ptr_eq(&before.list, &after.list) && Arc::ptr_eq(&before.side, &after.side));
    assert!(before.moves_on());
    assert!(!log.summary(4_000_000).moves_on());
}
