//! The loops over runs, as functions of an instruction set. All other code is inlined into them.

use std::mem::MaybeUninit;

use super::HybridDecoder;
use super::bits;
use super::decode::{self, Values};
use super::run::Run;
use crate::Malformed;
use crate::bitmap::Bitmap;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::multiversion::per_instruction_set;

/// Loops over runs, which tokens of instruction sets implement.
pub(super) trait Loops: Copy {
    /// Runs [`decode::extend`].
    fn extend<T: Copy, V: Values<T>>(
        self,
        values: &V,
        decoder: &mut HybridDecoder,
        data: &[u8],
        n: usize,
        out: &mut Vec<T>,
    ) -> Result<(), Malformed>;

    /// Runs [`decode::decode_part_of_run`]. We do not inline it, because it would take registers from the loop over
    /// runs.
    fn decode_part_of_run<T: Copy, V: Values<T>>(
        self,
        values: &V,
        data: &[u8],
        width: u8,
        run: Run,
        slots: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed>;

    /// Runs [`bits::extend_bitmap`].
    fn extend_bitmap(
        self,
        decoder: &mut HybridDecoder,
        data: &[u8],
        n: usize,
        out: &mut Bitmap,
    ) -> Result<usize, Malformed>;

    /// Runs [`bits::skip_count_ones`].
    fn skip_count_ones(
        self,
        decoder: &mut HybridDecoder,
        data: &[u8],
        n: usize,
    ) -> Result<usize, Malformed>;
}

per_instruction_set! {
    {
        fn extend[T: Copy, V: Values<T>](
            self as _,
            values: &V,
            decoder: &mut HybridDecoder,
            data: &[u8],
            n: usize,
            out: &mut Vec<T>,
        ) -> Result<(), Malformed> {
            decode::extend(values, decoder, data, n, out)
        }

        #[inline(never)]
        fn decode_part_of_run[T: Copy, V: Values<T>](
            self as _,
            values: &V,
            data: &[u8],
            width: u8,
            run: Run,
            slots: &mut [MaybeUninit<T>],
        ) -> Result<(), Malformed> {
            decode::decode_part_of_run(values, data, width, run, slots)
        }

        fn extend_bitmap(
            self as _,
            decoder: &mut HybridDecoder,
            data: &[u8],
            n: usize,
            out: &mut Bitmap,
        ) -> Result<usize, Malformed> {
            bits::extend_bitmap(decoder, data, n, out)
        }

        fn skip_count_ones(
            self as _,
            decoder: &mut HybridDecoder,
            data: &[u8],
            n: usize,
        ) -> Result<usize, Malformed> {
            bits::skip_count_ones(decoder, data, n)
        }
    }
    impl Loops for Scalar: doc = "Portable code.";
    #[cfg(target_arch = "x86_64")]
    impl Loops for Avx2: target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt");
    #[cfg(target_arch = "x86_64")]
    impl Loops for Avx512: target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt"
    );
    #[cfg(target_arch = "aarch64")]
    impl Loops for Neon: target_feature(enable = "neon");
}
