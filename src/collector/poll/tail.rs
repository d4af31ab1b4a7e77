//! The coordinator logs in the polls: starting their readers, taking in what they say, and asking what no record tells.
//! `covered` tells the groups of which they know.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Poller;
use super::answer::{Answer, Call};
use super::log_start::{LogStart, find_start};
use crate::collector::causes::{self, Cause};
use crate::collector::log::{LogState, start};
use crate::collector::wall_now;
use crate::frame::order::{History, LogMode, Settings};
use crate::frame::{Gap, Level, Note};
use crate::kafka::{Admin, CallError, Client, Counts, Log, LogReader, Message, Protocol, Spec};
use crate::model::{At, Description, GroupKind, LogGap, Name, Scope, Wall};

/// A log that is not there or not readable is tried again this often.
const RETRY_EVERY: Duration = Duration::from_secs(60);
/// A log topic that does not exist yet appears with the first group.
const MISSING_EVERY: Duration = Duration::from_secs(5);
/// Whether a transaction is open is asked at most this often.
const HELD_EVERY: Duration = Duration::from_millis(500);
/// After a broker did not answer, for so long and so often: has the reader of the log come through it?
const SHAKEN: Duration = Duration::from_secs(120);
const COMPARED_EVERY: Duration = Duration::from_secs(10);
/// What the brokers' default assignor is, is asked this often until a group tells it.
const ASSIGNOR_EVERY: Duration = Duration::from_secs(10);
/// Ids of at most this many topics are asked before the log is read.
const NAMED: usize = 5_000;

/// What a poll needs to read the logs.
pub struct Tail {
    pub settings: Settings,
    client: Client,
    pub state: LogState,
    /// `__consumer_offsets`, while it is read.
    pub groups: Option<Reading>,
    /// `__share_group_state`, the same.
    shares: Option<Reading>,
    /// How far partitions of `__consumer_offsets` were read before: by the reader, or collector, before this one.
    resume: BTreeMap<i32, i64>,
    /// When all coordinators last answered, while every partition tells what is true now: a log that says nothing may
    /// have nothing to say, or nobody to say it.
    pub heard: Option<At>,
    /// When a coordinator last did not answer.
    pub shaken: Option<Instant>,
    /// Why `__consumer_offsets` cannot be read.
    pub refused: Option<CallError>,
    shares_refused: bool,
    missing: bool,
    shares_missing: bool,
}

/// A log that is being read.
pub struct Reading {
    reader: LogReader,
    pub counts: Arc<Counts>,
    pub plan: start::Plan,
}

impl Tail {
    pub fn new(settings: Settings, client: Client) -> Self {
        Self {
            resume: settings.resume.clone(),
            settings,
            client,
            state: LogState::default(),
            groups: None,
            shares: None,
            heard: None,
            shaken: None,
            refused: None,
            shares_refused: false,
            missing: false,
            shares_missing: false,
        }
    }

    pub fn is_on(&self) -> bool {
        self.settings.log != LogMode::Off
    }

    pub fn is_required(&self) -> bool {
        self.settings.log == LogMode::Require
    }

    /// Every partition tells what is true now.
    pub fn is_caught_up(&self) -> bool {
        let (partitions, caught_up, _) = self.state.progress();
        self.groups.is_some() && partitions > 0 && caught_up == partitions
    }

    /// Nothing more will be learnt by waiting: caught up, switched off, refused, or there is no log.
    pub fn is_settled(&self) -> bool {
        !self.is_on() || self.refused.is_some() || self.missing || (self.is_caught_up() && self.shares_are_settled())
    }

    /// Partitions of the log of share groups that are read.
    pub fn share_partitions(&self) -> usize {
        self.shares.as_ref().map_or(0, |reading| reading.plan.from.len())
    }

    /// Every partition of the log of share groups is read, and was read to its end.
    pub fn shares_are_read(&self) -> bool {
        let partitions = self.share_partitions();
        partitions > 0 && self.state.shares_caught_up() >= partitions
    }

    fn shares_are_settled(&self) -> bool {
        self.shares_refused
            || self.shares_missing
            || self.shares_are_read()
            || !self.state.kinds().any(|(_, kind)| *kind == GroupKind::Share)
    }

