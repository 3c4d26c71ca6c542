//! Runs become dictionary entries on x86-64: eight indices are unpacked into registers, compared
//! and looked up.
//!
//! Indices of up to eight bits become a word by one PDEP; wider ones are unpacked with AVX2, which
//! is enough for AVX-512 processors too, since loading the entries takes longer than unpacking.
//!
//! Gather instructions are not used. They take 2.3 cycles an entry of 32 bits and 4 cycles an entry
//! of 64 bits where single loads take 1.2, and microcode against data sampling attacks makes them
//! slower still.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::HybridDecoder;
use super::decode::{GROUP, Values};
use super::gather::{BEYOND, Entries};
use super::limit::Limit;
use super::loops::Loops;
use crate::Malformed;
use crate::bit_unpack::avx2::{Plan, load_word, loads_inside};
use crate::bitmap::low_bits;
use crate::cpu::{Avx2, Bmi2, Scalar};

/// Appends the entries of the next `n` indices, in the way that suits their width.
pub(super) fn extend<T: Copy>(
    cpu: Avx2,
    entries: Entries<'_, T>,
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    if entries.dictionary.is_empty() {
        return Scalar.extend(&entries, decoder, data, n, out);
    }
    match (cpu.bmi2(), entries.width) {
        (Some(bmi2), 0..=7) => cpu.extend(
            &ByWords::<_, false>::new(cpu, bmi2, entries),
            decoder,
            data,
            n,
            out,
        ),
        (Some(bmi2), 8) => cpu.extend(
            &ByWords::<_, true>::new(cpu, bmi2, entries),
            decoder,
            data,
            n,
            out,
        ),
        _ => cpu.extend(&ByVectors::new(cpu, entries), decoder, data, n, out),
    }
}

/// Entries by indices of at most 8 bits; `WIDE` is for exactly 8.
struct ByWords<'a, T, const WIDE: bool> {
    cpu: Avx2,
    entries: Entries<'a, T>,
    /// What spreads the indices of a group over a word.
    mask: u64,
    /// The last index.
    limit: Limit,
}

impl<'a, T: Copy, const WIDE: bool> ByWords<'a, T, WIDE> {
    /// For a dictionary that is not empty; the width is at most 7, or exactly 8 if `WIDE`.
    #[inline(always)]
    fn new(cpu: Avx2, _: Bmi2, entries: Entries<'a, T>) -> Self {
        let last = entries.dictionary.len() - 1;
        let most = if WIDE { 8 } else { 7 };
        let mask = low_bits(entries.width.min(most).into()) * u64::from_le_bytes([1; 8]);
        let limit = Limit::new(
            u8::try_from(last)
                .unwrap_or(u8::MAX)
                .min(low_bits(most.into()) as u8),
        );
        Self {
            cpu,
            entries,
            mask,
            limit,
        }
    }

    /// [`Values::groups`] of words that `load` gets from a byte position.
    #[inline(always)]
    fn look_up_words(
        &self,
        out: &mut [[MaybeUninit<T>; GROUP]],
        load: impl Fn(usize) -> u64,
    ) -> Result<(), Malformed> {
        let mut at = 0;
        for out in out {
            // SAFETY: the token that `new` takes proves that the instruction is there.
            let indices = unsafe { _pdep_u64(load(at), self.mask) };
            at += usize::from(self.entries.width);
            let broken = if WIDE {
                self.limit.broken(indices)
            } else {
                self.limit.broken_narrow(indices)
            };
            if broken != 0 {
                return Err(BEYOND);
            }
            // SAFETY: no index is greater than the last one of the dictionary.
            unsafe { look_up::<T, 1>([indices], self.entries.dictionary, out) };
        }
        Ok(())
    }
}

// SAFETY: both write all slots, one after the other.
unsafe impl<T: Copy, const WIDE: bool> Values<T> for ByWords<'_, T, WIDE> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        self.cpu
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<T, Malformed> {
        self.entries.entry(value as usize)
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed> {
        if loads_inside(
            bytes.len(),
            out.len(),
            self.entries.width.into(),
            size_of::<u64>(),
        ) {
            // SAFETY: all loads of the groups stay inside of `bytes`.
            let load = |at| unsafe { bytes.as_ptr().add(at).cast::<u64>().read_unaligned() };
            self.look_up_words(out, load)
        } else {
            self.look_up_words(out, |at| load_word(bytes, at))
        }
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed> {
        self.entries.one_by_one(bytes, first, out)
    }
}

/// Entries by indices of at most 32 bits.
struct ByVectors<'a, T> {
    cpu: Avx2,
    entries: Entries<'a, T>,
    /// Where the indices of a group are.
    plan: Plan,
    /// The last index, in every lane.
    last: __m256i,
}

