//! Shredded values as they were.

use herringbone_arrow::array::{Array as _, ArrayRef, StructArray};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Error, Result};

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

/// How shredded values are put together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UnshredOptions {
    /// Values that were shredded against the rules are taken where they can be, instead of being
    /// errors: what is shredded counts, and not what is beside it.
    pub lenient: bool,
    /// Limits of each value.
    pub limits: Limits,
}

/// What a row of `value` and `typed_value` holds.
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

/// The metadata of a row, which is looked at where a value of it needs names.
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
    /// All values unshredded: a struct of `metadata` and `value`, and the nulls of this array.
    ///
    /// *Variant Shredding, "Reconstructing a Shredded Variant".* Values keep their metadata, and
    /// `metadata` its array, unless that has empty ones. `value` has the layout that it has here, or else
    /// that of the metadata. Values that are not shredded are not copied, nor looked at.
    ///
    /// # Errors
    ///
    /// Values that break the rules of shredding, unless `options` are lenient; names that the
    /// metadata lacks; bytes that are no variant, as far as they are looked at.
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

    /// `value`, where nothing is shredded and no value is missing.
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

    /// The value of a row, or `None` of a null.
    ///
    /// # Errors
    ///
    /// As [`VariantArray::unshred`].
    pub fn value(&self, row: usize, options: &UnshredOptions) -> Result<Option<VariantBuf>> {
        match self.row(row, options)? {
            Some(value) => RowBuilder::new(options)
                .owned(value, self.names(row))
                .map(Some),
            None => Ok(None),
        }
    }

    /// The values shredded in another way.
    ///
    /// # Errors
    ///
    /// As [`VariantArray::unshred`], and [`ShreddingType::storage_type`].
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

    /// The value of a row, which lies in `rows` where it has to be put together.
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

/// The type of `value` once values of this storage are unshredded: as stored, or else as `metadata`.
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

/// Puts values of rows together.
pub(super) struct RowBuilder<'o> {
    builder: VariantBuilder,
    options: &'o UnshredOptions,
    metadata: Vec<u8>,
    value: Vec<u8>,
    /// The metadata that the builder was given.
    given: Vec<u8>,
}

impl<'o> RowBuilder<'o> {
    pub(super) fn new(options: &'o UnshredOptions) -> Self {
        let builder = VariantBuilder::new()
            .with_limits(options.limits.clone())
            .with_duplicates(DuplicateFields::Error);
        Self {
            builder,
            options,
            metadata: Vec::new(),
            value: Vec::new(),
            given: Vec::new(),
        }
    }

    /// The bytes of a value, whose metadata is that of its row.
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

    /// The same with its metadata.
    pub(super) fn owned(&mut self, row: Row<'_>, names: RowMetadata<'_>) -> Result<VariantBuf> {
        self.push(row, names)?;
        self.builder.finish()
    }

    fn push(&mut self, row: Row<'_>, names: RowMetadata<'_>) -> Result<()> {
        let metadata = match names.array.has_metadata() {
            true => names.get()?,
            false => Metadata::EMPTY,
        };
        // Rows tend to have the metadata of the row before.
        if self.given != metadata.as_bytes() {
            self.builder.use_metadata(metadata)?;
            self.given.clear();
            self.given.extend_from_slice(metadata.as_bytes());
        }
        push(row, names, self.options, &mut self.builder)
    }
}

impl Group {
    /// What a row holds, by the table of "Value Shredding".
    pub(super) fn row<'a>(
        &'a self,
        row: usize,
        names: RowMetadata<'a>,
        options: &UnshredOptions,
    ) -> Result<Row<'a>> {
        if self.is_null(row) {
            if options.lenient {
                return Ok(Row::Missing);
            }
            return Err(against_rules("the group of a field or element is null"));
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

    /// A row without a typed value.
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

/// Whether `value` may lie beside a shredded object: fields do beside other fields, and all but objects alone.
#[inline]
pub(super) fn check_beside_object(has_fields: bool, is_object: bool) -> Result<()> {
    match (has_fields, is_object) {
        (true, false) => Err(against_rules(
            "beside the shredded fields of an object `value` is none",
        )),
        (false, true) => Err(against_rules(
            "an object is in `value` alone, where objects are shredded",
        )),
        _ => Ok(()),
    }
}

/// Appends a value; what is missing is a null, as only fields may be missing.
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

/// Appends the fields of an object that were not shredded.
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
            return Err(against_rules("a shredded field is in `value` as well"));
        }
    }
    Ok(())
}

#[cold]
fn against_rules(what: &str) -> Error {
    Error::corrupt(format!(
        "a variant was shredded against the rules: {what}; a lenient read takes what is shredded"
    ))
}
