//! Any bytes as a record of the coordinators: a decoder may refuse them, never panic or reserve without bound.
//!
//! The input is one byte with the length of the key, the key, the value. The modules are taken in by path, so that
//! librdkafka and OpenSSL need not be built with the sanitizer.

#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../src/model/mod.rs"]
mod model;
#[path = "../../src/kafka"]
mod kafka {
    pub mod records;
}

use kafka::records::consumer_protocol::{Assignment, StickyUserData, Subscription, cooperative_sticky_generation};
use kafka::records::{Key, Value, peek_group, share_state};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else { return };
    let (key, value) = rest.split_at(usize::from(length).min(rest.len()));
    let peeked = peek_group(key);
    if let Ok(key) = Key::decode(key) {
        if let Some(group) = key.group_id() {
            assert_eq!(peeked.as_deref(), Ok(group.raw()));
        }
        let _ = Value::decode(&key, Some(value));
    }
    if let Ok(key) = share_state::Key::decode(key) {
        let _ = share_state::Value::decode(&key, Some(value));
    }
    if let Ok(subscription) = Subscription::decode(value) {
        if let Some(user_data) = subscription.user_data {
            let _ = StickyUserData::decode(&user_data.0);
            let _ = cooperative_sticky_generation(&user_data.0);
        }
    }
    let _ = Assignment::decode(value);
});
