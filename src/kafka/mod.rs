//! The room that knows Kafka's wire.

pub mod records;
