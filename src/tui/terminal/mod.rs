//! The terminal: entered, left, read and written here and nowhere else.

pub mod guard;
pub mod input;
pub mod output;
pub mod signals;
