//! `lag_based.jsonl`: equal member by member, in the order in which partitions are handed out inside a topic, with the
//! lag of each member.

use lagtop::assign::{Assignor, metrics::Metrics};
use serde_json::Value;

use super::group::{Case, expect_equal, owned};

pub fn check(case: &Value) -> Result<(), String> {
    let read = Case::read(case, "owned")?;
    let plan = Assignor::LagBased.assign(&read.group).map_err(|e| e.to_string())?;
    expect_equal(&read.named(&plan), &owned(&case["expected"])?)?;
    let metrics = Metrics::of(&read.group, &plan);
    for (member, load) in read.group.members.iter().zip(&metrics.loads) {
        let total = case["total_lag"][member.id.raw()].as_u64().unwrap_or(0);
        if load.lag != total {
            return Err(format!("{} has lag {}, expected {total}", member.id, load.lag));
        }
    }
    Ok(())
}
