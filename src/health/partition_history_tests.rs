use super::*;

/// Polls at these seconds saw these commits, a thousand records behind each.
fn polled(commits: &[(u64, i64)]) -> PartitionHistory {
    let mut history = PartitionHistory::default();
    for (seconds, offset) in commits {
        let seen = At(seconds * 1000);
        history.commit(Committed { offset: *offset, recorded: None, seen, lag: 1000 });
    }
    history
}

/// The same from records; each is seen half a second later.
fn recorded(commits: &[(i64, i64)]) -> PartitionHistory {
    let mut history = PartitionHistory::default();
    for (millis, offset) in commits {
        let seen = At(u64::try_from(*millis).unwrap() + 500);
        let wall = Some(Wall(1_000_000_000_000 + millis));
        history.commit(Committed { offset: *offset, recorded: wall, seen, lag: 1000 });
    }
    history
}

fn rate(history: &PartitionHistory) -> Option<(f64, u64)> {
    history.consumed().map(|rate| (rate.per_second, rate.window.as_millis() as u64))
}

#[test]
fn a_window_holds_three_steps_and_ten_seconds() {
    assert_eq!(rate(&PartitionHistory::default()), None);
    // Two steps are not enough, however long they are; three are.
    assert_eq!(rate(&polled(&[(0, 0), (20, 100), (40, 200)])), None);
    assert_eq!(rate(&polled(&[(0, 0), (20, 100), (40, 200), (60, 300)])), Some((5.0, 60_000)));
    // Three steps within 9.999 s are not enough; 10 s are.
    assert_eq!(rate(&recorded(&[(0, 0), (3000, 30), (6000, 60), (9999, 99)])), None);
    assert_eq!(rate(&recorded(&[(0, 0), (3000, 30), (6000, 60), (10_000, 100)])), Some((10.0, 10_000)));
    // Of a longer history the newest window counts.
    let speeding = [(0, 0), (5000, 5), (10_000, 10), (15_000, 110), (20_000, 210), (25_000, 310)];
    assert_eq!(rate(&recorded(&speeding)), Some((20.0, 15_000)));
}

#[test]
fn polls_between_two_commits_are_no_steps() {
    let every_2_s: Vec<(u64, i64)> = (0..15).map(|poll| (2 * poll, (2 * poll / 5) as i64 * 50)).collect();
    let (per_second, window) = rate(&polled(&every_2_s)).unwrap();
    assert!((per_second - 10.0).abs() < 1.0 && window >= 14_000, "{per_second} {window}");
}

#[test]
fn records_that_repeat_a_commit_are_steps_without_progress() {
    assert_eq!(rate(&recorded(&[(0, 7), (5000, 7), (10_000, 7), (15_000, 7)])), Some((0.0, 15_000)));
}

#[test]
fn a_commit_that_moves_back_is_never_a_negative_rate() {
    let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 150), (20, 20)]);
    assert_eq!(rate(&history), None);
    for (seconds, offset) in [(25, 70), (30, 120), (35, 170)] {
        history.commit(Committed { offset, recorded: None, seen: At(seconds * 1000), lag: 0 });
    }
    assert_eq!(rate(&history), Some((10.0, 15_000)));
}

#[test]
fn another_owner_ends_the_window_and_a_rebalance_does_not() {
    let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 150)]);
    history.owned_by(Some(&"a".into()), At(15_000));
    assert!(rate(&history).is_some(), "the first owner that is seen held it before");
    history.owned_by(None, At(15_000));
    history.owned_by(Some(&"a".into()), At(15_000));
    assert!(rate(&history).is_some());
    history.owned_by(Some(&"b".into()), At(15_000));
    assert_eq!(rate(&history), None);
    for (seconds, offset) in [(20, 250), (25, 350)] {
        history.commit(Committed { offset, recorded: None, seen: At(seconds * 1000), lag: 0 });
    }
    assert_eq!(rate(&history), None);
    history.commit(Committed { offset: 450, recorded: None, seen: At(30_000), lag: 0 });
    assert_eq!(rate(&history), Some((20.0, 15_000)));
}

