//! One poll after another: what is due is asked, every call on its own; answers are merged as they come. A broker that
//! does not answer delays only what it alone can answer: a poll waits for it a moment, and a late answer is merged by a
//! later poll, until which nobody asks it the same again.
//!
//! Order in a poll: groups and commits first, then last stable offsets, then log ends, so that a fast consumer never
//! looks ahead of its log.

mod answer;
mod configs;
mod covered;
mod groups;
mod log_start;
mod offsets;
mod probe;
mod tail;
mod topics;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::Selection;
use super::causes::{self, Cause, Problems};
use crate::clock::Clock;
use crate::frame::order::Isolation;
use crate::frame::{Note, Settings};
use crate::kafka::{Admin, Client, ClientErrors, Log, Metadata, Spec, is_login};
use crate::model::{Cluster, Event, GroupKind, GroupState, Name, Progress, Snapshot, Topic, millis};

use answer::{Answer, Call};
use tail::Tail;

/// How often each thing is asked, when the timer is on.
const LISTING_EVERY: Duration = Duration::from_secs(10);
/// … while the log tells which groups there are.
const LISTING_WITH_LOG_EVERY: Duration = Duration::from_secs(30);
const TYPED_EVERY: Duration = Duration::from_secs(60);
const METADATA_EVERY: Duration = Duration::from_secs(5);
const CLUSTER_EVERY: Duration = Duration::from_secs(30);
const TOPICS_EVERY: Duration = Duration::from_secs(30);
const STARTS_EVERY: Duration = Duration::from_secs(30);
/// Calls that were denied are repeated slowly.
const DENIED_EVERY: Duration = Duration::from_secs(60);
/// How long a poll waits for the calls of one step before it goes on without the late ones.
const PATIENCE: Duration = Duration::from_millis(1500);
/// At the first poll nothing is known yet: it waits for every call's own deadline.
const FIRST_PATIENCE: Duration = Duration::from_secs(4);
/// Groups that are not on screen asked in one poll, the longest unasked first.
const SLICE: usize = 200;

pub struct Poller {
    admin: Arc<Admin>,
    errors: ClientErrors,
    selection: Selection,
    clock: Clock,
    pub interval: Duration,
    /// The groups on screen; `None`: all are alike.
    pub on_screen: Option<Vec<Name>>,

    /// Everything told so far.
    known: Snapshot,
    /// What this poll found.
    news: Snapshot,
    problems: Problems,
    polls: u64,
    /// When the current poll began.
    began: Instant,

    calls: JoinSet<Answer>,
    in_flight: HashSet<Call>,
    asked: BTreeMap<Call, Instant>,

    /// Groups as ListConsumerGroups gave them.
    listed: answer::Listed,
    listing_complete: bool,
    /// Those of them that the newest list has not.
    absent: BTreeSet<Name>,
    /// Groups that only the old list call knows: connect and the like, share, streams.
    unlisted: BTreeMap<Name, GroupKind>,
    tracked: BTreeMap<Name, Tracked>,
    subscriptions: BTreeMap<Name, groups::Subscriptions>,
    /// Groups that gave commits in this poll: their partitions' ends are due.
    answered: BTreeSet<Name>,

    metadata: Metadata,
    described: BTreeMap<Name, Topic>,
    cluster: Cluster,
    /// Brokers that are up, whose racks were asked since they came up.
    racked: BTreeSet<i32>,
    /// A coordinator stored another group hash: topics or racks changed, and are asked now.
    hash_changed: bool,
    fresh: offsets::Fresh,
    configured: configs::Configured,
    probe: probe::Stage,
    /// Assignors as DescribeConsumerGroups told them: a broker's default is in no record.
    assignors: BTreeMap<Name, Name>,
    /// The server-side assignor of groups whose members ask for none.
    default_assignor: Option<Name>,
    /// Classic groups that were rebalancing when last asked, and how.
    rebalancing: BTreeMap<Name, GroupState>,
    tail: Tail,
    /// What is to be told of partitions of the log that went back, or cannot be read on from where they were.
    gaps: Vec<Note>,
}

