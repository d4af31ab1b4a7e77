//! What the dashboard knows: the view that it shows and where the person is in it. Changed by [`update`] alone; every
//! screen reads it and changes nothing.
//!
//! [`update`]: super::update::update

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::figures::duration;
use super::filter::Filter;
use super::layout;
use super::list::List;
use super::look::Look;
use super::order::{self, GroupColumn, MemberColumn, PartitionColumn, ProblemKey, Sort};
use super::page;
use super::past::{self, LineKey, PastKey};
use super::what_if::Asked;
use crate::model::{At, Name, Problem, Scope, Wall};
use crate::monitor::view::{Feed, GroupView, View};

/// A screen. The bottom of the stack is always the groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    Groups,
    Group(Name),
    Problems,
    /// What happened to a group.
    Rebalances(Name),
    /// What happened to any group.
    Events,
}

/// What lies over a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    Help,
    Group(Name),
    /// Group and member id.
    Member(Name, Name),
    /// Group, topic, number.
    Partition(Name, Name, i32),
    Problem(ProblemKey),
    /// What makes a group's hash and what changed; `None`: the changes under all groups.
    Metadata(Option<Name>),
    Past(PastKey),
}

/// The panes of the group screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    #[default]
    Members,
    Partitions,
}

/// How old what is on screen is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing is known yet.
    Connecting,
    Live,
    /// Old: why, if somebody said so.
    Stale(Option<Name>),
    /// The recording is over.
    Ended,
    /// There will be nothing more, and why.
    Failed(Name),
}

/// The state of the dashboard.
#[derive(Debug)]
pub struct State {
    pub view: View,
    /// The newest view, while the screen is paused.
    pub(super) waiting: Option<View>,
    pub paused: bool,
    /// What the terminal can show, and how things look on it.
    pub look: Look,
    /// What the cluster is called before it has said so itself.
    pub label: Name,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The dashboard's own monotonic clock.
    pub now: Duration,
    /// When the view on screen was adopted.
    pub(super) adopted_at: Duration,
    /// The newest observation in the view.
    pub(super) newest: Option<At>,
    pub screens: Vec<Screen>,
    pub page: Option<Page>,
    /// First line of the page on screen.
    pub page_top: usize,
    /// The filter as it was before the open prompt.
    pub prompt: Option<Filter>,
    pub groups: List<Name>,
    pub members: List<Name>,
    pub partitions: List<(Name, i32)>,
    pub problems: List<ProblemKey>,
    pub past: List<LineKey>,
    pub events: List<PastKey>,
    /// What is unfolded on the rebalances screen.
    pub expanded: BTreeSet<PastKey>,
    pub group_sort: Sort<GroupColumn>,
    pub member_sort: Sort<MemberColumn>,
    pub partition_sort: Sort<PartitionColumn>,
    pub pane: Pane,
    /// What is asked about the open group.
    pub(super) asked: Option<Asked>,
    /// Number of the newest metadata change of each group that the person has looked at.
    pub(super) seen_metadata: BTreeMap<Name, u64>,
    /// The interval that was asked for, in milliseconds.
    pub interval_ms: u64,
    /// What is shown is a recording that is played again.
    pub replay: bool,
    /// Something to tell once, and when it was said.
    pub message: Option<(String, Duration)>,
    /// The groups that the source was told are on screen.
    pub(super) on_screen: Vec<Name>,
    /// Some list keeps an order that is no longer its own.
    pub(super) held: bool,
}

/// A group that was read for longer than that ago is old, however short the interval.
const IN_TURN: Duration = Duration::from_secs(30);
/// Without these nothing is true any more; what else is missing of the cluster is one problem among others.
const WHOLE: [&str; 3] = ["connection", "metadata", "list of groups"];
/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(3);

impl State {
    pub fn new(look: Look, label: Name, interval_ms: u64, size: (u16, u16)) -> Self {
        Self {
            view: View::default(),
            waiting: None,
            paused: false,
            look,
            label,
            size,
            now: Duration::ZERO,
            adopted_at: Duration::ZERO,
            newest: None,
            screens: Vec::new(),
            page: None,
            page_top: 0,
            prompt: None,
            groups: List::default(),
            members: List::default(),
            partitions: List::default(),
            problems: List::default(),
            past: List::default(),
            events: List::default(),
            expanded: BTreeSet::new(),
            group_sort: Sort::default(),
            member_sort: Sort::default(),
            partition_sort: Sort::default(),
            pane: Pane::default(),
            asked: None,
            seen_metadata: BTreeMap::new(),
            interval_ms,
            replay: false,
            message: None,
            on_screen: Vec::new(),
            held: false,
        }
    }

