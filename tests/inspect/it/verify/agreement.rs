//! Checks that the verdict of `verify` agrees with reads. Valid files can be read, and each error of a read is a
//! finding.
//!
//! A read ignores much that `verify` checks, such as bounds, indexes, filters and counts. So not every error of
//! `verify` is an error of the read, but errors in the data of rows are errors of both. The exception is values that
//! Arrow's arrays can represent although their annotation does not allow them. If valid data exceeds a limit or Arrow's
//! range, the read returns an error with this reason.

use herringbone::format::{ConvertedType, LogicalType, SchemaElement, TimeUnit, Type};
use herringbone::{Error, ErrorKind, ParquetFile, ReadOptions};
use herringbone_inspect::verify::{Finding, FindingKind, Severity};

use super::findings;
use crate::annotated::{converted, intervals, logical, null_key, numbers, one_column};
use crate::crafted::Page;
use crate::files;

/// Returns true if a finding concerns the data of rows.
fn is_about_rows(finding: &Finding) -> bool {
    use FindingKind::{Checksum, Nesting, Page, PageHeader, Utf8, Value};
    finding.severity == Severity::Error
        && matches!(
            finding.kind,
            Checksum | Nesting | Page | PageHeader | Utf8 | Value
        )
}

fn errors(file: &[u8]) -> Vec<Finding> {
    let mut findings = findings(file);
    findings.retain(|finding| finding.severity == Severity::Error);
    findings
}

fn read(file: &[u8]) -> Result<(), Error> {
    let file = ParquetFile::from_bytes(file.to_vec())?;
    let mut reader = file.read(ReadOptions::default().threads(1))?;
    while reader.next_batch()?.is_some() {}
    Ok(())
}

/// The valid files that a read refuses because Arrow cannot represent them.
const NO_ROOM: [&str; 6] = [
    "interval_beyond_arrow.parquet",
    "int96_beyond_nanoseconds.parquet",
    "int96_from_spark.parquet",
    "null_fixed_of_2g.parquet",
    "null_lists_of_1000.parquet",
    "null_lists_of_2g.parquet",
];

/// The invalid files that can be read. One has a page that starts inside a row, which other readers skip, and the other
/// has levels that lead to the same lists as valid levels would.
const FORGIVEN: [&str; 2] = [
    "page_of_no_rows_but_values.parquet",
    "second_element_of_a_null_list.parquet",
];

/// Returns the disagreement about a file, if there is one. Ignores files with unreadable footers.
fn disagreement(name: &str, file: &[u8]) -> Option<String> {
    if ParquetFile::from_bytes(file.to_vec()).is_err() {
        return None;
    }
    let findings = findings(file);
    let has = |severity| findings.iter().any(|finding| finding.severity == severity);
    let not_checked = findings
        .iter()
        .any(|finding| finding.kind == FindingKind::NotChecked);
    let about_rows = findings.iter().find(|finding| is_about_rows(finding));
    let agree = match read(file) {
        Ok(()) => about_rows.is_some() == FORGIVEN.contains(&name),
        Err(_) if NO_ROOM.contains(&name) => !has(Severity::Error),
        Err(error) if error.kind() == ErrorKind::Corrupt => has(Severity::Error),
        Err(_) => not_checked || has(Severity::Error),
    };
    (!agree).then(|| format!("{name}: {:?}, {findings:?}", read(file)))
}

