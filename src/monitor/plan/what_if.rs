//! A group's view under another question than the standing one.

use super::{Question, QuestionError};
use crate::monitor::view::{GroupView, MemberChange, MemberView};

/// The group's view with the answer to `question` as its plan. New members stand behind the others; those that leave
/// stay in the list and hold nothing under the plan.
///
/// # Errors
/// Where the question makes no sense for this group. A group without a plan is returned as it is.
pub fn what_if(group: &GroupView, question: &Question) -> Result<GroupView, QuestionError> {
    let Some(basis) = group.basis.clone() else { return Ok(group.clone()) };
    let answer = basis.answer(question)?;
    let mut asked = group.clone();
    // Topics of the basis are those of the partitions, in their order.
    for (topic, same_topic) in asked.partitions.chunk_by_mut(|a, b| a.topic == b.topic).enumerate() {
        for partition in same_topic {
            partition.planned = answer.owner(topic, partition.partition);
        }
    }
    for member in answer.plan.members.iter().filter(|member| member.presence == MemberChange::New) {
        asked.members.push(MemberView { id: member.id.clone(), partitions: Some(Vec::new()), ..MemberView::default() });
    }
    asked.way = basis.way(&answer.plan);
    asked.plan = Some(answer.plan);
    Ok(asked)
}
