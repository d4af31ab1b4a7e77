//! The configuration file: defaults of flags that a person would set once, and thresholds for some groups. Format: TOML,
//! a key for each flag; README, Configuration, has them all.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use globset::{GlobBuilder, GlobMatcher};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::args::{self, AssumeReset, CoordinatorLog, Isolation};
use super::settings::{UsageError, check_servers};
use crate::assign::Assignor;
use crate::collector::Selection;
use crate::frame::order::{History, Settings};
use crate::health::rebalances::Storm;
use crate::health::{Rule, Rules};
use crate::model::name::safe;
use crate::tui;

/// Nobody writes a longer one.
const LONGEST: u64 = 1 << 20;

/// What the file says; `None` where it says nothing.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    #[serde(deserialize_with = "servers")]
    pub bootstrap_server: Option<String>,
    pub properties: Properties,
    #[serde(deserialize_with = "globs")]
    pub groups: Option<Vec<String>>,
    #[serde(deserialize_with = "globs")]
    pub exclude_groups: Option<Vec<String>>,
    #[serde(deserialize_with = "globs")]
    pub topics: Option<Vec<String>>,
    #[serde(deserialize_with = "interval")]
    pub interval: Option<Duration>,
    #[serde(deserialize_with = "choice")]
    pub coordinator_log: Option<CoordinatorLog>,
    #[serde(deserialize_with = "history")]
    pub log_history: Option<History>,
    #[serde(deserialize_with = "choice")]
    pub isolation: Option<Isolation>,
    #[serde(deserialize_with = "choice")]
    pub assume_reset: Option<AssumeReset>,
    #[serde(deserialize_with = "storm")]
    pub storm: Option<Storm>,
    #[serde(deserialize_with = "assignor")]
    pub plan_assignor: Option<Assignor>,
    #[serde(deserialize_with = "theme")]
    pub theme: Option<String>,
    pub mouse: Option<bool>,
    #[serde(deserialize_with = "keep")]
    pub keep: Option<Duration>,
    pub thresholds: Thresholds,
}

/// From when on a group lags.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table: [thresholds]")]
pub struct Thresholds {
    #[serde(deserialize_with = "records")]
    pub lag: Option<u64>,
    #[serde(deserialize_with = "longer_than")]
    pub time_lag: Option<Duration>,
    #[serde(deserialize_with = "longer_than")]
    pub abandoned_after: Option<Duration>,
    #[serde(rename = "group", deserialize_with = "of_groups")]
    groups: Vec<OfGroups>,
}

/// Thresholds of the groups that match.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table: [[thresholds.group]]")]
struct OfGroups {
    #[serde(rename = "match", deserialize_with = "glob")]
    groups: GlobMatcher,
    #[serde(default, deserialize_with = "records")]
    lag: Option<u64>,
    #[serde(default, deserialize_with = "longer_than")]
    time_lag: Option<Duration>,
    #[serde(default, deserialize_with = "longer_than")]
    abandoned_after: Option<Duration>,
}

impl Thresholds {
    /// The thresholds of every group; where the file names none for all groups, those of `unless`.
    pub fn rules(&self, unless: crate::health::Thresholds) -> Rules {
        let default = crate::health::Thresholds {
            lag: self.lag.or(unless.lag),
            time_lag: self.time_lag.unwrap_or(unless.time_lag),
            abandoned_after: self.abandoned_after.unwrap_or(unless.abandoned_after),
        };
        let rule = |of: &OfGroups| Rule {
            groups: of.groups.clone(),
            lag: of.lag,
            time_lag: of.time_lag,
            abandoned_after: of.abandoned_after,
        };
        Rules { default, rules: self.groups.iter().map(rule).collect() }
    }
}

/// Properties of librdkafka.
#[derive(Debug, Clone, Default)]
pub struct Properties(pub Vec<Property>);

