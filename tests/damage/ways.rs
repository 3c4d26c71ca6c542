//! The ways to read a file, and other uses of it.

use bytes::Bytes;
use herringbone::format::BoundingBox;
use herringbone::geospatial::{GeometryColumn, wkt};
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::variant::json::JsonWriter;
use herringbone::variant::shredding::{UnshredOptions, VariantArray, is_variant};
use herringbone::{
    Error, Lost, OnError, ParquetFile, ReadOptions, SchemaOptions, SortingColumnOption, Writer,
};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_inspect::repair::{Repair, RepairOptions};

use crate::subject::{Subject, sorting};

/// The maximum number of rows in a read.
pub(crate) const MAX_ROWS: u64 = 10_000;
/// The number of ways to read rows.
pub(crate) const WAYS: usize = 4;
/// The number of other uses of a file.
pub(crate) const USES: usize = 8;

/// Returns the options for a way to read, which is a plain read, a read with skips, or a read with other Arrow layouts.
/// Each damage uses the next way.
fn options(subject: &Subject, way: usize) -> ReadOptions {
    let mut schema = SchemaOptions::default();
    let options = subject.read_options();
    match way % WAYS {
        0 => options,
        1 => options
            .batch_size(3)
            .row_ranges(vec![1..2, 4..5, 7..30, 33..1000]),
        2 => {
            schema.strings = ByteLayout::Views;
            schema.lists = ListLayout::LargeOffsets;
            options.batch_size(7).offset(2).schema(schema)
        }
        _ => {
            schema.dictionary = DictionaryOutput::Always;
            options.schema(schema)
        }
    }
}

/// Reads all batches. The arrays must be valid for any contents of the file.
pub(crate) fn batches(file: &ParquetFile, options: ReadOptions) -> Result<Vec<RecordBatch>, Error> {
    let mut reader = file.read(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        for column in batch.columns() {
            column.to_data().validate_full().expect("a valid array");
        }
        render(&batch);
        batches.push(batch);
    }
    Ok(batches)
}

/// Formats variants and geometries as text, because their values are only checked when they are accessed.
fn render(batch: &RecordBatch) {
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let mut text = String::new();
        if is_variant(field) {
            let Ok(values) = VariantArray::try_new(column) else {
                continue;
            };
            let (options, mut json) = (UnshredOptions::default(), JsonWriter::new());
            for row in 0..values.len() {
                if let Ok(Some(value)) = values.value(row, &options) {
                    json.write(value.as_variant(), &mut text).ok();
                }
            }
        } else if field.extension_type_name() == Some("geoarrow.wkb")
            && let Some(values) = column.as_binary_opt::<i32>()
        {
            values.iter().flatten().for_each(|value| {
                wkt::write(value, &mut text).ok();
            });
        }
    }
}

/// Reads rows in one of the ways.
pub(crate) fn rows(
    subject: &Subject,
    bytes: Bytes,
    way: usize,
    crc: bool,
) -> Result<Vec<RecordBatch>, Error> {
    let file = subject.open(bytes)?;
    batches(&file, options(subject, way).verify_crc(crc))
}

/// Reads on one thread and on three, and checks that the batches and the error after them are equal.
pub(crate) fn on_threads(bytes: Bytes) -> Result<(), Error> {
    let outcome = |threads: usize| {
        let mut batches = Vec::new();
        let mut read = || {
            let file = ParquetFile::from_bytes(bytes.clone())?;
            let options = ReadOptions::default().threads(threads).limit(1_000_000);
            let mut reader = file.read(options)?;
            while let Some(batch) = reader.next_batch()? {
                batches.push(batch.num_rows());
            }
            Ok::<(), Error>(())
        };
        let result = read();
        (batches, result)
    };
    let (batches, result) = outcome(1);
    let (batches_of_three, of_three) = outcome(3);
    assert_eq!(batches, batches_of_three);
    assert_eq!(format!("{result:?}"), format!("{of_three:?}"));
    result
}

