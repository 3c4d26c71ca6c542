//! Tests of columns with a form that depends on options or the field's metadata.

use herringbone_arrow::schema::TimeUnit;
use herringbone_format::ConvertedType;

use super::flat::column;
use super::*;
use crate::{ColumnOrderKind, Date64, WriteConversion};

#[test]
fn metadata_of_fields() {
    let with = |data_type, pairs: &[(&str, &str)]| {
        let field = Field::new("a", data_type, false).with_metadata(metadata(pairs));
        message(&written(field, &WriteSchemaOptions::default()))
    };
    let extension = |name| [("ARROW:extension:name", name)];
    let logical = |text| [("PARQUET:logical_type", text)];
    let uuid = DataType::FixedSizeBinary(16);
    let (text, binary) = (DataType::LargeUtf8, DataType::BinaryView);
    for (stored, expected) in [
        (
            with(DataType::Int32, &[("PARQUET:field_id", "-7")]),
            "int32 a = -7",
        ),
        (
            with(uuid, &extension("arrow.uuid")),
            "fixed_len_byte_array(16) a (UUID)",
        ),
        (
            with(text.clone(), &extension("arrow.json")),
            "binary a (JSON)",
        ),
        (
            with(dictionary(text.clone()), &extension("arrow.json")),
            "binary a (JSON)",
        ),
        (
            with(DataType::Int8, &extension("arrow.bool8")),
            "int32 a (INTEGER(8,true))",
        ),
        (with(binary.clone(), &extension("arrow.json")), "binary a"),
        (with(text, &logical("ENUM")), "binary a (ENUM)"),
        (with(binary.clone(), &logical("BSON")), "binary a (BSON)"),
        (
            with(binary.clone(), &logical("GEOMETRY")),
            "binary a (GEOMETRY)",
        ),
        (
            with(binary.clone(), &logical("GEOMETRY(crs=a, (b))")),
            "binary a (GEOMETRY(\"a, (b)\"))",
        ),
        (
            with(binary.clone(), &logical("GEOGRAPHY")),
            "binary a (GEOGRAPHY)",
        ),
        (
            with(
                binary.clone(),
                &logical("GEOGRAPHY(crs=srid:1, algorithm=KARNEY)"),
            ),
            "binary a (GEOGRAPHY(srid:1,KARNEY))",
        ),
        (
            with(binary, &logical("GEOGRAPHY(algorithm=THOMAS)")),
            "binary a (GEOGRAPHY(OGC:CRS84,THOMAS))",
        ),
        (
            with(
                DataType::Time32(TimeUnit::Second),
                &[("adjusted_to_utc", "true")],
            ),
            "int32 a (TIME(MILLIS,true))",
        ),
    ] {
        assert_eq!(stored, format!("required {expected};"));
    }
    let field =
        Field::new("a", DataType::Binary, true).with_metadata(metadata(&logical("GEOMETRY")));
    let mapping = written(field, &WriteSchemaOptions::default());
    assert_eq!(mapping.leaves[0].order, ColumnOrderKind::Undefined);
}

#[test]
fn what_the_caller_chooses() {
    use ColumnOrderKind::{Int96, Signed, SignedBytes, Undefined};
    use WriteConversion::{Identity, SecondsToMillis};
    let mut options = WriteSchemaOptions {
        decimals_as_fixed: true,
        flba12_timestamps: true,
        times_adjusted_to_utc: true,
        date64: Date64::Int64,
        ..WriteSchemaOptions::default()
    };
    let stored = |data_type, options: &_| column(Field::new("a", data_type, false), options);
    let seconds = DataType::Timestamp(TimeUnit::Second, None);
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let expected = |text: &str, converted, conversion, order| {
        (format!("required {text};"), converted, conversion, order)
    };
    assert_eq!(
        stored(DataType::Decimal128(5, 2), &options),
        expected(
            "fixed_len_byte_array(3) a (DECIMAL(5,2))",
            Some(ConvertedType::Decimal),
            Identity,
            SignedBytes
        )
    );
    assert_eq!(
        stored(seconds.clone(), &options),
        expected(
            "fixed_len_byte_array(12) a (TIMESTAMP(MILLIS,false))",
            None,
            SecondsToMillis,
            Undefined
        )
    );
    assert_eq!(
        stored(nanos, &options),
        expected(
            "fixed_len_byte_array(12) a (TIMESTAMP(NANOS,true))",
            None,
            Identity,
            Undefined
        )
    );
    assert_eq!(
        stored(DataType::Time64(TimeUnit::Nanosecond), &options),
        expected("int64 a (TIME(NANOS,true))", None, Identity, Signed)
    );
    assert_eq!(
        stored(DataType::Date64, &options),
        expected("int64 a", None, Identity, Signed)
    );
    options.int96_timestamps = true;
    assert_eq!(
        stored(seconds, &options),
        expected("int96 a", None, Identity, Int96)
    );

    options.root_name = "spark_schema".to_owned();
    let mapping = from_arrow(&Schema::empty(), &options).unwrap();
    assert_eq!(mapping.schema.to_string(), "message spark_schema {\n}\n");
}
