//! Reads the values at one path of an array, and inspects nothing else.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_format::Result;

use super::data_type::no_metadata;
use super::get::{GetOptions, cast_array};
use super::leaf::shredded_leaf;
use super::read::VariantArray;
use super::{METADATA, TYPED_VALUE, of_arrow};
use crate::cast::PrimitiveType;
use crate::path::{PathPart, VariantPath};

/// Casts the values at `path` in all rows of `storage`, which is a struct. The result equals that
/// of [`VariantArray::get_all_as`], but only the columns on the path are inspected. This is faster
/// for wide objects, and does not find faults elsewhere.
///
/// ```
/// use herringbone::variant::shredding::{GetOptions, Shredder, ShreddingType, variant_get};
/// use herringbone::variant::{PrimitiveType, VariantBuf};
///
/// let mut shredder = Shredder::new(ShreddingType::Unshredded)?;
/// shredder.append(VariantBuf::from_json(r#"{"user": {"id": 7}}"#)?.as_variant())?;
/// let array = shredder.finish()?;
/// let path = "$.user.id".parse()?;
/// let ids = variant_get(&array, &path, PrimitiveType::Int64, &GetOptions::default())?;
/// assert_eq!((ids.len(), ids.null_count()), (1, 0));
/// # Ok::<(), herringbone::Error>(())
/// ```
///
/// # Errors
///
/// Fails for the reasons of [`VariantArray::try_new`], as far as they concern the columns on the
/// path, and of [`VariantArray::get_all_as`].
pub fn variant_get(
    storage: &dyn Array,
    path: &VariantPath,
    wanted: PrimitiveType,
    options: &GetOptions,
) -> Result<ArrayRef> {
    let storage = storage.as_struct_opt().ok_or_else(no_metadata)?;
    storage.column_by_name(METADATA).ok_or_else(no_metadata)?;
    wanted.check()?;
    if let Some(leaf) = shredded_leaf(storage, path.parts(), options.unshred.lenient) {
        return cast_array(leaf, wanted, options);
    }
    let part = narrowed(storage, path.parts())?;
    VariantArray::of_part(&part)?.get_all_as(path, wanted, options)
}

/// Returns a group with only one field of its shredded object. That is the path's field, or any
/// field if the path's field is not shredded.
fn narrowed(group: &StructArray, parts: &[PathPart]) -> Result<StructArray> {
    let Some((PathPart::Field(name), rest)) = parts.split_first() else {
        return Ok(group.clone());
    };
    let Some((place, typed)) = group.fields().find(TYPED_VALUE) else {
        return Ok(group.clone());
    };
    let object = group
        .columns()
        .get(place)
        .and_then(|column| column.as_struct_opt());
    let Some(object) = object.filter(|object| object.num_columns() > 1) else {
        return Ok(group.clone());
    };
    let found = object.fields().find(name).map(|(place, _)| place);
    let mut columns = object.fields().iter().zip(object.columns());
    let Some((field, column)) = columns.nth(found.unwrap_or(0)) else {
        return Ok(group.clone());
    };
    let inner = found.and(column.as_struct_opt());
    let (field, column) = match inner {
        Some(inner) => {
            let inner = narrowed(inner, rest)?;
            let field = field.as_ref().clone();
            let field = field.with_data_type(inner.data_type().clone());
            (Arc::new(field), Arc::new(inner) as ArrayRef)
        }
        None => (field.clone(), column.clone()),
    };
    let nulls = object.nulls().cloned();
    let object = StructArray::try_new(vec![field].into(), vec![column], nulls).map_err(of_arrow)?;
    let typed = typed.as_ref().clone();
    let typed = Arc::new(typed.with_data_type(object.data_type().clone()));
    let (mut fields, mut columns) = (group.fields().to_vec(), group.columns().to_vec());
    if let (Some(field), Some(column)) = (fields.get_mut(place), columns.get_mut(place)) {
        (*field, *column) = (typed, Arc::new(object));
    }
    StructArray::try_new(fields.into(), columns, group.nulls().cloned()).map_err(of_arrow)
}
