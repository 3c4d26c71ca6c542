//! Short runs of one bit: eight bytes are such a run with its header, of either kind.
//!
//! Where values and nulls mix a run has some ten values. No branch foresees its length, so that none
//! is taken on it.

use crate::bitmap::Writer;

/// Values that a short run has at most: its header is one byte, and the rest of eight its values.
const LONGEST: usize = 63;

/// Appends runs from `position` on, as long as they are short and there are `left` values for them.
///
/// Returns the position behind them and how many values are left. What it stops at may be anything.
#[inline(always)]
pub(super) fn push_short_runs(
    data: &[u8],
    mut position: usize,
    mut left: usize,
    out: &mut Writer,
) -> (usize, usize) {
    while left >= LONGEST
        && let Some(bytes) = data.get(position..).and_then(<[u8]>::first_chunk::<8>)
    {
        let word = u64::from_le_bytes(*bytes);
        let (header, body) = (word & 0xff, word >> 8);
        let count = (header >> 1) as usize;
        let (is_short, n, size, bits) = if header & 1 == 1 {
            (count <= 7, count * 8, 1 + count, body)
        } else {
            let is_short = header < 0x80 && body & 0xff <= 1;
            (is_short, count, 2, (body & 1).wrapping_neg())
        };
        if !is_short {
            break;
        }
        out.push(bits & !(u64::MAX << n), n);
        position += size;
        left -= n;
    }
    (position, left)
}
