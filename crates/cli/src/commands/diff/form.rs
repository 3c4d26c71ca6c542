//! Finds a common form for comparing two columns of different types.
//!
//! | types | form |
//! |---|---|
//! | layouts of text, or of bytes | text, bytes |
//! | integers | integers of 128 bits |
//! | floating-point numbers | numbers of 64 bits |
//! | integers, decimals and floating-point numbers | [exact numbers](super::number) |
//! | dates and timestamps without zone; timestamps with a zone; times; durations | nanoseconds |
//! | lists, structs, maps | those of the forms of their values |
//!
//! For all other pairs of types, all values count as different.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use half::f16;
use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types as t;
use herringbone_arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, LargeBinaryArray, LargeListArray,
    LargeStringArray, StructArray, make_array,
};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, Fields, TimeUnit};
use herringbone_interchange::write::value;

use super::number::{Number, of_decimal, of_float, of_integer};
use crate::base::failure::{Failure, Result};

/// The common form for comparing two columns. After the conversion, both arrays have the same type,
/// and elements are equal if the values are.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The arrays as they are, since they already have the same type.
    Same,
    /// The arrays without dictionaries and run ends, which gives them the same type.
    Plain,
    Text,
    Bytes,
    Integer,
    Float,
    Number,
    Nanoseconds,
    /// The values as JSON, for these two fields.
    Json(FieldRef, FieldRef),
    /// The common fields of two structs, each with its index in either struct and its form.
    Struct(Vec<(usize, usize, Self)>),
    List(Box<Self>),
    /// Types with no common values except null.
    Never,
}

/// One of the two columns being compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    A,
    B,
}

/// A kind of values. The kinds of the two types determine the form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Integer,
    Float,
    Decimal,
    /// Dates and timestamps without zone.
    Local,
    Instant,
    Time,
    Duration,
    Interval,
    Other,
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        use DataType as T;
        match data_type {
            T::Utf8 | T::LargeUtf8 | T::Utf8View => Self::Text,
            T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Self::Bytes,
            T::Float16 | T::Float32 | T::Float64 => Self::Float,
            T::Date32 | T::Date64 | T::Timestamp(_, None) => Self::Local,
            T::Timestamp(_, Some(_)) => Self::Instant,
            T::Time32(_) | T::Time64(_) => Self::Time,
            T::Duration(_) => Self::Duration,
            T::Interval(_) => Self::Interval,
            other if other.is_integer() => Self::Integer,
            other if other.is_decimal() => Self::Decimal,
            _ => Self::Other,
        }
    }
}

impl Form {
    /// Returns the form in which values of the two fields are compared.
    pub(super) fn new(a: &FieldRef, b: &FieldRef) -> Self {
        let (type_a, type_b) = (a.data_type(), b.data_type());
        if type_a == type_b {
            return Self::Same;
        }
        if is_variant(a) && is_variant(b) {
            return Self::Json(a.clone(), b.clone());
        }
        let (type_a, type_b) = (plain_type(type_a), plain_type(type_b));
        if type_a == type_b {
            return Self::Plain;
        }
        match (type_a, type_b) {
            (DataType::Struct(a), DataType::Struct(b)) => Self::Struct(of_fields(a, b)),
            (DataType::Map(a, _), DataType::Map(b, _)) => match (a.data_type(), b.data_type()) {
                // The field names of a map's keys and values can differ between files, so we match
                // them by position.
                (DataType::Struct(a), DataType::Struct(b)) => {
                    let fields = a.iter().zip(b).enumerate();
                    let fields = fields.map(|(at, (a, b))| (at, at, Self::new(a, b)));
                    Self::List(Box::new(Self::Struct(fields.collect())))
                }
                _ => Self::Never,
            },
            _ => match (element(type_a), element(type_b)) {
                (Some(a), Some(b)) => Self::List(Box::new(Self::new(a, b))),
                _ => Self::of_leaves((a, type_a), (b, type_b)),
            },
        }
    }

    fn of_leaves((a, type_a): (&FieldRef, &DataType), (b, type_b): (&FieldRef, &DataType)) -> Self {
        use Kind::{Bytes, Decimal, Float, Integer, Interval, Text};
        match (Kind::of(type_a), Kind::of(type_b)) {
            (Text, Text) => Self::Text,
            (Text | Bytes, Text | Bytes) => Self::Bytes,
            (Integer, Integer) => Self::Integer,
            (Float, Float) => Self::Float,
            (Integer | Float | Decimal, Integer | Float | Decimal) => Self::Number,
            (Interval, Interval) => Self::Json(a.clone(), b.clone()),
            (Kind::Other, _) => Self::Never,
            (one, other) if one == other => Self::Nanoseconds,
            _ => Self::Never,
        }
    }

