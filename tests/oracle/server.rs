//! `server_range.jsonl`, `server_uniform.jsonl` and `share_simple.jsonl`: the first two always equal, with members and what they own in the order recorded.
//! The recorded `topic_order` is not read: it is the hash order of the topic ids, which `uniform` works out itself.

use lagtop::assign::{
    AssignError, Assignment, Assignor, GroupInput, server_range, share_simple, uniform, uniform_heterogeneous,
};
use serde_json::Value;

use super::group::{Case, Owned, expect_equal, owned, sorted};

pub fn range(case: &Value) -> Result<(), String> {
    exact(case, server_range::assign)
}

pub fn uniform(case: &Value) -> Result<(), String> {
    if case["order"] == "java_hash" && case["kind"].as_str().is_some_and(|kind| !kind.contains("declared")) {
        // The orders are those of a coordinator, so they need not be told.
        let mut read = Case::read(case, "assigned")?;
        for member in &mut read.group.members {
            member.owned.sort_unstable();
        }
        if let Ok(plan) = Assignor::Uniform.assign(&read.group) {
            read.expect_sets(&plan, &case["expected"])?;
        }
    }
    match case["subscription_type"].as_str() {
        Some("homogeneous") => exact(case, uniform::assign_equal),
        Some("heterogeneous") => exact(case, uniform_heterogeneous::assign),
        other => Err(format!("subscription type {other:?}")),
    }
}

/// Equal where Java's own result is fixed: one topic, or different subscriptions, or a case that does not depend on any
/// order. Else each partition has an owner, owners subscribe and the counts are Java's.
pub fn simple(case: &Value) -> Result<(), String> {
    let read = Case::read(case, "assigned")?;
    let equal = case["subscription_type"] == "homogeneous";
    let assign = if equal { share_simple::assign_equal } else { share_simple::assign_different };
    let plan = match (assign(&read.group), case["expected_error"].is_string()) {
        (Ok(plan), false) => plan,
        (Err(AssignError::UnknownTopic(_)), true) => return Ok(()),
        (result, _) => return Err(format!("got {result:?}, expected {}", case["expected_error"])),
    };
    read.expect_owned(&plan)?;
    // Java leaves a member partitions of topics that nobody subscribes to any more.
    let mut expected = sorted(owned(&case["expected"])?);
    for member in &read.group.members {
        let topics: Vec<&str> = member.topics.iter().map(|&t| read.group.topics[t as usize].name.raw()).collect();
        expected.entry(member.id.raw().to_owned()).or_default().retain(|(topic, _)| topics.contains(&topic.as_str()));
    }
    let got = sorted(read.named(&plan));
    let existing = read.group.topics.iter().filter(|topic| topic.count() > 0).count();
    if case["order_free"] == true || !equal || existing <= 1 {
        return expect_equal(&got, &expected);
    }
    let counts = |owned: &Owned| {
        let mut counts: Vec<usize> = owned.values().map(Vec::len).collect();
        counts.sort_unstable();
        counts
    };
    if counts(&got) == counts(&expected) { Ok(()) } else { expect_equal(&got, &expected) }
}

fn exact(case: &Value, assign: fn(&GroupInput) -> Result<Assignment, AssignError>) -> Result<(), String> {
    let read = Case::read(case, "assigned")?;
    match (assign(&read.group), case["expected_error"].is_string()) {
        (Ok(plan), false) => {
            read.expect_sound(&plan)?;
            read.expect_sets(&plan, &case["expected"])
        }
        (Err(AssignError::UnknownTopic(_)), true) => Ok(()),
        (result, _) => Err(format!("got {result:?}, expected {}", case["expected_error"])),
    }
}
