//! Encodes runs.
//!
//! We bit-pack groups of eight values until all values in a group are equal. That group and the equal values after it
//! become a run-length encoded run, if this is not longer than packing them. So packed runs consist of whole groups.
//! Only the data's last packed run may not, and we pad it with zeros. The packed values are one stretch of the input,
//! which goes through [`bit_pack`](crate::bit_pack) as a whole.
//!
//! We write neither a length nor a width before the runs. Values of width 0 are written as one run without a value.
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
/// The maximum size of a packed run's header, in bytes.
const MAX_HEADER_BYTES: usize = 4;
/// The maximum number of values in a run-length encoded run. There is a limit because readers store the count in a
/// signed 32-bit integer.
const MAX_REPEATS: usize = 1 << 30;

/// Values that can be encoded.
trait Values {
    /// Returns the number of values.
    fn len(&self) -> usize;
    /// Returns value `at`, which must exist.
    fn value(&self, at: usize) -> u32;
    /// Returns the first of the groups at `from`, `from + 8` and so on whose values are equal. If there is none,
    /// returns the start of the incomplete last group, or the end.
    fn next_equal_group(&self, from: usize) -> usize;
    /// Returns the end of the stretch of values from `at` on that are equal to value `at`.
    fn end_of_run(&self, at: usize) -> usize;
    /// Appends the values `from..to`, padded to whole bytes.
    fn pack(&self, from: usize, to: usize, width: u8, out: &mut Vec<u8>);
}

/// The rule that decides which equal values become a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Values become a run if that saves enough bytes to be worth the time that a reader spends on one more run.
    Shortest,
    /// A group of equal values or more becomes a run. For single bits this takes more bytes, but only a few distinct
    /// ones. Therefore codecs that only look for repetitions, such as SNAPPY and LZ4, compress them better.
    Repetitive,
    /// `LONG_RUN` equal values or more become a run. If runs and packed groups alternate, bytes change their meaning
    /// every few bytes. So codecs that count byte frequencies, such as ZSTD and GZIP, compress packed groups alone
    /// better.
    Long,
}

/// The number of bytes that a run has to save, because starting a run and continuing after it takes readers as long as
/// fetching a few bytes.
const MIN_SAVED: usize = 2;

/// The minimum number of equal values in a long run.
const LONG_RUN: usize = 512;

/// Appends the runs of `values`, such as dictionary indices, with `width` (at most 32) bits each.
///
/// Bits above the width are ignored.
pub fn encode_u32(values: &[u32], width: u8, runs: Runs, out: &mut Vec<u8>) {
    encode(&values, width.min(32), runs, out);
}

/// Appends the runs of `levels`, with `width` (at most 8) bits each.
///
/// Bits above the width are ignored.
pub fn encode_u8(levels: &[u8], width: u8, runs: Runs, out: &mut Vec<u8>) {
    encode(&levels, width.min(8), runs, out);
}

/// Appends the runs of `n` bits from a bitmap, starting at bit `first`, as one-bit values. The bits are booleans, or
/// validity that is written as definition levels. Bits past the end of `bits` are zeros.
pub fn encode_bits(bits: &[u8], first: usize, n: usize, runs: Runs, out: &mut Vec<u8>) {
    encode(&Bits { bits, first, n }, 1, runs, out);
}

/// Appends `value`, with `width` (at most 32) bits, `n` times as one run-length encoded run. If `n` is 0, nothing is
/// appended. More than 2^30 values become several runs.
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
    // The values before `at` have been written, except for the ones from `packed` on.
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
            // If the whole run is too short for [`Runs::Long`], then so is each of its groups, and we can skip them
            // all.
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

/// Returns true if we should pack `n` equal values instead of making them a run.
#[inline]
fn is_short(n: usize, are_last: bool, behind_packed: bool, width: usize) -> bool {
    let run_bytes = 1 + width.div_ceil(8);
    if are_last {
        let packed_bytes = usize::from(!behind_packed) + n.div_ceil(GROUP) * width;
        return run_bytes > packed_bytes;
    }
    // If packed values precede this run, the values after it need another header.
    let least_bytes = run_bytes + usize::from(behind_packed) + MIN_SAVED;
    // If there are fewer values than a group, we always pack them, because their group needs the values after them.
    n < GROUP || n.saturating_mul(width) < least_bytes * 8
}

/// Appends packed runs of the values `from..to`, which end at a group boundary or at the end of the data.
#[inline]
fn pack(values: &impl Values, from: usize, to: usize, width: u8, out: &mut Vec<u8>) {
    if from < to {
        // This reserves room for all values that follow, too, because runs in between take less.
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
