//! The facts, plain data: what was observed at a cluster and when. Nobody's opinion lives here.

pub mod name;

pub use name::Name;
