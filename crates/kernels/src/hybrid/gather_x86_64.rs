//! Decodes runs to dictionary entries on x86-64. We unpack eight indices into registers, compare them with the bound
//! and look them up.
//!
//! One PDEP spreads indices of up to eight bits over a word, and AVX2 unpacks wider ones. This is enough for AVX-512
//! processors, too, because loading the entries takes longer than unpacking.
//!
//! We do not use gather instructions. They take 2.3 cycles per 32-bit entry and 4 cycles per 64-bit entry, while single
//! loads take 1.2 cycles. Microcode against data sampling attacks makes them even slower.

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

/// Appends the entries of the next `n` indices, with the method that suits their width.
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

/// Entries that are looked up by indices of at most 8 bits. `WIDE` is for exactly 8 bits.
struct ByWords<'a, T, const WIDE: bool> {
    cpu: Avx2,
    entries: Entries<'a, T>,
    /// The PDEP mask that spreads a group's indices over a word.
    mask: u64,
    /// The bound for indices, which is the dictionary's last index.
    limit: Limit,
}

impl<'a, T: Copy, const WIDE: bool> ByWords<'a, T, WIDE> {
    /// Creates the lookup for a non-empty dictionary. The width must be at most 7, or exactly 8 if `WIDE`.
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

    /// Implements [`Values::groups`] for words that `load` reads from a byte position.
    #[inline(always)]
    fn look_up_words(
        &self,
        out: &mut [[MaybeUninit<T>; GROUP]],
        load: impl Fn(usize) -> u64,
    ) -> Result<(), Malformed> {
        let mut at = 0;
        for out in out {
            // SAFETY: the token that `new` takes proves that the instruction is available.
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

// SAFETY: both methods write all slots, one after another.
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
            // SAFETY: the loads of all groups stay inside `bytes`.
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

/// Entries that are looked up by indices of at most 32 bits.
struct ByVectors<'a, T> {
    cpu: Avx2,
    entries: Entries<'a, T>,
    /// The positions of a group's indices.
    plan: Plan,
    /// The last index, in every lane.
    last: __m256i,
}

impl<'a, T: Copy> ByVectors<'a, T> {
    /// Creates the lookup for a non-empty dictionary.
    #[inline(always)]
    fn new(cpu: Avx2, entries: Entries<'a, T>) -> Self {
        let last = entries.dictionary.len() - 1;
        let last = u32::try_from(last).unwrap_or(u32::MAX).cast_signed();
        // SAFETY: the token proves that the instructions are available.
        let (plan, last) = unsafe { (Plan::new(entries.width, 0), _mm256_set1_epi32(last)) };
        Self {
            cpu,
            entries,
            plan,
            last,
        }
    }

    /// Implements [`Values::groups`] for vectors that `load` reads from a byte position.
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
            // SAFETY: the token proves that the instructions are available.
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

// SAFETY: both methods write all slots, one after another.
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
            // SAFETY: the loads of all groups stay inside `bytes`, and the token proves that the instructions are
            // available.
            let load = |at| unsafe {
                self.plan
                    .values_of(_mm256_loadu_si256(bytes.as_ptr().add(at).cast()))
            };
            self.look_up_vectors(out, load)
        } else {
            // SAFETY: the token proves that the instructions are available.
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

/// Returns true if no lane of `values` is greater than the corresponding lane of `last`. The lanes are compared as
/// unsigned numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn all_at_most(values: __m256i, last: __m256i) -> bool {
    let within = _mm256_cmpeq_epi32(_mm256_max_epu32(values, last), last);
    _mm256_movemask_epi8(within) == -1
}

/// Writes the entries of eight indices, which occupy `WORDS` words.
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
            // SAFETY: the caller promises that the index is inside the dictionary.
            let entry = unsafe { dictionary.as_ptr().add(index) };
            *to = MaybeUninit::new(if size_of::<T>() <= size_of::<u64>() {
                // SAFETY: the index is inside the dictionary. The load is volatile so that the compiler does not
                // turn these loads into gather instructions.
                unsafe { entry.read_volatile() }
            } else {
                // SAFETY: the index is inside the dictionary.
                unsafe { *entry }
            });
        }
    }
}
