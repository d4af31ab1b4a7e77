//! What makes Kafka's group coordinator start a rebalance when topics or racks change (KIP-1101): the topic hash, the
//! group hash, and the changes of metadata between two observations, each with what it does to the hash.
//!
//! Pure. Only groups of the consumer (KIP-848), share and streams protocols have the hash; what a classic group does is
//! its clients' business and not told here. `docs/metadata-hash.md` has the costs.

pub mod brokers;
mod cache;
pub mod changes;
mod hash;
mod input;
mod words;

pub use brokers::Brokers;
pub use cache::TopicHashes;
pub use hash::{group_hash, topic_hash};
pub use input::TopicInput;
