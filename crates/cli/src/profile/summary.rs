//! Summarises the values of a leaf.

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
use super::spread::{Quantiles, Spread};
use super::{Leaf, one_per_number};
use crate::base::failure::{Failure, Result};

/// The summary of a leaf.
pub(crate) struct Summary {
    pub(crate) path: Vec<String>,
    pub(crate) field: FieldRef,
    /// True if the leaf is in a list or map.
    pub(crate) is_in_list: bool,
    /// The number of values, including nulls.
    pub(crate) values: u64,
    /// The number of nulls.
    pub(crate) nulls: u64,
    distinct: Distinct,
    /// Encodes values as bytes with the same sort order, or `None` for types without an order.
    order: Option<RowConverter>,
    min: Option<(OwnedRow, ArrayRef)>,
    max: Option<(OwnedRow, ArrayRef)>,
    /// The mean and the quantiles of numbers, or of text lengths in bytes.
    spread: Spread,
    /// The most recent value.
    last: Option<OwnedRow>,
    /// True if no value is less than the one before it.
    ascends: bool,
    /// True if no value is greater than the one before it.
    descends: bool,
}

impl Summary {
    /// Creates a leaf's summary, without any values yet.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if values of this type cannot be compared.
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
            spread: Spread::default(),
            last: None,
            ascends: true,
            descends: true,
        })
    }

    /// Adds an array's values.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the values cannot be compared or printed.
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
        each_measure(array, &mut |measure| self.spread.add(measure));
        Ok(())
    }

    /// Returns the number of distinct non-null values with a flag, true if it is exact.
    pub(crate) fn distinct(&self) -> (u64, bool) {
        self.distinct.count()
    }

    /// Returns the least value, as an array of one value.
    pub(crate) fn min(&self) -> Option<&ArrayRef> {
        self.min.as_ref().map(|(_, array)| array)
    }

    /// Returns the greatest value, as an array of one value.
    pub(crate) fn max(&self) -> Option<&ArrayRef> {
        self.max.as_ref().map(|(_, array)| array)
    }

    /// Returns `ascending` or `descending` if the values are sorted, or `None` if there are nulls
    /// or all values are equal.
    pub(crate) fn sorted(&self) -> Option<&'static str> {
        let (min, max) = (self.min.as_ref()?, self.max.as_ref()?);
        let is_plain = self.nulls == 0 && !self.is_in_list && min.0 != max.0;
        match (is_plain, self.ascends, self.descends) {
            (true, true, _) => Some("ascending"),
            (true, _, true) => Some("descending"),
            _ => None,
        }
    }

    /// Returns the mean of numbers, or the mean length of texts in bytes.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.spread.mean()
    }

    /// Returns the standard deviation, if the values are numbers.
    pub(crate) fn deviation(&self) -> Option<f64> {
        self.spread.deviation().filter(|_| !self.is_length())
    }

    /// Returns the quantiles, if the values are numbers.
    pub(crate) fn quantiles(&self) -> Option<Quantiles> {
        self.spread.quantiles().filter(|_| !self.is_length())
    }

    /// Returns true if the mean is about text lengths.
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

/// Calls `take` with each number, or with each text's length in bytes. Other types have no measure.
fn each_measure(array: &ArrayRef, take: &mut dyn FnMut(f64)) {
    fn numbers<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        to: impl Fn(T::Native) -> f64,
        take: &mut dyn FnMut(f64),
    ) {
        let values = array.as_primitive::<T>().iter().flatten();
        values.for_each(|value| take(to(value)));
    }
    let mut lengths = |lengths: &mut dyn Iterator<Item = Option<usize>>| {
        lengths.flatten().for_each(|length| take(length as f64));
    };
    let text = |text: Option<&'_ str>| text.map(str::len);
    let bytes = |bytes: Option<&'_ [u8]>| bytes.map(<[u8]>::len);
    match array.data_type() {
        DataType::Int8 => numbers::<Int8Type>(array, f64::from, take),
        DataType::Int16 => numbers::<Int16Type>(array, f64::from, take),
        DataType::Int32 => numbers::<Int32Type>(array, f64::from, take),
        DataType::Int64 => numbers::<Int64Type>(array, |value| value as f64, take),
        DataType::UInt8 => numbers::<UInt8Type>(array, f64::from, take),
        DataType::UInt16 => numbers::<UInt16Type>(array, f64::from, take),
        DataType::UInt32 => numbers::<UInt32Type>(array, f64::from, take),
        DataType::UInt64 => numbers::<UInt64Type>(array, |value| value as f64, take),
        DataType::Float16 => numbers::<Float16Type>(array, f64::from, take),
        DataType::Float32 => numbers::<Float32Type>(array, f64::from, take),
        DataType::Float64 => numbers::<Float64Type>(array, |value| value, take),
        DataType::Utf8 => lengths(&mut array.as_string::<i32>().iter().map(text)),
        DataType::LargeUtf8 => lengths(&mut array.as_string::<i64>().iter().map(text)),
        DataType::Utf8View => lengths(&mut array.as_string_view().iter().map(text)),
        DataType::Binary => lengths(&mut array.as_binary::<i32>().iter().map(bytes)),
        DataType::LargeBinary => lengths(&mut array.as_binary::<i64>().iter().map(bytes)),
        DataType::BinaryView => lengths(&mut array.as_binary_view().iter().map(bytes)),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => decimals(array, take),
        _ => {}
    }
}

fn decimals(array: &ArrayRef, take: &mut dyn FnMut(f64)) {
    let field = herringbone_arrow::schema::Field::new("", array.data_type().clone(), true);
    let Ok(values) = value::of(&field, array) else {
        return;
    };
    let mut text = String::new();
    for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
        text.clear();
        values.text(row, &mut text);
        take(text.parse::<f64>().unwrap_or(0.0));
    }
}

fn failed(error: ArrowError) -> Failure {
    Failure::Data(error.to_string())
}
