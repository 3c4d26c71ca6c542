//! Tests row groups that are copied from other files, or encoded by the caller's own threads.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Literal, col};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, ErrorKind, ParquetFile, ReadOptions,
    SortingColumnOption, UnsortedRows, WriteOptions, Writer, ZstdLevel,
};

use super::choices;
use super::compare::{difference, written};
use super::properties::case;
use super::schemas::Menu;
use crate::batches::Random;
use crate::files;
use crate::table::Table;

fn batch(rows: std::ops::Range<i64>) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.clone()));
    let texts = rows.map(|row| (row % 7 != 0).then(|| format!("text {}", row % 50)));
    let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
    RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap()
}

fn file_of(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    ParquetFile::from_bytes(writer.finish_into().unwrap().1).unwrap()
}

fn options() -> WriteOptions {
    let columns = ColumnOptions::new()
        .page_rows(100)
        .bloom_filter(BloomFilterOptions::new(0.01));
    WriteOptions::new().row_group_rows(1000).columns(columns)
}

#[test]
fn copied_with_their_indexes_and_bloom_filters() {
    let compressed = options().compression(Compression::Zstd(ZstdLevel::default()));
    let file = file_of(&batch(0..2500), compressed);
    let mut writer = Writer::new(Vec::new(), batch(0..1).schema(), options()).unwrap();
    writer.write(&batch(9000..9003)).unwrap();
    for row_group in [2, 0] {
        writer.copy_row_group(&file, row_group).unwrap();
    }
    writer.write(&batch(9003..9004)).unwrap();
    let (metadata, bytes) = writer.finish_into().unwrap();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (1504, 4));

    let copy = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let rows = [9000..9003, 2000..2500, 0..1000, 9003..9004].map(batch);
    let read = copy.read(ReadOptions::new()).unwrap();
    let read: Vec<_> = read.collect::<Result<_, _>>().unwrap();
    assert_eq!(difference(&rows, &read, &rows[0].schema()), None);

    // The peer reads the same rows, also through the page index.
    use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
    use parquet::file::metadata::PageIndexPolicy;
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let open = || {
        let bytes = Bytes::from(bytes.clone());
        ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options.clone()).unwrap()
    };
    let theirs: Vec<_> = open().build().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(difference(&rows, &theirs, &rows[0].schema()), None);
    let selection = RowSelection::from(vec![RowSelector::skip(1250), RowSelector::select(3)]);
    let theirs = open().with_row_selection(selection).build().unwrap();
    let theirs: Vec<_> = theirs.collect::<Result<_, _>>().unwrap();
    assert_eq!(
        difference(&[batch(747..750)], &theirs, &rows[0].schema()),
        None
    );

    // The indexes and filters come from the other file, but are at new places.
    for (ordinal, from) in [(1, 2), (2, 0)] {
        for leaf in 0..2 {
            let (ours, theirs) = (
                copy.page_bounds(ordinal, leaf),
                file.page_bounds(from, leaf),
            );
            let (ours, theirs) = (ours.unwrap().unwrap(), theirs.unwrap().unwrap());
            assert_eq!((&ours.min, &ours.max), (&theirs.min, &theirs.max));
            assert_eq!(ours.row_counts, theirs.row_counts);
            let filter = copy.load_bloom_filter(ordinal, leaf).unwrap().unwrap();
            let values: [Literal; 2] = [2100.into(), "text 3".into()];
            assert_eq!(
                filter.may_contain(&values[leaf]).unwrap(),
                leaf == 1 || from == 2
            );
        }
    }
    let filter = ReadOptions::new().filter(col("id").eq(2345));
    let mut reader = copy.read(filter).unwrap();
    let found: usize = reader
        .by_ref()
        .map(|reader| reader.unwrap().num_rows())
        .sum();
    assert_eq!((found, reader.metrics().row_groups_pruned), (1, 3));
}

