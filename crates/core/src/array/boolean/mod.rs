//! Booleans, for which a page's bits are the array's bits.

mod read;
mod write;

pub(super) use read::BooleanLeaf;
pub(super) use write::values;
