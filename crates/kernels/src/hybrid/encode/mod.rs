//! Encodes runs.
//!
//! Groups of eight values are bit-packed until a group has only equal values. That group and the equal values after
//! it become a run-length encoded run, if that is not longer than packing them. So packed runs consist of whole
//! groups, except for the last one of the data, which is padded with zeros. The packed values are one stretch of
//! the input, which goes through [`bit_pack`](crate::bit_pack) as a whole.
//!
//! No length and no width is written before the runs. Values of width 0 are written as one run without a value.
//! This library needs no bytes for them, but other readers look for a header.

use crate::bit_pack;

mod bits;
mod numbers;
#[cfg(test)]
mod tests;

use bits::Bits;

/// The number of values in a bit-packed group.
const GROUP: usize = 8;
/// The maximum number of groups in a bit-packed run.
const MAX_GROUPS: usize = 1 << 20;
/// The maximum size of the header of a packed run, in bytes.
const MAX_HEADER_BYTES: usize = 4;
/// The maximum number of values in a run-length encoded run: readers store the count in a signed 32-bit integer.
const MAX_REPEATS: usize = 1 << 30;

/// Values to encode.
trait Values {
    /// Returns the number of values.
    fn len(&self) -> usize;
    /// Returns value `at`, which exists.
    fn value(&self, at: usize) -> u32;
    /// Returns the first of the groups at `from`, `from + 8` and so on whose values are equal. If there is none,
    /// returns the start of the incomplete last group, or the end.
    fn next_equal_group(&self, from: usize) -> usize;
    /// Returns the end of the values from `at` on that equal value `at`.
    fn end_of_run(&self, at: usize) -> usize;
    /// Appends the values `from..to`, padded to whole bytes.
    fn pack(&self, from: usize, to: usize, width: u8, out: &mut Vec<u8>);
}

/// The rule for which equal values become a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Values become a run if that saves enough bytes to be worth the time that a reader spends on one more run.
    Shortest,
    /// A group of equal values or more becomes a run. For single bits that takes more bytes, but only a few
    /// distinct ones. Codecs that only look for repetitions, such as SNAPPY and LZ4, compress them better.
    Repetitive,
    /// `LONG_RUN` equal values or more become a run. If runs and packed groups alternate, bytes change their
    /// meaning every few bytes. Codecs that count byte frequencies, such as ZSTD and GZIP, compress packed groups
    /// alone better.
    Long,
}

/// The number of bytes that a run has to save: starting a run and continuing after it takes readers as long as
/// fetching a few bytes.
const MIN_SAVED: usize = 2;

/// The fewest equal values that form a long run.
const LONG_RUN: usize = 512;

/// Appends the runs of `values`, such as dictionary indices, with `width` (at most 32) bits each.
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

/// Appends the runs of `n` bits of a bitmap from bit `first` on, as values of one bit. The bits are booleans, or
/// validity written as definition levels. Bits past the end of `bits` are zeros.
pub fn encode_bits(bits: &[u8], first: usize, n: usize, runs: Runs, out: &mut Vec<u8>) {
    encode(&Bits { bits, first, n }, 1, runs, out);
}

/// Appends `value`, with `width` (at most 32) bits, `n` times as one run-length encoded run. Appends nothing if `n`
/// is 0. More than 2^30 values become several runs.
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
    // The values before `at` are written, except for those from `packed` on.
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
            // If the whole run is too short for [`Runs::Long`], so is each of its groups.
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

/// Returns true if `n` equal values should be packed instead of becoming a run.
#[inline]
fn is_short(n: usize, are_last: bool, behind_packed: bool, width: usize) -> bool {
    let run_bytes = 1 + width.div_ceil(8);
    if are_last {
        let packed_bytes = usize::from(!behind_packed) + n.div_ceil(GROUP) * width;
        return run_bytes > packed_bytes;
    }
    // If packed values precede this run, those after it need another header.
    let least_bytes = run_bytes + usize::from(behind_packed) + MIN_SAVED;
    // Fewer values than a group are always packed: the group needs the values after them.
    n < GROUP || n.saturating_mul(width) < least_bytes * 8
}

/// Appends packed runs of the values `from..to`, which are whole groups or the end of the data.
#[inline]
fn pack(values: &impl Values, from: usize, to: usize, width: u8, out: &mut Vec<u8>) {
    if from < to {
        // Reserves at once for all values that follow, too: runs in between take less.
        out.reserve(MAX_HEADER_BYTES + (values.len() - from).div_ceil(GROUP) * usize::from(width));
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
