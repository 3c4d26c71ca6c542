//! Columns that values were shredded into.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Fields};
use herringbone_format::{Error, Result};

use super::bytes::BytesColumn;
use super::{MAX_SHREDDING_DEPTH, METADATA, ShreddingType, TYPED_VALUE, VALUE, too_deep};
use crate::cast::PrimitiveType;
use crate::decimal::Decimal;
use crate::value::Value;

/// `value` and `typed_value`: of the column, of a field, or of elements.
pub(super) struct Group {
    /// Of the struct; a null is as if both columns were.
    nulls: Option<NullBuffer>,
    pub(super) value: Option<BytesColumn>,
    pub(super) typed: Option<Typed>,
}

/// `typed_value`.
pub(super) enum Typed {
    Primitive(ArrayRef, PrimitiveType),
    Array(ArrayRef, Box<Group>),
    Object(Object),
}

/// A shredded object.
pub(super) struct Object {
    nulls: Option<NullBuffer>,
    /// In the order of the columns.
    pub(super) fields: Vec<(String, Group)>,
    /// Names of fields, in order.
    names: Vec<String>,
}

impl Group {
    /// The columns of a struct, by their names; `place` is for messages.
    pub(super) fn new(array: &StructArray, depth: usize) -> Result<Self> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        check_names(array.fields(), depth)?;
        let value = array.column_by_name(VALUE);
        let typed = array.column_by_name(TYPED_VALUE);
        if value.is_none() && typed.is_none() {
            return Err(Error::corrupt(
                "a variant has neither `value` nor `typed_value`",
            ));
        }
        Ok(Self {
            nulls: array.nulls().cloned(),
            value: value.map(|it| BytesColumn::plain(it, VALUE)).transpose()?,
            typed: typed.map(|it| Typed::new(it, depth)).transpose()?,
        })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        is_null(self.nulls.as_ref(), row)
    }

    /// How values are shredded.
    pub(super) fn shredding_type(&self) -> ShreddingType {
        match &self.typed {
            None => ShreddingType::Unshredded,
            Some(Typed::Primitive(_, primitive)) => ShreddingType::Primitive(*primitive),
            Some(Typed::Array(_, element)) => {
                ShreddingType::Array(Box::new(element.shredding_type()))
            }
            Some(Typed::Object(object)) => {
                let fields = object.fields.iter();
                let fields = fields.map(|(name, field)| (name.clone(), field.shredding_type()));
                ShreddingType::Object(fields.collect())
            }
        }
    }
}

/// Other columns than these would be lost.
fn check_names(fields: &Fields, depth: usize) -> Result<()> {
    let is_known =
        |name: &str| matches!(name, VALUE | TYPED_VALUE) || (depth == 0 && name == METADATA);
    match fields.iter().find(|field| !is_known(field.name())) {
        Some(field) => Err(Error::corrupt(format!(
            "a variant has a column `{}`, which is neither `{VALUE}` nor `{TYPED_VALUE}`",
            field.name()
        ))),
        None => Ok(()),
    }
}

impl Typed {
    fn new(array: &ArrayRef, depth: usize) -> Result<Self> {
        let elements = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().values(),
            DataType::LargeList(_) => array.as_list::<i64>().values(),
            DataType::ListView(_) => array.as_list_view::<i32>().values(),
            DataType::LargeListView(_) => array.as_list_view::<i64>().values(),
            DataType::Struct(_) => return Object::new(array.as_struct(), depth).map(Self::Object),
            other => {
                let primitive = PrimitiveType::of_data_type(other)?;
                return Ok(Self::Primitive(array.clone(), primitive));
            }
        };
        let group = Group::new(group(elements)?, depth + 1)?;
        Ok(Self::Array(array.clone(), Box::new(group)))
    }

    /// Whether it has no value in a row.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Primitive(array, _) | Self::Array(array, _) => array.is_null(row),
            Self::Object(object) => is_null(object.nulls.as_ref(), row),
        }
    }
}

impl Object {
    fn new(array: &StructArray, depth: usize) -> Result<Self> {
        let mut fields = Vec::with_capacity(array.num_columns());
        for (field, column) in array.fields().iter().zip(array.columns()) {
            let group = Group::new(group(column)?, depth + 1)
                .map_err(|error| error.in_column(field.name()))?;
            fields.push((field.name().clone(), group));
        }
        let mut names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        if let Some(name) = super::repeated(&names) {
            return Err(Error::corrupt(format!(
                "a variant's field `{name}` is shredded twice"
            )));
        }
        Ok(Self {
            nulls: array.nulls().cloned(),
            fields,
            names,
        })
    }

    /// Whether a field of this name is shredded.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names
            .binary_search_by(|it| it.as_str().cmp(name))
            .is_ok()
    }
}

/// The struct of a field or of elements.
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

/// The elements of a row of a list of any layout.
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

/// The value of a row that is not null, of the type that `primitive` is.
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
