//! Record batches as text: JSON lines, CSV and tables.

mod markdown;
pub(crate) mod plural;
pub(crate) mod csv;
pub(crate) mod geojson;
pub(crate) mod geometry;
pub(crate) mod json;
pub(crate) mod keys;
pub(crate) mod nested;
pub(crate) mod number;
pub(crate) mod printable;
pub(crate) mod scalar;
pub(crate) mod sink;
pub(crate) mod table;
pub(crate) mod temporal;
pub(crate) mod temporal_value;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod variant;
mod vertical;
