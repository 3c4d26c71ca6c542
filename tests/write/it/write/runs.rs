//! Run-end encoded columns are read back as run-end encoded columns.

use std::sync::Arc;

use herringbone::{ReadOptions, WriteOptions};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};
use herringbone_schema::SchemaOptions;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, encode_arrow_schema};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::arrays;
use super::compare::{difference, read, written};
use super::schemas::leaf_types;
use crate::batches::Random;
use crate::canonical;

fn runs(ends: DataType, values: DataType) -> DataType {
    let ends = Arc::new(Field::new("run_ends", ends, false));
    DataType::RunEndEncoded(ends, Arc::new(Field::new("values", values, true)))
}

fn of_one(field: Field, array: ArrayRef) -> RecordBatch {
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

/// Returns the type at every position, which is alone, in structs, in lists and in maps.
fn places(runs: &DataType) -> Vec<Field> {
    use DataType as T;
    let child = |nullable| Arc::new(Field::new("item", runs.clone(), nullable));
    let fields = Fields::from(vec![
        Field::new("p", runs.clone(), true),
        Field::new("q", runs.clone(), false),
    ]);
    let entries = Fields::from(vec![
        Field::new("key", T::Int32, false),
        Field::new("value", runs.clone(), true),
    ]);
    let entries = Arc::new(Field::new("key_value", T::Struct(entries), false));
    vec![
        Field::new("a", runs.clone(), true),
        Field::new("b", runs.clone(), false),
        Field::new("c", T::Struct(fields.clone()), true),
        Field::new("d", T::List(child(true)), true),
        Field::new("e", T::LargeListView(child(false)), true),
        Field::new("f", T::FixedSizeList(child(true), 3), true),
        Field::new("g", T::FixedSizeList(child(false), 2), true),
        Field::new("h", T::Map(entries, false), true),
        Field::new(
            "i",
            T::List(Arc::new(Field::new("item", T::Struct(fields), true))),
            true,
        ),
    ]
}

fn check(random: &mut Random, leaf: &DataType, ends: &DataType) {
    let schema: SchemaRef = Arc::new(Schema::new(places(&runs(ends.clone(), leaf.clone()))));
    let batches = [70, 0, 30].map(|rows| arrays::batch(random, &schema, rows));
    let options = WriteOptions::new().row_group_rows(80);
    let file = written(&schema, &batches, options).unwrap();
    for batch_size in [1, 7, 1000] {
        let options = ReadOptions::default().batch_size(batch_size);
        for threads in [1, 2] {
            let (is, read) = read(&file, options.clone().threads(threads)).unwrap();
            assert_eq!(is, schema);
            assert_eq!(difference(&batches, &read, &schema), None);
        }
        let (_, read) = read(&file, options.row_ranges(vec![3..5, 20..70, 82..100])).unwrap();
        let wanted = [
            batches[0].slice(3, 2),
            batches[0].slice(20, 50),
            batches[2].slice(12, 18),
        ];
        assert_eq!(difference(&wanted, &read, &schema), None);
    }
}

#[test]
fn every_type_at_every_place() {
    let random = &mut Random(0x5eed);
    let all_ends = [DataType::Int16, DataType::Int32, DataType::Int64];
    for (i, leaf) in leaf_types().iter().enumerate() {
        if *leaf != DataType::Null {
            check(random, leaf, &all_ends[i % 3]);
        }
    }
}

#[test]
fn runs_of_nothing() {
    let values: ArrayRef = Arc::new(NullArray::new(2));
    let array = RunArray::<Int32Type>::try_new(&vec![2, 5].into(), &values).unwrap();
    let field = Field::new("a", array.data_type().clone(), true);
    let batch = of_one(field, Arc::new(array));
    let file = written(
        &batch.schema(),
        std::slice::from_ref(&batch),
        WriteOptions::new(),
    )
    .unwrap();
    let (is, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(is, batch.schema());
    assert_eq!(ends::<Int32Type>(read[0].column(0)), [5]);
    assert_eq!(canonical::lines(read[0].column(0)), ["null"; 5]);
}

fn ends<R: RunEndIndexType>(array: &ArrayRef) -> Vec<R::Native> {
    array.as_run::<R>().run_ends().sliced_values().collect()
}

/// Returns the run ends and values that are read back after each of these slots was written as a run of its own.
fn read_ends(slots: &ArrayRef) -> (Vec<i64>, ArrayRef) {
    let each: Int64Array = (1..=slots.len() as i64).collect();
    let array = RunArray::<Int64Type>::try_new(&each, slots).unwrap();
    let batch = of_one(
        Field::new("a", array.data_type().clone(), true),
        Arc::new(array),
    );
    let file = written(
        &batch.schema(),
        std::slice::from_ref(&batch),
        WriteOptions::new(),
    )
    .unwrap();
    let (_, read) = read(&file, ReadOptions::default()).unwrap();
    let array = read[0].column(0).clone();
    (ends::<Int64Type>(&array), array)
}

#[test]
fn neighbours_that_are_the_same_make_a_run() {
    let nan = f64::from_bits(0x7ff8_0000_0000_0001);
    let floats = vec![
        Some(0.0),
        Some(0.0),
        Some(-0.0),
        None,
        None,
        Some(f64::NAN),
        Some(f64::NAN),
        Some(nan),
        Some(1.0),
    ];
    let long = "longer than a view holds";
    let texts = [
        Some(long),
        Some(long),
        Some("longer than a view hold!"),
        None,
        Some(""),
        Some(""),
    ];
    let cases: [(ArrayRef, &[i64]); 6] = [
        (Arc::new(Float64Array::from(floats)), &[2, 3, 5, 7, 8, 9]),
        (Arc::new(StringArray::from_iter(texts)), &[2, 3, 4, 6]),
        (Arc::new(StringViewArray::from_iter(texts)), &[2, 3, 4, 6]),
        (
            Arc::new(BooleanArray::from(vec![
                Some(true),
                Some(true),
                Some(false),
                None,
            ])),
            &[2, 3, 4],
        ),
        (Arc::new(Int8Array::from(vec![7; 3000])), &[3000]),
        (Arc::new(Int32Array::from(vec![None; 3000])), &[3000]),
    ];
    for (slots, want) in cases {
        let (ends, array) = read_ends(&slots);
        assert_eq!(ends, want, "{}", slots.data_type());
        assert_eq!(canonical::lines(&array), canonical::lines(&slots));
        assert!(array.nulls().is_none());
    }
}

#[test]
fn batches_end_where_run_ends_do() {
    let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..30));
    let ends: Int16Array = (1..=30).map(|i| i * 1000).collect();
    let array = RunArray::<Int16Type>::try_new(&ends, &values).unwrap();
    let field = Field::new("a", array.data_type().clone(), true);
    let batch = of_one(field, Arc::new(array));
    let batches = vec![batch; 4];
    let file = written(&batches[0].schema(), &batches, WriteOptions::new()).unwrap();
    for batch_size in [8192, 50_000, 1_000_000] {
        let (is, read) = read(&file, ReadOptions::default().batch_size(batch_size)).unwrap();
        assert_eq!(is, batches[0].schema());
        assert!(read.iter().all(|batch| batch.num_rows() <= 32_767));
        assert_eq!(difference(&batches, &read, &is), None);
    }
}

