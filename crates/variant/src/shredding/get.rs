//! Reads the values at a path, from shredded columns and from the bytes of values.
//!
//! ```text
//! $.a.b    typed_value.a.typed_value.b.{value, typed_value}     a and b are shredded
//!          typed_value.a.value                                  a is shredded, b is not
//!          value                                                neither is shredded
//! ```

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{
    Array as _, ArrayRef, BinaryViewArray, StringViewArray, StructArray, make_array,
};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Error, Result};

use super::bytes::BytesBuilder;
use super::data_type::values_type;
use super::in_value::InValue;
use super::leaf::{Leaf, shredded_leaf};
use super::primitive::PrimitiveColumn;
use super::read::VariantArray;
use super::typed::{Group, Typed, elements, primitive_value};
use super::unshred::{Row, RowBuilder, RowMetadata};
use super::{METADATA, UnshredOptions, VALUE, of_arrow};
use crate::cast::{Cast, CastOptions, PrimitiveType, Scalar, cast, cast_value};
use crate::metadata::Metadata;
use crate::path::{PathPart, VariantPath, every_element};
use crate::types::VariantType;
use crate::variant::Variant;

/// Options for reading the values at a path from a column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GetOptions {
    /// The casts to do in addition to the lossless ones.
    pub cast: CastOptions,
    /// The treatment of values that do not fit the wanted type.
    pub on_cast_error: OnCastError,
    /// Options for reconstructing shredded values.
    pub unshred: UnshredOptions,
}

impl GetOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { GetOptions {
    /// Selects the casts only done if you ask for them.
    cast: CastOptions;
    /// Sets the treatment of values that do not fit the wanted type.
    on_cast_error: OnCastError;
    /// Sets the options for reconstructing shredded values.
    unshred: UnshredOptions;
}}

/// The treatment of values that do not fit the wanted type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnCastError {
    /// Such a value becomes null.
    #[default]
    Null,
    /// Such a value is an error.
    Error,
}

