//! Tests reads that continue after damage. They lose only the damaged parts, and report the loss.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::format::{CompressionCodec, Repetition, Type};
use herringbone::push::{Poll, PushDecoder};
use herringbone::{
    ColumnOptions, Loss, Losses, Lost, OnError, ParquetFile, ReadOptions, WriteOptions, Writer,
};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{
    Array, ArrayRef, Int32Array, RecordBatch, StringArray, StructArray, cast::AsArray,
};
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::crafted;

/// The numbers of rows in the file, in a row group and in a page.
const ROWS: i32 = 90_000;
const GROUP: i32 = 30_000;
const PAGE: i32 = 5_000;
/// The number of rows in a batch, which is half a page.
const BATCH: usize = 2_500;

/// Writes the file. `a` is the row number, or null in each seventh row, `b` is one of 100 texts, and `c` is the row
/// number, and never null.
fn file() -> Vec<u8> {
    let a: Int32Array = (0..ROWS).map(|row| (row % 7 > 0).then_some(row)).collect();
    let b: StringArray = (0..ROWS)
        .map(|row| Some(format!("{}", row % 100)))
        .collect();
    let c: Int32Array = (0..ROWS).collect();
    let schema = Arc::new(Schema::new(vec![
        Field::new("a", DataType::Int32, true),
        Field::new("b", DataType::Utf8, true),
        Field::new("c", DataType::Int32, false),
    ]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(a), Arc::new(b), Arc::new(c)]);
    let pages = ColumnOptions::new().page_rows(PAGE as usize);
    let plain = pages.clone().dictionary(false);
    let options = WriteOptions::new()
        .row_group_rows(GROUP as usize)
        .column("a", plain.clone())
        .column("b", pages)
        .column("c", plain);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, schema, options).unwrap();
    writer.write(&batch.unwrap()).unwrap();
    writer.finish().unwrap();
    file
}

/// Returns the file with one bit flipped in the body of a page.
fn damaged(row_group: usize, leaf: usize, page: usize) -> Bytes {
    damaged_of(file(), row_group, leaf, page).into()
}

fn damaged_of(mut bytes: Vec<u8>, row_group: usize, leaf: usize, page: usize) -> Vec<u8> {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let page = file
        .pages(row_group, leaf)
        .unwrap()
        .nth(page)
        .unwrap()
        .unwrap();
    let body = page.start.offset as usize + page.header_bytes;
    bytes[body + page.header.compressed_page_size as usize / 2] ^= 0x10;
    bytes
}

/// The result of a read, which consists of the batches and the losses.
#[derive(Debug, PartialEq)]
struct Outcome {
    batches: Vec<RecordBatch>,
    losses: Vec<(String, Lost)>,
}

fn told(losses: &[Loss]) -> Vec<(String, Lost)> {
    let told = losses
        .iter()
        .map(|loss| (loss.error.to_string(), loss.lost));
    told.collect()
}

fn read(file: &Bytes, options: ReadOptions) -> Result<Outcome, String> {
    let file = ParquetFile::from_bytes(file.clone()).unwrap();
    crate::remote::compare_on_threads(&file, &options);
    let mut reader = file.read(options).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        batches.push(batch);
    }
    assert_eq!(reader.rows_left(), 0);
    let losses = told(reader.losses().kept());
    Ok(Outcome { batches, losses })
}

fn push(file: &Bytes, options: &ReadOptions) -> Result<Outcome, String> {
    let plan = ParquetFile::from_bytes(file.clone()).unwrap().plan(options);
    let mut decoder = PushDecoder::new(Arc::new(plan.unwrap()));
    let mut batches = Vec::new();
    loop {
        match decoder.poll().map_err(|error| error.to_string())? {
            Poll::Batch(batch) => batches.push(batch),
            Poll::Needs(needs) => {
                for range in needs.now {
                    let bytes = file.slice(range.start as usize..range.end as usize);
                    decoder.supply(range.start, &bytes);
                }
            }
            Poll::NeedsKeys(request) => return Err(format!("{request:?}")),
            Poll::Finished => {
                let losses = told(decoder.losses().kept());
                return Ok(Outcome { batches, losses });
            }
        }
    }
}

