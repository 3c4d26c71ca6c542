//! Records a leaf column's ancestors, that is, which structs and lists are null and how long the lists are.
//!
//! Sibling leaves repeat the levels of their common ancestors. So only the first leaf below a struct or list records
//! it, and the others ignore it.

use herringbone_arrow::buffer::NullBuffer;
use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::nesting::{self, ListPlan};
use herringbone_kernels::trim;

use crate::malformed;

/// An ancestor for a leaf to record.
#[derive(Debug, Clone)]
pub enum NestingPlan {
    /// A nullable struct. It has one bit for each position whose repetition level is at most `rep_level` and whose
    /// definition level is at least `slot_def`. The bit is set if the definition level is at least `valid_def`.
    Struct {
        /// The highest repetition level with a slot.
        rep_level: u8,
        /// The lowest definition level with a slot.
        slot_def: u8,
        /// The lowest definition level of a valid slot.
        valid_def: u8,
    },
    /// A list or map, with 32-bit or 64-bit offsets.
    List {
        /// The levels that determine the offsets.
        plan: ListPlan,
        /// True if offsets have 64 bits.
        large: bool,
    },
}

/// A list's offsets, as wide as its layout requires.
#[derive(Debug, Clone)]
pub enum Offsets {
    /// The offsets of `List` and `Map`.
    I32(Vec<i32>),
    /// The offsets of `LargeList`.
    I64(Vec<i64>),
}

/// The builder of one ancestor.
pub struct NestingBuilder {
    plan: NestingPlan,
    validity: Bitmap,
    offsets: Offsets,
    /// The number of list elements so far.
    elements: usize,
}

/// An ancestor over the rows of a column batch.
#[derive(Debug)]
pub struct Nesting {
    /// The number of slots.
    pub slots: usize,
    /// The validity of the slots, or `None` if all are valid.
    pub validity: Option<NullBuffer>,
    /// A list's offsets, one more than its slots, or `None` for a struct.
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

    /// Returns the number of bytes recorded so far.
    pub(crate) fn bytes(&self) -> usize {
        let offsets = match &self.offsets {
            Offsets::I32(offsets) => size_of_val(offsets.as_slice()),
            Offsets::I64(offsets) => size_of_val(offsets.as_slice()),
        };
        offsets + self.validity.len() / 8
    }

    /// Returns the ancestor as recorded since the last call.
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

/// Returns the initial offsets of a list. This is a single 0.
fn first_offset(plan: &NestingPlan) -> Offsets {
    match plan {
        NestingPlan::List { large: true, .. } => Offsets::I64(vec![0]),
        _ => Offsets::I32(vec![0]),
    }
}
