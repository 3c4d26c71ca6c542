//! Predicts if a dictionary can still pay off, based on the share of new values.
//!
//! If `n` values are drawn uniformly from `d` distinct values, `d (1 - e^(-n/d))` of them are different, and the next
//! value is new with probability `e^(-n/d)`. So the share of new values among the most recent ones yields `d`, and `d`
//! predicts the share among future values.
//!
//! In practice, not all values behave like this. Ascending timestamps repeat their predecessor, and a few values can be
//! far more frequent than the rest. The share of new values then falls more slowly than the formula predicts, or not at
//! all. So once there are further pages, we compare the most recent pages' share with the first page's. Differences
//! within the range of chance count in the dictionary's favour.

use super::choice::Packing;

/// The number of values after which the dictionary is accepted or rejected, given a large enough row group.
pub(super) const DECIDE_AFTER: usize = 1 << 18;

/// The number of values to see before a dictionary can be given up. For most columns, this is the first page.
const JUDGE_AFTER: usize = 1 << 13;

/// The number of recent repeats required to judge a dictionary. With fewer, the share might still change. For example,
/// values that repeat cyclically are all new at first.
const MIN_REPEATED: usize = 32;

/// The bounds on the number of values before a sampled trial can start.
const SAMPLED_TRIAL_AFTER: std::ops::RangeInclusive<usize> = 1 << 8..=1 << 10;

/// The part of a small row group before a sampled trial can start, as a divisor of its values.
const PART_OF_FEW: usize = 4;

/// The number of recent values per required repeat. With fewer repeats, a sampled trial starts. For many values,
/// [`MIN_REPEATED`] repeats suffice.
const REPEATED_PER_VALUES: usize = 128;

/// The number of values after which a sampled trial ends. We don't wait any longer for values to repeat.
pub(super) const SAMPLED_TRIAL_ENDS_AFTER: usize = 3 << 13;

/// The minimum number of recent values used to compute the share of new values. They start at a page boundary.
pub(super) const LAST_VALUES: usize = 1 << 12;

/// Returns the number of values before a sampled trial can start, for a row group with `row_group_values` values.
pub(super) fn sampled_trial_after(row_group_values: usize) -> usize {
    (row_group_values / PART_OF_FEW).clamp(*SAMPLED_TRIAL_AFTER.start(), *SAMPLED_TRIAL_AFTER.end())
}

/// The growth of a dictionary so far. Used to predict if the dictionary will pay off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// The counts at the end of the first page, or zero if the last values start there.
    pub(super) first: Counts,
    /// The counts before the last pages. These have at least [`LAST_VALUES`] values.
    pub(super) before: Counts,
    pub(super) now: Counts,
}

/// A number of values, and how many of them were new.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) values: usize,
    pub(super) entries: usize,
}

/// The sizes of dictionary entries, and the number of values referring to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySizes {
    /// The average entry size in bytes.
    pub(super) average: f64,
    /// The average size of a value outside the dictionary, in bytes.
    pub(super) value: f64,
    /// The size limit for all entries together, in bytes.
    pub(super) max_bytes: f64,
    /// The expected number of values, capped at [`DECIDE_AFTER`].
    pub(super) values: f64,
}

/// The predicted frequency of new values.
struct NewValues {
    /// The share of new values among the next values.
    share: f64,
    /// The relative decrease of `share` per value.
    decay: f64,
}

/// The tolerance for comparing shares, in standard deviations.
const DEVIATIONS: f64 = 2.0;

/// The smallest relative decrease of a share per value. Used to avoid a division by zero.
const MIN_DECAY: f64 = 1e-12;

impl Growth {
    /// Returns true if the dictionary saves nothing so far, and won't save anything once all values are included.
    pub(super) fn cannot_pay_off(&self, sizes: EntrySizes) -> bool {
        self.now.values >= JUDGE_AFTER
            && self.repeated() >= MIN_REPEATED
            && !self.saves(sizes)
            && !self.will_pay_off(sizes)
    }

