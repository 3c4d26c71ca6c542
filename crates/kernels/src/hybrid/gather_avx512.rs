//! Decodes runs to dictionary entries with AVX-512, if the dictionary is small enough to fit into registers. This is
//! true for 32 entries of 4 bytes, or 16 of 8 bytes. A lookup of eight indices is then one permutation, and an index
//! out of range cannot read outside the dictionary.
//!
//! The loop looks like the one for AVX2, but that one stops at the first index out of range, because it must not load
//! the entry. This one checks all indices in the end.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::decode::{GROUP, Values};
use super::gather::{BEYOND, Entries};
use super::limit::Limit;
use super::loops::Loops;
use crate::Malformed;
use crate::bit_unpack::avx2::{load_word, loads_inside};
use crate::bitmap::low_bits;
use crate::cpu::Avx512;
use crate::expand::is_plain;

/// Entries in registers, which are looked up by indices of at most 7 bits.
pub(super) struct InRegisters<'a, T> {
    cpu: Avx512,
    entries: Entries<'a, T>,
    /// The entries, with zeros after the last one.
    table: [__m512i; 2],
    /// The PDEP mask that spreads a group's indices over a word.
    mask: u64,
    /// The bound for indices, which is the dictionary's last index.
    limit: Limit,
}

impl<'a, T: Copy + 'static> InRegisters<'a, T> {
    /// Loads the entries into registers, or returns `None` if they do not fit.
    #[inline(always)]
    pub(super) fn new(cpu: Avx512, entries: Entries<'a, T>) -> Option<Self> {
        let bytes = size_of_val(entries.dictionary);
        let fit = matches!(size_of::<T>(), 4 | 8) && is_plain::<T>() && (1..=128).contains(&bytes);
        if !fit || entries.width > 7 {
            return None;
        }
        let mut padded = [0_u64; 16];
        // SAFETY: the entries have at most as many bytes as the array, and every bit of a plain type is data.
        unsafe {
            std::ptr::copy_nonoverlapping(
                entries.dictionary.as_ptr().cast::<u8>(),
                padded.as_mut_ptr().cast::<u8>(),
                bytes,
            );
        }
        // SAFETY: two vectors have the layout of 16 words.
        let table = unsafe { std::mem::transmute::<[u64; 16], [__m512i; 2]>(padded) };
        let mask = low_bits(entries.width.into()) * u64::from_le_bytes([1; 8]);
        let limit = Limit::new((entries.dictionary.len() - 1) as u8);
        Some(Self {
            cpu,
            entries,
            table,
            mask,
            limit,
        })
    }

    /// Implements [`Values::groups`] for words that `load` reads from a byte position.
    #[inline(always)]
    fn look_up_words(
        &self,
        out: &mut [[MaybeUninit<T>; GROUP]],
        load: impl Fn(usize) -> u64,
    ) -> Result<(), Malformed> {
        let mut at = 0;
        let mut broken = 0;
        for out in out {
            // SAFETY: the token proves that the instruction is available.
            let indices = unsafe { _pdep_u64(load(at), self.mask) };
            at += usize::from(self.entries.width);
            broken |= self.limit.broken_narrow(indices);
            let out = out.as_mut_ptr();
            // SAFETY: the token proves that the instructions are available. `new` checked that entries have 4 or 8
            // bytes, so the slots of a group have the size of the stored vector.
            unsafe {
                match size_of::<T>() {
                    4 => _mm256_storeu_si256(out.cast(), permute_4(indices, &self.table)),
                    _ => _mm512_storeu_si512(out.cast(), permute_8(indices, &self.table)),
                }
            }
        }
        if broken == 0 { Ok(()) } else { Err(BEYOND) }
    }
}

// SAFETY: both methods write all slots, one after another.
unsafe impl<T: Copy + 'static> Values<T> for InRegisters<'_, T> {
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

/// Returns eight entries of four bytes each, for the indices in a word's bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2")]
fn permute_4(indices: u64, table: &[__m512i; 2]) -> __m256i {
    let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(indices.cast_signed()));
    let lanes = _mm512_castsi256_si512(lanes);
    _mm512_castsi512_si256(_mm512_permutex2var_epi32(table[0], lanes, table[1]))
}

/// Returns eight entries of eight bytes each, for the indices in a word's bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2")]
fn permute_8(indices: u64, table: &[__m512i; 2]) -> __m512i {
    let lanes = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(indices.cast_signed()));
    _mm512_permutex2var_epi64(table[0], lanes, table[1])
}