/// Returns the result of a read, after checking that it is identical with all drivers.
fn outcome(file: &Bytes, on_error: OnError) -> Result<Outcome, String> {
    outcome_of(file, ReadOptions::new().on_error(on_error))
}

fn outcome_of(file: &Bytes, options: ReadOptions) -> Result<Outcome, String> {
    let options = options.batch_size(BATCH);
    let outcome = read(file, options.clone().threads(1));
    let mut others = vec![push(file, &options)];
    others.extend([2, 3].map(|threads| read(file, options.clone().threads(threads))));
    for other in others {
        match (&outcome, &other) {
            (Ok(outcome), Ok(other)) => {
                assert_eq!(outcome.losses, other.losses);
                let rows = |outcome: &Outcome| -> Vec<usize> {
                    outcome.batches.iter().map(RecordBatch::num_rows).collect()
                };
                assert_eq!(rows(outcome), rows(other));
                assert!(outcome.batches == other.batches);
            }
            (outcome, other) => assert!(outcome == other),
        }
    }
    outcome
}

/// Checks that the batches contain these rows of the file, in which the rows in `nulls` must be null in the given
/// column.
fn check(outcome: &Outcome, rows: &[Range<i32>], column: usize, nulls: Range<i32>) {
    let mut wanted = rows.iter().cloned().flatten();
    for batch in &outcome.batches {
        let (a, b) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1));
        let (b, c) = (
            b.as_string::<i32>(),
            batch.column(2).as_primitive::<Int32Type>(),
        );
        for slot in 0..batch.num_rows() {
            let row = wanted.next().unwrap();
            let is_lost = |of| column == of && nulls.contains(&row);
            assert_eq!(c.value(slot), row);
            let value = (row % 7 > 0 && !is_lost(0)).then_some(row);
            assert_eq!(a.is_valid(slot).then(|| a.value(slot)), value);
            let text = (!is_lost(1)).then(|| format!("{}", row % 100));
            assert_eq!(b.is_valid(slot).then(|| b.value(slot).to_owned()), text);
        }
    }
    assert_eq!(wanted.next(), None);
}

/// Checks the location of the only loss, and returns its extent.
fn only_loss(outcome: &Outcome, place: &str) -> Lost {
    let [(error, lost)] = &outcome.losses[..] else {
        panic!("{:?}", outcome.losses);
    };
    assert!(error.contains(place), "{error}");
    *lost
}

#[test]
fn a_sound_file_loses_nothing() {
    for on_error in [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage] {
        let outcome = outcome(&file().into(), on_error).unwrap();
        assert_eq!(outcome.losses, []);
        check(&outcome, &[0..ROWS], 0, 0..0);
    }
}

#[test]
fn a_damaged_page() {
    // This is the third page of `a` in the second row group.
    let file = damaged(1, 0, 2);
    let place = "column a, row group 1, page 2, offset";
    let (start, end) = (GROUP + 2 * PAGE, GROUP + 3 * PAGE);

    let error = outcome(&file, OnError::Fail).unwrap_err();
    assert!(error.contains(place), "{error}");

    let skipped = outcome(&file, OnError::SkipRowGroup).unwrap();
    check(&skipped, &[0..start, 2 * GROUP..ROWS], 0, 0..0);
    let lost = Lost::Rows((2 * GROUP - start) as u64);
    assert_eq!(only_loss(&skipped, place), lost);

    let nulls = outcome(&file, OnError::NullPage).unwrap();
    check(&nulls, &[0..ROWS], 0, start..end);
    assert_eq!(only_loss(&nulls, place), Lost::Values(PAGE as u64));
}

