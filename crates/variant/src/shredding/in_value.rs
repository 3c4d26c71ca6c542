//! Reads the values at a path that lies entirely in the bytes of one `value` column.

use herringbone_format::Result;

use super::bytes::BytesColumn;
use super::read::VariantArray;
use super::typed::{Group, Typed};
use super::unshred::check_beside_object;
use crate::path::{PathPart, bytes_at};
use crate::types::{BASIC_ARRAY, BASIC_OBJECT};
use crate::variant::Variant;

/// A reader of the values at a path in `value`.
pub(super) struct InValue<'a> {
    array: &'a VariantArray,
    values: &'a BytesColumn,
    /// The shredded fields next to `value`, if there are any. The path names none of them.
    object: Option<&'a Typed>,
    parts: &'a [PathPart],
    /// The most recent positions of the path's fields. [`bytes_at`] tries them first.
    fields: Vec<u32>,
}

impl<'a> InValue<'a> {
    /// Returns a reader, or `None` if the path into a group of `array` also leads to other columns.
    pub(super) fn new(
        array: &'a VariantArray,
        group: &'a Group,
        parts: &'a [PathPart],
        is_lenient: bool,
    ) -> Option<Self> {
        let object = match (&group.typed, parts) {
            (None, _) => None,
            (Some(typed @ Typed::Object(object)), [PathPart::Field(name), ..])
                if !is_lenient && object.field(name).is_none() =>
            {
                Some(typed)
            }
            _ => return None,
        };
        Some(Self {
            array,
            values: group.value.as_ref()?,
            object,
            parts,
            fields: vec![0; parts.len()],
        })
    }

    /// Returns the value in a row whose groups are not null.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantArray::get_as`].
    #[inline]
    pub(super) fn get(&mut self, row: usize) -> Result<Option<Variant<'a>>> {
        let Some(value) = self.values.get(row) else {
            return Ok(None);
        };
        let metadata = self.array.metadata(row)?;
        let basic_type = value.first().map_or(0, |header| header & 3);
        let is_whole = !matches!(basic_type, BASIC_OBJECT | BASIC_ARRAY) || self.parts.is_empty();
        let value = match is_whole {
            true => Variant::with_metadata(metadata, value)?.as_bytes(),
            // The path leads into the value, so trailing bytes do no harm.
            false => value,
        };
        if let Some(object) = self.object {
            check_beside_object(!object.is_null(row), basic_type == BASIC_OBJECT)?;
        }
        let found = bytes_at(&metadata, value, self.parts, &mut self.fields)?;
        Ok(found.map(|found| Variant::from_parts(metadata, found)))
    }
}
