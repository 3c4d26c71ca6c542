//! Booleans, a bit each.

mod read;

pub(super) use read::BooleanLeaf;
