//! From a [`Basis`] and a [`Question`] to a [`PlanView`].

use std::borrow::Cow;
use std::collections::HashMap;

use super::view::{DrainView, Fit, MemberChange, PlanView, PlannedMember};
use super::{Basis, Question, QuestionError, ways};
use crate::assign::lag_balanced::{self, FrontierPoint};
use crate::assign::metrics::Metrics;
use crate::assign::moves::{Moves, Owner};
use crate::assign::{Assignment, Assignor, GroupInput, Protocol, whatif};
use crate::health::{Forecast, MemberForecast};
use crate::model::Name;

/// A plan, and who has what under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub plan: PlanView,
    /// For each topic of the basis and each partition its owner: a place in [`PlanView::members`].
    owners: Vec<Vec<Option<u32>>>,
}

impl Answer {
    /// Partitions of a topic of the basis, those that the question adds with them.
    pub fn partitions(&self, topic: usize) -> usize {
        self.owners.get(topic).map_or(0, Vec::len)
    }

    /// Who gets a partition of a topic of the basis: a place in [`PlanView::members`].
    pub fn owner(&self, topic: usize, partition: i32) -> Option<usize> {
        let owner = *self.owners.get(topic)?.get(usize::try_from(partition).ok()?)?;
        owner.map(|owner| owner as usize)
    }
}

/// The current assignment, judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    pub metrics: Metrics,
    pub drains: DrainView,
    /// Of each member of the basis.
    pub members: Vec<MemberForecast>,
}

impl Basis {
    /// The current assignment; nothing in it: a rebalance, or no topics.
    pub fn current(&self) -> Assignment {
        Assignment::current(&self.input)
    }

