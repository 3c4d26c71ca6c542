//! Tests of schemas as text, with names in quotes, all that the parser accepts, and its errors.

use herringbone_format::{
    ConvertedType, EdgeInterpolationAlgorithm, ErrorKind, Limits, LogicalType, Remedy, Repetition,
    SchemaElement, TimeUnit, Type,
};

use super::schema;
use crate::ParquetSchema;

fn parse(text: &str) -> ParquetSchema {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn elements(text: &str) -> Vec<SchemaElement> {
    let schema = parse(text);
    let nodes = schema.nodes().iter();
    nodes.map(|node| node.element.clone()).collect()
}

/// Returns the element of `optional TYPE a (ANNOTATION);`.
fn column(type_: &str, annotation: &str) -> SchemaElement {
    elements(&format!(
        "message m {{ optional {type_} a ({annotation}); }}"
    ))[1]
        .clone()
}

fn root(fields: i32) -> SchemaElement {
    SchemaElement::new("m".to_owned()).num_children(fields)
}

fn optional(name: &str) -> SchemaElement {
    SchemaElement::new(name.to_owned()).repetition_type(Repetition::Optional)
}

/// Returns the message of the error that a text causes.
fn error(text: &str) -> String {
    let error = text.parse::<ParquetSchema>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    error.message().to_owned()
}

/// Prints a schema of one INT32 column, returning the column's name in the text.
fn printed(name: &str) -> String {
    let element = optional(name).type_(Type::Int32);
    let schema = ParquetSchema::new(&[root(1), element], &Limits::default()).unwrap();
    let text = schema.to_string();
    assert_eq!(parse(&text), schema, "{text}");
    let name = text.strip_prefix("message m {\n  optional int32 ").unwrap();
    name.strip_suffix(";\n}\n").unwrap().to_owned()
}

#[test]
fn names_are_quoted_if_they_are_ambiguous() {
    for name in [
        "a", "a.b", "a:b", "ü", "日本", "a-b", "-7", "0", "message", "required", "group", "a'b",
        "a`b", "[a]", "a/*b",
    ] {
        assert_eq!(printed(name), name);
    }
    for (name, expected) in [
        ("", r#""""#),
        (" ", r#"" ""#),
        ("a b", r#""a b""#),
        ("a;", r#""a;""#),
        ("{", r#""{""#),
        ("}", r#""}""#),
        ("a(b)", r#""a(b)""#),
        ("a,b", r#""a,b""#),
        ("a=b", r#""a=b""#),
        ("a\"b", r#""a\"b""#),
        ("\"", r#""\"""#),
        ("a\\n", r#""a\\n""#),
        ("a\nb\r\t\0", r#""a\nb\r\t\u{0}""#),
        ("\u{1b}[31m", r#""\u{1b}[31m""#),
        ("\u{9b}", r#""\u{9b}""#),
        ("a\u{a0}b", r#""a\u{a0}b""#),
        ("a\u{2028}b", r#""a\u{2028}b""#),
        ("a\u{202e}b", r#""a\u{202e}b""#),
        ("a\u{200b}b", r#""a\u{200b}b""#),
        ("\u{feff}a", r#""\u{feff}a""#),
        ("a\u{3000}\u{e9} 日", r#""a\u{3000}é 日""#),
    ] {
        assert_eq!(printed(name), expected);
    }
}

#[test]
fn the_name_of_the_message_is_quoted_too() {
    let root = SchemaElement::new("spark schema".to_owned()).num_children(0);
    let schema = ParquetSchema::new(&[root], &Limits::default()).unwrap();
    assert_eq!(schema.to_string(), "message \"spark schema\" {\n}\n");
    assert_eq!(parse(&schema.to_string()), schema);
}

#[test]
fn escapes_of_rust_are_read() {
    let text = r#"message m { optional int32 "\'\"\\\n\r\t\0\u{1f600}\u{e9}" ; }"#;
    assert_eq!(elements(text)[1].name, "'\"\\\n\r\t\0😀é");
}

#[test]
fn every_part_of_a_field() {
    let text = "message m {
        required boolean a = 1;
        optional int32 b = -2147483648;
        repeated int64 c;
        required int96 d;
        required float e;
        required double f;
        required binary g;
        required fixed_len_byte_array(16) h (UUID) = 7;
        optional group i (LIST) = 8 { repeated group list { required float element; } }
        required group j { }
    }";
    let column = |name: &str, repetition, type_: Type| {
        let element = SchemaElement::new(name.to_owned()).type_(type_);
        element.repetition_type(Some(repetition))
    };
    let required = |name, type_| column(name, Repetition::Required, type_);
    let expected = [
        root(10),
        required("a", Type::Boolean).field_id(1),
        column("b", Repetition::Optional, Type::Int32).field_id(i32::MIN),
        column("c", Repetition::Repeated, Type::Int64),
        required("d", Type::Int96),
        required("e", Type::Float),
        required("f", Type::Double),
        required("g", Type::ByteArray),
        required("h", Type::FixedLenByteArray)
            .type_length(16)
            .logical_type(LogicalType::Uuid)
            .field_id(7),
        optional("i")
            .num_children(1)
            .converted_type(ConvertedType::List)
            .logical_type(LogicalType::List)
            .field_id(8),
        SchemaElement::new("list".to_owned())
            .repetition_type(Repetition::Repeated)
            .num_children(1),
        required("element", Type::Float),
        SchemaElement::new("j".to_owned())
            .repetition_type(Repetition::Required)
            .num_children(0),
    ];
    assert_eq!(elements(text), expected);
}

#[test]
fn white_space_is_free_and_keywords_have_any_case() {
    let text = "message m {\n  required fixed_len_byte_array(4) a (DECIMAL(9,2)) = 5;\n  \
                optional group b (MAP) {\n  }\n  optional binary c (STRING);\n}\n";
    for same in [
        "message m{required fixed_len_byte_array(4)a(DECIMAL(9,2))=5;optional group b(MAP){}\
         optional binary c(STRING);}",
        "\r\n MESSAGE m {\tREQUIRED FIXED_LEN_BYTE_ARRAY ( 4 ) a ( Decimal ( 9 , 2 ) ) = 5 ;\
         Optional Group b (map) { } OPTIONAL BYTE_ARRAY c (string) ; } \u{2003}",
    ] {
        assert_eq!(parse(same).to_string(), text);
    }
}

#[test]
fn logical_types_with_arguments() {
    let time = |unit, is_adjusted_to_utc| LogicalType::Time {
        is_adjusted_to_utc,
        unit,
    };
    let timestamp = |unit, is_adjusted_to_utc| LogicalType::Timestamp {
        is_adjusted_to_utc,
        unit,
    };
    let variant = |specification_version| LogicalType::Variant {
        specification_version,
    };
    let geography = |crs: Option<&str>, algorithm| LogicalType::Geography {
        crs: crs.map(str::to_owned),
        algorithm,
    };
    let karney = Some(EdgeInterpolationAlgorithm::Karney);
    let unknown = Some(EdgeInterpolationAlgorithm::Unknown(9));
    let unrecognized = |parameters: &[u8]| LogicalType::Unrecognized {
        field_id: 99,
        parameters: parameters.to_vec(),
    };
    for (type_, annotation, expected) in [
        ("int32", "TIME(MILLIS,false)", time(TimeUnit::Millis, false)),
        ("int64", "time(nanos, TRUE)", time(TimeUnit::Nanos, true)),
        (
            "int64",
            "TIMESTAMP(MICROS,true)",
            timestamp(TimeUnit::Micros, true),
        ),
        (
            "int64",
            "TIMESTAMP(NANOS,False)",
            timestamp(TimeUnit::Nanos, false),
        ),
        ("int32", "UNKNOWN", LogicalType::Unknown),
        ("fixed_len_byte_array(2)", "FLOAT16", LogicalType::Float16),
        ("binary", "VARIANT", variant(None)),
        ("binary", "VARIANT(1)", variant(Some(1))),
        ("binary", "FILE", LogicalType::File),
        ("binary", "GEOMETRY", LogicalType::Geometry { crs: None }),
        (
            "binary",
            r#"GEOMETRY("{\"a\": (1, 2)}")"#,
            LogicalType::Geometry {
                crs: Some(r#"{"a": (1, 2)}"#.to_owned()),
            },
        ),
        ("binary", "GEOGRAPHY", geography(None, None)),
        (
            "binary",
            "GEOGRAPHY(srid:4326)",
            geography(Some("srid:4326"), None),
        ),
        (
            "binary",
            "GEOGRAPHY(srid:4326, karney)",
            geography(Some("srid:4326"), karney),
        ),
        (
            "binary",
            "GEOGRAPHY(\"\",UNKNOWN(9))",
            geography(Some(""), unknown),
        ),
        ("binary", "UNRECOGNIZED(99)", unrecognized(&[0])),
        ("binary", "UNRECOGNIZED(99,0x)", unrecognized(&[])),
        (
            "binary",
            "UNRECOGNIZED(99,0x15aF00)",
            unrecognized(&[0x15, 0xaf, 0]),
        ),
    ] {
        assert_eq!(
            column(type_, annotation).logical_type,
            Some(expected),
            "{annotation}"
        );
    }
    let decimal = column("int32", "DECIMAL(9)");
    assert_eq!((decimal.precision, decimal.scale), (Some(9), Some(0)));
    assert_eq!(column("int32", "NONE"), optional("a").type_(Type::Int32));
}

/// The names of `ConvertedType` in `parquet.thrift` that no LogicalType has.
#[test]
fn older_names_set_the_older_annotation_only() {
    for (name, id) in [
        ("UTF8", 0),
        ("MAP_KEY_VALUE", 2),
        ("TIME_MILLIS", 7),
        ("TIME_MICROS", 8),
        ("TIMESTAMP_MILLIS", 9),
        ("TIMESTAMP_MICROS", 10),
        ("UINT_8", 11),
        ("UINT_16", 12),
        ("UINT_32", 13),
        ("UINT_64", 14),
        ("INT_8", 15),
        ("INT_16", 16),
        ("INT_32", 17),
        ("INT_64", 18),
        ("INTERVAL", 21),
        ("UNKNOWN(77)", 77),
    ] {
        let element = column("int32", &name.to_lowercase());
        assert_eq!(
            (
                element.logical_type,
                element.converted_type.map(ConvertedType::id)
            ),
            (None, Some(id))
        );
        assert!(
            parse(&format!("message m {{ optional int32 a ({name}); }}"))
                .to_string()
                .contains(name)
        );
    }
}

/// Next to an older annotation without a LogicalType, parquet-java writes UNKNOWN, but the older
/// one counts.
#[test]
fn the_effective_annotation_is_printed() {
    let interval = optional("a")
        .type_(Type::FixedLenByteArray)
        .type_length(12)
        .converted_type(ConvertedType::Interval)
        .logical_type(LogicalType::Unknown);
    let schema = ParquetSchema::new(&[root(1), interval], &Limits::default()).unwrap();
    let text = schema.to_string();
    assert_eq!(
        text,
        "message m {\n  optional fixed_len_byte_array(12) a (INTERVAL);\n}\n"
    );
}

#[test]
fn unrecognized_parameters_are_printed() {
    let text = "message m {\n  optional int32 a (UNRECOGNIZED(-3,0x150a00));\n}\n";
    assert_eq!(parse(text).to_string(), text);
}

#[test]
fn errors_have_a_place_and_advice() {
    let write_type = "write `boolean`, `int32`, `int64`, `int96`, `float`, `double`, `binary`, \
                      `fixed_len_byte_array(LENGTH)` or `group`";
    for (text, expected) in [
        (
            "message m {\n  required int64 a;\n  required int33 b;\n}",
            format!("schema, line 3, column 12: found `int33`, expected a type; {write_type}"),
        ),
        (
            "message \u{e9}\u{e9} { optional string s; }",
            "schema, line 1, column 23: found `string`, expected a type; write \
             `binary NAME (STRING)` for text"
                .to_owned(),
        ),
        (
            "message m { int64 a; }",
            "schema, line 1, column 13: found `int64`, expected a field or `}`; write `required`, \
             `optional` or `repeated` before the type of each field, or `}` after the last field"
                .to_owned(),
        ),
        (
            "message m {\n optional int64 my col;\n}",
            "schema, line 2, column 20: found `col`, expected `;`; write a column as \
             `required binary NAME (STRING) = 1;`, where annotation and id may be absent"
                .to_owned(),
        ),
        (
            "message m { optional int64 ; }",
            "schema, line 1, column 28: found `;`, expected a name; write the name after the type, \
             in double quotes if it has spaces or punctuation"
                .to_owned(),
        ),
        (
            "message m { optional int64 \"a b; }",
            "schema, line 1, column 28: found a quote that is never closed, expected a quoted \
             name; write a `\"` after the name"
                .to_owned(),
        ),
        (
            "message m { optional int64 \"a\\x41\"; }",
            "schema, line 1, column 30: found an unknown escape, expected a quoted name; write \
             `\\\\` for a backslash, `\\\"` for a quote, `\\n` for a line break, or the number of \
             a character as `\\u{2028}`"
                .to_owned(),
        ),
        (
            "message m { } message n { }",
            "schema, line 1, column 15: found `message`, expected the end of the text; write one \
             message only"
                .to_owned(),
        ),
    ] {
        assert_eq!(error(text), expected);
    }
}

/// Checks that an error starts in line 1 as expected, and that it contains advice.
fn refused(text: &str, expected: &str) {
    let error = error(text);
    let place = format!("schema, line 1, column {expected}");
    assert!(error.starts_with(&place), "{text}: {error}");
    assert!(error.contains("; write "), "{error}");
}

#[test]
fn errors_say_what_was_found_and_expected() {
    for (text, expected) in [
        ("", "1: found the end of the text, expected `message`"),
        ("group m { }", "1: found `group`, expected `message`"),
        ("message", "8: found the end of the text, expected a name"),
        ("message m", "10: found the end of the text, expected `{`"),
        (
            "message m {",
            "12: found the end of the text, expected a field or `}`",
        ),
        (
            "message m { optional group g; }",
            "29: found `;`, expected `{`",
        ),
        (
            "message m { optional int32 a { } }",
            "30: found `{`, expected `;`",
        ),
        (
            "message m { optional int32 a = x; }",
            "32: found `x`, expected a field id",
        ),
        (
            "message m { optional int32 a = 2147483648; }",
            "32: found `2147483648`, expected a field id",
        ),
        (
            "message m { optional fixed_len_byte_array a; }",
            "43: found `a`, expected the length in bytes",
        ),
        (
            "message m { optional fixed_len_byte_array(-1) a; }",
            "43: found `-1`, expected the length in bytes",
        ),
        (
            "message m { optional fixed_len_byte_array(2147483648) a; }",
            "43: found `2147483648`, expected the length in bytes",
        ),
    ] {
        refused(text, expected);
    }
}

#[test]
fn errors_in_annotations() {
    for (annotation, expected) in [
        ("STR", "31: found `STR`, expected an annotation"),
        ("", "31: found `)`, expected an annotation"),
        ("DATE(1)", "35: found `(`, expected `)`"),
        ("DECIMAL", "38: found `)`, expected the precision and scale"),
        (
            "DECIMAL(1,x)",
            "41: found `x`, expected the precision and scale",
        ),
        ("TIME", "35: found `)`, expected the unit of a TIME"),
        ("TIME(DAYS,true)", "36: found `DAYS`, expected the unit"),
        ("TIME(MILLIS)", "42: found `)`, expected `true` or `false`"),
        (
            "TIME(MILLIS,1)",
            "43: found `1`, expected `true` or `false`",
        ),
        ("INTEGER(8)", "40: found `)`, expected the bit width"),
        (
            "INTEGER(128,true)",
            "39: found `128`, expected the bit width",
        ),
        ("VARIANT(x)", "39: found `x`, expected the version"),
        ("GEOMETRY()", "40: found `)`, expected a coordinate"),
        ("GEOMETRY(a,b)", "41: found `,`, expected a coordinate"),
        ("GEOGRAPHY(a,b)", "43: found `b`, expected the algorithm"),
        (
            "UNRECOGNIZED(9,1500)",
            "46: found `1500`, expected the id of an",
        ),
        (
            "UNRECOGNIZED(9,0x150)",
            "46: found `0x150`, expected the id of an",
        ),
        (
            "UNRECOGNIZED(9,0x+1)",
            "46: found `0x+1`, expected the id of an",
        ),
    ] {
        refused(
            &format!("message m {{ optional int32 a ({annotation}); }}"),
            expected,
        );
    }
    refused(
        "message m { optional int32 a (DATE; }",
        "35: found `;`, expected `)`",
    );
}

#[test]
fn excerpts_are_short_and_harmless() {
    let long = "é".repeat(41);
    let found = error(&format!("message m {{ optional {long} a; }}"));
    assert!(
        found.contains(&format!("found `{}…`, expected", "é".repeat(40))),
        "{found}"
    );
    let found = error("message m { optional \u{1b}[31m a; }");
    assert!(
        found.contains("found `\"\\u{1b}[31m\"`, expected"),
        "{found}"
    );
}

#[test]
fn escapes_of_no_character_are_errors() {
    for escape in [
        "\\",
        "\\u",
        "\\u{}",
        "\\u{d800}",
        "\\u{110000}",
        "\\u{0000041}",
        "\\u{+41}",
        "\\u{41",
        "\\é",
    ] {
        let found = error(&format!("message m {{ optional int32 \"{escape}\"; }}"));
        assert!(
            found.contains("escape") || found.contains("never closed"),
            "{escape}: {found}"
        );
    }
}

/// Returns the text of an INT32 leaf at the bottom of `depth` groups.
fn chain(depth: usize) -> String {
    let groups = "required group g { ".repeat(depth);
    format!(
        "message m {{ {groups} required int32 a; {} }}",
        "} ".repeat(depth)
    )
}

#[test]
fn depth_and_nodes_are_limited() {
    let mut limits = Limits::default();
    limits.schema_depth = 3;
    assert!(ParquetSchema::from_message(&chain(2), &limits).is_ok());
    limits.schema_depth = 2;
    let error = ParquetSchema::from_message(&chain(2), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.remedy(), Some(Remedy::RaiseLimit("schema_depth")));
    let expected = "schema, line 1, column 52: found a node beyond the limit `schema_depth` of 2";
    assert_eq!(error.message(), expected);
    limits = Limits::default();
    limits.schema_nodes = 4;
    assert!(ParquetSchema::from_message(&chain(2), &limits).is_ok());
    limits.schema_nodes = 3;
    let error = ParquetSchema::from_message(&chain(2), &limits).unwrap_err();
    assert_eq!(error.limit_name(), Some("schema_nodes"));
    let expected = "schema, line 1, column 52: found a node beyond the limit `schema_nodes` of 3";
    assert_eq!(error.message(), expected);
    let error = chain(1_000_000).parse::<ParquetSchema>().unwrap_err();
    assert_eq!(error.limit_name(), Some("schema_depth"));
}

/// Each prefix of a text, and each text that lacks one of its bytes, is a schema or an error with
/// advice.
#[test]
fn damaged_texts_are_refused() {
    let text = r#"message m { required int64 id (INTEGER(64,true)) = 1;
        optional group "l i" (LIST) {
        repeated group list { optional binary "\u{e9}ü" (GEOGRAPHY("a,b",KARNEY)); } }
        optional int32 b (UNRECOGNIZED(9,0x1500)); }"#;
    let whole = parse(text);
    for (at, c) in text.char_indices() {
        assert!(text[..at].parse::<ParquetSchema>().is_err());
        let without = format!("{}{}", &text[..at], &text[at + c.len_utf8()..]);
        match without.parse::<ParquetSchema>() {
            Ok(schema) => assert_eq!(parse(&schema.to_string()), schema),
            Err(error) => assert!(error.message().contains("; write "), "{error}"),
        }
    }
    assert_eq!(parse(&whole.to_string()), whole);
}

/// Numbers that look random, made by a linear congruence with the multiplier of Knuth's MMIX.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 24] = [
            'a', 'b', '0', '.', ' ', '"', '\\', '\n', '\t', '\0', '{', '}', '(', ')', ',', ';',
            '=', '\'', 'é', '\u{a0}', '\u{2028}', '\u{202e}', '\u{feff}', '😀',
        ];
        (0..self.below(6))
            .map(|_| CHARS[self.below(CHARS.len())])
            .collect()
    }

    /// Sets an annotation of any kind, on any type, in the form that the parser makes.
    fn annotate(&mut self, element: &mut SchemaElement) {
        let mut logical = LogicalType::one_of_each();
        logical.extend([
            LogicalType::Geometry {
                crs: Some(self.text()),
            },
            LogicalType::Geography {
                crs: Some(self.text()),
                algorithm: Some(EdgeInterpolationAlgorithm::from_id(
                    i32::try_from(self.below(9)).unwrap(),
                )),
            },
            LogicalType::Unrecognized {
                field_id: 99,
                parameters: self.text().into_bytes(),
            },
        ]);
        // If a GEOGRAPHY has an algorithm, the text always has the coordinate reference system.
        logical.retain(|logical| !matches!(logical, LogicalType::Geography { crs: None, .. }));
        let older = [0, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21, 77];
        match self.below(3) {
            0 => {}
            1 => crate::annotate::annotate(element, logical[self.below(logical.len())].clone()),
            _ => {
                element.converted_type =
                    Some(ConvertedType::from_id(older[self.below(older.len())]))
            }
        }
    }

    /// Appends a node with at most `depth` levels of groups below it.
    fn node(&mut self, depth: usize, out: &mut Vec<SchemaElement>) {
        let mut element = SchemaElement::new(self.text());
        element.repetition_type = Repetition::from_id(i32::try_from(self.below(3)).unwrap());
        if self.below(2) == 0 {
            element.field_id = Some(i32::try_from(self.below(1000)).unwrap() - 500);
        }
        if depth > 0 && self.below(3) == 0 {
            self.annotate(&mut element);
            return self.group(element, depth, out);
        }
        element.type_ = Some(Type::ALL[self.below(Type::ALL.len())]);
        if element.type_ == Some(Type::FixedLenByteArray) {
            element.type_length = Some(i32::try_from(self.below(20)).unwrap());
        }
        self.annotate(&mut element);
        out.push(element);
    }

    fn group(&mut self, mut element: SchemaElement, depth: usize, out: &mut Vec<SchemaElement>) {
        let fields = self.below(5);
        element.num_children = Some(i32::try_from(fields).unwrap());
        out.push(element);
        (0..fields).for_each(|_| self.node(depth - 1, out));
    }
}

#[test]
fn generated_schemas_are_read_as_they_were_printed() {
    let mut numbers = Numbers(1);
    let mut nodes = 0;
    for _ in 0..2000 {
        let mut elements = Vec::new();
        let name = numbers.text();
        numbers.group(SchemaElement::new(name), 6, &mut elements);
        let schema = ParquetSchema::new(&elements, &Limits::default()).unwrap();
        nodes += elements.len();
        assert_eq!(parse(&schema.to_string()), schema, "{schema}");
    }
    assert!(nodes > 5000, "{nodes}");
}

/// The text does not show which of the footer's two fields contained the annotation.
#[test]
fn an_annotation_in_one_field_of_the_footer_is_read_into_both() {
    for text in [
        "optional binary a (STRING);",
        "optional binary a (converted:JSON);",
    ] {
        let stored = schema(text);
        let read = parse(&stored.to_string());
        assert_ne!(read, stored);
        assert_eq!(read.to_string(), stored.to_string());
        assert_eq!(read.is_text(0), stored.is_text(0));
    }
}
