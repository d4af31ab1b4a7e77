//! Arguments as typed.

use std::path::PathBuf;
use std::time::Duration;

use super::config::Properties;
use crate::assign::Assignor;
use crate::frame::order::History;
use crate::health::rebalances::Storm;
use crate::health::{Rules, Thresholds};
use crate::model::millis;
use crate::monitor::KEEP;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// top for Apache Kafka consumer groups: lag, members, and a lag-balanced assignment beside the current one.
///
/// Without a command it opens the dashboard. It is read-only: it joins no group, commits nothing, changes nothing.
#[derive(Debug, Parser)]
#[command(name = "lagtop", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(
    after_help = "Examples:\n  lagtop -b broker:9092\n  lagtop -b broker:9093 -X security.protocol=ssl -g 'billing*'\n  lagtop snapshot -b broker:9092 --format json\n  lagtop demo"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub dashboard: Dashboard,
    /// Defaults of other flags, and thresholds for some groups [default: lagtop/config.toml in $XDG_CONFIG_HOME or
    /// ~/.config] [env: LAGTOP_CONFIG].
    #[arg(long, global = true, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the state of the groups once, without a terminal.
    Snapshot(Snapshot),
    /// Open the dashboard on a simulated cluster: no Kafka needed.
    Demo(Demo),
    /// Play a recording: the output of `lagtop collect`, from a file or (`-`) from standard input.
    Replay(Replay),
    /// Another assignment for one group: what it would move, and what it would gain.
    Plan(Box<Plan>),
    /// Print topic hashes and group hashes (KIP-1101), and what the coordinator stored.
    Hash(Hash),
    /// Write what is observed as a stream of frames to standard output: a recording, or a pipe to `lagtop replay -`.
    Collect(Collect),
}

#[derive(Debug, ClapArgs)]
pub struct Dashboard {
    #[command(flatten)]
    pub cluster: Cluster,
    #[command(flatten)]
    pub watch: Watch,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
}

/// Which cluster, and how to reach it.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Cluster")]
pub struct Cluster {
    /// Brokers to connect to first [env: LAGTOP_BOOTSTRAP_SERVER].
    #[arg(short = 'b', long, value_name = "HOST:PORT,...")]
    pub bootstrap_server: Option<String>,
    /// A property of librdkafka; keep secrets off the command line: KEY=@FILE reads a file, KEY=env:NAME a variable.
    #[arg(short = 'X', long = "property", value_name = "KEY=VALUE")]
    pub properties: Vec<String>,
    /// Run the collector elsewhere: 'ssh jump lagtop' starts `ssh jump lagtop collect --orders`.
    #[arg(long, value_name = "COMMAND")]
    pub collector: Option<String>,
    /// Those of the configuration file.
    #[arg(skip)]
    pub configured: Properties,
}

