//! Reads timestamps from INT96 and from the 96-bit counts of a FIXED_LEN_BYTE_ARRAY(12) TIMESTAMP.

use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Remedy, Result, Type};
use herringbone_kernels::int96::{self, Layout};
use herringbone_schema::{Conversion, Int96Overflow};

use super::BYTES;
use crate::array::convert::{Convert, Lost};
use crate::array::fixed_width::FixedWidth;

use crate::array::primitive::per_second;
use crate::array::{LeafArray, LeafType, unsupported};

const MILLIS_PER_SECOND: i64 = 1_000;

/// Returns the array for a leaf with 96-bit timestamps.
///
/// # Errors
/// Fails with Unsupported if the Arrow type is not a timestamp, or if the leaf has another length.
pub(in crate::array) fn array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    let DataType::Timestamp(unit, _) = leaf.data_type else {
        return Err(unsupported(leaf));
    };
    let per_second = per_second(unit);
    let layout = match (leaf.physical_type, leaf.conversion) {
        (Type::Int96, _) => Layout::JulianDay,
        (_, Conversion::Identity) if leaf.type_length == BYTES => Layout::Count { per_second },
        (_, Conversion::MillisToSeconds) if leaf.type_length == BYTES => Layout::Count {
            per_second: MILLIS_PER_SECOND,
        },
        _ => return Err(unsupported(leaf)),
    };
    let convert = Timestamp96 {
        layout,
        per_second,
        overflow: leaf.int96_overflow,
        data_type: leaf.data_type.clone(),
    };
    Ok(Box::new(FixedWidth::new(
        leaf.data_type.clone(),
        BYTES,
        convert,
    )))
}

/// Returns the error for values that the unit cannot represent.
#[cold]
fn overflow(data_type: &DataType) -> Error {
    Error::unsupported(format!("a timestamp that {data_type} cannot hold"))
        .with_remedy(Remedy::ChooseInt96Unit)
}

struct Timestamp96 {
    layout: Layout,
    per_second: i64,
    overflow: Int96Overflow,
    data_type: DataType,
}

impl Timestamp96 {
    /// Notes the lost values, looking only at values appended after the first `before`.
    fn note(&self, bytes: &[u8], before: usize, lost: &mut Lost) {
        let overflows = int96::overflows(bytes, self.layout, self.per_second);
        lost.note(before, overflows);
    }
}

impl Convert<u8> for Timestamp96 {
    type To = i64;

    fn convert(&self, bytes: &[u8], out: &mut Vec<i64>, lost: &mut Lost) -> Result<()> {
        let before = out.len();
        if !int96::extend(bytes, self.layout, self.per_second, out) {
            return Ok(());
        }
        match self.overflow {
            Int96Overflow::Wrap => Ok(()),
            Int96Overflow::Error | Int96Overflow::CoarserUnit => Err(overflow(&self.data_type)),
            Int96Overflow::Null => {
                self.note(bytes, before, lost);
                Ok(())
            }
        }
    }

    fn convert_entries(&self, bytes: &[u8], out: &mut Vec<i64>, lost: &mut Lost) -> Result<()> {
        let before = out.len();
        let any = int96::extend(bytes, self.layout, self.per_second, out);
        if any && self.overflow != Int96Overflow::Wrap {
            self.note(bytes, before, lost);
        }
        Ok(())
    }

    fn check_used(&self, lost: &Lost, before: usize) -> Result<()> {
        match self.overflow {
            Int96Overflow::Error | Int96Overflow::CoarserUnit if lost.is_any_behind(before) => {
                Err(overflow(&self.data_type))
            }
            _ => Ok(()),
        }
    }
}
