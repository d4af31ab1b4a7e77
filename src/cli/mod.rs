//! What the person typed: arguments as typed (`args`), what the configuration file says (`config`), which of the two
//! counts (`layers`), and what they mean (`settings`). Errors name the input and the remedy; they end the program with
//! exit code 2.

pub mod args;
mod config;
mod hash;
mod layers;
mod plan;
pub mod run;
mod settings;

pub use args::Args;
pub use settings::UsageError;
