//! Tests of lists, maps and structs in every form, and of their levels.

use super::{arrow, describe, levels, mapped, schema};
use crate::{ListLayout, SchemaOptions, to_arrow};

/// Returns the Arrow field and the levels of a single field.
fn of(field: &str) -> (String, String) {
    let mapping = mapped(field);
    (describe(&mapping), levels(&mapping.fields[0]))
}

fn check(field: &str, expected: &str, expected_levels: &str) {
    let (text, levels) = of(field);
    assert_eq!(text, expected, "{field}");
    assert_eq!(levels, expected_levels, "{field}");
}

#[test]
fn structs() {
    check(
        "optional group a { required int32 x; optional group b { optional int32 y; } }",
        "a: Struct<x: Int32 not null, b: Struct<y: Int32>>",
        "1?(1 #0, 2?(3? #1))",
    );
    check(
        "required group a { required int32 x; }",
        "a: Struct<x: Int32 not null> not null",
        "0(0 #0)",
    );
}

#[test]
fn three_levels() {
    check(
        "optional group a (LIST) { repeated group list { optional int32 element; } }",
        "a: List<element: Int32>",
        "1?[1/2 3? #0]",
    );
    check(
        "required group a (LIST) { repeated group list { required int32 element; } }",
        "a: List<element: Int32 not null> not null",
        "0[1/1 1 #0]",
    );
    // Names do not matter.
    check(
        "optional group a (converted:LIST) { repeated group bag { optional int32 array_element; } }",
        "a: List<array_element: Int32>",
        "1?[1/2 3? #0]",
    );
    check(
        "optional group my_list (LIST) { repeated group element { required binary str (STRING); } }",
        "my_list: List<str: Utf8 not null>",
        "1?[1/2 2 #0]",
    );
    check(
        "optional group a (LIST) { repeated group list { optional group element {
            required int32 x; optional int32 y; } } }",
        "a: List<element: Struct<x: Int32 not null, y: Int32>>",
        "1?[1/2 3?(3 #0, 4? #1)]",
    );
    check(
        "optional group a (LIST) { repeated group list { optional group element (LIST) {
            repeated group list { optional int32 element; } } } }",
        "a: List<element: List<element: Int32>>",
        "1?[1/2 3?[2/4 5? #0]]",
    );
}

#[test]
fn two_levels() {
    check(
        "optional group a (LIST) { repeated int32 array; }",
        "a: List<array: Int32 not null>",
        "1?[1/2 2 #0]",
    );
    check(
        "required group a (LIST) { repeated int32 element; }",
        "a: List<element: Int32 not null> not null",
        "0[1/1 1 #0]",
    );
    // The group has several fields, so it is the element.
    check(
        "optional group a (LIST) { repeated group element {
            required binary str (STRING); optional int32 num; } }",
        "a: List<element: Struct<str: Utf8 not null, num: Int32> not null>",
        "1?[1/2 2(2 #0, 3? #1)]",
    );
    // The group's only field is itself repeated, so the group is the element.
    check(
        "optional group a (LIST) { repeated group list { repeated int32 x; } }",
        "a: List<list: Struct<x: List<x: Int32 not null> not null> not null>",
        "1?[1/2 2(2[2/3 3 #0])]",
    );
    // The group has one field, but its name marks it as the element.
    check(
        "optional group a (LIST) { repeated group array { required binary str (STRING); } }",
        "a: List<array: Struct<str: Utf8 not null> not null>",
        "1?[1/2 2(2 #0)]",
    );
    check(
        "optional group my_list (LIST) { repeated group my_list_tuple { optional int32 x; } }",
        "my_list: List<my_list_tuple: Struct<x: Int32> not null>",
        "1?[1/2 2(3? #0)]",
    );
    // A group named like another list's tuple is an ordinary wrapper.
    check(
        "optional group my_list (LIST) { repeated group other_tuple { optional int32 x; } }",
        "my_list: List<x: Int32>",
        "1?[1/2 3? #0]",
    );
}

#[test]
fn two_levels_of_lists_and_maps() {
    check(
        "optional group a (LIST) { repeated group array (LIST) { repeated int32 array; } }",
        "a: List<array: List<array: Int32 not null> not null>",
        "1?[1/2 2[2/3 3 #0]]",
    );
    check(
        "optional group a (LIST) { repeated group x (LIST) {
            repeated group list { optional int32 element; } } }",
        "a: List<x: List<element: Int32> not null>",
        "1?[1/2 2[2/3 4? #0]]",
    );
    check(
        "optional group a (LIST) { repeated group array (MAP) {
            repeated group key_value { required int32 key; optional int32 value; } } }",
        "a: List<array: Map<key_value: Struct<key: Int32 not null, value: Int32> not null> \
         not null>",
        "1?[1/2 2{2/3 3(3 #0, 4? #1)}]",
    );
}