impl<'a, T: Copy> ByVectors<'a, T> {
    /// For a dictionary that is not empty.
    #[inline(always)]
    fn new(cpu: Avx2, entries: Entries<'a, T>) -> Self {
        let last = entries.dictionary.len() - 1;
        let last = u32::try_from(last).unwrap_or(u32::MAX).cast_signed();
        // SAFETY: the token proves that the instructions are there.
        let (plan, last) = unsafe { (Plan::new(entries.width, 0), _mm256_set1_epi32(last)) };
        Self {
            cpu,
            entries,
            plan,
            last,
        }
    }

    /// [`Values::groups`] of vectors that `load` gets from a byte position.
    #[inline(always)]
    fn look_up_vectors(
        &self,
        out: &mut [[MaybeUninit<T>; GROUP]],
        load: impl Fn(usize) -> __m256i,
    ) -> Result<(), Malformed> {
        let mut at = 0;
        for out in out {
            let indices = load(at);
            at += usize::from(self.entries.width);
            // SAFETY: the token proves that the instructions are there.
            if !unsafe { all_at_most(indices, self.last) } {
                return Err(BEYOND);
            }
            // SAFETY: a vector has the layout of its words.
            let words = unsafe { std::mem::transmute::<__m256i, [u64; 4]>(indices) };
            // SAFETY: no index is greater than the last one of the dictionary.
            unsafe { look_up::<T, 4>(words, self.entries.dictionary, out) };
        }
        Ok(())
    }
}

// SAFETY: both write all slots, one after the other.
unsafe impl<T: Copy> Values<T> for ByVectors<'_, T> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        self.cpu
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<T, Malformed> {
        self.entries.entry(value as usize)
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed> {
        if loads_inside(
            bytes.len(),
            out.len(),
            self.entries.width.into(),
            size_of::<__m256i>(),
        ) {
            // SAFETY: all loads of the groups stay inside of `bytes`, and the token proves that the
            // instructions are there.
            let load = |at| unsafe {
                self.plan
                    .values_of(_mm256_loadu_si256(bytes.as_ptr().add(at).cast()))
            };
            self.look_up_vectors(out, load)
        } else {
            // SAFETY: the token proves that the instructions are there.
            self.look_up_vectors(out, |at| unsafe { self.plan.values(bytes, at) })
        }
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed> {
        self.entries.one_by_one(bytes, first, out)
    }
}

/// Whether no lane of `values` is greater than the same lane of `last`, as unsigned numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn all_at_most(values: __m256i, last: __m256i) -> bool {
    let within = _mm256_cmpeq_epi32(_mm256_max_epu32(values, last), last);
    _mm256_movemask_epi8(within) == -1
}

/// Writes the entries of eight indices, which fill `WORDS` words.
///
/// # Safety
/// Every index is below `dictionary.len()`.
#[inline(always)]
unsafe fn look_up<T: Copy, const WORDS: usize>(
    words: [u64; WORDS],
    dictionary: &[T],
    out: &mut [MaybeUninit<T>; GROUP],
) {
    let (lanes, bits) = (GROUP / WORDS, 8 * WORDS);
    for (to, word) in out.chunks_exact_mut(lanes).zip(words) {
        for (lane, to) in to.iter_mut().enumerate() {
            let index = (word >> (lane * bits) & low_bits(bits)) as usize;
            // SAFETY: the caller promises that the index is inside of the dictionary.
            let entry = unsafe { dictionary.as_ptr().add(index) };
            *to = MaybeUninit::new(if size_of::<T>() <= size_of::<u64>() {
                // SAFETY: as above. The load is volatile to keep the compiler from making gather
                // instructions of these loads.
                unsafe { entry.read_volatile() }
            } else {
                // SAFETY: as above.
                unsafe { *entry }
            });
        }
    }
}
