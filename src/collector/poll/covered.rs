//! Telling the groups that the coordinator log covers, and how far it was read. Groups that it does not cover (yet, or for
//! now) are asked by admin calls.

use super::Poller;
use super::groups::leave_out;
use crate::frame::order::History;
use crate::model::{Description, Evidence, Group, GroupKind, LogProgress, Name, Scope};

impl Poller {
    /// Tells the groups that the log changed, where it covers them, and follows kinds that it alone knows. `commits`:
    /// what they committed, too; that is for a poll, which reads the log ends afterwards, so that no commit is ever
    /// ahead of an end that was read before it.
    pub fn tell_log(&mut self, commits: bool) {
        let dirty = self.tail.state.take_dirty(commits);
        let deleted = self.tail.state.take_deleted();
        let gone = |group: &&Name| deleted.contains(*group) && self.tail.state.gap(group).is_none();
        let gone: Vec<&Name> = dirty.iter().filter(gone).filter(|group| self.tracked.contains_key(*group)).collect();
        for group in &gone {
            self.listed.remove(*group);
            self.unlisted.remove(*group);
        }
        if !gone.is_empty() || dirty.iter().any(|group| !self.tracked.contains_key(group)) {
            self.track();
        }
        let share_partitions = self.tail.share_partitions();
        for group in dirty {
            if !self.tracked.contains_key(&group) {
                continue;
            }
            let (kind, now) = (self.kind_of(&group), self.clock.now());
            // The log of share groups is another one.
            let share = self.tail.state.share(&group, share_partitions, now);
            if let Some(share) = share.filter(|_| commits && kind == GroupKind::Share) {
                self.news_of(&group).share = Some(share);
            }
            if !self.tail.state.covers(&group) {
                self.mark_gap(&group);
                continue;
            }
            for what in ["state and members", "commits", "commits of some partitions"] {
                self.problems.cleared(Scope::Group(group.clone()), what);
            }
            let facts = self.tail.state.facts(&group, self.listed_state(&group));
            let Some((mut description, mut committed)) = facts else { continue };
            leave_out(&mut description, &self.selection);
            committed.topics.retain(|topic, _| self.selection.topic(topic));
            if description.assignor.is_none() && self.kind_of(&group) == GroupKind::Consumer {
                description.assignor = self.default_assignor.clone().or_else(|| self.assignors.get(&group).cloned());
            }
            let known = self.known.groups.get(&group);
            let stored = known.and_then(|known| known.description.as_ref()).map(|known| known.stored_hash);
            self.hash_changed |= stored.is_some_and(|stored| stored != description.stored_hash);
            let same_description = known.is_some_and(|known| known.description.as_ref() == Some(&description));
            let same_commits = known.is_some_and(|known| known.commits.as_ref() == Some(&committed));
            let news = self.news.groups.entry(group.clone()).or_default();
            news.kind = kind;
            news.described_at = Some(now);
            if !same_description || news.description.is_some() {
                news.description = Some(description);
            }
            if commits {
                news.commits_at = Some(now);
                if !same_commits || news.commits.is_some() {
                    news.commits = Some(committed);
                }
            }
            if let Some(tracked) = self.tracked.get_mut(&group) {
                tracked.seen = true;
            }
        }
    }

    /// What the log told of a group is not what is true now: the facts stay, marked, until an admin call tells better.
    fn mark_gap(&mut self, group: &Name) {
        let Some(gap) = self.tail.state.gap(group) else { return };
        let told = self.newest(|facts| facts.groups.get(group)?.description.as_ref());
        let Some(told) = told else { return };
        // Without a reader there is no gap in what it says.
        let marks = told.evidence == Evidence::Log || self.tail.groups.is_some();
        if marks && told.log_gap != Some(gap) {
            let marked = Description { log_gap: Some(gap), ..told.clone() };
            let kind = self.kind_of(group);
            let news = self.news.groups.entry(group.clone()).or_default();
            news.kind = kind;
            news.description = Some(marked);
        }
    }

    /// Members and commits of every group that the log covers were told, and by the log: what admin calls said before it
    /// caught up has no epochs and no history.
    pub(super) fn covered_are_told(&self) -> bool {
        let mut covered = self.tracked.keys().filter(|group| self.tail.state.covers(group));
        covered.all(|group| is_told([&self.news, &self.known].map(|facts| facts.groups.get(group))))
    }

    /// How far the log was read, if that is news.
    pub(super) fn tell_log_progress(&mut self) {
        use std::sync::atomic::Ordering::Relaxed;
        let Some(reading) = &self.tail.groups else { return };
        let (partitions, caught_up, held) = self.tail.state.progress();
        let counts = &reading.counts;
        let observed_at = self.tail.heard.unwrap_or_else(|| self.clock.now());
        let progress = LogProgress {
            observed_at,
            shares_at: self.tail.shares_are_read().then_some(observed_at),
            partitions,
            caught_up,
            held,
            whole: reading.plan.whole,
            skipped: u64::try_from(reading.plan.skipped).unwrap_or(0),
            history_ms: match self.tail.settings.history {
                History::All => None,
                History::Last(millis) => Some(millis),
            },
            next: self.tail.state.resume(),
            read: counts.read.load(Relaxed),
            dropped: counts.dropped.load(Relaxed),
            unknown: counts.unknown.load(Relaxed),
            damaged: counts.damaged.load(Relaxed),
            decoding_ms: counts.decoding.load(Relaxed) / 1_000_000,
        };
        self.news.log = Some(progress);
    }

    /// Groups that the log covers are as fresh as the log: their topics' ends are due in every poll.
    pub(super) fn answer_covered(&mut self) {
        let covered = self.tracked.keys().filter(|group| self.tail.state.covers(group));
        self.answered.extend(covered.cloned());
    }
}

/// Whether the log told a group: `newest` are the facts of this poll and those before.
fn is_told(newest: [Option<&Group>; 2]) -> bool {
    let mut facts = newest.into_iter().flatten();
    facts.clone().find_map(|group| group.description.as_ref()).is_some_and(Description::follows_log)
        && facts.any(|group| group.commits_at.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{At, LogGap};

    #[test]
    fn what_admin_calls_said_is_not_told_by_the_log() {
        let group = |evidence, log_gap| Group {
            description: Some(Description { evidence, log_gap, ..Description::default() }),
            commits_at: Some(At(1)),
            ..Group::default()
        };
        let admin = group(Evidence::Admin, Some(LogGap::CatchingUp));
        let log = group(Evidence::Log, None);
        // Commits alone: the description is the one before.
        let commits = Group { description: None, ..log.clone() };
        assert!(!is_told([None, None]) && !is_told([None, Some(&admin)]) && !is_told([Some(&commits), Some(&admin)]));
        assert!(!is_told([Some(&admin), Some(&log)]));
        assert!(is_told([None, Some(&log)]) && is_told([Some(&log), Some(&admin)]));
        assert!(is_told([Some(&commits), Some(&log)]));
    }
}