/// Copies each row group of all official files twice.
#[test]
fn copied_from_official_files() {
    let Some(official) = files::official() else {
        return;
    };
    let (mut copied, mut refused) = (0, 0);
    for path in files::parquet_files(&official.join("data")) {
        let Ok(file) = ParquetFile::open(&path) else {
            continue;
        };
        let Ok(rows) = file.read(ReadOptions::new()).and_then(Table::read) else {
            continue;
        };
        let schema = file.plan(&ReadOptions::new()).unwrap().schema().clone();
        let Ok(mut writer) = Writer::new(Vec::new(), schema, WriteOptions::new()) else {
            continue;
        };
        if let Err(error) = writer.check_copy(&file) {
            assert_eq!(error.kind(), ErrorKind::Argument, "{path:?}: {error}");
            refused += 1;
            continue;
        }
        for row_group in 0..file.metadata().num_row_groups() {
            writer
                .copy_row_group(&file, row_group)
                .unwrap_or_else(|error| panic!("{path:?}: {error}"));
        }
        let copy = ParquetFile::from_bytes(writer.finish_into().unwrap().1).unwrap();
        let read = copy.read(ReadOptions::new()).and_then(Table::read).unwrap();
        assert_eq!(read.difference(&rows, true), None, "{path:?}");
        copied += 1;
    }
    println!("{copied} files copied, {refused} refused");
    assert!(
        copied > 40 && copied > refused,
        "{copied} copied, {refused} refused"
    );
}

#[test]
fn refused_with_the_reason() {
    let file = file_of(&batch(0..10), options());
    let refused = |fields: Vec<Field>, options: WriteOptions| {
        let schema = Arc::new(Schema::new(fields));
        let mut writer = Writer::new(Vec::new(), schema, options).unwrap();
        let error = writer.copy_row_group(&file, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        // After a refusal, the writer can go on.
        writer.finish().unwrap();
        error.to_string()
    };
    let id = |data_type| Field::new("id", data_type, false);
    let of = |field| refused(vec![field], WriteOptions::new());
    assert!(of(id(DataType::Int32)).contains("another Arrow type"));
    assert!(of(Field::new("id", DataType::Int64, true)).contains("another Parquet type"));
    assert!(of(Field::new("no", DataType::Int64, true)).contains("no column `no`"));
    let sorted = WriteOptions::new().sort_by(vec![SortingColumnOption::new(["id"])]);
    assert!(refused(vec![id(DataType::Int64)], sorted).contains("`sort_by`"));
    let checked = WriteOptions::new()
        .sorting_columns(vec![SortingColumnOption::new(["id"])])
        .unsorted_rows(UnsortedRows::Error);
    let schema = Arc::new(Schema::new(vec![id(DataType::Int64)]));
    let mut writer = Writer::new(Vec::new(), schema, checked).unwrap();
    let error = writer.copy_row_group(&file, 0).unwrap_err();
    assert!(error.to_string().contains("must be sorted"), "{error}");
}

#[test]
fn columns_of_one_name_are_not_mixed_up() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let field = Field::new("id", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field.clone(), field]));
    let others: ArrayRef = Arc::new(Int64Array::from(vec![2]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ids, others]).unwrap();
    let file = file_of(&batch, WriteOptions::new());
    let mut writer = Writer::new(Vec::new(), schema, WriteOptions::new()).unwrap();
    let error = writer.copy_row_group(&file, 0).unwrap_err();
    assert!(
        error.to_string().contains("two columns of one name"),
        "{error}"
    );
}

#[test]
fn a_refusal_leaves_the_writer_as_it_is() {
    let file = file_of(&batch(0..10), options());
    let checked = WriteOptions::new()
        .sorting_columns(vec![SortingColumnOption::new(["id"])])
        .unsorted_rows(UnsortedRows::Error);
    let mut writer = Writer::new(Vec::new(), batch(0..1).schema(), checked).unwrap();
    writer.copy_row_group(&file, 0).unwrap_err();
    writer.write(&batch(0..10)).unwrap();
    assert_eq!(writer.finish().unwrap().num_rows(), 10);
}