/// Reads all structures other than values, which are indexes, bloom filters and page headers.
pub(crate) fn beside(subject: &Subject, bytes: Bytes) -> Result<(), Error> {
    let file = subject.open(bytes)?;
    let mut wrong = None;
    for row_group in 0..file.metadata().num_row_groups().min(10) {
        for leaf in 0..file.metadata().num_columns(row_group).min(100) {
            let asked = [
                file.metadata().column_chunk(row_group, leaf).map(drop),
                file.column_index(row_group, leaf).map(drop),
                file.offset_index(row_group, leaf).map(drop),
                file.bloom_filter_header(row_group, leaf).map(drop),
                file.pages(row_group, leaf)
                    .and_then(|pages| pages.take(1000).try_for_each(|page| page.map(drop))),
            ];
            wrong = asked.into_iter().find_map(Result::err).or(wrong);
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// Makes one of the other uses of a file, in turn. These are filtered rows, sorted rows, rows in spite of damage,
/// `verify` and `repair`.
pub(crate) fn used(subject: &Subject, bytes: Bytes, turn: usize) -> Result<(), Error> {
    let next = turn / USES;
    match turn % USES {
        0 => filtered(subject, bytes, next),
        1 => filtered(subject, bytes, next + 1),
        2 => {
            let file = subject.open(bytes)?;
            let options = subject.read_options().limit(1_000);
            let sort_by = subject.sort_by.as_ref();
            sort_by.map_or(Ok(()), |by| sorted(&file, options, by))
        }
        3 => going_on(subject, bytes, OnError::SkipRowGroup),
        4 => going_on(subject, bytes, OnError::NullPage),
        5 => {
            let file = subject.open(bytes)?;
            herringbone_inspect::verify(&file).try_for_each(|finding| finding.map(drop))
        }
        6 => repaired(subject, bytes, false),
        _ => repaired(subject, bytes, true),
    }
}

/// Reads filtered rows, with one of the subject's filters or by the file's geometries.
fn filtered(subject: &Subject, bytes: Bytes, turn: usize) -> Result<(), Error> {
    let file = subject.open(bytes)?;
    let geometries = GeometryColumn::of_file(file.parquet_schema(), file.metadata());
    let filter = match geometries.unwrap_or_default().first() {
        Some(geometry) => geometry.intersects(&BoundingBox::new(-5.0, 5.0, -5.0, 5.0))?,
        None if subject.filters.is_empty() => return Ok(()),
        None => subject.filters[turn % subject.filters.len()].clone(),
    };
    batches(&file, subject.read_options().filter(filter)).map(drop)
}

/// Reads rows and sorts them, most of them through temporary files.
pub(crate) fn sorted(
    file: &ParquetFile,
    options: ReadOptions,
    sort_by: &SortingColumnOption,
) -> Result<(), Error> {
    let mut reader = file.read(options.batch_size(16))?;
    let mut writer = Writer::new(Vec::new(), reader.schema(), sorting(sort_by))?;
    while let Some(batch) = reader.next_batch()? {
        writer.write(&batch)?;
    }
    writer.finish().map(drop)
}

/// Reads rows in spite of damage. The emitted and the lost rows must add up to the file's rows.
fn going_on(subject: &Subject, bytes: Bytes, on_error: OnError) -> Result<(), Error> {
    let file = subject.open(bytes)?;
    let mut stated = 0_u64;
    for row_group in 0..file.metadata().num_row_groups() {
        let rows = file.metadata().row_group_header(row_group)?.num_rows;
        stated = stated.saturating_add(rows.unsigned_abs());
    }
    let mut reader = file.read(subject.read_options().on_error(on_error))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows() as u64;
    }
    let lost = reader.losses().kept().iter().map(|loss| match loss.lost {
        Lost::Rows(rows) => rows,
        Lost::Values(_) => 0,
    });
    let lost: u64 = lost.sum();
    if stated <= MAX_ROWS && reader.losses().not_kept() == 0 {
        assert_eq!(
            rows + lost,
            stated,
            "rows that are given and rows that are lost"
        );
    }
    Ok(())
}

/// Reads the rows that `repair` recovers.
fn repaired(subject: &Subject, bytes: Bytes, ignore_footer: bool) -> Result<(), Error> {
    let mut options = RepairOptions::default();
    options.decryption.clone_from(&subject.keys);
    options.ignore_footer = ignore_footer;
    let mut repair = Repair::open(bytes, &options)?;
    let read = ReadOptions::default().threads(1);
    repair.check(&read, |_| {})?;
    let mut reader = repair.read(read)?;
    while reader.next_batch()?.is_some() {}
    Ok(())
}
