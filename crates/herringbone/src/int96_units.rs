//! Finding a unit that fits a file's INT96 timestamps.
//!
//! An INT96 timestamp consists of a day and the nanoseconds within that day. Its range is larger
//! than that of 64-bit nanoseconds, which only cover the years 1677 to 2262. This matters in
//! practice, because Spark writes dates such as year 1 and year 9999 as INT96.

use herringbone_arrow::array::{Array as _, RecordBatch};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::{DataType, TimeUnit};

/// The size of a value in bytes: 8 for the nanoseconds within the day, and 4 for the Julian day.
const BYTES: usize = 12;
/// The Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// The number of days around 1970 that 64-bit nanoseconds can represent at any time of day. Days
/// this near need no exact check.
const NEAR_DAYS: u64 = 106_000;

/// Arrow's units and their length in nanoseconds, finest first.
const UNITS: [(TimeUnit, i64); 3] = [
    (TimeUnit::Nanosecond, 1),
    (TimeUnit::Microsecond, 1_000),
    // Milliseconds can represent all 2^32 days, so we don't need seconds.
    (TimeUnit::Millisecond, 1_000_000),
];

/// The Arrow units that can represent all INT96 timestamps of one or more files without losing
/// digits.
///
/// ```
/// use herringbone::{Int96Units, ParquetFile, ReadOptions};
/// use herringbone::arrow::schema::TimeUnit;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let units: Int96Units = file.int96_units(&ReadOptions::default())?;
/// assert_eq!(units.finest(), Some(TimeUnit::Nanosecond));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Int96Units {
    /// One flag for each of [`UNITS`], true if all values fit in 64 bits.
    fits: [bool; UNITS.len()],
    /// One flag for each of [`UNITS`], true if no value has finer digits.
    is_exact: [bool; UNITS.len()],
}

impl Default for Int96Units {
    /// Returns all units, since there is no value yet to rule any of them out.
    fn default() -> Self {
        Self {
            fits: [true; UNITS.len()],
            is_exact: [true; UNITS.len()],
        }
    }
}

impl Int96Units {
    /// Adds the INT96 values of a batch, which must come from a
    /// [read of INT96 columns](crate::MetadataHandle::int96_plan).
    pub fn add(&mut self, batch: &RecordBatch) {
        for column in batch.columns() {
            self.array(&column.to_data());
        }
    }

    /// Retains only the units that can also represent the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        let fits = self.fits.iter_mut().zip(other.fits);
        let is_exact = self.is_exact.iter_mut().zip(other.is_exact);
        for (mine, others) in fits.chain(is_exact) {
            *mine &= others;
        }
    }

    /// Returns the finest unit that can represent all values without losing digits, or `None` if
    /// there is no such unit.
    #[must_use]
    pub fn finest(&self) -> Option<TimeUnit> {
        let units = UNITS.iter().zip(self.fits.iter().zip(&self.is_exact));
        let mut holding = units.filter(|(_, (fits, is_exact))| **fits && **is_exact);
        holding.next().map(|((unit, _), _)| *unit)
    }

    fn array(&mut self, data: &ArrayData) {
        if *data.data_type() != DataType::FixedSizeBinary(BYTES as i32) {
            return data.child_data().iter().for_each(|child| self.array(child));
        }
        let bytes = data.buffers().first().map(|buffer| buffer.as_slice());
        let values = bytes.unwrap_or_default().as_chunks::<BYTES>().0;
        let values = values.iter().skip(data.offset()).take(data.len());
        match data.nulls() {
            None => values.for_each(|value| self.value(value)),
            Some(nulls) => values
                .zip(nulls.iter())
                .filter(|(_, is_valid)| *is_valid)
                .for_each(|(value, _)| self.value(value)),
        }
    }

    fn value(&mut self, value: &[u8; BYTES]) {
        let [n0, n1, n2, n3, n4, n5, n6, n7, d0, d1, d2, d3] = *value;
        let nanos = i64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]);
        let days = i64::from(i32::from_le_bytes([d0, d1, d2, d3])) - JULIAN_EPOCH;
        // We only have to look at the nanoseconds, because a day is a multiple of every unit.
        for (is_exact, (_, unit)) in self.is_exact.iter_mut().zip(UNITS) {
            *is_exact = *is_exact && nanos % unit == 0;
        }
        if days.unsigned_abs() <= NEAR_DAYS && (0..NANOS_PER_DAY).contains(&nanos) {
            return;
        }
        let exact = i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos);
        for (fits, (_, unit)) in self.fits.iter_mut().zip(UNITS) {
            *fits &= i64::try_from(exact.div_euclid(i128::from(unit))).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(values: &[(i32, i64)]) -> Int96Units {
        let mut units = Int96Units::default();
        for (day, nanos) in values {
            let mut value = [0; BYTES];
            value[..8].copy_from_slice(&nanos.to_le_bytes());
            value[8..].copy_from_slice(&day.to_le_bytes());
            units.value(&value);
        }
        units
    }

    #[test]
    fn units_of_several_files_hold_the_values_of_all() {
        let epoch = JULIAN_EPOCH as i32;
        let mut far = units(&[(5_373_484, 1_000)]);
        assert_eq!(far.finest(), Some(TimeUnit::Microsecond));
        far.merge(&units(&[(epoch, 2_000)]));
        assert_eq!(far.finest(), Some(TimeUnit::Microsecond));
        far.merge(&units(&[(epoch, 2_001)]));
        assert_eq!(far.finest(), None);
    }

    #[test]
    fn the_finest_that_holds_all() {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond};
        let epoch = JULIAN_EPOCH as i32;
        // 9999-12-31 is Julian day 5,373,484.
        let far = 5_373_484;
        for (values, expected) in [
            (&[][..], Some(Nanosecond)),
            (&[(epoch, 1), (epoch + 90_000, 999)], Some(Nanosecond)),
            // The last representable value, 2262-04-11T23:47:16.854775807, and the next one.
            (&[(epoch + 106_751, 85_636_854_775_807)], Some(Nanosecond)),
            (&[(epoch + 106_751, 85_636_854_775_808)], None),
            (&[(epoch + 106_751, 85_636_854_776_000)], Some(Microsecond)),
            (&[(far, 1_000)], Some(Microsecond)),
            (&[(far, 1), (epoch, 0)], None),
            // One value has the digits, and another has the range.
            (&[(far, 0), (epoch, 1)], None),
            (&[(far, 0), (epoch, 1_000)], Some(Microsecond)),
            // In microseconds, 2^31 days are out of range.
            (&[(i32::MAX, 0)], Some(Millisecond)),
            (&[(i32::MIN, 5_000_000)], Some(Millisecond)),
            (&[(i32::MAX, 1_000)], None),
            (&[(epoch, -1)], Some(Nanosecond)),
        ] {
            assert_eq!(units(values).finest(), expected, "{values:?}");
        }
    }
}
