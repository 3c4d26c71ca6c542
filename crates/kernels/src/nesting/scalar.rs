//! Processes levels in portable Rust, one position at a time.

use herringbone_arrow::array::OffsetSizeTrait;

use super::{ListLevels, ListPlan, SlotPlan};
use crate::Malformed;
use crate::bitmap::Bitmap;

/// The error for an element that has no list.
pub(super) const STRAY: Malformed = Malformed("a list continues before it has begun");

/// Implements [`super::row_starts`].
pub(super) fn row_starts(rep: &[u8], max_rows: usize) -> (usize, usize) {
    let mut rows = 0;
    for (level, rep) in rep.iter().enumerate() {
        if *rep == 0 {
            if rows == max_rows {
                return (rows, level);
            }
            rows += 1;
        }
    }
    (rows, rep.len())
}

/// Implements [`super::list_offsets`], which has checked that the resulting number of elements fits into an offset.
pub(super) fn list_offsets<O: OffsetSizeTrait>(
    plan: &ListPlan,
    (rep, def): (&[u8], &[u8]),
    offsets: &mut Vec<O>,
    count: &mut usize,
    validity: &mut Bitmap,
) -> Result<(), Malformed> {
    // If there is only one offset, then the first list has not begun.
    let mut begun = offsets.len() > 1;
    for (rep, def) in rep.iter().zip(def) {
        let element = *rep <= plan.rep_level && *def >= plan.element_def;
        if *rep < plan.rep_level && *def >= plan.parent_element_def {
            begun = true;
            offsets.push(O::usize_as(*count));
            validity.append_bits(u64::from(*def >= plan.list_def), 1);
        } else if *rep == plan.rep_level && !(element && begun) {
            return Err(STRAY);
        }
        if element {
            *count += 1;
            if let Some(end) = offsets.last_mut() {
                *end = O::usize_as(*count);
            }
        }
    }
    Ok(())
}

/// Implements [`super::slot_validity`].
pub(super) fn slot_validity(
    plan: SlotPlan,
    rep: &[u8],
    def: &[u8],
    validity: &mut Bitmap,
) -> usize {
    let before = validity.len();
    let mut append = |rep: u8, def: u8| {
        if rep <= plan.max_rep && def >= plan.slot_def {
            validity.append_bits(u64::from(def >= plan.valid_def), 1);
        }
    };
    if rep.is_empty() {
        def.iter().for_each(|def| append(0, *def));
    } else {
        rep.iter()
            .zip(def)
            .for_each(|(rep, def)| append(*rep, *def));
    }
    validity.len() - before
}

/// Implements [`super::list_levels`].
pub(super) fn list_levels(
    (rep_level, element_def): (u8, u8),
    rep: &[u8],
    def: &[u8],
    levels: &mut ListLevels,
) {
    for (rep, def) in rep.iter().zip(def) {
        if *rep <= rep_level {
            levels.push(
                u64::from(*rep == rep_level),
                u64::from(*def >= element_def),
                1,
            );
        }
    }
}

/// Implements [`super::count_ge`].
pub(super) fn count_ge(levels: &[u8], level: u8) -> usize {
    levels.iter().filter(|other| **other >= level).count()
}
