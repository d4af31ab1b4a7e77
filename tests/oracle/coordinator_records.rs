//! Records of `__consumer_offsets` as `GroupCoordinatorRecordSerde` wrote them, against Kafka's own JSON of them.

use lagtop::kafka::records::{Key, Value, peek_group};
use serde_json::Value as Json;
use uuid::Uuid;

/// One line of coordinator_records.jsonl: the record reads as in `decoded`, and no part of it reads at all.
pub fn check(case: &Json) -> Result<(), String> {
    let key_bytes = unhex(&case["key_hex"])?;
    let key = Key::decode(&key_bytes).map_err(|e| format!("key: {e}"))?;
    same("record type", &Json::from(key.record_type()), &case["type_id"])?;
    same("record name", &Json::from(key.record_name()), &case["type"])?;
    same("key", &key_json(&key)?, &case["decoded"]["key"])?;
    let group = key.group_id().ok_or("no group")?;
    if peek_group(&key_bytes).as_deref() != Ok(group.raw()) {
        return Err(format!("peek_group: {:?}, not {group}", peek_group(&key_bytes)));
    }
    for end in 0..key_bytes.len() {
        if let Ok(key) = Key::decode(&key_bytes[..end]) {
            return Err(format!("key cut at {end} reads as {key:?}"));
        }
    }

    let value_bytes = (!case["value_hex"].is_null()).then(|| unhex(&case["value_hex"])).transpose()?;
    let read = Value::decode(&key, value_bytes.as_deref()).map_err(|e| format!("value: {e}"))?;
    let (Some(bytes), Some(read)) = (value_bytes, read) else {
        return same("tombstone", &Json::Null, &case["decoded"]["value"]);
    };
    let value = serde_json::to_value(&read.value).map_err(|e| e.to_string())?;
    let value = as_kafka_writes_it(value, &case["decoded"]["value"])?;
    same("value", &value, &case["decoded"]["value"])?;
    let unknown_tags = case["unknown_tags"].as_object().map_or(0, serde_json::Map::len);
    if read.unknown_tags != unknown_tags {
        return Err(format!("{} unknown tags, not {unknown_tags}", read.unknown_tags));
    }
    for end in 0..bytes.len() {
        if let Ok(read) = Value::decode(&key, Some(&bytes[..end])) {
            return Err(format!("value cut at {end} reads as {read:?}"));
        }
    }
    // A byte turned over anywhere may change what is read, but never panics.
    for i in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[i] = !bytes[i];
        let _ = Value::decode(&key, Some(&bytes));
    }
    Ok(())
}

fn key_json(key: &Key) -> Result<Json, String> {
    let group = key.group_id().ok_or("no group")?.raw();
    Ok(match key {
        Key::LegacyOffsetCommit(key) | Key::OffsetCommit(key) => {
            serde_json::json!({"group": group, "topic": key.topic.raw(), "partition": key.partition})
        }
        Key::GroupMetadata(_) => serde_json::json!({"group": group}),
        Key::ConsumerGroupMemberMetadata(key)
        | Key::ConsumerGroupTargetAssignmentMember(key)
        | Key::ConsumerGroupCurrentMemberAssignment(key)
        | Key::ShareGroupMemberMetadata(key)
        | Key::ShareGroupTargetAssignmentMember(key)
        | Key::ShareGroupCurrentMemberAssignment(key)
        | Key::StreamsGroupMemberMetadata(key)
        | Key::StreamsGroupTargetAssignmentMember(key)
        | Key::StreamsGroupCurrentMemberAssignment(key) => {
            serde_json::json!({"groupId": group, "memberId": key.member_id.raw()})
        }
        Key::ConsumerGroupRegularExpression(key) => {
            serde_json::json!({"groupId": group, "regularExpression": key.regular_expression.raw()})
        }
        _ => serde_json::json!({"groupId": group}),
    })
}

/// Our JSON of a value in the form of Kafka's: uuids and bytes as base64, -1 for none, and fields that Kafka leaves out
/// (tagged with their default, or of another version) left out, which is an error if they do not have that default.
pub fn as_kafka_writes_it(ours: Json, kafka: &Json) -> Result<Json, String> {
    Ok(match (ours, kafka) {
        (Json::Object(ours), Json::Object(kafka)) => {
            let mut fields = serde_json::Map::new();
            for (name, ours) in ours {
                match kafka.get(&name) {
                    Some(kafka) => drop(fields.insert(name, as_kafka_writes_it(ours, kafka)?)),
                    None => same(&format!("default of {name}"), &ours, &default_of(&name))?,
                }
            }
            Json::Object(fields)
        }
        (Json::Array(ours), Json::Array(kafka)) if ours.len() == kafka.len() => ours
            .into_iter()
            .zip(kafka)
            .map(|(ours, kafka)| as_kafka_writes_it(ours, kafka))
            .collect::<Result<_, _>>()?,
        (Json::Array(bytes), Json::String(_)) => {
            let bytes: Option<Vec<u8>> = bytes.iter().map(|b| b.as_u64().and_then(|b| b.try_into().ok())).collect();
            base64(&bytes.ok_or("not bytes")?, STANDARD, true).into()
        }
        (Json::String(ours), Json::String(kafka)) if kafka.len() == 22 && ours.len() == 36 => {
            base64(Uuid::parse_str(&ours).map_err(|e| e.to_string())?.as_bytes(), URL_SAFE, false).into()
        }
        (Json::Null, kafka) if *kafka == -1 => Json::from(-1),
        (ours, _) => ours,
    })
}

fn default_of(field: &str) -> Json {
    match field {
        "metadataHash" | "assignmentTimestamp" => Json::from(0),
        "assignmentEpochs" | "lastAssignmentConfigs" | "ownedPartitions" => serde_json::json!([]),
        "classicMemberMetadata" => serde_json::json!({"sessionTimeoutMs": 0, "supportedProtocols": []}),
        _ => Json::Null,
    }
}

pub fn same(what: &str, ours: &Json, kafka: &Json) -> Result<(), String> {
    if ours == kafka { Ok(()) } else { Err(format!("{what}: {ours}, but Kafka says {kafka}")) }
}

pub fn unhex(hex: &Json) -> Result<Vec<u8>, String> {
    let hex = hex.as_str().ok_or("no hex")?;
    let byte = |i| u8::from_str_radix(hex.get(i..i + 2).unwrap_or("?"), 16).map_err(|e| format!("{hex}: {e}"));
    (0..hex.len()).step_by(2).map(byte).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8], alphabet: &[u8; 64], padded: bool) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            if i <= chunk.len() {
                text.push(char::from(alphabet[(bits >> (18 - 6 * i) & 63) as usize]));
            } else if padded {
                text.push('=');
            }
        }
    }
    text
}
