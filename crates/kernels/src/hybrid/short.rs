//! Decodes short runs of one-bit values, which are runs of either kind that fit into eight bytes with their header.
//!
//! If values and nulls are mixed, a run has about ten values. Its length is unpredictable, so we do not branch on it.
//! Between such runs there are longer runs of equal bits, whose header has two bytes.

use crate::bitmap::Writer;

/// The maximum number of values in a short run, because the header is one of eight bytes. The values of a packed run
/// are in the remaining seven bytes.
const LONGEST: usize = 63;

/// Appends runs from `position` on, while they are short or long runs as described above and fit into `left` values.
///
/// Returns the position after them and the number of values left. This may stop at a run of any kind.
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

/// Returns the bit and the length of a run with a two-byte header, if there is one at the start of `word`.
#[inline(always)]
fn long_run(word: u64) -> Option<(bool, usize)> {
    // This is a run if the first byte has its highest bit set, and the second does not. The lowest bit, which would
    // mark a packed run, must not be set.
    let is_run = word & 0x8081 == 0x80;
    let value = word >> 16 & 0xff;
    let n = (word >> 1 & 0x3f) | (word >> 2 & 0x1fc0);
    (is_run && value <= 1).then_some((value == 1, n as usize))
}
