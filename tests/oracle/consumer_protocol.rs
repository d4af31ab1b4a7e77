//! ConsumerProtocolSubscription and ConsumerProtocolAssignment as Java wrote them, against Kafka's own JSON of them.

use lagtop::kafka::records::consumer_protocol::{Assignment, Subscription};
use serde_json::Value as Json;

use crate::coordinator_records::{as_kafka_writes_it, same, unhex};

/// One line of consumer_protocol.jsonl: the bytes read as in `decoded`, and no part of them reads at all.
pub fn check(case: &Json) -> Result<(), String> {
    let bytes = unhex(&case["hex"])?;
    let kafka = &case["decoded"];
    same("read", &as_kafka_writes_it(decode(case, &bytes)?, kafka)?, kafka)?;
    // What follows the fields of a future version is not read, so only a cut before that must be noticed.
    let future = case["kind"] == "future_version";
    for end in 1..bytes.len() {
        match decode(case, &bytes[..end]) {
            Ok(read) if !future => return Err(format!("cut at {end} reads as {read}")),
            Ok(read) => same("cut", &as_kafka_writes_it(read, kafka)?, kafka)?,
            Err(_) => {}
        }
    }
    for i in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[i] = !bytes[i];
        let _ = decode(case, &bytes);
    }
    Ok(())
}

fn decode(case: &Json, bytes: &[u8]) -> Result<Json, String> {
    match case["type"].as_str() {
        Some("ConsumerProtocolSubscription") => {
            let read = Subscription::decode(bytes).map_err(|e| e.to_string())?;
            serde_json::to_value(read).map_err(|e| e.to_string())
        }
        Some("ConsumerProtocolAssignment") => {
            let read = Assignment::decode(bytes).map_err(|e| e.to_string())?;
            serde_json::to_value(read).map_err(|e| e.to_string())
        }
        other => Err(format!("type {other:?}")),
    }
}
