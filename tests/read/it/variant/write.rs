//! Tests variants in every form of their arrays, both unshredded and shredded.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Int32Type, Int64Type};
use herringbone::arrow::array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Int32Array, Int64Array, LargeBinaryArray,
    LargeListArray, ListViewArray, RecordBatch, RunArray, StructArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone::variant::PrimitiveType;
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::shredding::{
    InferOptions, ShreddedTypes, ShreddingType, VariantArray, variant_field,
};
use herringbone::{ErrorKind, ParquetFile, ReadOptions, WriteOptions};

use super::{
    array, batch, bytes, json, message, object, of_field, primitive, read, texts, written,
};

const ROWS: [Option<&str>; 5] = [
    Some(r#"{"a":1,"b":"x"}"#),
    None,
    Some("null"),
    Some(r#"{"a":"one"}"#),
    Some(r#"{"b":"y","c":[1.5]}"#),
];

fn with_columns(columns: Vec<(&str, ArrayRef, bool)>, nulls: Option<NullBuffer>) -> StructArray {
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns
        .into_iter()
        .map(|(name, it, nullable)| (Field::new(name, it.data_type().clone(), nullable), it))
        .unzip();
    StructArray::new(Fields::from(fields), columns, nulls)
}

#[test]
fn forms_of_the_storage() {
    let plain = array(&ROWS, ShreddingType::Unshredded);
    let nulls = plain.nulls().cloned();
    let metadata = plain.column_by_name("metadata").unwrap().as_binary_view();
    let value = plain.column_by_name("value").unwrap().clone();
    let bytes_of = || metadata.iter().map(Option::unwrap);
    let dictionary: ArrayRef = {
        let values = BinaryArray::from_iter_values(bytes_of());
        let keys = Int32Array::from_iter_values(0..5);
        Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(values)))
    };
    let runs: ArrayRef = {
        let values = BinaryArray::from_iter_values(bytes_of());
        let ends = Int32Array::from_iter_values(1..=5);
        Arc::new(RunArray::<Int32Type>::try_new(&ends, &values).unwrap())
    };
    let large: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values(bytes_of()));
    let small: ArrayRef = Arc::new(BinaryArray::from_iter_values(bytes_of()));
    let values = value.as_binary_view().iter();
    let nullable: ArrayRef = Arc::new(LargeBinaryArray::from_iter(values));
    for (name, columns) in [
        (
            "dictionary",
            vec![
                ("metadata", dictionary, false),
                ("value", value.clone(), false),
            ],
        ),
        (
            "runs",
            vec![("metadata", runs, false), ("value", value.clone(), false)],
        ),
        (
            "large",
            vec![("metadata", large, true), ("value", nullable, true)],
        ),
        (
            "order",
            vec![("value", value.clone(), true), ("metadata", small, false)],
        ),
    ] {
        let array = with_columns(columns, nulls.clone());
        for (extension_name, extended) in [
            ("arrow.parquet.variant", true),
            ("parquet.variant", true),
            ("arrow.parquet.variant", false),
        ] {
            let field = variant_field("v", array.data_type().clone(), true);
            let mut pairs = field.metadata().clone();
            pairs.insert("ARROW:extension:name".to_owned(), extension_name.to_owned());
            let batch = of_field(field.with_metadata(pairs), Arc::new(array.clone()));
            let mut options = WriteOptions::new();
            if extended {
                options = options.extension(VariantExtension::new());
            }
            let file = ParquetFile::from_bytes(bytes(&[batch], options).unwrap()).unwrap();
            let fields = "required binary metadata; required binary value;";
            let swapped = "required binary value; required binary metadata;";
            let fields = if name == "order" && !extended {
                swapped
            } else {
                fields
            };
            let expected = format!("optional group v (VARIANT(1)) {{ {fields} }}");
            assert_eq!(message(&file), expected, "{name}");
            assert_eq!(read(&file), texts(&ROWS), "{name}");
            let schema = file.arrow_schema(&Default::default()).unwrap();
            assert_eq!(
                schema.field(0).extension_type_name(),
                Some("arrow.parquet.variant")
            );
        }
    }
}

#[test]
fn nulls_of_unshredded_values_are_refused() {
    let metadata: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[0x11, 0, 0], &[0x11, 0, 0]]));
    let value: ArrayRef = Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0]), None]));
    let array = with_columns(
        vec![("metadata", metadata, false), ("value", value, true)],
        None,
    );
    for options in [
        WriteOptions::new(),
        WriteOptions::new().extension(VariantExtension::new()),
    ] {
        let error = bytes(&[batch(array.clone())], options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains("v.value"), "{error}");
    }
}

