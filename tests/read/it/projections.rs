//! Tests columns that are chosen by nested paths and by field ids, and pruned lists, structs and maps.

use herringbone::{Error, ErrorKind, ParquetFile, Projection, ReadOptions};

use crate::files;
use crate::remote;
use crate::table::{Table, without_panic};

fn read(name: &str, projection: Projection) -> Result<Table, Error> {
    let path = files::testdata().join(format!("{name}.parquet"));
    let options = ReadOptions::default().projection(projection);
    let file = ParquetFile::open(path)?;
    remote::compare(&file, &options);
    Table::read(file.read(options)?)
}

fn path(parts: &[&str]) -> Projection {
    Projection::Paths(vec![parts.iter().map(|part| (*part).to_owned()).collect()])
}

/// Returns the name, type and values of the only column.
fn only(name: &str, projection: Projection) -> (String, String, Vec<String>) {
    let table = read(name, projection).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(table.columns.len(), 1, "{name}: {:?}", table.fields);
    let (field, data_type) = table.fields[0].clone();
    (field, data_type, table.columns[0].clone())
}

/// A leaf's path selects the same column as its ordinal, in every file without duplicate paths.
#[test]
fn paths_choose_what_ordinals_choose() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for file_path in files::generated() {
        let name = files::short(&file_path);
        let file = ParquetFile::open(&file_path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let schema = file.parquet_schema();
        let paths: Vec<Vec<String>> = (0..schema.leaves().len())
            .map(|leaf| {
                schema
                    .path(leaf)
                    .iter()
                    .map(|part| (*part).to_owned())
                    .collect()
            })
            .collect();
        if (1..paths.len()).any(|i| paths[..i].contains(&paths[i])) {
            continue;
        }
        let read = |projection: Projection| -> Result<Table, Error> {
            Table::read(file.read(ReadOptions::default().threads(1).projection(projection))?)
        };
        for (leaf, path) in paths.iter().enumerate() {
            let both = without_panic(|| {
                let by_path = read(Projection::Paths(vec![path.clone()]))?;
                Ok::<_, Error>((by_path, read(Projection::Leaves(vec![leaf]))?))
            });
            compared += 1;
            match both {
                Err(panic) => wrong.push(format!("{name} {path:?}: panic: {panic}")),
                Ok(Err(error)) => wrong.push(format!("{name} {path:?}: {error}")),
                Ok(Ok((a, b))) => {
                    wrong.extend(
                        a.difference(&b, true)
                            .map(|d| format!("{name} {path:?}: {d}")),
                    );
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 500, "{compared} paths");
}

#[test]
fn a_struct_keeps_its_nulls_around_one_field() {
    let (name, data_type, values) = only("built/list_two_level_struct", path(&["x", "b"]));
    assert_eq!(
        (name.as_str(), data_type.as_str()),
        ("x", "list<struct<b: utf8> not null>")
    );
    assert_eq!(
        values,
        [r#"[{"b":"p"},{"b":null}]"#, "null", "[]", r#"[{"b":"q"}]"#]
    );
}

#[test]
fn a_map_projected_to_its_values_keeps_its_keys() {
    let (_, data_type, values) = only("built/map", Projection::Leaves(vec![1]));
    assert_eq!(data_type, "map<utf8 not null, int32>");
    assert_eq!(
        values,
        [r#"[["k",1],["l",null]]"#, "null", "[]", r#"[["k",3]]"#]
    );
}

#[test]
fn a_map_projected_to_its_keys_is_a_list() {
    let (_, data_type, values) = only("built/map", Projection::Leaves(vec![0]));
    assert_eq!(data_type, "list<utf8 not null>");
    assert_eq!(values, [r#"["k","l"]"#, "null", "[]", r#"["k"]"#]);
}

#[test]
fn field_ids_choose_at_every_level() {
    let ids = |ids: &[i32]| Projection::FieldIds(ids.to_vec());
    let (name, data_type, values) = only("built/field_ids", ids(&[i32::MAX]));
    assert_eq!(
        (name.as_str(), data_type.as_str()),
        ("list", "list<struct<b: int32 not null>>")
    );
    assert_eq!(values, [r#"[{"b":20},null]"#, "null"]);
    let (_, data_type, _) = only("built/field_ids", ids(&[1]));
    assert_eq!(
        data_type,
        "list<struct<a: int32 not null, b: int32 not null>>"
    );
    let (name, _, values) = only("built/field_ids", ids(&[0]));
    assert_eq!(
        (name.as_str(), values),
        ("plain", vec!["1".to_owned(), "2".to_owned()])
    );
    let (name, data_type, _) = only("built/field_ids", ids(&[7]));
    assert_eq!(
        (name.as_str(), data_type.as_str()),
        ("map", "map<utf8 not null, int32>")
    );
}

/// It is an argument error if a name is unknown or ambiguous, or if an ordinal is out of range.
#[test]
fn what_is_not_there_is_an_argument_error() {
    let names = |name: &str| Projection::Names(vec![name.to_owned()]);
    for (file, projection) in [
        ("built/map", names("y")),
        ("built/map", path(&["x", "z"])),
        ("built/map", path(&["x", "key_value", "key", "deeper"])),
        ("built/map", path(&[])),
        ("built/map", Projection::Leaves(vec![2])),
        ("built/field_ids", Projection::FieldIds(vec![1234])),
        ("built/duplicate_names", names("a")),
        ("built/duplicate_names", path(&["s", "b"])),
    ] {
        let what = format!("{file} {projection:?}");
        match read(file, projection) {
            Ok(table) => panic!("{what}: {:?}", table.fields),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Argument, "{what}: {error}"),
        }
    }
}

#[test]
fn duplicate_names_are_reached_by_ordinal() {
    let (name, data_type, values) = only("built/duplicate_names", Projection::Leaves(vec![1]));
    assert_eq!((name.as_str(), data_type.as_str()), ("a", "utf8"));
    assert_eq!(values, [r#""one""#, "null"]);
    let (_, data_type, values) = only("built/duplicate_names", Projection::Leaves(vec![3]));
    assert_eq!(data_type, "struct<b: float64 not null> not null");
    assert_eq!(values, [r#"{"b":5e-1}"#, r#"{"b":1.5e0}"#]);
}

#[test]
fn names_with_dots_are_one_part() {
    let (name, _, values) = only("built/dots_and_odd_names", path(&["a.b"]));
    assert_eq!((name.as_str(), values), ("a.b", vec!["0".to_owned()]));
    let (name, _, values) = only("built/dots_and_odd_names", path(&["a", "b"]));
    assert_eq!(
        (name.as_str(), values),
        ("a", vec![r#"{"b":1}"#.to_owned()])
    );
}