impl VariantArray {
    /// Casts the value at `path` in one row to `wanted`. The result distinguishes missing values,
    /// nulls and mismatches. A null row has no value at any path.
    ///
    /// Shredded fields are read only from their own columns. If data next to them breaks the rules
    /// of shredding, only a lenient read finds it.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::get_as`](crate::Variant::get_as) and
    /// [`VariantArray::unshred`], as far as they concern the values at the path.
    pub fn get_as(
        &self,
        row: usize,
        path: &VariantPath,
        wanted: PrimitiveType,
        options: &GetOptions,
    ) -> Result<Cast<'_>> {
        wanted.check()?;
        check_path(path)?;
        if self.is_null(row) {
            return Ok(Cast::Missing);
        }
        let names = self.names(row);
        match at(
            &self.group,
            row,
            names,
            path.parts(),
            &mut [],
            &options.unshred,
        )? {
            // At the top level, a missing value counts as a variant null.
            Row::Missing if path.parts().is_empty() => Ok(Cast::Null),
            found => cast_row(found, wanted, options),
        }
    }

    /// Casts the values at `path` in all rows to an array of [`PrimitiveType::data_type`]. Missing
    /// values, nulls of either kind and mismatches become null.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantArray::get_as`]. Fails with
    /// [Argument](herringbone_format::ErrorKind::Argument) for mismatches, if they are an
    /// [error](OnCastError::Error).
    pub fn get_all_as(
        &self,
        path: &VariantPath,
        wanted: PrimitiveType,
        options: &GetOptions,
    ) -> Result<ArrayRef> {
        wanted.check()?;
        check_path(path)?;
        let is_lenient = options.unshred.lenient;
        if let Some(leaf) = shredded_leaf(self.storage(), path.parts(), is_lenient) {
            return cast_array(leaf, wanted, options);
        }
        let (group, parts, nulls) = self.shredded_part(path, &options.unshred);
        let mut in_value = InValue::new(self, group, parts, is_lenient);
        let mut column = PrimitiveColumn::with_capacity(wanted, self.len());
        for row in 0..self.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                column.append_null();
                continue;
            }
            let found = match &mut in_value {
                Some(in_value) => match in_value.get(row)? {
                    Some(found) if column.append_bytes(found.as_bytes())? => continue,
                    found => found.map_or(Row::Missing, Row::Whole),
                },
                None => {
                    let names = self.names(row);
                    at(group, row, names, parts, &mut [], &options.unshred)?
                }
            };
            append(&mut column, cast_row(found, wanted, options)?, options)?;
        }
        Ok(column.finish())
    }

    /// Returns the values at `path` in all rows, unshredded. The result is a struct of `metadata`
    /// and `value`, and is null in rows with nothing at the path, but not for a variant null,
    /// because that is a value.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantArray::get_as`].
    pub fn get_all(&self, path: &VariantPath, options: &GetOptions) -> Result<StructArray> {
        check_path(path)?;
        let metadata_type = metadata_type(self.storage().data_type());
        let (group, parts, nulls) = self.shredded_part(path, &options.unshred);
        let mut values = BytesBuilder::new(values_type(&metadata_type), self.len());
        let mut rows = RowBuilder::new(&options.unshred);
        let mut fields = vec![0; parts.len()];
        let mut valid = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            let names = self.names(row);
            let found = match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                true => Row::Missing,
                false => at(group, row, names, parts, &mut fields, &options.unshred)?,
            };
            // At the top level, a missing value counts as a variant null.
            let is_there = match found {
                Row::Missing => path.parts().is_empty() && !self.is_null(row),
                _ => true,
            };
            valid.push(is_there);
            values.append(match is_there {
                true => rows.value(found, names)?,
                false => &[0],
            })?;
        }
        let metadata = match self.has_metadata() {
            true => self.all_metadata()?,
            false => {
                let mut metadata = BytesBuilder::new(&metadata_type, self.len());
                for _ in 0..self.len() {
                    metadata.append(Metadata::EMPTY.as_bytes())?;
                }
                metadata.finish(None)?
            }
        };
        let columns = vec![metadata, values.finish(None)?];
        let fields = [METADATA, VALUE].into_iter().zip(&columns);
        let fields = fields.map(|(name, it)| Field::new(name, it.data_type().clone(), false));
        StructArray::try_new(fields.collect(), columns, Some(valid.into())).map_err(of_arrow)
    }

    /// Follows `path` through the shredded fields as far as possible. Returns the last group, the
    /// rest of the path, and the rows that certainly have nothing there.
    fn shredded_part<'p>(
        &self,
        path: &'p VariantPath,
        options: &UnshredOptions,
    ) -> (&Group, &'p [PathPart], Option<NullBuffer>) {
        let mut nulls = self.group.nulls.clone();
        let (mut group, mut parts) = (&self.group, path.parts());
        while let Some((part, rest)) = parts.split_first()
            && let Some((object, field)) = group.shredded_field(part, options)
        {
            nulls = NullBuffer::union(nulls.as_ref(), object);
            nulls = NullBuffer::union(nulls.as_ref(), field.nulls.as_ref());
            (group, parts) = (field, rest);
        }
        (group, parts, nulls)
    }
}

/// Returns the type that `metadata` has for values read from this storage.
pub(crate) fn metadata_type(storage: &DataType) -> DataType {
    let fields = match storage {
        DataType::Struct(fields) => fields.as_ref(),
        _ => &[],
    };
    let metadata = fields.iter().find(|field| field.name() == METADATA);
    metadata.map_or(DataType::Binary, |field| field.data_type().clone())
}

pub(crate) fn check_path(path: &VariantPath) -> Result<()> {
    match path.parts().contains(&PathPart::EveryElement) {
        true => Err(every_element()),
        false => Ok(()),
    }
}

impl Group {
    /// Returns a shredded field's columns and the nulls of the objects around it, if these
    /// determine the value. A lenient read cannot be certain of that, because it also inspects the
    /// data next to them.
    fn shredded_field(
        &self,
        part: &PathPart,
        options: &UnshredOptions,
    ) -> Option<(Option<&NullBuffer>, &Self)> {
        match (part, &self.typed) {
            (PathPart::Field(name), Some(Typed::Object(object))) if !options.lenient => {
                Some((object.nulls(), object.field(name)?))
            }
            _ => None,
        }
    }
}

