//! Fixed-width dictionary entries, for index pages to look up.

use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_kernels::plain;

use super::convert::{BLOCK_BYTES, Lost};
use super::fixed_width_buffer::FixedWidthBuffer;
use crate::encoding::dictionary::Indices;

/// The dictionary entries for an array of values `T`.
pub(super) enum Entries<T> {
    /// Entries in the array's own representation.
    Whole { values: Vec<T>, lost: Lost },
    /// Entries as shorter integers. In this form a large dictionary occupies less cache, and less memory until the
    /// column chunk ends.
    Short {
        values: Vec<i64>,
        widen: fn(&[u8], &mut Vec<T>),
    },
}

impl<T: ArrowNativeType> Entries<T> {
    /// Appends the entries at the next `n` indices. Each entry has `elements` elements.
    pub(super) fn gather(
        &self,
        indices: &mut Indices,
        n: usize,
        elements: usize,
        out: &mut FixedWidthBuffer<T>,
        lost_of_array: &mut Lost,
    ) -> herringbone_format::Result<()> {
        let before = out.len();
        let out = out.vector(n.saturating_mul(elements));
        match self {
            Self::Whole { values, lost } => {
                if !lost.flags().is_empty() {
                    let mut again = indices.clone();
                    again.gather(n, lost.flags(), lost_of_array.vector(before))?;
                }
                match elements {
                    1 => indices.gather(n, values, out),
                    _ => indices.gather_wide(n, values, elements, out),
                }
            }
            Self::Short { values, widen } => {
                let block = BLOCK_BYTES / size_of::<i64>();
                let mut scratch = Vec::with_capacity(block.min(n));
                for start in (0..n).step_by(block) {
                    scratch.clear();
                    indices.gather(block.min(n - start), values, &mut scratch)?;
                    widen(plain::bytes(&scratch), out);
                }
                Ok(())
            }
        }
    }
}
