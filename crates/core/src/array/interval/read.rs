//! Reads intervals from the months, days and milliseconds of INTERVAL in a FIXED_LEN_BYTE_ARRAY(12).

use herringbone_arrow::buffer::IntervalMonthDayNano;
use herringbone_arrow::schema::{DataType, IntervalUnit};
use herringbone_format::{Error, Remedy, Result};
use herringbone_kernels::interval;

use super::BYTES;
use crate::array::convert::{Blocks, Convert, Lost};
use crate::array::fixed_width::FixedWidth;
use crate::array::{LeafArray, LeafType, unsupported};

/// Returns the array for an interval leaf.
///
/// # Errors
/// Fails with Unsupported if the leaf has another length.
pub(in crate::array) fn array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    let data_type = leaf.data_type.clone();
    Ok(match (&leaf.data_type, leaf.type_length) {
        (DataType::Interval(IntervalUnit::MonthDayNano), BYTES) => {
            Box::new(FixedWidth::<u8, _>::new(data_type, BYTES, MonthDayNano))
        }
        (DataType::Interval(IntervalUnit::DayTime), BYTES) => Box::new(FixedWidth::<u8, _>::new(
            data_type,
            BYTES,
            Blocks::new(interval::extend_day_time),
        )),
        (DataType::Interval(IntervalUnit::YearMonth), BYTES) => Box::new(FixedWidth::<u8, _>::new(
            data_type,
            BYTES,
            Blocks::new(interval::extend_year_month),
        )),
        _ => return Err(unsupported(leaf)),
    })
}

/// The conversion to intervals of months, days and nanoseconds. This Arrow type has all three components, but only
/// below 2^31, whereas the format allows values below 2^32.
struct MonthDayNano;

impl Convert<u8> for MonthDayNano {
    type To = IntervalMonthDayNano;

    fn convert(&self, bytes: &[u8], out: &mut Vec<Self::To>, _lost: &mut Lost) -> Result<()> {
        interval::extend_month_day_nano(bytes, out).map_err(|_| {
            Error::unsupported(
                "an interval of 2^31 or more months or days fits only FixedSizeBinary(12) in Arrow",
            )
            .with_remedy(Remedy::IgnoreAnnotations)
        })
    }
}
