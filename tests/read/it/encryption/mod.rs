//! Tests whole encrypted files, which we write, read with every driver, verify, and tamper with.

mod key_tools;
mod modules;
mod official;
mod padding;
mod plug_in;
mod changed;
mod round_trip;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use herringbone::arrow::schema::{DataType, Field};
use herringbone::modular_encryption::Decryption;
use herringbone::push::{Poll, PushDecoder};
use herringbone::{
    BloomFilterOptions, ColumnOptions, OpenOptions, ParquetFile, ReadOptions, Result, WriteOptions,
    Writer,
};
use herringbone_arrow::array::types::Int32Type;
use herringbone_inspect::verify::Severity;

/// The number of rows in [`batch`].
pub(super) const ROWS: usize = 5_000;

/// Returns numbers, text with few and with many distinct values, lists and a group, all with nulls.
pub(super) fn batch() -> RecordBatch {
    let rows = 0..ROWS as i32;
    let id = Int64Array::from_iter_values(rows.clone().map(i64::from));
    let city = rows
        .clone()
        .map(|row| (row % 7 != 0).then(|| format!("city {}", row % 20)));
    let name = rows.clone().map(|row| format!("name {row}"));
    let list = rows.clone().map(|row| {
        (row % 5 != 0).then(|| (0..row % 4).map(move |item| (item != 2).then_some(row + item)))
    });
    let salary = rows.clone().map(|row| Some(f64::from(row) / 3.0));
    let active = rows.map(|row| Some(row % 3 == 0));
    let pay: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("salary", DataType::Float64, true)),
            Arc::new(salary.collect::<Float64Array>()),
        ),
        (
            Arc::new(Field::new("active", DataType::Boolean, true)),
            Arc::new(active.collect::<BooleanArray>()),
        ),
    ];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(id)),
        ("city", Arc::new(city.collect::<StringArray>())),
        ("name", Arc::new(StringArray::from_iter_values(name))),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(list)),
        ),
        ("pay", Arc::new(StructArray::from(pay))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Returns options for pages of 300 rows in row groups of 2000 rows, with bloom filters on all columns.
pub(super) fn options() -> WriteOptions {
    let filter = BloomFilterOptions::new(0.01);
    let with_filter = || ColumnOptions::new().bloom_filter(filter);
    let options = WriteOptions::new()
        .row_group_rows(2000)
        .columns(ColumnOptions::new().page_rows(300));
    let columns = ["id", "city", "name", "list", "pay.salary"];
    let add = |options: WriteOptions, column| options.column(column, with_filter());
    columns.into_iter().fold(options, add)
}

pub(super) fn write(batch: &RecordBatch, options: WriteOptions) -> Result<Bytes> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    Ok(Bytes::from(bytes))
}

pub(super) fn open(bytes: &Bytes, keys: &Arc<dyn Decryption>) -> Result<ParquetFile> {
    let options = OpenOptions::new().decryption(keys.clone());
    ParquetFile::from_source(bytes.clone(), options)
}

