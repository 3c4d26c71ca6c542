//! Turns record batches into text: JSON lines, CSV and tables.

mod color;
pub(crate) mod sink;
pub(crate) mod table;
pub(crate) mod table_or_jsonl;
mod vertical;