#[test]
fn repeated_fields_without_annotation() {
    check(
        "repeated int32 a;",
        "a: List<a: Int32 not null> not null",
        "0[1/1 1 #0]",
    );
    check(
        "optional group g { repeated int32 a; }",
        "g: Struct<a: List<a: Int32 not null> not null>",
        "1?(1[1/2 2 #0])",
    );
    check(
        "repeated group a { required int32 x; repeated int32 y; }",
        "a: List<a: Struct<x: Int32 not null, y: List<y: Int32 not null> not null> not null> \
         not null",
        "0[1/1 1(1 #0, 1[2/2 2 #1])]",
    );
    // A repeated list is a list of lists.
    check(
        "repeated group a (LIST) { repeated int32 array; }",
        "a: List<a: List<array: Int32 not null> not null> not null",
        "0[1/1 1[2/2 2 #0]]",
    );
}

#[test]
fn maps() {
    check(
        "optional group a (MAP) { repeated group key_value {
            required binary key (STRING); optional int32 value; } }",
        "a: Map<key_value: Struct<key: Utf8 not null, value: Int32> not null>",
        "1?{1/2 2(2 #0, 3? #1)}",
    );
    // Names do not matter, and the annotation of the inner group is ignored.
    check(
        "required group a (converted:MAP) { repeated group map (MAP_KEY_VALUE) {
            required int32 str; required int32 num; } }",
        "a: Map<map: Struct<str: Int32 not null, num: Int32 not null> not null> not null",
        "0{1/1 1(1 #0, 1 #1)}",
    );
    // Here, the outer group has the inner annotation.
    check(
        "optional group a (MAP_KEY_VALUE) { repeated group map {
            required int32 key; optional int32 value; } }",
        "a: Map<map: Struct<key: Int32 not null, value: Int32> not null>",
        "1?{1/2 2(2 #0, 3? #1)}",
    );
    // Arrow's keys are never null, although the file's can be.
    check(
        "optional group a (MAP) { repeated group key_value {
            optional int32 key; optional int32 value; } }",
        "a: Map<key_value: Struct<key: Int32 not null, value: Int32> not null>",
        "1?{1/2 2(3? #0, 3? #1)}",
    );
    check(
        "optional group a (MAP) { repeated group key_value { required group key {
            required int32 x; } optional group value (LIST) { repeated int32 array; } } }",
        "a: Map<key_value: Struct<key: Struct<x: Int32 not null> not null, \
         value: List<array: Int32 not null>> not null>",
        "1?{1/2 2(2(2 #0), 3?[2/4 4 #1])}",
    );
}

#[test]
fn a_map_of_keys_alone_is_a_list() {
    check(
        "optional group a (MAP) { repeated group key_value { required int32 key; } }",
        "a: List<key: Int32 not null>",
        "1?[1/2 2 #0]",
    );
}

#[test]
fn annotations_that_do_not_fit_leave_a_struct() {
    for (field, expected) in [
        (
            "optional group a (LIST) { optional int32 x; }",
            "a: Struct<x: Int32>",
        ),
        (
            "optional group a (LIST) { repeated int32 x; optional int32 y; }",
            "a: Struct<x: List<x: Int32 not null> not null, y: Int32>",
        ),
        (
            "optional group a (MAP) { repeated int32 key; }",
            "a: Struct<key: List<key: Int32 not null> not null>",
        ),
        (
            "optional group a (MAP) { repeated group kv {
                required int32 k; optional int32 v; optional int32 w; } }",
            "a: Struct<kv: List<kv: Struct<k: Int32 not null, v: Int32, w: Int32> not null> \
             not null>",
        ),
        (
            "optional group a (MAP) { optional group kv { required int32 k; } }",
            "a: Struct<kv: Struct<k: Int32 not null>>",
        ),
    ] {
        let mapping = mapped(field);
        assert_eq!(describe(&mapping), expected, "{field}");
        assert_eq!(mapping.warnings.len(), 1, "{field}");
    }
    // A column's annotation has no meaning on a group.
    let mapping = mapped("optional group a (STRING) { optional int32 x; }");
    assert_eq!(describe(&mapping), "a: Struct<x: Int32>");
}

