//! What the person asks about the open group, and the group's view under that question. The monitor answers: no figure
//! is computed here.

use super::state::{Screen, State};
use crate::assign::Assignor;
use crate::model::Name;
use crate::monitor::view::{Fit, GroupView};
use crate::monitor::{Question, what_if};

/// The question about a group, and its view under it.
#[derive(Debug)]
pub struct Asked {
    pub question: Question,
    /// `None`: the group is gone, or has no plan.
    view: Option<GroupView>,
}

/// A change of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The next assignor.
    Assignor,
    More,
    Fewer,
    /// The next number of moves that gains something; behind the last one: as many as it takes.
    Moves,
    /// The group as it is.
    Nothing,
}

/// More new members than that are no question of this world.
const MOST_MEMBERS: i32 = 1000;

impl State {
    /// The group of that id as the screen shows it: under the question where it is the open one.
    pub fn group(&self, id: &Name) -> Option<&GroupView> {
        let asked = self.asked.as_ref().and_then(|asked| asked.view.as_ref()).filter(|group| group.id == *id);
        asked.or_else(|| self.view.group(id).map(|group| &**group))
    }

    /// What is asked about the open group, unless it is the group as it is under the usual assignor.
    pub fn question(&self) -> Option<&Question> {
        let usual = Question::of(self.view.assignor);
        self.asked.as_ref().map(|asked| &asked.question).filter(|question| **question != usual)
    }

    /// Opens the question anew, for the group that was opened.
    pub(super) fn ask_anew(&mut self) {
        self.asked = Some(Asked { question: Question::of(self.view.assignor), view: None });
        self.ask_again();
    }

    /// The same question about the newest facts.
    pub(super) fn ask_again(&mut self) {
        let open = self.screens.iter().rev().find_map(|screen| match screen {
            Screen::Group(id) => Some(id.clone()),
            _ => None,
        });
        let Some((id, asked)) = open.zip(self.asked.as_mut()) else {
            self.asked = None;
            return;
        };
        let Some(group) = self.view.group(&id) else {
            asked.view = None;
            return;
        };
        match what_if(group, &asked.question) {
            Ok(view) => asked.view = Some(view),
            // The group has changed so that the question makes no sense any more.
            Err(error) => {
                self.message = Some((format!("{error}: back to the group as it is"), self.now));
                asked.question = Question::of(self.view.assignor);
                asked.view = what_if(group, &asked.question).ok();
            }
        }
    }

    /// Changes the question about the open group; says so where that makes no sense.
    pub(super) fn ask(&mut self, change: Change) {
        let Some(group) = self.open_group() else { return };
        let Some(plan) = &group.plan else {
            self.message = Some(("there is no plan to ask about".to_owned(), self.now));
            return;
        };
        let mut question = plan.question.clone();
        match change {
            Change::Nothing => question = Question::of(self.view.assignor),
            Change::Assignor => {
                question.assignor = next_assignor(group, question.assignor);
                question.max_moves = None;
            }
            Change::More => question.members = (question.members + 1).min(MOST_MEMBERS),
            Change::Fewer => question.members -= 1,
            Change::Moves if question.assignor == Assignor::LagBalanced => {
                let steps = plan.frontier.iter().map(|point| point.moves);
                let most = plan.moves as u32;
                question.max_moves = match question.max_moves {
                    None => steps.min().filter(|least| *least < most),
                    Some(now) => steps.filter(|moves| *moves > now).min(),
                };
            }
            Change::Moves => {
                let only = format!("only lag-balanced can be held to a number of moves, not {}", question.assignor);
                self.message = Some((only, self.now));
                return;
            }
        }
        let Some(id) = self.open_group().map(|group| group.id.clone()) else { return };
        let Some(group) = self.view.group(&id) else { return };
        match what_if(group, &question) {
            Ok(view) => self.asked = Some(Asked { question, view: Some(view) }),
            Err(error) => self.message = Some((error.to_string(), self.now)),
        }
        self.arrange(true);
    }
}

/// The next of those that the group's protocol could use, and of those that nobody ships.
fn next_assignor(group: &GroupView, now: Assignor) -> Assignor {
    let offered = |assignor: &Assignor| {
        let fits = group.basis.as_ref().is_some_and(|basis| basis.fit(*assignor) != Fit::NotThisProtocol);
        fits || !assignor.is_built_in()
    };
    let place = Assignor::ALL.iter().position(|assignor| *assignor == now).map_or(0, |place| place + 1);
    let all = Assignor::ALL.iter().cycle().skip(place).take(Assignor::ALL.len());
    all.copied().find(offered).unwrap_or(now)
}
