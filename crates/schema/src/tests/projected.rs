//! Tests of projections by name, path, leaf and field ID.

use herringbone_format::ErrorKind;

use super::{describe, levels, mapped, schema};
use crate::{ArrowMapping, Projection, SchemaOptions, to_arrow_projected};

const FIELDS: &str = "required int32 id = 1;
    optional group s = 2 { optional int32 x = 3; optional group t { optional int32 y; } }
    optional group l (LIST) = 4 { repeated group list = 5 { optional group element = 6 {
        optional int32 a = 7; optional int32 b; } } }
    optional group m (MAP) { repeated group key_value {
        required group key { required int32 k1; required int32 k2; } = 8;
        optional group value { optional int32 v1; optional int32 v2; } } }
    repeated group r { optional int32 p; optional int32 q; }
    optional group e { }";

fn file() -> ArrowMapping {
    mapped(&fields())
}

fn fields() -> String {
    // In the parser's message syntax, a group's ID precedes its fields.
    FIELDS
        .replace("; } = 8;", "; }")
        .replace("group key {", "group key = 8 {")
}

fn paths(paths: &[&[&str]]) -> Projection {
    let parts = |path: &&[&str]| path.iter().map(|&part| part.to_owned()).collect();
    Projection::Paths(paths.iter().map(parts).collect())
}

fn names(names: &[&str]) -> Projection {
    Projection::Names(names.iter().map(|&name| name.to_owned()).collect())
}

fn projected(projection: &Projection) -> String {
    let projected = file().project(projection).unwrap();
    let options = SchemaOptions::default();
    let at_once = to_arrow_projected(&schema(&fields()), &[], &options, projection).unwrap();
    assert_eq!(
        (&at_once.schema, &at_once.fields),
        (&projected.schema, &projected.fields)
    );
    describe(&projected)
}

fn error(projection: &Projection) -> String {
    let error = file().project(projection).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let options = SchemaOptions::default();
    let at_once = to_arrow_projected(&schema(&fields()), &[], &options, projection);
    assert_eq!(at_once.unwrap_err().message(), error.message());
    error.message().to_owned()
}

#[test]
fn all_and_nothing() {
    let file = file();
    let all = file.project(&Projection::All).unwrap();
    assert_eq!(describe(&all), describe(&file));
    assert_eq!(file.leaves(), (0..11).collect::<Vec<_>>());
    for nothing in [Projection::Leaves(vec![]), names(&[]), paths(&[])] {
        let nothing = file.project(&nothing).unwrap();
        assert!(nothing.fields.is_empty() && nothing.schema.fields().is_empty());
    }
}

#[test]
fn names_in_the_order_of_the_file() {
    assert_eq!(
        projected(&names(&["e", "s", "id", "s"])),
        "id: Int32 not null {PARQUET:field_id=1}; s: Struct<x: Int32 {PARQUET:field_id=3}, \
         t: Struct<y: Int32>> {PARQUET:field_id=2}; e: Struct<>"
    );
}

#[test]
fn parts_of_structs() {
    assert_eq!(
        projected(&paths(&[&["s", "t"]])),
        "s: Struct<t: Struct<y: Int32>> {PARQUET:field_id=2}"
    );
    assert_eq!(
        projected(&paths(&[&["s", "t", "y"], &["s", "x"]])),
        projected(&names(&["s"]))
    );
}

#[test]
fn parts_of_lists_with_and_without_the_wrappers() {
    let expected = "l: List<element: Struct<a: Int32 {PARQUET:field_id=7}> \
         {PARQUET:field_id=6}> {PARQUET:field_id=4}";
    for path in [
        &["l", "list", "element", "a"][..],
        &["l", "a"],
        &["l", "element", "a"],
        &["l", "list", "a"],
    ] {
        assert_eq!(projected(&paths(&[path])), expected, "{path:?}");
    }
    for path in [
        &["l"][..],
        &["l", "list"],
        &["l", "list", "element"],
        &["l", "element"],
    ] {
        assert_eq!(projected(&paths(&[path])), projected(&names(&["l"])));
    }
    let mapping = file().project(&paths(&[&["l", "b"]])).unwrap();
    assert_eq!(levels(&mapping.fields[0]), "1?[1/2 3?(4? #4)]");
    assert_eq!(
        projected(&paths(&[&["r", "q"]])),
        "r: List<r: Struct<q: Int32> not null> not null"
    );
}

#[test]
fn a_name_in_the_file_comes_before_a_wrapper_left_out() {
    let file = mapped(
        "optional group l (LIST) { repeated group list { optional group element {
            optional int32 element; optional int32 list; } } }",
    );
    let project = |path: &[&str]| describe(&file.project(&paths(&[path])).unwrap());
    // Both names first mean wrappers. They mean fields of the struct if there is no wrapper left to
    // name.
    let all = describe(&file);
    assert_eq!(project(&["l", "element"]), all);
    assert_eq!(project(&["l", "list"]), all);
    let element = "l: List<element: Struct<element: Int32>>";
    assert_eq!(project(&["l", "list", "element", "element"]), element);
    assert_eq!(project(&["l", "element", "element"]), element);
    let list = "l: List<element: Struct<list: Int32>>";
    assert_eq!(project(&["l", "element", "list"]), list);
    assert_eq!(project(&["l", "list", "list"]), list);
}

