//! Collects the rest of an object after some of its fields were shredded.

use crate::bytes::{push_uint, width_of};
use crate::types::{BASIC_OBJECT, OBJECT_LARGE};

/// An object's unshredded fields.
#[derive(Default)]
pub(super) struct Residual {
    /// The name ID of each field and its value's end offset in `values`.
    fields: Vec<(u32, u32)>,
    values: Vec<u8>,
    max_id: u32,
}

impl Residual {
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.values.clear();
        self.max_id = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Appends a field. All values come from one object with a 32-bit size, so the end offsets fit
    /// in 32 bits.
    pub(super) fn push(&mut self, id: u32, value: &[u8]) {
        self.values.extend_from_slice(value);
        self.fields.push((id, self.values.len() as u32));
        self.max_id = self.max_id.max(id);
    }

    /// Appends an object with these fields, which uses the original metadata and has the smallest
    /// widths.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (id_width, offset_width) = (width_of(self.max_id), width_of(self.values.len() as u32));
        let is_large = self.fields.len() > 0xFF;
        let large = if is_large { OBJECT_LARGE } else { 0 };
        out.push(BASIC_OBJECT | (id_width - 1) << 4 | (offset_width - 1) << 2 | large);
        push_uint(out, self.fields.len() as u32, if is_large { 4 } else { 1 });
        for (id, _) in &self.fields {
            push_uint(out, *id, id_width);
        }
        push_uint(out, 0, offset_width);
        for (_, end) in &self.fields {
            push_uint(out, *end, offset_width);
        }
        out.extend_from_slice(&self.values);
    }
}
