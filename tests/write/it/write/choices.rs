//! Random writer options that are legal for a schema.

use herringbone::format::{Encoding, Type};
use herringbone::{
    BloomFilterOptions, ColumnOptions, ColumnSelector, Compatibility, ContentDefinedChunking,
    DataPageVersion, StatisticsLevel, WriteOptions,
};
use herringbone_arrow::schema::Schema;
use herringbone_schema::{HintPolicy, from_arrow};

use crate::batches::Random;

/// The names of all codecs that the writer supports.
pub(crate) const CODECS: [&str; 6] = ["none", "snappy", "gzip", "brotli", "zstd", "lz4_raw"];

/// Returns the encodings for values of a type, except dictionaries.
pub(crate) fn encodings(physical_type: Type) -> &'static [Encoding] {
    match physical_type {
        Type::Boolean => &[Encoding::Plain, Encoding::Rle],
        Type::Int32 | Type::Int64 => &[
            Encoding::Plain,
            Encoding::DeltaBinaryPacked,
            Encoding::ByteStreamSplit,
        ],
        Type::Float | Type::Double => &[Encoding::Plain, Encoding::ByteStreamSplit],
        Type::ByteArray => &[
            Encoding::Plain,
            Encoding::DeltaLengthByteArray,
            Encoding::DeltaByteArray,
        ],
        Type::FixedLenByteArray => &[
            Encoding::Plain,
            Encoding::DeltaByteArray,
            Encoding::ByteStreamSplit,
        ],
        Type::Int96 => &[Encoding::Plain],
    }
}

/// Returns options that split a file of few rows into many pages and row groups.
pub(crate) fn options(random: &mut Random, schema: &Schema) -> WriteOptions {
    let mut options = WriteOptions::new()
        .compression(random.pick(&CODECS).parse().unwrap())
        .page_index(random.below(4) > 0)
        .crc(random.below(4) > 0)
        .threads(random.pick(&[1, 3]))
        .row_group_rows(random.pick(&[7, 40, 100, 1000]))
        .row_group_bytes(random.pick(&[300, 1 << 20]));
    if random.below(2) == 0 {
        options = options.compatibility(Compatibility::Modern);
    }
    if random.below(2) == 0 {
        let versions = [DataPageVersion::V1, DataPageVersion::V2];
        options = options.data_page_version(random.pick(&versions));
    }
    if random.below(3) == 0 {
        let sizes = ContentDefinedChunking::new()
            .min_chunk_bytes(random.pick(&[0, 20]))
            .max_chunk_bytes(random.pick(&[60, 300]));
        options = options.content_defined_chunking(sizes);
    }
    let columns = column(random, options.columns.clone());
    options = options.columns(columns);
    let hint = random.pick(&[HintPolicy::Needed, HintPolicy::All]);
    options.schema.arrow_schema_hint = hint;
    let mapping = from_arrow(schema, &options.schema).unwrap();
    for leaf in mapping.leaves {
        if random.below(2) == 0 {
            continue;
        }
        let mut chosen = column(random, ColumnOptions::new());
        if random.below(3) > 0 {
            let all = encodings(leaf.physical_type);
            chosen = chosen.encoding(random.pick(all));
        }
        if random.below(4) == 0 && leaf.physical_type != Type::Boolean {
            chosen = chosen.bloom_filter(BloomFilterOptions::new(0.05));
        }
        options = options.column_override(ColumnSelector::Path(leaf.path), chosen);
    }
    options
}

fn column(random: &mut Random, mut options: ColumnOptions) -> ColumnOptions {
    if random.below(2) == 0 {
        options = options.page_rows(random.pick(&[1, 5, 30]));
    }
    if random.below(3) == 0 {
        options = options.page_bytes(random.pick(&[1, 40, 400]));
    }
    if random.below(3) == 0 {
        options = options.dictionary(random.below(2) == 0);
    }
    if random.below(3) == 0 {
        options = options.dictionary_bytes(random.pick(&[1, 60, 1000]));
    }
    let levels = [
        StatisticsLevel::Counts,
        StatisticsLevel::Chunk,
        StatisticsLevel::Page,
        StatisticsLevel::Page,
    ];
    options.statistics(random.pick(&levels))
}
