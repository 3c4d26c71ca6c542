//! Converts timestamps of any unit to 96 bits, wide enough for all of them.

use herringbone_arrow::array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use herringbone_arrow::schema::TimeUnit;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::WriteLeaf;

use super::BYTES;
use crate::array::Selected;
use crate::array::primitive::per_second;
use crate::encoding::physical_values::Values;

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// Returns the selected slots as INT96 or 96-bit counts.
///
/// # Errors
/// Never fails, because any timestamp fits.
pub(in crate::array) fn values<'a>(
    leaf: &WriteLeaf,
    unit: TimeUnit,
    selected: Selected<'a>,
    out: &'a mut Vec<u8>,
) -> Result<Values<'a>> {
    let per_second = per_second(unit);
    let is_int96 = leaf.physical_type == Type::Int96;
    let encode = |value: i64| {
        Some(if is_int96 {
            int96(value, per_second)
        } else {
            wide_count(value, unit)
        })
    };
    let never = |_| Error::argument("the value does not fit");
    match unit {
        TimeUnit::Second => selected.bytes_of::<TimestampSecondType, BYTES>(out, encode, never)?,
        TimeUnit::Millisecond => {
            selected.bytes_of::<TimestampMillisecondType, BYTES>(out, encode, never)?;
        }
        TimeUnit::Microsecond => {
            selected.bytes_of::<TimestampMicrosecondType, BYTES>(out, encode, never)?;
        }
        TimeUnit::Nanosecond => {
            selected.bytes_of::<TimestampNanosecondType, BYTES>(out, encode, never)?;
        }
    }
    Ok(Values::Fixed {
        bytes: out,
        width: BYTES,
    })
}

/// Encodes an INT96 timestamp as the nanoseconds of the day followed by the Julian day. 64-bit counts of any unit fit,
/// since the days of 64-bit seconds only wrap around beyond a million times the age of the universe.
fn int96(value: i64, per_second: i64) -> [u8; BYTES] {
    let seconds = value.div_euclid(per_second);
    let fraction = value.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
    let nanos = seconds.rem_euclid(SECONDS_PER_DAY) * NANOS_PER_SECOND + fraction;
    let day = seconds.div_euclid(SECONDS_PER_DAY) + JULIAN_DAY_OF_1970;
    let mut bytes = [0; BYTES];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&nanos.to_le_bytes());
    high.copy_from_slice(&(day as i32).to_le_bytes());
    bytes
}

/// Encodes a 96-bit count, little-endian. Parquet has no seconds, so seconds are stored as milliseconds, which fit.
fn wide_count(value: i64, unit: TimeUnit) -> [u8; BYTES] {
    let factor = match unit {
        TimeUnit::Second => 1000,
        TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond => 1,
    };
    let mut bytes = [0; BYTES];
    let count = (i128::from(value) * factor).to_le_bytes();
    bytes.copy_from_slice(count.first_chunk::<BYTES>().unwrap_or(&[0; BYTES]));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int96_is_nanoseconds_and_a_julian_day() {
        let encoded = int96(-1, 1);
        assert_eq!(encoded[8..], 2_440_587_i32.to_le_bytes());
        assert_eq!(encoded[..8], (86_399 * NANOS_PER_SECOND).to_le_bytes());
        let encoded = int96(86_400_000_001, 1_000_000);
        assert_eq!(encoded[8..], 2_440_589_i32.to_le_bytes());
        assert_eq!(encoded[..8], 1000_i64.to_le_bytes());
    }
}