pub(super) fn read(file: &ParquetFile, options: &ReadOptions) -> Result<Vec<RecordBatch>> {
    let mut reader = file.read(options.clone())?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Reads a file whose keys are known. Checks that all drivers return the same batches, and returns them.
pub(crate) fn by_all(file: &ParquetFile, options: impl Fn() -> ReadOptions) -> Vec<RecordBatch> {
    let bytes = file.source().read(0..file.source().len()).unwrap();
    let expected = read(file, &options().threads(1)).unwrap();
    crate::remote::compare(file, &options());
    for threads in [2, 4] {
        assert_eq!(read(file, &options().threads(threads)).unwrap(), expected);
    }
    let no_key = |_: &_| panic!("a key is asked for that was given");
    let pushed = pushed(&bytes, file, &options(), no_key);
    assert_eq!(pushed.unwrap(), expected);
    expected
}

/// Reads with the push decoder. `key` returns the keys that the decoder needs.
pub(super) fn pushed(
    bytes: &Bytes,
    file: &ParquetFile,
    options: &ReadOptions,
    key: impl Fn(&herringbone::modular_encryption::KeyRequest) -> Vec<u8>,
) -> Result<Vec<RecordBatch>> {
    let mut decoder = PushDecoder::new(Arc::new(file.plan(options)?));
    let mut batches = Vec::new();
    loop {
        match decoder.poll()? {
            Poll::Batch(batch) => batches.push(batch),
            Poll::NeedsKeys(requests) => {
                for request in requests {
                    decoder.supply_key(&request, &key(&request))?;
                }
            }
            Poll::Needs(needs) => {
                for range in needs.now {
                    let slice = bytes.slice(range.start as usize..range.end as usize);
                    decoder.supply(range.start, &slice);
                }
            }
            Poll::Finished => return Ok(batches),
        }
    }
}

/// Returns the values of all batches, column by column.
pub(super) fn joined(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let columns = batches.first().map_or(0, RecordBatch::num_columns);
    let lines = |column| {
        let arrays = batches.iter().map(move |batch| batch.column(column));
        arrays
            .flat_map(|array| crate::canonical::lines(array))
            .collect()
    };
    (0..columns).map(lines).collect()
}

/// Reads the file in every way, and compares the rows with the written ones.
pub(super) fn check_every_way(bytes: &Bytes, keys: &Arc<dyn Decryption>, expected: &RecordBatch) {
    let file = open(bytes, keys).unwrap();
    let all = joined(std::slice::from_ref(expected));
    for threads in [1, 2, 8] {
        let options = ReadOptions::new().threads(threads);
        assert_eq!(joined(&read(&file, &options).unwrap()), all, "{threads}");
    }
    let options = ReadOptions::new();
    let no_key = |_: &_| panic!("a key is asked for that was given");
    assert_eq!(
        joined(&pushed(bytes, &file, &options, no_key).unwrap()),
        all
    );
    // These reads skip pages, so the ordinals of pages matter.
    let few = ReadOptions::new().row_ranges(vec![1100..1150, 1900..2100, 4999..5000]);
    let rows = [(1100, 50), (1900, 200), (4999, 1)];
    let parts = rows.map(|(from, length)| expected.slice(from, length));
    assert_eq!(joined(&read(&file, &few).unwrap()), joined(&parts));
    check_indexes(&file, expected);
    assert_eq!(errors(&file), Vec::<String>::new());
}

/// Returns the errors that `verify` reports.
fn errors(file: &ParquetFile) -> Vec<String> {
    herringbone_inspect::verify(file)
        .map(Result::unwrap)
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.to_string())
        .collect()
}

/// Checks page indexes and bloom filters against the data.
fn check_indexes(file: &ParquetFile, expected: &RecordBatch) {
    use herringbone_core::Step;
    use herringbone_core::bloom_filter::hash;

    let schema = file.parquet_schema();
    let id = (0..schema.leaves().len()).find(|leaf| schema.column_path(*leaf) == "id");
    let id = id.unwrap();
    for row_group in 0..file.metadata().num_row_groups() {
        let offsets = file.offset_index(row_group, id).unwrap().unwrap();
        let pages: Vec<_> = file
            .pages(row_group, id)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let data = pages
            .iter()
            .filter(|page| page.header.dictionary_page_header.is_none());
        let starts: Vec<_> = data.map(|page| page.start.offset as i64).collect();
        let said: Vec<_> = offsets
            .page_locations
            .iter()
            .map(|page| page.offset)
            .collect();
        assert_eq!(said, starts);
        let bounds = file.column_index(row_group, id).unwrap().unwrap();
        let ids = expected
            .column(0)
            .as_any()
            .downcast_ref::<Int64Array>()
            .unwrap();
        let mut filter = file.bloom_filter(row_group, id).unwrap().unwrap();
        for (page, location) in offsets.page_locations.iter().enumerate() {
            let row = row_group * 2000 + location.first_row_index as usize;
            let first = ids.value(row).to_le_bytes();
            assert_eq!(bounds.min_values.get(page), Some(&first[..]));
            let found = loop {
                match filter.poll(hash(&first), file.limits()).unwrap() {
                    Step::Ready(found) => break found,
                    Step::Need(range) => {
                        let bytes = file.source().read(range.clone()).unwrap();
                        filter.supply(range.start, bytes);
                    }
                }
            };
            assert!(found);
        }
    }
}

/// Returns the bytes of an official encrypted file.
fn official_file(name: &str) -> Option<Bytes> {
    let path = crate::files::official()?.join("data");
    let path = path.join(Path::new(&format!("{name}.parquet.encrypted")));
    Some(std::fs::read(path).unwrap().into())
}