    /// Converts an array of one of the columns to this form.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if Arrow rejects the values.
    pub(super) fn of(&self, which: Which, array: &ArrayRef) -> Result<ArrayRef> {
        if matches!(self, Self::Same) {
            return Ok(array.clone());
        }
        if let Self::Json(a, b) = self {
            let field = if which == Which::A { a } else { b };
            return json(field, array);
        }
        let array = &plain(array)?;
        match self {
            Self::Same | Self::Plain | Self::Json(..) => Ok(array.clone()),
            Self::Text => text(array),
            Self::Bytes => bytes(array),
            Self::Integer => integers(array),
            Self::Float => floats(array),
            Self::Number => numbers(array),
            Self::Nanoseconds => nanoseconds(array),
            Self::Struct(fields) => of_struct(fields, which, array),
            Self::List(element) => of_list(element, which, array),
            Self::Never => {
                let side = Some(which == Which::A);
                let value = |row| side.filter(|_| array.is_valid(row));
                // Arrays of the null type have no validity bitmap, so their values look valid.
                let value = |row| value(row).filter(|_| *array.data_type() != DataType::Null);
                Ok(Arc::new(
                    (0..array.len()).map(value).collect::<BooleanArray>(),
                ))
            }
        }
    }
}

/// Returns the common fields, each with its index in either struct and its form.
fn of_fields(a: &Fields, b: &Fields) -> Vec<(usize, usize, Form)> {
    let pairs = counterparts(a, b).into_iter();
    let form =
        |(a_at, b_at, a, b): (usize, usize, &FieldRef, &FieldRef)| (a_at, b_at, Form::new(a, b));
    pairs.map(form).collect()
}

/// Returns the common fields of both structs with their indexes. Fields with a repeated name are
/// paired in order, first with first and so on.
pub(super) fn counterparts<'f>(
    a: &'f Fields,
    b: &'f Fields,
) -> Vec<(usize, usize, &'f FieldRef, &'f FieldRef)> {
    let mut by_name: HashMap<&str, VecDeque<(usize, &FieldRef)>> = HashMap::new();
    for (at, field) in b.iter().enumerate() {
        by_name
            .entry(field.name())
            .or_default()
            .push_back((at, field));
    }
    let mut pairs = Vec::new();
    for (at, field) in a.iter().enumerate() {
        let others = by_name.get_mut(field.name().as_str());
        if let Some((other, theirs)) = others.and_then(VecDeque::pop_front) {
            pairs.push((at, other, field, theirs));
        }
    }
    pairs
}

/// Returns the value type inside dictionaries and run ends.
fn plain_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::RunEndEncoded(_, values) => plain_type(values.data_type()),
        other => other,
    }
}

/// Returns the field of a list's elements.
fn element(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => Some(field),
        _ => None,
    }
}

fn failed(error: &ArrowError) -> Failure {
    Failure::Data(error.to_string())
}

/// Takes elements from an array by index. `None` and out-of-bounds indexes give a null.
fn taken(array: &ArrayRef, rows: impl Iterator<Item = Option<usize>>) -> Result<ArrayRef> {
    let data = array.to_data();
    let mut out = MutableArrayData::new(vec![&data], true, rows.size_hint().0);
    for row in rows {
        let added = match row.filter(|row| *row < array.len()) {
            Some(row) => out.try_extend(0, row, row + 1),
            None => out.try_extend_nulls(1),
        };
        added.map_err(|error| failed(&error))?;
    }
    Ok(make_array(out.freeze()))
}

/// Returns an array without its dictionary or run ends.
fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    macro_rules! runs {
        ($type:ty) => {{
            let runs = array.as_run::<$type>();
            let rows = (0..runs.len()).map(|row| Some(runs.get_physical_index(row)));
            plain(&taken(runs.values(), rows)?)
        }};
    }
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = plain(dictionary.values())?;
            if values.is_empty() {
                return taken(&values, (0..array.len()).map(|_| None));
            }
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let rows = keys.map(|(row, key)| array.is_valid(row).then_some(key));
            taken(&values, rows)
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs!(t::Int16Type),
            DataType::Int32 => runs!(t::Int32Type),
            _ => runs!(t::Int64Type),
        },
        _ => Ok(array.clone()),
    }
}

