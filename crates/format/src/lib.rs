//! The Parquet format as Rust types: what `parquet.thrift` defines, read and written.
//!
//! This crate knows the bytes of a file's metadata and nothing else: no Arrow, no I/O, no data.

#![forbid(unsafe_code)]

pub mod error;
pub mod limits;

mod enums;
mod logical_type;
mod schema_element;

pub use enums::{
    BoundaryOrder, CompressionCodec, ConvertedType, EdgeInterpolationAlgorithm, Encoding, PageType,
    Repetition, Type,
};
pub use error::{Error, ErrorKind, Location, Result};
pub use limits::Limits;
pub use logical_type::{ColumnOrder, LogicalType, TimeUnit};
pub use schema_element::{KeyValue, SchemaElement};
