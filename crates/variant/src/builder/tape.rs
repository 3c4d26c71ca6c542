//! The values of a value in the order in which they came, from which it is measured and written.
//!
//! Sizes are known from the inside out, and are written from the outside in: so all values are kept,
//! measured backwards, and written forwards, each byte once.

use herringbone_format::{Error, Result};

use super::layout::Header;

/// What a value is, as far as its place goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    Object,
    Array,
    /// It and all that it holds are not written.
    Dropped,
}

/// No name, and no parent.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Handle of the name, in an object.
    pub(super) name: u32,
    parent: u32,
    /// The node behind this one and all that it holds.
    pub(super) next: u32,
    /// Where a scalar's bytes begin; the number of values of others.
    pub(super) start_or_len: u32,
    /// Bytes of the value; of others than scalars those of the values in it, until measured.
    pub(super) size: u32,
    /// The largest id of the names of the fields.
    pub(super) max_id: u32,
    /// Bytes of each offset, once measured.
    pub(super) offset_width: u8,
}

/// An object or array that was not closed yet.
#[derive(Debug)]
pub(super) struct Open {
    node: u32,
    is_object: bool,
    pub(super) serial: u64,
    /// Whether two fields may have the same name.
    pub(super) has_doubtful_names: bool,
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct FieldOf {
    pub(super) name: u32,
    pub(super) index: u32,
}

/// What stands for each handle of a name.
pub(super) struct Numbers<'a> {
    /// The ids that are written.
    pub(super) ids: &'a [u32],
    /// Ascending in the order of the names.
    pub(super) order: &'a [u32],
}

/// All values so far.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) data: Vec<u8>,
    open: Vec<Open>,
    /// Where in `data` the next scalar begins.
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

    /// The bytes of scalars, to which those of the next one are appended.
    #[inline]
    pub(super) fn data(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// The object that was opened last, unless it is an array or there is none.
    #[inline]
    pub(super) fn open_object(&mut self) -> Option<&mut Open> {
        self.open.last_mut().filter(|open| open.is_object)
    }

    /// Whether a value may come now; the handle of its name.
    #[inline]
    pub(super) fn place(&mut self, name: Option<u32>) -> Result<u32> {
        self.data.truncate(self.data_start);
        match (self.open.last(), name) {
            (Some(open), Some(name)) if open.is_object => Ok(name),
            (Some(open), None) if !open.is_object => Ok(NONE),
            (None, None) if self.nodes.is_empty() => Ok(NONE),
            (None, _) => Err(Error::argument("a second value at the top of a variant")),
            _ => Err(Error::argument("a value of a variant object has no name")),
        }
    }

    /// The bytes that were appended to the data are a value.
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

    /// Nodes and bytes are fewer than the limit of bytes, and so than 4 GiB: see [`Tape::measure`].
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

    /// The fields of the object that was opened last, in the order in which they came.
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

    /// Drops a field of the object that was opened last.
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

    /// Bytes of the whole value; sets those of each value in it.
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
