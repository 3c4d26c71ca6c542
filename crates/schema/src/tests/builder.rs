//! Tests of schemas built from nodes.

use herringbone_format::{
    ConvertedType, ErrorKind, LogicalType, Repetition, SchemaElement, TimeUnit, Type,
};

use crate::{NodeBuilder, ParquetSchema};

fn int(name: &str) -> NodeBuilder {
    NodeBuilder::primitive(name, Type::Int32)
}

fn text(name: &str) -> NodeBuilder {
    NodeBuilder::primitive(name, Type::ByteArray).logical(LogicalType::String)
}

fn elements(schema: &ParquetSchema) -> Vec<SchemaElement> {
    let nodes = schema.nodes().iter();
    nodes.map(|node| node.element.clone()).collect()
}

fn error(node: NodeBuilder) -> String {
    let error = NodeBuilder::group("m")
        .field(node)
        .build_schema()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let error = error.to_string();
    error.strip_prefix("invalid argument: ").unwrap().to_owned()
}

#[test]
fn elements_of_every_setter() {
    let schema = NodeBuilder::group("m")
        .field(int("a").required().field_id(-7))
        .fields([
            NodeBuilder::group("b").repeated().field(int("c")),
            NodeBuilder::primitive("d", Type::FixedLenByteArray)
                .length(12)
                .converted(ConvertedType::Interval),
        ])
        .field(
            int("e")
                .required()
                .optional()
                .logical(LogicalType::Decimal {
                    scale: 2,
                    precision: 9,
                }),
        )
        .build_schema()
        .unwrap();
    let element = |name: &str, repetition| {
        SchemaElement::new(name.to_owned()).repetition_type(Some(repetition))
    };
    let expected = [
        SchemaElement::new("m".to_owned()).num_children(4),
        element("a", Repetition::Required)
            .type_(Type::Int32)
            .field_id(-7),
        element("b", Repetition::Repeated).num_children(1),
        element("c", Repetition::Optional).type_(Type::Int32),
        element("d", Repetition::Optional)
            .type_(Type::FixedLenByteArray)
            .type_length(12)
            .converted_type(ConvertedType::Interval),
        element("e", Repetition::Optional)
            .type_(Type::Int32)
            .converted_type(ConvertedType::Decimal)
            .precision(9)
            .scale(2)
            .logical_type(LogicalType::Decimal {
                scale: 2,
                precision: 9,
            }),
    ];
    assert_eq!(elements(&schema), expected);
}

#[test]
fn lists_and_maps_have_the_names_of_the_specification() {
    let list = NodeBuilder::list("l", NodeBuilder::list("inner", int("x").required()));
    let map = NodeBuilder::map("m", text("k"), int("v")).required();
    let schema = NodeBuilder::group("s")
        .field(list)
        .field(map)
        .build_schema()
        .unwrap();
    assert_eq!(
        schema.to_string(),
        "message s {
  optional group l (LIST) {
    repeated group list {
      optional group element (LIST) {
        repeated group list {
          required int32 element;
        }
      }
    }
  }
  required group m (MAP) {
    repeated group key_value {
      required binary key (STRING);
      optional int32 value;
    }
  }
}
"
    );
}

#[test]
fn an_annotation_replaces_both_of_the_one_before() {
    let decimal = LogicalType::Decimal {
        scale: 2,
        precision: 9,
    };
    let schema = NodeBuilder::group("m")
        .field(
            int("a")
                .logical(decimal.clone())
                .converted(ConvertedType::Date),
        )
        .field(
            int("b")
                .converted(ConvertedType::Date)
                .logical(LogicalType::Unknown),
        )
        .field(int("c").logical(decimal).logical(LogicalType::Date))
        .build_schema()
        .unwrap();
    let element = |name: &str| {
        SchemaElement::new(name.to_owned())
            .type_(Type::Int32)
            .repetition_type(Repetition::Optional)
    };
    let expected = [
        element("a").converted_type(ConvertedType::Date),
        element("b").logical_type(LogicalType::Unknown),
        element("c")
            .converted_type(ConvertedType::Date)
            .logical_type(LogicalType::Date),
    ];
    assert_eq!(elements(&schema)[1..], expected);
}

