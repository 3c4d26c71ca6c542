//! The summary of the values of a column.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::row::{OwnedRow, RowConverter, SortField};
use herringbone_arrow::schema::{ArrowError, DataType, FieldRef};
use herringbone_interchange::write::value;

use super::distinct::Distinct;
use super::{Leaf, one_per_number};
use crate::base::failure::{Failure, Result};

/// The summary of a leaf.
pub(crate) struct Summary {
    pub(crate) path: Vec<String>,
    pub(crate) field: FieldRef,
    /// True if the leaf is in a list or map.
    pub(crate) is_in_list: bool,
    /// The number of values, nulls included.
    pub(crate) values: u64,
    /// The number of nulls.
    pub(crate) nulls: u64,
    distinct: Distinct,
    /// The conversion of values to bytes in their order. `None` for types without an order.
    order: Option<RowConverter>,
    min: Option<(OwnedRow, ArrayRef)>,
    max: Option<(OwnedRow, ArrayRef)>,
    sum: f64,
    /// The number of values in the sum.
    summed: u64,
    /// The newest value.
    last: Option<OwnedRow>,
    /// True if no value is below the one before it.
    ascends: bool,
    /// True if no value is above the one before it.
    descends: bool,
}

impl Summary {
    /// Creates the summary of a leaf without values.
    ///
    /// # Errors
    /// Data if a type cannot be compared.
    pub(crate) fn new(leaf: &Leaf) -> Result<Self> {
        let data_type = leaf.field.data_type();
        let has_order = !data_type.is_nested() && !matches!(data_type, DataType::Interval(_));
        let order = has_order.then(|| RowConverter::new(vec![SortField::new(data_type.clone())]));
        Ok(Self {
            path: leaf.path.clone(),
            field: leaf.field.clone(),
            is_in_list: leaf.is_in_list,
            values: 0,
            nulls: 0,
            distinct: Distinct::default(),
            order: order.transpose().map_err(failed)?,
            min: None,
            max: None,
            sum: 0.0,
            summed: 0,
            last: None,
            ascends: true,
            descends: true,
        })
    }

    /// Adds the values of an array.
    ///
    /// # Errors
    /// Data if the values cannot be compared or printed.
    pub(crate) fn add(&mut self, array: &ArrayRef) -> Result<()> {
        let array = &one_per_number(array);
        let nulls = array.logical_nulls();
        self.values += array.len() as u64;
        self.nulls += nulls.as_ref().map_or(0, |nulls| nulls.null_count() as u64);
        let valid = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        let Some(order) = &mut self.order else {
            let values = value::of(&self.field, array)?;
            let mut text = String::new();
            for row in (0..array.len()).filter(valid) {
                text.clear();
                values.text(row, &mut text);
                self.distinct.add(text.as_bytes());
            }
            return Ok(());
        };
        let rows = order
            .convert_columns(std::slice::from_ref(array))
            .map_err(failed)?;
        let (mut least, mut most): (Option<usize>, Option<usize>) = (None, None);
        let mut before = None;
        for at in (0..array.len()).filter(valid) {
            let row = rows.row(at);
            let last = before.map(|at| rows.row(at));
            if let Some(last) = last.or_else(|| self.last.as_ref().map(OwnedRow::row)) {
                self.ascends &= last <= row;
                self.descends &= last >= row;
            }
            before = Some(at);
            self.distinct.add(row.as_ref());
            if least.is_none_or(|least| row < rows.row(least)) {
                least = Some(at);
            }
            if most.is_none_or(|most| row > rows.row(most)) {
                most = Some(at);
            }
        }
        if let Some(at) = least
            && self
                .min
                .as_ref()
                .is_none_or(|(min, _)| rows.row(at) < min.row())
        {
            self.min = Some((rows.row(at).owned(), array.slice(at, 1)));
        }
        if let Some(at) = most
            && self
                .max
                .as_ref()
                .is_none_or(|(max, _)| rows.row(at) > max.row())
        {
            self.max = Some((rows.row(at).owned(), array.slice(at, 1)));
        }
        if let Some(at) = before {
            self.last = Some(rows.row(at).owned());
        }
        let (sum, summed) = sum(array);
        self.sum += sum;
        self.summed += summed;
        Ok(())
    }

