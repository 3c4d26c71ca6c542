//! Squeezing with PEXT, an instruction made for it.

use std::arch::x86_64::_pext_u64;

use super::Squeeze;
use super::scalar::repeat;
use crate::cpu::Bmi2;

impl Squeeze for Bmi2 {
    #[inline(always)]
    fn squeeze<const LANE: usize, const WIDTH: usize>(self, word: u64) -> u64 {
        // SAFETY: the token proves that the instruction is there.
        unsafe { _pext_u64(word, const { repeat(WIDTH, LANE) }) }
    }
}