/// What to watch, how often.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Selection")]
pub struct Watch {
    /// Groups to watch (glob, repeatable); all groups if not given.
    #[arg(short = 'g', long = "group", value_name = "GLOB")]
    pub groups: Vec<String>,
    /// Groups to leave out (glob, repeatable); wins over --group.
    #[arg(long = "exclude-group", value_name = "GLOB")]
    pub exclude_groups: Vec<String>,
    /// Topics whose partitions count (glob, repeatable); all topics if not given.
    #[arg(short = 't', long = "topic", value_name = "GLOB")]
    pub topics: Vec<String>,
    /// Time between two polls, such as 2s or 1m; at least 500ms.
    #[arg(short = 'i', long, value_name = "TIME", default_value = "2s", value_parser = interval)]
    pub interval: Option<Duration>,
    /// Whether to read the coordinator log, __consumer_offsets (needs READ on it): history from before the start,
    /// rebalances with their causes, epochs, share and streams groups.
    #[arg(long, value_enum, default_value_t)]
    pub coordinator_log: CoordinatorLog,
    /// How far back the coordinator log is read: a time such as 6h, or `all`. A short log is always read whole.
    #[arg(long, value_name = "TIME|all", default_value = "6h", value_parser = history)]
    pub log_history: Option<History>,
    /// The isolation.level of the consumers: no API tells it. With read_committed they can read to the last stable
    /// offset, which every poll then asks.
    #[arg(long, value_enum, default_value_t)]
    pub isolation: Isolation,
    #[command(flatten)]
    pub planning: Planning,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Isolation {
    #[default]
    ReadUncommitted,
    ReadCommitted,
}

/// How the alternative assignments are made.
#[derive(Debug, Clone, Copy, Default, ClapArgs)]
pub struct Planning {
    /// What a partition without a commit counts for in a plan: no API tells a group's auto.offset.reset.
    #[arg(long, value_enum, default_value_t)]
    pub assume_reset: AssumeReset,
    /// How many rebalances of a group within how much time are a storm: a count, a slash, a time of at most 1h.
    #[arg(long, value_name = "COUNT/TIME", default_value_t)]
    pub storm: Storm,
    /// Whose assignment stands beside the current one: lag-balanced, lag-based, range, roundrobin, sticky,
    /// cooperative-sticky, uniform, server-range, simple.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub plan_assignor: Assignor,
}

/// From when on a group lags, and what is remembered of it.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Judging")]
pub struct Judging {
    /// A partition that is behind by more than N records lags, whatever its time; not given: by time alone.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = records)]
    pub lag: Option<u64>,
    /// A partition that is behind for longer lags.
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = longer_than)]
    pub time_lag: Duration,
    /// How far back the history of lags, ends and commits reaches, from 1m to 24h. It takes about 2.5 KB a partition
    /// and 2 KB a partition of a group, whatever the time.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = keep)]
    pub keep: Duration,
    /// Those of the configuration file; `lag` and `time_lag` above stand before its default.
    #[arg(skip)]
    pub rules: Rules,
}

impl Default for Judging {
    fn default() -> Self {
        let Thresholds { lag, time_lag, .. } = Thresholds::default();
        Self { lag, time_lag, keep: KEEP, rules: Rules::default() }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CoordinatorLog {
    /// Where the rights allow it.
    #[default]
    Auto,
    /// Admin calls alone.
    Off,
    /// Fail without it.
    Require,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum AssumeReset {
    #[default]
    Latest,
    Earliest,
}

#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Screen")]
pub struct Screen {
    /// Colours: a theme's name, or a file with a theme of your own.
    #[arg(long, value_name = "NAME|FILE")]
    pub theme: Option<String>,
    /// Let the mouse select and scroll (the terminal's own selection then needs Shift); --mouse=false: not.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true")]
    pub mouse: bool,
}

#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// Write a log to this file; nothing is ever logged to the terminal while the dashboard is open.
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Snapshot {
    #[command(flatten)]
    pub cluster: Cluster,
    #[command(flatten)]
    pub watch: Watch,
    #[command(flatten)]
    pub judging: Judging,
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// How long to wait until every selected group was seen.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = wait)]
    pub timeout: Duration,
    /// Read one record at each commit that has lag, for the exact time lag (needs READ on the topics; at most 2000
    /// partitions, 5s).
    #[arg(long, conflicts_with = "demo")]
    pub probe_time: bool,
    /// Then go on watching for so long, polling at --interval: rates, time lags and verdicts need evidence. Ctrl-C ends
    /// it early.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = wait)]
    pub observe: Duration,
    /// A simulated cluster instead of a real one.
    #[arg(long, conflicts_with_all = ["bootstrap_server", "properties", "collector"])]
    pub demo: bool,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs: schema in docs/snapshot-json.md.
    Json,
}

impl From<Format> for crate::report::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Table => Self::Table,
            Format::Json => Self::Json,
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["topics", "groups", "input"]))]
pub struct Hash {
    #[command(flatten)]
    pub cluster: Cluster,
    /// Topics, by name; repeatable.
    #[arg(short = 't', long = "topic", value_name = "NAME", num_args = 1..)]
    pub topics: Vec<String>,
    /// Groups (glob, repeatable): their hashes and those of their topics.
    #[arg(short = 'g', long = "group", value_name = "GLOB")]
    pub groups: Vec<String>,
    /// Compute from a file instead of a cluster: topics with ids and racks as JSON (docs/metadata-hash.md); `-` is
    /// standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["topics", "groups", "bootstrap_server", "collector"])]
    pub input: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// How long to wait until all was seen.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = wait)]
    pub timeout: Duration,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, ClapArgs)]
