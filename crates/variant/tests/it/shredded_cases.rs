//! Reads the files of the folder `shredded_variant` in apache/parquet-testing, like the `parquet`
//! crate.

use std::path::Path;

use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_format::Result;
use herringbone_variant::shredding::{UnshredOptions, VariantArray};
use herringbone_variant::{Limits, Metadata, Variant};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value as Json;

/// The cases that a reader must refuse. Case 3 has no file.
const ERRORS: [u64; 6] = [40, 42, 87, 127, 128, 137];
/// The cases that a reader may refuse, or may read as their shredded value.
const INVALID: [u64; 2] = [43, 125];

#[test]
fn official_cases() {
    let Some(folder) = crate::official::folder() else {
        return;
    };
    let folder = folder.join("../shredded_variant");
    let cases = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&cases).unwrap();
    let mut files = 0;
    for case in &cases {
        let number = case["case_number"].as_u64().unwrap();
        let Some(file) = case["parquet_file"].as_str() else {
            assert_eq!(number, 3);
            continue;
        };
        files += 1;
        let column = read(&folder.join(file));
        let strict = values(&column, &UnshredOptions::default());
        let mut options = UnshredOptions::default();
        options.lenient = true;
        let lenient = values(&column, &options);
        let expected = expected(&folder, case);
        if ERRORS.contains(&number) {
            assert!(strict.is_err(), "case {number} is read");
            continue;
        }
        if INVALID.contains(&number) {
            assert!(strict.is_err(), "case {number} is read");
        } else {
            check(number, strict.unwrap(), &expected);
        }
        check(number, lenient.unwrap(), &expected);
    }
    assert_eq!(files, 137);
}

/// Returns a file's column `var`.
fn read(path: &Path) -> ArrayRef {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let mut batches = reader.build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch.column_by_name("var").unwrap().clone()
}

type Row = Option<(Vec<u8>, Vec<u8>)>;

fn values(column: &ArrayRef, options: &UnshredOptions) -> Result<Vec<Row>> {
    let array = VariantArray::try_new(column)?;
    let rows = (0..array.len()).map(|row| {
        let value = array.value(row, options)?;
        Ok(value.map(herringbone_variant::VariantBuf::into_parts))
    });
    let rows: Vec<Row> = rows.collect::<Result<_>>()?;
    // If we unshred all rows at once, the result is the same.
    let unshredded = array.unshred(options)?;
    assert_eq!(unshredded.len(), rows.len());
    let unshredded = VariantArray::try_new(&unshredded)?;
    for (row, expected) in rows.iter().enumerate() {
        let value = unshredded.value(row, options)?;
        let value = value.map(herringbone_variant::VariantBuf::into_parts);
        assert_eq!(&value, expected);
    }
    Ok(rows)
}

/// Returns the metadata and value of each row.
fn expected(folder: &Path, case: &Json) -> Vec<Row> {
    let read = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let size = Metadata::new(&bytes).unwrap().as_bytes().len();
        let (metadata, value) = bytes.split_at(size);
        (metadata.to_vec(), value.to_vec())
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

fn check(number: u64, rows: Vec<Row>, expected: &[Row]) {
    assert_eq!(rows.len(), expected.len(), "case {number}");
    for (row, expected) in rows.iter().zip(expected) {
        let (Some(row), Some(expected)) = (row, expected) else {
            assert_eq!(row.is_some(), expected.is_some(), "case {number}");
            continue;
        };
        let limits = Limits::default();
        let row = Variant::validated(&row.0, &row.1, &limits).unwrap();
        let expected = Variant::validated(&expected.0, &expected.1, &limits).unwrap();
        assert!(row.equals(&expected, &limits).unwrap(), "case {number}");
        // The values are not only equal, but have exactly the same type.
        assert_eq!(row.variant_type(), expected.variant_type(), "case {number}");
    }
}
