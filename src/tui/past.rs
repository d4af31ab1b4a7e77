//! What happened, as rows: the rebalances and other events of a group, what an expanded one shows, and the feed of all
//! groups. How it is written is in `past_words`.

use std::collections::BTreeSet;

use super::filter::Filter;
use super::past_words;
use crate::health::rebalances::{Cause, Gone, Happened, Happening, Members, Move, Ongoing, Rebalance, Waiting, Who};
use crate::model::{Evidence, Name, Wall};
use crate::monitor::view::{GroupView, View};

/// Identity of something that happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PastKey {
    pub group: Name,
    /// `None`: it is under way.
    wall: Option<Wall>,
    log: Option<(i32, i64)>,
    what: &'static str,
    who: Option<Name>,
}

/// A line of the rebalances screen: what happened, and the line of its details; 0 is the row itself.
pub type LineKey = (PastKey, usize);

/// Something that happened, or happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Past<'a> {
    Ongoing(&'a Name, &'a Ongoing),
    Rebalance(&'a Name, &'a Rebalance),
    Other(&'a Happening),
}

impl<'a> Past<'a> {
    pub fn of(happening: &'a Happening) -> Self {
        match &happening.what {
            Happened::Rebalance(rebalance) => Self::Rebalance(&happening.group, rebalance),
            _ => Self::Other(happening),
        }
    }

    pub fn key(&self) -> PastKey {
        let (group, wall, log, what) = match self {
            Self::Ongoing(group, _) => (*group, None, None, "ongoing"),
            Self::Rebalance(group, rebalance) => (*group, Some(rebalance.began), rebalance.log, "rebalance"),
            Self::Other(happening) => (&happening.group, Some(happening.wall), happening.log, happening.what.name()),
        };
        let who = match self {
            Self::Other(Happening {
                what: Happened::StaticAway(who) | Happened::StaticRestarted(Some(who)), ..
            }) => Some(who.id.clone()),
            Self::Other(Happening {
                what: Happened::TopicLeft { topic: what } | Happened::Metadata { subject: what, .. },
                ..
            }) => Some(what.clone()),
            _ => None,
        };
        PastKey { group: group.clone(), wall, log, what, who }
    }

    /// When it began; `None`: it is under way.
    pub fn wall(&self) -> Option<Wall> {
        match self {
            Self::Ongoing(..) => None,
            Self::Rebalance(_, rebalance) => Some(rebalance.began),
            Self::Other(happening) => Some(happening.wall),
        }
    }

    /// What there is to say of it beyond its row.
    pub fn details(&self) -> Vec<Detail<'a>> {
        match *self {
            Self::Ongoing(_, ongoing) => {
                let mut details: Vec<Detail<'a>> = ongoing.waits_for.iter().map(Detail::Waits).collect();
                causes(&ongoing.causes, &mut details);
                members(&ongoing.joined, &ongoing.gone, &mut details);
                details
            }
            Self::Rebalance(_, rebalance) => of_rebalance(rebalance),
            Self::Other(_) => Vec::new(),
        }
    }

    fn matches(&self, filter: &Filter) -> bool {
        let mut texts = vec![past_words::what(self)];
        match self {
            Self::Ongoing(group, _) | Self::Rebalance(group, _) => texts.push(group.to_string()),
            Self::Other(happening) => {
                texts.extend([happening.group.to_string(), past_words::kind(&happening.what).to_owned()]);
            }
        }
        if let Self::Rebalance(_, rebalance) = self {
            texts.extend(rebalance.joined.list.iter().map(ToString::to_string));
            texts.extend(rebalance.gone.list.iter().map(|gone| gone.who.to_string()));
        }
        filter.matches(&texts)
    }
}

