//! [`Claims`]: which member owns which partition before a sticky assignor begins, where members contradict each other.

use super::super::flat::Flat;
use super::super::input::{GroupInput, MemberInput};
use super::super::java_hash::{DEFAULT_CAPACITY, iteration_order, string_hash};

const NOBODY: u32 = u32::MAX;

/// The outcome of all claims. Partitions are flat numbers; those that do not exist claim nothing.
pub(super) struct Claims {
    /// For each member what it owns, in the order of its own list.
    pub(super) owned: Vec<Vec<u32>>,
    /// Partitions that two members claim for the same generation: nobody owns them.
    pub(super) disputed: Vec<bool>,
    /// For each partition the member that had it in an older generation, if any.
    pub(super) previous: Vec<Option<u32>>,
}

/// Members in the order of the hash tables in which the Java classes keep them.
pub(super) fn hash_order(group: &GroupInput) -> Vec<u32> {
    let hashes: Vec<i32> = group.members.iter().map(|member| string_hash(member.id.raw())).collect();
    iteration_order(&hashes, DEFAULT_CAPACITY)
}

impl Claims {
    /// Settles the claims of `members` (all, in the order in which they are heard). The higher generation wins; the same
    /// generation leaves nobody as owner. `generation` is that of the claim being heard; the one it is compared with is
    /// always [`MemberInput::generation`], as in Java, so of two old clients the later in hash order wins.
    pub(super) fn of(
        group: &GroupInput,
        flat: &Flat,
        members: &[u32],
        generation: impl Fn(&MemberInput) -> Option<i32>,
    ) -> Self {
        let mut owned = vec![Vec::new(); group.members.len()];
        let mut disputed = vec![false; flat.len()];
        let mut claimant = vec![NOBODY; flat.len()];
        let mut lost = Vec::new();
        for &place in members {
            let member = &group.members[place as usize];
            let mine = generation(member).unwrap_or(-1);
            for &tp in &member.owned {
                let Some(number) = flat.number(tp) else { continue };
                let other = std::mem::replace(&mut claimant[number as usize], place);
                if other == NOBODY {
                    owned[place as usize].push(number);
                    continue;
                }
                let theirs = group.members[other as usize].generation.unwrap_or(-1);
                if mine < theirs {
                    claimant[number as usize] = other;
                    continue;
                }
                lost.push((other, number));
                if mine == theirs {
                    disputed[number as usize] = true;
                } else {
                    owned[place as usize].push(number);
                }
            }
        }
        for (member, number) in lost {
            owned[member as usize].retain(|&owned| owned != number);
        }
        let previous = previous_owners(group, flat, members, generation);
        Self { owned, disputed, previous }
    }
}

/// Who had a partition in an older generation than the newest; of several the latest.
fn previous_owners(
    group: &GroupInput,
    flat: &Flat,
    members: &[u32],
    generation: impl Fn(&MemberInput) -> Option<i32>,
) -> Vec<Option<u32>> {
    let newest = group.members.iter().filter_map(&generation).max().unwrap_or(-1);
    let mut previous: Vec<Option<u32>> = vec![None; flat.len()];
    let mut since = vec![i32::MIN; flat.len()];
    for &place in members {
        let member = &group.members[place as usize];
        let mine = generation(member).unwrap_or(-1);
        if mine >= newest {
            continue;
        }
        for number in member.owned.iter().filter_map(|&tp| flat.number(tp)) {
            if previous[number as usize].is_none() || mine > since[number as usize] {
                previous[number as usize] = Some(place);
                since[number as usize] = mine;
            }
        }
    }
    previous
}
