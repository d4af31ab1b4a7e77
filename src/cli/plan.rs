//! `lagtop plan`: another assignment for one group, from a cluster, a simulation, or a saved input.

use std::fs::File;
use std::future::pending;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;

use super::args::{Judging, Plan, Planning, Watch};
use super::run::{demo_options, log_to_file, runtime};
use super::settings::{UsageError, launch, preferences};
use crate::assign::whatif::WhatIfError;
use crate::health::Drain;
use crate::model::figures::and_more;
use crate::model::{Name, name};
use crate::monitor::view::{Feed, GroupView, View};
use crate::monitor::{Monitor, Question, QuestionError};
use crate::report::plan::{PlanReport, Saved};
use crate::report::{self, Outcome, Stay};
use crate::source::{Source, demo, live};

/// Longest input that is read.
const LONGEST: u64 = 512 << 20;
/// From poll to poll while the rates are not known.
const INTERVAL: Duration = Duration::from_secs(1);

pub fn run(args: &Plan) -> anyhow::Result<ExitCode> {
    log_to_file(&args.log)?;
    let saved = match &args.input {
        Some(file) => read(file)?,
        None => observed(args)?,
    };
    let question = Question {
        assignor: args.assignor,
        max_moves: args.max_moves,
        members: args.members.unwrap_or(0),
        without: args.without.iter().map(Name::new).collect(),
        partitions: args.partitions.iter().map(|(topic, count)| (Name::new(topic), *count)).collect(),
    };
    let report = PlanReport::of(&saved, &question).map_err(|error| refused(&error, &saved))?;
    let text = report.print(args.format.into())?;
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough: `lagtop plan … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A saved input.
fn read(file: &std::path::Path) -> Result<Saved, UsageError> {
    let from_stdin = file.as_os_str() == "-";
    let shown = if from_stdin { "standard input".into() } else { name::safe(&file.to_string_lossy()).into_owned() };
    let mut text = String::new();
    let read = if from_stdin {
        io::stdin().lock().take(LONGEST).read_to_string(&mut text)
    } else {
        File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text))
    };
    read.map_err(|error| UsageError::Other(format!("--input {shown}: cannot be read: {error}")))?;
    Saved::read(&text).map_err(|error| UsageError::Other(format!("--input {shown}: {error}")))
}

/// The group as a cluster has it.
fn observed(args: &Plan) -> anyhow::Result<Saved> {
    let id = Name::new(args.group.as_deref().unwrap_or_default());
    let planning = Planning { assume_reset: args.assume_reset, plan_assignor: args.assignor, ..Planning::default() };
    let watch = Watch {
        groups: vec![globset::escape(id.raw())],
        coordinator_log: args.coordinator_log,
        planning,
        ..Watch::default()
    };
    let start: Box<dyn FnOnce() -> Source> = if args.demo {
        let options = demo_options(&watch, Duration::ZERO)?;
        Box::new(|| demo::start(options))
    } else {
        let launch = launch(&args.cluster, &watch, Duration::ZERO)?;
        Box::new(|| live::start(launch))
    };
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let source = start();
        let enough = |view: &View| view.group(&id).is_none_or(|group| is_foretold(group));
        let stay = Stay { time: args.observe, interval: INTERVAL };
        let monitor = Monitor::new(preferences(planning, &Judging::default()));
        report::observe_longer(source, monitor, args.timeout, stay, enough, pending()).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    saved(&outcome, &id)
}

/// Waiting longer tells no more: the forecast is known now and under the plan, or there is none.
fn is_foretold(group: &GroupView) -> bool {
    let drains = [group.drains, group.plan.as_ref().map(|plan| plan.drains)];
    drains.iter().flatten().all(|drains| drains.group.drain != Drain::Unknown)
}

fn saved(outcome: &Outcome, id: &Name) -> anyhow::Result<Saved> {
    let view = &outcome.view;
    if let Feed::Failed { cause } = &view.feed {
        return Err(UsageError::Other(cause.to_string()).into());
    }
    let Some(listing) = view.listing else {
        let problem = view.problems.first().map_or_else(|| "no answer within --timeout".into(), ToString::to_string);
        return Err(anyhow!("{} could not be read: {problem}", view.cluster.name));
    };
    let Some(group) = view.group(id) else {
        return Err(anyhow!(
            "there is no group {id} among the {} groups that we may see; `lagtop snapshot` lists them",
            listing.total
        ));
    };
    let Some(basis) = &group.basis else {
        return Err(anyhow!("there is no plan for group {id}: {}", why_not(group)));
    };
    Ok(Saved {
        group: id.clone(),
        kind: group.kind.to_string(),
        taken_at: Some(humantime::format_rfc3339_millis(outcome.taken_at).to_string()),
        simulated: view.cluster.simulated,
        basis: (**basis).clone(),
    })
}

fn why_not(group: &GroupView) -> String {
    match (&group.problems.first(), group.kind.is_consumer()) {
        (_, false) => format!("it is of type {}, and plans are for classic and consumer groups", group.kind),
        (Some(problem), _) if group.members.is_empty() => problem.to_string(),
        _ => "it has no members".to_owned(),
    }
}

/// A question that makes no sense is an error of the one who asked.
fn refused(error: &QuestionError, saved: &Saved) -> anyhow::Error {
    let list = |mut names: Vec<String>| {
        let more = names.len().saturating_sub(10);
        names.truncate(10);
        format!("{}{}", names.join(", "), and_more(more))
    };
    let input = &saved.basis.input;
    let remedy = match error {
        QuestionError::WhatIf(WhatIfError::NoSuchMember(_)) => {
            format!("; its members are {}", list(input.members.iter().map(|member| member.id.to_string()).collect()))
        }
        QuestionError::WhatIf(WhatIfError::NoSuchTopic(_)) => {
            format!("; its topics are {}", list(input.topics.iter().map(|topic| topic.name.to_string()).collect()))
        }
        QuestionError::MaxMoves(_) => "; leave out --max-moves, or use --assignor lag-balanced".to_owned(),
        QuestionError::WhatIf(_) | QuestionError::Assign(_) => String::new(),
    };
    UsageError::Other(format!("{error}{remedy}")).into()
}
