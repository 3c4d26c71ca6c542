//! Short runs of one bit: eight bytes are such a run with its header, of either kind.
//!
//! Where values and nulls mix a run has some ten values. No branch foresees its length, so that none
//! is taken on it. Among such runs come longer ones of equal bits, whose header is two bytes.

use crate::bitmap::Writer;

/// Values that a short run has at most: its header is one byte, and the rest of eight its values.
const LONGEST: usize = 63;

/// Appends runs from `position` on, as long as they are such and there are `left` values for them.
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
            let Some((bit, n)) = long_run(word).filter(|(_, n)| *n <= left) else {
                break;
            };
            out.push_run(bit, n);
            position += 3;
            left -= n;
            continue;
        }
        out.push(bits & !(u64::MAX << n), n);
        position += size;
        left -= n;
    }
    (position, left)
}

/// The bit and the length of a run whose header is two bytes, if there is one at the front of `word`.
#[inline(always)]
fn long_run(word: u64) -> Option<(bool, usize)> {
    // A bit on top of the first byte and none of the second; no bit that makes the run a packed one.
    let is_run = word & 0x8081 == 0x80;
    let value = word >> 16 & 0xff;
    let n = (word >> 1 & 0x3f) | (word >> 2 & 0x1fc0);
    (is_run && value <= 1).then_some((value == 1, n as usize))
}