/// Returns the content of a group's row at a path within it. [`Variant::get_parts`] explains
/// `fields`.
fn at<'a>(
    mut group: &'a Group,
    mut row: usize,
    names: RowMetadata<'a>,
    mut parts: &[PathPart],
    fields: &mut [u32],
    options: &UnshredOptions,
) -> Result<Row<'a>> {
    let num_parts = parts.len();
    while let Some((part, rest)) = parts.split_first() {
        if let Some((objects, field)) = group.shredded_field(part, options) {
            if group.is_null(row) || objects.is_some_and(|objects| objects.is_null(row)) {
                return Ok(Row::Missing);
            }
            (group, parts) = (field, rest);
            continue;
        }
        let mut in_bytes = |variant: Variant<'a>| {
            let fields = fields.get_mut(num_parts - parts.len()..);
            let found = variant.get_parts(parts, fields.unwrap_or_default())?;
            Ok(found.map_or(Row::Missing, Row::Whole))
        };
        let (typed, typed_row, residual) = match group.row(row, names, options)? {
            Row::Missing => return Ok(Row::Missing),
            Row::Whole(variant) => return in_bytes(variant),
            Row::Typed { typed, row, rest } => (typed, row, rest),
        };
        match (part, typed) {
            (PathPart::Field(name), Typed::Object(object)) => match object.field(name) {
                Some(field) => group = field,
                None => match residual {
                    Some(residual) => return in_bytes(residual.as_variant()),
                    None => return Ok(Row::Missing),
                },
            },
            (PathPart::Element(index), Typed::Array(array, of_elements)) => {
                match elements(array, typed_row).nth(*index) {
                    Some(element) => (group, row) = (of_elements, element),
                    None => return Ok(Row::Missing),
                }
                // An element is never missing, so an empty one is a variant null.
                if rest.is_empty() {
                    return Ok(match group.row(row, names, options)? {
                        Row::Missing => Row::Whole(Variant::NULL),
                        found => found,
                    });
                }
            }
            _ => return Ok(Row::Missing),
        }
        parts = rest;
    }
    group.row(row, names, options)
}

/// Casts the found value to a type.
fn cast_row<'a>(row: Row<'a>, wanted: PrimitiveType, options: &GetOptions) -> Result<Cast<'a>> {
    Ok(match row {
        Row::Missing => Cast::Missing,
        Row::Whole(variant) => variant.cast(wanted, options.cast)?,
        Row::Typed { typed, row, .. } => match typed {
            Typed::Primitive(array, stored) => {
                cast_value(primitive_value(array, *stored, row), wanted, options.cast)
            }
            Typed::Array(..) => Cast::Mismatch(VariantType::Array),
            Typed::Object(_) => Cast::Mismatch(VariantType::Object),
        },
    })
}

fn append(column: &mut PrimitiveColumn, value: Cast<'_>, options: &GetOptions) -> Result<()> {
    match value {
        Cast::Value(scalar) => return column.append(&scalar),
        Cast::Mismatch(of) if options.on_cast_error == OnCastError::Error => {
            return Err(mismatch(of));
        }
        Cast::Missing | Cast::Null | Cast::Mismatch(_) => column.append_null(),
    }
    Ok(())
}

#[cold]
fn mismatch(of: VariantType) -> Error {
    Error::argument(format!(
        "a value of type {of} does not have the requested type"
    ))
}

/// Casts all values of a shredded column to a type.
pub(super) fn cast_array(
    leaf: Leaf<'_>,
    wanted: PrimitiveType,
    options: &GetOptions,
) -> Result<ArrayRef> {
    let Leaf {
        array,
        stored,
        nulls,
    } = leaf;
    let same: Option<ArrayRef> = match array.data_type() {
        data_type if *data_type == wanted.data_type() => Some(array.clone()),
        DataType::Utf8 if stored == wanted => {
            Some(Arc::new(StringViewArray::from(array.as_string::<i32>())))
        }
        DataType::Binary if stored == wanted => {
            Some(Arc::new(BinaryViewArray::from(array.as_binary::<i32>())))
        }
        _ => None,
    };
    if let Some(array) = same {
        let null_count = nulls.as_ref().map_or(0, NullBuffer::null_count);
        if null_count == array.null_count() {
            return Ok(array);
        }
        let data = array.to_data().into_builder().nulls(nulls).build();
        return Ok(make_array(data.map_err(of_arrow)?));
    }
    let mut column = PrimitiveColumn::with_capacity(wanted, array.len());
    for row in 0..array.len() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            column.append_null();
            continue;
        }
        let value = primitive_value(array, stored, row);
        // This is the common case. It skips the extra steps for text.
        match cast(&value, wanted) {
            Some(scalar) if !matches!(scalar, Scalar::String(_)) => column.append(&scalar)?,
            _ => append(
                &mut column,
                cast_value(value, wanted, options.cast),
                options,
            )?,
        }
    }
    Ok(column.finish())
}
