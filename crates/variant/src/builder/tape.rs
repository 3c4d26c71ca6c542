//! Holds a value's parts in order of arrival, then measures and writes them.
//!
//! Sizes are known from the inside out, but headers have to be written from the outside in. So we
//! store all parts on a tape, measure it backwards and then write it forwards. That way, each byte
//! is written only once.

use herringbone_format::{Error, Result};

use super::layout::Header;

/// A node's kind of value, as far as the layout depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    Object,
    Array,
    /// A value to leave out, together with everything in it.
    Dropped,
}

/// A sentinel for a missing name or parent.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The name's handle, if the value is in an object.
    pub(super) name: u32,
    parent: u32,
    /// The index of the first node after this one and everything in it.
    pub(super) next: u32,
    /// A scalar's offset in the data, or the length of an object or array.
    pub(super) start_or_len: u32,
    /// The value's byte count. Until an object or array is measured, this counts the bytes of the
    /// values in it.
    pub(super) size: u32,
    /// The largest name ID among the fields.
    pub(super) max_id: u32,
    /// The width of each offset in bytes, set when the node is measured.
    pub(super) offset_width: u8,
}

/// An object or array that is still open.
#[derive(Debug)]
pub(super) struct Open {
    node: u32,
    is_object: bool,
    pub(super) serial: u64,
    /// True if two fields might have the same name. If so, we compare all names when the object is
    /// closed.
    pub(super) has_doubtful_names: bool,
}

/// A field in an object.
#[derive(Debug)]
pub(super) struct FieldOf {
    pub(super) name: u32,
    pub(super) index: u32,
}

/// Per-name numbers for writing objects, indexed by the name's handle.
pub(super) struct Numbers<'a> {
    /// The field IDs to write.
    pub(super) ids: &'a [u32],
    /// Sort keys for fields. They increase in name order, so sorting by key sorts by name.
    pub(super) order: &'a [u32],
}

/// The values pushed so far, with the bytes of scalars.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) data: Vec<u8>,
    open: Vec<Open>,
    /// The offset of the next scalar in `data`.
    data_start: usize,
}

impl Tape {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.data.clear();
        self.open.clear();
        self.data_start = 0;
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the scalars' bytes, for the caller to append the next scalar.
    #[inline]
    pub(super) fn data(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Returns the innermost open object, or `None` if an array or nothing is open.
    #[inline]
    pub(super) fn open_object(&mut self) -> Option<&mut Open> {
        self.open.last_mut().filter(|open| open.is_object)
    }

    /// Checks that a value is allowed here and returns its name's handle.
    #[inline]
    pub(super) fn place(&mut self, name: Option<u32>) -> Result<u32> {
        self.data.truncate(self.data_start);
        match (self.open.last(), name) {
            (Some(open), Some(name)) if open.is_object => Ok(name),
            (Some(open), None) if !open.is_object => Ok(NONE),
            (None, None) if self.nodes.is_empty() => Ok(NONE),
            (None, _) => Err(Error::argument("a second value at the top of a variant")),
            _ => Err(Error::argument(
                "a value of a variant object does not have a name",
            )),
        }
    }

    /// Turns the bytes just appended to the data into a value.
    #[inline]
    pub(super) fn scalar(&mut self, name: u32) {
        let start = self.data_start;
        self.data_start = self.data.len();
        self.append(Kind::Scalar, name, start, self.data_start - start);
    }

    pub(super) fn open(&mut self, kind: Kind, name: u32, serial: u64) {
        let node = self.nodes.len() as u32;
        self.append(kind, name, 0, 0);
        self.open.push(Open {
            node,
            is_object: kind == Kind::Object,
            serial,
            has_doubtful_names: false,
        });
    }

    /// Appends a node. The byte limit bounds the node and byte counts, so both stay below 4 GiB.
    /// [`Tape::measure`] checks this.
    #[inline]
    fn append(&mut self, kind: Kind, name: u32, start: usize, size: usize) {
        let parent = self.open.last().map_or(NONE, |open| open.node);
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.start_or_len += 1;
        }
        self.nodes.push(Node {
            kind,
            name,
            parent,
            next: self.nodes.len() as u32 + 1,
            start_or_len: start as u32,
            size: size as u32,
            max_id: 0,
            offset_width: 1,
        });
    }

    pub(super) fn close(&mut self) -> Result<()> {
        let open = self.open.pop().ok_or_else(nothing_open)?;
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(open.node as usize) {
            node.next = next;
        }
        Ok(())
    }

    /// Returns the fields of the innermost open object, in order of arrival.
    pub(super) fn open_fields(&self) -> Vec<FieldOf> {
        let Some(open) = self.open.last() else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        let mut index = open.node + 1;
        while let Some(node) = self.nodes.get(index as usize) {
            fields.push(FieldOf {
                name: node.name,
                index,
            });
            index = node.next;
        }
        fields
    }

    /// Drops a field of the innermost open object.
    pub(super) fn drop_field(&mut self, index: u32) {
        let Some(node) = self.nodes.get_mut(index as usize) else {
            return;
        };
        node.kind = Kind::Dropped;
        let parent = node.parent as usize;
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.start_or_len -= 1;
        }
    }

    pub(super) fn check_complete(&self) -> Result<()> {
        if self.nodes.is_empty() {
            return Err(Error::argument("a variant without a value"));
        }
        if !self.open.is_empty() {
            return Err(Error::argument("a variant object or array is still open"));
        }
        Ok(())
    }

    /// Sets the size of each value, returning the size of the outermost value.
    pub(super) fn measure(&mut self, ids: &[u32]) -> Result<usize> {
        let mut size = 0;
        for index in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(index) else {
                break;
            };
            if node.kind != Kind::Scalar {
                let header = Header::new(node, node.size);
                node.offset_width = header.offset_width;
                node.size = u32::try_from(header.size())
                    .ok()
                    .and_then(|header| header.checked_add(node.size))
                    .ok_or_else(too_large)?;
            }
            let Node {
                kind,
                name,
                parent,
                size: node_size,
                ..
            } = *node;
            if kind == Kind::Dropped {
                continue;
            }
            size = node_size;
            if let Some(parent) = self.nodes.get_mut(parent as usize) {
                parent.size = parent.size.checked_add(size).ok_or_else(too_large)?;
                if let Some(id) = ids.get(name as usize) {
                    parent.max_id = parent.max_id.max(*id);
                }
            }
        }
        Ok(size as usize)
    }
}

#[cold]
fn too_large() -> Error {
    Error::argument("a variant of more than 4 GiB")
}

#[cold]
fn nothing_open() -> Error {
    Error::argument("no variant object or array is open")
}