    /// Why the log does not tell of this group although it is read.
    pub fn log_gap(&self, group: &Name) -> Option<LogGap> {
        self.groups.as_ref().and_then(|_| self.state.gap(group))
    }

    /// The next message of either log; never resolves while none is read.
    pub async fn next(&mut self) -> (Log, Option<Message>) {
        let Self { groups, shares, .. } = self;
        let groups = groups.as_mut().map(|reading| &mut reading.reader.messages);
        match (groups, shares.as_mut().map(|reading| &mut reading.reader.messages)) {
            (Some(groups), Some(shares)) => tokio::select! {
                message = groups.recv() => (Log::Groups, message),
                message = shares.recv() => (Log::Shares, message),
            },
            (Some(groups), None) => (Log::Groups, groups.recv().await),
            (None, Some(shares)) => (Log::Shares, shares.recv().await),
            (None, None) => std::future::pending().await,
        }
    }

    fn reading(&mut self, log: Log) -> &mut Option<Reading> {
        match log {
            Log::Groups => &mut self.groups,
            Log::Shares => &mut self.shares,
        }
    }
}

impl Poller {
    /// Starts what is to be read and is not; asks which groups are rebalancing and whether a partition is held.
    pub(super) fn ask_log(&mut self) {
        if !self.tail.is_on() {
            return;
        }
        let every = if self.tail.refused.is_some() { RETRY_EVERY } else { MISSING_EVERY };
        if self.tail.groups.is_none() && self.due(&Call::LogStart(false), every) {
            self.ask_start(Log::Groups);
        }
        let shares = self.tail.state.kinds().any(|(_, kind)| *kind == GroupKind::Share);
        // The topic appears with the first share group.
        let every = if self.tail.shares_refused { RETRY_EVERY } else { MISSING_EVERY };
        if shares && self.tail.shares.is_none() && self.due(&Call::LogStart(true), every) {
            self.ask_start(Log::Shares);
        }
        if !self.tail.is_caught_up() {
            // Nobody asks for these then: the list tells every state.
            self.rebalancing.clear();
            self.tail.heard = None;
        } else if self.due(&Call::Rebalancing, Duration::ZERO) {
            let admin = Arc::clone(&self.admin);
            self.ask(Call::Rebalancing, async move { Answer::Rebalancing(admin.list_rebalancing().await) });
        }
        self.ask_held();
        self.ask_compared();
    }

    /// Asks how far the log goes, to compare the reader with it.
    fn ask_compared(&mut self) {
        let Some(reading) = &self.tail.groups else { return };
        let shaken = self.tail.shaken.is_some_and(|at| at.elapsed() < SHAKEN);
        if !shaken || !self.due(&Call::Compared, COMPARED_EVERY) {
            return;
        }
        let admin = Arc::clone(&self.admin);
        let partitions = named(reading.plan.until.keys());
        self.ask(Call::Compared, async move {
            let told = admin.list_offsets(&partitions, Spec::Latest).await.unwrap_or_default().into_iter();
            Answer::Compared(told.filter_map(|((_, partition), high)| Some((partition, high.ok()?))).collect())
        });
    }

    /// Asks whether partitions that do not move are held by an open transaction.
    fn ask_held(&mut self) {
        let doubtful = self.tail.state.in_doubt();
        if !doubtful.is_empty() && self.due(&Call::Held, HELD_EVERY) {
            let admin = Arc::clone(&self.admin);
            let next: BTreeMap<i32, i64> =
                doubtful.iter().map(|partition| (*partition, self.tail.state.next(*partition))).collect();
            self.ask(Call::Held, async move {
                let ends = ends(&admin, &doubtful).await.into_iter();
                Answer::Held(
                    ends.filter_map(|(partition, ends)| Some((partition, *next.get(&partition)?, ends))).collect(),
                )
            });
        }
    }