/// One of them, its value as it stands there: `@FILE` and `env:NAME` are read when it is used.
#[derive(Clone)]
pub struct Property {
    pub key: String,
    pub value: String,
    /// File and line, for errors.
    pub place: String,
    /// Where its value begins in the file, in bytes.
    offset: usize,
}

/// The value may be a secret.
impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property").field("key", &self.key).field("place", &self.place).finish_non_exhaustive()
    }
}

impl Config {
    /// The file that was asked for, else the one in the usual place, which may be absent.
    pub fn load(asked: Option<&Path>, environment: impl Fn(&str) -> Option<OsString>) -> Result<Self, UsageError> {
        let variable = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let asked = asked.map(Path::to_owned).or_else(|| variable("LAGTOP_CONFIG"));
        let usual = || {
            // The XDG Base Directory Specification: a relative path there is to be ignored.
            let folder = variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
            Some(folder.or_else(|| Some(variable("HOME")?.join(".config")))?.join("lagtop/config.toml"))
        };
        let must = asked.is_some();
        let Some(path) = asked.or_else(usual) else { return Ok(Self::default()) };
        let mut text = String::new();
        match File::open(&path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)) {
            Ok(length) if length as u64 > LONGEST => {
                Err(Self::unreadable(&path, "it is longer than 1 MiB: is it the right file?"))
            }
            Ok(_) => Self::parse(&text, &path),
            Err(error) if !must && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(Self::default())
            }
            Err(error) => Err(Self::unreadable(&path, &format!("{error} (/dev/null stands for none)"))),
        }
    }

    fn unreadable(path: &Path, cause: &str) -> UsageError {
        UsageError::Other(format!("the configuration file {} cannot be read: {cause}", shown(path)))
    }

    fn parse(text: &str, path: &Path) -> Result<Self, UsageError> {
        let line = |offset: usize| 1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        let place = |offset| format!("{}, line {}", shown(path), line(offset));
        let mut config: Self = toml::from_str(text).map_err(|error| {
            let place = place(error.span().map_or(0, |span| span.start));
            UsageError::Other(format!("{place}: {}", told(&error, text)))
        })?;
        for property in &mut config.properties.0 {
            property.place = place(property.offset);
        }
        Ok(config)
    }
}

fn shown(path: &Path) -> String {
    safe(&path.to_string_lossy()).into_owned()
}

/// Key, cause and remedy, without the text around it, which may hold secrets.
fn told(error: &toml::de::Error, text: &str) -> String {
    let words = [
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("expected a boolean", "expected true or false"),
    ];
    let message = words.iter().fold(error.message().to_owned(), |message, (from, to)| message.replacen(from, to, 1));
    let alone = {
        let mut error = error.clone();
        error.set_input(None);
        error.to_string()
    };
    // Of an error in a value the parser knows the path of keys; of one in the syntax the line has the key.
    let syntax = !message.starts_with("unknown key");
    let path = alone.trim_end().rsplit_once("\nin `").map(|(_, path)| path.trim_end_matches('`').to_owned());
    let of_line = || {
        let start = error.span()?.start;
        let line_start = text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
        let key = text.get(line_start..)?.lines().next()?.split_once('=')?.0.trim();
        let bare = |c: char| c.is_ascii_alphanumeric() || "-_.\"".contains(c);
        (!key.is_empty() && key.chars().all(bare)).then(|| key.to_owned())
    };
    let unquoted = message.starts_with("string values must be quoted");
    let message = if unquoted { "put text in quotes: key = \"text\"".to_owned() } else { message };
    match path.or_else(|| of_line().filter(|_| syntax)) {
        Some(key) => safe(&format!("{key}: {message}")).into_owned(),
        None => safe(&message).into_owned(),
    }
}

/// A text that something parses, and what to write instead of anything else.
struct Text<F> {
    parse: F,
    expected: &'static str,
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

fn text<'de, D: Deserializer<'de>, T>(
    from: D,
    expected: &'static str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    from.deserialize_any(Text { parse, expected }).map(Some)
}

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn servers<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let parse = |text: &str| check_servers(text).map(|()| text.to_owned()).map_err(|error| error.to_string());
    text(from, "a text such as \"broker1:9092,broker2:9092\"", parse)
}

