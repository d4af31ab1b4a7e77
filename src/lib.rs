//! `lagtop`: `top` for Apache Kafka consumer groups.
//!
//! The map of the house. A folder is a room, an arrow is `use`; facts flow one way:
//!
//! ```text
//! kafka → collector → frames → source → monitor → tui | report
//! ```
//!
//! | room | what lives there | may use |
//! | --- | --- | --- |
//! | [`model`] | the facts as observed, plain data | nobody |
//! | [`frame`] | the stream's format: reading, writing, versions | model |
//! | [`clock`] | the clock by which facts are aged | model |
//! | [`assign`] | the assignors, plan metrics, moves (pure) | model |
//! | [`metadata`] | topic hash, group hash, metadata changes (pure) | model |
//! | [`health`] | lag states, rates, verdicts, rebalances (pure) | model, assign, metadata |
//! | [`kafka`] | rdkafka; the only room with `unsafe` | model |
//! | [`collector`] | schedules Kafka calls, writes frames | kafka, clock, frame, model |
//! | [`source`] | where frames come from: live child, recording, demo | clock, frame, model (demo: assign) |
//! | [`monitor`] | folds frames into a view | frame, model, assign, metadata, health |
//! | [`tui`] | the dashboard | the view, clock |
//! | [`report`] | table, JSON, … | the view |
//! | [`cli`] | what the person typed | all |
//!
//! `tests/arrows.rs` reads the `use crate::` lines and holds the table above. There is no clock, environment,
//! randomness or I/O in the pure rooms: time is an argument.

pub mod assign;
pub mod cli;
pub mod clock;
pub mod collector;
pub mod frame;
pub mod health;
pub mod kafka;
pub mod metadata;
pub mod model;
pub mod monitor;
pub mod report;
pub mod source;
pub mod tui;