    /// The current assignment, judged.
    pub fn now(&self) -> Answered {
        let current = self.current();
        let forecast = self.pace.forecast(&self.input, &current, 0);
        Answered {
            metrics: Metrics::of(&self.input, &current),
            drains: DrainView::of(&forecast, None),
            members: forecast.members,
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// Where the question makes no sense for this group.
    pub fn answer(&self, question: &Question) -> Result<Answer, QuestionError> {
        if question.max_moves.is_some() && question.assignor != Assignor::LagBalanced {
            return Err(QuestionError::MaxMoves(question.assignor));
        }
        let asked = self.asked(question)?;
        let (assignment, mut frontier) = assign(&asked, question)?;
        let moves = Moves::between(&asked, &assignment);
        for point in &mut frontier {
            point.moves += moves.forced.len() as u32;
        }
        let metrics = Metrics::of(&asked, &assignment);
        let forecast = self.pace.forecast(&asked, &assignment, moves.count());
        let members = self.members(&asked, &metrics, &forecast, &moves);
        let places: HashMap<&Name, usize> =
            members.iter().enumerate().map(|(place, member)| (&member.id, place)).collect();
        let place = |member: usize| places.get(&asked.members[member].id).copied();
        let mut owners: Vec<Vec<Option<u32>>> =
            asked.topics.iter().map(|topic| vec![None; topic.count() as usize]).collect();
        for (member, held) in assignment.members.iter().enumerate() {
            let owner = place(member).map(|place| place as u32);
            for tp in held {
                owners[tp.topic as usize][tp.partition as usize] = owner;
            }
        }
        let rebalance = self.pace.rebalance.filter(|_| moves.count() > 0);
        let mut drains = DrainView::of(&forecast, rebalance);
        drains.last = drains.last.and_then(place);
        let plan = PlanView {
            assignor: question.assignor,
            question: question.clone(),
            notes: ways::notes(question.assignor, &asked, &metrics, self.protocol),
            fit: self.fit(question.assignor),
            hash_order: question.assignor.depends_on_hash_order(),
            moves: moves.count(),
            forced: moves.forced.len(),
            assumptions: self.assumptions_of(question, &drains),
            members,
            metrics,
            drains,
            frontier,
        };
        Ok(Answer { plan, owners })
    }

    /// Whether the group could use an assignor.
    pub fn fit(&self, assignor: Assignor) -> Fit {
        match self.protocol {
            Some(protocol) if !assignor.protocols().contains(&protocol) => Fit::NotThisProtocol,
            None => Fit::NotThisProtocol,
            Some(_) if assignor.is_built_in() => Fit::BuiltIn,
            Some(_) => Fit::OwnClass,
        }
    }

    /// The group as the question wants it.
    fn asked(&self, question: &Question) -> Result<GroupInput, QuestionError> {
        let mut asked = self.input.clone();
        for id in &question.without {
            asked = whatif::without_member(&asked, id.raw())?;
        }
        for (topic, count) in &question.partitions {
            asked = whatif::with_partitions(&asked, topic.raw(), *count)?;
        }
        let by = question.members.unsigned_abs() as usize;
        Ok(match question.members {
            ..0 => whatif::with_fewer_members(&asked, by)?,
            0 => asked,
            _ => whatif::with_more_members(&asked, by),
        })
    }

    /// Everybody in the basis, then the new ones.
    fn members(&self, asked: &GroupInput, metrics: &Metrics, forecast: &Forecast, moves: &Moves) -> Vec<PlannedMember> {
        let mut gained = vec![0; asked.members.len()];
        let mut lost = vec![0; asked.members.len()];
        let mut departed = vec![0; asked.departed.len()];
        for moved in moves.voluntary.iter().chain(&moves.forced) {
            gained[moved.to as usize] += 1;
            match moved.from {
                Owner::Member(from) => lost[from as usize] += 1,
                Owner::Departed(from) => departed[from as usize] += 1,
            }
        }
        for (_, to) in &moves.taken {
            gained[*to as usize] += 1;
        }
        let mut known: HashMap<&Name, PlannedMember> = HashMap::with_capacity(asked.members.len());
        let all = asked.members.iter().zip(&metrics.loads).zip(&forecast.members).enumerate();
        for (place, ((member, load), drain)) in all {
            let planned = PlannedMember {
                id: member.id.clone(),
                presence: MemberChange::New,
                partitions: load.partitions as usize,
                lag: load.lag,
                gained: gained[place],
                lost: lost[place],
                drain: *drain,
            };
            known.insert(&member.id, planned);
        }
        let lost_by =
            |id: &Name| asked.departed.iter().position(|gone| gone.id == *id).map_or(0, |gone| departed[gone]);
        let mut members: Vec<PlannedMember> = Vec::with_capacity(known.len());
        for member in &self.input.members {
            members.push(match known.remove(&member.id) {
                Some(planned) => PlannedMember { presence: MemberChange::Stays, ..planned },
                None => PlannedMember {
                    id: member.id.clone(),
                    presence: MemberChange::Leaves,
                    lost: lost_by(&member.id),
                    ..PlannedMember::default()
                },
            });
        }
        members.extend(asked.members.iter().filter_map(|member| known.remove(&member.id)));
        members
    }

    fn assumptions_of(&self, question: &Question, drains: &DrainView) -> Vec<String> {
        let mut assumptions = self.assumptions.clone();
        if drains.group.assumed {
            let DrainView { measured, of, .. } = drains;
            assumptions.push(format!(
                "members never seen with a backlog do as much as the median of the others ({measured} of {of} measured)"
            ));
        }
        if question.members > 0 {
            assumptions.push("new members subscribe to what most members do".to_owned());
        }
        if !question.partitions.is_empty() {
            assumptions.push("new partitions are empty, and nothing comes there yet".to_owned());
        }
        assumptions
    }
}

/// Runs the assignor. A coordinator leaves names of topics that do not exist out of a subscription.
fn assign(asked: &GroupInput, question: &Question) -> Result<(Assignment, Vec<FrontierPoint>), QuestionError> {
    if question.assignor == Assignor::LagBalanced {
        let plan = lag_balanced::plan(asked, question.max_moves);
        return Ok((plan.assignment, plan.frontier));
    }
    let by_client = question.assignor.protocols().contains(&Protocol::Classic);
    let missing = |topic: &u32| asked.topics.get(*topic as usize).is_none_or(|topic| topic.partitions.is_none());
    let asked = if by_client || !asked.members.iter().flat_map(|member| &member.topics).any(missing) {
        Cow::Borrowed(asked)
    } else {
        let mut existing = asked.clone();
        for member in &mut existing.members {
            member.topics.retain(|topic| !missing(topic));
        }
        Cow::Owned(existing)
    };
    Ok((question.assignor.assign(&asked)?, Vec::new()))
}
