//! What each command does, and the exit code: 0 done, 1 failed at run time, 2 usage or configuration.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::mpsc;
use tracing_subscriber::EnvFilter;

use super::args::{Args, Collect, Command, Dashboard, Demo, Log, Replay, Screen, Snapshot, Watch};
use super::settings::{UsageError, launch, preferences, settings};
use crate::model::{Name, millis, name};
use crate::monitor::Monitor;
use crate::report::Stay;
use crate::source::recording::{self, Pace};
use crate::source::{Source, demo, live};
use crate::{collector, report, tui};

/// Runs what was asked for.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::Collect(collect)) => run_collect(&collect),
        Some(Command::Snapshot(snapshot)) => run_snapshot(&snapshot),
        Some(Command::Plan(plan)) => super::plan::run(&plan),
        Some(Command::Hash(hash)) => super::hash::run(&hash),
        Some(Command::Demo(demo)) => run_demo(&demo),
        Some(Command::Replay(replay)) => run_replay(&replay),
        None => run_dashboard(&args.dashboard),
    }
}

fn run_dashboard(args: &Dashboard) -> anyhow::Result<ExitCode> {
    let interval = args.watch.interval.unwrap_or_default();
    let launch = launch(&args.cluster, &args.watch, interval)?;
    let label = Name::new(launch.settings.cluster());
    let options = screen(&args.screen, label, interval, false)?;
    log_to_file(&args.log)?;
    show(|| live::start(launch), Monitor::new(preferences(args.watch.planning, &args.judging)), options)
}

fn run_demo(args: &Demo) -> anyhow::Result<ExitCode> {
    let interval = args.interval.unwrap_or_default();
    let options = screen(&args.screen, Name::new("demo"), interval, false)?;
    log_to_file(&args.log)?;
    let simulation = demo::Options { interval, ..demo::Options::default() };
    show(|| demo::start(simulation), Monitor::new(preferences(args.planning, &args.judging)), options)
}

fn run_replay(args: &Replay) -> anyhow::Result<ExitCode> {
    let from_stdin = args.file.as_os_str() == "-";
    let name = name::safe(&args.file.to_string_lossy()).into_owned();
    let options =
        screen(&args.screen, Name::new(if from_stdin { "standard input" } else { &name }), Duration::ZERO, from_stdin)?;
    log_to_file(&args.log)?;
    let monitor = Monitor::new(preferences(args.planning, &args.judging));
    if !from_stdin {
        let file = File::open(&args.file)
            .map_err(|error| UsageError::Other(format!("the recording {name} cannot be opened: {error}")))?;
        let options = tui::Options { replay: true, ..options };
        return show(move || recording::start(file, Pace::Recorded), monitor, options);
    }
    if io::stdin().is_terminal() {
        return Err(UsageError::Other("replay - reads a stream from a pipe, and stdin is a terminal".into()).into());
    }
    let runtime = runtime()?;
    // The screen opens only after the first frame, so that a password prompt of ssh can be answered.
    let source = runtime.block_on(async { recording::start(io::stdin(), Pace::Arriving).opened().await });
    let source = source.map_err(|cause| anyhow::anyhow!("{cause}"))?;
    finish(runtime, source, monitor, options)
}

/// Opens the dashboard on a source.
fn show(start: impl FnOnce() -> Source, monitor: Monitor, options: tui::Options) -> anyhow::Result<ExitCode> {
    let runtime = runtime()?;
    let source = {
        let _inside = runtime.enter();
        start()
    };
    finish(runtime, source, monitor, options)
}

fn finish(
    runtime: tokio::runtime::Runtime,
    source: Source,
    monitor: Monitor,
    options: tui::Options,
) -> anyhow::Result<ExitCode> {
    let exit = runtime.block_on(tui::run(source, monitor, options));
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(ExitCode::from(exit?.code()))
}

