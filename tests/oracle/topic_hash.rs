//! `Utils.computeTopicHash` of Kafka 4.4.

use lagtop::metadata::{TopicInput, topic_hash};
use serde_json::Value as Json;
use uuid::Uuid;

/// One line of topic_hash.jsonl.
pub fn check(case: &Json) -> Result<(), String> {
    let text = |field: &str| case[field].as_str().ok_or(format!("no {field}"));
    let id = Uuid::parse_str(text("topic_id")?).map_err(|e| e.to_string())?;
    let count = case["partition_count"].as_u64().ok_or("no partition_count")? as usize;
    let partitions: Vec<Vec<Option<&str>>> = match case["partitions"].as_array() {
        None => vec![Vec::new(); count],
        Some(partitions) => partitions.iter().map(racks).collect(),
    };
    if partitions.len() != count {
        return Err(format!("{} partitions, not {count}", partitions.len()));
    }
    let hash = topic_hash(&TopicInput::new(id, text("name")?.into(), partitions));
    if hash.to_string() != text("hash")? {
        return Err(format!("{hash}, but Kafka says {}", text("hash")?));
    }
    Ok(())
}

fn racks(partition: &Json) -> Vec<Option<&str>> {
    partition.as_array().map(|racks| racks.iter().map(Json::as_str).collect()).unwrap_or_default()
}
