//! Tests of the tree itself, with positions, levels, text, and invalid schemas.

use herringbone_format::{ErrorKind, Limits, Repetition, SchemaElement, Type};

use super::{elements, schema};
use crate::ParquetSchema;

fn leaf(name: &str) -> SchemaElement {
    SchemaElement::new(name.to_owned())
        .type_(Type::Int32)
        .repetition_type(Repetition::Optional)
}

fn group(name: &str, num_children: i32) -> SchemaElement {
    SchemaElement::new(name.to_owned())
        .repetition_type(Repetition::Optional)
        .num_children(num_children)
}

fn error(elements: &[SchemaElement]) -> ErrorKind {
    ParquetSchema::new(elements, &Limits::default())
        .unwrap_err()
        .kind()
}

#[test]
fn places_and_levels_of_the_nodes() {
    let schema = schema(
        "required int64 id;
         optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
         optional double score;",
    );
    let nodes: Vec<_> = schema
        .nodes()
        .iter()
        .map(|n| (n.parent, n.end, n.def_level, n.rep_level, n.leaves.clone()))
        .collect();
    assert_eq!(
        nodes,
        [
            (0, 6, 0, 0, 0..3),
            (0, 2, 0, 0, 0..1),
            (0, 5, 1, 0, 1..2),
            (2, 5, 2, 1, 1..2),
            (3, 5, 3, 1, 1..2),
            (0, 6, 1, 0, 2..3),
        ]
    );
    let leaf = schema.leaves()[1];
    assert_eq!((leaf.max_def_level, leaf.max_rep_level), (3, 1));
    assert_eq!(schema.path(1), ["tags", "list", "element"]);
    assert_eq!(schema.element(2).name, "score");
}

#[test]
fn the_text_is_the_message_syntax() {
    let text = "message m {
  required boolean a;
  optional int32 b (INTEGER(8,true)) = 5;
  repeated fixed_len_byte_array(16) c (UUID);
  optional group d (LIST) = 6 {
    repeated group list {
      optional binary element (STRING) = -7;
    }
  }
  optional int64 e (TIMESTAMP(MICROS,true));
  optional int64 f (TIMESTAMP_MILLIS);
  optional int32 g (TIME(MILLIS,false));
  optional binary h (DECIMAL(9,2));
  optional group i {
  }
  optional group j (VARIANT(1)) {
    required binary metadata;
    required binary value;
  }
  optional binary k (GEOGRAPHY(OGC:CRS84,KARNEY));
  optional binary l (UNRECOGNIZED(99));
  optional int96 n;
  optional float o;
  optional double p;
}
";
    let schema = ParquetSchema::new(&elements(text), &Limits::default()).unwrap();
    assert_eq!(schema.to_string(), text);
}

#[test]
fn a_file_without_columns_has_a_schema() {
    for num_children in [Some(0), None] {
        let root = group("schema", 0).num_children(num_children);
        let schema = ParquetSchema::new(&[root], &Limits::default()).unwrap();
        assert!(schema.leaves().is_empty());
        assert_eq!(schema.to_string(), "message schema {\n}\n");
    }
}

#[test]
fn elements_that_are_no_tree_are_corrupt() {
    assert_eq!(error(&[]), ErrorKind::Corrupt);
    assert_eq!(error(&[leaf("root")]), ErrorKind::Corrupt);
    assert_eq!(error(&[group("root", 2), leaf("a")]), ErrorKind::Corrupt);
    assert_eq!(
        error(&[group("root", i32::MAX), leaf("a")]),
        ErrorKind::Corrupt
    );
    assert_eq!(error(&[group("root", -1), leaf("a")]), ErrorKind::Corrupt);
    assert_eq!(
        error(&[group("root", 1), leaf("a"), leaf("b")]),
        ErrorKind::Corrupt
    );
    let both = leaf("a").num_children(1);
    assert_eq!(
        error(&[group("root", 1), both, leaf("b")]),
        ErrorKind::Corrupt
    );
    for type_length in [None, Some(-1)] {
        let fixed = leaf("a")
            .type_(Type::FixedLenByteArray)
            .type_length(type_length);
        assert_eq!(error(&[group("root", 1), fixed]), ErrorKind::Corrupt);
    }
}

#[test]
fn a_missing_repetition_is_required() {
    let field = leaf("a").repetition_type(None);
    let schema = ParquetSchema::new(&[group("root", 1), field], &Limits::default()).unwrap();
    assert_eq!(schema.leaves()[0].max_def_level, 0);
}

/// Returns a column at the bottom of `depth` groups.
fn chain(depth: usize) -> Vec<SchemaElement> {
    let mut elements = vec![group("g", 1); depth];
    elements.push(leaf("a"));
    elements
}

#[test]
fn depth_and_nodes_are_limited() {
    let mut limits = Limits::default();
    limits.schema_depth = 10;
    assert!(ParquetSchema::new(&chain(10), &limits).is_ok());
    let error = ParquetSchema::new(&chain(11), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    limits.schema_nodes = 10;
    let error = ParquetSchema::new(&chain(10), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn levels_fit_in_a_byte() {
    let mut limits = Limits::default();
    limits.schema_depth = 1000;
    // The root has no level, so that 254 groups and the column make 255.
    let schema = ParquetSchema::new(&chain(255), &limits).unwrap();
    assert_eq!(schema.leaves()[0].max_def_level, 255);
    let error = ParquetSchema::new(&chain(256), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// A leaf below two maps has the level of each nullable key containing it, with the inner key
/// first.
#[test]
fn null_keys_have_the_level_of_their_entries() {
    let schema = schema(
        "required group m (MAP) { repeated group key_value {
           optional group key { optional group n (MAP) { repeated group key_value {
             optional int32 key; optional int32 value; } } }
           required int32 value; } }
         optional group s (MAP) { repeated group key_value { required int32 key; } }
         optional group key { optional int32 key; }",
    );
    let expected: [(&str, &[u8]); 5] = [
        ("m.key_value.key.n.key_value.key", &[4, 1]),
        ("m.key_value.key.n.key_value.value", &[1]),
        ("m.key_value.value", &[]),
        ("s.key_value.key", &[]),
        ("key.key", &[]),
    ];
    for (leaf, (path, levels)) in expected.into_iter().enumerate() {
        assert_eq!(schema.column_path(leaf), path);
        assert_eq!(schema.path(leaf), path.split('.').collect::<Vec<_>>());
        assert_eq!(schema.null_key_levels(leaf), levels, "{path}");
    }
    assert_eq!(schema.leaves().len(), expected.len());
}