    /// Returns true if the dictionary saves nothing so far and probably never will. That is, nearly all recent values
    /// are new, or half of the row group's values have been seen and the dictionary isn't predicted to pay off.
    pub(super) fn is_unlikely_to_pay_off(&self, sizes: EntrySizes) -> bool {
        let (values, totals) = (self.now.values, sizes.values as usize);
        if values < sampled_trial_after(totals) || self.saves(sizes) {
            return false;
        }
        let few = (self.last().values / REPEATED_PER_VALUES).min(MIN_REPEATED);
        self.repeated() < few || values >= totals / 2 && !self.will_pay_off(sizes)
    }

    /// Returns true if the dictionary will save bytes once all values are included, extrapolating from the most recent
    /// values.
    pub(super) fn will_pay_off(&self, sizes: EntrySizes) -> bool {
        if self.repeated() == 0 {
            return false;
        }
        let (values, entries) = (self.now.values as f64, self.now.entries as f64);
        let new = self.new_values();
        let max_entries = sizes.max_bytes / sizes.average;
        let more = (sizes.values - values).max(0.0);
        match entries + new.expected_new(more) {
            expected if expected > max_entries => sizes.saves(
                values + new.values_until(max_entries - entries),
                max_entries,
            ),
            expected => sizes.saves(values + more, expected),
        }
    }

    /// Predicts the frequency of new values from the first page and the last values.
    fn new_values(&self) -> NewValues {
        let last = self.last();
        let last_middle = (self.before.values + self.now.values) as f64 / 2.0;
        let (first_middle, chance) = match self.first.values {
            // There's no first page to compare with, but the very first value was certainly new.
            0 => (0.0, 0.0),
            values => (
                values as f64 / 2.0,
                DEVIATIONS * (self.first.variance() + last.variance()).sqrt(),
            ),
        };
        let decay = self.first.share().ln() - last.share().ln() + chance;
        let decay = (decay / (last_middle - first_middle)).max(MIN_DECAY);
        let after_middle = self.now.values as f64 - last_middle;
        NewValues {
            share: last.share() * (-decay * after_middle).exp(),
            decay,
        }
    }

    fn saves(&self, sizes: EntrySizes) -> bool {
        sizes.saves(self.now.values as f64, self.now.entries as f64)
    }

    fn last(&self) -> Counts {
        Counts {
            values: self.now.values - self.before.values,
            entries: self.now.entries - self.before.entries,
        }
    }

    /// Returns how many of the last values were repeats.
    fn repeated(&self) -> usize {
        let last = self.last();
        last.values.saturating_sub(last.entries)
    }
}

impl Counts {
    /// Returns the share of new values, or 1 if there are no values.
    fn share(&self) -> f64 {
        self.entries.max(1) as f64 / self.values.max(1) as f64
    }

    /// Returns the chance variance of the share's logarithm.
    fn variance(&self) -> f64 {
        (1.0 - self.share()) / self.entries.max(1) as f64
    }
}

impl NewValues {
    /// Returns the expected number of new values among the next `values` values.
    fn expected_new(&self, values: f64) -> f64 {
        -self.share * (-self.decay * values).exp_m1() / self.decay
    }

    /// Returns the expected number of further values until `new` of them are new.
    fn values_until(&self, new: f64) -> f64 {
        -(-new * self.decay / self.share).ln_1p() / self.decay
    }
}

