//! Byte arrays and strings in any of Arrow's layouts.

mod binary;
mod binary_view;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::byte_leaf_array;
