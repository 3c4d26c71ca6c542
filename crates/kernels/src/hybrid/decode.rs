//! The loop over runs, once for all instruction sets and for all that is made of values.
//!
//! It is inlined into a function of each instruction set, and what is made of the values into it, so
//! that a run costs no call. While it lasts the position is a local variable that lives in a
//! register; where it fails the decoder stays where it was.
//!
//! Most runs are short and lie wholly inside of what is asked for. Those go through a loop that
//! knows nothing of runs that are cut by the beginning or the end of a call.

use std::mem::MaybeUninit;

use super::HybridDecoder;
use super::loops::Loops;
use super::run::{self, Run};
use crate::Malformed;
use crate::bit_unpack;

/// Values that start and end at byte borders together, for every width.
pub(super) const GROUP: usize = 8;

/// What is made of the values of runs.
///
/// # Safety
/// `groups` and `part` write all slots that they are given, unless they fail.
pub(super) unsafe trait Values<T> {
    /// The token of the instructions that are used.
    fn cpu(&self) -> impl Loops;

    /// What a repeated value stands for.
    fn repeated(&self, value: u32) -> Result<T, Malformed>;

    /// Makes whole groups of values, which `bytes` begin with, into what they stand for.
    ///
    /// Values that lie behind the end of `bytes` are unspecified.
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed>;

    /// Makes the values from value `first` on into what they stand for.
    ///
    /// Values that lie behind the end of `bytes` are unspecified.
    fn part(&self, bytes: &[u8], first: usize, out: &mut [MaybeUninit<T>])
    -> Result<(), Malformed>;
}

/// Appends what the next `n` values stand for; appends nothing where that fails.
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
        // A run that the last call ended in, that this call ends in, or without its last bytes.
        let run = local.run.split(slots.len());
        let (these, rest) = slots.split_at_mut(run.left());
        if !these.is_empty() {
            values
                .cpu()
                .cut_run(values, data, local.width, run, these)?;
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
    // SAFETY: `n` elements were reserved; runs covered all of their slots, since the loop goes on
    // until none is left, and `values` keep their promise.
    unsafe { out.set_len(out.len() + n) };
    Ok(())
}

/// Writes what the values of runs stand for, as long as whole runs fit into `slots`.
///
/// Returns the byte position behind the last of them and the number of slots that are filled.
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
            // Fewer than 2^31 groups of at most 32 bytes.
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

/// Writes all of `slots`, which are as long as the run: a run that does not begin or end whole.
#[inline(always)]
pub(super) fn cut_run<T: Copy>(
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

/// Writes `value` to the first `n` of `slots`, and anything to the others.
#[inline(always)]
fn fill<T: Copy>(slots: &mut [MaybeUninit<T>], n: usize, value: T) {
    match size_of::<T>() {
        0..=4 => fill_blocks::<T, 16>(slots, n, value),
        5..=8 => fill_blocks::<T, 8>(slots, n, value),
        _ => fill_blocks::<T, 4>(slots, n, value),
    }
}

/// [`fill`] in blocks of `N`, the last of which may end behind `n`.
#[inline(always)]
fn fill_blocks<T: Copy, const N: usize>(slots: &mut [MaybeUninit<T>], n: usize, value: T) {
    let value = MaybeUninit::new(value);
    let (blocks, _) = slots.as_chunks_mut::<N>();
    match blocks.get_mut(..n.div_ceil(N)) {
        Some(blocks) => blocks.iter_mut().for_each(|block| *block = [value; N]),
        None => slots[..n].fill(value),
    }
}
