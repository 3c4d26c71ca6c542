//! Tests filters on dictionaries with few keys. If the file has no dictionary page, each batch of the column has its
//! own dictionary, and the rows that a filter selects from many of them must fit into the keys.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, Int64Type};
use herringbone::arrow::array::{
    Array, ArrayRef, DictionaryArray, Int64Array, ListArray, PrimitiveArray, RecordBatch,
    StringArray, StructArray,
};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::Field;
use herringbone::filter::{Predicate, col, col_at};
use herringbone::{ParquetFile, ReadOptions};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::extensions::whole::by_all;

/// Returns a dictionary in which slot i is `cN`, with N = i modulo `values`. Each eleventh slot is null.
fn categories<K: ArrowDictionaryKeyType>(rows: usize, values: usize) -> ArrayRef {
    use herringbone::arrow::buffer::ArrowNativeType;
    let texts: StringArray = (0..values).map(|i| Some(format!("c{i}"))).collect();
    let keys = (0..rows).map(|row| (row % 11 != 10).then(|| row % values));
    let keys = keys.map(|key| key.map(|key| K::Native::from_usize(key).unwrap()));
    let keys: PrimitiveArray<K> = keys.collect();
    Arc::new(DictionaryArray::<K>::try_new(keys, Arc::new(texts)).unwrap())
}

/// Returns a file without dictionary pages. Its columns are the row number, the categories, and the categories in
/// structs and lists.
fn file<K: ArrowDictionaryKeyType>(rows: usize, values: usize) -> ParquetFile {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let city = categories::<K>(rows, values);
    let field = |name: &str| Field::new(name, city.data_type().clone(), true);
    let group = StructArray::new(vec![field("city")].into(), vec![city.clone()], None);
    let lengths = OffsetBuffer::from_lengths(vec![1; rows]);
    let list = ListArray::new(Arc::new(field("element")), lengths, city.clone(), None);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("id", ids, false),
        ("city", city, true),
        ("s", Arc::new(group), true),
        ("l", Arc::new(list), true),
    ]);
    let batch = batch.unwrap();
    // Our writer would record wider keys, which are enough for each batch, so another one writes the file.
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(rows / 2))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    ParquetFile::from_bytes(bytes).unwrap()
}

fn texts<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> Vec<Option<String>> {
    let data_type = array.data_type();
    let array = array.as_dictionary_opt::<K>();
    let array = array.unwrap_or_else(|| panic!("{data_type} is not a dictionary"));
    let array = array.downcast_dict::<StringArray>().unwrap();
    let texts = array.into_iter();
    texts.map(|text| text.map(str::to_owned)).collect()
}

/// Reads the rows that a filter selects, and checks the values of all columns by their row numbers.
fn check<K: ArrowDictionaryKeyType>(
    file: &ParquetFile,
    values: usize,
    filter: &Predicate,
    is_wanted: impl Fn(usize) -> bool,
) {
    let rows = usize::try_from(file.metadata().num_rows()).unwrap();
    let wanted: Vec<usize> = (0..rows).filter(|row| is_wanted(*row)).collect();
    for columns in [
        &["id", "city", "s", "l"][..],
        &["city", "s", "l"],
        &["city"],
    ] {
        let batches = by_all(file, || {
            let columns = columns.iter().copied();
            ReadOptions::new().columns(columns).filter(filter.clone())
        });
        let mut left = wanted.iter();
        for batch in &batches {
            let city = batch.column_by_name("city").unwrap();
            let found = texts::<K>(city);
            for (slot, found) in found.iter().enumerate() {
                let row = *left.next().unwrap();
                let expected = (row % 11 != 10).then(|| format!("c{}", row % values));
                assert_eq!(*found, expected, "row {row}");
                if let Some(ids) = batch.column_by_name("id") {
                    assert_eq!(ids.as_primitive::<Int64Type>().value(slot), row as i64);
                }
            }
            if let Some(group) = batch.column_by_name("s") {
                assert_eq!(texts::<K>(group.as_struct().column(0)), found);
                let list = batch.column_by_name("l").unwrap().as_list::<i32>();
                let lists = (0..list.len()).flat_map(|row| texts::<K>(&list.value(row)));
                assert_eq!(lists.collect::<Vec<_>>(), found);
            }
        }
        assert_eq!(left.next(), None, "{filter}");
    }
}

fn all_filters<K: ArrowDictionaryKeyType>(rows: usize, values: usize) {
    let file = file::<K>(rows, values);
    let is = move |row: usize, value: usize| row % values == value && row % 11 != 10;
    let is_null = |row: usize| row % 11 == 10;
    let check = |filter: Predicate, is_wanted: &dyn Fn(usize) -> bool| {
        check::<K>(&file, values, &filter, is_wanted);
    };
    check(col("city").eq("c1"), &|row| is(row, 1));
    check(col("city").ne("c1"), &|row| !is(row, 1) && !is_null(row));
    check(col("city").is_not_null(), &|row| !is_null(row));
    check(col("city").is_null(), &is_null);
    check(col_at(["s", "city"]).eq("c2"), &|row| is(row, 2));
    check(col("l").any().eq("c3"), &|row| is(row, 3));
    let both = col("city").ne("c1").and(col("id").ge(100));
    check(both, &|row| !is(row, 1) && !is_null(row) && row >= 100);
}

#[test]
fn keys_of_8_bits() {
    all_filters::<Int8Type>(2000, 5);
    all_filters::<Int8Type>(2000, 128);
}

#[test]
fn keys_of_16_bits() {
    all_filters::<Int16Type>(80_000, 1000);
}
