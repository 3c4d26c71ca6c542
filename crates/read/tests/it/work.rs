//! Counts the work that reads do: row groups and pages left out, requests, and bytes.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::filter::{Predicate, PruningStep, PruningSteps, ReadMetrics, col, col_at};
use herringbone::push::PushDecoder;
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Limits, ParquetFile, ReadOptions, Result, WantedSchema,
    WriteOptions,
};
use herringbone_arrow::array::{
    ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};

use crate::table::{GROUP, file, open, options, rows_of, supplied, written};

/// A file in memory that notes the requested ranges.
#[derive(Clone)]
struct Noting {
    file: Bytes,
    ranges: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Noting {
    fn open(file: &Bytes) -> (Self, ParquetFile) {
        let source = Self {
            file: file.clone(),
            ranges: Arc::default(),
        };
        let opened = ParquetFile::from_source(source.clone(), Limits::default()).unwrap();
        source.take();
        (source, opened)
    }

    /// Returns the ranges requested since the last call.
    fn take(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.ranges.lock().unwrap())
    }
}

impl Source for Noting {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.ranges.lock().unwrap().push(range.clone());
        Source::read(&self.file, range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        // We fetch a short suffix, because the rest of a longer one would serve all requests to a small file.
        let mut policy = FetchPolicy::local();
        policy.suffix_bytes = 8;
        policy
    }
}

fn read(file: &ParquetFile, options: &ReadOptions) -> (Vec<usize>, ReadMetrics) {
    let mut reader = file.read(options.clone().threads(1)).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        batches.push(batch);
    }
    (rows_of(&batches), reader.metrics())
}

/// Reads the column `row` with a filter, returning the counts.
fn metrics(file: &Bytes, filter: Predicate) -> ReadMetrics {
    let options = ReadOptions::new().filter(filter).columns(["row"]);
    read(&open(file), &options).1
}

/// Returns the rows that each step ruled out and accepted. Steps that decided nothing are left out.
fn decided(metrics: &ReadMetrics) -> Vec<(PruningStep, u64, u64)> {
    let steps = metrics.steps.iter();
    let steps = steps.map(|step| (step.step, step.rows_ruled_out, step.rows_accepted));
    steps.filter(|step| (step.1, step.2) != (0, 0)).collect()
}

#[test]
fn statistics_and_column_indexes_leave_the_rows_of_one_page() {
    // Row 402 is in the second row group of 300 rows, and in its third page of 50 rows.
    let metrics = metrics(&file(options()), col("row").eq(402));
    assert_eq!((metrics.row_groups, metrics.row_groups_pruned), (4, 3));
    let expected = [
        (PruningStep::Statistics, 700, 0),
        (PruningStep::ColumnIndexes, 250, 0),
    ];
    assert_eq!(decided(&metrics), expected);
    assert_eq!(metrics.steps[0].row_groups_ruled_out, 3);
    let indexes = metrics.steps[3];
    assert_eq!(indexes.step, PruningStep::ColumnIndexes);
    assert_eq!(
        (
            indexes.pages_ruled_out,
            indexes.pages_kept,
            indexes.rows_kept
        ),
        (5, 1, 50)
    );
    assert!(indexes.reads.requests > 0 && indexes.reads.bytes > 0);
    assert_eq!((metrics.rows_tested, metrics.rows_found), (50, 1));
    // The five other pages of the row group are skipped. With an index, they are not even counted as read.
    assert_eq!(metrics.pages_read, 1);
}

#[test]
fn column_indexes_belong_to_the_column_of_their_test() {
    // `y` is the negated row in each place, and row 402 has a place.
    let metrics = metrics(&file(options()), col_at(["place", "y"]).eq(-402));
    let expected = [
        (PruningStep::Statistics, 700, 0),
        (PruningStep::ColumnIndexes, 250, 0),
    ];
    assert_eq!(decided(&metrics), expected);
}

#[test]
fn whole_row_groups_are_accepted_by_their_bounds() {
    // The rows 450 to 599 are in the last three pages of the second row group.
    let metrics = metrics(&file(options()), col("row").ge(450));
    let expected = [
        (PruningStep::Statistics, 300, 400),
        (PruningStep::ColumnIndexes, 150, 150),
    ];
    assert_eq!(decided(&metrics), expected);
    let [ruled_out, accepted] = [
        metrics.steps[0].row_groups_ruled_out,
        metrics.steps[0].row_groups_accepted,
    ];
    assert_eq!((ruled_out, accepted), (1, 2));
    // The third row group has six pages, and the last one has two.
    assert_eq!(metrics.pages_accepted, 8);
    let indexes = metrics.steps[3];
    assert_eq!(
        (
            indexes.pages_ruled_out,
            indexes.pages_kept,
            indexes.rows_kept
        ),
        (3, 3, 150)
    );
    // The index decides each page, so no value would have to be tested, but the tested column is emitted, too.
    assert_eq!(metrics.rows_found, 150);
}

