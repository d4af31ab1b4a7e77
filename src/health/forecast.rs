//! When the lag will be gone, now and under a plan: for each member its lag ÷ (what it can do − what it gets).
//!
//! What a member can do is the most that it was ever seen to do while it had a backlog. Of a member that never had one
//! it is assumed: the median of those that had. Nothing is guessed where none had, or where it is not known how fast
//! records come: that is `unknown`.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

use crate::assign::{Assignment, GroupInput, TopicPartition};
use crate::model::Name;

/// How fast a group is, in the terms of its [`GroupInput`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    /// For each topic and partition: records written per second; `None`: not known.
    pub written: Vec<Vec<Option<f64>>>,
    /// For each topic and partition: records that are behind, those on their way between two commits left out.
    pub backlog: Vec<Vec<u64>>,
    /// Of the members that were seen with a backlog: records per second that they can do.
    pub capacity: BTreeMap<Name, f64>,
    /// How long a rebalance takes: the median of those known.
    pub rebalance: Option<Duration>,
}

/// When a lag will be gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Drain {
    /// There is no backlog.
    Done,
    In(Duration),
    /// More comes than was ever consumed.
    Never,
    #[default]
    Unknown,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberForecast {
    pub drain: Drain,
    /// What it can do is assumed: the drain is an estimate.
    pub assumed: bool,
}

/// What becomes of the lag under an assignment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    /// Same places as in the group.
    pub members: Vec<MemberForecast>,
    /// The last member's, with the time that a rebalance takes if one is needed.
    pub group: MemberForecast,
    /// The member that decides it.
    pub last: Option<usize>,
    /// A partition with a backlog that nobody holds.
    pub unheld: Option<TopicPartition>,
    /// Members whose capacity was measured.
    pub measured: usize,
}

/// No forecast is longer than that; it would be one of never.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Pace {
    /// Records per second written to a partition. To one that does not exist yet: none.
    fn written(&self, tp: TopicPartition) -> Option<f64> {
        let topic = self.written.get(tp.topic as usize);
        topic.and_then(|topic| topic.get(tp.partition as usize)).copied().unwrap_or(Some(0.0))
    }

    fn backlog(&self, tp: TopicPartition) -> u64 {
        let topic = self.backlog.get(tp.topic as usize);
        topic.and_then(|topic| topic.get(tp.partition as usize)).copied().unwrap_or(0)
    }

    /// The median of what was measured.
    fn typical(&self) -> Option<f64> {
        median(self.capacity.values().copied().collect())
    }

    /// What becomes of the lag if `group` has the assignment `plan`, and `moves` partitions change hands for it.
    pub fn forecast(&self, group: &GroupInput, plan: &Assignment, moves: usize) -> Forecast {
        let typical = self.typical();
        let mut forecast = Forecast { unheld: self.unheld(group, plan), ..Forecast::default() };
        for (member, held) in group.members.iter().zip(&plan.members) {
            let own = self.capacity.get(&member.id).copied();
            forecast.measured += usize::from(own.is_some());
            let drain = self.drain(held, own.or(typical));
            let assumed = own.is_none() && matches!(drain, Drain::In(_) | Drain::Never);
            forecast.members.push(MemberForecast { drain, assumed });
        }
        let longest = forecast.members.iter().enumerate().max_by_key(|(place, member)| {
            let (kind, time) = match member.drain {
                Drain::Done => (0, Duration::ZERO),
                Drain::In(time) => (1, time),
                Drain::Unknown => (2, Duration::ZERO),
                Drain::Never => (3, Duration::ZERO),
            };
            // Of equals the first, and one that is measured before one that is assumed.
            (kind, time, !member.assumed, std::cmp::Reverse(*place))
        });
        let Some((place, last)) = longest else { return forecast };
        forecast.group = *last;
        forecast.last = (last.drain != Drain::Done).then_some(place);
        match (&mut forecast.group.drain, forecast.unheld) {
            (Drain::In(time), None) if moves > 0 => *time += self.rebalance.unwrap_or_default(),
            (drain @ (Drain::Done | Drain::In(_)), Some(_)) => {
                *drain = Drain::Unknown;
                forecast.last = None;
            }
            _ => {}
        }
        // One estimate among them may be the last one in truth.
        forecast.group.assumed |=
            matches!(forecast.group.drain, Drain::In(_)) && forecast.members.iter().any(|member| member.assumed);
        forecast
    }

    fn drain(&self, held: &[TopicPartition], capacity: Option<f64>) -> Drain {
        let backlog = held.iter().fold(0u64, |sum, tp| sum.saturating_add(self.backlog(*tp)));
        if backlog == 0 {
            return Drain::Done;
        }
        let written: Option<f64> = held.iter().map(|tp| self.written(*tp)).sum();
        let (Some(capacity), Some(written)) = (capacity, written) else { return Drain::Unknown };
        if capacity <= written {
            return Drain::Never;
        }
        let time = Duration::try_from_secs_f64(backlog as f64 / (capacity - written)).unwrap_or(Duration::MAX);
        if time > LONGEST { Drain::Never } else { Drain::In(time) }
    }

    /// The first partition with a backlog that somebody subscribes to and nobody has.
    fn unheld(&self, group: &GroupInput, plan: &Assignment) -> Option<TopicPartition> {
        let held: HashSet<&TopicPartition> = plan.members.iter().flatten().collect();
        let topics = self.backlog.iter().enumerate().filter(|(_, topic)| topic.iter().any(|backlog| *backlog > 0));
        let all = topics.flat_map(|(topic, partitions)| {
            let behind = partitions.iter().enumerate().filter(|(_, backlog)| **backlog > 0);
            behind.map(move |(number, _)| TopicPartition { topic: topic as u32, partition: number as u32 })
        });
        let read = |topic: u32| group.members.iter().any(|member| member.topics.contains(&topic));
        all.into_iter().find(|tp| !held.contains(tp) && group.exists(*tp) && read(tp.topic))
    }
}