#[test]
fn parts_of_maps() {
    let keys = "key: Struct<k1: Int32 not null, k2: Int32 not null> not null \
        {PARQUET:field_id=8}";
    for path in [
        &["m", "value", "v2"][..],
        &["m", "key_value", "value", "v2"],
    ] {
        assert_eq!(
            projected(&paths(&[path])),
            format!("m: Map<key_value: Struct<{keys}, value: Struct<v2: Int32>> not null>")
        );
    }
    let mapping = file().project(&paths(&[&["m", "key"]])).unwrap();
    assert_eq!(describe(&mapping), format!("m: List<{keys}>"));
    assert_eq!(levels(&mapping.fields[0]), "1?[1/2 2(2 #5, 2 #6)]");
    assert_eq!(
        projected(&paths(&[&["m", "key", "k2"]])),
        "m: List<key: Struct<k2: Int32 not null> not null {PARQUET:field_id=8}>"
    );
    // This projection has the keys and a part of the values.
    assert_eq!(
        projected(&paths(&[&["m", "key", "k1"], &["m", "value", "v1"]])),
        format!("m: Map<key_value: Struct<{keys}, value: Struct<v1: Int32>> not null>")
    );
    // A projection can be projected again.
    let values = file().project(&paths(&[&["m", "value"]])).unwrap();
    let keys_again = values.project(&paths(&[&["m", "key"]])).unwrap();
    assert_eq!(describe(&keys_again), format!("m: List<{keys}>"));
}

#[test]
fn keys_that_may_be_null_stay_so_in_a_list() {
    let file = mapped(
        "optional group m (MAP) { repeated group kv { optional int32 k; optional int32 v; } }",
    );
    let keys = file.project(&Projection::Leaves(vec![0])).unwrap();
    assert_eq!(describe(&keys), "m: List<k: Int32>");
    assert_eq!(levels(&keys.fields[0]), "1?[1/2 3? #0]");
}

#[test]
fn leaves_and_field_ids() {
    assert_eq!(
        projected(&Projection::Leaves(vec![8, 0, 2])),
        "id: Int32 not null {PARQUET:field_id=1}; \
         s: Struct<t: Struct<y: Int32>> {PARQUET:field_id=2}; \
         m: Map<key_value: Struct<key: Struct<k1: Int32 not null, k2: Int32 not null> not null \
         {PARQUET:field_id=8}, value: Struct<v2: Int32>> not null>"
    );
    assert_eq!(
        projected(&Projection::FieldIds(vec![7, 2])),
        projected(&paths(&[&["l", "a"], &["s"]]))
    );
    for id in [4, 5, 6] {
        assert_eq!(
            projected(&Projection::FieldIds(vec![id])),
            projected(&names(&["l"]))
        );
    }
    assert_eq!(
        projected(&Projection::FieldIds(vec![8])),
        projected(&paths(&[&["m", "key"]]))
    );
}

#[test]
fn columns_that_are_not_there_are_named() {
    assert_eq!(
        error(&names(&["ids"])),
        "there is no column `ids`; did you mean `id`?"
    );
    assert_eq!(
        error(&names(&["ID"])),
        "there is no column `ID`; did you mean `id`?"
    );
    assert_eq!(
        error(&paths(&[&["m", "valeu", "v1"]])),
        "there is no column `m.valeu.v1`; did you mean `m.value`?"
    );
    assert_eq!(
        error(&paths(&[&["m", "kye"]])),
        "there is no column `m.kye`; did you mean `m.key`?"
    );
    assert_eq!(error(&names(&["nowhere"])), "there is no column `nowhere`");
    assert_eq!(
        error(&paths(&[&["l", "A"]])),
        "there is no column `l.A`; did you mean `l.a`?"
    );
    assert_eq!(
        error(&paths(&[&["s", "t", "z", "w"]])),
        "there is no column `s.t.z.w`"
    );
    assert_eq!(error(&paths(&[&[]])), "a column path without parts");
    assert_eq!(
        error(&Projection::Leaves(vec![11])),
        "there is no leaf 11: the file has 11 columns"
    );
    assert_eq!(
        error(&Projection::FieldIds(vec![99])),
        "no column has the field id 99"
    );
}

#[test]
fn duplicates_are_told_apart_by_ordinal_only() {
    let file = mapped(
        "optional int32 a = 1; optional int32 a = 1;
         optional group s { optional int32 x; optional int32 x; }",
    );
    for projection in [
        names(&["a"]),
        paths(&[&["s", "x"]]),
        Projection::FieldIds(vec![1]),
    ] {
        let error = file.project(&projection).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains("by its leaf index"), "{error}");
    }
    let one = file.project(&Projection::Leaves(vec![1, 3])).unwrap();
    assert_eq!(one.leaves(), [1, 3]);
    assert_eq!(file.project(&names(&["s"])).unwrap().leaves(), [2, 3]);
}

#[test]
fn names_with_dots_are_single_parts() {
    let file = mapped("optional int32 `a.b`; optional group a { optional int32 b; }");
    assert_eq!(file.project(&names(&["a.b"])).unwrap().leaves(), [0]);
    assert_eq!(file.project(&paths(&[&["a", "b"]])).unwrap().leaves(), [1]);
}

#[test]
fn repeating_names_do_not_multiply_the_search() {
    // The lists are nested, with 90 nodes above the column, and all are called `x`.
    let mut fields = String::new();
    for _ in 0..45 {
        fields += "optional group x (LIST) { repeated group x { ";
    }
    fields += "optional int32 x;";
    fields += &"} }".repeat(45);
    let file = mapped(&fields);
    for parts in 1..100 {
        let path = vec!["x"; parts];
        assert_eq!(
            file.project(&paths(&[&path])).is_ok(),
            parts <= 91,
            "{parts}"
        );
    }
}