#[test]
fn a_dictionary_and_a_bloom_filter_rule_out_what_bounds_do_not() {
    let columns = ColumnOptions::new().dictionary(true);
    let file_of_dictionaries = file(options().columns(columns.clone()));
    // The value "grey" lies between the bounds "green" and "red".
    let none = metrics(&file_of_dictionaries, col("kind").eq("grey"));
    assert_eq!(none.rows_tested, 0);
    assert_eq!(none.row_groups_pruned, 4);
    let step = |metrics: &ReadMetrics, step| {
        let found = metrics.steps.iter().find(|it| it.step == step).unwrap();
        (found.rows_ruled_out, found.row_groups_ruled_out)
    };
    assert_eq!(step(&none, PruningStep::BloomFilters), (0, 0));
    let by_bloom_filters = columns.bloom_filter(BloomFilterOptions::default());
    let none = metrics(
        &file(options().columns(by_bloom_filters)),
        col("kind").eq("grey"),
    );
    assert_eq!(step(&none, PruningStep::BloomFilters), (1_000, 4));
    assert_eq!(step(&none, PruningStep::Dictionaries), (0, 0));
}

#[test]
fn a_step_that_is_switched_off_reads_nothing() {
    let file = file(options());
    let filter = col("row").eq(402);
    let with = |steps: PruningSteps| {
        let options = ReadOptions::new()
            .filter(filter.clone())
            .columns(["row"])
            .pruning(steps);
        let (rows, metrics) = read(&open(&file), &options);
        assert_eq!(rows, [402]);
        metrics
    };
    let none = with(PruningSteps::none());
    assert_eq!((none.row_groups_pruned, none.rows_tested), (0, 1_000));
    assert!(decided(&none).is_empty());
    assert!(none.steps.iter().all(|step| step.reads.requests == 0));
    let statistics = with(PruningSteps::none().with(PruningStep::Statistics));
    assert_eq!(
        (statistics.row_groups_pruned, statistics.rows_tested),
        (3, 300)
    );
}

#[test]
fn a_read_of_one_row_requests_little_else() {
    let file = file(options());
    let (source, opened) = Noting::open(&file);
    let options = ReadOptions::new()
        .filter(col("row").eq(402))
        .columns(["row"]);
    let (rows, metrics) = read(&opened, &options);
    assert_eq!(rows, [402]);
    let ranges = source.take();
    let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    assert_eq!(
        (metrics.fetched.requests, metrics.fetched.bytes),
        (ranges.len() as u64, bytes)
    );
    // The read needs two indexes of six pages, 128 bytes for the first page header, and a page of 400 bytes.
    assert!(bytes < 400 + 128 + 600, "{bytes}");
    // All rows of the column take 8,000 bytes.
    let (_, all) = read(&opened, &ReadOptions::new().columns(["row"]));
    assert!((8_000..9_000).contains(&all.fetched.bytes), "{all:?}");
    // A read of all rows looks nothing up.
    assert!(all.steps.iter().all(|step| step.reads.requests == 0));
}