    pub fn screen(&self) -> &Screen {
        self.screens.last().unwrap_or(&Screen::Groups)
    }

    /// The group of the group screen or of the rebalances screen; `None` also when it is gone.
    pub fn open_group(&self) -> Option<&GroupView> {
        match self.screen() {
            Screen::Group(id) | Screen::Rebalances(id) => self.group(id),
            Screen::Groups | Screen::Problems | Screen::Events => None,
        }
    }

    /// The group that is selected in the list of groups.
    pub fn selected_group(&self) -> Option<&GroupView> {
        self.groups.selected().and_then(|(_, place)| self.view.groups.get(*place)).map(|group| &**group)
    }

    /// Whether metadata changed under a group so that it matters, and the person did not look at it yet.
    pub fn has_metadata_news(&self, group: &GroupView) -> bool {
        group.metadata.newest() > self.seen_metadata.get(&group.id).copied()
    }

    /// What is on screen is seen.
    pub(super) fn see_metadata(&mut self) {
        let groups: Vec<&std::sync::Arc<GroupView>> = match &self.page {
            Some(Page::Metadata(Some(id))) => self.view.group(id).into_iter().collect(),
            Some(Page::Metadata(None)) => self.view.groups.iter().collect(),
            _ => return,
        };
        let seen: Vec<_> =
            groups.iter().filter_map(|group| Some((group.id.clone(), group.metadata.newest()?))).collect();
        self.seen_metadata.extend(seen);
    }

    /// What the cluster is called.
    pub fn cluster(&self) -> &Name {
        if self.view.cluster.name.is_empty() { &self.label } else { &self.view.cluster.name }
    }

    /// Age of the newest observation on screen.
    pub fn age(&self) -> Option<Duration> {
        self.newest.map(|newest| self.since(newest))
    }

    /// Time from a moment of the stream until now.
    pub fn since(&self, at: At) -> Duration {
        self.view.now.since(at) + self.now.saturating_sub(self.adopted_at)
    }

    /// Wall clock of whoever wrote the stream, now.
    pub fn wall(&self) -> Option<Wall> {
        self.view.wall(self.view.now.plus(self.now.saturating_sub(self.adopted_at)))
    }

    /// How much what is on screen can be trusted. A screen that is paused is as fresh as when it was paused.
    pub fn freshness(&self) -> Freshness {
        match &self.view.feed {
            Feed::Connecting => Freshness::Connecting,
            Feed::Stale { cause, .. } => Freshness::Stale(Some(cause.clone())),
            Feed::Ended => Freshness::Ended,
            Feed::Failed { cause } => Freshness::Failed(cause.clone()),
            Feed::Live => {
                let interval = self.view.progress.interval_ms;
                let fresh = Duration::from_millis(3 * interval) + Duration::from_secs(5);
                let stale = interval > 0 && !self.paused && self.age().is_none_or(|age| age > fresh);
                if stale { Freshness::Stale(None) } else { Freshness::Live }
            }
        }
    }

    /// Whether rows are to be dimmed and verdicts taken back.
    pub fn is_fresh(&self) -> bool {
        matches!(self.freshness(), Freshness::Live | Freshness::Ended)
    }

    /// The same of one group, which may be silent alone: while its coordinator loads or does not answer.
    pub fn is_fresh_group(&self, group: &GroupView) -> bool {
        let interval = self.view.progress.interval_ms;
        // Groups that are not on screen are read in turn.
        let fresh = Duration::from_millis(3 * interval).max(IN_TURN);
        let read = [self.view.described_at(group), self.view.commits_at(group)];
        let late = |at: &At| self.view.now.since(*at) > fresh;
        let silent = interval > 0 && group.kind.reads_partitions() && read.iter().flatten().any(late);
        self.is_fresh() && !silent
    }

    /// What keeps the whole cluster from being read.
    pub fn cluster_problem(&self) -> Option<&Problem> {
        let whole = |problem: &&Problem| problem.scope == Scope::Cluster && WHOLE.contains(&problem.missing.as_str());
        self.view.problems.iter().find(whole)
    }

