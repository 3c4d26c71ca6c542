//! Tests choices that engines make for a wanted schema, such as ids or names, casts that lose a part, and structs
//! without fields.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{
    Array, ArrayRef, Int32Array, ListArray, MapArray, RecordBatch, StringArray, StructArray,
    TimestampNanosecondArray, cast::AsArray, types::Int32Type, types::TimestampMicrosecondType,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema, TimeUnit};
use herringbone::filter::{Literal, PruningSteps, col};
use herringbone::schema::FIELD_ID_KEY;
use herringbone::{FieldMatching, ReadOptions, WantedSchema, WriteOptions, Writer};

use crate::push::read;

fn written(batch: &RecordBatch, rows_of_group: usize) -> Bytes {
    let mut file = Vec::new();
    let options = WriteOptions::new().row_group_rows(rows_of_group);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

fn wanted(fields: impl IntoIterator<Item = Field>) -> WantedSchema {
    let fields: Fields = fields.into_iter().collect();
    WantedSchema::new(Arc::new(Schema::new(fields)))
}

/// Reads the rows of a file that has one row group.
fn rows(file: &Bytes, options: &ReadOptions) -> Result<RecordBatch, String> {
    read(file, options).map(|mut batches| batches.remove(0))
}

fn with_id(name: &str, id: i32) -> Field {
    let id = HashMap::from([(FIELD_ID_KEY.to_owned(), id.to_string())]);
    Field::new(name, DataType::Int32, true).with_metadata(id)
}

#[test]
fn an_id_counts_more_than_a_name() {
    let fields = [
        with_id("a", 1),
        with_id("b", 2),
        Field::new("c", DataType::Int32, true),
    ];
    let columns = (0..3).map(|at| Arc::new(Int32Array::from(vec![at])) as ArrayRef);
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let file = written(&RecordBatch::try_new(schema, columns.collect()).unwrap(), 9);
    let find = |fields: Vec<Field>| -> Result<Vec<Option<i32>>, String> {
        let wanted = wanted(fields).matching(FieldMatching::FieldIdOrName);
        let found = rows(&file, &ReadOptions::new().wanted_schema(wanted))?;
        let first = found
            .columns()
            .iter()
            .map(|column| column.as_primitive::<Int32Type>().iter().next());
        Ok(first.map(Option::flatten).collect())
    };
    let bare = |name: &str| Field::new(name, DataType::Int32, true);
    // These fields are found by id, by name because no field has the id, and by name.
    let found = find(vec![with_id("x", 2), with_id("c", 9), bare("a")]);
    assert_eq!(found.unwrap(), [Some(1), Some(2), Some(0)]);
    // The field of this name is already taken by its id.
    let found = find(vec![bare("b"), with_id("x", 2)]);
    assert_eq!(found.unwrap(), [None, Some(1)]);
    let error = find(vec![with_id("b", 9)]).unwrap_err();
    assert!(
        error.contains("field id is 9") && error.contains("the id 2"),
        "{error}"
    );
    let error = find(vec![with_id("x", 1), with_id("y", 1)]).unwrap_err();
    assert!(
        error.contains("another wanted field has the field id 1"),
        "{error}"
    );
}

/// Arrow's casts divide, which truncates toward zero.
#[test]
fn times_are_truncated_toward_zero_if_asked() {
    let nanos = [-1_500, -1_000, -999, 0, 999, 1_000, 1_999, 2_000];
    let micros = [-1, -1, 0, 0, 0, 1, 1, 2];
    let stored: ArrayRef = Arc::new(TimestampNanosecondArray::from(nanos.to_vec()));
    let file = written(&RecordBatch::try_from_iter([("t", stored)]).unwrap(), 1);
    let exact = wanted([Field::new(
        "t",
        DataType::Timestamp(TimeUnit::Microsecond, None),
        true,
    )]);
    let error = read(&file, &ReadOptions::new().wanted_schema(exact.clone())).unwrap_err();
    assert!(error.contains("does not fit"), "{error}");
    let options = ReadOptions::new().wanted_schema(exact.loose_times(true));
    // Row groups have a single value each, so that bounds decide about single values.
    for (pruned, value) in [true, false]
        .into_iter()
        .flat_map(|it| (-2..4).map(move |at| (it, at)))
    {
        let steps = match pruned {
            true => PruningSteps::all(),
            false => PruningSteps::none(),
        };
        let literal = || Literal::Timestamp {
            nanos: i128::from(value) * 1_000,
            is_utc: false,
        };
        for (filter, is_selected) in [
            (
                col("t").eq(literal()),
                (|a, b| a == b) as fn(i64, i64) -> bool,
            ),
            (col("t").lt(literal()), |a, b| a < b),
            (col("t").ge(literal()), |a, b| a >= b),
            (col("t").is_not_null(), |_, _| true),
        ] {
            let options = options.clone().filter(filter).pruning(steps);
            let found: Vec<i64> = read(&file, &options)
                .unwrap()
                .iter()
                .flat_map(|batch| {
                    batch
                        .column(0)
                        .as_primitive::<TimestampMicrosecondType>()
                        .values()
                        .to_vec()
                })
                .collect();
            let expected: Vec<i64> = micros
                .into_iter()
                .filter(|micro| is_selected(*micro, value))
                .collect();
            assert_eq!(found, expected, "{value} {pruned}");
        }
    }
}

/// Returns a struct, a list of structs, and a map to structs. Each is null in the second row, and the structs have the
/// field `a`.
fn nested() -> RecordBatch {
    let a = || Arc::new(Field::new("a", DataType::Int32, true));
    let ints = |len: i32| Arc::new(Int32Array::from_iter_values(0..len)) as ArrayRef;
    let nulls = || Some(NullBuffer::from(vec![true, false, true]));
    let structs = |len, nulls| StructArray::new(vec![a()].into(), vec![ints(len)], nulls);
    let of = |data_type: &DataType| Arc::new(Field::new("item", data_type.clone(), true));
    let elements = structs(3, None);
    let offsets = || OffsetBuffer::from_lengths([1, 0, 2]);
    let list = ListArray::new(
        of(elements.data_type()),
        offsets(),
        Arc::new(elements),
        nulls(),
    );
    let values = structs(3, None);
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z"]));
    let pair = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ]);
    let entries = StructArray::new(pair, vec![keys, Arc::new(values)], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let map = MapArray::new(field, offsets(), entries, nulls(), false);
    let columns: [(&str, ArrayRef); 3] = [
        ("s", Arc::new(structs(3, nulls()))),
        ("l", Arc::new(list)),
        ("m", Arc::new(map)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn structs_without_wanted_fields_are_null_if_asked() {
    let batch = nested();
    let file = written(&batch, 9);
    let hollow = || DataType::Struct(vec![Field::new("none", DataType::Int64, true)].into());
    let list = DataType::List(Arc::new(Field::new("item", hollow(), true)));
    let pair = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", hollow(), true),
    ]);
    let entries = Field::new("entries", DataType::Struct(pair), false);
    let map = DataType::Map(Arc::new(entries), false);
    let fields = [
        Field::new("s", hollow(), true),
        Field::new("l", list, true),
        Field::new("m", map, true),
    ];
    let nulls_of = |nulls: bool| {
        let wanted = wanted(fields.clone()).nulls_without_fields(nulls);
        let found = rows(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
        let nulls: Vec<usize> = found
            .columns()
            .iter()
            .map(|column| column.null_count())
            .collect();
        (nulls, found)
    };
    let (nulls, found) = nulls_of(false);
    assert_eq!(nulls, [1, 1, 1]);
    assert_eq!(found.column(2).as_map().values().null_count(), 0);
    let (nulls, found) = nulls_of(true);
    assert_eq!(nulls, [3, 3, 1]);
    let maps = found.column(2).as_map();
    assert_eq!(
        maps.keys()
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect::<String>(),
        "xyz"
    );
    assert_eq!(maps.values().null_count(), 3);
    // A struct that cannot be null has null fields, although the file's struct has a null.
    let wanted = wanted([Field::new("s", hollow(), false)]).nulls_without_fields(true);
    let found = rows(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
    let structs = found.column(0).as_struct();
    assert_eq!(
        (structs.null_count(), structs.column(0).null_count()),
        (0, 3)
    );
}
