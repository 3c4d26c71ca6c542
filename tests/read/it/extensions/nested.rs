//! Tests extension types within structs, lists and maps.

use std::sync::Arc;

use herringbone::arrow::array::builder::{Int32Builder, MapBuilder, StringBuilder};
use herringbone::arrow::array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, ListArray, ListViewArray, MapArray,
    RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::{ReadOptions, WriteOptions};

use super::cell::{Cell, field, written};
use super::whole::by_all;

fn cells(n: usize) -> ArrayRef {
    let cell = |row: usize| (row % 3 != 1).then(|| row.to_string());
    let cells: StringArray = (0..n).map(cell).collect();
    Arc::new(cells)
}

fn nulls() -> Option<NullBuffer> {
    Some(NullBuffer::from(vec![true, false, true, true]))
}

/// Returns a map from numbers to cells.
fn map() -> MapArray {
    let mut map = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new())
        .with_values_field(Arc::new(field("values")));
    for entries in [
        &[(1, Some("1")), (2, None)][..],
        &[],
        &[(3, Some("x"))],
        &[],
    ] {
        for (key, value) in entries {
            map.keys().append_value(*key);
            map.values().append_option(*value);
        }
        map.append(true).unwrap();
    }
    map.finish()
}

fn arrays() -> Vec<ArrayRef> {
    let element = || Arc::new(field("element"));
    let offsets = [0, 2, 2, 2, 5];
    let list = ListArray::new(
        element(),
        OffsetBuffer::new(ScalarBuffer::from(offsets.to_vec())),
        cells(5),
        nulls(),
    );
    let large = LargeListArray::new(
        element(),
        OffsetBuffer::new(ScalarBuffer::from(offsets.map(i64::from).to_vec())),
        cells(5),
        None,
    );
    let view = ListViewArray::new(
        element(),
        ScalarBuffer::from(vec![0, 2, 2, 2]),
        ScalarBuffer::from(vec![2, 0, 0, 3]),
        cells(5),
        nulls(),
    );
    let fixed = FixedSizeListArray::new(element(), 2, cells(8), None);
    let fields = vec![Field::new("n", DataType::Utf8, true), field("c")];
    let columns = vec![cells(4), cells(4)];
    let group = StructArray::new(fields.into(), columns, nulls());
    let group_field = Field::new("element", group.data_type().clone(), true);
    let lengths = OffsetBuffer::from_lengths([1, 0, 2, 1]);
    let groups = ListArray::new(
        Arc::new(group_field),
        lengths,
        Arc::new(group.clone()),
        None,
    );
    vec![
        Arc::new(list),
        Arc::new(large),
        Arc::new(view),
        Arc::new(fixed),
        Arc::new(map()),
        Arc::new(group),
        Arc::new(groups),
    ]
}

#[test]
fn they_come_back_wherever_they_are() {
    for array in arrays() {
        let column = Field::new("a", array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![column]));
        let whole = RecordBatch::try_new(schema, vec![array]).unwrap();
        // Slices are included because they have offsets into the surrounding array.
        for batch in [whole.clone(), whole.slice(2, 2), whole.slice(1, 0)] {
            let options = WriteOptions::new().extension(Cell::default());
            let file = written(std::slice::from_ref(&batch), options);
            assert!(file.parquet_schema().to_string().contains("text"));
            let read = by_all(&file, || ReadOptions::new().extension(Cell::default()));
            match batch.num_rows() {
                0 => assert_eq!(read, []),
                _ => {
                    assert_eq!(read[0].schema().fields(), batch.schema().fields());
                    assert_eq!((read.len(), read[0].columns()), (1, batch.columns()));
                }
            }
        }
    }
}

/// If a cell in a struct has sibling columns, they are its siblings in the file, too.
#[test]
fn columns_beside_them_are_in_the_same_struct() {
    let group = arrays().swap_remove(6);
    let column = Field::new("a", group.data_type().clone(), true);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![column])), vec![group]).unwrap();
    let cell = || Cell {
        has_lengths: true,
        ..Cell::default()
    };
    let file = written(&[batch], WriteOptions::new().extension(cell()));
    let schema = file.parquet_schema();
    let leaves = (0..schema.leaves().len()).map(|leaf| schema.column_path(leaf));
    let expected = [
        "a.list.element.n",
        "a.list.element.c.typed",
        "a.list.element.c.text",
        "a.list.element.c_length",
    ];
    assert_eq!(leaves.collect::<Vec<_>>(), expected);
}
