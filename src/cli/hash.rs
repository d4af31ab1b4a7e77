//! `lagtop hash`: of a cluster, or of a file without one.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::args::{CoordinatorLog, Hash, Watch};
use super::run::{log_to_file, runtime};
use super::settings::{UsageError, launch};
use crate::model::{Name, name};
use crate::monitor::Monitor;
use crate::monitor::view::Feed;
use crate::report::{self, hash::Report};
use crate::source::live;

pub fn run(args: &Hash) -> anyhow::Result<ExitCode> {
    log_to_file(&args.log)?;
    if let Some(file) = &args.input {
        return of_file(args, file);
    }
    let (groups, topics_alone) = (args.groups.clone(), args.groups.is_empty());
    let watch = Watch {
        groups,
        // Without a group nobody is asked about groups, and the log is not needed.
        exclude_groups: if topics_alone { vec!["*".to_owned()] } else { Vec::new() },
        coordinator_log: if topics_alone { CoordinatorLog::Off } else { CoordinatorLog::Auto },
        ..Watch::default()
    };
    let named: Vec<Name> = args.topics.iter().map(Name::new).collect();
    let mut launch = launch(&args.cluster, &watch, Duration::ZERO)?;
    launch.settings.named_topics.clone_from(&named);
    let runtime = runtime()?;
    let outcome =
        runtime.block_on(async { report::observe(live::start(launch), Monitor::default(), args.timeout).await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    let found = Report::of_cluster(&outcome, &named);
    if outcome.view.listing.is_none() || matches!(outcome.view.feed, Feed::Failed { .. }) || found.is_empty() {
        // Why there is nothing is the same as for any report.
        return report::print(&outcome, report::Format::Table);
    }
    print(&found.print(args.format.into())?)?;
    for problem in outcome.view.problems.iter() {
        writeln!(io::stderr(), "problem: {problem}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn of_file(args: &Hash, file: &Path) -> anyhow::Result<ExitCode> {
    let shown = name::safe(&file.to_string_lossy()).into_owned();
    let mut text = String::new();
    let read = if file.as_os_str() == "-" {
        io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    read.map_err(|error| UsageError::Other(format!("{shown} cannot be read: {error}")))?;
    let report = Report::of_file(&text).map_err(|error| UsageError::Other(format!("{shown}: {error:#}")))?;
    print(&report.print(args.format.into())?)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
