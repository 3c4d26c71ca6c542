//! Builds the columns of shredded values.

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, ListArray, StructArray};
use herringbone_arrow::buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::{DataType, FieldRef, Fields};
use herringbone_format::{Error, Result};

use super::field_names::FieldNames;
use super::primitive::PrimitiveColumn;
use super::residual::Residual;
use super::value_column::ValueColumn;
use super::{ShreddingType, of_arrow};
use crate::cast::{PrimitiveType, Scalar, cast};
use crate::children::Children;
use crate::container::Container;
use crate::metadata::Metadata;
use crate::value::Value;
use crate::variant::Variant;

/// A builder of `value` and `typed_value`. Rows without an appended value are missing.
pub(super) struct GroupBuilder {
    /// The number of rows so far, up to the last appended value.
    rows: usize,
    value: ValueColumn,
    typed: Option<TypedBuilder>,
}

/// A builder of `typed_value`.
enum TypedBuilder {
    Primitive(PrimitiveType, PrimitiveColumn),
    Array(ArrayBuilder),
    Object(ObjectBuilder),
}

struct ArrayBuilder {
    offsets: Vec<i32>,
    nulls: BooleanBufferBuilder,
    element: Box<GroupBuilder>,
}

struct ObjectBuilder {
    fields: Vec<GroupBuilder>,
    names: FieldNames,
    nulls: BooleanBufferBuilder,
    residual: Residual,
    /// The residual, encoded as a value.
    bytes: Vec<u8>,
}

/// The result of appending a value to a typed column.
enum Shredded<'a> {
    /// The column now has the whole value.
    Whole,
    /// The column has the value, except for the leftover fields in this object.
    Without(&'a [u8]),
    /// The column cannot represent the value.
    Not,
}

impl GroupBuilder {
    /// Creates a builder with capacity for `rows` rows.
    pub(super) fn with_capacity(shredding: &ShreddingType, rows: usize) -> Self {
        Self {
            rows: 0,
            value: ValueColumn::with_capacity(rows),
            typed: TypedBuilder::with_capacity(shredding, rows),
        }
    }

    /// Appends the value for a row. It must come after all rows with a value.
    pub(super) fn append(
        &mut self,
        row: usize,
        metadata: &Metadata<'_>,
        value: &[u8],
    ) -> Result<()> {
        self.rows = row + 1;
        let shredded = match &mut self.typed {
            Some(typed) => typed.append(row, metadata, value)?,
            None => Shredded::Not,
        };
        match shredded {
            Shredded::Whole => Ok(()),
            Shredded::Without(residual) => self.value.append(row, residual),
            Shredded::Not => self.value.append(row, value),
        }
    }

    /// Appends a value without shredding it.
    pub(super) fn append_value(&mut self, row: usize, value: &[u8]) -> Result<()> {
        self.rows = row + 1;
        self.value.append(row, value)
    }

    /// Returns the columns, with `rows` rows and these fields. [`ValueColumn::finish`] explains
    /// `nulls`.
    pub(super) fn finish(
        &mut self,
        rows: usize,
        fields: &[FieldRef],
        nulls: &mut Option<ArrayRef>,
    ) -> Result<Vec<ArrayRef>> {
        let mut columns = vec![self.value.finish(rows, nulls)];
        if let (Some(typed), [_, field]) = (&mut self.typed, fields) {
            columns.push(typed.finish(rows, field.data_type(), nulls)?);
        }
        Ok(columns)
    }

    /// Returns the struct of a shredded field or of an array's elements.
    fn finish_group(
        &mut self,
        rows: usize,
        field: &FieldRef,
        nulls: &mut Option<ArrayRef>,
    ) -> Result<ArrayRef> {
        let fields = fields_of(field.data_type())?;
        let columns = self.finish(rows, fields, nulls)?;
        let array = StructArray::try_new(fields.clone(), columns, None).map_err(of_arrow)?;
        Ok(Arc::new(array))
    }
}

impl TypedBuilder {
    fn with_capacity(shredding: &ShreddingType, rows: usize) -> Option<Self> {
        Some(match shredding {
            ShreddingType::Unshredded => return None,
            ShreddingType::Primitive(primitive) => {
                Self::Primitive(*primitive, PrimitiveColumn::with_capacity(*primitive, rows))
            }
            ShreddingType::Array(element) => Self::Array(ArrayBuilder {
                offsets: vec![0],
                nulls: BooleanBufferBuilder::new(rows),
                element: Box::new(GroupBuilder::with_capacity(element, 0)),
            }),
            ShreddingType::Object(fields) => {
                let columns = fields.iter();
                let columns = columns.map(|(_, field)| GroupBuilder::with_capacity(field, rows));
                Self::Object(ObjectBuilder {
                    fields: columns.collect(),
                    names: FieldNames::new(fields.iter().map(|(name, _)| name)),
                    nulls: BooleanBufferBuilder::new(rows),
                    residual: Residual::default(),
                    bytes: Vec::new(),
                })
            }
        })
    }

    /// Appends a value to the column, if the column can represent it.
    fn append(
        &mut self,
        row: usize,
        metadata: &Metadata<'_>,
        value: &[u8],
    ) -> Result<Shredded<'_>> {
        match self {
            Self::Primitive(primitive, column) => {
                column.append_nulls_up_to(row);
                let is_whole = column.append_bytes(value)?
                    || append_same(column, *primitive, metadata, value)?;
                Ok(match is_whole {
                    true => Shredded::Whole,
                    false => Shredded::Not,
                })
            }
            Self::Array(column) => match Container::if_any(*metadata, value)? {
                Some(array) if !array.is_object() => column.append(row, array),
                _ => Ok(Shredded::Not),
            },
            Self::Object(column) => match Container::if_any(*metadata, value)? {
                Some(object) if object.is_object() => column.append(row, object),
                _ => Ok(Shredded::Not),
            },
        }
    }

    fn finish(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: &mut Option<ArrayRef>,
    ) -> Result<ArrayRef> {
        match self {
            Self::Primitive(_, column) => {
                column.append_nulls_up_to(rows);
                Ok(column.finish())
            }
            Self::Array(column) => column.finish(rows, data_type, nulls),
            Self::Object(column) => column.finish(rows, fields_of(data_type)?, nulls),
        }
    }
}

