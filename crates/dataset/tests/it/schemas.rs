//! Checks the schema of datasets with different files.

use std::sync::Arc;

use futures::executor::block_on;
use herringbone::arrow::array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, cast::AsArray, types,
};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::{DataType, Field, Fields, Schema};
use herringbone::filter::col;
use herringbone::schema::ByteLayout;
use herringbone::{ReadOptions, Result, SchemaOptions};
use herringbone_dataset::{Dataset, DatasetOptions, Partitioning, SchemaFrom};

use crate::files::{Bucket, all, file};

fn open(options: DatasetOptions) -> Result<Dataset> {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let longs: ArrayRef = Arc::new(Int64Array::from(vec![3, 1 << 40]));
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5]));
    let first = RecordBatch::try_from_iter([("x", ints), ("t", texts)]).unwrap();
    // The second file has the partition column, too, but the value in the path wins.
    let second = RecordBatch::try_from_iter([("f", floats), ("x", longs.clone()), ("p", longs)]);
    let files = [
        ("d/p=07/a", file(&first)),
        ("d/p=8/b", file(&second.unwrap())),
    ];
    block_on(Dataset::open_async(
        Bucket::new(files),
        &["d".to_owned()],
        options,
    ))
}

fn fields(dataset: &Dataset) -> Vec<(String, DataType)> {
    let fields = dataset.schema().fields().iter();
    fields
        .map(|fields| (fields.name().clone(), fields.data_type().clone()))
        .collect()
}

fn named(fields: &[(&str, DataType)]) -> Vec<(String, DataType)> {
    fields
        .iter()
        .map(|field| (field.0.to_owned(), field.1.clone()))
        .collect()
}

#[test]
fn the_union_holds_the_values_of_all_files() {
    let dataset = open(DatasetOptions::new().schema(SchemaFrom::Union)).unwrap();
    let expected = [
        ("x", DataType::Int64),
        ("t", DataType::Utf8),
        ("f", DataType::Float64),
        ("p", DataType::Utf8),
    ];
    assert_eq!(fields(&dataset), named(&expected));
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    let x = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<types::Int64Type>().iter());
    assert_eq!(
        x.collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3), Some(1 << 40)]
    );
    assert_eq!(batches[1].column(1).null_count(), 2);
    assert_eq!(batches[0].column(2).null_count(), 2);
    assert_eq!(batches[1].column(3).as_string::<i32>().value(1), "8");
    let filter = ReadOptions::new().filter(col("f").is_null().and(col("p").eq("07")));
    let rows = all(dataset.read(filter).unwrap()).unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
}

#[test]
fn the_first_file_decides_by_default() {
    let dataset = open(DatasetOptions::new()).unwrap();
    let expected = [
        ("x", DataType::Int32),
        ("t", DataType::Utf8),
        ("p", DataType::Utf8),
    ];
    assert_eq!(fields(&dataset), named(&expected));
    // 2^40 is not an Int32.
    let error = all(dataset.read(ReadOptions::new()).unwrap()).unwrap_err();
    assert!(error.message().contains("d/p=8/b"), "{error}");
}

#[test]
fn given_types_apply_to_partition_columns_too() {
    let types = Schema::new(vec![Field::new("p", DataType::Int8, true)]);
    let options = DatasetOptions::new()
        .partitioning(Partitioning::Typed(Arc::new(types)))
        .filter(col("p").gt(7));
    let dataset = open(options.clone()).unwrap();
    assert_eq!(dataset.files().len(), 1);
    let x = Schema::new(vec![Field::new("x", DataType::Float64, true)]);
    let dataset = open(options.schema(SchemaFrom::Given(Arc::new(x)))).unwrap();
    let expected = [("x", DataType::Float64), ("p", DataType::Int8)];
    assert_eq!(fields(&dataset), named(&expected));
}

#[test]
fn arrow_types_are_chosen_for_all_files() {
    let mut types = SchemaOptions::default();
    types.strings = ByteLayout::Views;
    let options = DatasetOptions::new().schema(SchemaFrom::Union).types(types);
    let dataset = open(options).unwrap();
    assert_eq!(dataset.schema().field(1).data_type(), &DataType::Utf8View);
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(batches[0].column(1).as_string_view().value(1), "b");
}

/// In files of cuDF and some others, a column without a null is not nullable.
#[test]
fn a_later_file_may_have_nulls() {
    let folder = |folder: &str| {
        let ints = |nullable, values: [Option<i32>; 2]| {
            let values: ArrayRef = Arc::new(Int32Array::from(values.to_vec()));
            let inner = Fields::from(vec![Field::new("x", DataType::Int32, nullable)]);
            let nested = StructArray::new(inner.clone(), vec![values.clone()], None);
            let item = Arc::new(Field::new("item", DataType::Int32, nullable));
            let offsets = OffsetBuffer::from_lengths([1, 1]);
            let lists = ListArray::new(item.clone(), offsets, values.clone(), None);
            let schema = Schema::new(vec![
                Field::new("a", DataType::Int32, nullable),
                Field::new("s", DataType::Struct(inner), nullable),
                Field::new("l", DataType::List(item), nullable),
            ]);
            let columns: Vec<ArrayRef> = vec![values, Arc::new(nested), Arc::new(lists)];
            file(&RecordBatch::try_new(Arc::new(schema), columns).unwrap())
        };
        let files = [
            (format!("{folder}/p=1/a"), ints(false, [Some(1), Some(2)])),
            (format!("{folder}/p=2/b"), ints(true, [None, Some(4)])),
        ];
        let one = DatasetOptions::new().filter(col("p").eq(1));
        let open = |options| {
            let paths = [folder.to_owned()];
            block_on(Dataset::open_async(
                Bucket::new(files.clone()),
                &paths,
                options,
            ))
            .unwrap()
        };
        (open(DatasetOptions::new()), open(one))
    };
    let (dataset, alone) = folder("d");
    // A dataset of one file keeps the file schema.
    assert!(!alone.schema().field(0).is_nullable());
    let mut stream = dataset.stream(ReadOptions::new()).unwrap();
    let mut streamed = Vec::new();
    while let Some(batch) = block_on(stream.next_batch()).unwrap() {
        streamed.push(batch);
    }
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(batches, streamed);
    let values = |array: &ArrayRef| array.as_primitive::<types::Int32Type>().clone();
    for (batch, expected) in batches.iter().zip([[Some(1), Some(2)], [None, Some(4)]]) {
        let expected = Int32Array::from(expected.to_vec());
        assert_eq!(values(batch.column(0)), expected);
        assert_eq!(values(batch.column(1).as_struct().column(0)), expected);
        assert_eq!(values(batch.column(2).as_list::<i32>().values()), expected);
    }
    assert_eq!(batches.len(), 2);
}
