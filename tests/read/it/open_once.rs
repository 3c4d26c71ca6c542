//! Limits and names that are given once, when a file is opened, apply to all that follows. Retained metadata prunes row
//! groups.

use std::error::Error as _;
use std::fs;

use bytes::Bytes;
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, col};
use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions, VirtualColumn};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/example.parquet"
);

fn first_error(file: &ParquetFile, options: ReadOptions) -> Error {
    let outcome = file
        .read(options)
        .and_then(|mut reader| reader.next_batch());
    outcome.unwrap_err()
}

#[test]
fn limits_of_a_file_are_those_of_its_reads() {
    let bytes = Bytes::from(fs::read(EXAMPLE).unwrap());
    let few = || Limits::new().page_values(10);
    for file in [
        ParquetFile::open_with(EXAMPLE, few()).unwrap(),
        ParquetFile::from_bytes_with(bytes.clone(), few()).unwrap(),
        ParquetFile::from_source(bytes, few()).unwrap(),
    ] {
        assert_eq!(file.limits().page_values, 10);
        let error = first_error(&file, ReadOptions::new());
        assert_eq!(error.limit_name(), Some("page_values"), "{error}");
        let plan = file.plan(&ReadOptions::new()).unwrap();
        assert_eq!(plan.limits().page_values, 10);
        // A read may have limits of its own.
        let more = ReadOptions::new().limits(Limits::default());
        assert_eq!(file.read(more).unwrap().map(Result::unwrap).count(), 2);
        let kept = ParquetFile::with_metadata(file.source().clone(), file.metadata_handle());
        let error = first_error(&kept.unwrap(), ReadOptions::new());
        assert_eq!(error.limit_name(), Some("page_values"), "{error}");
    }
    // The footer is bounded, too.
    let error = ParquetFile::open_with(EXAMPLE, Limits::new().row_groups(1)).unwrap_err();
    assert_eq!(error.limit_name(), Some("row_groups"));
    assert!(error.message().starts_with(EXAMPLE), "{error}");
    let options = ReadOptions::new().limits(Limits::new().row_groups(1));
    let error = herringbone::open_with(EXAMPLE, options).unwrap_err();
    assert_eq!(error.limit_name(), Some("row_groups"));
}

#[test]
fn errors_of_a_file_begin_with_its_path_once() {
    let file = ParquetFile::open(EXAMPLE).unwrap();
    let limited = ReadOptions::new().limits(Limits::new().page_values(10));
    for error in [
        ParquetFile::open("no/such.parquet").unwrap_err(),
        file.read(ReadOptions::new().columns(["none"])).unwrap_err(),
        file.explain(&ReadOptions::new().filter(col("none").eq(1)))
            .unwrap_err(),
        file.pages(9, 0).unwrap_err(),
        file.column_index(0, 99).unwrap_err(),
        file.load_page_index(9, 0).unwrap_err(),
        file.bloom_filter(9, 0).unwrap_err(),
        file.row_group_bounds(99).unwrap_err(),
        first_error(&file, limited.clone()),
        first_error(&file, limited.clone().threads(1)),
        file.read(limited).unwrap().find_map(Result::err).unwrap(),
    ] {
        let named = error.message().matches("example.parquet").count();
        let missing = error.message().matches("no/such.parquet: ").count();
        assert_eq!(named + missing, 1, "{error}");
        let path = if named == 1 {
            EXAMPLE
        } else {
            "no/such.parquet"
        };
        assert!(error.message().starts_with(path), "{error}");
    }
    // Bytes in memory have no name.
    let bytes = ParquetFile::from_bytes(fs::read(EXAMPLE).unwrap()).unwrap();
    let error = bytes
        .read(ReadOptions::new().columns(["none"]))
        .unwrap_err();
    assert!(!error.message().contains("example"), "{error}");
}

