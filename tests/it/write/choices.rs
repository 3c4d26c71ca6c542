//! Random options of the writer, all of them legal for a schema.

use herringbone::core::write::ColumnSelector;
use herringbone::format::{Encoding, Type};
use herringbone::schema::{HintPolicy, from_arrow};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compatibility, DataPageVersion, StatisticsLevel,
    WriteOptions,
};
use herringbone_arrow::schema::Schema;

use crate::batches::Noise;

/// All codecs that are written.
pub(crate) const CODECS: [&str; 6] = ["none", "snappy", "gzip", "brotli", "zstd", "lz4_raw"];

/// The encodings of the values of a type, dictionaries aside.
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

/// Options that cut a file of few rows into many pages and row groups.
pub(crate) fn options(noise: &mut Noise, schema: &Schema) -> WriteOptions {
    let mut options = WriteOptions::new()
        .compression(noise.pick(&CODECS).parse().unwrap())
        .page_index(noise.below(4) > 0)
        .crc(noise.below(4) > 0)
        .threads(noise.pick(&[1, 3]))
        .row_group_rows(noise.pick(&[7, 40, 100, 1000]))
        .row_group_bytes(noise.pick(&[300, 1 << 20]));
    if noise.below(2) == 0 {
        options = options.compatibility(Compatibility::Modern);
    }
    if noise.below(2) == 0 {
        let versions = [DataPageVersion::V1, DataPageVersion::V2];
        options = options.data_page_version(noise.pick(&versions));
    }
    let columns = column(noise, options.columns.clone());
    options = options.columns(columns);
    let hint = noise.pick(&[HintPolicy::Needed, HintPolicy::All]);
    options.schema.arrow_schema_hint = hint;
    let mapping = from_arrow(schema, &options.schema).unwrap();
    for leaf in mapping.leaves {
        if noise.below(2) == 0 {
            continue;
        }
        let mut chosen = column(noise, ColumnOptions::new());
        if noise.below(3) > 0 {
            let all = encodings(leaf.physical_type);
            chosen = chosen.encoding(noise.pick(all));
        }
        if noise.below(4) == 0 && leaf.physical_type != Type::Boolean {
            chosen = chosen.bloom_filter(BloomFilterOptions::new(0.05));
        }
        options = options.column_override(ColumnSelector::Path(leaf.path), chosen);
    }
    options
}

fn column(noise: &mut Noise, mut options: ColumnOptions) -> ColumnOptions {
    if noise.below(2) == 0 {
        options = options.page_rows(noise.pick(&[1, 5, 30]));
    }
    if noise.below(3) == 0 {
        options = options.page_bytes(noise.pick(&[1, 40, 400]));
    }
    if noise.below(3) == 0 {
        options = options.dictionary(noise.below(2) == 0);
    }
    if noise.below(3) == 0 {
        options = options.dictionary_bytes(noise.pick(&[1, 60, 1000]));
    }
    let levels = [
        StatisticsLevel::Counts,
        StatisticsLevel::Chunk,
        StatisticsLevel::Page,
        StatisticsLevel::Page,
    ];
    options.statistics(noise.pick(&levels))
}