    /// Which assignor KIP-848 groups have whose members ask for none is in no record: one of them is described once.
    pub(super) fn ask_assignor(&mut self) {
        if self.default_assignor.is_some() || !self.due(&Call::Assignor, ASSIGNOR_EVERY) {
            return;
        }
        let wishless = self.tracked.keys().find(|group| {
            let facts = || self.tail.state.facts(group, None);
            self.tail.state.covers(group)
                && self.kind_of(group) == GroupKind::Consumer
                && facts().is_some_and(|(description, _)| description.assignor.is_none())
        });
        if let Some(group) = wishless.cloned() {
            let admin = Arc::clone(&self.admin);
            self.ask(Call::Assignor, async move {
                let answer = admin.describe_group(&group).await;
                Answer::Assignor(group, answer.map(Box::new))
            });
        }
    }

    pub(super) fn take_assignor(&mut self, group: &Name, answer: Result<Box<(Protocol, Description)>, CallError>) {
        let told = answer.ok().and_then(|answer| answer.1.assignor);
        // Members that came meanwhile may ask for one.
        let facts = self.tail.state.facts(group, None);
        let wishless = facts.is_some_and(|(description, _)| description.assignor.is_none());
        if let Some(assignor) = told.filter(|_| wishless) {
            self.default_assignor = Some(assignor);
            self.tail.state.mark_all();
        }
    }

    fn ask_start(&mut self, log: Log) {
        let (admin, client, history) = (Arc::clone(&self.admin), self.tail.client.clone(), self.tail.settings.history);
        let topics: Vec<Name> = self.metadata.topics.keys().take(NAMED).cloned().collect();
        // What a share group has done is kept for ever and is never history.
        let (history, resume) = match log {
            Log::Groups => (history, self.tail.resume.clone()),
            Log::Shares => (History::All, BTreeMap::new()),
        };
        self.ask(Call::LogStart(log == Log::Shares), async move {
            Answer::LogStart(log, find_start(&admin, client, log, history, &resume, topics).await)
        });
    }

    pub(super) fn take_start(&mut self, log: Log, answer: Result<Option<LogStart>, CallError>) {
        let (scope, now) = (Scope::Topic(Name::new(log.topic())), self.clock.now());
        let what = what_is_missing(log);
        let begun = match answer {
            Ok(Some(begun)) => begun,
            Ok(None) => {
                match log {
                    Log::Groups => self.tail.missing = true,
                    Log::Shares => self.tail.shares_missing = true,
                }
                return;
            }
            Err(error) => return self.log_refused(log, error),
        };
        for (id, name) in begun.ids {
            self.tail.state.names.learn(id, &name);
        }
        let selection = self.selection.clone();
        let wanted = Box::new(move |group: &str| selection.group(&Name::new(group)));
        match LogReader::start(&self.tail.settings.properties, log, &begun.plan.from, wanted) {
            Ok(reader) => {
                self.problems.cleared(scope, what);
                let reading = Reading { counts: Arc::clone(&reader.counts), reader, plan: begun.plan };
                if log == Log::Groups {
                    self.tail.state.begin(&reading.plan);
                    let until = wall_now();
                    self.gaps.extend(reading.plan.missed.iter().map(|partition| skipped(*partition, until)));
                    (self.tail.refused, self.tail.missing) = (None, false);
                    self.set_log_leaders();
                } else {
                    self.tail.state.begin_shares();
                    (self.tail.shares_refused, self.tail.shares_missing) = (false, false);
                }
                *self.tail.reading(log) = Some(reading);
            }
            Err(error) => {
                let text = Name::from(error.to_string());
                self.problems.set(scope, what, Cause { text, remedy: None, lasting: true }, now);
            }
        }
    }

    fn log_refused(&mut self, log: Log, error: CallError) {
        let (scope, now) = (Scope::Topic(Name::new(log.topic())), self.clock.now());
        if causes::is_denied(&error) {
            let text = Name::new("not authorized to read it");
            let remedy = Some(format!("needs READ and DESCRIBE on topic {}", log.topic()));
            self.problems.set(scope, what_is_missing(log), Cause { text, remedy, lasting: true }, now);
        } else {
            self.problems.failed(scope, what_is_missing(log), &error, now);
        }
        match log {
            Log::Groups => self.tail.refused = Some(error),
            Log::Shares => self.tail.shares_refused = true,
        }
    }

