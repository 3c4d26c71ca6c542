//! Prepares a batch's column for printing.
//!
//! We only match the data type once per column and batch. After that, printing a value costs one
//! virtual call, plus one per level of nesting.

use herringbone::variant::json::LostTypes;
use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::types::{
    ArrowDictionaryKeyType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, RunEndIndexType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array, RecordBatch, cast::AsArray as _};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Field, TimeUnit};

use super::variant::Variants;
use super::{geometry, nested, scalar, temporal_value};
use crate::error::{Error, Result};

/// A column prepared for printing its values as text.
///
/// `row` must be less than the array's length.
pub trait Value {
    /// Appends the value in `row` as JSON.
    fn json(&self, row: usize, out: &mut String);

    /// Appends the value in `row` as plain text, which is JSON without the quotes around scalars. A
    /// null appends nothing.
    fn text(&self, row: usize, out: &mut String);

    /// Appends the value in `row` as a table cell. Bytes are written as literals for conditions, so
    /// that you can copy them into one. Other values are plain text.
    fn cell(&self, row: usize, out: &mut String) {
        self.text(row, out);
    }

    /// Returns the variant types lost in JSON.
    fn lost(&self) -> LostTypes {
        LostTypes::default()
    }

    /// Returns true if the value in `row` is null.
    fn is_null(&self, _row: usize) -> bool {
        false
    }
}

/// A printable column.
pub type Boxed<'a> = Box<dyn Value + 'a>;

/// A column with nulls.
struct Nullable<'a> {
    nulls: &'a NullBuffer,
    values: Boxed<'a>,
}

impl Value for Nullable<'_> {
    fn json(&self, row: usize, out: &mut String) {
        if self.nulls.is_null(row) {
            out.push_str("null");
        } else {
            self.values.json(row, out);
        }
    }

    fn text(&self, row: usize, out: &mut String) {
        if !self.nulls.is_null(row) {
            self.values.text(row, out);
        }
    }

    fn cell(&self, row: usize, out: &mut String) {
        if !self.nulls.is_null(row) {
            self.values.cell(row, out);
        }
    }

    fn lost(&self) -> LostTypes {
        self.values.lost()
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_null(row) || self.values.is_null(row)
    }
}

/// Returns the values of `array`, which has the type of `field`.
///
/// # Errors
///
/// Fails for a union, since Parquet has no such type.
pub fn of<'a>(field: &Field, array: &'a dyn Array) -> Result<Boxed<'a>> {
    let values = match array.data_type() {
        DataType::Dictionary(..) => dictionary(field, array)?,
        DataType::RunEndEncoded(..) => run_end_encoded(array)?,
        DataType::Struct(_) if is_variant(field) => Box::new(Variants::new(array)?),
        data_type if data_type.is_nested() => nested(array)?,
        _ => flat(field, array)?,
    };
    Ok(match array.nulls() {
        Some(nulls) if nulls.null_count() > 0 => Box::new(Nullable { nulls, values }),
        _ => values,
    })
}

/// Describes where the first unprintable value in a batch is, as its column and its row in the
/// output. The row is unknown for a value inside a list.
pub fn unprintable_place(batch: &RecordBatch, rows_before: u64) -> Option<String> {
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let fails = |start: usize, length: usize| of(field, &column.slice(start, length)).is_err();
        if !fails(0, column.len()) {
            continue;
        }
        let name = field.name();
        // Lists check all of their elements, even outside of a slice. So if even an empty slice
        // fails, we can't find the row.
        let mut rows = match fails(0, 0) {
            true => 0..0,
            false => 0..column.len(),
        };
        return Some(match rows.find(|row| fails(*row, 1)) {
            Some(row) => {
                let row = rows_before + row as u64;
                format!(" (column {name}, row {row} of the output, counted from 0)")
            }
            None => format!(" (column {name})"),
        });
    }
    None
}

