use std::time::Duration;

use super::*;

/// A finished rebalance from, to.
fn from_to(began: i64, ended: i64) -> Rebalance {
    let took = Took::Exact(Duration::from_millis(u64::try_from(ended - began).unwrap()));
    Rebalance { began: Wall(began), ended: Wall(ended), took, ..Rebalance::default() }
}

const NOW: i64 = 100 * 3_600_000;

fn as_of_now(list: &[Rebalance], since: i64) -> Frequency {
    Frequency::of(list.iter(), None, Wall(NOW), Wall(since), Storm::default())
}

#[test]
fn windows_have_two_sides() {
    let ago = |millis: i64| from_to(NOW - millis, NOW - millis);
    let frequency = as_of_now(&[ago(0), ago(299_999), ago(300_000), ago(3_599_999), ago(3_600_000)], 0);
    assert_eq!((frequency.per_5min, frequency.per_hour), (2, 4));
    assert_eq!((frequency.strip.len(), frequency.strip[SLOTS - 1], frequency.strip[0]), (SLOTS, 1, 0));
    assert_eq!(frequency.strip.iter().sum::<u32>(), 3, "the strip begins with the oldest whole minute");
}

#[test]
fn a_storm_is_five_in_five_minutes() {
    let list: Vec<_> = (0..5).map(|place| from_to(NOW - 60_000 * place, NOW - 60_000 * place)).collect();
    assert_eq!(as_of_now(&list, 0).storm, Some(5));
    assert_eq!(as_of_now(&list[..4], 0).storm, None);
    let ongoing = Frequency::of(list[..4].iter(), Some(Wall(NOW)), Wall(NOW), Wall(0), Storm::default());
    assert!(ongoing.storm.is_some() && ongoing.per_5min == 5);
    let storm = "2/30s".parse().unwrap();
    assert_eq!(Frequency::of(list.iter(), None, Wall(NOW), Wall(0), storm).storm, None);
}

#[test]
fn a_storm_is_parsed_and_printed() {
    assert_eq!("5/5m".parse::<Storm>().unwrap(), Storm::default());
    assert_eq!(Storm::default().to_string(), "5/5m");
    for wrong in ["", "5", "5/", "/5m", "0/5m", "5/0s", "x/5m", "5/x", "-1/5m", "5/2h"] {
        assert!(wrong.parse::<Storm>().is_err(), "{wrong}");
    }
    assert!("\x1b/5m".parse::<Storm>().unwrap_err().contains("\\x1b"));
}

#[test]
fn time_not_stable_is_clipped_to_the_hour() {
    let minutes = |from: i64, to: i64| from_to(NOW - from * 60_000, NOW - to * 60_000);
    let frequency = as_of_now(&[minutes(66, 54), minutes(6, 0)], 0);
    assert_eq!(frequency.not_stable_share, Some(0.2));
    assert!(!frequency.not_stable_at_least);
    // Known for half an hour only.
    assert_eq!(as_of_now(&[minutes(6, 0)], NOW - 30 * 60_000).not_stable_share, Some(0.2));
    assert_eq!(as_of_now(&[], NOW).not_stable_share, None);
    let least = Rebalance { took: Took::AtLeast(Duration::from_secs(1)), ..minutes(1, 0) };
    assert!(as_of_now(&[least], 0).not_stable_at_least);
}

#[test]
fn a_clock_that_is_ahead_is_marked_and_makes_no_absurd_figure() {
    let mut log = Log::new();
    log.at(0, [created()]);
    log.at(7_200_000, [generation(1, vec![holding("a", &[0])], &[])]);
    let summary = log.summary(10_000);
    assert_eq!(summary.clock_ahead, Some(Duration::from_secs(7190)));
    assert_eq!((summary.frequency.per_5min, summary.frequency.per_hour), (1, 1));
    assert_eq!(summary.frequency.not_stable_share, Some(0.0));
    // A little is the granularity of clocks.
    assert_eq!(log.summary(7_199_001).clock_ahead, None);
    // A clock that is behind makes old rebalances, and no more.
    assert_eq!(log.summary(20_000_000).frequency.per_hour, 0);
}

#[test]
fn the_coordinators_clock_may_be_set_back() {
    let mut log = Log::new();
    log.at(9000, [joins("a"), epoch(1), assigned(1)]);
    log.at(4000, [at_epoch("a", 1, &[0])]);
    assert_eq!(log.only().took, Took::AtLeast(Duration::ZERO));
    assert_eq!((log.only().began, log.only().ended), (Wall(9000), Wall(9000)));
}
