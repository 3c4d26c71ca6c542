//! The loops that expand all slots, as functions of an instruction set. All other code is inlined into them.

use std::mem::MaybeUninit;

use super::{Expand, scalar};
use crate::bitmap::Bitmap;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::multiversion::per_instruction_set;
use crate::plain::Plain;

per_instruction_set! {
    {
        fn spread[T: Plain](
            self as cpu,
            values: &[u8],
            slots: &mut [MaybeUninit<T>],
            validity: &Bitmap,
            start: usize,
        ) {
            scalar::spread(cpu, values, slots, validity, start);
        }

        fn expand[T: Copy + Default + 'static](
            self as cpu,
            slots: &mut [MaybeUninit<T>],
            dense: usize,
            validity: &Bitmap,
            start: usize,
        ) {
            scalar::expand(cpu, slots, dense, validity, start);
        }

        fn expand_offsets[O: Copy + 'static](
            self as cpu,
            slots: &mut [MaybeUninit<O>],
            dense: usize,
            validity: &Bitmap,
            start: usize,
        ) {
            scalar::expand_offsets(cpu, slots, dense, validity, start);
        }
    }
    impl Expand for Scalar: doc = "Portable code.";
    #[cfg(target_arch = "x86_64")]
    impl Expand for Avx2: target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt");
    #[cfg(target_arch = "x86_64")]
    impl Expand for Avx512: target_feature(
        enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt"
    );
    #[cfg(target_arch = "aarch64")]
    impl Expand for Neon: target_feature(enable = "neon");
}
