//! A file to damage, and functions to damage it.

use std::sync::Arc;

use herringbone::arrow::array::{
    ArrayRef, Float64Array, Int32Array, ListArray, RecordBatch, StringArray, types::Int32Type,
};
use herringbone::format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{
    ColumnChunk, ColumnIndex, ColumnMetaData, FileMetadata, FileMetadataParts, OffsetIndex,
    Statistics, Type,
};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, DataPageVersion, ParquetFile,
    SortingColumnOption, WriteOptions, Writer,
};

/// The ordinals of the columns in [`sound`].
pub const ID: usize = 0;
pub const NAME: usize = 1;
pub const SCORE: usize = 2;
pub const LIST: usize = 3;

/// Returns a file of 24 rows in two row groups, in pages of 6 rows. Its columns are sorted numbers
/// without a dictionary, names with a dictionary and a bloom filter, floats with a NaN and nulls,
/// and lists.
pub fn sound(version: DataPageVersion) -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values((0..24).map(|i| i * 10)));
    let names = ["cod", "eel", "herring"].into_iter().cycle().take(24);
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let scores = (0..24).map(|i| match i {
        3 => Some(f64::NAN),
        i if i % 4 == 1 => None,
        i => Some(f64::from(i) - 5.0),
    });
    let scores: ArrayRef = Arc::new(scores.collect::<Float64Array>());
    let lists = (0..24).map(|i| match i % 4 {
        0 => None,
        1 => Some(vec![]),
        2 => Some(vec![Some(i), None]),
        _ => Some(vec![Some(i), Some(-i), Some(7)]),
    });
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let columns = [
        ("id", ids),
        ("name", names),
        ("score", scores),
        ("list", lists),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, array)| (name, array, name != "id")),
    )
    .unwrap();
    let plain = ColumnOptions::new().dictionary(false);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(6))
        .compression(Compression::Uncompressed)
        .data_page_version(version)
        .row_group_rows(12)
        .physical_type(Type::Int32, plain.clone())
        .physical_type(Type::Double, plain)
        .column(
            "name",
            ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.01)),
        )
        .sorting_columns(vec![SortingColumnOption::new(["id"])]);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// Returns the file with its footer changed.
pub fn with_footer(file: &[u8], change: impl FnOnce(&mut FileMetadataParts)) -> Vec<u8> {
    let mut parts = parts(ParquetFile::from_bytes(file.to_vec()).unwrap().metadata());
    change(&mut parts);
    let tail = file.last_chunk::<FOOTER_TAIL_BYTES>().unwrap();
    let length = Tail::decode(tail).unwrap().metadata_length as usize;
    let mut out = file[..file.len() - FOOTER_TAIL_BYTES - length].to_vec();
    append_footer(&mut out, &parts);
    out
}

fn append_footer(out: &mut Vec<u8>, parts: &FileMetadataParts) {
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    let metadata = writer.finish();
    out.extend_from_slice(&metadata);
    let tail = Tail {
        metadata_length: metadata.len() as u32,
        encrypted: false,
    };
    out.extend_from_slice(&tail.encode());
}

fn parts(metadata: &FileMetadata) -> FileMetadataParts {
    let row_groups = 0..metadata.num_row_groups();
    FileMetadataParts::new(
        metadata.version(),
        metadata.schema().to_vec(),
        metadata.num_rows(),
        row_groups
            .map(|row_groups| metadata.row_group(row_groups).unwrap())
            .collect(),
    )
    .key_value_metadata(metadata.key_value_metadata().to_vec())
    .created_by(metadata.created_by().map(str::to_owned))
    .column_orders(metadata.column_orders().map(<[_]>::to_vec))
}

/// Returns the file with a column chunk of the first row group changed.
pub fn with_chunk(file: &[u8], leaf: usize, change: impl FnOnce(&mut ColumnChunk)) -> Vec<u8> {
    with_footer(file, |parts| change(&mut parts.row_groups[0].columns[leaf]))
}

/// Returns the file with the metadata of a column chunk in the first row group changed.
pub fn with_metadata(
    file: &[u8],
    leaf: usize,
    change: impl FnOnce(&mut ColumnMetaData),
) -> Vec<u8> {
    with_chunk(file, leaf, |chunk| {
        change(chunk.meta_data.as_mut().unwrap())
    })
}

/// Returns the file with the statistics of a column chunk in the first row group changed.
pub fn with_statistics(file: &[u8], leaf: usize, change: impl FnOnce(&mut Statistics)) -> Vec<u8> {
    with_metadata(file, leaf, |it| change(it.statistics.as_mut().unwrap()))
}

/// Returns the file with a column index of the first row group changed. The index replaces the
/// footer, and a new footer after it refers to it.
pub fn with_column_index(
    file: &[u8],
    leaf: usize,
    change: impl FnOnce(&mut ColumnIndex),
) -> Vec<u8> {
    let opened = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let mut index = opened.column_index(0, leaf).unwrap().unwrap();
    change(&mut index);
    with_appended(
        file,
        leaf,
        |writer| index.encode(writer),
        |chunk, offset, length| {
            chunk.column_index_offset = Some(offset);
            chunk.column_index_length = Some(length);
        },
    )
}

/// Returns the file with an offset index of the first row group changed, in the way of
/// [`with_column_index`].
pub fn with_offset_index(
    file: &[u8],
    leaf: usize,
    change: impl FnOnce(&mut OffsetIndex),
) -> Vec<u8> {
    let opened = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let mut index = opened.offset_index(0, leaf).unwrap().unwrap();
    change(&mut index);
    with_appended(
        file,
        leaf,
        |writer| index.encode(writer),
        |chunk, offset, length| {
            chunk.offset_index_offset = Some(offset);
            chunk.offset_index_length = Some(length);
        },
    )
}

fn with_appended(
    file: &[u8],
    leaf: usize,
    encode: impl FnOnce(&mut CompactWriter),
    change: impl FnOnce(&mut ColumnChunk, i64, i32),
) -> Vec<u8> {
    let mut writer = CompactWriter::new();
    encode(&mut writer);
    let bytes = writer.finish();
    let mut parts = parts(ParquetFile::from_bytes(file.to_vec()).unwrap().metadata());
    let tail = file.last_chunk::<FOOTER_TAIL_BYTES>().unwrap();
    let length = Tail::decode(tail).unwrap().metadata_length as usize;
    let mut out = file[..file.len() - FOOTER_TAIL_BYTES - length].to_vec();
    let offset = out.len() as i64;
    out.extend_from_slice(&bytes);
    change(
        &mut parts.row_groups[0].columns[leaf],
        offset,
        bytes.len() as i32,
    );
    append_footer(&mut out, &parts);
    out
}

/// Returns the range that the body of a page in the first row group has in the file.
pub fn body(file: &[u8], leaf: usize, page: usize) -> std::ops::Range<usize> {
    let opened = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let page = opened.pages(0, leaf).unwrap().nth(page).unwrap().unwrap();
    let start = page.start.offset as usize + page.header_bytes;
    start..start + page.header.compressed_page_size as usize
}
