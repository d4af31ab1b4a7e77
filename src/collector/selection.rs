//! Which groups and topics were asked for: globs, exclusions.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

use crate::frame::Settings;
use crate::model::{Name, name};

/// A glob that cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("bad pattern \"{pattern}\": {cause} (a glob: * any text, ? one character, [ab] one of, \\ before a literal)")]
pub struct PatternError {
    pattern: String,
    cause: String,
}

/// The groups and topics that were asked for.
#[derive(Debug, Clone)]
pub struct Selection {
    groups: Option<Patterns>,
    excluded: Option<Patterns>,
    topics: Option<Patterns>,
}

impl Selection {
    pub fn new(settings: &Settings) -> Result<Self, PatternError> {
        Ok(Self {
            groups: Patterns::new(&settings.groups)?,
            excluded: Patterns::new(&settings.exclude_groups)?,
            topics: Patterns::new(&settings.topics)?,
        })
    }

    pub fn group(&self, group: &Name) -> bool {
        self.groups.as_ref().is_none_or(|patterns| patterns.matches(group))
            && !self.excluded.as_ref().is_some_and(|patterns| patterns.matches(group))
    }

    pub fn topic(&self, topic: &Name) -> bool {
        self.topics.as_ref().is_none_or(|patterns| patterns.matches(topic))
    }
}

#[derive(Debug, Clone)]
struct Patterns {
    globs: GlobSet,
    /// The patterns as typed: a name that is spelled out matches itself, whatever special characters it has.
    exact: Vec<String>,
}

impl Patterns {
    /// `None` without patterns.
    fn new(patterns: &[String]) -> Result<Option<Self>, PatternError> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let refused = |pattern: &str, cause: &globset::Error| PatternError {
            pattern: name::safe(pattern).into_owned(),
            cause: cause.kind().to_string(),
        };
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern).backslash_escape(true).empty_alternates(true).build();
            globs.add(glob.map_err(|cause| refused(pattern, &cause))?);
        }
        let globs = globs.build().map_err(|cause| refused(&patterns.join(" "), &cause))?;
        Ok(Some(Self { globs, exact: patterns.to_vec() }))
    }

    fn matches(&self, name: &Name) -> bool {
        self.globs.is_match(name.raw()) || self.exact.iter().any(|exact| exact == name.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(groups: &[&str], exclude: &[&str]) -> Selection {
        let own = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
        Selection::new(&Settings { groups: own(groups), exclude_groups: own(exclude), ..Settings::default() }).unwrap()
    }

    #[test]
    fn globs_select_and_exclusions_win() {
        let all = selection(&[], &[]);
        assert!(all.group(&"anything/at all".into()) && all.topic(&"t".into()));
        let some = selection(&["pay-*", "data/data-serving:forwarder", "a{b}"], &["*-test"]);
        for (group, selected) in [
            ("pay-eu/1", true),
            ("pay-eu-test", false),
            ("data/data-serving:forwarder", true),
            ("a{b}", true),
            ("billing", false),
        ] {
            assert_eq!(some.group(&group.into()), selected, "{group}");
        }
    }

    #[test]
    fn a_bad_glob_is_named() {
        let settings = Settings { groups: vec!["a[".into()], ..Settings::default() };
        let error = Selection::new(&settings).unwrap_err();
        assert!(error.to_string().contains("bad pattern \"a[\""), "{error}");
    }
}