/// The older annotations follow the specification's table (LogicalTypes), and its rule for local
/// times.
#[test]
fn older_counterparts() {
    use ConvertedType as C;
    let integer = |bit_width, is_signed| LogicalType::Integer {
        bit_width,
        is_signed,
    };
    let time = |unit, is_adjusted_to_utc| LogicalType::Time {
        is_adjusted_to_utc,
        unit,
    };
    let timestamp = |unit, is_adjusted_to_utc| LogicalType::Timestamp {
        is_adjusted_to_utc,
        unit,
    };
    for (type_, logical, expected) in [
        (Type::ByteArray, LogicalType::String, Some(C::Utf8)),
        (Type::ByteArray, LogicalType::Enum, Some(C::Enum)),
        (Type::ByteArray, LogicalType::Json, Some(C::Json)),
        (Type::ByteArray, LogicalType::Bson, Some(C::Bson)),
        (Type::ByteArray, LogicalType::Geometry { crs: None }, None),
        (Type::Int32, LogicalType::Date, Some(C::Date)),
        (Type::Int32, LogicalType::Unknown, None),
        (Type::Int32, integer(8, true), Some(C::Int8)),
        (Type::Int32, integer(16, true), Some(C::Int16)),
        (Type::Int32, integer(32, true), Some(C::Int32)),
        (Type::Int64, integer(64, true), Some(C::Int64)),
        (Type::Int32, integer(8, false), Some(C::Uint8)),
        (Type::Int32, integer(16, false), Some(C::Uint16)),
        (Type::Int32, integer(32, false), Some(C::Uint32)),
        (Type::Int64, integer(64, false), Some(C::Uint64)),
        (
            Type::Int32,
            time(TimeUnit::Millis, true),
            Some(C::TimeMillis),
        ),
        (
            Type::Int64,
            time(TimeUnit::Micros, false),
            Some(C::TimeMicros),
        ),
        (Type::Int64, time(TimeUnit::Nanos, true), None),
        (
            Type::Int64,
            timestamp(TimeUnit::Millis, false),
            Some(C::TimestampMillis),
        ),
        (
            Type::Int64,
            timestamp(TimeUnit::Micros, true),
            Some(C::TimestampMicros),
        ),
        (Type::Int64, timestamp(TimeUnit::Nanos, true), None),
    ] {
        let column = NodeBuilder::primitive("a", type_).logical(logical);
        let schema = NodeBuilder::group("m")
            .field(column)
            .build_schema()
            .unwrap();
        assert_eq!(schema.element(0).converted_type, expected, "{schema}");
    }
    let fixed = NodeBuilder::primitive("a", Type::FixedLenByteArray).length(12);
    let fixed = fixed.logical(timestamp(TimeUnit::Millis, true));
    let schema = NodeBuilder::group("m").field(fixed).build_schema().unwrap();
    assert_eq!(schema.element(0).converted_type, None);
}

#[test]
fn nodes_that_are_no_schema() {
    let root = int("a").build_schema().unwrap_err();
    assert_eq!(
        root.message(),
        "the node `a` is a column, but the root of a schema is a group"
    );
    let fixed = || NodeBuilder::primitive("a", Type::FixedLenByteArray);
    for (node, expected) in [
        (
            int("a").field(int("b")),
            "the node `a` is a column, which cannot have fields",
        ),
        (
            fixed(),
            "the node `a` is a FIXED_LEN_BYTE_ARRAY without a length; call `length`",
        ),
        (fixed().length(-1), "the node `a` has a negative length"),
        (
            int("a").length(4),
            "the node `a` has a length, which is for a FIXED_LEN_BYTE_ARRAY only",
        ),
    ] {
        assert_eq!(error(node), expected);
    }
}

#[test]
fn annotations_that_do_not_fit() {
    let group = |name| NodeBuilder::group(name).field(int("x"));
    for (node, annotation) in [
        (int("a").logical(LogicalType::String), "(STRING) (column a)"),
        (int("a").logical(LogicalType::List), "(LIST) (column a)"),
        (
            int("a").converted(ConvertedType::TimeMicros),
            "(TIME_MICROS) (column a)",
        ),
        (
            int("a").converted(ConvertedType::Decimal),
            "(DECIMAL(0,0)) (column a)",
        ),
        (
            group("a").logical(LogicalType::String),
            "(STRING) (column a)",
        ),
        (group("a").logical(LogicalType::List), "(LIST) (column a)"),
        (group("a").converted(ConvertedType::Map), "(MAP) (column a)"),
        (
            group("a").converted(ConvertedType::Utf8),
            "(UTF8) (column a)",
        ),
        (
            NodeBuilder::group("a").field(int("b").logical(LogicalType::Uuid)),
            "(UUID) (column a.b)",
        ),
    ] {
        assert_eq!(
            error(node),
            format!("the node has an annotation that does not fit it: {annotation}")
        );
    }
    let later = LogicalType::Unrecognized {
        field_id: 99,
        parameters: vec![0],
    };
    let variant = LogicalType::Variant {
        specification_version: None,
    };
    let key_value = ConvertedType::MapKeyValue;
    let schema = NodeBuilder::group("m").fields([
        int("a").logical(later.clone()),
        int("b").converted(ConvertedType::Unknown(99)),
        group("c").logical(later),
        group("d").logical(variant),
        group("e").logical(LogicalType::File),
        group("f").converted(key_value),
        NodeBuilder::group("g"),
    ]);
    assert_eq!(schema.build_schema().unwrap().nodes().len(), 12);
}

#[test]
fn depth_is_limited() {
    let chain = |depth| (0..depth).fold(int("a"), |node, _| NodeBuilder::group("g").field(node));
    assert!(chain(100).build_schema().is_ok());
    assert_eq!(
        chain(101).build_schema().unwrap_err().kind(),
        ErrorKind::Limit
    );
}
