//! What a leaf column tells about its ancestors: which structs and lists are null, and how long
//! the lists are.
//!
//! Sibling leaves carry the same levels above their common ancestor. The first leaf below a struct
//! or list therefore records it, and the others leave it alone.

use herringbone_arrow::buffer::NullBuffer;
use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::nesting::{self, ListPlan};
use herringbone_kernels::trim;

use crate::malformed;

/// One ancestor to record.
#[derive(Debug, Clone)]
pub enum NestingPlan {
    /// A struct that may be null: one bit for each position with a repetition level of at most
    /// `rep_level` and a definition level of at least `slot_def`; set from `valid_def` on.
    Struct {
        /// The repetition level up to which a position has a slot.
        rep_level: u8,
        /// The definition level from which a position has a slot.
        slot_def: u8,
        /// The definition level from which a slot is valid.
        valid_def: u8,
    },
    /// A list or map, with 32-bit or 64-bit offsets.
    List {
        /// The levels that make its offsets.
        plan: ListPlan,
        /// True if offsets have 64 bits.
        large: bool,
    },
}

/// Offsets of the width that the list's layout has.
#[derive(Debug, Clone)]
pub enum Offsets {
    /// Offsets of `List` and `Map`.
    I32(Vec<i32>),
    /// Offsets of `LargeList`.
    I64(Vec<i64>),
}

/// One ancestor under construction.
pub struct NestingBuilder {
    plan: NestingPlan,
    validity: Bitmap,
    offsets: Offsets,
    /// Elements so far, of a list.
    elements: usize,
}

/// One ancestor over the rows of a column batch.
#[derive(Debug)]
pub struct Nesting {
    /// The number of slots.
    pub slots: usize,
    /// The validity of the slots; `None` if all are valid.
    pub validity: Option<NullBuffer>,
    /// Of a list: one more than slots.
    pub offsets: Option<Offsets>,
}

impl NestingBuilder {
    /// Creates a builder without slots.
    pub fn new(plan: NestingPlan) -> Self {
        let offsets = first_offset(&plan);
        Self {
            plan,
            validity: Bitmap::new(),
            offsets,
            elements: 0,
        }
    }

    /// Records a run of levels.
    pub fn record(&mut self, rep: &[u8], def: &[u8]) -> Result<()> {
        match &self.plan {
            &NestingPlan::Struct {
                rep_level,
                slot_def,
                valid_def,
            } => {
                nesting::slot_validity(
                    rep,
                    def,
                    rep_level,
                    slot_def,
                    valid_def,
                    &mut self.validity,
                );
                Ok(())
            }
            NestingPlan::List { plan, .. } => {
                let (elements, validity) = (&mut self.elements, &mut self.validity);
                match &mut self.offsets {
                    Offsets::I32(offsets) => {
                        nesting::list_offsets(plan, rep, def, offsets, elements, validity)
                    }
                    Offsets::I64(offsets) => {
                        nesting::list_offsets(plan, rep, def, offsets, elements, validity)
                    }
                }
                .map_err(malformed)
            }
        }
    }

    /// Bytes recorded so far.
    pub(crate) fn bytes(&self) -> usize {
        let offsets = match &self.offsets {
            Offsets::I32(offsets) => size_of_val(offsets.as_slice()),
            Offsets::I64(offsets) => size_of_val(offsets.as_slice()),
        };
        offsets + self.validity.len() / 8
    }

    /// What was recorded since the last call.
    pub fn finish(&mut self) -> Nesting {
        let slots = self.validity.len();
        let validity = self.validity.finish();
        let offsets = match &self.plan {
            NestingPlan::Struct { .. } => None,
            NestingPlan::List { .. } => {
                self.elements = 0;
                let mut offsets = std::mem::replace(&mut self.offsets, first_offset(&self.plan));
                match &mut offsets {
                    Offsets::I32(offsets) => trim(offsets),
                    Offsets::I64(offsets) => trim(offsets),
                }
                Some(offsets)
            }
        };
        Nesting {
            slots,
            validity,
            offsets,
        }
    }
}

/// Every list of offsets starts with 0.
fn first_offset(plan: &NestingPlan) -> Offsets {
    match plan {
        NestingPlan::List { large: true, .. } => Offsets::I64(vec![0]),
        _ => Offsets::I32(vec![0]),
    }
}
