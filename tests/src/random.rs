//! The source of random choices.

/// A small generator of repeatable random numbers (splitmix64).
pub struct Random(pub u64);

/// Returns how many random cases a test takes, which is `usual` times `HERRINGBONE_CASES`, if that
/// is set. CI sets it in one of its turns, so that each `cargo test` can be quick.
#[must_use]
pub fn cases(usual: u64) -> u64 {
    let times = std::env::var("HERRINGBONE_CASES").ok();
    usual
        * times.map_or(1, |text| {
            text.parse().expect("HERRINGBONE_CASES is a number")
        })
}

impl Random {
    /// Returns the next 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "there is always a next number, so callers need no Option"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// Returns one of several values.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}
