//! `server_range.jsonl` and `server_uniform.jsonl`: always equal, with members and what they own in the order recorded.
//! The recorded `topic_order` is not read: it is the hash order of the topic ids, which `uniform` works out itself.

use lagtop::assign::{AssignError, Assignment, Assignor, GroupInput, server_range, uniform, uniform_heterogeneous};
use serde_json::Value;

use super::group::Case;

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
