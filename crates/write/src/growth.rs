//! Whether a dictionary can still pay, told from how often values are new.
//!
//! Of `n` values that are drawn evenly from `d` ones, `d (1 - e^(-n/d))` are different, and the one behind them is new with a
//! probability of `e^(-n/d)`. So the share of new values among the last ones gives `d`, and `d` what is to come.
//!
//! Others come back for another reason: timestamps that ascend repeat the one before, and few values may be far more frequent than
//! the rest. Their share of new values falls more slowly than that, or not at all. So it is compared with that of the first page as
//! soon as there are further ones, within what chance allows, in favour of the dictionary.

use super::choice::Packing;

/// Values behind which it is decided whether a dictionary pays, if a row group has so many.
pub(super) const DECIDE_AFTER: usize = 1 << 18;

/// So many values are seen before a dictionary is given up: the first page of most columns.
const JUDGE_AFTER: usize = 1 << 13;

/// As long as fewer than this many of the last values were there before, that may change: values that come back in turns are
/// all new at first.
const LEAST_REPEATED: usize = 32;

/// Behind so many values it is in doubt whether any comes back, or behind a part of those of a small row group,
const DOUBT_AFTER: std::ops::RangeInclusive<usize> = 1 << 8..=1 << 10;
const PART_OF_FEW: usize = 4;

/// where fewer than one of so many did (of many values, fewer than [`LEAST_REPEATED`]),
const FEW_REPEATED: usize = 128;

/// and behind so many nobody waits for it any more.
pub(super) const DOUBT_ENDS_AFTER: usize = 3 << 13;

/// Values at least, of the last pages, that tell how often values are new.
pub(super) const LAST_VALUES: usize = 1 << 12;

/// Behind how many values of a row group that has so many it may be in doubt whether any comes back.
pub(super) fn doubt_after(row_group_values: usize) -> usize {
    (row_group_values / PART_OF_FEW).clamp(*DOUBT_AFTER.start(), *DOUBT_AFTER.end())
}

/// How a dictionary has grown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// The first page, if the last ones lie behind it; otherwise none.
    pub(super) first: Counts,
    /// Where the last pages began, which have [`LAST_VALUES`] at least.
    pub(super) before: Counts,
    pub(super) now: Counts,
}

/// Values, and how many of them were new.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) values: usize,
    pub(super) entries: usize,
}

/// What entries take, and how many values they serve.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySizes {
    /// Bytes of an entry, on average,
    pub(super) average: f64,
    /// and those of a value that is none.
    pub(super) value: f64,
    /// Bytes that all may take together.
    pub(super) most: f64,
    /// Values that are to be expected, [`DECIDE_AFTER`] at most.
    pub(super) values: f64,
}

/// How often values to come are new.
struct NewValues {
    /// Of the next ones, this share,
    share: f64,
    /// which each of them lowers by so much of it.
    fall: f64,
}

/// Shares are compared within so many of their standard deviations.
const DEVIATIONS: f64 = 2.0;

/// A share falls by so much a value at least, so that there is something to divide by.
const LEAST_FALL: f64 = 1e-12;

impl Growth {
    /// Whether the dictionary saves nothing so far, and will not when all values are there.
    pub(super) fn is_hopeless(&self, sizes: EntrySizes) -> bool {
        self.now.values >= JUDGE_AFTER
            && self.repeated() >= LEAST_REPEATED
            && !self.saves(sizes)
            && !self.will_save(sizes)
    }

    /// Whether it saves nothing so far, as nearly all values are new, or will not with the other half of a row group.
    pub(super) fn is_in_doubt(&self, sizes: EntrySizes) -> bool {
        let (values, of_all) = (self.now.values, sizes.values as usize);
        if values < doubt_after(of_all) || self.saves(sizes) {
            return false;
        }
        let few = (self.last().values / FEW_REPEATED).min(LEAST_REPEATED);
        self.repeated() < few || values >= of_all / 2 && !self.will_save(sizes)
    }