fn flat<'a>(field: &Field, array: &'a dyn Array) -> Result<Boxed<'a>> {
    if let Some(geometries) = geometry::of(array).filter(|_| geometry::is_geometry(field)) {
        return Ok(geometries);
    }
    Ok(match array.data_type() {
        DataType::Null => Box::new(scalar::Null),
        DataType::Boolean => Box::new(scalar::Boolean(array.as_boolean())),
        DataType::Int8 => Box::new(scalar::Integer::<Int8Type>(array.as_primitive())),
        DataType::Int16 => Box::new(scalar::Integer::<Int16Type>(array.as_primitive())),
        DataType::Int32 => Box::new(scalar::Integer::<Int32Type>(array.as_primitive())),
        DataType::Int64 => Box::new(scalar::Integer::<Int64Type>(array.as_primitive())),
        DataType::UInt8 => Box::new(scalar::Integer::<UInt8Type>(array.as_primitive())),
        DataType::UInt16 => Box::new(scalar::Integer::<UInt16Type>(array.as_primitive())),
        DataType::UInt32 => Box::new(scalar::Integer::<UInt32Type>(array.as_primitive())),
        DataType::UInt64 => Box::new(scalar::Integer::<UInt64Type>(array.as_primitive())),
        DataType::Float16 => Box::new(scalar::Floating::<Float16Type>(array.as_primitive())),
        DataType::Float32 => Box::new(scalar::Floating::<Float32Type>(array.as_primitive())),
        DataType::Float64 => Box::new(scalar::Floating::<Float64Type>(array.as_primitive())),
        DataType::Utf8 => Box::new(scalar::Utf8(array.as_string::<i32>())),
        DataType::LargeUtf8 => Box::new(scalar::Utf8(array.as_string::<i64>())),
        DataType::Utf8View => Box::new(scalar::Utf8(array.as_string_view())),
        DataType::Binary => Box::new(scalar::Binary(array.as_binary::<i32>())),
        DataType::LargeBinary => Box::new(scalar::Binary(array.as_binary::<i64>())),
        DataType::BinaryView => Box::new(scalar::Binary(array.as_binary_view())),
        DataType::FixedSizeBinary(16) if is_uuid(field) => {
            Box::new(scalar::Uuid(array.as_fixed_size_binary()))
        }
        DataType::FixedSizeBinary(_) => Box::new(scalar::Binary(array.as_fixed_size_binary())),
        DataType::Decimal32(_, scale) => scalar::decimal32(array, *scale),
        DataType::Decimal64(_, scale) => scalar::decimal64(array, *scale),
        DataType::Decimal128(_, scale) => scalar::decimal128(array, *scale),
        DataType::Decimal256(_, scale) => scalar::decimal256(array, *scale),
        _ => temporal(array)?,
    })
}

fn temporal<'a>(array: &'a dyn Array) -> Result<Boxed<'a>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    use temporal_value as of;
    Ok(match array.data_type() {
        DataType::Date32 => of::date32(array),
        DataType::Date64 => of::date64(array),
        DataType::Time32(Second) => of::time::<Time32SecondType>(array, Second),
        DataType::Time32(_) => of::time::<Time32MillisecondType>(array, Millisecond),
        DataType::Time64(Nanosecond) => of::time::<Time64NanosecondType>(array, Nanosecond),
        DataType::Time64(_) => of::time::<Time64MicrosecondType>(array, Microsecond),
        DataType::Timestamp(unit, zone) => {
            let (unit, zone) = (*unit, zone.as_deref());
            match unit {
                Second => of::timestamp::<TimestampSecondType>(array, unit, zone),
                Millisecond => of::timestamp::<TimestampMillisecondType>(array, unit, zone),
                Microsecond => of::timestamp::<TimestampMicrosecondType>(array, unit, zone),
                Nanosecond => of::timestamp::<TimestampNanosecondType>(array, unit, zone),
            }
        }
        DataType::Duration(unit) => match unit {
            Second => of::duration::<DurationSecondType>(array, *unit),
            Millisecond => of::duration::<DurationMillisecondType>(array, *unit),
            Microsecond => of::duration::<DurationMicrosecondType>(array, *unit),
            Nanosecond => of::duration::<DurationNanosecondType>(array, *unit),
        },
        DataType::Interval(unit) => of::interval(array, *unit),
        other => return Err(unprintable(other)),
    })
}

