//! Whether a dictionary can still pay, told from how often values are new.
//!
//! Of `n` values that are drawn evenly from `d` ones, `d (1 - e^(-n/d))` are different, and the one behind them is new with a
//! probability of `e^(-n/d)`. So the share of new values among the last ones gives `d`, and `d` what is to come. Where few values are
//! far more frequent than the others, more of those to come are new than that: it errs in favour of the dictionary.

use super::choice::Packing;

/// Values behind which it is decided whether a dictionary pays.
pub(super) const DECIDE_AFTER: usize = 1 << 18;

/// So many values are seen before a dictionary is given up: the first page of most columns.
const JUDGE_AFTER: usize = 1 << 13;

/// As long as fewer than this many of the last values were there before, that may change: values that come back in turns are
/// all new at first.
const LEAST_REPEATED: usize = 32;

/// Behind so many values it is in doubt whether any comes back,
const DOUBT_AFTER: usize = 1 << 10;

/// where fewer than one of so many did (of many values, fewer than [`LEAST_REPEATED`]),
const FEW_REPEATED: usize = 128;

/// and behind so many nobody waits for it any more.
pub(super) const DOUBT_ENDS_AFTER: usize = 3 << 13;

/// Values at least, of the last pages, that tell how often values are new.
pub(super) const LAST_VALUES: usize = 1 << 12;

/// How a dictionary has grown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
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

/// What entries take.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySizes {
    /// Bytes of an entry, on average.
    pub(super) average: f64,
    /// Bytes that all may take together.
    pub(super) most: f64,
}

impl Growth {
    /// Whether the dictionary saves nothing so far, and will not behind [`DECIDE_AFTER`] values.
    pub(super) fn is_hopeless(&self, sizes: EntrySizes) -> bool {
        self.now.values >= JUDGE_AFTER
            && self.repeated() >= LEAST_REPEATED
            && !self.saves(sizes)
            && !self.will_save(sizes)
    }

    /// Whether it saves nothing so far, as nearly all values are new.
    pub(super) fn is_in_doubt(&self, sizes: EntrySizes) -> bool {
        let few = (self.last().values / FEW_REPEATED).min(LEAST_REPEATED);
        self.now.values >= DOUBT_AFTER && self.repeated() < few && !self.saves(sizes)
    }

    /// Whether it will save something behind [`DECIDE_AFTER`] values, by the last ones.
    pub(super) fn will_save(&self, sizes: EntrySizes) -> bool {
        let last = self.last();
        if self.repeated() == 0 {
            return false;
        }
        let middle = (self.before.values + self.now.values) as f64 / 2.0;
        let share = last.entries as f64 / last.values as f64;
        sizes.will_save(-middle / share.ln())
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

impl EntrySizes {
    /// Whether entries and indices of so many values take fewer bytes than the values.
    fn saves(self, values: f64, entries: f64) -> bool {
        let width = f64::from(Packing::TIGHT.width(entries as usize));
        entries * self.average + values * width / 8.0 < values * self.average
    }

    /// The same behind [`DECIDE_AFTER`] values, or where the dictionary is full, if values are drawn from so many ones.
    fn will_save(self, distinct: f64) -> bool {
        let values = DECIDE_AFTER as f64;
        let entries = -distinct * (-values / distinct).exp_m1();
        let most = self.most / self.average;
        match entries > most {
            true => self.saves(-distinct * (-most / distinct).ln_1p(), most),
            false => self.saves(values, entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLES: EntrySizes = EntrySizes {
        average: 8.0,
        most: (1 << 20) as f64,
    };

    /// What becomes of values that are drawn from so many, page by page: where they are given up.
    fn given_up(distinct: f64, sizes: EntrySizes) -> Option<usize> {
        let counts = |values: usize| Counts {
            values,
            entries: (-distinct * (-(values as f64) / distinct).exp_m1()) as usize,
        };
        let ends = [0, 8192, 24_576, 57_344, 90_112, 122_880];
        let growths = ends.windows(2).map(|page| Growth {
            before: counts(page[0]),
            now: counts(page[1]),
        });
        let given_up = growths.filter(|growth| growth.is_hopeless(sizes));
        given_up.map(|growth| growth.now.values).next()
    }

    #[test]
    fn what_cannot_pay_is_given_up_early() {
        // 131,072 entries are there behind 178,500 values of 272,000: an entry less in four, and 17 bits for each value.
        assert_eq!(given_up(260e3, DOUBLES), None);
        assert_eq!(given_up(285e3, DOUBLES), Some(8192));
        // Of four bytes, 262,144 values of 146,000 have 121,800 entries: 14.9 bits a value, and 17 for its index.
        let floats = EntrySizes {
            average: 4.0,
            ..DOUBLES
        };
        assert_eq!(given_up(140e3, floats), None);
        assert_eq!(given_up(152e3, floats), Some(8192));
        // Large entries pay where hardly any comes back.
        let strings = EntrySizes {
            average: 100.0,
            most: 1e9,
        };
        assert_eq!(given_up(4e6, strings), None);
    }

    #[test]
    fn where_all_are_new_it_is_in_doubt() {
        let growth = |from, to, entries| Growth {
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

    #[test]
    fn what_saves_already_is_kept() {
        // Values that are all new follow on few ones.
        let growth = Growth {
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
