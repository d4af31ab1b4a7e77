//! What counts: defaults < configuration file < environment < flags.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::args::{Args, Cluster, Command, Judging, Planning, Screen, Watch};
use super::config::Config;
use super::settings::{UsageError, check_servers};

impl Args {
    /// What was typed, and under it what environment and configuration file say. Ends the program where clap does:
    /// with help, or with an error of its own.
    pub fn read() -> Result<Self, UsageError> {
        Self::over(&Self::command().get_matches(), &|name| std::env::var_os(name))
    }

    fn over(matches: &ArgMatches, environment: &Environment) -> Result<Self, UsageError> {
        let mut args = Self::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
        // Its parent has read everything, and says so in orders.
        if matches!(&args.command, Some(Command::Collect(collect)) if collect.orders) {
            return Ok(args);
        }
        let config = Config::load(args.config.as_deref(), environment)?;
        let typed = matches.subcommand().map_or(matches, |(_, typed)| typed);
        let under = Under { config: &config, environment, typed };
        match &mut args.command {
            None => {
                under.cluster(&mut args.dashboard.cluster)?;
                under.watch(&mut args.dashboard.watch);
                under.judging(&mut args.dashboard.judging);
                under.screen(&mut args.dashboard.screen);
            }
            Some(Command::Snapshot(snapshot)) => {
                under.cluster(&mut snapshot.cluster)?;
                under.watch(&mut snapshot.watch);
                under.judging(&mut snapshot.judging);
                if snapshot.demo {
                    under.all_groups(&mut snapshot.watch);
                }
            }
            Some(Command::Demo(demo)) => {
                under.of("interval", &mut demo.interval, config.interval.map(Some));
                under.planning(&mut demo.planning);
                under.judging(&mut demo.judging);
                under.screen(&mut demo.screen);
            }
            Some(Command::Replay(replay)) => {
                under.planning(&mut replay.planning);
                under.judging(&mut replay.judging);
                under.screen(&mut replay.screen);
            }
            Some(Command::Plan(plan)) => {
                under.cluster(&mut plan.cluster)?;
                under.of("coordinator_log", &mut plan.coordinator_log, config.coordinator_log);
                under.of("assume_reset", &mut plan.assume_reset, config.assume_reset);
            }
            Some(Command::Hash(hash)) => under.cluster(&mut hash.cluster)?,
            Some(Command::Collect(collect)) => {
                under.cluster(&mut collect.cluster)?;
                under.watch(&mut collect.watch);
            }
        }
        Ok(args)
    }
}

type Environment = dyn Fn(&str) -> Option<OsString>;

/// What lies under the flags of one command.
struct Under<'a> {
    config: &'a Config,
    environment: &'a Environment,
    typed: &'a ArgMatches,
}

