//! Reads the columns that values were shredded into.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::bytes::BytesColumn;
use super::unpack::unpacked;
use super::{TYPED_VALUE, VALUE};
use crate::cast::PrimitiveType;
use crate::decimal::Decimal;
use crate::value::Value;

/// The columns `value` and `typed_value` for the whole variant, for a field, or for elements.
pub(super) struct Group {
    /// The nulls of the struct. A null acts as if both columns were null.
    pub(super) nulls: Option<NullBuffer>,
    pub(super) value: Option<BytesColumn>,
    pub(super) typed: Option<Typed>,
}

/// The column `typed_value`.
pub(super) enum Typed {
    Primitive(ArrayRef, PrimitiveType),
    Array(ArrayRef, Box<Group>),
    Object(Object),
}

/// A shredded object.
pub(super) struct Object {
    nulls: Option<NullBuffer>,
    /// The fields, in the order of the columns.
    pub(super) fields: Vec<(String, Group)>,
    /// The indexes of the fields, in the order of their names.
    order: Vec<usize>,
}

impl Group {
    /// Finds a struct's columns by name. The struct's type must be valid for a variant.
    pub(super) fn new(array: &StructArray) -> Result<Self> {
        let value = array.column_by_name(VALUE);
        let typed = array.column_by_name(TYPED_VALUE);
        Ok(Self {
            nulls: array.nulls().cloned(),
            value: value
                .map(|value| BytesColumn::new(value, VALUE))
                .transpose()?,
            typed: typed.map(Typed::new).transpose()?,
        })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        is_null(self.nulls.as_ref(), row)
    }
}

impl Typed {
    fn new(array: &ArrayRef) -> Result<Self> {
        let array = &unpacked(array)?;
        let elements = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().values(),
            DataType::LargeList(_) => array.as_list::<i64>().values(),
            DataType::ListView(_) => array.as_list_view::<i32>().values(),
            DataType::LargeListView(_) => array.as_list_view::<i64>().values(),
            DataType::Struct(_) => return Object::new(array.as_struct()).map(Self::Object),
            other => {
                let primitive = PrimitiveType::of_data_type(other)?;
                return Ok(Self::Primitive(array.clone(), primitive));
            }
        };
        let group = Group::new(group(elements)?)?;
        Ok(Self::Array(array.clone(), Box::new(group)))
    }

    /// Returns true if there is no value in this row.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Primitive(array, _) | Self::Array(array, _) => array.is_null(row),
            Self::Object(object) => is_null(object.nulls.as_ref(), row),
        }
    }
}

impl Object {
    fn new(array: &StructArray) -> Result<Self> {
        let columns = array.fields().iter().zip(array.columns());
        let fields = columns.map(|(field, column)| {
            let group = group(column).and_then(Group::new);
            let group = group.map_err(|error| error.in_column(field.name()))?;
            Ok((field.name().clone(), group))
        });
        let fields: Vec<_> = fields.collect::<Result<_>>()?;
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_unstable_by_key(|place| fields.get(*place).map(|(name, _)| name));
        Ok(Self {
            nulls: array.nulls().cloned(),
            fields,
            order,
        })
    }

    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Returns the columns for the field with this name, if it is shredded.
    pub(super) fn field(&self, name: &str) -> Option<&Group> {
        let at = |place: &usize| self.fields.get(*place);
        let found = self.order.binary_search_by_key(&Some(name), |place| {
            at(place).map(|(name, _)| name.as_str())
        });
        let (_, group) = at(self.order.get(found.ok()?)?)?;
        Some(group)
    }
}

/// Returns the struct for a field or for elements.
fn group(array: &ArrayRef) -> Result<&StructArray> {
    array.as_struct_opt().ok_or_else(|| {
        Error::corrupt(format!(
            "a shredded field or element of a variant is {}, not a group of `{VALUE}` and \
             `{TYPED_VALUE}`",
            array.data_type()
        ))
    })
}

fn is_null(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_some_and(|nulls| nulls.is_null(row))
}

/// Returns a row's range of elements in a list of any layout.
#[allow(
    clippy::indexing_slicing,
    reason = "a list has one offset more than it has rows"
)]
pub(super) fn elements(array: &ArrayRef, row: usize) -> Range<usize> {
    let from_to = |start: usize, end: usize| start..end;
    match array.data_type() {
        DataType::List(_) => {
            let offsets = array.as_list::<i32>().value_offsets();
            from_to(offsets[row] as usize, offsets[row + 1] as usize)
        }
        DataType::LargeList(_) => {
            let offsets = array.as_list::<i64>().value_offsets();
            from_to(offsets[row] as usize, offsets[row + 1] as usize)
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            let start = list.value_offset(row) as usize;
            from_to(start, start + list.value_size(row) as usize)
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            let start = list.value_offset(row) as usize;
            from_to(start, start + list.value_size(row) as usize)
        }
        _ => 0..0,
    }
}

/// Returns the value of a non-null row. Its type must be `primitive`.
pub(super) fn primitive_value(array: &ArrayRef, primitive: PrimitiveType, row: usize) -> Value<'_> {
    use PrimitiveType as T;
    macro_rules! value {
        ($arrow:ty) => {
            array.as_primitive::<$arrow>().value(row)
        };
    }
    match primitive {
        T::Boolean => Value::Boolean(array.as_boolean().value(row)),
        T::Int8 => Value::Int8(value!(Int8Type)),
        T::Int16 => Value::Int16(value!(Int16Type)),
        T::Int32 => Value::Int32(value!(Int32Type)),
        T::Int64 => Value::Int64(value!(Int64Type)),
        T::Float => Value::Float(value!(Float32Type)),
        T::Double => Value::Double(value!(Float64Type)),
        T::Decimal { precision, scale } => {
            let unscaled = match array.data_type() {
                DataType::Decimal32(..) => value!(Decimal32Type).into(),
                DataType::Decimal64(..) => value!(Decimal64Type).into(),
                _ => value!(Decimal128Type),
            };
            let decimal = Decimal::new(unscaled, scale);
            match precision {
                0..=9 => Value::Decimal4(decimal),
                10..=18 => Value::Decimal8(decimal),
                _ => Value::Decimal16(decimal),
            }
        }
        T::Date => Value::Date(value!(Date32Type)),
        T::Time => Value::Time(value!(Time64MicrosecondType)),
        T::Timestamp { nanos, utc } => match (nanos, utc) {
            (false, true) => Value::Timestamp(value!(TimestampMicrosecondType)),
            (false, false) => Value::TimestampNtz(value!(TimestampMicrosecondType)),
            (true, true) => Value::TimestampNanos(value!(TimestampNanosecondType)),
            (true, false) => Value::TimestampNtzNanos(value!(TimestampNanosecondType)),
        },
        T::String => Value::String(match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row),
            _ => array.as_string_view().value(row),
        }),
        T::Binary => Value::Binary(match array.data_type() {
            DataType::Binary => array.as_binary::<i32>().value(row),
            DataType::LargeBinary => array.as_binary::<i64>().value(row),
            _ => array.as_binary_view().value(row),
        }),
        T::Uuid => {
            let bytes = array.as_fixed_size_binary().value(row);
            Value::Uuid(bytes.first_chunk().copied().unwrap_or_default())
        }
    }
}
