//! The corpus of files that we damage. These are small files of all encodings, codecs, nestings and page kinds.

use std::sync::Arc;

use herringbone::format::{CompressionCodec, Encoding, Repetition, Type};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, StatisticsLevel, WriteOptions, Writer,
};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};

use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::files;
use crate::subject::Subject;
use crate::ways;

/// The largest size of files from `testdata/` that we damage.
const OURS: usize = 2500;
/// The largest size of official files that we damage.
const OFFICIAL: usize = 1000;

/// The name of a file with enough rows for several threads.
pub(crate) const MANY_ROWS: &str = "many rows in few bytes";

/// Returns files that need neither keys nor extension types.
pub(crate) fn files() -> Vec<Subject> {
    let mut paths: Vec<_> = files::generated()
        .into_iter()
        .map(|path| (path, OURS))
        .collect();
    if let Some(official) = files::official() {
        let data = files::parquet_files(&official.join("data"));
        paths.extend(data.into_iter().map(|path| (path, OFFICIAL)));
    }
    let mut all = vec![
        Subject::new(
            "indexes and bloom filters",
            with_indexes(&WriteOptions::new()),
        ),
        Subject::new(MANY_ROWS, many_rows()),
    ];
    for (path, most) in paths {
        let bytes = std::fs::read(&path).unwrap();
        // If a file cannot be read undamaged, it is the subject of other tests.
        let subject = Subject::new(files::short(&path), bytes);
        let length = subject.bytes.len();
        if length <= most && ways::rows(&subject, subject.bytes.clone(), 0, true).is_ok() {
            all.push(subject);
        }
    }
    assert!(all.len() > 70, "only {} small files", all.len());
    all
}

/// Writes a file with all structures that may accompany pages.
pub(crate) fn with_indexes(options: &WriteOptions) -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter(
        (0..40).map(|i| (i % 5 > 0).then_some(i)),
    ));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..40).map(|i| format!("t{}", i % 7)),
    ));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..40).map(|i| (i % 3 > 0).then(|| (0..i % 4).map(Some).collect::<Vec<_>>())),
    ));
    let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts), ("l", lists)]).unwrap();
    let columns = ColumnOptions::new()
        .statistics(StatisticsLevel::Page)
        .bloom_filter(BloomFilterOptions::new(0.1))
        .page_rows(16);
    let options = options
        .clone()
        .columns(columns.compression(Compression::Snappy))
        .row_group_rows(25)
        .threads(1);
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    out
}

/// Returns a file with two row groups of two columns. Most of their rows are nulls in one run.
fn many_rows() -> Vec<u8> {
    let four: Vec<u8> = (0..4_i32).flat_map(i32::to_le_bytes).collect();
    let chunk = || Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Uncompressed,
        num_values: 70_004,
        pages: vec![
            // There are a run of 70 000 nulls, with its length as a varint, and a run of four values.
            Page::v2(70_000, Encoding::Plain, &[0xe0, 0xc5, 0x08, 0], &[]),
            Page::v2(4, Encoding::Plain, &[8, 1], &four),
        ],
    };
    let schema = vec![
        group("schema", None, 2),
        leaf("x", Type::Int32, Repetition::Optional),
        leaf("y", Type::Int32, Repetition::Optional),
    ];
    let row_groups = [
        (70_004, vec![chunk(), chunk()]),
        (70_004, vec![chunk(), chunk()]),
    ];
    file(schema, &row_groups)
}