    /// Returns the number of different values except null, and true if it is exact.
    pub(crate) fn distinct(&self) -> (u64, bool) {
        self.distinct.count()
    }

    /// Returns the least value, as an array of one.
    pub(crate) fn min(&self) -> Option<&ArrayRef> {
        self.min.as_ref().map(|(_, array)| array)
    }

    /// Returns the greatest value, as an array of one.
    pub(crate) fn max(&self) -> Option<&ArrayRef> {
        self.max.as_ref().map(|(_, array)| array)
    }

    /// Returns the order of the values, `ascending` or `descending`, if they have one. Nulls have none.
    pub(crate) fn sorted(&self) -> Option<&'static str> {
        let (min, max) = (self.min.as_ref()?, self.max.as_ref()?);
        let is_plain = self.nulls == 0 && !self.is_in_list && min.0 != max.0;
        match (is_plain, self.ascends, self.descends) {
            (true, true, _) => Some("ascending"),
            (true, _, true) => Some("descending"),
            _ => None,
        }
    }

    /// Returns the mean of numbers, or the mean length in bytes of texts.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.summed > 0).then(|| self.sum / self.summed as f64)
    }

    /// Returns true if the mean is that of lengths.
    pub(crate) fn is_length(&self) -> bool {
        let data_type = value_type(self.field.data_type());
        data_type.is_string() || data_type.is_binary()
    }
}

fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// Returns the sum of all values, and their number: of numbers, or of the lengths of texts. Zero for other types.
fn sum(array: &ArrayRef) -> (f64, u64) {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef, to: impl Fn(T::Native) -> f64) -> (f64, u64) {
        let values = array.as_primitive::<T>().iter().flatten();
        values.fold((0.0, 0), |(sum, count), value| (sum + to(value), count + 1))
    }
    fn lengths<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> (f64, u64) {
        values.flatten().fold((0.0, 0), |(sum, count), value| {
            (sum + value.len() as f64, count + 1)
        })
    }
    let texts = |text: Option<&'_ str>| text.map(str::len);
    let mean_length = |lengths: &mut dyn Iterator<Item = Option<usize>>| {
        lengths.flatten().fold((0.0, 0), |(sum, count), length| {
            (sum + length as f64, count + 1)
        })
    };
    match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array, f64::from),
        DataType::Int16 => of::<Int16Type>(array, f64::from),
        DataType::Int32 => of::<Int32Type>(array, f64::from),
        DataType::Int64 => of::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => of::<UInt8Type>(array, f64::from),
        DataType::UInt16 => of::<UInt16Type>(array, f64::from),
        DataType::UInt32 => of::<UInt32Type>(array, f64::from),
        DataType::UInt64 => of::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => of::<Float16Type>(array, f64::from),
        DataType::Float32 => of::<Float32Type>(array, f64::from),
        DataType::Float64 => of::<Float64Type>(array, |value| value),
        DataType::Utf8 => mean_length(&mut array.as_string::<i32>().iter().map(texts)),
        DataType::LargeUtf8 => mean_length(&mut array.as_string::<i64>().iter().map(texts)),
        DataType::Utf8View => mean_length(&mut array.as_string_view().iter().map(texts)),
        DataType::Binary => lengths(array.as_binary::<i32>().iter()),
        DataType::LargeBinary => lengths(array.as_binary::<i64>().iter()),
        DataType::BinaryView => lengths(array.as_binary_view().iter()),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => decimals(array),
        _ => (0.0, 0),
    }
}

fn decimals(array: &ArrayRef) -> (f64, u64) {
    let field = herringbone_arrow::schema::Field::new("", array.data_type().clone(), true);
    let Ok(values) = value::of(&field, array) else {
        return (0.0, 0);
    };
    let (mut sum, mut count, mut text) = (0.0, 0, String::new());
    for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
        text.clear();
        values.text(row, &mut text);
        sum += text.parse::<f64>().unwrap_or(0.0);
        count += 1;
    }
    (sum, count)
}

fn failed(error: ArrowError) -> Failure {
    Failure::Data(error.to_string())
}