#[test]
fn a_commit_that_stops_slows_down_and_comes_to_rest() {
    let seen_again = |seconds: u64| {
        let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 150)]);
        history.commit(Committed { offset: 150, recorded: None, seen: At(seconds * 1000), lag: 0 });
        rate(&history)
    };
    assert_eq!(seen_again(30), Some((10.0, 15_000)));
    assert_eq!(seen_again(45), Some((150.0 / 45.0, 45_000)), "overdue by more than the window");
    assert_eq!(seen_again(75).map(|(_, window)| window), Some(75_000));
    assert_eq!(seen_again(76), Some((0.0, 61_000)));
    // Never moved at all.
    assert_eq!(rate(&polled(&[(0, 5), (60, 5)])), None);
    assert_eq!(rate(&polled(&[(0, 5), (61, 5)])), Some((0.0, 61_000)));
    // One that commits every 50 s is not at rest in between.
    assert_eq!(rate(&polled(&[(0, 5), (50, 10), (125, 10)])), None);
}

#[test]
fn clocks_are_never_mixed() {
    let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 150)]);
    history.commit(Committed { offset: 200, recorded: Some(Wall(1_000_000_000_000)), seen: At(20_000), lag: 0 });
    assert_eq!(rate(&history), None);
}

#[test]
fn a_backlog_is_more_than_two_steps() {
    // 50 records a step.
    let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 150)]);
    assert!(history.in_flight(100) && !history.in_flight(101));
    assert!(history.was_backlogged());
    history.commit(Committed { offset: 200, recorded: None, seen: At(20_000), lag: 100 });
    assert!(!history.was_backlogged());
    history.commit(Committed { offset: 250, recorded: None, seen: At(25_000), lag: 101 });
    assert!(history.was_backlogged(), "at both ends of the newest window");
    assert!(!PartitionHistory::default().in_flight(0), "nobody knows");
}

#[test]
fn the_rings_are_bounded_and_reach_far_back() {
    let mut history = PartitionHistory::default();
    for poll in 0..10_000_i64 {
        let seen = At(poll.unsigned_abs() * 500);
        history.lag(seen, poll.unsigned_abs(), Duration::from_secs(3600));
        history.commit(Committed { offset: poll, recorded: None, seen, lag: 0 });
    }
    assert!(history.lags.iter().len() <= LAGS && history.commits.len() <= COMMITS);
    assert_eq!(history.consumed(), Some(Rate { per_second: 2.0, window: SHORTEST }));
    let bytes = COMMITS * size_of::<Step>() + LAGS * size_of::<(At, i64)>() + size_of::<PartitionHistory>();
    assert!(bytes <= 2200, "{bytes}");
}

/// Polls every 2 s; the commit moves at these seconds, the lag is never 0 and older than `time_lag`.
fn paused(moves: &[u64], until: u64) -> PartitionHistory {
    let mut history = PartitionHistory::default();
    for seconds in (0..=until).step_by(2) {
        let seen = At(seconds * 1000);
        let offset = moves.iter().filter(|at| **at <= seconds).count() as i64 * 10;
        history.commit(Committed { offset, recorded: None, seen, lag: 5 });
        history.lag(seen, 5, Duration::from_secs(3600));
    }
    history
}

#[test]
fn patience_is_twice_the_longest_pause() {
    assert_eq!(paused(&[], 100).patience(), PATIENCE, "no rhythm is known");
    assert_eq!(paused(&[10], 100).patience(), PATIENCE, "before the first step nobody looked");
    assert_eq!(paused(&[10, 16], 100).patience(), LEAST_PATIENCE);
    assert_eq!(paused(&[10, 610, 620], 700).patience(), Duration::from_secs(1200));
    // What was an hour ago is forgotten.
    assert_eq!(paused(&[10, 610, 620], 4300).patience(), PATIENCE);
}