#[test]
fn a_damaged_dictionary_takes_its_pages_along() {
    let file = damaged(0, 1, 0);
    let place = "column b, row group 0, page 0, offset";
    let skipped = outcome(&file, OnError::SkipRowGroup).unwrap();
    check(&skipped, &[GROUP..ROWS], 0, 0..0);
    assert_eq!(only_loss(&skipped, place), Lost::Rows(GROUP as u64));

    let nulls = outcome(&file, OnError::NullPage).unwrap();
    check(&nulls, &[0..ROWS], 1, 0..GROUP);
    assert_eq!(nulls.losses[0].1, Lost::Values(0));
    assert!(nulls.losses[0].0.contains(place));
    let values: u64 = nulls
        .losses
        .iter()
        .map(|(error, lost)| match lost {
            Lost::Values(values) if error.contains("column b, row group 0, page") => *values,
            other => panic!("{error}: {other:?}"),
        })
        .sum();
    assert_eq!(values, GROUP as u64);
}

#[test]
fn what_cannot_be_null_costs_the_row_group() {
    let file = damaged(2, 2, 5);
    let outcome = outcome(&file, OnError::NullPage).unwrap();
    check(&outcome, &[0..ROWS - PAGE], 0, 0..0);
    let place = "column c, row group 2, page 5, offset";
    assert_eq!(only_loss(&outcome, place), Lost::Rows(PAGE as u64));
}

#[test]
fn selected_rows_are_counted() {
    let file = damaged(1, 0, 2);
    let options = ReadOptions::new()
        .row_ranges(vec![10..20, GROUP as u64..ROWS as u64 - 10])
        .on_error(OnError::SkipRowGroup)
        .batch_size(BATCH);
    let outcome = read(&file, options).unwrap();
    let rows = [10..20, GROUP..GROUP + 2 * PAGE, 2 * GROUP..ROWS - 10];
    check(&outcome, &rows, 0, 0..0);
    let lost = only_loss(&outcome, "column a, row group 1, page 2");
    assert_eq!(lost, Lost::Rows((GROUP - 2 * PAGE) as u64));
}

#[test]
fn a_filter_loses_the_same_on_any_number_of_threads() {
    // We damage the tested column and columns that are only emitted, in the first, the middle and the last row group.
    for (leaf, row_group) in [(2, 0), (2, 1), (0, 1), (0, 2), (1, 2)] {
        let file = damaged(row_group, leaf, 2);
        for on_error in [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage] {
            let options = ReadOptions::new().on_error(on_error);
            let options = options.filter(col("c").ge(1_000).and(col("c").lt(ROWS - 1_000)));
            let outcome = outcome_of(&file, options);
            if on_error == OnError::Fail {
                outcome.unwrap_err();
                continue;
            }
            let outcome = outcome.unwrap();
            assert!(!outcome.losses.is_empty());
            // Exactly the selected rows of undamaged row groups are emitted, each of them once.
            let values =
                |batch: &RecordBatch| batch["c"].as_primitive::<Int32Type>().values().to_vec();
            let rows: Vec<i32> = outcome.batches.iter().flat_map(values).collect();
            assert!(rows.is_sorted_by(|one, next| one < next));
            let is_sound = |row: &i32| row / GROUP != row_group as i32;
            let sound: Vec<i32> = rows.iter().copied().filter(is_sound).collect();
            assert_eq!(
                sound,
                (1_000..ROWS - 1_000).filter(is_sound).collect::<Vec<_>>()
            );
            // All other rows are emitted or lost.
            let lost: u64 = outcome
                .losses
                .iter()
                .map(|(_, lost)| match lost {
                    Lost::Rows(rows) => *rows,
                    Lost::Values(_) => 0,
                })
                .sum();
            let all = rows.len() as u64 + lost;
            assert!(all >= (ROWS - 2_000) as u64 && all <= ROWS as u64, "{all}");
        }
    }
}

/// If there is too little memory for several threads, one thread continues, and still reports earlier losses.
#[test]
fn a_filter_loses_the_same_with_little_memory() {
    // No batch comes from the first row group.
    let file = damaged(0, 2, 0);
    for memory in [50, 100, 150, 200, 300, 400, 600] {
        let options = ReadOptions::new().on_error(OnError::SkipRowGroup);
        let mut options = options.filter(col("c").ge(1_000));
        options.limits.get_or_insert_default().memory_bytes = memory * 1000;
        let outcome = outcome_of(&file, options).unwrap();
        assert!(
            outcome.losses[0].0.contains("row group 0"),
            "{memory} KB: {:?}",
            outcome.losses
        );
    }
}