fn json(field: &Field, array: &ArrayRef) -> Result<ArrayRef> {
    let values = value::of(field, array)?;
    let texts = (0..array.len()).map(|row| {
        let mut json = String::new();
        values.json(row, &mut json);
        (!values.is_null(row)).then_some(json)
    });
    Ok(Arc::new(texts.collect::<LargeStringArray>()))
}

fn text(array: &ArrayRef) -> Result<ArrayRef> {
    let text: LargeStringArray = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => return Ok(array.clone()),
        _ => array.as_string_view().iter().collect(),
    };
    Ok(Arc::new(text))
}

fn bytes(array: &ArrayRef) -> Result<ArrayRef> {
    let bytes: LargeBinaryArray = match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => return Ok(array.clone()),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().iter().collect(),
        _ => {
            let text = text(array)?;
            let text = text.as_string::<i64>().iter();
            text.map(|text| text.map(str::as_bytes)).collect()
        }
    };
    Ok(Arc::new(bytes))
}

/// Calls a macro with the Arrow type of an integer array.
macro_rules! of_integers {
    ($array:expr, $then:ident) => {
        match $array.data_type() {
            DataType::Int8 => $then!(t::Int8Type),
            DataType::Int16 => $then!(t::Int16Type),
            DataType::Int32 => $then!(t::Int32Type),
            DataType::Int64 => $then!(t::Int64Type),
            DataType::UInt8 => $then!(t::UInt8Type),
            DataType::UInt16 => $then!(t::UInt16Type),
            DataType::UInt32 => $then!(t::UInt32Type),
            _ => $then!(t::UInt64Type),
        }
    };
}

fn integers(array: &ArrayRef) -> Result<ArrayRef> {
    macro_rules! wide {
        ($type:ty) => {
            array
                .as_primitive::<$type>()
                .unary::<_, t::Decimal128Type>(|value| i128::from(value))
        };
    }
    let wide: Decimal128Array = of_integers!(array, wide);
    Ok(Arc::new(wide))
}

/// Widens floating-point numbers to 64 bits, which is exact. All NaNs become the same NaN, so that
/// they compare as equal.
fn floats(array: &ArrayRef) -> Result<ArrayRef> {
    let one_nan = |value: f64| if value.is_nan() { f64::NAN } else { value };
    let floats: Float64Array = match array.data_type() {
        DataType::Float16 => {
            let floats = array.as_primitive::<t::Float16Type>();
            floats.unary(|value: f16| one_nan(f64::from(value)))
        }
        DataType::Float32 => {
            let floats = array.as_primitive::<t::Float32Type>();
            floats.unary(|floats| one_nan(f64::from(floats)))
        }
        _ => array.as_primitive::<t::Float64Type>().unary(one_nan),
    };
    Ok(Arc::new(floats))
}

fn numbers(array: &ArrayRef) -> Result<ArrayRef> {
    fn collected(numbers: impl Iterator<Item = Option<Number>>) -> ArrayRef {
        Arc::new(numbers.collect::<LargeBinaryArray>())
    }
    macro_rules! decimals {
        ($type:ty, $scale:expr) => {{
            let values = array.as_primitive::<$type>().iter();
            collected(values.map(|value| value.map(|value| of_decimal(&value.to_string(), $scale))))
        }};
    }
    Ok(match *array.data_type() {
        DataType::Decimal32(_, scale) => decimals!(t::Decimal32Type, scale),
        DataType::Decimal64(_, scale) => decimals!(t::Decimal64Type, scale),
        DataType::Decimal128(_, scale) => decimals!(t::Decimal128Type, scale),
        DataType::Decimal256(_, scale) => decimals!(t::Decimal256Type, scale),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let floats = floats(array)?;
            let floats = floats.as_primitive::<t::Float64Type>().iter();
            collected(floats.map(|float| float.map(of_float)))
        }
        _ => {
            let integers = integers(array)?;
            let integers = integers.as_primitive::<t::Decimal128Type>().iter();
            collected(integers.map(|integer| integer.map(of_integer)))
        }
    })
}

