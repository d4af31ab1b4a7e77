//! Properties of the record decoders. The Java vectors run in tests/oracle.

use proptest::prelude::*;

use super::*;

/// `Utils.abs(group.hashCode()) % n` on a JVM; the hash of two of them is `Integer.MIN_VALUE`.
#[test]
fn partitions_are_those_of_java() {
    let of_java = [
        ("", 0, 0),
        ("my-group", 12, 1),
        ("grüppe", 12, 3),
        ("组🦀", 24, 3),
        ("polygenelubricants", 0, 0),
        ("DESIGNING WORKHOUSES", 0, 0),
        ("connect-sink-42", 17, 5),
    ];
    for (group, of_50, of_7) in of_java {
        assert_eq!((partition_of(group, 50), partition_of(group, 7)), (Some(of_50), Some(of_7)), "{group}");
    }
    assert_eq!(partition_of("any", 0), None);
}

#[test]
fn unknown_types_and_versions_are_not_errors() {
    assert_eq!(Key::decode(&[0, 9, 1, 2]), Ok(Key::Unknown { record_type: 9 }));
    let key = Key::decode(&[0, 3, 0, 1, b'g']).unwrap();
    assert_eq!(key.group_id(), Some(&Name::new("g")));
    assert_eq!(peek_group(&[0, 3, 0, 1, b'g']).as_deref(), Ok("g"));
    for (version, bytes) in [(1, [0, 1]), (-1, [0xff, 0xff])] {
        let unknown = Value::Unknown { record_type: 3, version };
        assert_eq!(Value::decode(&key, Some(&bytes)), Ok(Some(Decoded { value: unknown, unknown_tags: 0 })));
    }
    assert_eq!(Value::decode(&key, None), Ok(None));
    assert!(Value::decode(&key, Some(&[])).is_err());
}

#[test]
fn names_keep_their_raw_text_and_print_escaped() {
    let key = Key::decode(b"\0\x02\0\x05a\x1b[2J").unwrap();
    let group = key.group_id().unwrap();
    assert_eq!(group.raw(), "a\x1b[2J");
    assert_eq!(group.to_string(), "a\\x1b[2J");
    let key = Key::decode(b"\0\x02\0\x02a\xff").unwrap();
    assert_eq!(key.group_id().unwrap().raw(), "a\u{fffd}");
}

/// A key of every type and bytes for a value, mostly of a known version.
fn record() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    // Three of four bytes are small or -1, so that lengths and counts are often plausible.
    let byte = |b: u8| [b, b % 4, b % 12, (b % 3).wrapping_sub(1)][usize::from(b / 64)];
    let rest = move || prop::collection::vec(any::<u8>().prop_map(byte), 0..120);
    (0u8..26, rest(), 0u8..6, rest())
        .prop_map(|(kind, key, version, value)| ([&[0, kind], &key[..]].concat(), [&[0, version], &value[..]].concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic((key, value) in record()) {
        let _ = peek_group(&key);
        if let Ok(key) = Key::decode(&key) {
            let _ = Value::decode(&key, Some(&value));
        }
        if let Ok(key) = share_state::Key::decode(&key) {
            let _ = share_state::Value::decode(&key, Some(&value));
        }
        let _ = consumer_protocol::Subscription::decode(&value);
        let _ = consumer_protocol::Assignment::decode(&value);
        let _ = consumer_protocol::StickyUserData::decode(&value);
        let _ = consumer_protocol::cooperative_sticky_generation(&value);
    }

    #[test]
    fn what_is_read_whole_is_an_error_when_cut((key, value) in record()) {
        let Ok(key) = Key::decode(&key) else { return Ok(()) };
        let Ok(Some(whole)) = Value::decode(&key, Some(&value)) else { return Ok(()) };
        // Trailing bytes are allowed, so look for the end: once a cut is an error, every shorter one is.
        let mut broken = false;
        for end in (0..value.len()).rev() {
            match Value::decode(&key, Some(&value[..end])) {
                Ok(read) => prop_assert!(!broken && read.as_ref() == Some(&whole)),
                Err(_) => broken = true,
            }
        }
        prop_assert!(broken);
    }
}

/// Vectors made by the Java classes; how: tests/data/share_state/README.md.
#[test]
fn share_state_reads_what_java_wrote() {
    let mut records = 0;
    for line in include_str!("../../../tests/data/oracle-own/share_state.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let bytes = |field: &str| case[field].as_str().map(unhex);
        let key_bytes = bytes("key_hex").unwrap();
        let key = share_state::Key::decode(&key_bytes).unwrap();
        let (share_state::Key::ShareSnapshot(id) | share_state::Key::ShareUpdate(id)) = &key else { panic!("{line}") };
        assert_eq!(key.record_name(), case["type"], "{line}");
        assert_eq!(id.group.raw(), case["key"]["groupId"], "{line}");
        assert_eq!(id.topic_id.to_string(), case["topic_id"], "{line}");
        assert_eq!(id.partition, case["key"]["partition"], "{line}");
        let value_bytes = bytes("value_hex");
        let read = share_state::Value::decode(&key, value_bytes.as_deref()).unwrap();
        if let Some(read) = &read {
            let mut expected = case["value"].clone();
            // Kafka's -1, written or left out, is our null.
            for field in ["startOffset", "deliveryCompleteCount"] {
                if expected[field] == -1 || expected[field].is_null() {
                    expected[field] = serde_json::Value::Null;
                }
            }
            assert_eq!(serde_json::to_value(&read.value).unwrap(), expected, "{line}");
            assert_eq!(read.unknown_tags, case["unknown_tags"].as_u64().map_or(0, |n| n as usize), "{line}");
        } else {
            assert!(case["value"].is_null(), "{line}");
        }
        for end in 0..key_bytes.len() {
            assert!(share_state::Key::decode(&key_bytes[..end]).is_err(), "{line}");
        }
        let value_bytes = value_bytes.unwrap_or_default();
        for end in 0..value_bytes.len() {
            assert!(share_state::Value::decode(&key, Some(&value_bytes[..end])).is_err(), "{line}");
        }
        records += 1;
    }
    assert!(records >= 200, "only {records} vectors");
}

fn unhex(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