/// The elements are in every layout of lists, the fields in another order, and `value` is omitted if it may be.
#[test]
fn forms_of_shredded_columns() {
    let metadata: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[0x11, 0, 0]; 3]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let elements = with_columns(vec![("typed_value", numbers, true)], None);
    let element = Arc::new(Field::new("item", elements.data_type().clone(), false));
    let lists: [ArrayRef; 2] = [
        Arc::new(LargeListArray::new(
            element.clone(),
            OffsetBuffer::from_lengths([2, 0, 1]),
            Arc::new(elements.clone()),
            None,
        )),
        Arc::new(ListViewArray::new(
            element,
            ScalarBuffer::from(vec![0, 0, 2]),
            ScalarBuffer::from(vec![2, 0, 1]),
            Arc::new(elements),
            None,
        )),
    ];
    for list in lists {
        let array = with_columns(
            vec![
                ("typed_value", list, true),
                ("metadata", metadata.clone(), false),
            ],
            None,
        );
        assert!(VariantArray::try_new(&array).is_ok());
        let file = written(&[batch(array)], Shredding::AsStored);
        assert_eq!(
            message(&file),
            "optional group v (VARIANT(1)) { required binary metadata; optional binary value; \
             optional group typed_value (LIST) { repeated group list { required group element { \
             optional binary value; optional int64 typed_value (INTEGER(64,true)); } } } }"
                .replace(" (INTEGER(64,true))", "")
        );
        assert_eq!(
            read(&file),
            texts(&[Some("[1,2]"), Some("[]"), Some("[3]")])
        );
    }
}

/// A copy preserves the shredding, with the extension type and without it.
#[test]
fn a_copy_keeps_the_shredding() {
    let shredding = object(&[
        ("a", primitive(PrimitiveType::Int64)),
        ("b", primitive(PrimitiveType::String)),
    ]);
    let file = written(&[batch(array(&ROWS, shredding))], Shredding::AsStored);
    assert!(message(&file).contains("typed_value"));
    let stored: Vec<RecordBatch> = file
        .read(ReadOptions::new())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let typed = stored[0]
        .column(0)
        .as_struct()
        .column_by_name("typed_value")
        .unwrap();
    let a = typed.as_struct().column_by_name("a").unwrap().as_struct();
    let a = a
        .column_by_name("typed_value")
        .unwrap()
        .as_primitive::<Int64Type>();
    assert_eq!(a.iter().flatten().collect::<Vec<_>>(), [1]);
    let copy = ParquetFile::from_bytes(bytes(&stored, WriteOptions::new()).unwrap()).unwrap();
    assert_eq!(message(&copy), message(&file));
    assert_eq!(read(&copy), texts(&ROWS));
    let copy = written(&stored, Shredding::AsStored);
    assert_eq!(message(&copy), message(&file));
    // `Shredding::None` removes it.
    let copy = written(&stored, Shredding::None);
    assert!(!message(&copy).contains("typed_value"));
    assert_eq!(read(&copy), texts(&ROWS));
}

#[test]
fn shredding_by_field() {
    let v = array(&ROWS, ShreddingType::Unshredded);
    let field = |name| variant_field(name, v.data_type().clone(), true);
    let schema = herringbone::arrow::schema::Schema::new(vec![field("v"), field("w")]);
    let columns: Vec<ArrayRef> = vec![Arc::new(v.clone()), Arc::new(v.clone())];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let extension = VariantExtension::new().shredding_of("w", Shredding::Infer(Default::default()));
    let options = WriteOptions::new().extension(extension);
    let file = ParquetFile::from_bytes(bytes(&[batch], options).unwrap()).unwrap();
    let text = message(&file);
    let (v, w) = text.split_once("group w").unwrap();
    assert!(
        !v.contains("typed_value") && w.contains("group typed_value"),
        "{text}"
    );
}

fn inferred(rows: &[&str], options: &InferOptions) -> ShreddingType {
    let rows: Vec<Option<&str>> = rows.iter().map(|row| Some(*row)).collect();
    let array = array(&rows, ShreddingType::Unshredded);
    let array = VariantArray::try_new(&array).unwrap();
    let values: Vec<_> = (0..array.len())
        .map(|row| array.value(row, &Default::default()).unwrap().unwrap())
        .collect();
    ShreddingType::infer(values.iter().map(|value| value.as_variant()), options).unwrap()
}

