//! Writing runs.
//!
//! Groups of eight values are bit-packed until a group has equal values: they and the equal ones
//! behind them become a run-length encoded run, if that is not longer than packing them. So packed
//! runs consist of whole groups, but for the last one of the data, which is padded with zeros.
//! What is packed is one stretch of the input and goes through [`bit_pack`](crate::bit_pack) as such.
//!
//! No length and no width is written in front of the runs. Values of no bits at all are one run
//! without a value: this library needs no bytes for them, but other readers look for a header.

use crate::bit_pack;

mod bits;
mod numbers;
#[cfg(test)]
mod tests;

use bits::Bits;

/// Values of a bit-packed group.
const GROUP: usize = 8;
/// Groups of a bit-packed run at most.
const MAX_GROUPS: usize = 1 << 20;
/// Bytes of the header of a packed run at most.
const MOST_HEADER_BYTES: usize = 4;
/// Values of a run-length encoded run at most: readers keep the count in signed 32 bits.
const MAX_REPEATS: usize = 1 << 30;

/// Values to be written.
trait Values {
    /// How many there are.
    fn len(&self) -> usize;
    /// Value `at`, which exists.
    fn value(&self, at: usize) -> u32;
    /// The first of the groups at `from`, `from + 8` and so on whose values are equal; where there
    /// is none, the start of the last group, which is not whole, or the end.
    fn next_equal_group(&self, from: usize) -> usize;
    /// The end of the values from `at` on that equal value `at`.
    fn end_of_run(&self, at: usize) -> usize;
    /// Appends the values `from..to`, padded to whole bytes.
    fn pack(&self, from: usize, to: usize, width: u8, out: &mut Vec<u8>);
}

/// Which equal values become a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Those that save bytes enough to be worth the time that a reader takes for one more run.
    Shortest,
    /// A group of them and more. Of single bits that is more bytes, but of the same few kinds: codecs
    /// that look for repetitions only, such as SNAPPY and LZ4, make less of them.
    Repetitive,
    /// `LONG_RUN` of them and more. Where runs and packed groups take turns, bytes mean something else every few
    /// bytes: codecs that count how often a byte occurs, such as ZSTD and GZIP, make less of packed groups alone.
    Long,
}

/// Bytes that a run has to save: readers take as long to begin one, and to go on behind it, as to get some bytes.
const LEAST_SAVED: usize = 2;

/// The fewest equal values that are a long run.
const LONG_RUN: usize = 512;

/// Appends the runs of `values`, `width` (at most 32) bits each, such as dictionary indices.
///
/// Bits above the width are ignored.
pub fn encode_u32(values: &[u32], width: u8, runs: Runs, out: &mut Vec<u8>) {
    encode(&values, width.min(32), runs, out);
}

/// Appends the runs of `levels`, `width` (at most 8) bits each.
///
/// Bits above the width are ignored.
pub fn encode_u8(levels: &[u8], width: u8, runs: Runs, out: &mut Vec<u8>) {
    encode(&levels, width.min(8), runs, out);
}

/// Appends the runs of the `n` bits of a bitmap from bit `first` on, as values of one bit: validity
/// that is written as definition levels, or booleans. Bits behind the end of `bits` are zeros.
pub fn encode_bits(bits: &[u8], first: usize, n: usize, runs: Runs, out: &mut Vec<u8>) {
    encode(&Bits { bits, first, n }, 1, runs, out);
}

/// Appends `n` times the `value` of `width` (at most 32) bits as one run-length encoded run; nothing
/// for no values. More than 2^30 values become several runs.
pub fn encode_run(value: u32, n: usize, width: u8, out: &mut Vec<u8>) {
    let width = usize::from(width).min(32);
    let value = value & crate::bitmap::low_bits(width) as u32;
    let mut left = n;
    while left > 0 {
        let count = left.min(MAX_REPEATS);
        header((count as u64) << 1, out);
        out.extend(value.to_le_bytes().iter().take(width.div_ceil(8)));
        left -= count;
    }
}

/// Appends the runs of `values`.
#[inline(always)]
fn encode(values: &impl Values, width: u8, runs: Runs, out: &mut Vec<u8>) {
    let n = values.len();
    if width == 0 {
        return encode_run(0, n, 0, out);
    }
    // The values before `at` are written, but for those from `packed` on.
    let (mut packed, mut at) = (0, 0);
    loop {
        at = values.next_equal_group(at);
        if at == n {
            return pack(values, packed, n, width, out);
        }
        let end = values.end_of_run(at);
        let repeats = end - at;
        let is_packed = match runs {
            Runs::Shortest => is_short(repeats, end == n, packed < at, width.into()),
            Runs::Repetitive => {
                repeats < GROUP && is_short(repeats, end == n, packed < at, width.into())
            }
            Runs::Long => repeats < LONG_RUN,
        };
        if is_packed {
            // Of a run that is not long enough no part is.
            let groups = if runs == Runs::Long {
                repeats / GROUP
            } else {
                1
            };
            at = (at + groups.max(1) * GROUP).min(n);
        } else {
            pack(values, packed, at, width, out);
            encode_run(values.value(at), end - at, width, out);
            (packed, at) = (end, end);
        }
    }
}

/// Whether `n` equal values are rather packed.
#[inline]
fn is_short(n: usize, are_last: bool, behind_packed: bool, width: usize) -> bool {
    let run_bytes = 1 + width.div_ceil(8);
    if are_last {
        let packed_bytes = usize::from(!behind_packed) + n.div_ceil(GROUP) * width;
        return run_bytes > packed_bytes;
    }
    // Packed values that go on behind it have a header once more.
    let least_bytes = run_bytes + usize::from(behind_packed) + LEAST_SAVED;
    // For less than a group, only packing goes on: the values behind are needed to fill it.
    n < GROUP || n.saturating_mul(width) < least_bytes * 8
}

/// Appends packed runs of the values `from..to`: whole groups, or all that is left.
#[inline]
fn pack(values: &impl Values, from: usize, to: usize, width: u8, out: &mut Vec<u8>) {
    if from < to {
        // At once, for what follows as well: runs in between take less.
        out.reserve(MOST_HEADER_BYTES + (values.len() - from).div_ceil(GROUP) * usize::from(width));
    }
    let mut at = from;
    while at < to {
        let end = to.min(at + MAX_GROUPS * GROUP);
        let groups = (end - at).div_ceil(GROUP);
        header((groups as u64) << 1 | 1, out);
        let behind = out.len() + groups * usize::from(width);
        values.pack(at, end, width, out);
        out.resize(behind, 0);
        at = end;
    }
}

/// Appends a run header.
#[inline]
fn header(mut header: u64, out: &mut Vec<u8>) {
    while header >= 0x80 {
        out.push(header as u8 | 0x80);
        header >>= 7;
    }
    out.push(header as u8);
}