    /// Whether it will save something when all values are there, by the last ones.
    pub(super) fn will_save(&self, sizes: EntrySizes) -> bool {
        if self.repeated() == 0 {
            return false;
        }
        let (values, entries) = (self.now.values as f64, self.now.entries as f64);
        let new = self.new_values();
        let most = sizes.most / sizes.average;
        let more = (sizes.values - values).max(0.0);
        match entries + new.among(more) {
            expected if expected > most => {
                sizes.saves(values + new.values_with(most - entries), most)
            }
            expected => sizes.saves(values + more, expected),
        }
    }

    /// How often values will be new, by how often those of the first page and the last ones were.
    fn new_values(&self) -> NewValues {
        let last = self.last();
        let last_middle = (self.before.values + self.now.values) as f64 / 2.0;
        let (first_middle, chance) = match self.first.values {
            // The first value of all was new.
            0 => (0.0, 0.0),
            values => (
                values as f64 / 2.0,
                DEVIATIONS * (self.first.variance() + last.variance()).sqrt(),
            ),
        };
        let fall = self.first.share().ln() - last.share().ln() + chance;
        let fall = (fall / (last_middle - first_middle)).max(LEAST_FALL);
        let behind = self.now.values as f64 - last_middle;
        NewValues {
            share: last.share() * (-fall * behind).exp(),
            fall,
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

    /// How many of the last values were there before.
    fn repeated(&self) -> usize {
        let last = self.last();
        last.values.saturating_sub(last.entries)
    }
}

impl Counts {
    /// The share of values that were new; that of no values is 1.
    fn share(&self) -> f64 {
        self.entries.max(1) as f64 / self.values.max(1) as f64
    }

    /// How much the logarithm of the share varies by chance.
    fn variance(&self) -> f64 {
        (1.0 - self.share()) / self.entries.max(1) as f64
    }
}

impl NewValues {
    /// How many of so many values are new.
    fn among(&self, values: f64) -> f64 {
        -self.share * (-self.fall * values).exp_m1() / self.fall
    }

    /// How many values have so many new ones.
    fn values_with(&self, new: f64) -> f64 {
        -(-new * self.fall / self.share).ln_1p() / self.fall
    }
}

impl EntrySizes {
    /// Whether entries and indices of so many values take fewer bytes than the values.
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
        most: (1 << 20) as f64,
        values: DECIDE_AFTER as f64,
    };

    /// Where values are given up, page by page, of which so many are different.
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
        let given_up = growths.filter(|growth| growth.is_hopeless(sizes));
        given_up.map(|growth| growth.now.values).next()
    }

    /// The same of values that are drawn from so many.
    fn given_up(distinct: f64, sizes: EntrySizes) -> Option<usize> {
        given_up_by(|values| -distinct * (-values / distinct).exp_m1(), sizes)
    }

    #[test]
    fn what_cannot_pay_is_given_up_early() {
        // 131,072 entries are there behind 178,500 values of 272,000: an entry less in four, and 17 bits for each value.
        assert_eq!(given_up(260e3, DOUBLES), None);
        assert_eq!(given_up(285e3, DOUBLES), Some(8192));
        // Of four bytes, 262,144 values of 146,000 have 121,800 entries: 14.9 bits a value, and 17 for its index.
        let floats = EntrySizes {
            average: 4.0,
            value: 4.0,
            ..DOUBLES
        };
        assert_eq!(given_up(140e3, floats), None);
        assert_eq!(given_up(152e3, floats), Some(8192));
        // Large entries pay where hardly any comes back.
        let strings = EntrySizes {
            average: 100.0,
            value: 100.0,
            most: 1e9,
            ..DOUBLES
        };
        assert_eq!(given_up(4e6, strings), None);
    }

