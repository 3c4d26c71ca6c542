//! Reconstructs the original values from shredded ones.

use herringbone_arrow::array::{Array as _, ArrayRef, StructArray};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Error, Remedy, Result};

use super::bytes::BytesBuilder;
use super::data_type::values_type;
use super::read::VariantArray;
use super::typed::{Group, Object as ShreddedObject, Typed, elements, primitive_value};
use super::write::Shredder;
use super::{METADATA, ShreddingType, VALUE, of_arrow};
use crate::builder::{DuplicateFields, VariantBuilder};
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::object::Object;
use crate::owned::VariantBuf;
use crate::value::Value;
use crate::variant::Variant;

/// Options for reconstructing shredded values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UnshredOptions {
    /// True to accept values shredded against the rules, if possible, instead of failing. In a
    /// conflict, the shredded value wins over the data next to it.
    pub lenient: bool,
    /// The limits that each value must keep to.
    pub limits: Limits,
}

impl UnshredOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { UnshredOptions {
    /// Selects whether values shredded against the rules are accepted, if possible.
    lenient: bool;
    /// Sets the limits that each value must keep to.
    limits: Limits;
}}

/// The content of one row in `value` and `typed_value`.
pub(super) enum Row<'a> {
    Missing,
    Whole(Variant<'a>),
    Typed {
        typed: &'a Typed,
        row: usize,
        /// The fields that were not shredded.
        rest: Option<Object<'a>>,
    },
}

/// The metadata of one row, read lazily because many rows need no names.
#[derive(Clone, Copy)]
pub(super) struct RowMetadata<'a> {
    pub(super) array: &'a VariantArray,
    pub(super) row: usize,
}

impl<'a> RowMetadata<'a> {
    pub(super) fn get(self) -> Result<Metadata<'a>> {
        self.array.metadata(self.row)
    }
}

impl VariantArray {
    /// Returns all values unshredded, as a struct of `metadata` and `value` with this array's
    /// nulls.
    ///
    /// *Variant Shredding, "Reconstructing a Shredded Variant".* Values keep their metadata, and
    /// `metadata` keeps its array, unless some of it is empty. `value` keeps its layout, or if it
    /// is missing, gets the metadata's layout. Unshredded values are neither copied nor inspected.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) for values that break the rules
    /// of shredding, unless `options` are lenient. Fails for names that the metadata lacks, and for
    /// invalid bytes if we have to read them.
    pub fn unshred(&self, options: &UnshredOptions) -> Result<StructArray> {
        let metadata = self.all_metadata()?;
        let value = match self.whole_values() {
            Some(value) => value,
            None => self.unshredded_values(options)?,
        };
        let columns = vec![metadata, value];
        let names = [METADATA, VALUE].into_iter();
        let fields = names.zip(&columns);
        let fields = fields.map(|(name, it)| Field::new(name, it.data_type().clone(), false));
        let nulls = self.storage().nulls().cloned();
        StructArray::try_new(fields.collect(), columns, nulls).map_err(of_arrow)
    }

    /// Returns `value`, if nothing is shredded and no value is missing.
    fn whole_values(&self) -> Option<ArrayRef> {
        let value = self.storage().column_by_name(VALUE)?;
        let is_plain = *value.data_type() == unshredded_type(self.storage().data_type());
        let is_missing = |row: usize| value.is_null(row) && !self.is_null(row);
        let is_whole = is_plain
            && self.group.typed.is_none()
            && (value.null_count() == 0 || !(0..self.len()).any(is_missing));
        is_whole.then(|| value.clone())
    }

    fn unshredded_values(&self, options: &UnshredOptions) -> Result<ArrayRef> {
        let data_type = unshredded_type(self.storage().data_type());
        let mut values = BytesBuilder::new(&data_type, self.len());
        let mut rows = RowBuilder::new(options);
        for row in 0..self.len() {
            match self.row(row, options)? {
                None => values.append(&[0])?,
                Some(shredded) => values.append(rows.value(shredded, self.names(row))?)?,
            }
        }
        values.finish(None)
    }