/// What is kept about a selected group besides its facts.
#[derive(Debug, Default)]
struct Tracked {
    asked_at: Option<Instant>,
    /// Answered or failed at least once.
    seen: bool,
    denied: bool,
}

impl Poller {
    pub fn new(admin: Admin, client: Client, settings: Settings, selection: Selection, clock: Clock) -> Self {
        Self {
            admin: Arc::new(admin),
            errors: client.errors().clone(),
            selection,
            clock,
            interval: Duration::ZERO,
            on_screen: None,
            known: Snapshot::default(),
            news: Snapshot::default(),
            problems: Problems::default(),
            polls: 0,
            began: Instant::now(),
            calls: JoinSet::new(),
            in_flight: HashSet::new(),
            asked: BTreeMap::new(),
            listed: BTreeMap::new(),
            listing_complete: false,
            absent: BTreeSet::new(),
            unlisted: BTreeMap::new(),
            tracked: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            answered: BTreeSet::new(),
            metadata: Metadata::default(),
            described: BTreeMap::new(),
            cluster: Cluster::default(),
            racked: BTreeSet::new(),
            hash_changed: false,
            fresh: offsets::Fresh::default(),
            configured: configs::Configured::default(),
            probe: if settings.probe_time { probe::Stage::Wanted } else { probe::Stage::Over },
            assignors: BTreeMap::new(),
            default_assignor: None,
            rebalancing: BTreeMap::new(),
            tail: Tail::new(settings, client),
            gaps: Vec::new(),
        }
    }

    /// Everything known so far.
    pub fn known(&self) -> &Snapshot {
        &self.known
    }

    /// A full snapshot: everything known, every problem.
    pub fn full(&self) -> Snapshot {
        Snapshot { problems: Some(self.problems.all()), gone_groups: Vec::new(), ..self.known.clone() }
    }

    /// One poll; returns what is new. `forced`: the person asked for it, so the list of groups is read too.
    pub async fn poll(&mut self, forced: bool) -> Snapshot {
        let began = Instant::now();
        self.began = began;
        let patience = if self.polls == 0 { FIRST_PATIENCE } else { PATIENCE };
        self.answered.clear();

        self.ask_cluster(forced);
        self.wait(|call| matches!(call, Call::Listing | Call::Metadata), patience).await;
        if self.polls == 0 {
            // Groups that the list leaves out are known only after the old call.
            self.wait(|call| matches!(call, Call::Typed(None)), patience).await;
        }
        self.ask_log();
        self.wait(|call| matches!(call, Call::Rebalancing | Call::Held), PATIENCE).await;
        self.ask_groups(forced);
        self.ask_assignor();
        self.wait(|call| matches!(call, Call::Group(_) | Call::Assignor), patience).await;
        self.tell_log(true);
        self.answer_covered();
        self.ask_topics();
        self.ask_configs();
        self.wait(|call| matches!(call, Call::Topics | Call::Configs), patience).await;
        self.merge_topics();
        self.ask_stables(forced);
        self.wait(|call| matches!(call, Call::Offsets(_, Spec::Stable)), patience).await;
        self.ask_offsets(forced);
        self.wait(|call| matches!(call, Call::Offsets(..)), patience).await;
        self.merge_offsets();
        self.tell_log_progress();
        self.ask_probe();
        self.wait(|call| matches!(call, Call::Probe), probe::PATIENCE).await;

        self.polls += 1;
        self.news.progress = Some(Progress {
            polls: self.polls,
            all_seen: self.all_seen(),
            interval_ms: millis(self.interval),
            took_ms: millis(began.elapsed()),
            read_committed: self.tail.settings.isolation == Isolation::ReadCommitted,
        });
        self.take_news()
    }

    /// Takes in what the log says, and late answers, while no poll is under way; resolves after each.
    pub async fn listen(&mut self) {
        tokio::select! {
            (log, message) = self.tail.next() => self.take_log(log, message),
            Some(Ok(answer)) = self.calls.join_next() => self.take(answer),
            else => std::future::pending().await,
        }
    }

