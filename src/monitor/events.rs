//! What is worth a line in the feed and is in no record: another verdict, commits that polls saw moving back, a topic that
//! lost its last subscriber, a metadata change in the groups that it concerns.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::group::subscribed;
use super::view::{GroupView, MetadataLine};
use crate::health::rebalances::{Happened, Happening};
use crate::health::{Judgement, Severity, Verdict};
use crate::model::{At, Description, Evidence, GroupState, Name, Wall};

/// A verdict that holds for so long is told: one that comes and goes is not.
const HOLDS: Duration = Duration::from_secs(5);

/// What is remembered of a group for its next look.
#[derive(Debug, Default)]
pub struct Memory {
    /// The verdict that was told last; `None`: none yet.
    told: Option<Verdict>,
    /// Another one, and since when.
    other: Option<(Verdict, At)>,
    /// Topics that members subscribe to.
    subscribed: Option<BTreeSet<Name>>,
    /// When the newest of the commits that moved back, and were told, was seen.
    back: Option<At>,
}

impl Memory {
    /// What happened since the last look; `started`: the wall clock at the stream's time 0.
    pub fn look(
        &mut self,
        group: &GroupView,
        description: Option<&Description>,
        now: At,
        started: Wall,
    ) -> impl Iterator<Item = Happening> + use<> {
        let mut lines = Vec::new();
        let mut line = |at: At, what| {
            lines.push(Happening { group: group.id.clone(), wall: started.at(at), log: None, what });
        };
        if let Some((from, since)) = self.verdict(&group.judgement, now)
            && let Some(first) = group.judgement.lead()
        {
            let Judgement { verdict: to, severity, .. } = group.judgement;
            let partition = first.partition.and_then(|place| group.partitions.get(place));
            let partition = partition.map(|partition| (partition.topic.clone(), partition.partition));
            line(since, Happened::Verdict { from, to, severity, reason: first.reason, partition });
        }
        if group.evidence != Evidence::Log
            && let Some((seen, what)) = self.commits_back(group)
        {
            line(seen, what);
        }
        for topic in self.left(group, description) {
            line(now, Happened::TopicLeft { topic });
        }
        lines.into_iter()
    }

    /// The verdict that was told before, if there is another one to tell, and since when it holds.
    fn verdict(&mut self, judgement: &Judgement, now: At) -> Option<(Verdict, At)> {
        let verdict = judgement.verdict;
        // A rebalance has a line of its own; what is not known is no news, unless it is because of a fault.
        let news = match verdict {
            Verdict::Rebalancing if self.told.is_none() => true,
            Verdict::Rebalancing | Verdict::Unknown => judgement.severity == Severity::Critical,
            _ => true,
        };
        if !news || self.told == Some(verdict) {
            self.other = None;
            return None;
        }
        let since = self.other.filter(|(other, _)| *other == verdict).map_or(now, |(_, since)| since);
        self.other = Some((verdict, since));
        if now.since(since) < HOLDS {
            return None;
        }
        self.other = None;
        // The first one is no change: what one look makes of a group, the next ones may correct.
        let told = self.told.replace(verdict)?;
        Some((told, since))
    }

    /// Topics that lost their last subscriber.
    fn left(&mut self, group: &GroupView, description: Option<&Description>) -> Vec<Name> {
        // In a rebalance members are away for a moment.
        let settled = group.state == GroupState::Stable;
        let Some(topics) = description.filter(|_| settled).and_then(subscribed) else { return Vec::new() };
        let all = || topics.iter().copied().cloned().collect();
        let before = self.subscribed.get_or_insert_with(all);
        if topics.iter().copied().eq(before.iter()) {
            return Vec::new();
        }
        let left = before.iter().filter(|topic| !topics.contains(topic)).cloned().collect();
        *before = all();
        left
    }

    /// Commits that were seen moving back since the last look.
    fn commits_back(&mut self, group: &GroupView) -> Option<(At, Happened)> {
        let told = self.back;
        let mut back: Option<Happened> = None;
        for partition in &group.partitions {
            let Some(rewound) = partition.signs.rewound.filter(|rewound| Some(rewound.at) > told) else { continue };
            self.back = self.back.max(Some(rewound.at));
            let moved = rewound.from.abs_diff(rewound.to);
            if let Some(Happened::CommitsBack { partitions, records, .. }) = &mut back {
                *partitions += 1;
                *records = records.saturating_add(moved);
            } else {
                back = Some(Happened::CommitsBack {
                    partitions: 1,
                    records: moved,
                    topic: partition.topic.clone(),
                    partition: partition.partition,
                    from: rewound.from,
                    to: rewound.to,
                });
            }
        }
        self.back.zip(back)
    }
}

/// The changes since number `told` that may change who owns what, a line for each group that they do it to.
pub fn metadata(feed: &[Arc<MetadataLine>], told: u64) -> impl Iterator<Item = Happening> + '_ {
    let new = feed.iter().take_while(move |line| line.change.number > told);
    new.flat_map(|line| {
        let groups = line.groups.iter().filter(|(.., consequence)| consequence.matters());
        let wall = line.change.wall;
        groups.filter_map(move |(group, ..)| {
            let (subject, text) = (line.change.what.subject(), line.change.what.to_string());
            let what = Happened::Metadata { subject, text };
            Some(Happening { group: group.clone(), wall: wall?, log: None, what })
        })
    })
}