    /// Returns the value in row `row`, or `None` for a null.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantArray::unshred`].
    pub fn value(&self, row: usize, options: &UnshredOptions) -> Result<Option<VariantBuf>> {
        match self.row(row, options)? {
            Some(value) => RowBuilder::new(options)
                .owned(value, self.names(row))
                .map(Some),
            None => Ok(None),
        }
    }

    /// Shreds the values again, into other columns.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantArray::unshred`] and [`ShreddingType::storage_type`].
    pub fn shred(&self, shredding: ShreddingType, options: &UnshredOptions) -> Result<StructArray> {
        let mut shredder = match self.metadata_views()? {
            Some(metadata) => Shredder::of_metadata(&shredding, metadata)?,
            None => Shredder::new(shredding)?,
        };
        let mut rows = RowBuilder::new(options);
        for row in 0..self.len() {
            match self.bytes(row, &mut rows)? {
                Some(value) => shredder.append(value)?,
                None => shredder.append_null()?,
            }
        }
        shredder.finish()
    }

    /// Returns the value in a row. If we have to reconstruct it, its bytes are in `rows`.
    pub(super) fn bytes<'a>(
        &'a self,
        row: usize,
        rows: &'a mut RowBuilder<'_>,
    ) -> Result<Option<Variant<'a>>> {
        let Some(value) = self.row(row, rows.options)? else {
            return Ok(None);
        };
        let metadata = self.metadata(row)?;
        let value = rows.value(value, self.names(row))?;
        Variant::with_metadata(metadata, value).map(Some)
    }

    pub(super) fn names(&self, row: usize) -> RowMetadata<'_> {
        RowMetadata { array: self, row }
    }

    fn row(&self, row: usize, options: &UnshredOptions) -> Result<Option<Row<'_>>> {
        if self.is_null(row) {
            return Ok(None);
        }
        self.group.row(row, self.names(row), options).map(Some)
    }
}

/// Returns the type that `value` gets when values in this storage are unshredded. That is the
/// stored type, or if there is none, the type of `metadata`.
pub(crate) fn unshredded_type(storage: &DataType) -> DataType {
    let DataType::Struct(fields) = storage else {
        return DataType::BinaryView;
    };
    let named = |name: &str| fields.iter().find(|field| field.name() == name);
    let stored = named(VALUE).or_else(|| named(METADATA));
    stored.map_or(DataType::BinaryView, |field| {
        values_type(field.data_type()).clone()
    })
}

/// A builder that reconstructs the values of rows.
pub(super) struct RowBuilder<'o> {
    builder: VariantBuilder,
    options: &'o UnshredOptions,
    metadata: Vec<u8>,
    value: Vec<u8>,
    /// The builder's current metadata.
    given: Vec<u8>,
}

impl<'o> RowBuilder<'o> {
    pub(super) fn new(options: &'o UnshredOptions) -> Self {
        let builder = VariantBuilder::new()
            .limits(options.limits.clone())
            .duplicates(DuplicateFields::Error);
        Self {
            builder,
            options,
            metadata: Vec::new(),
            value: Vec::new(),
            given: Vec::new(),
        }
    }

    /// Returns the bytes of a value. It uses its row's metadata.
    pub(super) fn value<'a>(
        &'a mut self,
        row: Row<'a>,
        names: RowMetadata<'a>,
    ) -> Result<&'a [u8]> {
        if let Row::Whole(variant) = row {
            return Ok(variant.as_bytes());
        }
        self.push(row, names)?;
        self.metadata.clear();
        self.value.clear();
        self.builder
            .finish_into(&mut self.metadata, &mut self.value)?;
        Ok(&self.value)
    }

    /// Returns the value together with its metadata.
    pub(super) fn owned(&mut self, row: Row<'_>, names: RowMetadata<'_>) -> Result<VariantBuf> {
        self.push(row, names)?;
        self.builder.finish()
    }

    fn push(&mut self, row: Row<'_>, names: RowMetadata<'_>) -> Result<()> {
        let metadata = match names.array.has_metadata() {
            true => names.get()?,
            false => Metadata::EMPTY,
        };
        // Consecutive rows often have the same metadata, so we only switch if it changed.
        if self.given != metadata.as_bytes() {
            self.builder.use_metadata(metadata)?;
            self.given.clear();
            self.given.extend_from_slice(metadata.as_bytes());
        }
        push(row, names, self.options, &mut self.builder)
    }
}

