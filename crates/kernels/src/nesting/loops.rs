//! The loops over levels, as functions of an instruction set. All other code is inlined into them.

use herringbone_arrow::array::OffsetSizeTrait;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::masks;
use super::{ListLevels, ListPlan, SlotPlan, scalar};
use crate::Malformed;
use crate::bitmap::Bitmap;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::multiversion::per_instruction_set;

/// Loops over levels, which tokens of instruction sets implement.
pub(super) trait Loops: Copy {
    /// Runs [`super::row_starts`].
    fn row_starts(self, rep: &[u8], max_rows: usize) -> (usize, usize);

    /// Runs [`super::list_offsets`], which has already checked the levels and offsets.
    fn list_offsets<O: OffsetSizeTrait>(
        self,
        plan: &ListPlan,
        levels: (&[u8], &[u8]),
        offsets: &mut Vec<O>,
        count: &mut usize,
        validity: &mut Bitmap,
    ) -> Result<(), Malformed>;

    /// Runs [`super::slot_validity`].
    fn slot_validity(self, plan: SlotPlan, rep: &[u8], def: &[u8], validity: &mut Bitmap) -> usize;

    /// Runs [`super::list_levels`].
    fn list_levels(self, plan: (u8, u8), rep: &[u8], def: &[u8], levels: &mut ListLevels);

    /// Runs [`super::count_ge`].
    fn count_ge(self, levels: &[u8], level: u8) -> usize;
}

impl Loops for Scalar {
    fn row_starts(self, rep: &[u8], max_rows: usize) -> (usize, usize) {
        scalar::row_starts(rep, max_rows)
    }

    fn list_offsets<O: OffsetSizeTrait>(
        self,
        plan: &ListPlan,
        levels: (&[u8], &[u8]),
        offsets: &mut Vec<O>,
        count: &mut usize,
        validity: &mut Bitmap,
    ) -> Result<(), Malformed> {
        scalar::list_offsets(plan, levels, offsets, count, validity)
    }

    fn slot_validity(self, plan: SlotPlan, rep: &[u8], def: &[u8], validity: &mut Bitmap) -> usize {
        scalar::slot_validity(plan, rep, def, validity)
    }

    fn list_levels(self, plan: (u8, u8), rep: &[u8], def: &[u8], levels: &mut ListLevels) {
        scalar::list_levels(plan, rep, def, levels);
    }

    fn count_ge(self, levels: &[u8], level: u8) -> usize {
        scalar::count_ge(levels, level)
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
per_instruction_set! {
    {
        fn row_starts(self as cpu, rep: &[u8], max_rows: usize) -> (usize, usize) {
            masks::row_starts(cpu, rep, max_rows)
        }

        fn list_offsets[O: OffsetSizeTrait](
            self as cpu,
            plan: &ListPlan,
            levels: (&[u8], &[u8]),
            offsets: &mut Vec<O>,
            count: &mut usize,
            validity: &mut Bitmap,
        ) -> Result<(), Malformed> {
            masks::list_offsets(cpu, plan, levels, offsets, count, validity)
        }

        fn slot_validity(
            self as cpu,
            plan: SlotPlan,
            rep: &[u8],
            def: &[u8],
            validity: &mut Bitmap,
        ) -> usize {
            masks::slot_validity(cpu, plan, rep, def, validity)
        }

        fn list_levels(
            self as cpu,
            plan: (u8, u8),
            rep: &[u8],
            def: &[u8],
            levels: &mut ListLevels,
        ) {
            masks::list_levels(cpu, plan, rep, def, levels);
        }

        fn count_ge(self as cpu, levels: &[u8], level: u8) -> usize {
            masks::count_ge(cpu, levels, level)
        }
    }
    #[cfg(target_arch = "x86_64")]
    impl Loops for Avx2: target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt");
    #[cfg(target_arch = "x86_64")]
    impl Loops for Avx512: target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt"
    );
    #[cfg(target_arch = "aarch64")]
    impl Loops for Neon: target_feature(enable = "neon");
}