    /// Whether the log told something that is not passed on yet.
    pub fn has_log_news(&self) -> bool {
        self.tail.state.has_news()
    }

    /// What the log told since the last poll.
    pub fn log_news(&mut self) -> Snapshot {
        self.tell_log(false);
        self.take_news()
    }

    /// Notes of what events do not tell, since the last call: before the events that follow.
    pub fn take_gaps(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.gaps)
    }

    /// Events since the last call, of selected groups, in the order of each log partition.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.tail.state.take_events()
    }

    /// With `--coordinator-log require`: why there is nothing to show.
    pub fn required_log_refused(&self) -> Option<Name> {
        let refused = self.tail.refused.as_ref().filter(|_| self.tail.is_required())?;
        Some(Name::from(format!("the coordinator log {} cannot be read: {refused}", Log::Groups.topic())))
    }

    fn take_news(&mut self) -> Snapshot {
        let mut news = std::mem::take(&mut self.news);
        news.problems = self.problems.take_changed();
        self.known.apply(news.clone());
        self.known.gone_groups.clear();
        news
    }

    /// The newest facts that say it: those of this poll, else those before.
    fn newest<'a, T>(&'a self, says: impl FnMut(&'a Snapshot) -> Option<T>) -> Option<T> {
        [&self.news, &self.known].into_iter().find_map(says)
    }

    /// All was seen that is to be seen.
    fn all_seen(&self) -> bool {
        self.facts_are_seen() && self.probe == probe::Stage::Over
    }

    /// Every selected group was answered for or failed, and so were the ends of what it reads.
    fn facts_are_seen(&self) -> bool {
        self.known.listing.or(self.news.listing).is_some()
            && (self.asked.contains_key(&Call::Typed(None)) || self.tail.is_caught_up())
            && self.tail.is_settled()
            && self.covered_are_told()
            && self.ends_are_known()
            && !self.in_flight.iter().any(|call| !matches!(call, Call::Cluster) || self.racked.is_empty())
            && self.tracked.values().all(|tracked| tracked.seen)
    }

    /// Whether `call` is due: never asked, asked longer ago than `every`, and not still under way.
    fn due(&self, call: &Call, every: Duration) -> bool {
        !self.in_flight.contains(call) && self.asked.get(call).is_none_or(|at| at.elapsed() >= every)
    }

    fn ask(&mut self, call: Call, answer: impl Future<Output = Answer> + Send + 'static) {
        self.asked.insert(call.clone(), Instant::now());
        self.in_flight.insert(call);
        self.calls.spawn(answer);
    }

    /// Merges answers until none of the calls that `wanted` names is under way, at most for `patience`. A call that an
    /// earlier poll waited for in vain is not waited for again.
    async fn wait(&mut self, wanted: impl Fn(&Call) -> bool, patience: Duration) {
        let deadline = tokio::time::Instant::now() + patience;
        while self.in_flight.iter().any(|call| wanted(call) && self.asked_in_this_poll(call)) {
            tokio::select! {
                answer = self.calls.join_next() => match answer {
                    Some(Ok(answer)) => self.take(answer),
                    // A call that panicked: its place must not stay taken.
                    Some(Err(error)) => tracing::error!("a call ended badly: {error}"),
                    None => self.in_flight.clear(),
                },
                (log, message) = self.tail.next() => self.take_log(log, message),
                () = tokio::time::sleep_until(deadline) => break,
            }
        }
        while let Some(Ok(answer)) = self.calls.try_join_next() {
            self.take(answer);
        }
    }

    fn asked_in_this_poll(&self, call: &Call) -> bool {
        self.asked.get(call).is_some_and(|at| *at >= self.began)
    }

    /// The cause of a call that nobody answered: a login or TLS failure is told by the client's errors alone.
    fn background_cause(&self) -> Option<Cause> {
        let newest = self.errors.newest(crate::collector::LATELY)?;
        (is_login(newest.code) || !self.listing_complete).then(|| causes::of_connection(&newest))
    }
}
