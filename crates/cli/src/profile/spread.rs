//! Computes the mean, the standard deviation and quantiles of numbers.

use crate::base::random::Random;

/// The maximum number of values for exact quantiles. Beyond this, we keep a random sample of this
/// size, where a quantile's rank is off by 0.4 % on average.
const SAMPLE: usize = 16_384;

/// The mean, the standard deviation and quantiles of numbers, computed in bounded memory.
#[derive(Debug)]
pub(crate) struct Spread {
    count: u64,
    sum: f64,
    /// The mean of the numbers so far.
    running_mean: f64,
    /// The sum of the squared differences from the mean.
    squares: f64,
    sample: Vec<f64>,
    random: Random,
}

/// Quantiles of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantiles {
    /// The 5th percentile.
    pub(crate) p5: f64,
    pub(crate) median: f64,
    /// The 95th percentile.
    pub(crate) p95: f64,
    /// False if the quantiles describe a sample.
    pub(crate) are_exact: bool,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0.0,
            running_mean: 0.0,
            squares: 0.0,
            sample: Vec::new(),
            random: Random::repeatable(),
        }
    }
}

impl Spread {
    /// Adds a number.
    pub(crate) fn add(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        // Welford's method doesn't lose digits to large sums of squares.
        let difference = number - self.running_mean;
        self.running_mean += difference / self.count as f64;
        self.squares += difference * (number - self.running_mean);
        if number.is_nan() {
            return;
        }
        if self.sample.len() < SAMPLE {
            self.sample.push(number);
            return;
        }
        // Reservoir sampling: replace a random entry with a probability that gives each number the
        // same chance of ending up in the sample.
        let place = usize::try_from(self.random.below(self.count));
        if let Some(slot) = place.ok().and_then(|place| self.sample.get_mut(place)) {
            *slot = number;
        }
    }

    /// Returns the mean, if there are numbers.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Returns the sample standard deviation, that is, with the count minus one as divisor.
    pub(crate) fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }

    /// Returns the quantiles. Values between two numbers are interpolated. NaNs don't count, since
    /// they have no rank.
    pub(crate) fn quantiles(&self) -> Option<Quantiles> {
        let mut sorted = self.sample.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Quantiles {
            p5: quantile(&sorted, 0.05)?,
            median: quantile(&sorted, 0.5)?,
            p95: quantile(&sorted, 0.95)?,
            are_exact: self.count <= SAMPLE as u64,
        })
    }
}

/// Returns the value at a rank from 0 to 1 in sorted numbers.
fn quantile(sorted: &[f64], rank: f64) -> Option<f64> {
    let place = rank * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    // Interpolating between equal infinities would give NaN.
    Some(match below == above {
        true => below,
        false => below + (above - below) * place.fract(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> Spread {
        let mut spread = Spread::default();
        for number in numbers {
            spread.add(number);
        }
        spread
    }

    #[test]
    fn few_numbers_are_exact() {
        // By hand: the mean of 1, 2, 3, 4 and 10 is 4, and the squared differences are 9 + 4 + 1 +
        // 0 + 36 = 50.
        let spread = of([3.0, 1.0, 4.0, 2.0, 10.0]);
        assert_eq!(spread.mean(), Some(4.0));
        let deviation = spread.deviation().unwrap();
        assert!((deviation - 12.5_f64.sqrt()).abs() < 1e-12, "{deviation}");
        let quantiles = spread.quantiles().unwrap();
        assert_eq!((quantiles.median, quantiles.are_exact), (3.0, true));
        // The ranks are at 0.2 and 3.8 of 4 steps.
        assert!((quantiles.p5 - 1.2).abs() < 1e-12 && (quantiles.p95 - 8.8).abs() < 1e-12);
        assert_eq!(of([1.0, 2.0]).quantiles().unwrap().median, 1.5);
        assert_eq!(of([7.0]).deviation(), None);
        assert!(of([]).quantiles().is_none() && of([]).mean().is_none());
        let infinite = of([f64::INFINITY, f64::INFINITY]).quantiles().unwrap();
        assert_eq!(infinite.median, f64::INFINITY);
        let with_nan = of([f64::NAN, 5.0]);
        assert_eq!(with_nan.quantiles().unwrap().median, 5.0);
        assert!(with_nan.mean().unwrap().is_nan());
    }

    #[test]
    fn large_numbers_keep_their_deviation() {
        let spread = of([1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        let deviation = spread.deviation().unwrap();
        // The variance is 30, computed by hand.
        assert!((deviation - 30_f64.sqrt()).abs() < 1e-6, "{deviation}");
    }

    #[test]
    fn many_numbers_are_close() {
        let count = 300_000_u32;
        let spread = of((0..count).map(|number| f64::from(number) / f64::from(count)));
        let quantiles = spread.quantiles().unwrap();
        assert!(!quantiles.are_exact);
        // The limit is five standard errors.
        for (found, rank) in [
            (quantiles.p5, 0.05_f64),
            (quantiles.median, 0.5),
            (quantiles.p95, 0.95),
        ] {
            let error = (rank * (1.0 - rank) / SAMPLE as f64).sqrt();
            assert!((found - rank).abs() < 5.0 * error, "{rank}: {found}");
        }
    }
}