    #[test]
    fn what_comes_back_at_once_alone_is_given_up_by_the_second_page() {
        // As many are different as all repeat the one before with the same probability.
        assert_eq!(given_up_by(|values| 0.9 * values, DOUBLES), Some(24_576));
        // Less than three in four: a dictionary of 131,072 entries saves something. Strings do in any case.
        assert_eq!(given_up_by(|values| 0.6 * values, DOUBLES), None);
        let strings = EntrySizes {
            average: 40.0,
            value: 40.0,
            ..DOUBLES
        };
        assert_eq!(given_up_by(|values| 0.9 * values, strings), None);
        // What is drawn besides is told apart from that: of 100,000 values 40 % are different in the end, of a million all.
        let besides =
            |distinct: f64| move |values: f64| -distinct * (-0.9 * values / distinct).exp_m1();
        assert_eq!(given_up_by(besides(100e3), DOUBLES), None);
        assert_eq!(given_up_by(besides(1e6), DOUBLES), Some(24_576));
        // A row group of fewer rows ends before the dictionary saves anything.
        let of_rows = |values: f64| EntrySizes { values, ..DOUBLES };
        assert_eq!(given_up(150e3, of_rows(122_880.0)), None);
        assert_eq!(given_up(150e3, of_rows(61_440.0)), Some(8192));
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
        // The share is 0.818, whose logarithm varies by 0.0052 and 0.0037: 0.0128 in two deviations.
        let new = growth(13_400).new_values();
        assert!((new.fall * 12_288.0 - 0.0128).abs() < 1e-4, "{}", new.fall);
        assert!((new.share - 0.818 * (-new.fall * 8192.0).exp()).abs() < 1e-3);
        assert!((new.among(1000.0) - 1000.0 * new.share).abs() < 1.0);
        assert!((new.values_with(new.among(5e5)) - 5e5).abs() < 1.0);
        // More are new than before: no fall at all.
        assert_eq!(growth(14_000).new_values().fall, LEAST_FALL);
    }

    #[test]
    fn where_all_are_new_it_is_in_doubt() {
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
        assert!(!growth(0, 1023, 1023).is_in_doubt(DOUBLES));
        assert!(growth(0, 1024, 1024 - 7).is_in_doubt(DOUBLES));
        assert!(!growth(0, 1024, 1024 - 8).is_in_doubt(DOUBLES));
        assert!(growth(0, 8192, 8192 - 31).is_in_doubt(DOUBLES));
        assert!(!growth(0, 8192, 8192 - 32).is_in_doubt(DOUBLES));
        assert!(!growth(0, 8192, 8192).is_hopeless(DOUBLES));
        // Of 2048 more, some come back, which takes many entries less or few.
        assert!(!growth(8192, 10_240, 10_240).will_save(DOUBLES));
        assert!(!growth(8192, 10_240, 10_240 - 20).will_save(DOUBLES));
        assert!(growth(8192, 10_240, 10_240 - 200).will_save(DOUBLES));
        // Or all do, or all but one that is the same over and over.
        assert!(growth(8192, 10_240, 8192).will_save(DOUBLES));
        assert!(growth(8192, 10_240, 8193).will_save(DOUBLES));
    }

    /// 19 in 20 values are new: of 1,000 drawn so 906 are, with 8 bytes each, and 10 bits for all, more than 8,000 bytes.
    #[test]
    fn half_of_a_small_row_group_tells_that_it_will_not_pay() {
        let of_all = |values: usize| EntrySizes {
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
        assert!(!growth(499).is_in_doubt(of_all(1000)));
        assert!(growth(500).is_in_doubt(of_all(1000)));
        assert!(!growth(500).is_in_doubt(of_all(1002)));
        // One in two is new: 9 bits and the half of 64 save much already.
        let mut half_new = growth(500);
        half_new.now.entries = 250;
        assert!(!half_new.is_in_doubt(of_all(1000)));
        // Nine in ten save nothing so far, and 818 of 1,000 will.
        let mut nine_in_ten = growth(500);
        nine_in_ten.now.entries = 450;
        assert!(!nine_in_ten.is_in_doubt(of_all(1000)));
    }

    #[test]
    fn a_doubt_begins_behind_a_part_of_a_small_row_group() {
        for (rows, values) in [
            (10, 256),
            (1024, 256),
            (2000, 500),
            (4096, 1024),
            (1 << 20, 1024),
        ] {
            assert_eq!(doubt_after(rows), values, "{rows}");
        }
    }

    #[test]
    fn what_saves_already_is_kept() {
        // Values that are all new follow on few ones.
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
        assert!(!growth.is_hopeless(DOUBLES));
        assert!(!growth.is_in_doubt(DOUBLES));
    }
}