/// A column's page index is read if the pages it rules out might cost more than a request. The dictionary is read in
/// any case, so its bytes don't count.
#[test]
fn a_page_map_must_save_more_than_a_request() {
    let reads_of_maps = |dictionary: bool, distinct: usize, length: usize| {
        let rows = 0..1_000_usize;
        let texts = rows
            .clone()
            .map(|row| format!("{:0length$}", row % distinct));
        let numbers = Int64Array::from_iter_values(rows.map(|row| row as i64));
        let columns: [(&str, ArrayRef); 2] = [
            ("row", Arc::new(numbers)),
            ("text", Arc::new(StringArray::from_iter_values(texts))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let options = options()
            .column("text", ColumnOptions::new().dictionary(dictionary))
            .row_group_rows(1_000);
        let file = written(&batch, options);
        let read = ReadOptions::new().filter(col("row").eq(402));
        let plan = open(&file).plan(&read).unwrap();
        let mut decoder = PushDecoder::with_policy(Arc::new(plan), FetchPolicy::remote());
        let found = supplied(&mut decoder, &file);
        assert_eq!(rows_of(&found), [402]);
        let metrics = decoder.metrics();
        let step = metrics.steps.iter();
        let mut maps = step.filter(|step| step.step == PruningStep::PageMaps);
        maps.next().unwrap().reads.bytes
    };
    // A request can read over a gap of 256 KiB. All rows' texts take 400,000 bytes.
    assert!(reads_of_maps(false, 1_000, 400) > 0);
    // The pages have indices of seven bits. Their dictionary of 100 texts takes as many bytes.
    assert_eq!(reads_of_maps(true, 100, 4_000), 0);
    assert_eq!(reads_of_maps(false, 1_000, 200), 0);
}

#[test]
fn an_explanation_has_the_work_of_each_row_group() {
    let file = file(options());
    let options = ReadOptions::new()
        .filter(col("row").between(402, 620))
        .columns(["row"]);
    let explained = open(&file).explain(&options).unwrap();
    assert_eq!(explained.len(), 4);
    let rows: Vec<_> = explained.iter().map(|it| (it.row_group, it.rows)).collect();
    assert_eq!(rows, [(0, 300), (1, 300), (2, 300), (3, 100)]);
    // The rows 402 to 449 must be tested, because their page begins with row 400. The rows 450 to 599 are accepted.
    let undecided: Vec<_> = explained.iter().map(|it| it.undecided()).collect();
    assert_eq!(undecided, [0, 50, 50, 0]);
    let last = |row_group: usize| *explained[row_group].steps.last().unwrap();
    assert_eq!((last(1).ruled_out, last(1).accepted), (100, 150));
    assert_eq!((last(2).ruled_out, last(2).accepted), (250, 0));
    assert_eq!((last(3).ruled_out, last(3).accepted), (100, 0));
    let first = explained[1].steps[0];
    assert_eq!(
        (first.step, first.ruled_out, first.bytes),
        (PruningStep::Statistics, 0, 0)
    );
    let by_indexes = explained[1]
        .steps
        .iter()
        .find(|it| it.step == PruningStep::ColumnIndexes);
    assert!(by_indexes.unwrap().bytes > 0);
    // Each page takes 400 bytes and a header for 50 numbers. Four pages are needed in the second row group, and one in
    // the third.
    let wanted: Vec<_> = explained.iter().map(|it| it.wanted_bytes).collect();
    assert!((1_600..1_800).contains(&wanted[1]), "{wanted:?}");
    assert!((400..450).contains(&wanted[2]), "{wanted:?}");
    assert_eq!((wanted[0], wanted[3]), (0, 0));
    assert_eq!((explained[0].fetched.requests, explained[0].rounds), (0, 0));
    // The pages are neighbours, so one request fetches them all.
    assert_eq!(
        (explained[1].fetched.requests, explained[1].fetched.bytes),
        (1, wanted[1])
    );
    assert!(explained[1].rounds >= 2, "{:?}", explained[1]);
}

#[test]
fn a_plan_counts_rows_and_leaves() {
    let file = open(&file(options()));
    let plan = |options: &ReadOptions| file.plan(options).unwrap();
    let all = plan(&ReadOptions::new());
    // The leaves are `row`, `text`, `kind`, two of `place`, `tags`, and two of `pairs`.
    assert_eq!(all.num_columns(), 8);
    assert_eq!(all.leaves().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(!all.is_filtered());
    let row_groups = all.row_groups().iter();
    let ranges = row_groups.map(|row_group| (row_group.first_row(), row_group.num_wanted()));
    assert_eq!(
        ranges.collect::<Vec<_>>(),
        [(0, 300), (300, 300), (600, 300), (900, 100)]
    );
    let sizes = (0..4).flat_map(|row_group| (0..8).map(move |leaf| (row_group, leaf)));
    let sizes = sizes.map(|(row_group, leaf)| {
        let chunk = file.metadata().column_chunk(row_group, leaf).unwrap();
        chunk.meta_data.unwrap().total_uncompressed_size as u64
    });
    let total: u64 = sizes.sum();
    assert_eq!(all.mean_chunk_bytes(), total / 32);
    let some = plan(&ReadOptions::new().offset(310).limit(300).columns(["place"]));
    assert_eq!(some.num_columns(), 2);
    let row_groups = some.row_groups().iter();
    let wanted = row_groups.map(|row_group| {
        let ranges = row_group.row_ranges().to_vec();
        (row_group.ordinal(), row_group.num_wanted(), ranges)
    });
    assert_eq!(
        wanted.collect::<Vec<_>>(),
        [(1, 290, vec![10..300]), (2, 10, vec![0..10])]
    );
    let filtered = plan(&ReadOptions::new().filter(col("row").ge(650)));
    assert!(filtered.is_filtered());
    let left = filtered.prune().unwrap();
    assert_eq!(
        left.iter().map(|it| it.ordinal()).collect::<Vec<_>>(),
        [2, 3]
    );
    assert_eq!(all.prune().unwrap().len(), 4);
}

/// A missing column's constant decides a filter before we read anything.
#[test]
fn a_constant_column_rules_out_the_file() {
    let file = file(options());
    let (source, opened) = Noting::open(&file);
    let fields = vec![
        Field::new("row", DataType::Int64, false),
        Field::new("year", DataType::Int64, true),
        Field::new("month", DataType::Int64, true),
    ];
    let wanted = herringbone::WantedSchema::new(Arc::new(Schema::new(fields)))
        .default_value(["year"], Arc::new(Int64Array::from(vec![2024])));
    let counts = |filter: Predicate| {
        let options = ReadOptions::new()
            .wanted_schema(wanted.clone())
            .filter(filter);
        let (rows, metrics) = read(&opened, &options);
        (
            rows.len(),
            metrics.rows_tested,
            metrics.row_groups_pruned,
            source.take().len(),
        )
    };
    assert_eq!(counts(col("year").eq(2023)), (0, 0, 4, 0));
    // The file has no months either, and nothing equals null.
    assert_eq!(counts(col("month").eq(5)), (0, 0, 4, 0));
    assert_eq!(counts(col("month").is_not_null()), (0, 0, 4, 0));
    let (rows, tested, pruned, requests) = counts(col("year").eq(2024));
    assert_eq!((rows, tested, pruned), (1_000, 0, 0));
    assert!(requests > 0);
    let (rows, tested, pruned, _) = counts(col("month").is_null().and(col("row").ge(600)));
    assert_eq!((rows, tested, pruned), (400, 0, 2));
    let (rows, tested, pruned, _) = counts(col("year").eq(2023).or(col("row").ge(600)));
    assert_eq!((rows, tested, pruned), (400, 0, 2));
}

#[test]
fn bounds_of_row_groups_and_pages_have_the_types_of_the_read() {
    let opened = open(&file(options()));
    let bounds = opened.row_group_bounds(0).unwrap();
    let expected: Vec<i64> = vec![0, 300, 600, 900];
    assert_eq!(
        bounds.min.as_ref(),
        &Int64Array::from(expected) as &dyn herringbone_arrow::array::Array
    );
    let pages = opened.page_bounds(1, 0).unwrap().unwrap();
    let expected: Vec<i64> = (0..6).map(|page| GROUP as i64 + 50 * page + 49).collect();
    assert_eq!(
        pages.max.as_ref(),
        &Int64Array::from(expected) as &dyn herringbone_arrow::array::Array
    );
}

/// A bound that the wanted type lacks leaves its own row group undecided, but no other one.
#[test]
fn a_bound_out_of_range_affects_no_other_row_group() {
    // The last two milliseconds are no nanoseconds of 64 bits.
    let values = vec![0, 9, 100, 109, i64::MAX, i64::MAX];
    let values = Arc::new(TimestampMillisecondArray::from(values));
    let batch = RecordBatch::try_from_iter([("value", values as ArrayRef)]).unwrap();
    let file = open(&written(&batch, WriteOptions::new().row_group_rows(2)));
    let field = Field::new(
        "value",
        DataType::Timestamp(TimeUnit::Nanosecond, None),
        true,
    );
    let options = ReadOptions::new()
        .wanted_schema(WantedSchema::new(Arc::new(Schema::new(vec![field]))))
        .filter(col("value").eq("1970-01-01T00:00:00.109"))
        .limit(1)
        .threads(1);
    let mut reader = file.read(options).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 1);
    let metrics = reader.metrics();
    assert_eq!((metrics.row_groups_pruned, metrics.rows_tested), (1, 2));
}

/// A plan of many row groups stays small, because those with equal rows share memory.
#[test]
fn row_groups_with_equal_rows_share_their_ranges() {
    let file = open(&file(options()));
    let plan = file.plan(&ReadOptions::new()).unwrap();
    let ranges: Vec<_> = plan.row_groups().iter().map(|it| it.row_ranges()).collect();
    assert_eq!(ranges, [&[0..300_u64], &[0..300], &[0..300], &[0..100]]);
    assert!(std::ptr::eq(ranges[0], ranges[2]));
}