#[test]
fn groups_without_columns_are_empty_structs() {
    check("optional group a { }", "a: Struct<>", "1?()");
    check(
        "optional group a { required group b { } optional int32 x; }",
        "a: Struct<b: Struct<> not null, x: Int32>",
        "1?(1(), 2? #0)",
    );
    check("repeated group a { }", "a: Struct<> not null", "1()");
    check(
        "optional group a (LIST) { repeated group list { optional group element { } } }",
        "a: Struct<list: Struct<element: Struct<>> not null>",
        "1?(2(3?()))",
    );
    check(
        "optional group a (MAP) { repeated group kv {
            required int32 key; optional group value { } } }",
        "a: Map<kv: Struct<key: Int32 not null, value: Struct<>> not null>",
        "1?{1/2 2(2 #0, 3?())}",
    );
}

#[test]
fn groups_with_a_meaning_of_their_own_keep_it() {
    assert_eq!(
        arrow(
            "optional group v (VARIANT(1)) { required binary metadata; required binary value; }
             optional group f (FILE) { optional binary uri (STRING); }"
        ),
        "v: Struct<metadata: Binary not null, value: Binary not null> \
         {ARROW:extension:metadata=} {ARROW:extension:name=arrow.parquet.variant}; \
         f: Struct<uri: Utf8> {ARROW:extension:metadata=} {ARROW:extension:name=arrow.parquet.file}"
    );
}

#[test]
fn variants_are_what_they_say() {
    // The fields can be in any order, values can be shredded, and the version can be missing.
    let extended = "{ARROW:extension:metadata=} {ARROW:extension:name=arrow.parquet.variant}";
    assert_eq!(
        arrow(
            "optional group v (VARIANT) { optional group typed_value { required group a {
                optional int64 typed_value; } } required binary metadata; }"
        ),
        format!(
            "v: Struct<typed_value: Struct<a: Struct<typed_value: Int64> not null>, \
             metadata: Binary not null> {extended}"
        )
    );
    // An invalid variant stays a struct, and so does one of an unknown future version.
    for (version, fields) in [
        ("(1)", "required binary metadata;"),
        ("(1)", "required binary value;"),
        (
            "(1)",
            "required binary metadata (STRING); required binary value;",
        ),
        (
            "(1)",
            "required binary metadata; required binary value; optional int32 x;",
        ),
        (
            "(1)",
            "required binary metadata; optional int32 typed_value (INTEGER(32,false));",
        ),
        (
            "(1)",
            "required binary metadata; optional group typed_value { optional int32 a; }",
        ),
        ("(2)", "required binary metadata; required binary value;"),
    ] {
        let text = arrow(&format!(
            "optional group v (VARIANT{version}) {{ {fields} }}"
        ));
        assert!(text.contains("PARQUET:logical_type=VARIANT"), "{text}");
        assert!(!text.contains("extension"), "{text}");
    }
}

#[test]
fn field_ids_at_every_level() {
    assert_eq!(
        arrow(
            "optional group a (LIST) = 1 { repeated group list = 2 { optional int32 element = 3; } }
             optional group m (MAP) = 4 { repeated group key_value = 5 {
                required int32 key = 6; optional int32 value = 7; } }
             optional group s = 8 { optional int32 x = 9; }
             repeated int32 r = 10;"
        ),
        "a: List<element: Int32 {PARQUET:field_id=3}> {PARQUET:field_id=1}; \
         m: Map<key_value: Struct<key: Int32 not null {PARQUET:field_id=6}, \
         value: Int32 {PARQUET:field_id=7}> not null {PARQUET:field_id=5}> {PARQUET:field_id=4}; \
         s: Struct<x: Int32 {PARQUET:field_id=9}> {PARQUET:field_id=8}; \
         r: List<r: Int32 not null {PARQUET:field_id=10}> not null {PARQUET:field_id=10}"
    );
}

#[test]
fn list_layouts() {
    let fields = "repeated int32 a; optional group b (LIST) { repeated int32 array; }
        optional group c (MAP) { repeated group kv { required int32 key; } }";
    for (lists, name) in [
        (ListLayout::LargeOffsets, "LargeList"),
        (ListLayout::Views, "ListView"),
    ] {
        let options = SchemaOptions {
            lists,
            ..SchemaOptions::default()
        };
        let mapping = to_arrow(&schema(fields), &[], &options).unwrap();
        assert_eq!(
            describe(&mapping),
            format!(
                "a: {name}<a: Int32 not null> not null; b: {name}<array: Int32 not null>; \
                 c: {name}<key: Int32 not null>"
            )
        );
    }
}
