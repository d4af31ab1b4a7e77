//! `assignor_range.jsonl` and `assignor_roundrobin.jsonl`: always equal.

use lagtop::assign::Assignor;
use serde_json::Value;

use super::group::Case;

pub fn range(case: &Value) -> Result<(), String> {
    exact(Assignor::Range, case)
}

pub fn roundrobin(case: &Value) -> Result<(), String> {
    exact(Assignor::RoundRobin, case)
}

fn exact(assignor: Assignor, case: &Value) -> Result<(), String> {
    let read = Case::read(case, "owned")?;
    match assignor.assign(&read.group) {
        Ok(plan) => {
            read.expect_sound(&plan)?;
            read.expect_sets(&plan, &case["expected"])
        }
        Err(_) if case["expected_error"].is_string() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