/// A line of what is expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail<'a> {
    Waits(&'a Waiting),
    Cause(&'a Cause),
    Joined(&'a Who),
    Gone(&'a Gone),
    Moved(&'a Move),
    Note(String),
}

fn of_rebalance(rebalance: &Rebalance) -> Vec<Detail<'_>> {
    let mut details = Vec::new();
    causes(&rebalance.causes, &mut details);
    members(&rebalance.joined, &rebalance.gone, &mut details);
    match &rebalance.moves {
        None => details.push(Detail::Note("what its members hold cannot be decoded".to_owned())),
        Some(moves) => {
            details.push(Detail::Note(format!(
                "of {} partitions {} moved, {} had no owner before, {} have none now",
                moves.of, moves.moved, moves.taken, moves.dropped
            )));
            details.extend(moves.list.iter().map(Detail::Moved));
            let all = moves.moved + moves.taken + moves.dropped;
            forgotten(all, moves.list.len(), "changes of hands", &mut details);
        }
    }
    let mut note = |text: String| details.push(Detail::Note(text));
    if rebalance.missed > 0 {
        let missed = rebalance.missed;
        note(format!("{missed} generations before it are in no record: rounds that never synced, or compacted away"));
    }
    if rebalance.bumps > 1 {
        note(format!("{} bumps of the group epoch inside it", rebalance.bumps));
    }
    if rebalance.emptied {
        note("it left the group without members".to_owned());
    }
    if rebalance.partial {
        note("not every member was known before it: there may be more than is listed".to_owned());
    }
    if rebalance.evidence() == Evidence::Admin {
        note("seen by polling: what happened between two polls is one".to_owned());
    }
    details
}

/// One cause is in the row already.
fn causes<'a>(causes: &'a [Cause], details: &mut Vec<Detail<'a>>) {
    if causes.len() > 1 {
        details.extend(causes.iter().map(Detail::Cause));
    }
}

fn members<'a>(joined: &'a Members<std::sync::Arc<Who>>, gone: &'a Members<Gone>, details: &mut Vec<Detail<'a>>) {
    details.extend(joined.list.iter().map(|who| Detail::Joined(who)));
    forgotten(joined.count, joined.list.len(), "joined", details);
    details.extend(gone.list.iter().map(Detail::Gone));
    forgotten(gone.count, gone.list.len(), "went", details);
}

fn forgotten(count: usize, listed: usize, what: &str, details: &mut Vec<Detail<'_>>) {
    if count > listed {
        details.push(Detail::Note(format!("{} {what} that are no longer listed", count - listed)));
    }
}

/// What happened to a group: what is under way, then the newest first.
pub fn of_group(group: &GroupView) -> Vec<Past<'_>> {
    let known = &group.rebalances;
    let mut out = Vec::with_capacity(known.list.len() + known.side.len() + 1);
    out.extend(known.ongoing.as_ref().map(|ongoing| Past::Ongoing(&group.id, ongoing)));
    let mut side = known.side.iter().peekable();
    for rebalance in known.list.iter() {
        while let Some(other) = side.next_if(|other| other.wall > rebalance.began) {
            out.push(Past::of(other));
        }
        out.push(Past::Rebalance(&group.id, rebalance));
    }
    out.extend(side.map(|other| Past::of(other)));
    out
}

/// The lines of the rebalances screen; each knows its place in [`of_group`].
pub fn lines(group: &GroupView, expanded: &BTreeSet<PastKey>, filter: &Filter) -> Vec<(LineKey, usize)> {
    let mut lines = Vec::new();
    for (place, past) in of_group(group).iter().enumerate() {
        if !filter.is_empty() && !past.matches(filter) {
            continue;
        }
        let key = past.key();
        let details = if expanded.contains(&key) { past.details().len() } else { 0 };
        lines.extend((0..=details).map(|line| ((key.clone(), line), place)));
    }
    lines
}

/// The rows of the feed; each knows its place in the view.
pub fn feed(view: &View, filter: &Filter) -> Vec<(PastKey, usize)> {
    let events = view.events.iter().enumerate().map(|(place, event)| (Past::of(event), place));
    let shown = events.filter(|(past, _)| filter.is_empty() || past.matches(filter));
    shown.map(|(past, place)| (past.key(), place)).collect()
}

/// What has that identity.
pub fn find<'a>(view: &'a View, key: &PastKey) -> Option<Past<'a>> {
    let group = view.group(&key.group).map(|group| of_group(group)).unwrap_or_default();
    let found = group.into_iter().find(|past| past.key() == *key);
    found.or_else(|| view.events.iter().map(|event| Past::of(event)).find(|past| past.key() == *key))
}
