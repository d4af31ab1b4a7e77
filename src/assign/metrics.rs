//! [`Metrics`]: how even an assignment is, in partitions and in lag. Judges; assigns nothing.

use serde::Serialize;

use super::assignment::Assignment;
use super::input::GroupInput;

/// What one member has under an assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Load {
    pub partitions: u32,
    /// Lag of those partitions, in records.
    pub lag: u64,
}

/// How even an assignment is. Ratios are `None` where there is nothing to divide by.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// For each member (same place as in the group) what it has.
    pub loads: Vec<Load>,
    /// Lag of all partitions handed out.
    pub total_lag: u64,
    /// Lag of the member that has most of it.
    pub largest_lag: u64,
    /// Largest member lag ÷ mean member lag.
    pub lag_over_mean: Option<f64>,
    /// Most partitions of a member ÷ mean.
    pub partitions_over_mean: Option<f64>,
    /// Coefficient of variation (population standard deviation ÷ mean) of the members' lag.
    pub lag_variation: Option<f64>,
    /// The same of the members' partition counts.
    pub partitions_variation: Option<f64>,
    /// Members without a partition.
    pub idle: usize,
    /// No assignment of these partitions to these members has a smaller largest member lag:
    /// max(largest partition, ⌈total ÷ members⌉).
    pub lower_bound: u64,
    /// Largest member lag ÷ lower bound: 1.0 cannot be bettered. `None` when there is no lag.
    pub over_bound: Option<f64>,
}

impl Metrics {
    /// Measures `plan`, an assignment of `group`.
    pub fn of(group: &GroupInput, plan: &Assignment) -> Self {
        let mut largest_partition = 0;
        let mut loads = Vec::with_capacity(plan.members.len());
        for partitions in &plan.members {
            let mut lag = 0u64;
            for &tp in partitions {
                let this = group.lag(tp);
                lag = lag.saturating_add(this);
                largest_partition = largest_partition.max(this);
            }
            loads.push(Load { partitions: partitions.len() as u32, lag });
        }
        let total_lag = loads.iter().fold(0u64, |sum, load| sum.saturating_add(load.lag));
        let largest_lag = loads.iter().map(|load| load.lag).max().unwrap_or(0);
        let even_share = total_lag.checked_div(loads.len() as u64).unwrap_or(0);
        let rest = u64::from(!loads.is_empty() && !total_lag.is_multiple_of(loads.len() as u64));
        let lower_bound = largest_partition.max(even_share + rest);
        let lags = Spread::of(loads.iter().map(|load| load.lag as f64));
        let counts = Spread::of(loads.iter().map(|load| f64::from(load.partitions)));
        Self {
            total_lag,
            largest_lag,
            lag_over_mean: lags.max_over_mean(),
            partitions_over_mean: counts.max_over_mean(),
            lag_variation: lags.variation(),
            partitions_variation: counts.variation(),
            idle: loads.iter().filter(|load| load.partitions == 0).count(),
            lower_bound,
            over_bound: (lower_bound > 0).then(|| largest_lag as f64 / lower_bound as f64),
            loads,
        }
    }
}

struct Spread {
    mean: f64,
    max: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / n;
        let max = values.clone().fold(0.0, f64::max);
        let deviation = (values.map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        Self { mean, max, deviation }
    }

    fn max_over_mean(&self) -> Option<f64> {
        (self.mean > 0.0).then(|| self.max / self.mean)
    }

    fn variation(&self) -> Option<f64> {
        (self.mean > 0.0).then(|| self.deviation / self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{MemberInput, TopicInput, TopicPartition};
    use super::*;

    fn owned(partitions: &[u32]) -> Vec<TopicPartition> {
        partitions.iter().map(|&partition| TopicPartition { topic: 0, partition }).collect()
    }

    fn group(lags: &[u64], current: &[&[u32]]) -> GroupInput {
        let member = |partitions: &&[u32]| MemberInput { owned: owned(partitions), ..MemberInput::default() };
        let topic = TopicInput { partitions: Some(lags.len() as u32), lags: lags.to_vec(), ..TopicInput::default() };
        GroupInput { members: current.iter().map(member).collect(), topics: vec![topic], ..GroupInput::default() }
    }

    /// CASES 51: Range leaves C0 with 150,000 and C1 with 60,000.
    #[test]
    fn range_of_the_prototypes_example() {
        let group = group(&[100_000, 50_000, 60_000], &[&[0, 1], &[2]]);
        let metrics = Metrics::of(&group, &Assignment::current(&group));
        assert_eq!(metrics.loads, [Load { partitions: 2, lag: 150_000 }, Load { partitions: 1, lag: 60_000 }]);
        assert_eq!((metrics.total_lag, metrics.largest_lag, metrics.lower_bound), (210_000, 150_000, 105_000));
        assert_eq!(metrics.lag_over_mean, Some(150_000.0 / 105_000.0));
        assert_eq!(metrics.partitions_over_mean, Some(2.0 / 1.5));
        assert_eq!(metrics.lag_variation, Some(45_000.0 / 105_000.0));
    }

    /// CASES 17: six members own 3, 0, 3, 1, 1, 1 partitions: one is idle.
    #[test]
    fn idle_members_are_counted() {
        let group = group(&[0; 9], &[&[0, 1, 2], &[], &[3, 4, 5], &[6], &[7], &[8]]);
        let metrics = Metrics::of(&group, &Assignment::current(&group));
        assert_eq!(metrics.idle, 1);
        assert_eq!(metrics.partitions_over_mean, Some(2.0));
        assert_eq!((metrics.lag_over_mean, metrics.over_bound), (None, None));
    }

    #[test]
    fn an_empty_group_has_no_ratios() {
        let metrics = Metrics::of(&GroupInput::default(), &Assignment::default());
        assert_eq!(metrics, Metrics::default());
    }

    #[test]
    fn the_bound_is_the_largest_partition_where_that_is_more() {
        let group = group(&[90, 5, 5], &[&[0], &[1], &[2]]);
        let metrics = Metrics::of(&group, &Assignment::current(&group));
        assert_eq!((metrics.lower_bound, metrics.over_bound), (90, Some(1.0)));
    }
}
