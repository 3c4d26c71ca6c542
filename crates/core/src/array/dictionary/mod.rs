//! Arrow's dictionary arrays.

mod read;

pub(super) use read::dictionary_leaf_array;
