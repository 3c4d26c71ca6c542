//! Squeezes lanes together with PEXT, an instruction that does exactly this.

use std::arch::x86_64::_pext_u64;
use std::mem::MaybeUninit;

use super::Squeeze;
use super::scalar::{self, repeat};
use crate::cpu::{Avx2, Bmi2};

impl Squeeze for (Avx2, Bmi2) {
    #[inline(always)]
    fn squeeze<const LANE: usize, const WIDTH: usize>(self, word: u64) -> u64 {
        // SAFETY: the token proves that the instruction is available.
        unsafe { _pext_u64(word, const { repeat(WIDTH, LANE) }) }
    }

    #[inline(always)]
    fn pack_groups(self, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn enabled(cpu: (Avx2, Bmi2), lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
            scalar::pack_groups(cpu, lanes, width, out);
        }
        // SAFETY: the tokens prove that the instructions are available.
        unsafe { enabled(self, lanes, width, out) }
    }
}
