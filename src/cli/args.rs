//! Arguments as typed.

use std::path::PathBuf;
use std::time::Duration;

use crate::frame::order::History;
use crate::health::rebalances::Storm;
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
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the state of the groups once, without a terminal.
    Snapshot(Snapshot),
    /// Open the dashboard on a simulated cluster: no Kafka needed.
    Demo(Demo),
    /// Play a recording: the output of `lagtop collect`, from a file or (`-`) from standard input.
    Replay(Replay),
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
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
}

/// Which cluster, and how to reach it.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Cluster")]
pub struct Cluster {
    /// Brokers to connect to first.
    #[arg(short = 'b', long, value_name = "HOST:PORT,...", env = "LAGTOP_BOOTSTRAP_SERVER")]
    pub bootstrap_server: Option<String>,
    /// A property of librdkafka; keep secrets off the command line: KEY=@FILE reads a file, KEY=env:NAME a variable.
    #[arg(short = 'X', long = "property", value_name = "KEY=VALUE")]
    pub properties: Vec<String>,
    /// Run the collector elsewhere: 'ssh jump lagtop' starts `ssh jump lagtop collect --orders`.
    #[arg(long, value_name = "COMMAND")]
    pub collector: Option<String>,
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
    /// What a partition without a commit counts for in a plan: no API tells a group's auto.offset.reset.
    #[arg(long, value_enum, default_value_t)]
    pub assume_reset: AssumeReset,
    /// How many rebalances of a group within how much time are a storm: a count, a slash, a time of at most 1h.
    #[arg(long, value_name = "COUNT/TIME", default_value_t)]
    pub storm: Storm,
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
    /// Let the mouse select and scroll (the terminal's own selection then needs Shift).
    #[arg(long)]
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
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// How long to wait until every selected group was seen.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub timeout: Duration,
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
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, ClapArgs)]
pub struct Demo {
    #[arg(short = 'i', long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Option<Duration>,
    #[command(flatten)]
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
}

#[derive(Debug, ClapArgs)]
pub struct Replay {
    /// The recording; `-` is standard input.
    pub file: PathBuf,
    #[arg(long, value_enum, default_value_t)]
    pub assume_reset: AssumeReset,
    /// How many rebalances of a group within how much time are a storm: a count, a slash, a time of at most 1h.
    #[arg(long, value_name = "COUNT/TIME", default_value_t)]
    pub storm: Storm,
    #[command(flatten)]
    pub screen: Screen,
    #[command(flatten)]
    pub log: Log,
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

fn interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| format!("{error} (write 2s, 500ms or 1m)"))?;
    if interval < SHORTEST {
        return Err("the shortest interval is 500ms".to_owned());
    }
    Ok(interval)
}

fn history(text: &str) -> Result<History, String> {
    if text == "all" {
        return Ok(History::All);
    }
    let back = humantime::parse_duration(text).map_err(|error| format!("{error} (write 6h, 30m or all)"))?;
    Ok(History::Last(u64::try_from(back.as_millis()).unwrap_or(u64::MAX)))
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
    fn intervals_have_a_floor_and_bad_ones_say_how() {
        assert_eq!(interval("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(interval("500ms"), Ok(Duration::from_millis(500)));
        assert!(interval("100ms").unwrap_err().contains("shortest interval"));
        assert!(interval("soon").unwrap_err().contains("write 2s"));
    }
}