#[test]
fn readers_yield_errors_with_a_kind() {
    let file = ParquetFile::open(EXAMPLE).unwrap();
    let options = ReadOptions::new().limits(Limits::new().page_values(10));
    let mut reader = file.read(options.clone()).unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(reader.next().is_none());
    // Arrow's trait has Arrow's errors, which contain ours.
    let mut reader = file.read(options).unwrap().into_record_batch_reader();
    let error = reader.next().unwrap().unwrap_err();
    let inner = error.source().unwrap().downcast_ref::<Error>().unwrap();
    assert_eq!(inner.kind(), ErrorKind::Limit);
    let reader = file.read(ReadOptions::new()).unwrap();
    let (schema, reader) = (reader.schema(), reader.into_record_batch_reader());
    assert_eq!(
        herringbone_arrow::array::RecordBatchReader::schema(&reader),
        schema
    );
    assert_eq!(
        reader
            .map(|reader| reader.unwrap().num_rows())
            .sum::<usize>(),
        24
    );
}

/// A custom predicate that refuses each batch whose first row has a number from `from` on.
#[derive(Debug)]
struct RefusesFrom(i64);

impl RowPredicate for RefusesFrom {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["id".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let from = self.0;
        Ok(Box::new(move |batch: &RecordBatch| {
            use herringbone_arrow::array::cast::AsArray;
            use herringbone_arrow::array::{BooleanArray, types};
            let ids = batch.column(0).as_primitive::<types::Int64Type>();
            match ids.value(0) >= from {
                true => Err("a row too far".into()),
                false => Ok(BooleanArray::from(vec![true; batch.num_rows()])),
            }
        }))
    }
}

#[test]
fn an_error_of_a_predicate_has_its_row_group() {
    let file = ParquetFile::open(EXAMPLE).unwrap();
    for threads in [1, 3] {
        let filter = Predicate::rows(RefusesFrom(16));
        let options = ReadOptions::new().filter(filter).threads(threads);
        let mut reader = file.read(options).unwrap();
        let error = reader.find_map(Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert_eq!(error.location().row_group, Some(1), "{error}");
        assert!(error.to_string().contains("a row too far"), "{error}");
    }
}

#[test]
fn kept_metadata_prunes_row_groups() {
    let handle = ParquetFile::open(EXAMPLE).unwrap().metadata_handle();
    let left = |predicate: &Predicate| -> Vec<usize> {
        let left = handle.prune(predicate).unwrap();
        left.iter().map(|left| left.ordinal()).collect()
    };
    assert_eq!(left(&col("id").lt(16)), [0]);
    assert_eq!(left(&col("id").ge(16)), [1]);
    assert_eq!(left(&col("id").is_not_null()), [0, 1]);
    assert_eq!(left(&col("id").gt(1_000)), [0; 0]);
    let error = handle.prune(&col("none").eq(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    // A plan's rows remain the rows that its options select.
    let options = ReadOptions::new().filter(col("id").ge(16));
    let plan = handle.plan(&options.row_ranges([4..6, 18..21])).unwrap();
    let left = plan.prune().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].ordinal(), left[0].row_ranges()), (1, &[2..5][..]));
    // A read finds no rows that statistics rule out.
    for at in 0..24 {
        let filter = col("id").eq(at);
        let options = ReadOptions::new().filter(filter.clone());
        let options = options.virtual_column(VirtualColumn::row_number("row"));
        let file = ParquetFile::open(EXAMPLE).unwrap();
        let rows: usize = file
            .read(options)
            .unwrap()
            .map(|it| it.unwrap().num_rows())
            .sum();
        let possible: u64 = handle
            .prune(&filter)
            .unwrap()
            .iter()
            .map(|row_group| row_group.num_wanted())
            .sum();
        assert!(rows as u64 <= possible, "{at}: {rows} of {possible}");
    }
}

#[test]
fn the_main_types_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<ParquetFile>();
    shared::<herringbone::Reader>();
    shared::<herringbone::MetadataHandle>();
    shared::<herringbone::ReadPlan>();
    shared::<herringbone::ReadOptions>();
    shared::<herringbone::WriteOptions>();
    shared::<herringbone::Writer<Vec<u8>>>();
    shared::<herringbone::push::PushDecoder>();
    shared::<herringbone::Pages>();
}
