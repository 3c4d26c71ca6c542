//! Shredded values as they were.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::{Array as _, StructArray};
use herringbone_arrow::schema::Field;
use herringbone_format::{Error, Result};

use super::read::VariantArray;
use super::typed::{Group, Object as ShreddedObject, Typed, elements, primitive_value};
use super::{METADATA, VALUE, of_arrow};
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
enum Row<'a> {
    Missing,
    Whole(Variant<'a>),
    Typed {
        typed: &'a Typed,
        row: usize,
        /// The fields that were not shredded.
        rest: Option<Object<'a>>,
    },
}

impl VariantArray {
    /// All values unshredded: a struct of `metadata` and `value`, and the nulls of this array.
    ///
    /// *Variant Shredding, "Reconstructing a Shredded Variant".* Values keep their metadata, and
    /// `metadata` its array, unless that lacks some.
    ///
    /// # Errors
    ///
    /// Values that break the rules of shredding, unless `options` are lenient; names that the
    /// metadata lacks; bytes that are no variant, as far as they are looked at.
    pub fn unshred(&self, options: &UnshredOptions) -> Result<StructArray> {
        let mut values = BinaryViewBuilder::with_capacity(self.len());
        let mut builder = builder(options);
        let (mut row_metadata, mut row_value) = (Vec::new(), Vec::new());
        for row in 0..self.len() {
            let value = match self.row(row, options)? {
                None => &[0],
                Some((_, Row::Whole(variant))) => variant.as_bytes(),
                Some((metadata, shredded)) => {
                    row_metadata.clear();
                    row_value.clear();
                    builder.use_metadata(metadata)?;
                    push(shredded, metadata, options, &mut builder)?;
                    builder.finish_into(&mut row_metadata, &mut row_value)?;
                    &row_value[..]
                }
            };
            values.try_append_value(value).map_err(of_arrow)?;
        }
        let columns = vec![self.all_metadata()?, Arc::new(values.finish())];
        let names = [METADATA, VALUE].into_iter();
        let fields = names.zip(&columns);
        let fields = fields.map(|(name, it)| Field::new(name, it.data_type().clone(), false));
        let nulls = self.storage().nulls().cloned();
        StructArray::try_new(fields.collect(), columns, nulls).map_err(of_arrow)
    }

    /// The value of a row, or `None` of a null.
    ///
    /// # Errors
    ///
    /// As [`VariantArray::unshred`].
    pub fn value(&self, row: usize, options: &UnshredOptions) -> Result<Option<VariantBuf>> {
        let Some((metadata, value)) = self.row(row, options)? else {
            return Ok(None);
        };
        let mut builder = builder(options);
        builder.use_metadata(metadata)?;
        push(value, metadata, options, &mut builder)?;
        builder.finish().map(Some)
    }

    fn row(&self, row: usize, options: &UnshredOptions) -> Result<Option<(Metadata<'_>, Row<'_>)>> {
        if self.is_null(row) {
            return Ok(None);
        }
        let metadata = self.metadata(row)?;
        let value = self.group.row(row, metadata, options)?;
        Ok(Some((metadata, value)))
    }
}

fn builder(options: &UnshredOptions) -> VariantBuilder {
    VariantBuilder::new()
        .with_limits(options.limits.clone())
        .with_duplicates(DuplicateFields::Error)
}

impl Group {
    /// What a row holds, by the table of "Value Shredding".
    fn row<'a>(
        &'a self,
        row: usize,
        metadata: Metadata<'a>,
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
            .map(|value| Variant::with_metadata(metadata, value))
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
        if rest.is_none() && !options.lenient {
            return Err(against_rules(match typed {
                Typed::Object(_) => "beside the shredded fields of an object `value` is none",
                _ => "both `value` and `typed_value` have a value",
            }));
        }
        Ok(Row::Typed { typed, row, rest })
    }

    /// A row without a typed value.
    fn untyped<'a>(&self, value: Option<Variant<'a>>, options: &UnshredOptions) -> Result<Row<'a>> {
        let Some(value) = value else {
            return Ok(Row::Missing);
        };
        if matches!(self.typed, Some(Typed::Object(_)))
            && !options.lenient
            && value.as_object()?.is_some()
        {
            return Err(against_rules(
                "an object is in `value` alone, where objects are shredded",
            ));
        }
        Ok(Row::Whole(value))
    }
}

/// Appends a value; what is missing is a null, as only fields may be missing.
fn push(
    row: Row<'_>,
    metadata: Metadata<'_>,
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
                    let element = group.row(element, metadata, options)?;
                    push(element, metadata, options, builder)?;
                }
                builder.end()
            }
            Typed::Object(object) => {
                builder.begin_object()?;
                for (name, group) in &object.fields {
                    let field = group.row(row, metadata, options)?;
                    if !matches!(field, Row::Missing) {
                        builder.field(name)?;
                        push(field, metadata, options, builder)?;
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
        if !shredded.has(name) {
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