impl Group {
    /// Returns the content of row `row`, according to the table in "Value Shredding".
    pub(super) fn row<'a>(
        &'a self,
        row: usize,
        names: RowMetadata<'a>,
        options: &UnshredOptions,
    ) -> Result<Row<'a>> {
        // The format requires these groups. But some writers make them optional and write a null if
        // there is no value.
        if self.is_null(row) {
            return Ok(Row::Missing);
        }
        let value = self.value.as_ref().and_then(|value| value.get(row));
        let value = value
            .map(|value| Variant::with_metadata(names.get()?, value))
            .transpose()?;
        let Some(typed) = self.typed.as_ref().filter(|typed| !typed.is_null(row)) else {
            return self.untyped(value, options);
        };
        let Some(value) = value else {
            let rest = None;
            return Ok(Row::Typed { typed, row, rest });
        };
        let rest = match typed {
            Typed::Object(_) => value.as_object()?,
            _ => None,
        };
        if !options.lenient {
            match typed {
                Typed::Object(_) => check_beside_object(true, rest.is_some())?,
                _ => return Err(against_rules("both `value` and `typed_value` have a value")),
            }
        }
        Ok(Row::Typed { typed, row, rest })
    }

    /// Returns the content of a row without a typed value.
    fn untyped<'a>(&self, value: Option<Variant<'a>>, options: &UnshredOptions) -> Result<Row<'a>> {
        let Some(value) = value else {
            return Ok(Row::Missing);
        };
        if matches!(self.typed, Some(Typed::Object(_))) && !options.lenient {
            check_beside_object(false, value.as_object()?.is_some())?;
        }
        Ok(Row::Whole(value))
    }
}

/// Checks that `value` is allowed next to a shredded object. An object in `value` needs shredded
/// fields next to it, and any other value must be alone.
#[inline]
pub(super) fn check_beside_object(has_fields: bool, is_object: bool) -> Result<()> {
    match (has_fields, is_object) {
        (true, false) => Err(against_rules(
            "`value` next to the shredded fields of an object is not an object",
        )),
        (false, true) => Err(against_rules(
            "an object is only in `value`, although its fields are shredded",
        )),
        _ => Ok(()),
    }
}

/// Appends a value. A missing value becomes a null, because only fields can be missing.
fn push(
    row: Row<'_>,
    names: RowMetadata<'_>,
    options: &UnshredOptions,
    builder: &mut VariantBuilder,
) -> Result<()> {
    match row {
        Row::Missing => builder.push(Value::Null),
        Row::Whole(variant) => builder.push_variant(variant),
        Row::Typed { typed, row, rest } => match typed {
            Typed::Primitive(array, primitive) => {
                builder.push(primitive_value(array, *primitive, row))
            }
            Typed::Array(array, group) => {
                builder.begin_array()?;
                for element in elements(array, row) {
                    let element = group.row(element, names, options)?;
                    push(element, names, options, builder)?;
                }
                builder.end()
            }
            Typed::Object(object) => {
                builder.begin_object()?;
                for (name, group) in &object.fields {
                    let field = group.row(row, names, options)?;
                    if !matches!(field, Row::Missing) {
                        builder.field(name)?;
                        push(field, names, options, builder)?;
                    }
                }
                if let Some(rest) = rest {
                    push_rest(rest, object, options, builder)?;
                }
                builder.end()
            }
        },
    }
}

/// Appends an object's unshredded fields.
fn push_rest(
    rest: Object<'_>,
    shredded: &ShreddedObject,
    options: &UnshredOptions,
    builder: &mut VariantBuilder,
) -> Result<()> {
    for field in rest.iter() {
        let (name, value) = field?;
        if shredded.field(name).is_none() {
            builder.field(name)?;
            builder.push_variant(value)?;
        } else if !options.lenient {
            return Err(against_rules("a shredded field is also in `value`"));
        }
    }
    Ok(())
}

#[cold]
fn against_rules(what: &str) -> Error {
    Error::corrupt(format!(
        "a variant is not shredded as the format requires: {what}"
    ))
    .with_remedy(Remedy::LenientVariants)
}
