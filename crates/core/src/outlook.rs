//! A guess at the bytes needed by a filtered read, based on its earlier row groups.

use std::sync::{Mutex, PoisonError};

use crate::fetch::{ChunkReads, FetchPolicy};

/// The number of bytes to request speculatively from a local file, until earlier row groups show that the read needs
/// more.
const UNPROVEN_BYTES: u64 = 64 << 10;

/// The number of rows out of ten for a step to leave before we expect later steps to need nearly all of their pages.
const NEEDED_OF_TEN: u64 = 9;

/// The shares of rows left by a filter's steps in earlier row groups. Pruning is step 0, followed by the tests of rows.
///
/// A read uses this to decide whether to request a later step's columns before the previous step is done. With an
/// object store, a round trip costs as much as megabytes, so we always request up to that many bytes. But a local file
/// costs almost nothing to wait for, so there the outlook decides.
#[derive(Debug, Default)]
pub struct Outlook(Mutex<Vec<Share>>);

/// A share of rows or bytes.
#[derive(Debug, Default, Clone, Copy)]
struct Share {
    left: u64,
    all: u64,
}

impl Outlook {
    /// Records a step's result: `left` out of `all` rows, or `left` out of `all` bytes of the next step.
    pub fn add(&self, step: usize, left: u64, all: u64) {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.len() <= step {
            shares.resize(step + 1, Share::default());
        }
        if let Some(share) = shares.get_mut(step) {
            share.left = share.left.saturating_add(left);
            share.all = share.all.saturating_add(all);
        }
    }

    /// Returns true if all of these steps left nearly all rows in earlier row groups.
    #[must_use]
    pub fn leaves_most(&self, mut steps: std::ops::Range<usize>) -> bool {
        let shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        steps.all(|step| {
            let share = shares.get(step).copied().unwrap_or_default();
            let (left, all) = (share.left.saturating_mul(10), share.all);
            all > 0 && left >= all.saturating_mul(NEEDED_OF_TEN)
        })
    }

    /// Returns the number of bytes to request speculatively, before these steps have shown whether the bytes are
    /// needed.
    #[must_use]
    pub fn unproven_bytes(&self, policy: &FetchPolicy, steps: std::ops::Range<usize>) -> u64 {
        match policy.chunk_reads {
            ChunkReads::Windows if !self.leaves_most(steps) => {
                policy.round_trip_bytes.min(UNPROVEN_BYTES)
            }
            _ => policy.round_trip_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_must_have_left_nine_rows_of_ten() {
        let outlook = Outlook::default();
        assert!(!outlook.leaves_most(0..1));
        outlook.add(0, 90, 100);
        outlook.add(2, 5, 5);
        assert!(outlook.leaves_most(0..1));
        // Nothing is known about step 1 yet.
        assert!(!outlook.leaves_most(0..2));
        assert!(outlook.leaves_most(2..3));
        outlook.add(0, 89, 100);
        assert!(!outlook.leaves_most(0..1));
    }

    #[test]
    fn only_local_files_wait_for_proof() {
        let outlook = Outlook::default();
        let bytes = |policy: FetchPolicy| outlook.unproven_bytes(&policy, 0..1);
        let mut local = FetchPolicy::local_async();
        local.round_trip_bytes = 8 << 20;
        assert_eq!(bytes(local.clone()), 64 << 10);
        assert_eq!(bytes(FetchPolicy::local()), 16 << 10);
        assert_eq!(bytes(FetchPolicy::remote()), 4 << 20);
        outlook.add(0, 1, 1);
        assert_eq!(outlook.unproven_bytes(&local, 0..1), 8 << 20);
    }
}
