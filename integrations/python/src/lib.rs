//! `herringbone._core`, which is the Rust part of the Python package herringbone.
//!
//! ```text
//! Python modules ─► options as dicts ─► file, write ─► herringbone ─► table ─► capsules
//! ```
//!
//! Reads and writes release the GIL (`Python::detach`). No error of the library reaches Python as a
//! panic.

mod allocator;
mod capsules;
mod column;
mod command;
mod dataset;
mod dictionary;
mod error;
mod exclusive;
mod expression;
mod field;
mod file;
mod filter;
mod interrupt;
mod ipc;
mod keys;
mod listing;
mod literal;
mod metadata;
mod paths;
mod read;
mod reader;
mod repair;
mod scalar;
mod schema;
mod sink;
mod source;
mod table;
mod urls;
mod write;

use pyo3::prelude::*;

/// The extension module.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::column::ChunkedArray;
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::dataset::{Dataset, write_dataset};
    #[pymodule_export]
    use super::error::ParquetError;
    #[pymodule_export]
    use super::expression::{Condition, NotUnderstood, pyarrow_columns, pyarrow_condition};
    #[pymodule_export]
    use super::field::Field;
    #[pymodule_export]
    use super::file::File;
    #[pymodule_export]
    use super::filter::check_filter;
    #[pymodule_export]
    use super::metadata::{
        ColumnChunkMetaData, ColumnSchema, FileMetaData, ParquetLogicalType, ParquetSchema,
        RowGroupMetaData, Statistics,
    };
    #[pymodule_export]
    use super::reader::RecordBatchReader;
    #[pymodule_export]
    use super::repair::repair;
    #[pymodule_export]
    use super::schema::Schema;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::urls::{Url, checked_url, has_setting, url_schemes};
    #[pymodule_export]
    use super::write::{Writer, leaf_paths, write_options};

    #[allow(non_upper_case_globals, reason = "Python's name")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Gives errors that Python modules raise the attributes of all errors, and lets Ctrl-C end
    /// requests.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        herringbone_remote::blocking::check_waits(super::interrupt::check);
        super::error::set_defaults(module.py())
    }
}
