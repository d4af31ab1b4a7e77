//! `assignor_sticky.jsonl` and `assignor_cooperative-sticky.jsonl`: always equal, also in Java's hash order, but for the
//! cases in which the Java class breaks its own contract (`quirks`, or an `IllegalStateException`). Those must come out
//! sound: each partition of a subscribed topic once, to a subscriber.

use lagtop::assign::{AssignError, Assignment, GroupInput, cooperative_sticky, sticky};
use serde_json::Value;

use super::group::{Case, owned};

pub fn sticky(case: &Value) -> Result<(), String> {
    let read = Case::read(case, "owned")?;
    check(case, &read, "expected", sticky::assign(&read.group), true)
}

pub fn cooperative(case: &Value) -> Result<(), String> {
    let round = |group: &GroupInput| cooperative_sticky::round(group).map(|(plan, _)| plan);
    let mut read = Case::read(case, "owned")?;
    check(case, &read, "expected", round(&read.group), false)?;
    if !read.group.members.is_empty() {
        read.expect_sound(&cooperative_sticky::assign(&read.group).map_err(|e| e.to_string())?)?;
    }
    if case.get("expected_round2").is_some() && !has_quirk(case) {
        let mut first = owned(&case["expected"])?;
        for place in 0..read.group.members.len() {
            let list = first.remove(read.group.members[place].id.raw()).unwrap_or_default();
            let list = list.into_iter().map(|(topic, partition)| read.partition(&topic, partition)).collect();
            let member = &mut read.group.members[place];
            member.owned = list;
            member.generation = case["round2_generation"].as_i64().map(|generation| generation as i32);
        }
        check(case, &read, "expected_round2", round(&read.group), false).map_err(|e| format!("round 2: {e}"))?;
    }
    Ok(())
}

fn has_quirk(case: &Value) -> bool {
    let illegal = |error: &str| error.starts_with("IllegalStateException");
    case.get("quirks").is_some() || case["expected_error"].as_str().is_some_and(illegal)
}

fn check(
    case: &Value,
    read: &Case,
    field: &str,
    plan: Result<Assignment, AssignError>,
    complete: bool,
) -> Result<(), String> {
    match plan {
        Ok(plan) if has_quirk(case) => {
            if complete {
                read.expect_sound(&plan)
            } else {
                Ok(())
            }
        }
        Ok(plan) => read.expect_sets(&plan, &case[field]),
        Err(AssignError::NoMembers) if case["members"].as_array().is_some_and(Vec::is_empty) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