impl Under<'_> {
    fn is_typed(&self, id: &str) -> bool {
        self.typed.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// A flag that was not typed is what lies under it.
    fn of<T>(&self, id: &str, flag: &mut T, under: Option<T>) {
        if !self.is_typed(id)
            && let Some(value) = under
        {
            *flag = value;
        }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    fn cluster(&self, cluster: &mut Cluster) -> Result<(), UsageError> {
        cluster.configured = self.config.properties.clone();
        let as_property = |typed: &String| typed.split('=').next().is_some_and(|key| key.trim() == "bootstrap.servers");
        if !self.is_typed("bootstrap_server") && !cluster.properties.iter().any(as_property) {
            let named = self.servers_of_environment()?;
            cluster.bootstrap_server = named.or_else(|| self.config.bootstrap_server.clone());
        }
        Ok(())
    }

    fn servers_of_environment(&self) -> Result<Option<String>, UsageError> {
        let name = "LAGTOP_BOOTSTRAP_SERVER";
        let Some(value) = self.variable(name) else { return Ok(None) };
        let servers = value.into_string().map_err(|_| UsageError::Other(format!("{name} is not UTF-8")))?;
        check_servers(&servers).map_err(|error| UsageError::Other(format!("{name}: {error}")))?;
        Ok(Some(servers))
    }

    fn watch(&self, watch: &mut Watch) {
        let config = self.config;
        self.of("groups", &mut watch.groups, config.groups.clone());
        self.of("exclude_groups", &mut watch.exclude_groups, config.exclude_groups.clone());
        self.of("topics", &mut watch.topics, config.topics.clone());
        self.of("interval", &mut watch.interval, config.interval.map(Some));
        self.of("coordinator_log", &mut watch.coordinator_log, config.coordinator_log);
        self.of("log_history", &mut watch.log_history, config.log_history.map(Some));
        self.of("isolation", &mut watch.isolation, config.isolation);
        self.planning(&mut watch.planning);
    }

    /// A simulated cluster has other groups and topics than the ones in the file.
    fn all_groups(&self, watch: &mut Watch) {
        self.of("groups", &mut watch.groups, Some(Vec::new()));
        self.of("exclude_groups", &mut watch.exclude_groups, Some(Vec::new()));
        self.of("topics", &mut watch.topics, Some(Vec::new()));
    }

    fn planning(&self, planning: &mut Planning) {
        self.of("assume_reset", &mut planning.assume_reset, self.config.assume_reset);
        self.of("storm", &mut planning.storm, self.config.storm);
        self.of("plan_assignor", &mut planning.plan_assignor, self.config.plan_assignor);
    }

    fn judging(&self, judging: &mut Judging) {
        let thresholds = &self.config.thresholds;
        judging.rules = thresholds.rules(judging.rules.default);
        self.of("lag", &mut judging.lag, thresholds.lag.map(Some));
        self.of("time_lag", &mut judging.time_lag, thresholds.time_lag);
        self.of("keep", &mut judging.keep, self.config.keep);
    }

    fn screen(&self, screen: &mut Screen) {
        // NO_COLOR chooses a theme.
        if self.variable("NO_COLOR").is_none() {
            self.of("theme", &mut screen.theme, self.config.theme.clone().map(Some));
        }
        self.of("mouse", &mut screen.mouse, self.config.mouse);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::assign::Assignor;
    use crate::cli::args::Isolation;
    use crate::cli::args::{AssumeReset, CoordinatorLog};
    use crate::cli::settings::preferences;
    use crate::frame::order::History;
    use crate::health::Thresholds;
    use crate::model::Name;

    const ALL: &str = r#"
bootstrap-server = "file:1"
groups = ["f*"]
exclude-groups = ["f-x"]
topics = ["ft"]
interval = "7s"
coordinator-log = "off"
log-history = "all"
isolation = "read_committed"
assume-reset = "earliest"
storm = "3/1m"
plan-assignor = "range"
theme = "mono"
mouse = true
keep = "2h"

[properties]
client.id = "file"
socket.timeout.ms = 1000
socket.keepalive.enable = true
"ssl.ca.location" = "/ca.pem"

[thresholds]
lag = 10
time-lag = "5m"
abandoned-after = "20m"

[[thresholds.group]]
match = "b*"
lag = 1000

[[thresholds.group]]
match = "billing"
time-lag = "2s"
"#;

    fn over(file: &str, words: &[&str], variables: &'static [(&str, &str)]) -> Args {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, file).unwrap();
        let words = [&["lagtop"], words].concat();
        let matches = Args::command().try_get_matches_from(words).unwrap();
        Args::over(&matches, &move |name| match name {
            "LAGTOP_CONFIG" => Some(path.clone().into()),
            _ => variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()),
        })
        .unwrap()
    }

    fn dashboard(file: &str, words: &[&str], variables: &'static [(&str, &str)]) -> crate::cli::args::Dashboard {
        over(file, words, variables).dashboard
    }

    #[test]
    fn the_file_is_over_the_defaults() {
        let plain = dashboard("", &[], &[]);
        assert_eq!((plain.watch.interval, plain.judging.keep), (Some(Duration::from_secs(2)), crate::monitor::KEEP));
        let none = preferences(plain.watch.planning, &plain.judging);
        assert_eq!(none.thresholds.of(&Name::new("billing")), Thresholds::default());

        let said = dashboard(ALL, &[], &[]);
        assert_eq!(said.cluster.bootstrap_server.as_deref(), Some("file:1"));
        assert_eq!((said.watch.groups, said.watch.exclude_groups), (vec!["f*".to_owned()], vec!["f-x".to_owned()]));
        assert_eq!((said.watch.topics, said.watch.interval), (vec!["ft".to_owned()], Some(Duration::from_secs(7))));
        assert_eq!((said.watch.coordinator_log, said.watch.log_history), (CoordinatorLog::Off, Some(History::All)));
        assert_eq!(said.watch.isolation, Isolation::ReadCommitted);
        let planning = said.watch.planning;
        assert_eq!((planning.assume_reset, planning.plan_assignor), (AssumeReset::Earliest, Assignor::Range));
        assert_eq!(planning.storm, "3/1m".parse().unwrap());
        assert_eq!((said.screen.theme.as_deref(), said.screen.mouse), (Some("mono"), true));
        let preferences = preferences(planning, &said.judging);
        assert_eq!(preferences.keep, Duration::from_secs(7200));
        let of = |group: &str| {
            let Thresholds { lag, time_lag, abandoned_after } = preferences.thresholds.of(&Name::new(group));
            (lag, time_lag.as_secs(), abandoned_after.as_secs())
        };
        assert_eq!(of("other"), (Some(10), 300, 1200));
        assert_eq!((of("b"), of("billing")), ((Some(1000), 300, 1200), (Some(1000), 2, 1200)));
    }

    #[test]
    fn flags_are_over_the_file() {
        let words = "-b flag:1 -g g --exclude-group x -t t -i 3s --coordinator-log require --log-history 1h --isolation read_uncommitted \
             --assume-reset latest --storm 9/9m --plan-assignor sticky --theme default --mouse=false --keep 3h --lag 4 \
             --time-lag 5s";
        let typed = dashboard(ALL, &words.split_whitespace().collect::<Vec<_>>(), &[]);
        assert_eq!(typed.cluster.bootstrap_server.as_deref(), Some("flag:1"));
        assert_eq!((typed.watch.groups, typed.watch.exclude_groups), (vec!["g".to_owned()], vec!["x".to_owned()]));
        assert_eq!((typed.watch.topics, typed.watch.interval), (vec!["t".to_owned()], Some(Duration::from_secs(3))));
        assert_eq!(typed.watch.isolation, Isolation::ReadUncommitted);
        let log = (typed.watch.coordinator_log, typed.watch.log_history);
        assert_eq!(log, (CoordinatorLog::Require, Some(History::Last(3_600_000))));
        let planning = typed.watch.planning;
        assert_eq!((planning.assume_reset, planning.plan_assignor), (AssumeReset::Latest, Assignor::Sticky));
        assert_eq!(planning.storm, "9/9m".parse().unwrap());
        assert_eq!((typed.screen.theme.as_deref(), typed.screen.mouse), (Some("default"), false));
        let preferences = preferences(planning, &typed.judging);
        let expected =
            Thresholds { lag: Some(4), time_lag: Duration::from_secs(5), abandoned_after: Duration::from_secs(1200) };
        assert_eq!((preferences.keep.as_secs(), preferences.thresholds.of(&Name::new("o"))), (10800, expected));
        // The default of all groups was typed; what the file says of some of them holds for these.
        assert_eq!(preferences.thresholds.of(&Name::new("b")).lag, Some(1000));
        // What was typed is what the default is, too.
        assert_eq!(dashboard(ALL, &["-i", "2s"], &[]).watch.interval, Some(Duration::from_secs(2)));
    }

    #[test]
    fn the_environment_is_between_them() {
        const SERVER: &[(&str, &str)] = &[("LAGTOP_BOOTSTRAP_SERVER", "variable:1"), ("NO_COLOR", "1")];
        let servers = |words: &[&str]| dashboard(ALL, words, SERVER).cluster.bootstrap_server;
        assert_eq!(servers(&[]).as_deref(), Some("variable:1"));
        assert_eq!(servers(&["-b", "flag:1"]).as_deref(), Some("flag:1"));
        assert_eq!(servers(&["-X", "bootstrap.servers=flag:1"]), None, "it is among the properties");
        let theme = |words: &[&str]| dashboard(ALL, words, SERVER).screen.theme;
        assert_eq!((theme(&[]), theme(&["--theme", "default"]).as_deref()), (None, Some("default")));
        let empty = dashboard(ALL, &[], &[("LAGTOP_BOOTSTRAP_SERVER", ""), ("NO_COLOR", "")]);
        assert_eq!(empty.cluster.bootstrap_server.as_deref(), Some("file:1"), "an empty one is none");
        assert_eq!(empty.screen.theme.as_deref(), Some("mono"));
    }

    #[test]
    fn properties_of_the_file_stand_beside_those_that_were_typed() {
        let properties = |words: &[&str]| {
            let args = dashboard(ALL, words, &[]);
            let settings = crate::cli::settings::settings(&args.cluster, &args.watch, Duration::ZERO);
            settings.unwrap().0.properties.into_iter().collect::<Vec<_>>()
        };
        let of = |own: &[(&str, &str)]| -> Vec<(String, String)> {
            let more =
                [("socket.keepalive.enable", "true"), ("socket.timeout.ms", "1000"), ("ssl.ca.location", "/ca.pem")];
            own.iter().chain(&more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(properties(&[]), of(&[("bootstrap.servers", "file:1"), ("client.id", "file")]));
        let typed = properties(&["-X", "client.id=typed", "-X", "bootstrap.servers=typed:1"]);
        assert_eq!(typed, of(&[("bootstrap.servers", "typed:1"), ("client.id", "typed")]));
    }

    #[test]
    fn each_command_takes_what_it_has_a_flag_for() {
        let command = |words: &[&str]| over(ALL, words, &[]).command.unwrap();
        let Command::Snapshot(snapshot) = command(&["snapshot"]) else { panic!() };
        assert_eq!((snapshot.watch.groups.len(), snapshot.judging.lag), (1, Some(10)));
        let Command::Snapshot(demo) = command(&["snapshot", "--demo", "-t", "t"]) else { panic!() };
        assert_eq!((demo.watch.groups.len(), demo.watch.topics.len(), demo.judging.lag), (0, 1, Some(10)));
        let Command::Demo(demo) = command(&["demo"]) else { panic!() };
        assert_eq!((demo.interval, demo.screen.mouse), (Some(Duration::from_secs(7)), true));
        assert_eq!((demo.judging.lag, demo.planning.plan_assignor), (Some(10), Assignor::Range));
        let Command::Replay(replay) = command(&["replay", "-"]) else { panic!() };
        assert_eq!((replay.judging.keep.as_secs(), replay.screen.theme.as_deref()), (7200, Some("mono")));
        let Command::Plan(plan) = command(&["plan", "-g", "g"]) else { panic!() };
        assert_eq!(
            (plan.cluster.bootstrap_server.as_deref(), plan.assume_reset),
            (Some("file:1"), AssumeReset::Earliest)
        );
        assert_eq!(plan.assignor, Assignor::default(), "what is asked for is not what stands on the screen");
        let Command::Hash(hash) = command(&["hash", "-t", "t"]) else { panic!() };
        assert_eq!((hash.cluster.bootstrap_server.as_deref(), hash.topics.len()), (Some("file:1"), 1));
        let Command::Collect(collect) = command(&["collect"]) else { panic!() };
        assert_eq!((collect.watch.groups.len(), collect.cluster.configured.0.len()), (1, 4));
        // Orders have it all: not even a bad file matters.
        let Some(Command::Collect(child)) = over("nonsense", &["collect", "--orders"], &[]).command else { panic!() };
        assert!(child.cluster.configured.0.is_empty());
    }
}