/// The elements of these rows together exceed the range of run ends, in pages that end within rows.
#[test]
fn batches_of_lists_end_where_run_ends_do() {
    let lists = |lengths: &[usize]| {
        let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..20));
        let total: usize = lengths.iter().sum();
        let step = total.div_ceil(20);
        let ends: Int16Array = (1..=20).map(|i| (i * step) as i16).collect();
        let elements = RunArray::<Int16Type>::try_new(&ends, &values).unwrap();
        let item = Arc::new(Field::new("item", elements.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        let elements = Arc::new(elements.slice(0, total));
        let array: ArrayRef = Arc::new(ListArray::new(item, offsets, elements, None));
        of_one(Field::new("a", array.data_type().clone(), true), array)
    };
    let mut batches = vec![lists(&[3000; 10]); 5];
    batches.extend(vec![lists(&[1, 16_000, 7, 900]); 4]);
    let file = written(&batches[0].schema(), &batches, WriteOptions::new()).unwrap();
    let (is, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(is, batches[0].schema());
    assert_eq!(difference(&batches, &read, &is), None);
}

/// Null lists occupy slots in lists of a fixed size, but they add no runs.
#[test]
fn null_lists_of_fixed_size() {
    let values: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z"]));
    let array = RunArray::<Int16Type>::try_new(&vec![5, 6, 12].into(), &values).unwrap();
    let item = Arc::new(Field::new("item", array.data_type().clone(), false));
    for (valid, want) in [
        ([false, true, true, false, true, false], &[5, 6, 12][..]),
        ([false, false, true, true, true, false], &[5, 6, 12]),
        ([true; 6], &[5, 6, 12]),
        ([false; 6], &[2, 4, 6, 8, 10, 12]),
    ] {
        let nulls = Some(NullBuffer::from_iter(valid));
        let lists = FixedSizeListArray::new(item.clone(), 2, Arc::new(array.clone()), nulls);
        let field = Field::new("a", lists.data_type().clone(), true);
        let batch = of_one(field, Arc::new(lists));
        let batches = std::slice::from_ref(&batch);
        let file = written(&batch.schema(), batches, WriteOptions::new()).unwrap();
        let (is, read) = read(&file, ReadOptions::default()).unwrap();
        assert_eq!(is, batch.schema());
        assert_eq!(difference(batches, &read, &is), None);
        let lists = read[0].column(0).as_fixed_size_list();
        assert_eq!(ends::<Int16Type>(lists.values()), want);
        assert_eq!(lists.values().len(), 12);
    }
}

/// Writes a batch with the `parquet` crate, with a hint that the crate would not write itself.
fn with_hint(batch: &RecordBatch, hint: &Schema) -> Vec<u8> {
    let hint = KeyValue::new("ARROW:schema".to_owned(), encode_arrow_schema(hint));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![hint]));
    let options = ArrowWriterOptions::new()
        .with_skip_arrow_metadata(true)
        .with_properties(properties.build());
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn files_of_the_parquet_crate() {
    let random = &mut Random(7);
    for leaf in [
        DataType::Int32,
        DataType::Float64,
        DataType::Utf8,
        DataType::Utf8View,
        DataType::Boolean,
        DataType::Decimal128(20, 2),
    ] {
        let field = Field::new("a", runs(DataType::Int32, leaf), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = arrays::batch(random, &schema, 500);
        let file = with_hint(&batch, &schema);
        let (is, read) = read(&file, ReadOptions::default().batch_size(70)).unwrap();
        assert_eq!(is, schema);
        assert_eq!(difference(&[batch], &read, &schema), None);
    }
}

/// Only a wrong hint can lead to this. The error suggests a remedy.
#[test]
fn a_row_of_more_values_than_run_ends_count() {
    let list = |item| {
        let list = DataType::List(Arc::new(Field::new("item", item, true)));
        Field::new("a", list, true)
    };
    let offsets = OffsetBuffer::from_lengths([1, 40_000, 1]);
    let values: ArrayRef = Arc::new(Int32Array::from(vec![7; 40_002]));
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, values, None));
    let batch = of_one(list(DataType::Int32), lists);
    let hint = Schema::new(vec![list(runs(DataType::Int16, DataType::Int32))]);
    let file = with_hint(&batch, &hint);
    let error = read(&file, ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("use_arrow_schema"), "{error}");
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    let (is, read) = read(&file, ReadOptions::default().schema(schema)).unwrap();
    assert_eq!(difference(&[batch], &read, &is), None);
}
