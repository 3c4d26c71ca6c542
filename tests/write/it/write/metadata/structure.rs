//! Checks pages, indexes, sizes and offsets. The footer and the indexes must match the actual pages.

use herringbone::format::{
    ColumnMetaData, ColumnOrder, Encoding, PageEncodingStats, PageType, SortingColumn, Type,
};
use herringbone::{
    CREATED_BY, Compatibility, DataPageVersion, PageInfo, ParquetFile, SortingColumnOption,
    WriteOptions,
};
use herringbone_arrow::schema::DataType;

use super::bounds::{self, for_each_chunk, pages};
use super::keys::{Key, is_float};
use super::rows::{Row, histogram, num_levels, values};
use crate::batches::Random;
use crate::write::arrays;
use crate::write::compare::written;

const CODECS: [&str; 3] = ["none", "zstd", "lz4_raw"];

fn some_options() -> Vec<WriteOptions> {
    let mut all = Vec::new();
    for (i, compatibility) in [Compatibility::Widest, Compatibility::Modern]
        .into_iter()
        .enumerate()
    {
        for dictionary in [false, true] {
            let codec = CODECS[(all.len() + i) % 3].parse().unwrap();
            all.push(bounds::options(compatibility, dictionary).compression(codec));
        }
    }
    all
}

