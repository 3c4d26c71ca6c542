//! Converts between shredding types and the Arrow types of their columns.

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use herringbone_format::{Error, Result};

use super::{
    MAX_SHREDDING_DEPTH, METADATA, ShreddingType, TYPED_VALUE, VALUE, too_deep, with_extension,
};
use crate::cast::PrimitiveType;

/// The time zone that timestamps in UTC get.
pub(super) const UTC: &str = "UTC";

impl ShreddingType {
    /// Returns the Arrow type that Herringbone uses to write a column with this shredding.
    ///
    /// Binary and text are views. `value` is nullable only if values are shredded, because
    /// otherwise it has every value.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) for duplicate names, for
    /// invalid decimal types, and for more levels than [`MAX_SHREDDING_DEPTH`].
    pub fn storage_type(&self) -> Result<DataType> {
        self.check(0)?;
        let mut fields = vec![Field::new(METADATA, DataType::BinaryView, false)];
        match self {
            Self::Unshredded => fields.push(Field::new(VALUE, DataType::BinaryView, false)),
            _ => fields.extend(self.group_fields()),
        }
        Ok(DataType::Struct(fields.into()))
    }

    /// Derives a shredding from the Arrow type of plain values. Structs become objects and lists
    /// become arrays. Use this if you already know what the values look like.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) for types that values cannot be
    /// shredded into, and for the reasons of [`ShreddingType::storage_type`].
    pub fn of_values(data_type: &DataType) -> Result<Self> {
        let shredding = Self::of_values_within(data_type, 0)?;
        shredding.check(0)?;
        Ok(shredding)
    }

    fn of_values_within(data_type: &DataType, depth: usize) -> Result<Self> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        let within = |field: &FieldRef| Self::of_values_within(field.data_type(), depth + 1);
        Ok(match data_type {
            DataType::Struct(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|field| Ok((field.name().clone(), within(field)?)));
                Self::Object(fields.collect::<Result<_>>()?)
            }
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element) => Self::Array(Box::new(within(element)?)),
            other => Self::Primitive(PrimitiveType::of_data_type(other)?),
        })
    }

    /// Returns the shredding of values stored as this Arrow type. The type must be a struct, but
    /// its columns can have any layout.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if columns are missing, if a
    /// column does not belong to a variant, or if a column has a type that variants cannot have.
    pub fn of_storage_type(data_type: &DataType) -> Result<Self> {
        let DataType::Struct(fields) = data_type else {
            return Err(Error::corrupt(format!(
                "a variant must be stored as a struct, not as {data_type}"
            )));
        };
        let metadata = fields.iter().find(|field| field.name() == METADATA);
        let metadata = metadata.ok_or_else(no_metadata)?;
        check_binary(metadata)?;
        Self::of_group(fields, 0)
    }

    /// Returns the shredding of the struct for a field or for elements. The whole variant has depth
    /// 0.
    pub(super) fn of_group(fields: &Fields, depth: usize) -> Result<Self> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        check_names(fields, depth)?;
        let named = |name: &str| fields.iter().find(|field| field.name() == name);
        let (value, typed) = (named(VALUE), named(TYPED_VALUE));
        if let Some(value) = value {
            check_binary(value)?;
        }
        match (value, typed) {
            (None, None) => Err(Error::corrupt(
                "a variant has neither `value` nor `typed_value`",
            )),
            (_, None) => Ok(Self::Unshredded),
            (_, Some(typed)) => Self::of_typed(values_type(typed.data_type()), depth),
        }
    }

    fn of_typed(data_type: &DataType, depth: usize) -> Result<Self> {
        let group = |field: &FieldRef| match field.data_type() {
            DataType::Struct(fields) => Self::of_group(fields, depth + 1),
            other => Err(Error::corrupt(format!(
                "a shredded field or element of a variant is {other}, not a group of `{VALUE}` and \
                 `{TYPED_VALUE}`"
            ))),
        };
        match data_type {
            DataType::Struct(fields) => {
                let field = |field: &FieldRef| {
                    let group = group(field).map_err(|error| error.in_column(field.name()))?;
                    Ok((field.name().clone(), group))
                };
                let fields: Vec<_> = fields.iter().map(field).collect::<Result<_>>()?;
                let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                match super::repeated(&names) {
                    Some(name) => Err(Error::corrupt(format!(
                        "a variant's field `{name}` is shredded twice"
                    ))),
                    None => Ok(Self::Object(fields)),
                }
            }
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element) => Ok(Self::Array(Box::new(group(element)?))),
            other => PrimitiveType::of_data_type(other).map(Self::Primitive),
        }
    }

    /// Returns `value` and `typed_value` for a field, for elements, or for the whole column.
    fn group_fields(&self) -> Vec<Field> {
        let value = Field::new(VALUE, DataType::BinaryView, true);
        std::iter::once(value).chain(self.typed_field()).collect()
    }

    /// Returns the struct for a field or for elements.
    pub(super) fn group_type(&self) -> DataType {
        DataType::Struct(self.group_fields().into())
    }

    fn typed_field(&self) -> Option<Field> {
        let data_type = match self {
            Self::Unshredded => return None,
            Self::Primitive(primitive) => primitive.data_type(),
            Self::Array(element) => DataType::List(element.element_field().into()),
            Self::Object(fields) => DataType::Struct(object_fields(fields)),
        };
        let field = Field::new(TYPED_VALUE, data_type, true);
        Some(match self {
            Self::Primitive(PrimitiveType::Uuid) => with_extension(field, "arrow.uuid"),
            _ => field,
        })
    }

    /// Returns the field for a list's elements.
    pub(super) fn element_field(&self) -> Field {
        Field::new("element", self.group_type(), false)
    }
}