#[test]
fn copied_only_if_the_pages_fit_the_metadata() {
    let batch = batch(0..1000);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options()).unwrap();
    writer.write(&batch).unwrap();
    let (metadata, mut damaged) = writer.finish_into().unwrap();
    let chunk = metadata.column_chunk(0, 0).unwrap().meta_data.unwrap();
    // The second field of the page header, which is its size, becomes a structure.
    let at = chunk
        .dictionary_page_offset
        .unwrap_or(chunk.data_page_offset) as usize;
    damaged[at + 2] = 0x1c;
    let damaged = ParquetFile::from_bytes(damaged).unwrap();
    let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new()).unwrap();
    let error = writer.copy_row_group(&damaged, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.location().column.is_some());
}

/// The bytes of encoded columns are the same as the writer itself makes.
#[test]
fn encoded_on_threads_of_the_caller() {
    for seed in 0..20 {
        let random = &mut Random(seed);
        let (schema, batches) = case(random, &Menu::everything());
        let mut options = choices::options(random, &schema);
        (options.sort_by, options.unsorted_rows) = (Vec::new(), UnsortedRows::Unchecked);
        options.row_group_rows = usize::MAX;
        let expected = written(&schema, &batches, options.clone());
        let mut writer = Writer::new(Vec::new(), schema.clone(), options).unwrap();
        let encoders = writer.column_encoders(0).unwrap();
        let chunks = std::thread::scope(|scope| {
            let tasks = encoders.into_iter().map(|mut encoder| {
                let batches = &batches;
                scope.spawn(move || {
                    for batch in batches {
                        encoder.write(batch)?;
                    }
                    encoder.finish()
                })
            });
            let tasks: Vec<_> = tasks.collect();
            let chunks = tasks.into_iter().map(|task| task.join().unwrap());
            chunks.collect::<herringbone::Result<Vec<_>>>()
        });
        let Ok(chunks) = chunks else {
            assert!(expected.is_err());
            continue;
        };
        writer.append_row_group(chunks).unwrap();
        let (_, bytes) = writer.finish_into().unwrap();
        let read = ParquetFile::from_bytes(bytes)
            .unwrap()
            .read(ReadOptions::new())
            .unwrap();
        let read: Vec<_> = read.collect::<Result<_, _>>().unwrap();
        assert_eq!(difference(&batches, &read, &schema), None, "seed {seed}");
    }
}

#[test]
fn encoded_for_another_place_are_refused() {
    let schema = batch(0..1).schema();
    let writer = || Writer::new(Vec::new(), schema.clone(), WriteOptions::new()).unwrap();
    let encode = |writer: &mut Writer<Vec<u8>>, rows: [i64; 2]| {
        let encoders = writer.column_encoders(0).unwrap();
        let chunks = encoders.into_iter().zip(rows).map(|(mut encoder, rows)| {
            encoder.write(&batch(0..rows)).unwrap();
            encoder.finish().unwrap()
        });
        chunks.collect::<Vec<_>>()
    };
    let (mut one, mut other) = (writer(), writer());
    let foreign = encode(&mut other, [3, 3]);
    assert!(one.append_row_group(foreign).is_err());
    let mut one = writer();
    let uneven = encode(&mut one, [3, 4]);
    assert!(one.append_row_group(uneven).is_err());
    let mut one = writer();
    let mut swapped = encode(&mut one, [3, 3]);
    swapped.reverse();
    assert!(one.append_row_group(swapped).is_err());
    let mut one = writer();
    let mut few = encode(&mut one, [3, 3]);
    few.pop();
    assert!(one.append_row_group(few).is_err());

    let mut encoder = writer().column_encoders(0).unwrap().remove(0);
    let wrong: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let wrong = RecordBatch::try_from_iter([("id", wrong)]).unwrap();
    assert!(encoder.write(&wrong).is_err());
}
