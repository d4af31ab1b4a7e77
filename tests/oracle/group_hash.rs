//! `Utils.computeGroupHash` of Kafka 4.4.

use lagtop::metadata::group_hash;
use lagtop::model::Name;
use serde_json::Value as Json;

/// One line of group_hash.jsonl.
pub fn check(case: &Json) -> Result<(), String> {
    let number = |n: &Json| n.as_str().and_then(|n| n.parse::<i64>().ok()).ok_or(format!("no hash: {n}"));
    let topics = case["topics"].as_object().ok_or("no topics")?;
    let topics: Vec<(Name, i64)> =
        topics.iter().map(|(name, hash)| Ok((Name::new(name), number(hash)?))).collect::<Result<_, String>>()?;
    let expected = number(&case["group_hash"])?;
    for order in [topics.iter().collect::<Vec<_>>(), topics.iter().rev().collect()] {
        let hash = group_hash(order.into_iter().map(|(name, hash)| (name, *hash)));
        if hash != expected {
            return Err(format!("{hash}, but Kafka says {expected}"));
        }
    }
    Ok(())
}