#[test]
fn time_in_which_nobody_looked_is_no_pause() {
    let hours = At(8 * 3_600_000);
    let moved = Committed { offset: 99, recorded: None, seen: hours, lag: 5 };
    let mut suspended = paused(&[10, 16], 100);
    suspended.looked_away();
    suspended.commit(moved);
    assert_eq!(suspended.patience(), Duration::from_secs(2 * 84), "it stood still until 100");
    let mut watched = paused(&[10, 16], 100);
    watched.commit(moved);
    assert_eq!(watched.patience(), Duration::from_secs(2 * (8 * 3600 - 16)));
}

#[test]
fn a_commit_is_waited_for_since_it_moved_and_there_is_lag() {
    let silent = |history: &PartitionHistory, now: u64| history.silent(At(now * 1000), TimeLag::Unknown).as_secs();
    assert_eq!(silent(&paused(&[10, 20], 100), 100), 80);
    assert_eq!(silent(&paused(&[], 100), 100), 100, "since it is watched");
    let mut taken = paused(&[10, 20], 100);
    taken.owned_by(Some(&"a".into()), At(50_000));
    assert_eq!(silent(&taken, 100), 50, "since the owner has it");
    // Read to the end for 1000 s: nothing to commit, and nothing to learn of the rhythm.
    let mut idle = paused(&[10, 20], 100);
    idle.commit(Committed { offset: 25, recorded: None, seen: At(102_000), lag: 0 });
    for seconds in (102..1100).step_by(2) {
        idle.lag(At(seconds * 1000), 0, Duration::from_secs(3600));
    }
    assert_eq!(silent(&idle, 1100), 0);
    idle.lag(At(1_102_000), 3, Duration::from_secs(3600));
    assert_eq!(silent(&idle, 1110), 8);
    let known = TimeLag::Known { time: Duration::from_secs(3), error: Duration::ZERO };
    assert_eq!(idle.silent(At(1_110_000), known).as_secs(), 3, "no longer than there is something to commit");
    let patience = idle.patience();
    idle.commit(Committed { offset: 28, recorded: None, seen: At(1_112_000), lag: 0 });
    assert_eq!(idle.patience(), patience);
}

#[test]
fn a_commit_that_moved_back_is_rewound_until_it_is_where_it_was() {
    let mut history = polled(&[(0, 0), (5, 50), (10, 100), (15, 20)]);
    assert_eq!(history.rewound(), Some(Rewound { from: 100, to: 20, at: At(15_000) }));
    let mut commit = |seconds: u64, offset| {
        history.commit(Committed { offset, recorded: None, seen: At(seconds * 1000), lag: 1 });
        history.rewound()
    };
    assert_eq!(commit(20, 60).map(|rewound| rewound.to), Some(20));
    assert_eq!(commit(25, 10), Some(Rewound { from: 100, to: 10, at: At(25_000) }));
    assert_eq!(commit(30, 99).map(|rewound| rewound.from), Some(100));
    assert_eq!(commit(35, 100), None);
}

#[test]
fn a_commit_that_is_told_before_the_next_look_moves_too() {
    // The log tells of a commit at once, and how far it was read a moment later.
    let mut history = recorded(&[(0, 100), (1000, 200)]);
    history.commit(Committed { offset: 50, recorded: Some(Wall(1_000_000_001_200)), seen: At(1500), lag: 0 });
    assert_eq!(history.rewound(), Some(Rewound { from: 200, to: 50, at: At(1500) }));
    // Also where only polls told of the commits before.
    let mut history = polled(&[(0, 100), (1, 200)]);
    history.commit(Committed { offset: 50, recorded: Some(Wall(1_000_000_001_200)), seen: At(1500), lag: 0 });
    assert_eq!(history.rewound().map(|rewound| rewound.from), Some(200));
}

#[test]
fn another_log_has_no_past() {
    let mut history = paused(&[10, 20], 100);
    history.of_log(0);
    assert!(history.watched(At(100_000)) > Duration::ZERO);
    history.of_log(1);
    assert_eq!((history.watched(At(100_000)), history.consumed()), (Duration::ZERO, None));
}