    /// Takes in what a reader says.
    pub fn take_log(&mut self, log: Log, message: Option<Message>) {
        match message {
            Some(Message::Failed(error)) => {
                self.log_ended(log);
                self.log_refused(log, error);
            }
            None => self.log_ended(log),
            Some(message) => {
                let offsets = &self.known.offsets;
                let end = |topic: &Name, partition: i32| Some(offsets.get(topic)?.end.as_ref()?.get(partition)?.0);
                match log {
                    Log::Groups => self.tail.state.take(message, &end),
                    Log::Shares => self.tail.state.take_share(message),
                }
                self.ask_held();
            }
        }
    }

    /// Where a partition went back, what was made of its records is not true any more: the log is read again.
    pub(super) fn read_anew(&mut self) {
        let cuts = self.tail.state.take_cuts();
        if cuts.is_empty() {
            return;
        }
        self.log_ended(Log::Groups);
        for (partition, offset) in cuts {
            self.tail.resume.entry(partition).and_modify(|next| *next = offset.min(*next));
            let text = format!(
                "partition {partition} of {} went back to offset {offset}, as after an unclean leader election: the \
                 records that were read from there on are gone",
                Log::Groups.topic()
            );
            let gap = Some(Gap::Cut { partition, offset });
            self.gaps.push(Note { gap, ..Note::new(Level::Warning, text) });
        }
        self.asked.remove(&Call::LogStart(false));
    }

    /// A reader that stands still is replaced by another one.
    pub(super) fn replace_stuck(&mut self) {
        if self.tail.groups.is_some() && self.tail.state.is_stuck() {
            self.log_ended(Log::Groups);
            let text = format!("the reader of {} stood still and is replaced", Log::Groups.topic());
            self.gaps.push(Note::new(Level::Warning, text));
            self.asked.remove(&Call::LogStart(false));
        }
    }

    fn log_ended(&mut self, log: Log) {
        *self.tail.reading(log) = None;
        if log == Log::Groups {
            self.tail.resume = self.tail.state.resume();
            self.tail.state.stop();
        }
    }

    /// Who leads the partitions of the log: the coordinators.
    pub(super) fn set_log_leaders(&mut self) {
        if let Some(partitions) = self.metadata.topics.get(Log::Groups.topic()) {
            self.tail.state.set_leaders(partitions.iter().map(|partition| partition.leader));
        }
    }

    /// Ids that DescribeTopics told.
    pub(super) fn learn_ids(&mut self) {
        let mut news = false;
        for (name, topic) in &self.described {
            if let Some(id) = topic.id {
                news |= self.tail.state.names.learn(id, name);
            }
        }
        if news {
            self.tail.state.mark_all();
        }
    }
}

/// What lies between where a partition was read to and where it is read on.
fn skipped(partition: i32, until: Wall) -> Note {
    let text = format!(
        "partition {partition} of {} cannot be read on from where it was: what was written meanwhile is gone, or too much",
        Log::Groups.topic()
    );
    Note { gap: Some(Gap::Skipped { partition, until }), ..Note::new(Level::Warning, text) }
}

fn what_is_missing(log: Log) -> &'static str {
    match log {
        Log::Groups => "coordinator log (history, epochs, share and streams groups)",
        Log::Shares => "share group offsets",
    }
}

/// Partitions of `__consumer_offsets`, as admin calls want them.
fn named<'a>(partitions: impl IntoIterator<Item = &'a i32>) -> Vec<(Name, i32)> {
    partitions.into_iter().map(|partition| (Name::new(Log::Groups.topic()), *partition)).collect()
}

/// Last stable offset and high watermark of partitions. Unknown ones are left out.
async fn ends(admin: &Admin, partitions: &[i32]) -> BTreeMap<i32, (i64, i64)> {
    let named = named(partitions);
    // The stable one first: that it has reached the other is certain only if the other was read later.
    let Ok(stable) = admin.list_offsets(&named, Spec::Stable).await else { return BTreeMap::new() };
    let Ok(high) = admin.list_offsets(&named, Spec::Latest).await else { return BTreeMap::new() };
    let both = |((topic, partition), stable): ((Name, i32), Result<i64, CallError>)| {
        let high = high.get(&(topic, partition))?.as_ref().ok()?;
        Some((partition, (stable.ok()?, *high)))
    };
    stable.into_iter().filter_map(both).collect()
}
