//! The dashboard: shows the [`View`], asks the [`Source`] for what is on screen, and never computes a figure itself.
//!
//! | file | what it is |
//! | --- | --- |
//! | `state`, `update`, `cursor` | what the dashboard knows, and the one pure function that changes it |
//! | `what_if` | what is asked about the open group |
//! | `keymap` | one table for dispatch, help and footer |
//! | `layout`, `screens`, `widgets`, `canvas` | where things go and how they are drawn; read the state, change nothing |
//! | `list`, `order`, `filter` | which rows, in which order, and the selection |
//! | `standing`, `sentence`, `would`, `members`, `figures`, `text`, `detail`, `detail_verdict`, `page` | how facts are called and written |
//! | `past`, `past_words`, `detail_past`, `detail_log` | what happened: rows of rebalances and events, how they are written, and what only the log tells |
//! | `theme`, `colour`, `look`, `environment` | roles, colours, characters; what the terminal can do |
//! | `terminal`, `run` | the only part with I/O: guard, signals, keys, output, loop |
//!
//! [`View`]: crate::monitor::view::View
//! [`Source`]: crate::source::Source

mod canvas;
mod colour;
mod cursor;
mod detail;
mod detail_log;
mod detail_past;
mod detail_verdict;
mod environment;
mod figures;
mod filter;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fixture_past;
mod keymap;
mod layout;
mod list;
mod look;
mod members;
mod order;
mod page;
mod past;
mod past_words;
mod run;
mod screens;
mod sentence;
mod standing;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;
mod what_if;
mod widgets;
mod would;

pub use colour::Depth;
pub use environment::{ColourWish, Environment, Refusal, TerminalFacts, check_terminal};
pub use keymap::{Command, Key};
pub use look::{Charset, Look};
pub use run::{Exit, Options, run};
pub use screens::draw;
pub use state::State;
pub use theme::{Theme, ThemeError};
pub use update::{Action, Effect, update};
