//! The unit of INT96 timestamps, found in their values.
//!
//! INT96 has nanoseconds of a day and a day: more of both than 64-bit nanoseconds, which reach from 1677 to
//! 2262. Spark writes dates of year 1 and of year 9999 so.

use std::borrow::Cow;

use herringbone_arrow::array::{Array as _, RecordBatch};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_core::read::{ReadOptions, ReadPlan, RowGroupPlan};
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::{Int96Overflow, Projection};

use crate::file::ParquetFile;

/// Bytes of a value: nanoseconds of the day in eight of them, then the Julian day.
const BYTES: usize = 12;
/// The Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// Days from 1970 on, in both directions, that 64-bit nanoseconds hold whatever the time of the day.
const NEAR_DAYS: u64 = 106_000;

/// Units of Arrow with their nanoseconds, the finest first.
const UNITS: [(TimeUnit, i64); 3] = [
    (TimeUnit::Nanosecond, 1),
    (TimeUnit::Microsecond, 1_000),
    // All 2^32 days fit, so nobody needs seconds.
    (TimeUnit::Millisecond, 1_000_000),
];

/// Which units of Arrow hold INT96 timestamps, of one file or several, with all their digits.
///
/// ```
/// use herringbone::{Int96Units, ParquetFile, ReadOptions};
/// use herringbone::arrow::schema::TimeUnit;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let mut units = Int96Units::default();
/// units.add(&file, &ReadOptions::default())?;
/// assert_eq!(units.finest(), Some(TimeUnit::Nanosecond));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Int96Units {
    /// Of each of [`UNITS`]: whether 64 bits hold all values.
    fits: [bool; UNITS.len()],
    /// Whether no value has more digits.
    is_exact: [bool; UNITS.len()],
}

impl Default for Int96Units {
    /// Those that hold no value: all of them.
    fn default() -> Self {
        Self {
            fits: [true; UNITS.len()],
            is_exact: [true; UNITS.len()],
        }
    }
}

impl Int96Units {
    /// Looks at all INT96 values that a read with these options gives. They are decoded for that, and other
    /// columns are not.
    ///
    /// # Errors
    /// As those of the read.
    pub fn add(&mut self, file: &ParquetFile, options: &ReadOptions) -> Result<()> {
        let mut options = options.clone();
        options.schema.int96_overflow = Int96Overflow::Error;
        let leaves = file.parquet_schema().leaves();
        let is_int96 = |leaf: &usize| {
            let leaf = leaves.get(*leaf);
            leaf.is_some_and(|leaf| leaf.physical_type == Type::Int96)
        };
        let plan = file.plan(&options)?;
        let chosen: Vec<_> = plan.leaves().filter(is_int96).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        options.projection = Projection::Leaves(chosen);
        options.schema.use_arrow_schema = false;
        options.schema.int96_as_bytes = true;
        options.extensions.clear();
        options.extension_columns.clear();
        options.virtual_columns.clear();
        options.wanted_schema = None;
        options.filter = None;
        let mut reader = file.read(options)?;
        while let Some(batch) = reader.next_batch()? {
            self.batch(&batch);
        }
        match self.finest() {
            Some(_) => Ok(()),
            // A read without its keys needs these first.
            None => check_keys(file, &plan),
        }
    }

    /// The finest unit that holds all values with all their digits; `None` where there is none.
    #[must_use]
    pub fn finest(&self) -> Option<TimeUnit> {
        let units = UNITS.iter().zip(self.fits.iter().zip(&self.is_exact));
        let mut holding = units.filter(|(_, (fits, is_exact))| **fits && **is_exact);
        holding.next().map(|((unit, _), _)| *unit)
    }

    fn batch(&mut self, batch: &RecordBatch) {
        for column in batch.columns() {
            self.array(&column.to_data());
        }
    }

    fn array(&mut self, data: &ArrayData) {
        if *data.data_type() != DataType::FixedSizeBinary(BYTES as i32) {
            return data.child_data().iter().for_each(|child| self.array(child));
        }
        let bytes = data.buffers().first().map(|it| it.as_slice());
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
        // A day is a whole number of any unit.
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

/// Refuses a read that has no key for one of its columns.
fn check_keys(file: &ParquetFile, plan: &ReadPlan) -> Result<()> {
    for row_group in plan.row_groups().iter().map(RowGroupPlan::ordinal) {
        for leaf in plan.leaves() {
            let chunk = file.metadata().readable_chunk(row_group, leaf);
            chunk.and_then(KeyStep::ready).map_err(|error| {
                let path = file.parquet_schema().column_path(leaf);
                error.in_row_group(row_group).in_column(path)
            })?;
        }
    }
    Ok(())
}

/// The options, with a unit for INT96 where that is to be found in the values.
///
/// # Errors
/// Unsupported where no unit holds all of them; what reading them ends with.
pub(crate) fn with_unit<'a>(
    file: &ParquetFile,
    options: &'a ReadOptions,
) -> Result<Cow<'a, ReadOptions>> {
    if options.schema.int96_overflow != Int96Overflow::CoarserUnit {
        return Ok(Cow::Borrowed(options));
    }
    let mut units = Int96Units::default();
    units.add(file, options)?;
    let unit = units.finest().ok_or_else(|| {
        Error::unsupported(
            "no unit holds all INT96 timestamps with all their digits; choose one (`int96_unit`), and what \
             becomes of those that do not fit (`int96_overflow`)",
        )
    })?;
    let mut options = options.clone();
    options.schema.int96_unit = unit;
    options.schema.int96_overflow = Int96Overflow::Error;
    Ok(Cow::Owned(options))
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
    fn the_finest_that_holds_all() {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond};
        let epoch = JULIAN_EPOCH as i32;
        // 9999-12-31 is Julian day 5,373,484.
        let far = 5_373_484;
        for (values, expected) in [
            (&[][..], Some(Nanosecond)),
            (&[(epoch, 1), (epoch + 90_000, 999)], Some(Nanosecond)),
            // 2262-04-11T23:47:16.854775807, the last one, and the next.
            (&[(epoch + 106_751, 85_636_854_775_807)], Some(Nanosecond)),
            (&[(epoch + 106_751, 85_636_854_775_808)], None),
            (&[(epoch + 106_751, 85_636_854_776_000)], Some(Microsecond)),
            (&[(far, 1_000)], Some(Microsecond)),
            (&[(far, 1), (epoch, 0)], None),
            // Digits of one value and the reach of another.
            (&[(far, 0), (epoch, 1)], None),
            (&[(far, 0), (epoch, 1_000)], Some(Microsecond)),
            // 2^31 days are too many for microseconds.
            (&[(i32::MAX, 0)], Some(Millisecond)),
            (&[(i32::MIN, 5_000_000)], Some(Millisecond)),
            (&[(i32::MAX, 1_000)], None),
            (&[(epoch, -1)], Some(Nanosecond)),
        ] {
            assert_eq!(units(values).finest(), expected, "{values:?}");
        }
    }
}