impl ArrayBuilder {
    fn append(&mut self, row: usize, array: Container<'_>) -> Result<Shredded<'_>> {
        self.append_nulls_up_to(row);
        let metadata = array.metadata();
        let mut values = Children::new(array);
        while let Some(value) = values.next_bytes()? {
            self.element.append(self.element.rows, &metadata, value)?;
        }
        let end = i32::try_from(self.element.rows).map_err(|_| too_many())?;
        self.offsets.push(end);
        self.nulls.append(true);
        Ok(Shredded::Whole)
    }

    fn append_nulls_up_to(&mut self, rows: usize) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.resize(rows + 1, end);
        self.nulls.append_n(rows - self.nulls.len(), false);
    }

    fn finish(
        &mut self,
        rows: usize,
        data_type: &DataType,
        nulls: &mut Option<ArrayRef>,
    ) -> Result<ArrayRef> {
        self.append_nulls_up_to(rows);
        let DataType::List(field) = data_type else {
            return Err(other_shredding());
        };
        let elements = self.element.finish_group(self.element.rows, field, nulls)?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::take(&mut self.offsets)));
        let nulls = some_nulls(&mut self.nulls);
        let list = ListArray::try_new(field.clone(), offsets, elements, nulls);
        Ok(Arc::new(list.map_err(of_arrow)?))
    }
}

impl ObjectBuilder {
    fn append(&mut self, row: usize, object: Container<'_>) -> Result<Shredded<'_>> {
        self.names.start();
        self.residual.clear();
        let metadata = object.metadata();
        let mut values = Children::new(object);
        while let Some(id) = values.next_field_id() {
            let name = metadata.name_bytes(id)?;
            let Some(value) = values.next_bytes()? else {
                break;
            };
            let place = self.names.place(name);
            match place.and_then(|place| self.fields.get_mut(place)) {
                None => self.residual.push(id, value),
                Some(field) if field.rows > row => return Err(two_fields(name)),
                Some(field) => field.append(row, &metadata, value)?,
            }
        }
        self.nulls.append_n(row - self.nulls.len(), false);
        self.nulls.append(true);
        if self.residual.is_empty() {
            return Ok(Shredded::Whole);
        }
        self.bytes.clear();
        self.residual.write(&mut self.bytes);
        Ok(Shredded::Without(&self.bytes))
    }

    fn finish(
        &mut self,
        rows: usize,
        fields: &Fields,
        nulls: &mut Option<ArrayRef>,
    ) -> Result<ArrayRef> {
        let columns = self.fields.iter_mut().zip(fields);
        let columns = columns.map(|(column, field)| column.finish_group(rows, field, nulls));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        self.nulls.append_n(rows - self.nulls.len(), false);
        let nulls = some_nulls(&mut self.nulls);
        let array = match fields.is_empty() {
            true => StructArray::new_empty_fields(rows, nulls),
            false => StructArray::try_new(fields.clone(), columns, nulls).map_err(of_arrow)?,
        };
        Ok(Arc::new(array))
    }
}

/// Returns the nulls, if any row is null.
fn some_nulls(nulls: &mut BooleanBufferBuilder) -> Option<NullBuffer> {
    Some(NullBuffer::new(nulls.finish())).filter(|nulls| nulls.null_count() > 0)
}

/// Returns a struct's fields.
fn fields_of(data_type: &DataType) -> Result<&Fields> {
    match data_type {
        DataType::Struct(fields) => Ok(fields),
        _ => Err(other_shredding()),
    }
}

/// Appends a value of any type if the column can represent an equal value. Returns true on success.
#[inline(never)]
fn append_same(
    column: &mut PrimitiveColumn,
    primitive: PrimitiveType,
    metadata: &Metadata<'_>,
    value: &[u8],
) -> Result<bool> {
    let value = Variant::from_parts(*metadata, value).value()?;
    match same_value(&value, primitive) {
        Some(scalar) => column.append(&scalar).map(|()| true),
        None => Ok(false),
    }
}

/// Casts `value` to this type, or returns `None` if that would change its equivalence class.
///
/// *Variant Binary Encoding, "Variant primitive types", equivalence classes.*
fn same_value<'a>(value: &Value<'a>, primitive: PrimitiveType) -> Option<Scalar<'a>> {
    use PrimitiveType as T;
    let is_same_class = match primitive {
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Decimal { .. } => {
            value.to_decimal().is_some()
        }
        T::Float => matches!(value, Value::Float(_)),
        T::Double => matches!(value, Value::Double(_)),
        T::Date => matches!(value, Value::Date(_)),
        T::Timestamp { .. } => !matches!(value, Value::Date(_)),
        T::Boolean | T::Time | T::String | T::Binary | T::Uuid => true,
    };
    cast(value, primitive).filter(|_| is_same_class)
}

#[cold]
fn too_many() -> Error {
    Error::argument("a batch of variants with more than 2^31 elements of arrays")
}

#[cold]
fn two_fields(name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name);
    Error::corrupt(format!("a variant object has two fields `{name}`"))
}

#[cold]
fn other_shredding() -> Error {
    Error::argument("a column that is shredded differently")
}
