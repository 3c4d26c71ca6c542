//! Booleans, whose bits are the same in a page and in an array.

mod read;
mod write;

pub(super) use read::BooleanLeaf;
pub(super) use write::values;