impl fmt::Display for Drain {
    /// `0s`, `48s`, `2m10s`, `14m`, `6h05m`, `never`, `unknown`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = match self {
            Self::Done => return f.pad("0s"),
            Self::Never => return f.pad("never"),
            Self::Unknown => return f.pad("unknown"),
            Self::In(time) => time,
        };
        // Rounded up: it is not over before.
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        let minutes = seconds / 60;
        f.pad(&match seconds {
            0..60 => format!("{seconds}s"),
            60..600 if seconds.is_multiple_of(60) => format!("{minutes}m"),
            60..600 => format!("{minutes}m{:02}s", seconds % 60),
            600..3600 => format!("{minutes}m"),
            3600..86_400 => format!("{}h{:02}m", minutes / 60, minutes % 60),
            _ => format!("{}d{}h", minutes / 1440, minutes % 1440 / 60),
        })
    }
}

impl fmt::Display for MemberForecast {
    /// The drain; `~` before an estimate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.assumed { f.pad(&format!("~{}", self.drain)) } else { self.drain.fmt(f) }
    }
}

/// The middle one; of two the mean.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values.get((values.len() - 1) / 2).copied().unwrap_or(upper);
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::{MemberInput, TopicInput};

    fn tp(partition: u32) -> TopicPartition {
        TopicPartition { topic: 0, partition }
    }

    /// Members a, b, … each with the partition of its place.
    fn group(backlog: &[u64]) -> (GroupInput, Assignment) {
        let member = |place: u32| MemberInput {
            id: Name::new(char::from(b'a' + place as u8).to_string()),
            topics: vec![0],
            owned: vec![tp(place)],
            ..MemberInput::default()
        };
        let topic = TopicInput { partitions: Some(backlog.len() as u32), ..TopicInput::default() };
        let group = GroupInput {
            members: (0..backlog.len() as u32).map(member).collect(),
            topics: vec![topic],
            ..GroupInput::default()
        };
        let now = Assignment::current(&group);
        (group, now)
    }

    fn pace(backlog: &[u64], written: &[Option<f64>], capacity: &[(&str, f64)]) -> Pace {
        Pace {
            written: vec![written.to_vec()],
            backlog: vec![backlog.to_vec()],
            capacity: capacity.iter().map(|(id, rate)| ((*id).into(), *rate)).collect(),
            rebalance: Some(Duration::from_secs(3)),
        }
    }

    fn seconds(seconds: u64) -> Drain {
        Drain::In(Duration::from_secs(seconds))
    }

    #[test]
    fn lag_over_spare_capacity() {
        let backlog = [600, 0, 100];
        let (group, now) = group(&backlog);
        let pace = pace(&backlog, &[Some(40.0), None, Some(10.0)], &[("a", 50.0), ("c", 20.0)]);
        let forecast = pace.forecast(&group, &now, 0);
        let drains: Vec<Drain> = forecast.members.iter().map(|member| member.drain).collect();
        assert_eq!(drains, [seconds(60), Drain::Done, seconds(10)]);
        assert_eq!((forecast.group.drain, forecast.group.assumed), (seconds(60), false));
        assert_eq!((forecast.last, forecast.measured), (Some(0), 2));
        assert_eq!(pace.forecast(&group, &now, 1).group.drain, seconds(63), "a rebalance comes first");
    }

    #[test]
    fn who_gets_as_much_as_it_can_do_never_ends() {
        let (group, now) = group(&[600]);
        let drain = |written| pace(&[600], &[Some(written)], &[("a", 50.0)]).forecast(&group, &now, 0).group.drain;
        assert_eq!(drain(49.0), seconds(600));
        assert_eq!(drain(50.0), Drain::Never);
        assert_eq!(drain(51.0), Drain::Never);
        assert_eq!(drain(50.0 - 1e-9), Drain::Never, "in a hundred years");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let backlog = [600, 600];
        let (group, now) = group(&backlog);
        let nobody = pace(&backlog, &[Some(0.0), Some(0.0)], &[]).forecast(&group, &now, 0);
        assert_eq!((nobody.group.drain, nobody.group.assumed, nobody.measured), (Drain::Unknown, false, 0));
        let unwatched = pace(&backlog, &[None, Some(0.0)], &[("a", 60.0)]).forecast(&group, &now, 0);
        assert_eq!((unwatched.members[0].drain, unwatched.members[1].drain), (Drain::Unknown, seconds(10)));
        assert_eq!((unwatched.group.drain, unwatched.last), (Drain::Unknown, Some(0)));
        // What is certain to last is told before what is not known.
        let never = pace(&backlog, &[None, Some(61.0)], &[("a", 60.0)]).forecast(&group, &now, 0);
        assert_eq!((never.group.drain, never.last), (Drain::Never, Some(1)));
    }

    #[test]
    fn without_a_backlog_of_its_own_the_median_is_assumed() {
        let backlog = [100, 100, 100];
        let (mut group, now) = group(&backlog);
        let pace = pace(&backlog, &[Some(0.0); 3], &[("a", 10.0), ("b", 30.0)]);
        let forecast = pace.forecast(&group, &now, 0);
        assert_eq!(forecast.members[2], MemberForecast { drain: seconds(5), assumed: true });
        assert_eq!(forecast.members[0], MemberForecast { drain: seconds(10), assumed: false });
        assert_eq!(forecast.group, MemberForecast { drain: seconds(10), assumed: true });
        assert_eq!(forecast.measured, 2);
        // Nothing to do needs no assumption.
        group.members.truncate(1);
        let one = Assignment { members: vec![Vec::new()] };
        assert_eq!(pace.forecast(&group, &one, 0).members[0], MemberForecast { drain: Drain::Done, assumed: false });
    }

    #[test]
    fn a_backlog_that_nobody_holds_has_no_end_in_sight() {
        let (group, _) = group(&[0, 600]);
        let pace = pace(&[0, 600], &[Some(0.0), Some(0.0)], &[("a", 10.0)]);
        let half = Assignment { members: vec![vec![tp(0)], Vec::new()] };
        let forecast = pace.forecast(&group, &half, 0);
        assert_eq!((forecast.group.drain, forecast.unheld), (Drain::Unknown, Some(tp(1))));
    }

    #[test]
    fn drains_are_short_words() {
        let cases = [(1, "1s"), (59, "59s"), (60, "1m"), (130, "2m10s"), (599, "9m59s"), (840, "14m"), (899, "14m")];
        for (time, written) in cases {
            assert_eq!(seconds(time).to_string(), written);
        }
        assert_eq!(seconds(6 * 3600 + 300).to_string(), "6h05m");
        assert_eq!(seconds(100 * 3600).to_string(), "4d4h");
        assert_eq!(Drain::In(Duration::from_millis(1)).to_string(), "1s");
        let estimate = MemberForecast { drain: Drain::Never, assumed: true };
        assert_eq!((estimate.to_string(), format!("{:>6}", Drain::Done)), ("~never".into(), "    0s".into()));
    }

    #[test]
    fn an_empty_group_has_no_forecast() {
        assert_eq!(Pace::default().forecast(&GroupInput::default(), &Assignment::default(), 0), Forecast::default());
    }
}