/// Returns the fields of the struct for a shredded object.
pub(super) fn object_fields(fields: &[(String, ShreddingType)]) -> Fields {
    let fields = fields.iter();
    fields
        .map(|(name, field)| Field::new(name, field.group_type(), false))
        .collect()
}

impl PrimitiveType {
    /// Returns the Arrow type of the column that values of this type are shredded into.
    ///
    /// *Variant Shredding, "Shredded Value Types".* Decimals get the narrowest Arrow type for their
    /// precision.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int8 => DataType::Int8,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::Decimal { precision, scale } => match (precision, scale.cast_signed()) {
                (0..=9, scale) => DataType::Decimal32(precision, scale),
                (10..=18, scale) => DataType::Decimal64(precision, scale),
                (_, scale) => DataType::Decimal128(precision, scale),
            },
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp { nanos, utc } => {
                let unit = match nanos {
                    true => TimeUnit::Nanosecond,
                    false => TimeUnit::Microsecond,
                };
                DataType::Timestamp(unit, utc.then(|| UTC.into()))
            }
            Self::String => DataType::Utf8View,
            Self::Binary => DataType::BinaryView,
            Self::Uuid => DataType::FixedSizeBinary(16),
        }
    }

    /// Returns the type of the values that a column of this Arrow type can contain. All layouts of
    /// a type count as equal.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) for types that values may not
    /// be shredded into. These are unsigned integers, units of time other than microseconds and
    /// nanoseconds, and decimals with a negative scale or more than 38 digits, but also all types
    /// that variants do not have.
    pub fn of_data_type(data_type: &DataType) -> Result<Self> {
        Ok(match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int8 => Self::Int8,
            DataType::Int16 => Self::Int16,
            DataType::Int32 => Self::Int32,
            DataType::Int64 => Self::Int64,
            DataType::Float32 => Self::Float,
            DataType::Float64 => Self::Double,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale) => {
                let scale = u8::try_from(*scale).map_err(|_| unknown(data_type))?;
                let decimal = Self::Decimal {
                    precision: *precision,
                    scale,
                };
                decimal.check()?;
                decimal
            }
            DataType::Date32 => Self::Date,
            DataType::Time64(TimeUnit::Microsecond) => Self::Time,
            DataType::Timestamp(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond), zone) => {
                Self::Timestamp {
                    nanos: *unit == TimeUnit::Nanosecond,
                    utc: zone.is_some(),
                }
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::String,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Binary,
            DataType::FixedSizeBinary(16) => Self::Uuid,
            _ => return Err(unknown(data_type)),
        })
    }
}

/// Returns the type inside dictionaries and runs.
pub(crate) fn values_type(mut data_type: &DataType) -> &DataType {
    loop {
        data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            DataType::RunEndEncoded(_, values) => values.data_type(),
            other => return other,
        };
    }
}

fn check_binary(field: &Field) -> Result<()> {
    match values_type(field.data_type()) {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(()),
        other => Err(Error::corrupt(format!(
            "`{}` of a variant is {other}, not binary",
            field.name()
        ))),
    }
}

/// Rejects duplicate names. Unknown columns are rejected too, because we would lose their data.
fn check_names(fields: &Fields, depth: usize) -> Result<()> {
    let is_known =
        |name: &str| matches!(name, VALUE | TYPED_VALUE) || (depth == 0 && name == METADATA);
    if let Some(field) = fields.iter().find(|field| !is_known(field.name())) {
        return Err(Error::corrupt(format!(
            "a variant has a column `{}`, which is neither `{VALUE}` nor `{TYPED_VALUE}`",
            field.name()
        )));
    }
    let mut names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    names.sort_unstable();
    match super::repeated(&names) {
        Some(name) => Err(Error::corrupt(format!(
            "a variant has two columns `{name}`"
        ))),
        None => Ok(()),
    }
}

#[cold]
pub(super) fn no_metadata() -> Error {
    Error::corrupt("a variant has no column `metadata`")
}

#[cold]
fn unknown(data_type: &DataType) -> Error {
    Error::corrupt(format!(
        "variants cannot be shredded into `typed_value` of type {data_type}"
    ))
}
