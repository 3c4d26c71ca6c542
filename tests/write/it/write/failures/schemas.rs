//! Tests types that have no form in Parquet, and batches that have another schema.

use std::sync::Arc;

use herringbone::{Error, ErrorKind, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema, UnionFields, UnionMode};

use super::batch_error;
use crate::table::without_panic;

fn list_of(data_type: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", data_type, true)))
}

fn struct_of(data_type: DataType) -> DataType {
    DataType::Struct(vec![Field::new("x", data_type, true)].into())
}

/// Returns the error for a schema with this type, after a valid column.
fn schema_error(data_type: DataType) -> Error {
    let fields = vec![
        Field::new("fine", DataType::Int32, true),
        Field::new("odd", data_type, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let create = || Writer::new(Vec::new(), schema, WriteOptions::new()).map(|_| ());
    without_panic(create).unwrap().unwrap_err()
}

#[test]
fn types_without_a_form_in_parquet() {
    use DataType as T;
    let members = UnionFields::try_new(
        [0, 1],
        [
            Field::new("i", T::Int32, true),
            Field::new("s", T::Utf8, true),
        ],
    )
    .unwrap();
    let sparse = T::Union(members.clone(), UnionMode::Sparse);
    let dense = T::Union(members, UnionMode::Dense);
    let no_fields = T::Struct(Fields::empty());
    let key_null = T::Map(
        Arc::new(Field::new(
            "entries",
            T::Struct(Fields::from(vec![
                Field::new("key", T::Null, true),
                Field::new("value", T::Int32, true),
            ])),
            false,
        )),
        false,
    );
    for (data_type, column) in [
        (sparse.clone(), "odd"),
        (dense, "odd"),
        (list_of(sparse.clone()), "odd.list.element"),
        (struct_of(sparse.clone()), "odd.x"),
        (T::Dictionary(Box::new(T::Int8), Box::new(sparse)), "odd"),
        (T::FixedSizeBinary(0), "odd"),
        (
            struct_of(list_of(T::FixedSizeBinary(0))),
            "odd.x.list.element",
        ),
        (no_fields.clone(), "odd"),
        (list_of(no_fields), "odd.list.element"),
        (key_null, "odd"),
        (T::Decimal256(70, -10), "odd"),
    ] {
        let error = schema_error(data_type.clone());
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{data_type}: {error}");
        let at = error.location().column.clone().unwrap_or_default();
        assert!(at.starts_with(column), "{data_type}: {at}");
        assert!(error.to_string().contains("odd"), "{error}");
    }
}

#[test]
fn batches_of_another_schema() {
    let int: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let long: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = |columns: &[(&str, &ArrayRef)]| {
        RecordBatch::try_from_iter(
            columns
                .iter()
                .map(|(name, array)| (*name, (*array).clone())),
        )
        .unwrap()
    };
    let schema = batch(&[("a", &int), ("b", &text)]).schema();
    for other in [
        batch(&[("a", &int)]),
        batch(&[("a", &int), ("b", &text), ("c", &int)]),
        batch(&[("b", &text), ("a", &int)]),
        batch(&[("a", &int), ("B", &text)]),
        batch(&[("a", &long), ("b", &text)]),
        RecordBatch::new_empty(Arc::new(Schema::empty())),
    ] {
        let error = batch_error(&schema, &other, 1);
        assert_eq!(error.kind(), ErrorKind::Argument);
    }
}