/// Whether and how a dashboard can be shown here.
fn screen(args: &Screen, label: Name, interval: Duration, keys_from_tty: bool) -> Result<tui::Options, UsageError> {
    let facts = tui::check_terminal(&tui::Environment::read(keys_from_tty), tui::ColourWish::Auto)
        .map_err(|refusal| UsageError::Other(refusal.to_string()))?;
    let theme = tui::Theme::load(args.theme.as_deref().unwrap_or(facts.theme), facts.depth)
        .map_err(|error| UsageError::Other(error.to_string()))?;
    Ok(tui::Options {
        theme,
        charset: facts.charset,
        mouse: args.mouse,
        label,
        interval_ms: millis(interval),
        replay: false,
        keys_from_tty,
    })
}

pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().context("starting the async runtime")
}

fn run_snapshot(args: &Snapshot) -> anyhow::Result<ExitCode> {
    log_to_file(&args.log)?;
    let start: Box<dyn FnOnce() -> Source> = if args.demo {
        let options = demo_options(&args.watch, Duration::ZERO)?;
        Box::new(|| demo::start(options))
    } else {
        let mut launch = launch(&args.cluster, &args.watch, Duration::ZERO)?;
        launch.settings.probe_time = args.probe_time;
        Box::new(|| live::start(launch))
    };
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let source = start();
        let monitor = Monitor::new(preferences(args.watch.planning, &args.judging));
        if args.observe.is_zero() {
            return report::observe(source, monitor, args.timeout).await;
        }
        let stay = Stay { time: args.observe, interval: args.watch.interval.unwrap_or_default() };
        report::observe_longer(source, monitor, args.timeout, stay, |_| false, interrupted()).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    report::print(&outcome, args.format.into())
}

/// Ready with the first Ctrl-C.
async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::warn!("Ctrl-C ends the program without a report: {error}");
        std::future::pending::<()>().await;
    }
}

pub(super) fn demo_options(watch: &Watch, interval: Duration) -> Result<demo::Options, UsageError> {
    let selection = Arc::new(watch.selection()?);
    let (groups, topics) = (Arc::clone(&selection), selection);
    Ok(demo::Options {
        interval,
        groups: Some(Arc::new(move |group| groups.group(group))),
        topics: Some(Arc::new(move |topic| topics.topic(topic))),
        ..demo::Options::default()
    })
}

fn run_collect(args: &Collect) -> anyhow::Result<ExitCode> {
    // stdout is the stream; the log goes to stderr, which a parent reads.
    let filter = EnvFilter::try_from_env("LAGTOP_LOG").unwrap_or_else(|_| EnvFilter::new("warn,librdkafka=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(io::stderr).init();
    no_core_dump();
    let (settings, orders) = if args.orders {
        // The parent decides what Ctrl-C and Ctrl-Z mean; both reach the whole foreground process group.
        let ignored = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTSTP] {
            signal_hook::flag::register(signal, Arc::clone(&ignored)).context("ignoring signals")?;
        }
        collector::read_orders(BufReader::new(io::stdin())).map_err(|error| UsageError::Other(format!("{error:#}")))?
    } else {
        let interval = args.watch.interval.unwrap_or_default();
        let (settings, _) = settings(&args.cluster, &args.watch, interval)?;
        // Nobody gives orders: the sender must outlive the run.
        let (sender, receiver) = mpsc::channel(1);
        std::mem::forget(sender);
        (settings, receiver)
    };
    let runtime = runtime()?;
    let outcome = runtime.block_on(collector::run(settings, orders, io::stdout()));
    runtime.shutdown_timeout(Duration::from_millis(200));
    outcome.map(|()| ExitCode::SUCCESS)
}

/// librdkafka may abort (confluentinc/librdkafka#4605): a core file would hold secrets.
fn no_core_dump() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
        tracing::warn!("core dumps cannot be switched off: {error}");
    }
}

pub(super) fn log_to_file(log: &Log) -> anyhow::Result<()> {
    let Some(path) = &log.log_file else { return Ok(()) };
    let file = File::options().create(true).append(true).open(path);
    let file =
        file.map_err(|error| UsageError::Other(format!("the log file {} cannot be written: {error}", path.display())))?;
    let filter = EnvFilter::try_from_env("LAGTOP_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Arc::new(file)).init();
    Ok(())
}
