//! Reports: the view without a terminal. `json` is for programs, `table` for people.

pub mod json;
pub mod table;

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::frame::Order;
use crate::model::{Name, name};
use crate::monitor::Monitor;
use crate::monitor::view::{Feed, View};
use crate::source::{Input, Source};

/// What was seen within the time allowed.
#[derive(Debug)]
pub struct Outcome {
    pub view: View,
    pub taken_at: SystemTime,
    /// Every selected group was seen.
    pub complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Watches a source until every selected group was seen, or `timeout` has passed.
pub async fn observe(mut source: Source, mut monitor: Monitor, timeout: Duration) -> Outcome {
    let deadline = Instant::now() + timeout;
    let mut polls = 0;
    while let Ok(Some(input)) = tokio::time::timeout_at(deadline, source.inputs.recv()).await {
        match input {
            Input::Frame(frame) => monitor.fold(frame),
            Input::Interrupted { at, cause } => monitor.interrupted(at, cause),
            Input::Ended { failure } => {
                monitor.ended(failure);
                break;
            }
        }
        let view = monitor.view();
        // A failure that the client tells at once would not pass within the time allowed.
        if matches!(view.feed, Feed::Failed { .. }) {
            break;
        }
        if view.progress.all_seen && !monitor.unconfirmed_past_end() {
            break;
        }
        // One poll was not enough: the first one is made unasked.
        if view.progress.polls > polls {
            polls = view.progress.polls;
            // The log may need a moment; a poll costs the cluster something.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let _ = source.orders.send(Order::PollNow).await;
        }
    }
    let _ = source.orders.send(Order::Stop).await;
    let view = monitor.view();
    Outcome { complete: is_complete(&view), view, taken_at: SystemTime::now() }
}

/// Every selected group was asked for and answered; `all_seen` alone is also true of one that failed.
fn is_complete(view: &View) -> bool {
    let answered = |group: &crate::monitor::view::GroupView| {
        !group.kind.is_consumer() || (group.described_at.is_some() && group.commits_at.is_some())
    };
    view.progress.all_seen
        && view.listing.is_some_and(|listing| listing.complete)
        && view.groups.iter().all(|group| answered(group))
}

/// Prints a report to stdout, problems of a table and failures to stderr; returns the exit code: 0 when any group
/// could be read, 1 when the cluster could not, 2 when the configuration is at fault.
pub fn print(outcome: &Outcome, format: Format) -> anyhow::Result<ExitCode> {
    let text = match format {
        Format::Json => name::safe_json(&serde_json::to_string_pretty(&json::snapshot(outcome))?).into_owned() + "\n",
        Format::Table => table::snapshot(outcome),
    };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough: `lagtop snapshot | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    let (code, message) = verdict(outcome);
    if let Some(message) = message {
        writeln!(std::io::stderr(), "lagtop: {message}")?;
    }
    Ok(ExitCode::from(code))
}

/// Exit code, and what to say on stderr.
fn verdict(outcome: &Outcome) -> (u8, Option<String>) {
    let view = &outcome.view;
    if let Feed::Failed { cause } = &view.feed {
        return (2, Some(cause.to_string()));
    }
    let Some(listing) = view.listing else {
        let cluster = &view.cluster.name;
        let problem = view.problems.iter().find(|problem| problem.scope == crate::model::Scope::Cluster);
        let why = match (problem, &view.feed) {
            (Some(problem), _) => problem.to_string(),
            (None, Feed::Stale { cause, .. }) => cause.to_string(),
            (None, _) => "no answer within --timeout".to_owned(),
        };
        return (1, Some(format!("{} could not be read: {why}", or(cluster, "the cluster"))));
    };
    if view.groups.is_empty() && listing.total > 0 {
        return (1, Some(format!("none of the {} groups matches the selection", listing.total)));
    }
    let read = |group: &crate::monitor::view::GroupView| group.described_at.is_some() || group.commits_at.is_some();
    let any = view.groups.is_empty() || view.groups.iter().any(|group| read(group) || !group.kind.is_consumer());
    (u8::from(!any), (!any).then(|| "no group could be read; see the problems".to_owned()))
}

fn or<'a>(name: &'a Name, otherwise: &'a str) -> std::borrow::Cow<'a, str> {
    if name.is_empty() { otherwise.into() } else { name.safe() }
}
