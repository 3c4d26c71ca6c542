//! Byte arrays and strings in all of Arrow's layouts, with offsets or with views (LogicalTypes, "String Types").

mod binary;
mod binary_view;
mod read;
mod write;
#[cfg(test)]
mod tests;

pub(super) use read::byte_leaf_array;
pub(super) use write::values;
