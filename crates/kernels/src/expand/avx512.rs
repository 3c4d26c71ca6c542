//! Expands with AVX-512, which has an instruction for this, one vector of slots at a time.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::avx2::offsets_4;
use super::scalar::ExpandWord;
use super::{bmi2, is_plain};
use crate::bitmap::low_bits;
use crate::cpu::{Avx512, Scalar};
use crate::prefetch;

impl ExpandWord for Avx512 {
    #[inline(always)]
    fn expand_word<T: Copy + Default + 'static>(
        self,
        slots: &mut [MaybeUninit<T>],
        first: usize,
        dense: usize,
        bits: u64,
    ) {
        if size_of::<T>() == 1 && is_plain::<T>() {
            return bmi2::expand_word(self.bmi2(), slots, first, dense, bits);
        }
        let (to, range) = (slots.as_mut_ptr(), first..slots.len());
        let from = to.cast_const();
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. Each slot has the size of a lane. The
            // slots begin with the values: at most `first` more than `bits` has ones, and all of these ones lie
            // within the slots.
            2 if is_plain::<T>() => unsafe {
                vectors_2(from.cast(), to.cast(), range, dense, bits);
            },
            // SAFETY: as for 2-byte slots.
            4 if is_plain::<T>() => unsafe {
                vectors_4(from.cast(), to.cast(), range, dense, bits);
            },
            // SAFETY: as for 2-byte slots.
            8 if is_plain::<T>() => unsafe {
                vectors_8(from.cast(), to.cast(), range, dense, bits);
            },
            // SAFETY: as for 2-byte slots.
            16 if is_plain::<T>() => unsafe {
                vectors_16(from.cast(), to.cast(), range, dense, bits);
            },
            _ => Scalar.expand_word(slots, first, dense, bits),
        }
    }

    #[inline(always)]
    unsafe fn spread_word<T: Copy + Default + 'static>(
        self,
        values: *const u8,
        dense: usize,
        slots: &mut [MaybeUninit<T>],
        bits: u64,
    ) -> bool {
        let (to, n) = (slots.as_mut_ptr(), slots.len());
        let ones = bits.count_ones() as usize;
        // SAFETY: there are `dense` values.
        let values = unsafe { values.add((dense - ones) * size_of::<T>()) };
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. Each slot has the size of a lane. The
            // caller of this method upholds the rest.
            2 if is_plain::<T>() => unsafe {
                vectors_2(values.cast(), to.cast(), 0..n, ones, bits);
            },
            // SAFETY: as for 2-byte slots.
            4 if is_plain::<T>() => unsafe { spread_4(values.cast(), to.cast(), n, bits) },
            // SAFETY: as for 2-byte slots.
            8 if is_plain::<T>() => unsafe { spread_8(values.cast(), to.cast(), n, bits) },
            // SAFETY: as for 2-byte slots.
            16 if is_plain::<T>() => unsafe { spread_16(values.cast(), to.cast(), n, bits) },
            _ => return false,
        }
        true
    }

    #[inline(always)]
    fn expand_offsets_word<O: Copy + 'static>(
        self,
        slots: &mut [MaybeUninit<O>],
        first: usize,
        dense: usize,
        bits: u64,
    ) {
        match size_of::<O>() {
            // SAFETY: the token proves that the instructions are available; the caller of this method upholds the
            // rest.
            4 if is_plain::<O>() => unsafe {
                offsets_4(
                    slots.as_mut_ptr().cast(),
                    first..slots.len() - 1,
                    dense,
                    bits,
                );
            },
            _ => Scalar.expand_offsets_word(slots, first, dense, bits),
        }
    }
}

macro_rules! vectors {
    (
        $vectors:ident, $lanes:literal slots of $elements:literal $element:ty, mask $mask:ty,
        load $load:ident, expand $expand:ident, store $store:ident or $store_some:ident
    ) => {
        /// Fills the slots in `range`, which are at most 64, from the last of `dense` values.
        ///
        /// # Safety
        /// There is memory for the slots up to the end of the range, and there are `dense` values. The values need
        /// no alignment, and there are at least as many as `bits` has ones. If the values lie at the beginning of
        /// the slots, the surplus over these ones is at most the number of slots before the range. `bits` has no
        /// ones past the range.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn $vectors(
            values: *const $element,
            slots: *mut $element,
            range: std::ops::Range<usize>,
            mut dense: usize,
            bits: u64,
        ) {
            const ELEMENTS: usize = $elements;
            let tail = range.len() % $lanes;
            let mut end = range.len();
            let mut vector = |slots_of_it: usize| {
                end -= slots_of_it;
                let here = bits >> end & low_bits($lanes);
                let ones = here.count_ones() as usize;
                dense -= ones;
                let there = low_bits(ones * ELEMENTS) as $mask;
                // SAFETY: the mask selects the elements of the values for these slots.
                let values = unsafe { $load(there, values.add(dense * ELEMENTS)) };
                let values = $expand(widen::<ELEMENTS>(here) as $mask, values);
                // SAFETY: the slots lie in allocated memory.
                (values, unsafe { slots.add((range.start + end) * ELEMENTS) })
            };
            if tail > 0 {
                let (values, to) = vector(tail);
                let there = low_bits(tail * ELEMENTS) as $mask;
                // SAFETY: the mask selects the elements of the existing slots. No value still needed is
                // overwritten: no more values are left than slots before these.
                unsafe { $store_some(to, there, values) };
            }
            for _ in 0..range.len() / $lanes {
                let (values, to) = vector($lanes);
                // SAFETY: the slots fill a whole vector, and no value still needed is overwritten.
                unsafe { $store(to.cast(), values) };
            }
        }
    };
}

