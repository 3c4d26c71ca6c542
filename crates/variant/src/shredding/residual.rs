//! What is left of an object when some of its fields were shredded.

use herringbone_format::Result;

use crate::bytes::{push_uint, width_of};
use crate::object::Object;
use crate::types::{BASIC_OBJECT, OBJECT_LARGE};

/// Writes an object of those fields of `object` whose names are not `shredded`, with the same
/// metadata and the smallest widths; nothing if there are none.
pub(super) fn write(
    object: &Object<'_>,
    shredded: impl Fn(&str) -> bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut fields = object.children();
    let mut left = Vec::new();
    let (mut size, mut max_id) = (0, 0);
    while let Some(id) = fields.next_field_id() {
        let name = fields.container().metadata().name(id)?;
        let Some(value) = fields.next()? else { break };
        if !shredded(name) {
            // All values together are no more bytes than those of `object`, a 32-bit number.
            size += value.as_bytes().len() as u32;
            max_id = max_id.max(id);
            left.push((id, value.as_bytes()));
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    let (id_width, offset_width) = (width_of(max_id), width_of(size));
    let is_large = left.len() > 0xFF;
    let large = if is_large { OBJECT_LARGE } else { 0 };
    out.push(BASIC_OBJECT | (id_width - 1) << 4 | (offset_width - 1) << 2 | large);
    push_uint(out, left.len() as u32, if is_large { 4 } else { 1 });
    for (id, _) in &left {
        push_uint(out, *id, id_width);
    }
    let mut offset = 0;
    push_uint(out, offset, offset_width);
    for (_, value) in &left {
        offset += value.len() as u32;
        push_uint(out, offset, offset_width);
    }
    for (_, value) in &left {
        out.extend_from_slice(value);
    }
    Ok(())
}
