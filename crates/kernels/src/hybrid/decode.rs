//! The loop over runs, which all instruction sets and all kinds of output share.
//!
//! This loop is inlined into one function per instruction set, and the conversion of values is inlined into the loop,
//! so that a run costs no call. During the loop, the position is a local variable in a register. Therefore the decoder
//! is unchanged after an error.
//!
//! Most runs are short and lie entirely within the requested values. A separate loop decodes them, and need not handle
//! runs that the start or the end of a call splits.

use std::mem::MaybeUninit;

use super::HybridDecoder;
use super::loops::Loops;
use super::run::{self, Run};
use crate::Malformed;
use crate::bit_unpack;

/// The number of values in a group, which starts and ends on a byte boundary for every bit width.
pub const GROUP: usize = 8;

/// A conversion from the values of runs to output elements.
///
/// # Safety
/// If `groups` and `part` succeed, they have written all slots passed to them.
pub(super) unsafe trait Values<T> {
    /// Returns the token of the instruction set in use.
    fn cpu(&self) -> impl Loops;

    /// Converts a repeated value.
    fn repeated(&self, value: u32) -> Result<T, Malformed>;

    /// Converts whole groups of values, starting at the first byte of `bytes`.
    ///
    /// Values past the end of `bytes` are unspecified.
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed>;

    /// Converts values from index `first` on, with one value for each slot of `out`.
    ///
    /// Values past the end of `bytes` are unspecified.
    fn part(&self, bytes: &[u8], first: usize, out: &mut [MaybeUninit<T>])
    -> Result<(), Malformed>;
}

/// Appends the conversions of the next `n` values, or nothing if there is an error.
#[inline(always)]
pub(super) fn extend<T: Copy>(
    values: &impl Values<T>,
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    let mut local = decoder.clone();
    out.reserve(n);
    let mut slots = out.spare_capacity_mut().get_mut(..n).unwrap_or_default();
    loop {
        // First we take a partial run. The last call or this call ends in it, or its last bytes are missing.
        let run = local.run.split(slots.len());
        let (these, rest) = slots.split_at_mut(run.left());
        if !these.is_empty() {
            values
                .cpu()
                .decode_part_of_run(values, data, local.width, run, these)?;
        }
        slots = rest;
        let (position, done) = whole_runs(values, data, local.position, local.width, slots)?;
        local.position = position;
        slots = &mut slots[done..];
        if slots.is_empty() {
            break;
        }
        local.run = run::next(data, &mut local.position, local.width)?;
    }
    *decoder = local;
    // SAFETY: `n` elements were reserved. Runs covered all of their slots, since the loop continues until none is
    // left, and `values` upholds its contract.
    unsafe { out.set_len(out.len() + n) };
    Ok(())
}

/// Writes the conversions of whole runs, as long as they fit into `slots`.
///
/// Returns the byte position after the last of these runs, and the number of filled slots.
#[inline(always)]
fn whole_runs<T: Copy>(
    values: &impl Values<T>,
    data: &[u8],
    mut position: usize,
    width: u8,
    slots: &mut [MaybeUninit<T>],
) -> Result<(usize, usize), Malformed> {
    let mut done = 0;
    while done < slots.len() && width > 0 {
        let slots = &mut slots[done..];
        let (header, start) = run::header(data, position)?;
        let count = (header >> 1) as usize;
        if header & 1 == 0 {
            if count > slots.len() {
                break;
            }
            let (value, end) = run::repeated(data, start, width)?;
            fill(slots, count, values.repeated(value)?);
            position = end;
            done += count;
        } else {
            let bytes = data.get(start..).unwrap_or_default();
            let (groups, _) = slots.as_chunks_mut::<GROUP>();
            // The product cannot overflow, because there are fewer than 2^31 groups of at most 32 bytes.
            let end = count as u64 * u64::from(width);
            let Some(groups) = groups
                .get_mut(..count)
                .filter(|_| end <= bytes.len() as u64)
            else {
                break;
            };
            values.groups(bytes, groups)?;
            position = start + end as usize;
            done += count * GROUP;
        }
    }
    Ok((position, done))
}

/// Fills `slots` from a run of equal length. The run may begin or end within a group.
#[inline(always)]
pub(super) fn decode_part_of_run<T: Copy>(
    values: &impl Values<T>,
    data: &[u8],
    width: u8,
    run: Run,
    slots: &mut [MaybeUninit<T>],
) -> Result<(), Malformed> {
    let (start, next) = match run {
        Run::Repeated { value, .. } => {
            slots.fill(MaybeUninit::new(values.repeated(value)?));
            return Ok(());
        }
        Run::Packed { start, next, .. } => (start, next),
    };
    let bytes = data.get(start..).unwrap_or_default();
    bit_unpack::check_end(bytes, next, width, slots.len())?;
    let mut bytes = bytes
        .get(next / GROUP * usize::from(width)..)
        .unwrap_or_default();
    let inside = next % GROUP;
    let (head, rest) = slots.split_at_mut((GROUP - inside).min(slots.len()) % GROUP);
    if !head.is_empty() {
        values.part(bytes, inside, head)?;
        bytes = bytes.get(usize::from(width)..).unwrap_or_default();
    }
    let (groups, tail) = rest.as_chunks_mut::<GROUP>();
    values.groups(bytes, groups)?;
    if tail.is_empty() {
        return Ok(());
    }
    values.part(
        bytes
            .get(groups.len() * usize::from(width)..)
            .unwrap_or_default(),
        0,
        tail,
    )
}

/// Writes `value` to the first `n` of `slots`, and arbitrary values to the others, which later runs overwrite.
#[inline(always)]
fn fill<T: Copy>(slots: &mut [MaybeUninit<T>], n: usize, value: T) {
    match size_of::<T>() {
        0..=4 => fill_blocks::<T, 16>(slots, n, value),
        5..=8 => fill_blocks::<T, 8>(slots, n, value),
        _ => fill_blocks::<T, 4>(slots, n, value),
    }
}

/// Implements [`fill`] in blocks of `N` slots, and so the last block may extend past `n`.
#[inline(always)]
fn fill_blocks<T: Copy, const N: usize>(slots: &mut [MaybeUninit<T>], n: usize, value: T) {
    let value = MaybeUninit::new(value);
    let (blocks, _) = slots.as_chunks_mut::<N>();
    match blocks.get_mut(..n.div_ceil(N)) {
        Some(blocks) => blocks.iter_mut().for_each(|block| *block = [value; N]),
        None => slots[..n].fill(value),
    }
}
