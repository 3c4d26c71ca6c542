//! Tests options that are invalid in general, or for a column.

use std::sync::Arc;

use herringbone::{ErrorKind, WriteOptions, Writer};
use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};

#[test]
fn options_that_make_no_sense() {
    use herringbone::format::Encoding;
    use herringbone::{BloomFilterOptions, ColumnOptions, ContentDefinedChunking};
    let fields = vec![
        Field::new("a", DataType::Int32, true),
        Field::new("b", DataType::Boolean, true),
        Field::new("c", DataType::Timestamp(TimeUnit::Second, None), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let column = |options: ColumnOptions| WriteOptions::new().column("a", options);
    let new = ColumnOptions::new;
    let sizes = ContentDefinedChunking::new();
    for options in [
        WriteOptions::new().row_group_rows(0),
        WriteOptions::new().content_defined_chunking(sizes.min_chunk_bytes(1 << 20)),
        WriteOptions::new().content_defined_chunking(sizes.max_chunk_bytes((256 << 10) + 16)),
        WriteOptions::new().content_defined_chunking(sizes.norm_level(15)),
        WriteOptions::new().content_defined_chunking(sizes.norm_level(i32::MIN)),
        column(new().page_rows(0)),
        column(new().page_bytes(0)),
        column(new().truncate_bounds(0)),
        column(new().encoding(Encoding::Rle)),
        column(new().encoding(Encoding::DeltaByteArray)),
        column(new().encoding(Encoding::BitPacked)),
        column(new().bloom_filter(BloomFilterOptions::new(0.0))),
        column(new().bloom_filter(BloomFilterOptions::new(1.0))),
        column(new().bloom_filter(BloomFilterOptions::new(f64::NAN))),
        WriteOptions::new().column("b", new().bloom_filter(BloomFilterOptions::new(0.1))),
        WriteOptions::new()
            .sorting_columns(vec![herringbone::SortingColumnOption::new(vec!["none"])]),
    ] {
        let about = format!("{options:?}");
        let result = Writer::new(Vec::new(), schema.clone(), options).map(|_| ());
        let error = result.expect_err(&about);
        assert_eq!(error.kind(), ErrorKind::Argument, "{about}");
    }
}