#[test]
fn a_truncated_footer_is_an_error_all_the_same() {
    let file = file();
    assert!(ParquetFile::from_bytes(file[..file.len() - 9].to_vec()).is_err());
}

/// This small file has very many pages, and all are damaged.
#[test]
fn the_first_losses_are_kept() {
    const PAGES: usize = 12_000;
    let page = |_| {
        let mut page = crafted::Page::v1(6, b"levels and values");
        // This CRC matches no body.
        page.header.crc = Some(1);
        page
    };
    let chunk = || crafted::Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Uncompressed,
        num_values: 6 * PAGES as u64,
        pages: (0..PAGES).map(page).collect(),
    };
    let schema = vec![
        crafted::group("schema", None, 2),
        crafted::leaf("a", Type::Int32, Repetition::Optional),
        crafted::leaf("b", Type::Int32, Repetition::Optional),
    ];
    let rows = 6 * PAGES as u64;
    let bytes = crafted::file(schema, &[(rows, vec![chunk(), chunk()])]);
    let mut all = Vec::new();
    for threads in [1, 2] {
        let options = ReadOptions::new()
            .on_error(OnError::NullPage)
            .threads(threads);
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let mut reader = file.read(options).unwrap();
        let mut nulls = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            nulls += batch
                .columns()
                .iter()
                .map(|column| column.null_count())
                .sum::<usize>();
        }
        assert_eq!(nulls as u64, 2 * rows);
        let losses = reader.losses();
        assert_eq!(losses.kept().len(), Losses::MAX);
        assert_eq!(losses.not_kept(), (2 * PAGES - Losses::MAX) as u64);
        all.push(told(losses.kept()));
    }
    assert_eq!(all[0], all[1]);
    assert!(all[0].iter().all(|(_, lost)| *lost == Lost::Values(6)));
}

/// Writes a file with a struct of two numbers. The struct is null in each third row.
fn structs() -> Vec<u8> {
    let numbers = || Arc::new((0..GROUP).map(Some).collect::<Int32Array>());
    let is_valid: Vec<bool> = (0..GROUP).map(|row| row % 3 > 0).collect();
    let fields = vec![
        Field::new("p", DataType::Int32, true),
        Field::new("q", DataType::Int32, true),
    ];
    let columns: Vec<ArrayRef> = vec![numbers(), numbers()];
    let structs = StructArray::new(fields.into(), columns, Some(is_valid.into()));
    let batch = RecordBatch::try_from_iter([("s", Arc::new(structs) as ArrayRef)]).unwrap();
    let options = WriteOptions::new().columns(ColumnOptions::new().page_rows(PAGE as usize));
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// A struct's nulls are known as long as one of its columns is undamaged.
#[test]
fn a_damaged_column_of_a_struct_leaves_its_nulls() {
    for leaf in [0, 1] {
        let sound = ParquetFile::from_bytes(structs()).unwrap();
        let pages = sound.offset_index(0, leaf).unwrap().unwrap().page_locations;
        let first_row = |page: usize| pages[page].first_row_index as i32;
        let lost = first_row(2)..first_row(3);
        let file: Bytes = damaged_of(structs(), 0, leaf, 2).into();
        let outcome = outcome(&file, OnError::NullPage).unwrap();
        let mut row = 0;
        for batch in &outcome.batches {
            let structs = batch["s"].as_struct();
            for slot in 0..batch.num_rows() {
                assert_eq!(structs.is_valid(slot), row % 3 > 0, "row {row}");
                let is_lost = lost.contains(&row);
                for member in 0..2 {
                    let column = structs.column(member);
                    let is_known = row % 3 > 0 && (member != leaf || !is_lost);
                    assert_eq!(column.is_valid(slot), is_known, "row {row}");
                }
                row += 1;
            }
        }
        assert_eq!(row, GROUP);
        let values = Lost::Values(lost.len() as u64);
        assert_eq!(only_loss(&outcome, "row group 0"), values);
    }
}
