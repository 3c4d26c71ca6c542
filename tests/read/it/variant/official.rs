//! Tests the files of `shredded_variant` in apache/parquet-testing, and the values in `variant` there.

use std::path::Path;

use herringbone::arrow::array::RecordBatch;
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{GetOptions, Shredder, UnshredOptions, VariantArray};
use herringbone::variant::{Limits, Metadata, Variant, VariantBuf, VariantPath};
use herringbone::{ParquetFile, ReadOptions, Result};
use serde_json::Value as Json;

use super::{batch, batches, lenient, primitive, written};
use crate::files;

/// The cases that must be errors. Case 3 has no file.
const ERRORS: [u64; 6] = [40, 42, 87, 127, 128, 137];
/// The cases that may be errors, or may be read from the shredded columns.
const INVALID: [u64; 2] = [43, 125];

type Row = Option<VariantBuf>;

#[test]
fn shredded_cases() {
    let Some(root) = files::official() else {
        return;
    };
    let folder = root.join("shredded_variant");
    let cases = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&cases).unwrap();
    let mut files = 0;
    for case in &cases {
        let number = case["case_number"].as_u64().unwrap();
        let Some(name) = case["parquet_file"].as_str() else {
            assert_eq!(number, 3);
            continue;
        };
        files += 1;
        let file = ParquetFile::open(folder.join(name)).unwrap();
        let expected = expected(&folder, case);
        for (is_lenient, unshred) in [(false, UnshredOptions::default()), (true, lenient())] {
            let whole = whole(&file, &unshred);
            let by_path = by_path(&file, &unshred);
            if ERRORS.contains(&number) && !(is_lenient && whole.is_ok()) {
                assert!(whole.is_err(), "case {number} is read");
                assert!(by_path.is_err(), "case {number} is read by path");
            } else if INVALID.contains(&number) && !is_lenient {
                assert!(whole.is_err(), "case {number} is read");
            } else if !ERRORS.contains(&number) {
                check(number, &whole.unwrap(), &expected);
                check(number, &by_path.unwrap(), &expected);
            }
        }
    }
    assert_eq!(files, 137);
}

/// Returns the column `var`, read with the extension type.
fn whole(file: &ParquetFile, unshred: &UnshredOptions) -> Result<Vec<Row>> {
    let extension = VariantExtension::new().unshred(unshred.clone());
    let batches = batches(file, ReadOptions::new().extension(extension))?;
    for batch in &batches {
        let field = batch.schema().field_with_name("var").unwrap().clone();
        assert_eq!(field.extension_type_name(), Some("arrow.parquet.variant"));
        assert!(!field.metadata().contains_key("PARQUET:logical_type"));
    }
    rows(&batches, "var")
}

/// Returns the column `var`, read by the root path as a column of its own.
fn by_path(file: &ParquetFile, unshred: &UnshredOptions) -> Result<Vec<Row>> {
    let mut get = GetOptions::default();
    get.unshred = unshred.clone();
    let get = VariantGet::new(VariantPath::root()).options(get);
    let options = ReadOptions::new().columns(["id"]);
    let batches = batches(file, options.extension_column("whole", ["var"], get))?;
    rows(&batches, "whole")
}

fn rows(batches: &[RecordBatch], name: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for batch in batches {
        let array = VariantArray::try_new(batch.column_by_name(name).unwrap())?;
        for row in 0..array.len() {
            rows.push(array.value(row, &UnshredOptions::default())?);
        }
    }
    Ok(rows)
}

/// Returns a case's values.
fn expected(folder: &Path, case: &Json) -> Vec<Row> {
    let read = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let size = Metadata::new(&bytes).unwrap().as_bytes().len();
        let (metadata, value) = bytes.split_at(size);
        let limits = Limits::default();
        VariantBuf::validated(metadata.to_vec(), value.to_vec(), &limits).unwrap()
    };
    match (
        case["variant_file"].as_str(),
        case["variant_files"].as_array(),
    ) {
        (Some(name), _) => vec![Some(read(name))],
        (_, Some(names)) => names.iter().map(|name| name.as_str().map(read)).collect(),
        _ => Vec::new(),
    }
}

fn check(number: u64, rows: &[Row], expected: &[Row]) {
    assert_eq!(rows.len(), expected.len(), "case {number}");
    for (row, expected) in rows.iter().zip(expected) {
        let (Some(row), Some(expected)) = (row, expected) else {
            assert_eq!(row.is_some(), expected.is_some(), "case {number}");
            continue;
        };
        same(&format!("case {number}"), row, expected);
    }
}

fn same(what: &str, row: &VariantBuf, expected: &VariantBuf) {
    let (row, expected) = (row.as_variant(), expected.as_variant());
    assert!(row.equals(&expected, &Limits::default()).unwrap(), "{what}");
    // The type must be equal, too, and not only the value.
    assert_eq!(row.variant_type(), expected.variant_type(), "{what}");
}

/// Each value of the corpus goes through files, both shredded and unshredded.
#[test]
fn values_come_back_from_files() {
    let Some(root) = files::official() else {
        return;
    };
    let folder = root.join("variant");
    let mut pairs = Vec::new();
    for path in std::fs::read_dir(&folder).unwrap() {
        let path = path.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "value")
        {
            let value = std::fs::read(&path).unwrap();
            let metadata = std::fs::read(path.with_extension("metadata")).unwrap();
            let limits = Limits::default();
            let value = VariantBuf::validated(metadata, value, &limits).unwrap();
            pairs.push((path.display().to_string(), value));
        }
    }
    assert_eq!(pairs.len(), 29);
    let values: Vec<Variant<'_>> = pairs.iter().map(|(_, it)| it.as_variant()).collect();
    let mut ways = vec![Shredding::None, Shredding::Infer(Default::default())];
    for pair in &values {
        let inferred = super::ShreddingType::infer([*pair], &Default::default()).unwrap();
        ways.push(Shredding::As(inferred));
    }
    ways.push(Shredding::As(primitive(super::PrimitiveType::Int16)));
    for way in ways {
        let mut shredder = Shredder::new(super::ShreddingType::Unshredded).unwrap();
        for value in &values {
            shredder.append(*value).unwrap();
        }
        let file = written(&[batch(shredder.finish().unwrap())], way.clone());
        let options = ReadOptions::new().extension(VariantExtension::new());
        let batches = batches(&file, options).unwrap();
        for ((name, expected), row) in pairs.iter().zip(rows(&batches, "v").unwrap()) {
            let row = row.unwrap();
            let (row, expected) = (row.as_variant(), expected.as_variant());
            let equal = row.equals(&expected, &Limits::default()).unwrap();
            assert!(equal, "{name} by {way:?}");
        }
    }
}