impl EntrySizes {
    /// Returns true if `entries` entries and one index per value take fewer bytes than the `values` values themselves.
    fn saves(self, values: f64, entries: f64) -> bool {
        let width = f64::from(Packing::TIGHT.width(entries as usize));
        entries * self.average + values * width / 8.0 < values * self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLES: EntrySizes = EntrySizes {
        average: 8.0,
        value: 8.0,
        max_bytes: (1 << 20) as f64,
        values: DECIDE_AFTER as f64,
    };

    /// Returns the number of values after which the dictionary is given up. `entries` maps a number of values to how
    /// many of them are distinct. The check runs after each page.
    fn given_up_by(entries: impl Fn(f64) -> f64, sizes: EntrySizes) -> Option<usize> {
        let counts = |values: usize| Counts {
            values,
            entries: entries(values as f64) as usize,
        };
        let ends = [0, 8192, 24_576, 57_344, 90_112, 122_880];
        let growths = ends.windows(2).map(|page| Growth {
            first: counts(if page[0] == 0 { 0 } else { 8192 }),
            before: counts(page[0]),
            now: counts(page[1]),
        });
        let given_up = growths.filter(|growth| growth.cannot_pay_off(sizes));
        given_up.map(|growth| growth.now.values).next()
    }

    /// Returns the number of values after which the dictionary is given up, drawing from `distinct` distinct values.
    fn given_up(distinct: f64, sizes: EntrySizes) -> Option<usize> {
        given_up_by(|values| -distinct * (-values / distinct).exp_m1(), sizes)
    }

    #[test]
    fn what_cannot_pay_is_given_up_early() {
        // Break-even: values drawn from 272,000 fill 131,072 entries after 178,500 values. That saves one entry in
        // four, and costs 17 bits per value.
        assert_eq!(given_up(260e3, DOUBLES), None);
        assert_eq!(given_up(285e3, DOUBLES), Some(8192));
        // With four bytes per value, 262,144 values drawn from 146,000 have 121,800 entries. Entries take 14.9 bits
        // per value, and indices 17.
        let floats = EntrySizes {
            average: 4.0,
            value: 4.0,
            ..DOUBLES
        };
        assert_eq!(given_up(140e3, floats), None);
        assert_eq!(given_up(152e3, floats), Some(8192));
        // Large entries pay even if hardly any value repeats.
        let strings = EntrySizes {
            average: 100.0,
            value: 100.0,
            max_bytes: 1e9,
            ..DOUBLES
        };
        assert_eq!(given_up(4e6, strings), None);
    }

    #[test]
    fn what_comes_back_at_once_alone_is_given_up_by_the_second_page() {
        // Each value repeats its predecessor with the same probability, so the share of new values is constant.
        assert_eq!(given_up_by(|values| 0.9 * values, DOUBLES), Some(24_576));
        // If fewer than three in four values are new, a dictionary of 131,072 entries saves bytes. Strings save bytes
        // in any case.
        assert_eq!(given_up_by(|values| 0.6 * values, DOUBLES), None);
        let strings = EntrySizes {
            average: 40.0,
            value: 40.0,
            ..DOUBLES
        };
        assert_eq!(given_up_by(|values| 0.9 * values, strings), None);
        // Nine in ten values are drawn, and the others repeat their predecessor. If 100,000 distinct values exist, 40
        // % of the values are distinct in the end. With a million, nearly all are.
        let besides =
            |distinct: f64| move |values: f64| -distinct * (-0.9 * values / distinct).exp_m1();
        assert_eq!(given_up_by(besides(100e3), DOUBLES), None);
        assert_eq!(given_up_by(besides(1e6), DOUBLES), Some(24_576));
        // A row group with fewer rows ends before the dictionary saves anything.
        let sizes_for = |values: f64| EntrySizes { values, ..DOUBLES };
        assert_eq!(given_up(150e3, sizes_for(122_880.0)), None);
        assert_eq!(given_up(150e3, sizes_for(61_440.0)), Some(8192));
    }

    #[test]
    fn shares_are_compared_within_what_chance_allows() {
        let growth = |last: usize| Growth {
            first: Counts {
                values: 8192,
                entries: 6700,
            },
            before: Counts {
                values: 8192,
                entries: 6700,
            },
            now: Counts {
                values: 24_576,
                entries: 6700 + last,
            },
        };
        // The share is 0.818. The standard deviations of its logarithm are 0.0052 and 0.0037. Combined and doubled,
        // they are 0.0128.
        let new = growth(13_400).new_values();
        assert!(
            (new.decay * 12_288.0 - 0.0128).abs() < 1e-4,
            "{}",
            new.decay
        );
        assert!((new.share - 0.818 * (-new.decay * 8192.0).exp()).abs() < 1e-3);
        assert!((new.expected_new(1000.0) - 1000.0 * new.share).abs() < 1.0);
        assert!((new.values_until(new.expected_new(5e5)) - 5e5).abs() < 1.0);
        // More values are new than before, so the share does not fall at all.
        assert_eq!(growth(14_000).new_values().decay, MIN_DECAY);
    }

    #[test]
    fn a_dictionary_of_new_values_is_unlikely_to_pay_off() {
        let growth = |from, to, entries| Growth {
            first: Counts::default(),
            before: Counts {
                values: from,
                entries: from,
            },
            now: Counts {
                values: to,
                entries,
            },
        };
        assert!(!growth(0, 1023, 1023).is_unlikely_to_pay_off(DOUBLES));
        assert!(growth(0, 1024, 1024 - 7).is_unlikely_to_pay_off(DOUBLES));
        assert!(!growth(0, 1024, 1024 - 8).is_unlikely_to_pay_off(DOUBLES));
        assert!(growth(0, 8192, 8192 - 31).is_unlikely_to_pay_off(DOUBLES));
        assert!(!growth(0, 8192, 8192 - 32).is_unlikely_to_pay_off(DOUBLES));
        assert!(!growth(0, 8192, 8192).cannot_pay_off(DOUBLES));
        // None, 20 or 200 of 2048 further values repeat.
        assert!(!growth(8192, 10_240, 10_240).will_pay_off(DOUBLES));
        assert!(!growth(8192, 10_240, 10_240 - 20).will_pay_off(DOUBLES));
        assert!(growth(8192, 10_240, 10_240 - 200).will_pay_off(DOUBLES));
        // All further values repeat, or all but one.
        assert!(growth(8192, 10_240, 8192).will_pay_off(DOUBLES));
        assert!(growth(8192, 10_240, 8193).will_pay_off(DOUBLES));
    }

    /// 19 in 20 values are new. Of 1,000 values drawn that way 906 are new. With 8 bytes per entry and 10 bits per
    /// index, they take more than 8,000 bytes.
    #[test]
    fn half_of_a_small_row_group_tells_that_it_will_not_pay() {
        let totals = |values: usize| EntrySizes {
            values: values as f64,
            ..DOUBLES
        };
        let growth = |values: usize| Growth {
            first: Counts::default(),
            before: Counts::default(),
            now: Counts {
                values,
                entries: values * 19 / 20,
            },
        };
        assert!(!growth(499).is_unlikely_to_pay_off(totals(1000)));
        assert!(growth(500).is_unlikely_to_pay_off(totals(1000)));
        assert!(!growth(500).is_unlikely_to_pay_off(totals(1002)));
        // One in two is new. 8-bit indices and half of the 64-bit values already save bytes.
        let mut half_new = growth(500);
        half_new.now.entries = 250;
        assert!(!half_new.is_unlikely_to_pay_off(totals(1000)));
        // With nine in ten new, nothing is saved so far. 1,000 values with 818 entries will save bytes.
        let mut nine_in_ten = growth(500);
        nine_in_ten.now.entries = 450;
        assert!(!nine_in_ten.is_unlikely_to_pay_off(totals(1000)));
    }

    #[test]
    fn a_sampled_trial_begins_after_a_part_of_a_small_row_group() {
        for (rows, values) in [
            (10, 256),
            (1024, 256),
            (2000, 500),
            (4096, 1024),
            (1 << 20, 1024),
        ] {
            assert_eq!(sampled_trial_after(rows), values, "{rows}");
        }
    }

    #[test]
    fn what_saves_already_is_kept() {
        // After a few distinct values, all further values are new.
        let growth = Growth {
            first: Counts {
                values: 8192,
                entries: 10,
            },
            before: Counts {
                values: 24_576,
                entries: 10,
            },
            now: Counts {
                values: 57_344,
                entries: 32_778,
            },
        };
        assert!(!growth.cannot_pay_off(DOUBLES));
        assert!(!growth.is_unlikely_to_pay_off(DOUBLES));
    }
}
