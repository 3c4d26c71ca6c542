//! Counts the bytes that a selective read fetches, in reads and bytes, and by the pages to which they belong.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
use herringbone::filter::{Predicate, PruningStep, PruningSteps, col};
use herringbone::source::Source as _;
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, Error, ParquetFile, ReadOptions, WriteOptions,
};

use crate::noting::{Noting, total};

/// The positions of a column chunk's parts.
struct Places {
    dictionary: Option<Range<u64>>,
    /// The bytes of the first data page that we read to compare its header with the offset index.
    first_header: Range<u64>,
    pages: Vec<Range<u64>>,
    column_index: Range<u64>,
    offset_index: Range<u64>,
}

fn places(file: &ParquetFile, row_group: usize, leaf: usize) -> Places {
    let chunk = file.metadata().column_chunk(row_group, leaf).unwrap();
    let range = |offset: Option<i64>, length: Option<i32>| {
        let start = offset.unwrap() as u64;
        start..start + length.unwrap() as u64
    };
    let index = file.offset_index(row_group, leaf).unwrap().unwrap();
    let pages = index.page_locations.iter();
    let pages: Vec<_> = pages
        .map(|page| range(Some(page.offset), Some(page.compressed_page_size)))
        .collect();
    let metadata = chunk.meta_data.as_ref().unwrap();
    let dictionary = metadata.dictionary_page_offset.filter(|at| *at > 0);
    Places {
        dictionary: dictionary.map(|start| start as u64..pages[0].start),
        first_header: pages[0].start..pages[0].start + 128,
        pages,
        column_index: range(chunk.column_index_offset, chunk.column_index_length),
        offset_index: range(chunk.offset_index_offset, chunk.offset_index_length),
    }
}

fn rows(file: &ParquetFile, options: ReadOptions) -> Vec<i64> {
    let reader = file.read(options.threads(1)).unwrap();
    let batches = reader.map(|batch| batch.unwrap());
    let rows = batches.flat_map(|batch| {
        let rows = batch.column_by_name("row").unwrap();
        rows.as_primitive::<Int64Type>().values().to_vec()
    });
    rows.collect()
}