fn interval<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    text(from, "a time such as \"2s\"", args::interval)
}

fn keep<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    text(from, "a time such as \"1h\"", args::keep)
}

fn longer_than<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    text(from, "a time such as \"5m\"", args::longer_than)
}

fn history<'de, D: Deserializer<'de>>(from: D) -> Result<Option<History>, D::Error> {
    text(from, "a time such as \"6h\", or \"all\"", args::history)
}

fn storm<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Storm>, D::Error> {
    text(from, "a text such as \"5/5m\"", parsed)
}

fn assignor<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Assignor>, D::Error> {
    text(from, "the name of an assignor such as \"lag-balanced\"", parsed)
}

/// One of the words that the flag takes.
fn choice<'de, D: Deserializer<'de>, T: ValueEnum>(from: D) -> Result<Option<T>, D::Error> {
    let parse = |word: &str| {
        let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let words: Vec<String> = words.map(|word| format!("\"{}\"", word.get_name())).collect();
        T::from_str(word, false).map_err(|_| format!("unknown word \"{}\": write {}", safe(word), words.join(" or ")))
    };
    text(from, "a text in quotes", parse)
}

fn theme<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let parse = |name: &str| {
        let theme = tui::Theme::load(name, tui::Depth::None);
        theme.map(|_| name.to_owned()).map_err(|error| error.to_string())
    };
    text(from, "a theme such as \"mono\"", parse)
}

fn glob<'de, D: Deserializer<'de>>(from: D) -> Result<GlobMatcher, D::Error> {
    let parse = |glob: &str| {
        // As the collector reads those of --group.
        let built = GlobBuilder::new(glob).backslash_escape(true).empty_alternates(true).build();
        let built = built.map_err(|error| format!("bad pattern \"{}\": {}", safe(glob), error.kind()))?;
        Ok(built.compile_matcher())
    };
    from.deserialize_any(Text { parse, expected: "a glob such as \"billing*\"" })
}

fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    /// One, checked where it stands.
    struct Glob(String);

    impl<'de> Deserialize<'de> for Glob {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let parse = |glob: &str| {
                let groups = vec![glob.to_owned()];
                let checked = Selection::new(&Settings { groups, ..Settings::default() });
                checked.map(|_| Self(glob.to_owned())).map_err(|error| error.to_string())
            };
            from.deserialize_any(Text { parse, expected: "a glob such as \"billing*\"" })
        }
    }

    struct Globs;

    impl<'de> Visitor<'de> for Globs {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of globs such as [\"billing*\", \"orders-*\"]")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut globs = Vec::new();
            while let Some(Glob(glob)) = list.next_element()? {
                globs.push(glob);
            }
            Ok(globs)
        }
    }

    from.deserialize_any(Globs).map(Some)
}

fn records<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    struct Records;

    impl Visitor<'_> for Records {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number of records such as 10000")
        }

        fn visit_i64<E: de::Error>(self, count: i64) -> Result<u64, E> {
            u64::try_from(count).map_err(|_| E::invalid_value(de::Unexpected::Signed(count), &self))
        }

        fn visit_u64<E: de::Error>(self, count: u64) -> Result<u64, E> {
            Ok(count)
        }
    }

    from.deserialize_any(Records).map(Some)
}

fn of_groups<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OfGroups>, D::Error> {
    struct Tables;

    impl<'de> Visitor<'de> for Tables {
        type Value = Vec<OfGroups>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("tables, each headed [[thresholds.group]]")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut tables = Vec::new();
            while let Some(of) = list.next_element::<OfGroups>()? {
                if of.lag.is_none() && of.time_lag.is_none() && of.abandoned_after.is_none() {
                    let glob = safe(of.groups.glob().glob()).into_owned();
                    let cause = "names no threshold: write lag, time-lag or abandoned-after";
                    return Err(de::Error::custom(format!("match \"{glob}\" {cause}")));
                }
                tables.push(of);
            }
            Ok(tables)
        }
    }

    from.deserialize_any(Tables)
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut flat = Vec::new();
        match Value::deserialize(from)? {
            Value::Table(table) => flatten("", table, &mut flat),
            Value::Text(_) => return Err(de::Error::custom("write a table: [properties], a line for each below it")),
        }
        Ok(Self(flat))
    }
}

