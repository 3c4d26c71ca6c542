//! Arrow's dictionary arrays, and on the way to the file runs as well: keys and what they are keys of.

mod read;
mod write;

pub(super) use read::dictionary_leaf_array;
pub(crate) use write::{Keyed, slots};
