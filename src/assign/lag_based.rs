//! `lag-based`: the assignor of KAFKA-5337 to the letter, topic by topic.
//!
//! Partitions by lag descending, then number; each goes to the subscribed member with the fewest partitions of this
//! topic, then the least lag of this topic, then the smallest member id. Totals start again with every topic, so two
//! topics of one partition each may go to the same member: that is the rule, and `lag-balanced` is the answer to it.

use super::assignment::Assignment;
use super::input::{GroupInput, TopicPartition};

/// Assigns by lag; a group without members or topics gets an empty assignment. O((P + M) log M).
///
/// Members end up with topics in name order and, inside a topic, partitions in the order they were handed out.
pub fn assign(group: &GroupInput) -> Assignment {
    let mut plan = Assignment::empty(group.members.len());
    let subscribers = group.subscribers_in(group.members_by_id());
    for topic in group.topics_by_name() {
        let members = &subscribers[topic as usize];
        if members.is_empty() {
            continue;
        }
        let input = &group.topics[topic as usize];
        let mut partitions: Vec<(u64, u32)> = (0..input.count()).map(|p| (input.lag(p), p)).collect();
        partitions.sort_unstable_by_key(|&(lag, partition)| (std::cmp::Reverse(lag), partition));

        // "Fewest partitions first" means that members take turns: in a round each gets one partition, the member with
        // the least lag first. `rank` is the order of member ids.
        let mut turn: Vec<(u64, u32)> = (0..members.len() as u32).map(|rank| (0, rank)).collect();
        for round in partitions.chunks(members.len()) {
            turn.sort_unstable();
            for (&(lag, partition), (total, rank)) in round.iter().zip(&mut turn) {
                *total = total.saturating_add(lag);
                let member = members[*rank as usize];
                plan.members[member as usize].push(TopicPartition { topic, partition });
            }
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput};
    use super::*;

    fn group(members: &[&str], lags: &[u64]) -> GroupInput {
        let topic = TopicInput {
            name: "t".into(),
            partitions: Some(lags.len() as u32),
            lags: lags.to_vec(),
            ..TopicInput::default()
        };
        let member = |id: &&str| MemberInput { id: (*id).into(), topics: vec![0], ..MemberInput::default() };
        GroupInput { members: members.iter().map(member).collect(), topics: vec![topic], ..GroupInput::default() }
    }

    fn partitions(plan: &Assignment) -> Vec<Vec<u32>> {
        plan.members.iter().map(|tps| tps.iter().map(|tp| tp.partition).collect()).collect()
    }

    /// CASES 51: the example of the prototype's README.
    #[test]
    fn the_example_of_the_prototype() {
        let plan = assign(&group(&["C0", "C1"], &[100_000, 50_000, 60_000]));
        assert_eq!(partitions(&plan), [vec![0], vec![2, 1]]);
    }

    /// CASES 52: lags from the prototype's own test.
    #[test]
    fn the_lags_of_the_prototypes_test() {
        let lags = [360, 359, 230, 118, 444, 122, 65, 111, 455_000, 424_000];
        let plan = assign(&group(&["A", "B", "C"], &lags));
        assert_eq!(partitions(&plan), [vec![8, 2, 7], vec![9, 1, 3], vec![4, 0, 5, 6]]);
    }

    /// CASES 53: without lag the counts still differ by at most one.
    #[test]
    fn no_lag_is_dealt_evenly() {
        let plan = assign(&group(&["a", "b", "c"], &[0; 7]));
        assert_eq!(partitions(&plan), [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }

    /// CASES 18: eight members, six partitions: two get nothing.
    #[test]
    fn more_members_than_partitions() {
        let ids = ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"];
        let plan = assign(&group(&ids, &[60, 50, 40, 30, 20, 10]));
        assert_eq!(partitions(&plan), [vec![0], vec![1], vec![2], vec![3], vec![4], vec![5], vec![], vec![]]);
    }

    /// CASES 57: nothing to assign, or nobody to assign it to.
    #[test]
    fn nothing_is_no_error() {
        assert!(assign(&GroupInput::default()).members.is_empty());
        assert!(assign(&group(&[], &[1, 2])).members.is_empty());
        assert!(assign(&group(&["a"], &[])).is_empty());
        let mut missing = group(&["a"], &[1]);
        missing.topics[0].partitions = None;
        assert!(assign(&missing).is_empty());
        let mut unsubscribed = group(&["a", "b"], &[1, 2, 3]);
        unsubscribed.members[0].topics.clear();
        assert_eq!(partitions(&assign(&unsubscribed)), [vec![], vec![2, 1, 0]]);
    }

    /// CASES 59: ties go by Java's string order: UTF-16 units, which puts an astral character before U+E000.
    #[test]
    fn ties_go_by_utf16_order() {
        assert_eq!(partitions(&assign(&group(&["m2", "m10"], &[7]))), [vec![], vec![0]]);
        assert_eq!(partitions(&assign(&group(&["\u{e000}", "\u{1f600}"], &[7]))), [vec![], vec![0]]);
    }
}