    /// What is wrong with all that is on screen, in words.
    pub fn banner(&self) -> Option<String> {
        let tried = |age: Option<Duration>| age.map_or_else(String::new, |age| format!(" for {}", duration(age)));
        match self.freshness() {
            Freshness::Failed(cause) => {
                return Some(format!("ERROR {cause}. Nothing more will come."));
            }
            Freshness::Stale(Some(cause)) => {
                let old = tried(self.age());
                return Some(format!("STALE nothing was heard{old}: {cause}. Trying again."));
            }
            Freshness::Connecting | Freshness::Live | Freshness::Stale(None) | Freshness::Ended => {}
        }
        if let Some(problem) = self.cluster_problem() {
            let Problem { missing, cause, remedy, since, .. } = problem;
            let age = duration(self.since(*since));
            let remedy = remedy.as_ref().map_or_else(String::new, |remedy| format!("; {remedy}"));
            return Some(format!("ERROR no {missing}: {cause}{remedy}. Retrying, for {age}."));
        }
        let stale = matches!(self.freshness(), Freshness::Stale(None));
        stale.then(|| format!("STALE nothing was read{}.", tried(self.age())))
    }

    /// The filter of the list that has the focus.
    pub fn filter(&self) -> &Filter {
        match (self.screen(), self.pane) {
            (Screen::Groups, _) => &self.groups.filter,
            (Screen::Group(_), Pane::Members) => &self.members.filter,
            (Screen::Group(_), Pane::Partitions) => &self.partitions.filter,
            (Screen::Problems, _) => &self.problems.filter,
            (Screen::Rebalances(_), _) => &self.past.filter,
            (Screen::Events, _) => &self.events.filter,
        }
    }

    pub(super) fn filter_mut(&mut self) -> &mut Filter {
        match (self.screen(), self.pane) {
            (Screen::Groups, _) => &mut self.groups.filter,
            (Screen::Group(_), Pane::Members) => &mut self.members.filter,
            (Screen::Group(_), Pane::Partitions) => &mut self.partitions.filter,
            (Screen::Problems, _) => &mut self.problems.filter,
            (Screen::Rebalances(_), _) => &mut self.past.filter,
            (Screen::Events, _) => &mut self.events.filter,
        }
    }

    /// The message, while it is new.
    pub fn message(&self) -> Option<&str> {
        let (text, said) = self.message.as_ref()?;
        (self.now < *said + MESSAGE).then_some(text.as_str())
    }

    /// Makes the rows of every list anew. `hold`: known rows keep their order while the cursor moves or a prompt is open.
    pub(super) fn arrange(&mut self, hold: bool) {
        let (now, prompted) = (self.now, self.prompt.is_some());
        let holds = |holds: bool| hold && (holds || prompted);
        let hold_groups = holds(self.groups.holds(now));
        self.groups.replace(order::groups(&self.view, self.group_sort, &self.groups.filter), hold_groups);
        let hold_members = holds(self.members.holds(now));
        let hold_partitions = holds(self.partitions.holds(now));
        let (members, partitions) = match self.open_group() {
            Some(group) => (
                order::members(group, self.member_sort, &self.members.filter),
                order::partitions(group, self.partition_sort, &self.partitions.filter),
            ),
            None => (Vec::new(), Vec::new()),
        };
        self.members.replace(members, hold_members);
        self.partitions.replace(partitions, hold_partitions);
        self.problems.replace(order::problems(&self.view, &self.problems.filter), false);
        match self.screens.last() {
            Some(Screen::Rebalances(_)) => {
                let lines = self.open_group().map(|group| past::lines(group, &self.expanded, &self.past.filter));
                self.past.replace(lines.unwrap_or_default(), false);
            }
            Some(Screen::Events) => self.events.replace(past::feed(&self.view, &self.events.filter), false),
            _ => {}
        }
        self.held = hold_groups || hold_members || hold_partitions;
        self.fit();
    }

    /// Says to each list how many rows there is room for.
    pub(super) fn fit(&mut self) {
        let heights = layout::heights(self);
        self.groups.fit(heights.groups);
        self.members.fit(heights.members);
        self.partitions.fit(heights.partitions);
        self.problems.fit(heights.problems);
        self.past.fit(heights.past);
        self.events.fit(heights.events);
        if let Some(open) = &self.page {
            let body = layout::frame(self).body;
            let lines = page::height(self, open, usize::from(body.width));
            self.page_top = self.page_top.min(lines.saturating_sub(usize::from(body.height)));
        }
    }
}
