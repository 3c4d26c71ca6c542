//! Applying a read's offset and limit across all files.

use herringbone::ReadOptions;

use crate::sequence::Rows;

/// The numbers of rows still to skip and still to return.
#[derive(Debug)]
pub(crate) struct OffsetLimit {
    skip: u64,
    left: u64,
}

impl OffsetLimit {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            skip: options.offset,
            left: options.limit.unwrap_or(u64::MAX),
        }
    }

    /// Ends the window, so that no more rows are returned.
    pub(crate) fn end(&mut self) {
        self.left = 0;
    }

    /// Returns true if no more rows are returned.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns a batch's rows within the window, or `None` if the batch has rows but none within
    /// the window.
    pub(crate) fn cut<B: Rows>(&mut self, batch: B) -> Option<B> {
        let rows = batch.num_rows();
        // The casts lose nothing, because neither number exceeds the batch's row count.
        let skipped = self.skip.min(rows as u64) as usize;
        let taken = self.left.min((rows - skipped) as u64) as usize;
        self.skip -= skipped as u64;
        self.left -= taken as u64;
        (taken > 0 || rows == 0).then(|| batch.part(skipped, taken))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};

    use super::*;

    #[test]
    fn rows_before_and_after_are_cut() {
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..4));
        let batch = RecordBatch::try_from_iter([("x", values)]).unwrap();
        let mut window = OffsetLimit::new(&ReadOptions::new().offset(5).limit(4));
        assert_eq!(window.cut(batch.clone()), None);
        assert_eq!(window.cut(batch.clone()), Some(batch.slice(1, 3)));
        assert!(!window.is_over());
        assert_eq!(window.cut(batch.clone()), Some(batch.slice(0, 1)));
        assert!(window.is_over());
        assert_eq!(window.cut(batch), None);
    }
}