fn infos(file: &ParquetFile, (group, column): (usize, usize)) -> Vec<PageInfo> {
    file.pages(group, column)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn metadata(file: &ParquetFile, (group, column): (usize, usize)) -> ColumnMetaData {
    file.metadata()
        .column_chunk(group, column)
        .unwrap()
        .meta_data
        .unwrap()
}

/// Returns the number of values including nulls, the number of rows, and the encoding of a data page. Headers of
/// version 1 have no number of rows.
fn data_page(page: &PageInfo) -> Option<(i32, Option<i32>, Encoding)> {
    let v1 = page.header.data_page_header.as_ref();
    let v2 = page.header.data_page_header_v2.as_ref();
    v1.map(|header| (header.num_values, None, header.encoding))
        .or(v2.map(|header| (header.num_values, Some(header.num_rows), header.encoding)))
}

fn check_pages(file: &ParquetFile, chunk: (usize, usize), rows: &[Row]) {
    let infos = infos(file, chunk);
    let index = file.offset_index(chunk.0, chunk.1).unwrap().unwrap();
    let data: Vec<_> = infos
        .iter()
        .filter(|page| data_page(page).is_some())
        .collect();
    assert_eq!(data.len(), index.page_locations.len());
    let parts = data
        .iter()
        .zip(&index.page_locations)
        .zip(pages(file, chunk, rows));
    for ((page, location), rows) in parts {
        let (num_values, num_rows, _) = data_page(page).unwrap();
        assert_eq!(page.start.offset as i64, location.offset);
        let body = usize::try_from(page.header.compressed_page_size).unwrap();
        assert_eq!(
            location.compressed_page_size as usize,
            page.header_bytes + body
        );
        // The rows have exactly this number of levels, so no row is split.
        assert_eq!(num_values as usize, num_levels(rows));
        assert!(num_rows.is_none_or(|num_rows| num_rows as usize == rows.len()));
        assert!((1..=20).contains(&rows.len()));
        if let Some(header) = &page.header.data_page_header_v2 {
            let nulls = num_levels(rows) - values(rows).len();
            assert_eq!(header.num_nulls as usize, nulls);
        }
    }
    check_sizes(&metadata(file, chunk), &infos);
}

fn check_sizes(metadata: &ColumnMetaData, infos: &[PageInfo]) {
    let sum = |body: fn(&PageInfo) -> i32| -> i64 {
        infos
            .iter()
            .map(|page| page.header_bytes as i64 + i64::from(body(page)))
            .sum()
    };
    assert_eq!(
        metadata.total_compressed_size,
        sum(|page| page.header.compressed_page_size)
    );
    assert_eq!(
        metadata.total_uncompressed_size,
        sum(|page| page.header.uncompressed_page_size)
    );
    let first_data = infos.iter().find(|page| data_page(page).is_some()).unwrap();
    assert_eq!(metadata.data_page_offset, first_data.start.offset as i64);
    let dictionary = infos
        .iter()
        .find(|page| page.header.type_ == PageType::DictionaryPage);
    assert_eq!(
        metadata.dictionary_page_offset,
        dictionary.map(|page| page.start.offset as i64)
    );
    assert_eq!(metadata.index_page_offset, None);
    let mut known: Vec<PageEncodingStats> = Vec::new();
    for page in infos {
        let encoding = data_page(page).map_or(Encoding::Plain, |(_, _, encoding)| encoding);
        assert!(metadata.encodings.contains(&encoding));
        let key = (page.header.type_, encoding);
        match known
            .iter_mut()
            .find(|stats| (stats.page_type, stats.encoding) == key)
        {
            Some(stats) => stats.count += 1,
            None => known.push(PageEncodingStats::new(key.0, key.1, 1)),
        }
    }
    let told = metadata.encoding_stats.as_ref().unwrap();
    assert_eq!(told.len(), known.len());
    assert!(
        known.iter().all(|stats| told.contains(stats)),
        "{told:?}, not {known:?}"
    );
}

fn check_histograms(file: &ParquetFile, chunk: (usize, usize), leaf: &DataType, rows: &[Row]) {
    let metadata = metadata(file, chunk);
    let is_list = file.parquet_schema().leaves()[chunk.1].max_rep_level > 0;
    let (max_rep, max_def) = if is_list { (1, 3) } else { (0, 1) };
    let sizes = metadata.size_statistics.unwrap();
    let rep = |rows: &[Row]| histogram(rows, max_rep, |levels| levels.0);
    let def = |rows: &[Row]| histogram(rows, max_def, |levels| levels.1);
    assert_eq!(
        sizes.repetition_level_histogram.unwrap_or_default(),
        rep(rows)
    );
    assert_eq!(
        sizes.definition_level_histogram.unwrap_or_default(),
        def(rows)
    );
    let bytes = |rows: &[Row]| -> i64 {
        values(rows)
            .iter()
            .map(|key| match key {
                Key::Bytes(bytes) => bytes.len() as i64,
                _ => 0,
            })
            .sum()
    };
    let is_bytes = metadata.type_ == Type::ByteArray;
    assert_eq!(
        sizes.unencoded_byte_array_data_bytes,
        is_bytes.then(|| bytes(rows)),
        "{leaf}"
    );
    let offsets = file.offset_index(chunk.0, chunk.1).unwrap().unwrap();
    let page_bytes = is_bytes.then(|| pages(file, chunk, rows).map(bytes).collect::<Vec<_>>());
    assert_eq!(offsets.unencoded_byte_array_data_bytes, page_bytes);
    if let Some(index) = file.column_index(chunk.0, chunk.1).unwrap() {
        let all = |of: &dyn Fn(&[Row]) -> Vec<i64>| -> Vec<i64> {
            pages(file, chunk, rows).flat_map(of).collect()
        };
        assert_eq!(
            index.repetition_level_histograms.unwrap_or_default(),
            all(&rep)
        );
        assert_eq!(
            index.definition_level_histograms.unwrap_or_default(),
            all(&def)
        );
    }
}

#[test]
fn pages_are_where_the_indexes_say() {
    for options in some_options() {
        for_each_chunk(&options, |file, chunk, leaf, rows| {
            check_pages(file, chunk, rows);
            check_histograms(file, chunk, leaf, rows);
        });
    }
}

#[test]
fn row_groups_say_where_and_how_large_they_are() {
    let schema = bounds::schema();
    let batch = arrays::batch(&mut Random(7), &schema, 150);
    let sorted = |path: &str, descending, nulls_first| {
        SortingColumnOption::new(path.split('/'))
            .descending(descending)
            .nulls_first(nulls_first)
    };
    let (first, second) = (schema.field(4).name(), schema.field(3).name());
    let columns = vec![
        sorted(first, true, false),
        sorted(&format!("{second}/list/element"), false, true),
    ];
    for options in some_options() {
        let options = options.sorting_columns(columns.clone());
        let file = written(&schema, std::slice::from_ref(&batch), options).unwrap();
        let file = ParquetFile::from_bytes(file).unwrap();
        assert_eq!(file.metadata().num_row_groups(), 3);
        for group in 0..3 {
            let row_group = file.metadata().row_group(group).unwrap();
            assert_eq!(row_group.ordinal, Some(group as i16));
            let chunks: Vec<_> = (0..row_group.columns.len())
                .map(|column| metadata(&file, (group, column)))
                .collect();
            let start = infos(&file, (group, 0))[0].start.offset;
            assert_eq!(row_group.file_offset, Some(start as i64));
            let sum = |of: fn(&ColumnMetaData) -> i64| chunks.iter().map(of).sum::<i64>();
            assert_eq!(
                row_group.total_compressed_size,
                Some(sum(|c| c.total_compressed_size))
            );
            assert_eq!(
                row_group.total_byte_size,
                sum(|c| c.total_uncompressed_size)
            );
            let want = [(4, true, false), (3, false, true)];
            let want = want.map(|(column_idx, descending, nulls_first)| {
                SortingColumn::new(column_idx, descending, nulls_first)
            });
            assert_eq!(row_group.sorting_columns.as_deref(), Some(&want[..]));
            assert!(row_group.columns.iter().all(|chunk| chunk.file_offset == 0));
        }
    }
}

#[test]
fn every_page_has_its_checksum() {
    let schema = bounds::schema();
    let batch = arrays::batch(&mut Random(8), &schema, 150);
    for options in some_options() {
        for crc in [true, false] {
            let bytes = written(
                &schema,
                std::slice::from_ref(&batch),
                options.clone().crc(crc),
            )
            .unwrap();
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            for group in 0..file.metadata().num_row_groups() {
                for column in 0..schema.fields().len() {
                    for page in infos(&file, (group, column)) {
                        let start = page.start.offset as usize + page.header_bytes;
                        let end = start + page.header.compressed_page_size as usize;
                        let sum = crc32fast::hash(&bytes[start..end]).cast_signed();
                        assert_eq!(page.header.crc, crc.then_some(sum));
                    }
                }
            }
        }
    }
}

#[test]
fn without_indexes() {
    let schema = bounds::schema();
    let batch = arrays::batch(&mut Random(9), &schema, 150);
    let options = WriteOptions::new().page_index(false);
    let file = written(&schema, &[batch], options).unwrap();
    let file = ParquetFile::from_bytes(file).unwrap();
    for column in 0..schema.fields().len() {
        assert_eq!(file.offset_index(0, column).unwrap(), None);
        assert_eq!(file.column_index(0, column).unwrap(), None);
        let statistics = metadata(&file, (0, column)).statistics.unwrap();
        assert!(statistics.null_count.is_some());
    }
}

/// If values in a page of version 2 do not compress, they are stored uncompressed.
#[test]
fn pages_that_do_not_shrink() {
    let schema = bounds::schema();
    let batch = arrays::batch(&mut Random(10), &schema, 150);
    let options = bounds::options(Compatibility::Modern, false)
        .compression("zstd".parse().unwrap())
        .data_page_version(DataPageVersion::V2);
    let file = written(&schema, &[batch], options).unwrap();
    let file = ParquetFile::from_bytes(file).unwrap();
    let mut seen = [0, 0];
    for column in 0..schema.fields().len() {
        for page in infos(&file, (0, column)) {
            let header = page.header.data_page_header_v2.unwrap();
            seen[usize::from(header.is_compressed)] += 1;
            let (small, large) = (
                page.header.compressed_page_size,
                page.header.uncompressed_page_size,
            );
            assert!(if header.is_compressed {
                small < large
            } else {
                small == large
            });
        }
    }
    assert!(seen[0] > 100 && seen[1] > 100, "{seen:?}");
}

#[test]
fn the_footer() {
    let schema = bounds::schema();
    let batch = arrays::batch(&mut Random(11), &schema, 50);
    for (compatibility, float) in [
        (Compatibility::Widest, ColumnOrder::TypeDefined),
        (Compatibility::Modern, ColumnOrder::Ieee754Total),
    ] {
        let options = WriteOptions::new().compatibility(compatibility);
        let file = written(&schema, std::slice::from_ref(&batch), options).unwrap();
        let file = ParquetFile::from_bytes(file).unwrap();
        let orders = file.metadata().column_orders().unwrap();
        assert_eq!(orders.len(), schema.fields().len());
        for (order, field) in orders.iter().zip(schema.fields()) {
            let leaf = super::rows::leaf_type(field.data_type());
            let want = if is_float(leaf) {
                float
            } else {
                ColumnOrder::TypeDefined
            };
            assert_eq!(*order, want, "{field}");
        }
        let by = file.metadata().created_by().unwrap();
        assert_eq!(by, CREATED_BY);
        // The form is: application version x.y.z (build w)
        let rest = by.strip_prefix("herringbone version ").unwrap();
        let (version, build) = rest.split_once(" (build ").unwrap();
        assert_eq!(
            version
                .split('.')
                .filter(|part| part.parse::<u32>().is_ok())
                .count(),
            3
        );
        assert!(build.len() > 1 && build.ends_with(')'));
    }
}
