//! Record batches as text: JSON lines, CSV and tables.

mod markdown;
pub(crate) mod plural;
pub(crate) mod printable;
pub(crate) mod sink;
pub(crate) mod table;
mod vertical;