vectors!(
    vectors_2, 16 slots of 1 i16, mask __mmask16,
    load load_2, expand _mm512_maskz_expand_epi32, store store_2 or _mm512_mask_cvtepi32_storeu_epi16
);
vectors!(
    vectors_4, 16 slots of 1 i32, mask __mmask16,
    load _mm512_maskz_loadu_epi32, expand _mm512_maskz_expand_epi32,
    store _mm512_storeu_si512 or _mm512_mask_storeu_epi32
);
vectors!(
    vectors_8, 8 slots of 1 i64, mask __mmask8,
    load _mm512_maskz_loadu_epi64, expand _mm512_maskz_expand_epi64,
    store _mm512_storeu_si512 or _mm512_mask_storeu_epi64
);
vectors!(
    vectors_16, 4 slots of 2 i64, mask __mmask8,
    load _mm512_maskz_loadu_epi64, expand _mm512_maskz_expand_epi64,
    store _mm512_storeu_si512 or _mm512_mask_storeu_epi64
);

macro_rules! spread {
    (
        $spread:ident, $lanes:literal slots of $elements:literal $element:ty, mask $mask:ty,
        load $load:ident, store $store_some:ident
    ) => {
        /// Fills `n` slots, which are at most 64, from values that do not overlap them.
        ///
        /// # Safety
        /// There is memory for the slots. There are as many values as `bits` has ones, and they need no alignment.
        /// All ones lie within the slots.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn $spread(values: *const $element, slots: *mut $element, n: usize, bits: u64) {
            const ELEMENTS: usize = $elements;
            let mut passed = 0;
            let mut vector = |start: usize| {
                let here = bits >> start & low_bits($lanes);
                prefetch::ahead(values.wrapping_add(passed * ELEMENTS));
                // SAFETY: the mask selects as many elements as these slots have values.
                let values = unsafe {
                    $load(
                        widen::<ELEMENTS>(here) as $mask,
                        values.add(passed * ELEMENTS),
                    )
                };
                passed += here.count_ones() as usize;
                // SAFETY: the slots lie in allocated memory.
                (values, unsafe { slots.add(start * ELEMENTS) })
            };
            for start in (0..n / $lanes).map(|i| i * $lanes) {
                let (values, to) = vector(start);
                // SAFETY: the slots fill a whole vector.
                unsafe { _mm512_storeu_si512(to.cast(), values) };
            }
            let tail = n % $lanes;
            if tail > 0 {
                let (values, to) = vector(n - tail);
                let there = low_bits(tail * ELEMENTS) as $mask;
                // SAFETY: the mask selects the elements of the existing slots.
                unsafe { $store_some(to, there, values) };
            }
        }
    };
}

spread!(
    spread_4, 16 slots of 1 i32, mask __mmask16,
    load _mm512_maskz_expandloadu_epi32, store _mm512_mask_storeu_epi32
);
spread!(
    spread_8, 8 slots of 1 i64, mask __mmask8,
    load _mm512_maskz_expandloadu_epi64, store _mm512_mask_storeu_epi64
);
spread!(
    spread_16, 4 slots of 2 i64, mask __mmask8,
    load _mm512_maskz_expandloadu_epi64, store _mm512_mask_storeu_epi64
);

/// Loads up to 16 elements of 16 bits, widened to 32 bits.
///
/// # Safety
/// The elements selected by the mask may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn load_2(mask: __mmask16, from: *const i16) -> __m512i {
    // SAFETY: the caller's contract.
    _mm512_cvtepu16_epi32(unsafe { _mm256_maskz_loadu_epi16(mask, from) })
}

/// Writes the lower halves of 16 elements.
///
/// # Safety
/// There is memory for 16 elements of 16 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn store_2(to: *mut __m256i, values: __m512i) {
    // SAFETY: the caller's contract.
    unsafe { _mm256_storeu_si256(to, _mm512_cvtepi32_epi16(values)) };
}

/// Repeats every bit as often as a value has elements, which is once or twice.
#[inline]
#[target_feature(enable = "bmi2")]
fn widen<const ELEMENTS: usize>(bits: u64) -> u64 {
    if ELEMENTS == 1 {
        bits
    } else {
        _pdep_u64(bits, 0x5555_5555_5555_5555) * 3
    }
}