fn nested<'a>(array: &'a dyn Array) -> Result<Boxed<'a>> {
    Ok(match array.data_type() {
        DataType::Struct(fields) => Box::new(nested::Struct::new(fields, array.as_struct())?),
        DataType::Map(..) => Box::new(nested::Map::new(array.as_map())?),
        DataType::List(item) => Box::new(nested::List::of_list::<i32>(item, array.as_list())?),
        DataType::LargeList(item) => Box::new(nested::List::of_list::<i64>(item, array.as_list())?),
        DataType::ListView(item) => {
            Box::new(nested::List::of_views::<i32>(item, array.as_list_view())?)
        }
        DataType::LargeListView(item) => {
            Box::new(nested::List::of_views::<i64>(item, array.as_list_view())?)
        }
        DataType::FixedSizeList(item, _) => {
            Box::new(nested::List::of_fixed(item, array.as_fixed_size_list())?)
        }
        other => return Err(unprintable(other)),
    })
}

fn dictionary<'a>(field: &Field, array: &'a dyn Array) -> Result<Boxed<'a>> {
    fn keyed<'a, K: ArrowDictionaryKeyType>(
        field: &Field,
        array: &'a dyn Array,
    ) -> Result<Boxed<'a>> {
        Ok(Box::new(nested::Dictionary::<K>::new(
            field,
            array.as_dictionary(),
        )?))
    }
    match array.data_type() {
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => keyed::<Int8Type>(field, array),
            DataType::Int16 => keyed::<Int16Type>(field, array),
            DataType::Int32 => keyed::<Int32Type>(field, array),
            DataType::Int64 => keyed::<Int64Type>(field, array),
            DataType::UInt8 => keyed::<UInt8Type>(field, array),
            DataType::UInt16 => keyed::<UInt16Type>(field, array),
            DataType::UInt32 => keyed::<UInt32Type>(field, array),
            DataType::UInt64 => keyed::<UInt64Type>(field, array),
            _ => Err(unprintable(array.data_type())),
        },
        other => Err(unprintable(other)),
    }
}

fn run_end_encoded<'a>(array: &'a dyn Array) -> Result<Boxed<'a>> {
    fn ends<'a, R: RunEndIndexType>(array: &'a dyn Array, values: &Field) -> Result<Boxed<'a>> {
        let array = array
            .as_run_opt::<R>()
            .ok_or_else(|| unprintable(array.data_type()))?;
        Ok(Box::new(nested::Runs::<R>::new(values, array)?))
    }
    match array.data_type() {
        DataType::RunEndEncoded(run_ends, values) => match run_ends.data_type() {
            DataType::Int16 => ends::<Int16Type>(array, values),
            DataType::Int32 => ends::<Int32Type>(array, values),
            DataType::Int64 => ends::<Int64Type>(array, values),
            other => Err(unprintable(other)),
        },
        other => Err(unprintable(other)),
    }
}

/// Returns true if a column has numbers.
pub fn is_number(field: &Field) -> bool {
    match field.data_type() {
        DataType::Dictionary(_, values) => values.is_numeric(),
        DataType::RunEndEncoded(_, values) => values.data_type().is_numeric(),
        other => other.is_numeric(),
    }
}

/// Returns true if the extension type of `field` is a UUID.
fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
}

fn unprintable(data_type: &DataType) -> Error {
    Error::Data(format!(
        "values of the Arrow type {data_type} cannot be printed"
    ))
}