pub struct Demo {
    #[arg(short = 'i', long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Option<Duration>,
    #[command(flatten)]
    pub planning: Planning,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, ClapArgs)]
pub struct Replay {
    /// The recording; `-` is standard input.
    pub file: PathBuf,
    #[command(flatten)]
    pub planning: Planning,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  lagtop plan -b broker:9092 --group billing\n  lagtop plan -b broker:9092 --group billing --members +2 --format json > plan.json\n  lagtop plan --input plan.json --assignor sticky"
)]
pub struct Plan {
    #[command(flatten)]
    pub cluster: Cluster,
    /// The group's id.
    #[arg(short, long, value_name = "ID", required_unless_present = "input")]
    pub group: Option<String>,
    /// Instead of a cluster: what `lagtop plan --format json` wrote; `-` is standard input.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["bootstrap_server", "properties", "collector", "group", "demo", "assume_reset", "observe"]
    )]
    pub input: Option<PathBuf>,
    /// A simulated cluster instead of a real one.
    #[arg(long, conflicts_with_all = ["bootstrap_server", "properties", "collector"])]
    pub demo: bool,
    /// lag-balanced, lag-based, range, roundrobin, sticky, cooperative-sticky, uniform, server-range or simple.
    #[arg(long, value_name = "NAME", default_value_t, help_heading = "Question")]
    pub assignor: Assignor,
    /// So many members more, or fewer (those with the least lag leave): +2, -1.
    #[arg(long, value_name = "+N|-N", allow_hyphen_values = true, value_parser = members, help_heading = "Question")]
    pub members: Option<i32>,
    /// Without this member (repeatable).
    #[arg(long, value_name = "ID", help_heading = "Question")]
    pub without: Vec<String>,
    /// With so many partitions of a topic (repeatable).
    #[arg(long, value_name = "TOPIC=N", value_parser = partitions, help_heading = "Question")]
    pub partitions: Vec<(String, u32)>,
    /// lag-balanced: change hands of no more partitions.
    #[arg(long, value_name = "N", help_heading = "Question")]
    pub max_moves: Option<u32>,
    #[arg(long, value_enum, default_value_t)]
    pub format: PlanFormat,
    /// Watch the group for at most so long, until its rates and with them its forecast are known; 0s: not at all.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = wait)]
    pub observe: Duration,
    /// How long to wait until the group was seen.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = wait)]
    pub timeout: Duration,
    /// Whether to read the coordinator log, __consumer_offsets (needs READ on it).
    #[arg(long, value_enum, default_value_t)]
    pub coordinator_log: CoordinatorLog,
    /// What a partition without a commit counts for: no API tells a group's auto.offset.reset.
    #[arg(long, value_enum, default_value_t)]
    pub assume_reset: AssumeReset,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    #[default]
    Table,
    /// For programs, and for --input: schema in docs/snapshot-json.md.
    Json,
    /// For a ticket.
    Markdown,
}

