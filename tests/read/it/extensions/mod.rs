//! Tests plug-ins, which are extension types and column statistics that this library does not know.

mod cell;
mod column_statistics;
mod columns;
mod file;
mod filters;
mod nested;
mod refused;
pub(crate) mod whole;

/// Returns rows of a table without variants.
pub(crate) fn whole_batch() -> herringbone::arrow::array::RecordBatch {
    cell::batch(0..3)
}
