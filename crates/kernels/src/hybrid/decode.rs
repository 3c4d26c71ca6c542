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
    let width = local.width;
    let cut_run = |run: Run, slots: &mut [MaybeUninit<T>]| {
        values.cpu().cut_run(values, data, width, run, slots)
    };
    out.reserve(n);
    let slots = out.spare_capacity_mut().get_mut(..n).unwrap_or_default();
    // What is left of the run that the last call ended in.
    let head = local.run.split(slots.len());
    let (these, mut slots) = slots.split_at_mut(head.left());
    if !these.is_empty() {
        cut_run(head, these)?;
    }
    while !slots.is_empty() {
        let run = run::next(data, &mut local.position, width)?;
        if run.left() > slots.len() {
            local.run = run;
            cut_run(local.run.split(slots.len()), slots)?;
            break;
        }
        match run {
            Run::Repeated { value, left } => fill(slots, left, values.repeated(value)?),
            Run::Packed { start, left, .. } if left % GROUP == 0 => {
                let (groups, _) = slots[..left].as_chunks_mut::<GROUP>();
                values.groups(data.get(start..).unwrap_or_default(), groups)?;
            }
            Run::Packed { left, .. } => cut_run(run, &mut slots[..left])?,
        }
        slots = &mut slots[run.left()..];
    }
    *decoder = local;
    // SAFETY: `n` elements were reserved; runs covered all of their slots, since the loop goes on
    // until none is left, and `values` keep their promise.
    unsafe { out.set_len(out.len() + n) };
    Ok(())
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
