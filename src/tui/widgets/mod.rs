//! What more than one screen draws: tables, bars, sparklines.

pub mod bar;
pub mod table;
