//! Tests hand-made arrays that random generation rarely produces.

use std::sync::Arc;

use herringbone::{ReadOptions, WriteOptions};
use herringbone_arrow::array::types::{Int16Type, Int32Type};
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{DataType, Field, Schema};

use super::compare::{difference, read, written};
use crate::canonical;

/// Writes and reads a batch with this single column, and returns the column that was read.
fn round_trip(array: ArrayRef, nullable: bool) -> ArrayRef {
    let field = Field::new("a", array.data_type().clone(), nullable);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
    let batches = std::slice::from_ref(&batch);
    let file = written(&schema, batches, WriteOptions::new()).unwrap();
    let (_, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(difference(batches, &read, &schema), None);
    read[0].column(0).clone()
}

#[test]
fn dictionaries_in_runs_and_runs_in_dictionaries() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("z")]));
    let keys = Int8Array::from(vec![Some(2), Some(1), None, Some(0)]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, texts.clone()));
    let ends = Int32Array::from(vec![2, 3, 5, 6]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &dictionary).unwrap();
    let read = round_trip(Arc::new(runs.slice(1, 5)), true);
    let want = ["\"z\"", "null", "null", "null", "\"x\""];
    assert_eq!(canonical::lines(&read), want);

    let ends = Int16Array::from(vec![1, 2, 4]);
    let runs: ArrayRef = Arc::new(RunArray::<Int16Type>::try_new(&ends, &texts).unwrap());
    let keys = UInt16Array::from(vec![Some(3), Some(0), None, Some(1), Some(2)]);
    let read = round_trip(Arc::new(DictionaryArray::new(keys, runs)), true);
    let want = ["\"z\"", "\"x\"", "null", "null", "\"z\""];
    assert_eq!(canonical::lines(&read), want);
}

/// These are required lists and dictionaries in required structs, inside a nullable struct.
#[test]
fn required_fields_of_null_structs() {
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let item = Arc::new(Field::new("item", DataType::Int32, false));
    let numbers = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, numbers, None));
    let texts = Arc::new(StringArray::from(vec!["x"]));
    let keys = Int8Array::from(vec![0, 0, 0]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, texts));
    let required = |name: &str, array: ArrayRef| {
        (
            Arc::new(Field::new(name, array.data_type().clone(), false)),
            array,
        )
    };
    let columns = vec![required("l", lists), required("d", dictionary)];
    let inner: ArrayRef = Arc::new(StructArray::from(columns));
    let field = Field::new("s", inner.data_type().clone(), false);
    for valid in [[true, false, true], [false; 3], [true; 3]] {
        let fields = vec![field.clone()].into();
        let outer = StructArray::new(
            fields,
            vec![inner.clone()],
            Some(NullBuffer::from_iter(valid)),
        );
        round_trip(Arc::new(outer), true);
    }
}

#[test]
fn columns_of_the_same_name() {
    let fields = vec![
        Field::new("a", DataType::Int32, true),
        Field::new("a", DataType::Utf8, true),
        Field::new("", DataType::Boolean, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(StringArray::from(vec!["x", "y"])),
        Arc::new(BooleanArray::from(vec![true, false])),
    ];
    let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
    let file = written(&schema, std::slice::from_ref(&batch), WriteOptions::new()).unwrap();
    let (is, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!((is, read), (schema, vec![batch]));
}

#[test]
fn rows_without_columns() {
    let schema = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(7));
    let batch = RecordBatch::try_new_with_options(schema.clone(), vec![], &options).unwrap();
    let options = WriteOptions::new().row_group_rows(3);
    let file = written(&schema, &[batch.clone(), batch], options).unwrap();
    let (is, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(is, schema);
    assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 14);
}
