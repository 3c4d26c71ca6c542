//! The columns of shredded values, while they are built.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::{ArrayRef, ListArray, StructArray};
use herringbone_arrow::buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::data_type::object_fields;
use super::field_names::FieldNames;
use super::primitive::PrimitiveColumn;
use super::{ShreddingType, of_arrow, residual};
use crate::cast::{PrimitiveType, Scalar, cast};
use crate::value::Value;
use crate::variant::Variant;

/// `value` and `typed_value`.
pub(super) struct GroupBuilder {
    value: BinaryViewBuilder,
    typed: Option<TypedBuilder>,
    /// What is left of an object.
    rest: Vec<u8>,
}

/// `typed_value`.
enum TypedBuilder {
    Primitive(PrimitiveType, PrimitiveColumn),
    Array {
        offsets: Vec<i32>,
        nulls: BooleanBufferBuilder,
        element: Box<GroupBuilder>,
    },
    Object {
        fields: Vec<GroupBuilder>,
        names: FieldNames,
        nulls: BooleanBufferBuilder,
    },
}

impl GroupBuilder {
    pub(super) fn new(shredding: &ShreddingType) -> Self {
        Self {
            value: BinaryViewBuilder::new(),
            typed: TypedBuilder::new(shredding),
            rest: Vec::new(),
        }
    }

    pub(super) fn append(&mut self, variant: Variant<'_>) -> Result<()> {
        self.rest.clear();
        let is_typed = match &mut self.typed {
            Some(typed) => typed.append(variant, &mut self.rest)?,
            None => false,
        };
        match (is_typed, self.rest.is_empty()) {
            (false, _) => self.value.try_append_value(variant.as_bytes()),
            (true, false) => self.value.try_append_value(&self.rest),
            (true, true) => {
                self.value.append_null();
                Ok(())
            }
        }
        .map_err(of_arrow)
    }

    /// Appends a value that is not shredded.
    pub(super) fn append_value(&mut self, value: &[u8]) -> Result<()> {
        if let Some(typed) = &mut self.typed {
            typed.append_null();
        }
        self.value.try_append_value(value).map_err(of_arrow)
    }

    pub(super) fn append_missing(&mut self) {
        self.value.append_null();
        if let Some(typed) = &mut self.typed {
            typed.append_null();
        }
    }

    /// The columns, as `shredding` has them.
    pub(super) fn columns(&mut self, shredding: &ShreddingType) -> Result<Vec<ArrayRef>> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.value.finish())];
        if let Some(typed) = &mut self.typed {
            columns.push(typed.finish(shredding)?);
        }
        Ok(columns)
    }

    /// The struct of a field or of elements.
    fn finish(&mut self, shredding: &ShreddingType) -> Result<ArrayRef> {
        let DataType::Struct(fields) = shredding.group_type() else {
            return Err(Error::argument(
                "a field of a variant is stored as a struct",
            ));
        };
        let columns = self.columns(shredding)?;
        let array = StructArray::try_new(fields, columns, None).map_err(of_arrow)?;
        Ok(Arc::new(array))
    }
}

impl TypedBuilder {
    fn new(shredding: &ShreddingType) -> Option<Self> {
        Some(match shredding {
            ShreddingType::Unshredded => return None,
            ShreddingType::Primitive(primitive) => {
                Self::Primitive(*primitive, PrimitiveColumn::new(*primitive))
            }
            ShreddingType::Array(element) => Self::Array {
                offsets: vec![0],
                nulls: BooleanBufferBuilder::new(0),
                element: Box::new(GroupBuilder::new(element)),
            },
            ShreddingType::Object(fields) => {
                let columns = fields.iter().map(|(_, field)| GroupBuilder::new(field));
                Self::Object {
                    fields: columns.collect(),
                    names: FieldNames::new(fields.iter().map(|(name, _)| name)),
                    nulls: BooleanBufferBuilder::new(0),
                }
            }
        })
    }

    /// Appends a value, or null if it is none of this type; whether it is. What of an object is not
    /// shredded goes to `rest`.
    fn append(&mut self, variant: Variant<'_>, rest: &mut Vec<u8>) -> Result<bool> {
        let value = variant.value()?;
        match (&mut *self, value) {
            (Self::Primitive(primitive, column), value) => {
                if let Some(scalar) = same_value(&value, *primitive) {
                    column.append(&scalar)?;
                    return Ok(true);
                }
            }
            (
                Self::Array {
                    offsets,
                    nulls,
                    element,
                },
                Value::Array(array),
            ) => {
                let mut len = offsets.last().copied().unwrap_or(0);
                for value in array.iter() {
                    len = len.checked_add(1).ok_or_else(too_many)?;
                    element.append(value?)?;
                }
                offsets.push(len);
                nulls.append(true);
                return Ok(true);
            }
            (
                Self::Object {
                    fields,
                    names,
                    nulls,
                },
                Value::Object(object),
            ) => {
                let mut shredded = 0;
                for (field, index) in fields.iter_mut().zip(names.find(&object)?) {
                    match index {
                        Some(index) => {
                            field.append(object.value(*index)?)?;
                            shredded += 1;
                        }
                        None => field.append_missing(),
                    }
                }
                if shredded < object.len() {
                    residual::write(&object, |name| names.contains(name), rest)?;
                }
                nulls.append(true);
                return Ok(true);
            }
            _ => {}
        }
        self.append_null();
        Ok(false)
    }

    fn append_null(&mut self) {
        match self {
            Self::Primitive(_, column) => column.append_null(),
            Self::Array { offsets, nulls, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
                nulls.append(false);
            }
            Self::Object { fields, nulls, .. } => {
                fields.iter_mut().for_each(GroupBuilder::append_missing);
                nulls.append(false);
            }
        }
    }

    fn finish(&mut self, shredding: &ShreddingType) -> Result<ArrayRef> {
        match (self, shredding) {
            (
                Self::Array {
                    offsets,
                    nulls,
                    element,
                },
                ShreddingType::Array(shredding),
            ) => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::take(offsets)));
                let elements = element.finish(shredding)?;
                let nulls = Some(NullBuffer::new(nulls.finish()));
                let field = shredding.element_field().into();
                let list = ListArray::try_new(field, offsets, elements, nulls);
                Ok(Arc::new(list.map_err(of_arrow)?))
            }
            (Self::Object { fields, nulls, .. }, ShreddingType::Object(shredding)) => {
                let nulls = NullBuffer::new(nulls.finish());
                let columns = fields.iter_mut().zip(shredding);
                let columns = columns.map(|(field, (_, shredding))| field.finish(shredding));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let fields = object_fields(shredding);
                let array = match fields.is_empty() {
                    true => StructArray::new_empty_fields(nulls.len(), Some(nulls)),
                    false => {
                        StructArray::try_new(fields, columns, Some(nulls)).map_err(of_arrow)?
                    }
                };
                Ok(Arc::new(array))
            }
            (Self::Primitive(_, column), _) => Ok(column.finish()),
            _ => Err(Error::argument("a column that is shredded otherwise")),
        }
    }
}

/// `value` in a column of this type, if it is the same value there, by its equivalence class.
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
