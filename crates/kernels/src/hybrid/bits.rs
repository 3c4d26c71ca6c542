//! Copies runs of one-bit values into a bitmap, or counts the ones in them.

use super::HybridDecoder;
use super::run::{self, Run};
use super::short::push_short_runs;
use crate::Malformed;
use crate::bit_unpack;
use crate::bitmap::{Bitmap, Writer, load_bits};

/// The error for a run whose value is neither 0 nor 1.
const WIDE: Malformed = Malformed("the value of a run is wider than the bit width");

/// Implements [`HybridDecoder::extend_bitmap`].
#[inline(always)]
pub(super) fn extend_bitmap(
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Bitmap,
) -> Result<usize, Malformed> {
    let before = out.count_set();
    let mut left = n;
    // As long as all bits are set, the bitmap is only a length, so we append to it directly.
    while left > 0 && out.words().is_none() {
        let run = decoder.take(data, left)?;
        match run {
            Run::Repeated { value, left } => out.append_run(value != 0, left),
            Run::Packed { start, next, left } => {
                out.append_packed(data.get(start..).unwrap_or_default(), next, left)?;
            }
        }
        left -= run.left();
    }
    if left > 0 {
        let mut writer = out.write(left);
        let written = write(decoder, data, left, &mut writer);
        writer.finish(out);
        written?;
    }
    Ok(out.count_set() - before)
}

/// Appends the next `n` values.
#[inline(always)]
fn write(
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Writer,
) -> Result<(), Malformed> {
    let mut left = n;
    while left > 0 {
        // Here we take a run in which the last call ended, or one that is not requested or not present as a whole.
        let run = decoder.take(data, left)?;
        match run {
            Run::Repeated { value, left } => out.push_run(value != 0, left),
            Run::Packed { start, next, left } => {
                let bytes = data.get(start..).unwrap_or_default();
                bit_unpack::check_end(bytes, next, 1, left)?;
                out.push_packed(bytes, next, left);
            }
        }
        left -= run.left();
        if decoder.run.left() > 0 || decoder.width == 0 {
            continue;
        }
        let mut position = decoder.position;
        loop {
            (position, left) = push_short_runs(data, position, left, out);
            if left == 0 {
                break;
            }
            let Some((run, end)) = whole(data, position, left)? else {
                break;
            };
            match run {
                Whole::Repeated { bit, count } => {
                    out.push_run(bit, count);
                    left -= count;
                }
                Whole::Packed { start, bytes } => {
                    out.push_packed(data.get(start..).unwrap_or_default(), 0, bytes * 8);
                    left -= bytes * 8;
                }
            }
            position = end;
        }
        decoder.position = position;
    }
    Ok(())
}

/// Implements [`HybridDecoder::skip_count_ones`].
#[inline(always)]
pub(super) fn skip_count_ones(
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
) -> Result<usize, Malformed> {
    let mut ones = 0;
    let mut left = n;
    while left > 0 {
        let run = decoder.take(data, left)?;
        match run {
            Run::Repeated { value, left } => ones += if value != 0 { left } else { 0 },
            Run::Packed { start, next, left } => {
                let bytes = data.get(start..).unwrap_or_default();
                bit_unpack::check_end(bytes, next, 1, left)?;
                ones += count_ones(bytes, next, left);
            }
        }
        left -= run.left();
        if decoder.run.left() > 0 || decoder.width == 0 {
            continue;
        }
        let mut position = decoder.position;
        while left > 0 {
            let Some((run, end)) = whole(data, position, left)? else {
                break;
            };
            match run {
                Whole::Repeated { bit, count } => {
                    ones += usize::from(bit) * count;
                    left -= count;
                }
                Whole::Packed { start, bytes } => {
                    ones += count_ones(data.get(start..).unwrap_or_default(), 0, bytes * 8);
                    left -= bytes * 8;
                }
            }
            position = end;
        }
        decoder.position = position;
    }
    Ok(ones)
}

/// Counts the set bits among `n` bits, starting at bit `first`.
#[inline(always)]
fn count_ones(data: &[u8], first: usize, n: usize) -> usize {
    let (mut ones, mut done) = (0, 0);
    while n - done > 64 {
        ones += load_bits(data, first + done, 64).count_ones() as usize;
        done += 64;
    }
    ones + load_bits(data, first + done, n - done).count_ones() as usize
}

/// A run of bits that is present and requested as a whole.
enum Whole {
    Repeated { bit: bool, count: usize },
    Packed { start: usize, bytes: usize },
}

/// Returns the run at `position`, and the position after it. Returns `None` if the run has more than `n` values or is
/// truncated.
#[inline(always)]
fn whole(data: &[u8], position: usize, n: usize) -> Result<Option<(Whole, usize)>, Malformed> {
    let (header, start) = run::header(data, position)?;
    let count = (header >> 1) as usize;
    if header & 1 == 0 {
        return match data.get(start) {
            _ if count > n => Ok(None),
            Some(0) => Ok(Some((Whole::Repeated { bit: false, count }, start + 1))),
            Some(1) => Ok(Some((Whole::Repeated { bit: true, count }, start + 1))),
            Some(_) => Err(WIDE),
            None => Ok(None),
        };
    }
    let there = count <= data.len().saturating_sub(start);
    let whole = there && count <= n / 8;
    Ok(whole.then_some((
        Whole::Packed {
            start,
            bytes: count,
        },
        start + count,
    )))
}
