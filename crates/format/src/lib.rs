//! The Parquet format as Rust types. This crate reads and writes the structures defined in `parquet.thrift`.
//!
//! A Parquet file ends with its metadata, the footer. This contains the schema and the row groups. Each row group lists
//! its column chunks, that is, the location of their pages, their codec, and their statistics. Each page starts with a
//! header of its own. All of these are Thrift structures in the compact protocol. [`FileMetadata`] is the footer. It
//! only decodes column chunks when you request them, because wide files have very many.
//!
//! The decoders trust nothing in a file. [`Limits`] bound its resource usage, and an [`Error`] has the location of the
//! damage. Note that this crate only handles metadata bytes. It has no Arrow, no I/O and no data.
//!
//! # Which metadata
//!
//! | type | contains | use it to |
//! |---|---|---|
//! | `herringbone::MetadataHandle` | a footer, its schema and the page indexes loaded so far; clones share them | keep a file's metadata between reads; plan and prune reads without the file's bytes |
//! | [`FileMetadata`] | a footer whose column chunks are still encoded | look at row counts, the schema and key-value pairs, and decode one column chunk or row group |
//! | [`RowGroupHeader`] | a row group without its column chunks, decoded with the footer | look at row counts and sorting columns of many row groups |
//! | [`ColumnChunk`] | one column of a row group with its statistics, decoded on demand | look at statistics, sizes, encodings, and the places of indexes |
//! | [`RowGroup`] | a row group with all of its column chunks, decoded on demand | change or write a row group; [`FileMetadata::column_chunk`] is cheaper for one column |
//! | [`ColumnLayout`] | the fields of a column chunk with which its pages are found | read pages without decoding statistics |
//! | [`ReadableChunk`] | a layout, and the cipher of its pages | decode pages, also encrypted ones |
//! | [`FileMetadataParts`] | all fields of a footer, decoded | build a footer to write |
//! | [`PartialMetadata`] | the beginning of a damaged footer | recover a file |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod error;
mod error_conversions;
#[doc(hidden)] // For the crates of this workspace.
pub mod setters;
pub mod footer;
pub mod limits;
pub mod modular_encryption;
#[doc(hidden)] // For the crates of this workspace.
pub mod thrift;
pub mod uuid;

mod enums;
mod extension;
mod logical_type;
mod logical_type_thrift;
mod schema_element;
mod statistics;
mod column;
mod row_group;
mod file_metadata;
mod readable_chunk;
mod layout_cache;
mod partial_metadata;
mod page_header;
mod page_index;
mod bloom_filter;

#[cfg(test)]
mod tests;

pub use bloom_filter::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
};
pub(crate) use column::ColumnChunkLayout;
pub use column::{ColumnChunk, ColumnLayout, ColumnMetaData, PageEncodingStats};
pub use enums::{
    BoundaryOrder, CompressionCodec, ConvertedType, EdgeInterpolationAlgorithm, Encoding, PageType,
    Repetition, Type,
};
pub use error::{Error, ErrorKind, Location, Remedy, Result};
pub use extension::FooterExtension;
pub use file_metadata::{FileMetadata, FileMetadataParts};
pub use layout_cache::LayoutCache;
pub use limits::Limits;
pub use logical_type::{ColumnOrder, LogicalType, TimeUnit};
pub use page_header::{
    DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, IndexPageHeader, PageHeader,
    PageStatistics,
};
pub use page_index::{ByteArrays, ColumnIndex, OffsetIndex, PageLocation};
pub use partial_metadata::PartialMetadata;
pub use readable_chunk::{ReadableChunk, encrypted};
pub use row_group::{RowGroup, RowGroupHeader, SortingColumn};
pub use schema_element::{KeyValue, SchemaElement};
pub use statistics::{BoundingBox, GeospatialStatistics, SizeStatistics, Statistics};
pub use thrift::RawStruct;