#[test]
fn files_of_all_kinds() {
    let mut paths = files::generated();
    paths.extend(files::parquet_files(&files::testdata().join("hostile")));
    if let Some(folder) = files::official() {
        for part in ["data", "data/geospatial", "bad_data", "shredded_variant"] {
            paths.extend(files::parquet_files(&folder.join(part)));
        }
    }
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy();
        // This file has 2 GiB of strings, which take long.
        if name != "large_string_map.brotli.parquet" {
            found.extend(disagreement(&name, &std::fs::read(&path).unwrap()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Writes a file with one column of text.
fn texts(element: SchemaElement, texts: &[&[u8]]) -> Vec<u8> {
    let length = |text: &&[u8]| (text.len() as u32).to_le_bytes();
    let values = texts.iter().map(|text| [&length(text)[..], text].concat());
    let body: Vec<u8> = values.flatten().collect();
    one_column(element, texts.len(), vec![Page::v1(texts.len(), &body)])
}

/// Returns crafted files, each with true if both consider it valid.
fn crafted() -> Vec<(String, Vec<u8>, bool)> {
    let mut files = vec![
        ("a null key".to_owned(), null_key(), false),
        (
            "values where all are null".to_owned(),
            numbers(logical(Type::Int32, LogicalType::Unknown), &[0], false),
            false,
        ),
    ];
    for (annotation, least, most) in [
        (ConvertedType::Int8, -128, 127),
        (ConvertedType::Uint8, 0, 255),
        (ConvertedType::Int16, -32_768, 32_767),
        (ConvertedType::Uint16, 0, 65_535),
        (
            ConvertedType::Int32,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
        ),
        (
            ConvertedType::Date,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
        ),
    ] {
        for dictionary in [false, true] {
            let mut add = |value: i64, sound| {
                let file = numbers(converted(Type::Int32, annotation), &[0, value], dictionary);
                files.push((format!("{annotation:?} {value}"), file, sound));
            };
            add(least, true);
            add(most, true);
            if most < i64::from(i32::MAX) {
                add(least - 1, false);
                add(most + 1, false);
            }
        }
    }
    for annotation in [ConvertedType::TimestampMillis, ConvertedType::Uint64] {
        let file = numbers(
            converted(Type::Int64, annotation),
            &[i64::MIN, i64::MAX],
            false,
        );
        files.push((format!("{annotation:?}"), file, true));
    }
    for annotation in [
        ConvertedType::Utf8,
        ConvertedType::Enum,
        ConvertedType::Json,
    ] {
        let element = converted(Type::ByteArray, annotation);
        for (text, sound) in [
            (&b"\xc3\xa9"[..], true),
            (b"\xc3", false),
            (b"\xff{}", false),
        ] {
            let file = texts(element.clone(), &[b"1", text]);
            files.push((format!("{annotation:?} {text:?}"), file, sound));
        }
    }
    files
}

#[test]
fn crafted_files() {
    for (name, file, sound) in crafted() {
        let errors = errors(&file);
        assert_eq!(errors.is_empty(), sound, "{name}: {errors:?}");
        let read = read(&file);
        assert_eq!(read.is_ok(), sound, "{name}: {read:?}");
    }
}

/// The values are valid, but too large for Arrow. The read's error suggests a remedy.
#[test]
fn sound_values_that_arrow_has_not() {
    let file = intervals(&[[0, 1 << 31, 0]]);
    assert_eq!(errors(&file), []);
    let error = read(&file).unwrap_err().to_string();
    assert!(error.contains("`ignore_annotations`"), "{error}");
}

/// The values are invalid but unambiguous, so we read them as they are stored.
#[test]
fn values_that_arrow_has_though_the_format_has_not() {
    let time = LogicalType::Time {
        is_adjusted_to_utc: true,
        unit: TimeUnit::Micros,
    };
    let decimal = converted(Type::Int32, ConvertedType::Decimal)
        .precision(2)
        .scale(0);
    for (file, kind) in [
        (
            numbers(logical(Type::Int64, time.clone()), &[86_400_000_000], false),
            FindingKind::Time,
        ),
        (
            numbers(logical(Type::Int64, time), &[-1], true),
            FindingKind::Time,
        ),
        (numbers(decimal, &[100], false), FindingKind::Decimal),
    ] {
        read(&file).unwrap();
        let kinds: Vec<_> = errors(&file).into_iter().map(|error| error.kind).collect();
        assert!(
            !kinds.is_empty() && kinds.iter().all(|it| *it == kind),
            "{kinds:?}"
        );
    }
}
