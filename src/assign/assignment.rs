//! [`Assignment`]: which member gets which partitions. Says nothing about why or what it costs.

use super::input::{GroupInput, TopicPartition};

/// For each member of the [`GroupInput`] (same place) the partitions it gets, in the order they were handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub members: Vec<Vec<TopicPartition>>,
}

impl Assignment {
    /// Nothing for any of `members` members.
    pub fn empty(members: usize) -> Self {
        Self { members: vec![Vec::new(); members] }
    }

    /// What the group has now; partitions that do not exist are left out.
    pub fn current(group: &GroupInput) -> Self {
        let existing = |owned: &[TopicPartition]| owned.iter().copied().filter(|&tp| group.exists(tp)).collect();
        Self { members: group.members.iter().map(|member| existing(&member.owned)).collect() }
    }

    /// Number of partitions handed out; a partition that is shared counts once for each member.
    pub fn len(&self) -> usize {
        self.members.iter().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.members.iter().all(Vec::is_empty)
    }

    /// The same with each member's partitions sorted by topic (place) and partition: for comparing.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for partitions in &mut self.members {
            partitions.sort_unstable();
        }
        self
    }
}
