//! What the person typed: arguments as typed (`args`), and what they mean (`settings`). Errors name the input and the
//! remedy; they end the program with exit code 2.

pub mod args;
mod hash;
pub mod run;
mod settings;

pub use args::Args;
pub use settings::UsageError;
