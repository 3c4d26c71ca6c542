//! Times all sides in turns, so that the machine's disturbances affect all sides alike.

use crate::{Result, workload::Work};
use std::time::{Duration, Instant};

/// The least number of runs for a median, however long they take.
const MIN_RUNS: usize = 5;
/// The largest number of runs, because more would not improve the result.
const MAX_RUNS: usize = 101;

/// One side's times in several runs.
#[derive(Debug, Clone)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Returns the median in milliseconds.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns half the distance between the quartiles, as a share of the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / self.median()
    }

    /// Returns the median of the time above `other` in the same turn, in milliseconds.
    #[must_use]
    pub fn median_above(&self, other: &Self) -> f64 {
        quantile(&self.above(other), 0.5)
    }

    /// Returns that median's standard error in milliseconds. We compute it from the distance
    /// between the quartiles, and assume that turns differ by a normal distribution.
    #[must_use]
    pub fn error_of_median_above(&self, other: &Self) -> f64 {
        let above = self.above(other);
        let between = quantile(&above, 0.75) - quantile(&above, 0.25);
        // A quartile is 0.674 standard deviations from the median, and the median error is 1.253
        // times the mean's.
        1.253 * between / (2.0 * 0.674) / (above.len() as f64).sqrt()
    }

    /// Returns the time above `other` in each turn, in milliseconds, ascending.
    fn above(&self, other: &Self) -> Vec<f64> {
        let pairs = self.0.iter().zip(&other.0);
        let above = pairs.map(|(time, other)| (time.as_secs_f64() - other.as_secs_f64()) * 1e3);
        let mut above: Vec<f64> = above.collect();
        above.sort_by(f64::total_cmp);
        above
    }

    /// Returns the time of the run nearest to this quantile, in milliseconds.
    fn quantile(&self, of: f64) -> f64 {
        let mut sorted: Vec<f64> = self.0.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, of)
    }
}

/// Returns the number nearest to this quantile of ascending numbers.
fn quantile(sorted: &[f64], quantile: f64) -> f64 {
    let place = (sorted.len().saturating_sub(1) as f64 * quantile).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Runs all sides in turns for about `seconds` in total, after one turn that is not measured.
///
/// # Errors
///
/// Returns a side's error and fails if the sides return different counts.
pub fn in_turns(sides: &[&Work], seconds: f64) -> Result<Vec<Times>> {
    let mut counts = Vec::new();
    for side in sides {
        counts.push(side()?);
    }
    if counts.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(format!("the sides count differently: {counts:?}").into());
    }
    let mut times = vec![Times(Vec::new()); sides.len()];
    let start = Instant::now();
    for run in 0..MAX_RUNS {
        if run >= MIN_RUNS && start.elapsed().as_secs_f64() > seconds {
            break;
        }
        // Every other turn runs in reverse order, so that no side always follows the same other
        // side.
        let order: Vec<usize> = match run % 2 {
            0 => (0..sides.len()).collect(),
            _ => (0..sides.len()).rev().collect(),
        };
        for side in order {
            let begin = Instant::now();
            sides[side]()?;
            times[side].0.push(begin.elapsed());
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_compared_with_themselves() {
        let times = |millis: [u64; 3]| Times(millis.map(Duration::from_millis).to_vec());
        // The machine was slow in the second turn, for both sides.
        let above = times([12, 92, 13]).median_above(&times([10, 90, 10]));
        assert!((above - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_median_of_few_turns_has_an_error() {
        let times =
            |millis: &[u64]| Times(millis.iter().copied().map(Duration::from_millis).collect());
        let other = times(&[0; 9]);
        // With these nine turns, the quartiles are 20 and 60.
        let ours = times(&[0, 10, 20, 30, 40, 50, 60, 70, 80]);
        let error = ours.error_of_median_above(&other);
        assert!((error - 1.253 * 40.0 / 1.348 / 3.0).abs() < 1e-9, "{error}");
    }

    fn work(count: u64) -> Work {
        Box::new(move || Ok(count))
    }

    #[test]
    fn the_median_is_the_middle_and_the_spread_is_relative() {
        let times = Times([50, 10, 20, 40, 30].map(Duration::from_millis).to_vec());
        assert_eq!(times.median(), 30.0);
        assert!((times.spread() - 10.0 / 30.0).abs() < 1e-9);
    }

    #[test]
    fn sides_have_to_agree() {
        assert_eq!(in_turns(&[&work(3), &work(3)], 0.0).unwrap().len(), 2);
        assert!(in_turns(&[&work(3), &work(4)], 0.0).is_err());
    }
}