impl From<PlanFormat> for crate::report::plan::PlanFormat {
    fn from(format: PlanFormat) -> Self {
        match format {
            PlanFormat::Table => Self::Table,
            PlanFormat::Json => Self::Json,
            PlanFormat::Markdown => Self::Markdown,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub struct Collect {
    /// Take settings and orders from standard input, as a dashboard gives them, and nothing from flags.
    #[arg(long, conflicts_with_all = ["bootstrap_server", "properties", "groups", "exclude_groups", "topics"])]
    pub orders: bool,
    #[command(flatten)]
    pub cluster: Cluster,
    #[command(flatten)]
    pub watch: Watch,
}

/// The shortest interval that does not burden a cluster.
const SHORTEST: Duration = Duration::from_millis(500);

/// Nothing is waited for longer, and no history is kept for longer.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A poll interval.
pub fn interval(text: &str) -> Result<Duration, String> {
    let interval = time(text, "2s, 500ms or 1m")?;
    if interval < SHORTEST {
        return Err("the shortest interval is 500ms".to_owned());
    }
    Ok(interval)
}

/// How far back a history reaches.
pub fn keep(text: &str) -> Result<Duration, String> {
    let keep = time(text, "1h, 30m or 6h")?;
    if !(Duration::from_secs(60)..=DAY).contains(&keep) {
        return Err("at least 1m, at most 24h".to_owned());
    }
    Ok(keep)
}

/// A threshold.
pub fn longer_than(text: &str) -> Result<Duration, String> {
    let threshold = time(text, "30s, 5m or 1h")?;
    if threshold < Duration::from_secs(1) {
        return Err("at least 1s".to_owned());
    }
    Ok(threshold)
}

fn wait(text: &str) -> Result<Duration, String> {
    let wait = time(text, "30s, 5m or 1h")?;
    if wait > DAY {
        return Err("at most 24h".to_owned());
    }
    Ok(wait)
}

fn time(text: &str, such_as: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error} (write {such_as})"))
}

/// More would be no question of this world.
const MOST: i32 = 10_000;

fn members(text: &str) -> Result<i32, String> {
    let signed = text.starts_with(['+', '-']);
    let count = text.parse::<i32>().ok().filter(|count| signed && *count != 0 && count.abs() <= MOST);
    count.ok_or_else(|| format!("write +2 for two more, -1 for one fewer; at most {MOST}"))
}

fn partitions(text: &str) -> Result<(String, u32), String> {
    let parsed = text.rsplit_once('=').and_then(|(topic, count)| Some((topic.to_owned(), count.parse().ok()?)));
    let sane = parsed.filter(|(topic, count)| !topic.is_empty() && (1..=MOST.unsigned_abs()).contains(count));
    sane.ok_or_else(|| format!("write TOPIC=12; at most {MOST} partitions"))
}

fn records(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "write a number of records such as 10000".to_owned())
}

/// How far back the coordinator log is read.
pub fn history(text: &str) -> Result<History, String> {
    if text == "all" {
        return Ok(History::All);
    }
    let back = time(text, "6h, 30m or all")?;
    Ok(History::Last(millis(back)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn members_are_signed_and_partitions_have_a_topic() {
        assert_eq!((members("+2"), members("-1")), (Ok(2), Ok(-1)));
        for bad in ["2", "0", "+0", "-", "+x", "+10001", ""] {
            assert!(members(bad).unwrap_err().contains("write +2"), "{bad}");
        }
        assert_eq!(partitions("a=b=12"), Ok(("a=b".to_owned(), 12)));
        for bad in ["12", "=12", "t=", "t=0", "t=-1", "t=10001"] {
            assert!(partitions(bad).unwrap_err().contains("write TOPIC=12"), "{bad}");
        }
    }

    #[test]
    fn intervals_have_a_floor_and_bad_ones_say_how() {
        assert_eq!(interval("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(interval("500ms"), Ok(Duration::from_millis(500)));
        assert!(interval("100ms").unwrap_err().contains("shortest interval"));
        assert!(interval("soon").unwrap_err().contains("write 2s"));
    }
}
