//! Writes measured values as bytes, from the outermost value inwards.

use super::tape::{Kind, Node, Numbers, Tape};
use crate::bytes::{push_uint, width_of};
use crate::types::{ARRAY_LARGE, BASIC_ARRAY, BASIC_OBJECT, OBJECT_LARGE};

impl Tape {
    /// Appends the value, which must have been measured before.
    pub(super) fn write(&self, numbers: &Numbers<'_>, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            match node.kind {
                Kind::Scalar => {
                    let start = node.start_or_len as usize;
                    let bytes = self.data.get(start..start + node.size as usize);
                    out.extend_from_slice(bytes.unwrap_or_default());
                }
                Kind::Object => self.write_object(index, node, numbers, &mut fields, out),
                Kind::Array => self.write_array(index, node, out),
                Kind::Dropped => {
                    index = node.next as usize;
                    continue;
                }
            }
            index += 1;
        }
    }

    fn write_array(&self, index: usize, node: &Node, out: &mut Vec<u8>) {
        let header = Header::of(node);
        out.push(BASIC_ARRAY | (header.offset_width - 1) << 2 | header.large(ARRAY_LARGE));
        push_uint(out, header.len, header.len_width());
        let mut offset = 0;
        push_uint(out, offset, header.offset_width);
        for value in self.values(index, node) {
            offset += value.size;
            push_uint(out, offset, header.offset_width);
        }
    }

    /// Writes an object's header. The values follow in push order, but we sort the IDs and offsets
    /// by name, as the specification demands.
    fn write_object(
        &self,
        index: usize,
        node: &Node,
        numbers: &Numbers<'_>,
        fields: &mut Vec<Field>,
        out: &mut Vec<u8>,
    ) {
        let header = Header::of(node);
        fields.clear();
        let mut offset = 0;
        for value in self.values(index, node) {
            let name = value.name as usize;
            fields.push(Field {
                order: numbers.order.get(name).copied().unwrap_or(0),
                id: numbers.ids.get(name).copied().unwrap_or(0),
                offset,
            });
            offset += value.size;
        }
        fields.sort_unstable_by_key(|field| field.order);
        let widths = (header.id_width - 1) << 4 | (header.offset_width - 1) << 2;
        out.push(BASIC_OBJECT | widths | header.large(OBJECT_LARGE));
        push_uint(out, header.len, header.len_width());
        for field in fields.iter() {
            push_uint(out, field.id, header.id_width);
        }
        for field in fields.iter() {
            push_uint(out, field.offset, header.offset_width);
        }
        push_uint(out, offset, header.offset_width);
    }

    /// Returns the values directly inside the node at `index`, except dropped ones.
    fn values(&self, index: usize, node: &Node) -> impl Iterator<Item = &Node> {
        let end = node.next as usize;
        let mut at = index + 1;
        std::iter::from_fn(move || {
            let value = self.nodes.get(at).filter(|_| at < end)?;
            at = value.next as usize;
            Some(value)
        })
        .filter(|value| value.kind != Kind::Dropped)
    }
}

#[derive(Debug, Clone, Copy)]
struct Field {
    order: u32,
    id: u32,
    offset: u32,
}

/// The header of an object or array, using the narrowest integer widths that fit.
pub(super) struct Header {
    len: u32,
    /// The byte count of each field ID, or 0 in arrays.
    id_width: u8,
    pub(super) offset_width: u8,
}

impl Header {
    /// Creates a node's header. `values` is the total byte count of its values.
    pub(super) fn new(node: &Node, values: u32) -> Self {
        Self {
            len: node.start_or_len,
            id_width: match node.kind {
                Kind::Object => width_of(node.max_id),
                _ => 0,
            },
            offset_width: width_of(values),
        }
    }

    /// Returns the header of a measured node.
    fn of(node: &Node) -> Self {
        Self {
            offset_width: node.offset_width,
            ..Self::new(node, 0)
        }
    }

    fn len_width(&self) -> u8 {
        if self.len > 0xFF { 4 } else { 1 }
    }

    fn large(&self, bit: u8) -> u8 {
        if self.len > 0xFF { bit } else { 0 }
    }

    pub(super) fn size(&self) -> usize {
        let len = self.len as usize;
        let ids = len * usize::from(self.id_width);
        let offsets = (len + 1) * usize::from(self.offset_width);
        1 + usize::from(self.len_width()) + ids + offsets
    }
}