#[test]
fn inference() {
    let options = InferOptions::default();
    let int = || primitive(PrimitiveType::Int64);
    let decimal = |precision, scale| primitive(PrimitiveType::Decimal { precision, scale });
    // Small integers are widened, and the decimal type has the largest scale of the values.
    assert_eq!(inferred(&["1", "null", "2"], &options), int());
    assert_eq!(inferred(&["1", "2.50", "3.5"], &options), decimal(18, 2));
    assert_eq!(
        inferred(&["12345678901234567890.5"], &options),
        decimal(38, 1)
    );
    // The most frequent kind wins if it applies to at least half of the values.
    assert_eq!(inferred(&["1", "\"x\"", "2"], &options), int());
    assert_eq!(
        inferred(&["1", "\"x\"", "true"], &options),
        ShreddingType::Unshredded
    );
    assert_eq!(inferred(&["null"], &options), ShreddingType::Unshredded);
    let rows = [
        r#"{"z": [{"k": 1}, {"k": 2}], "a": "x"}"#,
        r#"{"a": "y", "rare": 1}"#,
        r#"{"a": "y", "z": []}"#,
    ];
    let expected = |fields: &[&str]| {
        let elements = ShreddingType::Array(Box::new(object(&[("k", int())])));
        let all = [
            ("a", primitive(PrimitiveType::String)),
            ("rare", int()),
            ("z", elements),
        ];
        let fields = all.into_iter().filter(|(name, _)| fields.contains(name));
        object(&fields.collect::<Vec<_>>())
    };
    assert_eq!(inferred(&rows, &options), expected(&["a", "rare", "z"]));
    let mut some = options.clone();
    some.min_frequency = 0.5;
    assert_eq!(inferred(&rows, &some), expected(&["a", "z"]));
    some.max_fields = 1;
    assert_eq!(inferred(&rows, &some), expected(&["a"]));
    let mut flat = options.clone();
    flat.max_depth = 1;
    // Fields that are too deep, or that have several kinds, are not shredded.
    let ShreddingType::Object(fields) = inferred(&rows, &flat) else {
        panic!("no object");
    };
    assert_eq!(fields[2], ("z".to_owned(), ShreddingType::Unshredded));
    let mut first = options.clone();
    first.sample = 1;
    assert_eq!(inferred(&rows, &first), expected(&["a", "z"]));
    // The order of rows and fields does not matter.
    let mut turned = rows;
    turned.reverse();
    assert_eq!(inferred(&turned, &options), inferred(&rows, &options));
}

#[test]
fn spark_types_alone() {
    let mut spark = InferOptions::default();
    spark.types = ShreddedTypes::Spark;
    let mut builder = herringbone::variant::VariantBuilder::new();
    use herringbone::variant::Value as V;
    for (value, is_shredded) in [
        (V::Time(5), false),
        (V::TimestampNanos(5), false),
        (V::TimestampNtzNanos(5), false),
        (V::Uuid([1; 16]), false),
        (V::Timestamp(5), true),
        (V::TimestampNtz(5), true),
        (V::Date(5), true),
        (V::Binary(b"x"), true),
        (V::Float(0.5), true),
    ] {
        builder.push(value).unwrap();
        let value = builder.finish().unwrap();
        let infer =
            |options: &InferOptions| ShreddingType::infer([value.as_variant()], options).unwrap();
        assert_ne!(infer(&InferOptions::default()), ShreddingType::Unshredded);
        assert_eq!(infer(&spark) != ShreddingType::Unshredded, is_shredded);
    }
}

#[test]
fn one_shredding_for_several_files() {
    let int = |it| primitive(it);
    let decimal = |precision, scale| primitive(PrimitiveType::Decimal { precision, scale });
    let a = object(&[
        ("x", int(PrimitiveType::Int32)),
        ("y", primitive(PrimitiveType::String)),
    ]);
    let b = object(&[
        ("w", primitive(PrimitiveType::Boolean)),
        ("x", decimal(5, 2)),
        ("y", int(PrimitiveType::Int8)),
    ]);
    assert_eq!(
        ShreddingType::unify([a, b]),
        object(&[
            ("w", primitive(PrimitiveType::Boolean)),
            ("x", decimal(12, 2)),
            ("y", ShreddingType::Unshredded),
        ])
    );
    let unify = |a, b| ShreddingType::unify([int(a), int(b)]);
    assert_eq!(
        unify(PrimitiveType::Int8, PrimitiveType::Int64),
        int(PrimitiveType::Int64)
    );
    assert_eq!(
        unify(PrimitiveType::Float, PrimitiveType::Double),
        ShreddingType::Unshredded
    );
    assert_eq!(ShreddingType::unify([]), ShreddingType::Unshredded);
}

/// Without the extension type, a variant is read as its stored struct. The struct still has the extension name, and is
/// a valid variant array.
#[test]
fn storage_without_the_extension_type_is_read_as_stored() {
    let shredding = object(&[("a", primitive(PrimitiveType::Int64))]);
    let file = written(&[batch(array(&ROWS, shredding))], Shredding::AsStored);
    let stored = file
        .read(ReadOptions::new())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let field = stored.schema_ref().field(0).clone();
    assert_eq!(field.extension_type_name(), Some("arrow.parquet.variant"));
    assert!(matches!(field.data_type(), DataType::Struct(fields) if fields.len() == 3));
    assert_eq!(json(stored.column(0)), texts(&ROWS));
    // A part of a variant is not a variant.
    let part = herringbone::Projection::Paths(vec![vec!["v".to_owned(), "typed_value".to_owned()]]);
    for options in [
        ReadOptions::new().projection(part.clone()),
        ReadOptions::new()
            .projection(part)
            .extension(VariantExtension::new()),
    ] {
        let part = file.read(options).unwrap().next().unwrap().unwrap();
        assert_eq!(part.schema_ref().field(0).extension_type_name(), None);
    }
}
