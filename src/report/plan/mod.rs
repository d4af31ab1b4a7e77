//! `lagtop plan`: one group's assignment now beside another one, with what a switch costs and gains. The same from a
//! cluster and from a saved input.

pub mod input;
mod json;
mod text;

use crate::model::{Name, name};
use crate::monitor::plan::{Answer, Answered, Question, QuestionError};
use crate::monitor::view::{PlanView, Way};

pub use input::{InputError, Saved};

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    Table,
    Markdown,
    Json,
}

/// The answer to a question about a saved group.
#[derive(Debug)]
pub struct PlanReport<'a> {
    saved: &'a Saved,
    now: Answered,
    answer: Answer,
    way: Option<Way>,
}

/// A partition that changes hands, or is taken by somebody.
struct Moved<'a> {
    topic: &'a Name,
    partition: u32,
    from: Option<&'a Name>,
    to: &'a Name,
}

impl<'a> PlanReport<'a> {
    /// Answers the question.
    ///
    /// # Errors
    /// Where it makes no sense for this group.
    pub fn of(saved: &'a Saved, question: &Question) -> Result<Self, QuestionError> {
        let basis = &saved.basis;
        let answer = basis.answer(question)?;
        Ok(Self { saved, now: basis.now(), way: basis.way(&answer.plan), answer })
    }

    /// The report as text.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn print(&self, format: PlanFormat) -> serde_json::Result<String> {
        Ok(match format {
            PlanFormat::Table => text::print(self, false),
            PlanFormat::Markdown => text::print(self, true),
            PlanFormat::Json => name::safe_json(&serde_json::to_string_pretty(&json::plan(self))?).into_owned() + "\n",
        })
    }

    fn plan(&self) -> &PlanView {
        &self.answer.plan
    }

    /// In the order of topics and partitions.
    fn moves(&self) -> Vec<Moved<'_>> {
        let input = &self.saved.basis.input;
        let mut before: Vec<Vec<Option<&Name>>> =
            input.topics.iter().map(|topic| vec![None; topic.count() as usize]).collect();
        let present = input.members.iter().map(|member| (&member.id, &member.owned));
        for (id, owned) in present.chain(input.departed.iter().map(|gone| (&gone.id, &gone.owned))) {
            for tp in owned.iter().filter(|tp| input.exists(**tp)) {
                before[tp.topic as usize][tp.partition as usize] = Some(id);
            }
        }
        let mut moves = Vec::new();
        for (place, topic) in input.topics.iter().enumerate() {
            // A question may want more partitions than there are.
            for partition in 0..self.answer.partitions(place) as u32 {
                let owner = self.answer.owner(place, partition as i32);
                let Some(to) = owner.and_then(|owner| self.plan().members.get(owner)) else { continue };
                let from = before[place].get(partition as usize).copied().flatten();
                if from != Some(&to.id) {
                    moves.push(Moved { topic: &topic.name, partition, from, to: &to.id });
                }
            }
        }
        moves
    }
}
