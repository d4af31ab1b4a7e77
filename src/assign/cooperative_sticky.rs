//! `cooperative-sticky`: the client-side `CooperativeStickyAssignor` of Kafka 4.4 (KIP-429).
//!
//! It deals as [`super::sticky`] does and then withholds every partition that a member gets while another still has it;
//! those follow in the next rebalance, which begins at once. [`assign`] gives where that ends, [`round`] one rebalance.

use super::assignment::Assignment;
use super::assignor::AssignError;
use super::input::{GroupInput, MemberInput};
use super::sticky;

/// Rebalances after which [`assign`] stops; without racks two are enough, with racks three have been seen.
const MAX_ROUNDS: usize = 8;

/// The assignment after all rebalances that the first one starts.
///
/// # Errors
/// [`AssignError::NoMembers`], as the Java class throws.
pub fn assign(group: &GroupInput) -> Result<Assignment, AssignError> {
    let mut plan = round(group)?;
    if plan.1 == 0 {
        return Ok(plan.0);
    }
    let mut next = group.clone();
    let newest = group.members.iter().filter_map(generation).max().unwrap_or(0);
    for later in 1..MAX_ROUNDS {
        for (member, owned) in next.members.iter_mut().zip(plan.0.members) {
            member.owned = owned;
            member.generation = Some(newest.saturating_add(later as i32));
        }
        plan = round(&next)?;
        if plan.1 == 0 {
            break;
        }
    }
    Ok(plan.0)
}

/// The assignment after one rebalance, and the number of partitions withheld from it.
///
/// # Errors
/// [`AssignError::NoMembers`], as the Java class throws.
pub fn round(group: &GroupInput) -> Result<(Assignment, usize), AssignError> {
    let dealt = sticky::deal(group, generation)?;
    let mut plan = dealt.plan;
    let mut withheld = dealt.changing_hands;
    if withheld.is_empty() {
        return Ok((plan, 0));
    }
    withheld.sort_unstable();
    for partitions in &mut plan.members {
        partitions.retain(|tp| withheld.binary_search(tp).is_err());
    }
    Ok((plan, withheld.len()))
}

/// The subscription's own generation; clients before Kafka 3.5 have it in the user data.
fn generation(member: &MemberInput) -> Option<i32> {
    member.generation.or(member.user_data_generation)
}