/// Returns an ascending key, the row number, text with few distinct values, and unique text.
fn table(num_rows: i64) -> RecordBatch {
    let few = |row: i64| format!("value {}", row * 7 % 300);
    let columns: [(&str, ArrayRef); 4] = [
        (
            "key",
            Arc::new(Int64Array::from_iter_values(
                (0..num_rows).map(|row| row * 2),
            )),
        ),
        ("row", Arc::new(Int64Array::from_iter_values(0..num_rows))),
        (
            "few",
            Arc::new(StringArray::from_iter_values((0..num_rows).map(few))),
        ),
        (
            "many",
            Arc::new(StringArray::from_iter_values((0..num_rows).map(|row| {
                format!("{:016x}", row.wrapping_mul(0x1E37_79B9_7F4A_7C15))
            }))),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn options() -> WriteOptions {
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    WriteOptions::new().columns(columns.page_rows(1000).dictionary(false))
}

#[test]
fn a_key_of_one_page_reads_that_page_of_each_column() {
    let (source, file) = Noting::new(&table(20_000), options());
    let wanted = |key: i64| ReadOptions::new().filter(col("key").eq(key));
    for row in [0, 7_123, 19_999] {
        assert_eq!(rows(&file, wanted(row * 2)), [row]);
        let mut expected = Vec::new();
        for leaf in 0..4 {
            let places = places(&file, 0, leaf);
            expected.push(places.pages[row as usize / 1000].clone());
            expected.push(places.first_header);
            expected.push(places.offset_index);
            expected.extend((leaf == 0).then_some(places.column_index));
        }
        expected.sort_by_key(|range| (range.start, range.end));
        let mut read = source.take();
        // This removes the reads that `places` itself makes.
        let own = read.len() - expected.len();
        let index = places(&file, 0, 0).offset_index.start;
        read.retain(|range| range.start < index || expected.contains(range));
        assert!(own <= 4 * 3, "{read:?}");
        read.dedup();
        assert_eq!(read, expected, "row {row}");
        source.take();
    }
    // If no page can contain the key, only the column index is read.
    assert_eq!(rows(&file, wanted(7)), [] as [i64; 0]);
    let read = total(&source.take());
    assert!(read < 20_000, "{read}");
}

#[test]
fn rows_of_a_page_read_that_page_of_each_column() {
    let (source, file) = Noting::new(&table(20_000), options());
    let options = ReadOptions::new().row_ranges(vec![5_200..5_203]);
    let expected: Vec<_> = (0..4)
        .flat_map(|leaf| {
            let places = places(&file, 0, leaf);
            [
                places.pages[5].clone(),
                places.first_header,
                places.offset_index,
            ]
        })
        .collect();
    source.take();
    assert_eq!(rows(&file, options), [5_200, 5_201, 5_202]);
    let mut read = source.take();
    let mut expected = expected;
    read.sort_by_key(|range| (range.start, range.end));
    expected.sort_by_key(|range| (range.start, range.end));
    assert_eq!(read, expected);
}

#[test]
fn several_threads_read_no_more_of_some_rows() {
    let (source, file) = Noting::new(&table(200_000), options());
    let options = || ReadOptions::new().row_ranges(vec![5_200..45_203]);
    let read = |threads| {
        let reader = file.read(options().threads(threads)).unwrap();
        let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 40_003);
        let read = source.take();
        (read.iter().map(|range| range.start).min(), total(&read))
    };
    source.take();
    let (first, bytes) = read(1);
    assert_eq!(read(2), (first, bytes));
    // The read needs a fifth of the rows, and the indexes.
    assert!(bytes < source.len() / 4, "{bytes}");
}

#[test]
fn lists_in_pages_of_version_1_are_passed_over() {
    let lists = (0..20_000).map(|row| Some([Some(row), None, Some(row)]));
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(lists);
    let row = Int64Array::from_iter_values(0..20_000);
    let columns: [(&str, ArrayRef); 2] = [("row", Arc::new(row)), ("list", Arc::new(lists))];
    let (source, file) = Noting::new(&RecordBatch::try_from_iter(columns).unwrap(), options());
    let pages = places(&file, 0, 1).pages;
    source.take();
    let wanted = [3_500, 3_501, 12_000];
    let filter = col("row").is_in(wanted);
    assert_eq!(rows(&file, ReadOptions::new().filter(filter)), wanted);
    let read = source.take();
    let list_rows = read
        .iter()
        .filter(|range| range.start >= pages[0].start && range.start < pages.last().unwrap().end);
    // The read may fetch the pages with these rows, and the pages after them, into which rows might continue. It may
    // also fetch the first page's header.
    let allowed: Vec<_> = [0, 3, 4, 12, 13].map(|page| pages[page].clone()).to_vec();
    for range in list_rows {
        let is_allowed = allowed
            .iter()
            .any(|page| page.start <= range.start && range.end <= page.end);
        assert!(is_allowed, "{range:?} of {pages:?}");
    }
}

#[test]
fn a_value_that_no_dictionary_has_reads_dictionaries_alone() {
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let mut written = WriteOptions::new().columns(columns);
    written.row_group_rows = 10_000;
    let (source, file) = Noting::new(&table(40_000), written);
    let mut expected: Vec<_> = (0..4)
        .map(|row_group| places(&file, row_group, 2).dictionary.unwrap())
        .collect();
    source.take();
    // The value lies within the bounds of all row groups.
    let none = rows(&file, ReadOptions::new().filter(col("few").eq("value 20x")));
    assert_eq!(none, [] as [i64; 0]);
    let read = source.take();
    expected.sort_by_key(|range| (range.start, range.end));
    assert_eq!(read, expected);
}

#[test]
fn a_key_among_many_row_groups() {
    const ROW_GROUPS: i64 = 200;
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let columns = columns.page_rows(100).dictionary(false);
    let columns = columns.bloom_filter(BloomFilterOptions::default());
    let mut written = WriteOptions::new().columns(columns);
    written.row_group_rows = 500;
    let (source, file) = Noting::new(&table(ROW_GROUPS * 500), written);
    let read = |filter: Predicate| {
        let options = ReadOptions::new().columns(["row"]).filter(filter);
        let found = rows(&file, options);
        (found, source.take())
    };
    // In the sorted column, the bounds leave one row group.
    let (found, reads) = read(col("key").eq(2 * 7_777));
    assert_eq!(found, [7_777]);
    // The reads are for the header and a block of the bloom filter, two indexes, the first page header, the key's page
    // and the row's page.
    assert!(reads.len() <= 7, "{reads:?}");
    assert!(total(&reads) < 6_000, "{reads:?}");
    // In the unsorted column, they are for the header and a block of each bloom filter, in the row groups that the
    // bounds leave.
    let key = format!("{:016x}", 7_777_i64.wrapping_mul(0x1E37_79B9_7F4A_7C15));
    let (found, reads) = read(col("many").eq(key.as_str()));
    assert_eq!(found, [7_777]);
    assert!(reads.len() as i64 <= 2 * ROW_GROUPS + 10, "{}", reads.len());
    // They include the pages of one row group, and of false positives that the filters have.
    let (blocks, pages) = (100 * ROW_GROUPS as u64, 30_000);
    assert!(total(&reads) < blocks + pages, "{}", total(&reads));
    let (found, reads) = read(col("many").eq("no such key"));
    assert_eq!((found.len(), total(&reads)), (0, 0));
}

#[test]
fn without_steps_the_rows_are_the_same_and_the_bytes_are_not() {
    let (source, file) = Noting::new(&table(20_000), options());
    let wanted = ReadOptions::new().filter(col("key").eq(14_246));
    assert_eq!(rows(&file, wanted.clone()), [7_123]);
    let few = total(&source.take());
    assert_eq!(rows(&file, wanted.pruning(PruningSteps::none())), [7_123]);
    let many = total(&source.take());
    assert!(few * 5 < many, "{few} {many}");
}

#[test]
fn metrics_tell_what_a_read_did() {
    let mut written = options();
    written.row_group_rows = 20_000;
    let (source, file) = Noting::new(&table(60_000), written);
    // The filter selects three rows of the second row group, in its eighth page.
    let wanted = col("key").between(2 * 27_100, 2 * 27_102);
    let options = ReadOptions::new().filter(wanted).columns(["row"]);
    for threads in [1, 3] {
        source.take();
        let mut reader = file.read(options.clone().threads(threads)).unwrap();
        assert_eq!(reader.metrics().row_groups, 0);
        let batch = reader.next_batch().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 3);
        assert!(reader.next_batch().unwrap().is_none());
        let metrics = reader.metrics();
        assert_eq!((metrics.row_groups, metrics.row_groups_pruned), (3, 2));
        let told = metrics.steps.iter();
        let told = told.map(|step| (step.step, step.rows_ruled_out, step.rows_accepted));
        let told: Vec<_> = told.filter(|step| (step.1, step.2) != (0, 0)).collect();
        let expected = [
            (PruningStep::Statistics, 40_000, 0),
            (PruningStep::ColumnIndexes, 19_000, 0),
        ];
        assert_eq!(told, expected);
        assert_eq!((metrics.rows_tested, metrics.rows_found), (1000, 3));
        // The read needs one page of the key, and one of the row.
        assert_eq!((metrics.pages_read, metrics.pages_skipped), (2, 14));
        let reads = source.take();
        let steps = metrics.steps.iter().map(|step| step.reads);
        let counts = steps.chain([metrics.columns]);
        let (requests, bytes) = counts.fold((0, 0), |(requests, bytes), counts| {
            (requests + counts.requests, bytes + counts.bytes)
        });
        assert_eq!((requests, bytes), (reads.len() as u64, total(&reads)));
    }
    // The last row group is accepted without its 20 pages, and so are half of the pages in the one before.
    let wanted = ReadOptions::new().filter(col("key").ge(2 * 30_000));
    let mut reader = file.read(wanted.columns(["row"]).threads(1)).unwrap();
    while reader.next_batch().unwrap().is_some() {}
    let metrics = reader.metrics();
    assert_eq!(metrics.pages_accepted, 20);
    let found = |step| metrics.steps.iter().find(|it| it.step == step).unwrap();
    let step = found(PruningStep::Statistics);
    let row_groups = (step.row_groups_ruled_out, step.row_groups_accepted);
    assert_eq!((row_groups, step.pages_kept), ((1, 1), 0));
    let step = found(PruningStep::ColumnIndexes);
    let row_groups = (step.row_groups_ruled_out, step.row_groups_accepted);
    let pages = (step.pages_ruled_out, step.pages_kept, step.rows_kept);
    assert_eq!((row_groups, pages), ((0, 0), (10, 10, 10_000)));
    assert!(!step.time.is_zero());
    source.take();
    // Without a filter, the metrics only count the columns.
    source.take();
    let mut reader = file.read(ReadOptions::new().threads(1)).unwrap();
    while reader.next_batch().unwrap().is_some() {}
    let metrics = reader.metrics();
    assert_eq!((metrics.row_groups, metrics.rows_tested), (3, 0));
    assert_eq!((metrics.pages_read, metrics.pages_skipped), (4 * 60, 0));
    assert_eq!(metrics.columns.bytes, total(&source.take()));
}

/// Reads rows, and checks that each is a row of `expected` in all columns.
fn consistent_rows(
    file: &ParquetFile,
    options: ReadOptions,
    expected: &RecordBatch,
) -> Result<Vec<i64>, Error> {
    let mut rows = Vec::new();
    let mut reader = file.read(options.threads(1))?;
    while let Some(batch) = reader.next_batch()? {
        let row = batch.column_by_name("row").unwrap();
        for (at, row) in row.as_primitive::<Int64Type>().values().iter().enumerate() {
            let one = batch.slice(at, 1);
            assert_eq!(
                one,
                expected.slice(*row as usize, 1),
                "columns of other rows"
            );
            rows.push(*row);
        }
    }
    Ok(rows)
}

#[test]
fn an_index_with_wrong_bytes_never_mixes_rows() {
    let mut options = options();
    options.columns = options.columns.page_rows(500);
    let written = table(6_000);
    let (source, file) = Noting::new(&written, options);
    let whole = file.offset_index(0, 3).unwrap().unwrap();
    assert_eq!(whole.page_locations.len(), 12);
    let regions = (0..4).flat_map(|leaf| {
        let places = places(&file, 0, leaf);
        [places.column_index, places.offset_index]
    });
    let filters = [
        col("key").between(6_100, 6_104).or(col("key").eq(9_000)),
        col("row").is_in([1_u64, 2_600, 5_999]),
    ];
    let wanted = [vec![3_050, 3_051, 3_052, 4_500], vec![1, 2_600, 5_999]];
    let mut errors = 0;
    for at in regions.flatten().step_by(3) {
        for flip in [0x01, 0x02, 0x10, 0xff] {
            let mut bytes = source.bytes.to_vec();
            bytes[at as usize] ^= flip;
            let file = ParquetFile::from_bytes(bytes).unwrap();
            for (filter, wanted) in filters.iter().zip(&wanted) {
                let options = ReadOptions::new().filter(filter.clone());
                match consistent_rows(&file, options, &written) {
                    // Wrong bounds may hide rows, but if the first rows of pages are wrong, this does not add any.
                    Ok(rows) => assert!(rows.iter().all(|row| wanted.contains(row)), "{rows:?}"),
                    Err(_) => errors += 1,
                }
            }
        }
    }
    assert!(
        errors > 0,
        "rows that pages are said to have are compared with those that they have"
    );
}
