//! Booleans: the bits of a page are the bits of the array.

mod read;
mod write;

pub(super) use read::BooleanLeaf;
pub(super) use write::values;