/// Converts dates, times, timestamps and durations to nanoseconds. All of them fit in 128 bits.
fn nanoseconds(array: &ArrayRef) -> Result<ArrayRef> {
    use DataType::{Date32, Date64, Duration, Time32, Time64, Timestamp};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    macro_rules! times {
        ($type:ty, $nanoseconds:expr) => {{
            let wide = |value| i128::from(value) * $nanoseconds;
            array
                .as_primitive::<$type>()
                .unary::<_, t::Decimal128Type>(wide)
        }};
    }
    let all: Decimal128Array = match array.data_type() {
        Date32 => times!(t::Date32Type, 86_400_000_000_000),
        Date64 => times!(t::Date64Type, 1_000_000),
        Time32(Second) => times!(t::Time32SecondType, 1_000_000_000),
        Time32(_) => times!(t::Time32MillisecondType, 1_000_000),
        Time64(Microsecond) => times!(t::Time64MicrosecondType, 1_000),
        Time64(_) => times!(t::Time64NanosecondType, 1),
        Duration(Second) => times!(t::DurationSecondType, 1_000_000_000),
        Duration(Millisecond) => times!(t::DurationMillisecondType, 1_000_000),
        Duration(Microsecond) => times!(t::DurationMicrosecondType, 1_000),
        Duration(Nanosecond) => times!(t::DurationNanosecondType, 1),
        Timestamp(Second, _) => times!(t::TimestampSecondType, 1_000_000_000),
        Timestamp(Millisecond, _) => times!(t::TimestampMillisecondType, 1_000_000),
        Timestamp(Microsecond, _) => times!(t::TimestampMicrosecondType, 1_000),
        _ => times!(t::TimestampNanosecondType, 1),
    };
    Ok(Arc::new(all))
}

fn of_struct(fields: &[(usize, usize, Form)], which: Which, array: &ArrayRef) -> Result<ArrayRef> {
    let source = array.as_struct();
    let (mut types, mut columns) = (Vec::new(), Vec::new());
    for (place, (at_a, at_b, form)) in fields.iter().enumerate() {
        let at = if which == Which::A { *at_a } else { *at_b };
        let missing = || Failure::Data("a field of a struct is missing".into());
        let column = source.columns().get(at).ok_or_else(missing)?;
        let column = form.of(which, column)?;
        types.push(Field::new(
            place.to_string(),
            column.data_type().clone(),
            true,
        ));
        columns.push(column);
    }
    let nulls = source.nulls().cloned();
    let array = StructArray::try_new_with_length(types.into(), columns, nulls, source.len());
    Ok(Arc::new(array.map_err(|error| failed(&error))?))
}

fn of_list(element: &Form, which: Which, array: &ArrayRef) -> Result<ArrayRef> {
    macro_rules! views {
        ($offset:ty) => {{
            let list = array.as_list_view::<$offset>();
            let (starts, sizes) = (list.offsets().iter(), list.sizes().iter());
            let ranges = starts.zip(sizes).enumerate();
            let ranges: Vec<_> = ranges
                .map(|(row, (start, size))| match array.is_valid(row) {
                    true => (*start as usize, *size as usize),
                    false => (0, 0),
                })
                .collect();
            let rows = ranges
                .iter()
                .flat_map(|(start, size)| *start..*start + *size);
            let values = taken(list.values(), rows.map(Some))?;
            let offsets = OffsetBuffer::from_lengths(ranges.iter().map(|(_, size)| *size));
            (offsets, values)
        }};
    }
    let wide = |offsets: &OffsetBuffer<i32>| {
        OffsetBuffer::new(offsets.iter().map(|offset| i64::from(*offset)).collect())
    };
    let (offsets, values): (OffsetBuffer<i64>, ArrayRef) = match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (wide(list.offsets()), list.values().clone())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.offsets().clone(), list.values().clone())
        }
        DataType::Map(..) => {
            let map = array.as_map();
            (wide(map.offsets()), Arc::new(map.entries().clone()))
        }
        DataType::ListView(_) => views!(i32),
        DataType::LargeListView(_) => views!(i64),
        _ => {
            let list = array.as_fixed_size_list();
            let size = usize::try_from(list.value_length()).unwrap_or(0);
            let offsets = OffsetBuffer::from_repeated_length(size, list.len());
            (offsets, list.values().clone())
        }
    };
    let values = element.of(which, &values)?;
    let field = Arc::new(Field::new("element", values.data_type().clone(), true));
    let list = LargeListArray::try_new(field, offsets, values, array.nulls().cloned());
    Ok(Arc::new(list.map_err(|error| failed(&error))?))
}
