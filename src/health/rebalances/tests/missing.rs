//! Events that are missing: dropped on their way, or lost with the records of a log that went back.

use super::*;

/// Two groups of one partition, each with one rebalance, at offsets 1 to 4 and 5 to 8.
fn two() -> Log {
    let mut log = Log::new();
    log.at(1000, [joins("a"), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    log.group = "other".into();
    log.at(2000, [joins("b"), epoch(1), assigned(1), at_epoch("b", 1, &[0])]);
    log.group = "g".into();
    assert_eq!((bounds(&log, 3000), log.list().len()), ((false, false, None), 1));
    log
}

fn bounds(log: &Log, wall: i64) -> (bool, bool, Option<Missing>) {
    let summary = log.summary(wall);
    (summary.lower_bound, summary.total_lower_bound, summary.missing)
}

#[test]
fn dropped_events_make_lower_bounds_and_say_why() {
    let mut log = two();
    // Lost: joins("c"), epoch(2), assigned(2).
    log.history.dropped(&["g".into()], Wall(3000));
    assert_eq!(bounds(&log, 4000), (true, true, Some(Missing::Dropped)));
    let other = log.history.summary(&"other".into(), asked(4000), &Summary::default());
    assert_eq!((other.lower_bound, other.missing), (false, None));
    // What the middle of a rebalance leaves is no rebalance, and no creation.
    log.at(5000, [at_epoch("a", 2, &[0])]);
    log.at(5100, [at_epoch("c", 2, &[1])]);
    assert_eq!((log.list().len(), log.side().len()), (1, 1));
    log.at(6000, [joins("d"), epoch(3), assigned(3), at_epoch("d", 3, &[]), at_epoch("a", 3, &[0])]);
    log.at(6100, [at_epoch("c", 3, &[1])]);
    assert_eq!((log.list().len(), log.last().from, log.last().to), (2, Some(2), Some(3)));
    let hour = 3_600_000;
    assert_eq!(bounds(&log, 2900 + hour), (true, true, Some(Missing::Dropped)));
    assert_eq!(bounds(&log, 3001 + hour), (false, true, Some(Missing::Dropped)), "the last hour is whole again");
}

#[test]
fn generations_go_on_after_a_gap() {
    let mut log = Log::new();
    log.at(0, [created(), generation(1, vec![holding("a", &[0])], &[])]);
    log.history.dropped(&["g".into()], Wall(10));
    log.at(100, [generation(5, vec![holding("b", &[0])], &[])]);
    assert_eq!(log.list().len(), 1, "how many there were in between is not known");
    log.at(200, [generation(6, vec![holding("b", &[0]), holding("c", &[])], &[])]);
    assert_eq!((log.last().from, log.last().to, log.last().joined.count), (Some(5), Some(6), 1));
    assert_eq!(bounds(&log, 300), (true, true, Some(Missing::Dropped)));
}

/// The collector notes that the log went back to offset 3; the group goes on from what is left, with epoch 1 once more.
#[test]
fn a_log_that_went_back_is_counted_on_and_says_so() {
    let mut log = two();
    log.history.cut(0, 3);
    assert_eq!(bounds(&log, 3000), (true, true, Some(Missing::Cut)));
    let other = log.history.summary(&"other".into(), asked(3000), &Summary::default());
    assert_eq!(other.missing, Some(Missing::Cut), "the partition is its own, too");
    log.offset = 0;
    log.at(1000, [joins("a"), epoch(1)]);
    assert_eq!(log.list().len(), 1, "told again");
    log.at(1500, [joins("c"), epoch(2), assigned(2), at_epoch("a", 2, &[0]), at_epoch("c", 2, &[1])]);
    assert_eq!((log.list().len(), log.last().to), (2, Some(2)), "at places that others had");
    // Another partition, and one that nothing was told of, are not concerned.
    let mut log = two();
    log.history.cut(1, 0);
    assert_eq!(bounds(&log, 3000), (false, false, None));
}

/// A new collector does not know how far the one before it had read.
#[test]
fn what_is_later_than_all_and_stands_before_is_another_record() {
    let mut log = two();
    log.offset = 0;
    log.at(1000, [joins("a"), epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    assert_eq!((bounds(&log, 3000), log.list().len()), ((false, false, None), 1), "told again");
    log.at(2500, [joins("c"), epoch(2), assigned(2), at_epoch("a", 2, &[0]), at_epoch("c", 2, &[1])]);
    assert_eq!((bounds(&log, 3000), log.list().len()), ((true, true, Some(Missing::Cut)), 2));
}

/// A bounded history may begin with a record as an event that was none for the collector before; where a coordinator's
/// clock was ahead it is later than all, and still nothing is counted twice.
#[test]
fn what_was_told_is_not_told_again_after_a_stranger() {
    let mut log = two();
    log.offset = 1;
    log.at(9000, [joins("a")]);
    assert_eq!(bounds(&log, 9000), (true, true, Some(Missing::Cut)));
    log.at(1000, [epoch(1), assigned(1), at_epoch("a", 1, &[0])]);
    assert_eq!(log.list().len(), 1);
    log.offset = 8;
    log.at(3000, [joins("c"), epoch(2), assigned(2), at_epoch("a", 2, &[0]), at_epoch("c", 2, &[1])]);
    assert_eq!(log.list().len(), 2);
}

#[test]
fn the_reason_is_in_words() {
    assert_eq!(Missing::Dropped.to_string(), "events were dropped, since nobody read the stream");
    assert_eq!(Missing::Cut.to_string(), "its log went back: an unclean leader election lost records");
    assert_eq!(Missing::Skipped.to_string(), "a part of its log was not read: it is gone, or was too long");
}