/// `ssl.ca.location = "…"` is TOML for a table in a table.
fn flatten(prefix: &str, table: Vec<(String, toml::Spanned<Value>)>, flat: &mut Vec<Property>) {
    for (key, spanned) in table {
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        let offset = spanned.span().start;
        match spanned.into_inner() {
            Value::Table(table) => flatten(&key, table, flat),
            Value::Text(value) => flat.push(Property { key, value, place: String::new(), offset }),
        }
    }
}

/// What stands behind a property's name. No error repeats it: it may be a secret.
enum Value {
    Text(String),
    Table(Vec<(String, toml::Spanned<Value>)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text in quotes: \"VALUE\", \"@FILE\" or \"env:NAME\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Text(number.to_string()))
            }

            fn visit_bool<E: de::Error>(self, switch: bool) -> Result<Value, E> {
                Ok(Value::Text(switch.to_string()))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<Value, E> {
                Err(E::invalid_type(de::Unexpected::Other("number with a point"), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut table = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, toml::Spanned<Value>>()? {
                    table.push((key, value));
                }
                Ok(Value::Table(table))
            }
        }

        from.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_readme_is_one_and_names_every_key() {
        let readme = include_str!("../../README.md");
        let example = readme.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
        let config = Config::parse(example, Path::new("README.md")).unwrap();
        assert!(!config.properties.0.is_empty() && !config.thresholds.groups.is_empty());
        let unknown = Config::parse("no-such = 1", Path::new("x")).unwrap_err().to_string();
        let keys: Vec<&str> = unknown.split('`').skip(3).step_by(2).collect();
        assert_eq!(keys.len(), 16, "{unknown}");
        for key in keys {
            let named = |line: &str| line.starts_with(&format!("{key} = ")) || line.starts_with(&format!("[{key}]"));
            assert!(example.lines().any(named), "the example lacks {key}");
        }
    }

    #[test]
    fn the_usual_place() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        let keep = |variables: Vec<(&str, PathBuf)>| {
            let set = |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.clone().into());
            Config::load(None, set).map(|config| config.keep.map(|keep| keep.as_secs()))
        };
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(keep(vec![]).unwrap(), None);
        assert_eq!(keep(vec![("HOME", home.clone())]).unwrap(), None);
        write(".config/lagtop/config.toml", "keep = \"1m\"");
        write("xdg/lagtop/config.toml", "keep = \"2m\"");
        write("own.toml", "keep = \"3m\"");
        assert_eq!(keep(vec![("HOME", home.clone())]).unwrap(), Some(60));
        let xdg = |folder: PathBuf| vec![("HOME", home.clone()), ("XDG_CONFIG_HOME", folder)];
        assert_eq!(keep(xdg(home.join("xdg"))).unwrap(), Some(120));
        assert_eq!(keep(xdg(PathBuf::new())).unwrap(), Some(60));
        assert_eq!(keep(xdg("relative".into())).unwrap(), Some(60));
        assert_eq!(keep(xdg(home.join("own.toml"))).unwrap(), None, "a file is no folder");
        let named = |file: &str| [xdg(home.join("xdg")), vec![("LAGTOP_CONFIG", home.join(file))]].concat();
        assert_eq!(keep(named("own.toml")).unwrap(), Some(180));
        assert!(keep(named("none.toml")).unwrap_err().to_string().contains("none.toml"));
        write("xdg/lagtop/config.toml", "nonsense");
        assert!(keep(xdg(home.join("xdg"))).unwrap_err().to_string().contains("config.toml, line 1"));
    }
}
