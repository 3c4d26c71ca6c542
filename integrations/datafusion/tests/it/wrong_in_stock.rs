//! Reads files that the engine's own reader answers wrongly.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use crate::support::{Folder, Reader, create, rows, session};

/// If a column has NaNs, its bounds do not cover them (apache/datafusion#15812).
#[tokio::test]
async fn rows_with_nan_are_not_lost() {
    let folder = Folder::new();
    let values = [
        Some(-0.0),
        Some(0.0),
        Some(f64::NAN),
        Some(1.0),
        None,
        Some(-f64::NAN),
    ];
    let values: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
    let batch = RecordBatch::try_from_iter([("x", values)]).unwrap();
    let path = folder.write("nan.parquet", &batch, 100);
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    create(&ours, "z", &path).await;
    create(&plain, "z", &path).await;
    // The engine orders one of the two NaNs above all numbers, and the other one below.
    for (condition, count) in [
        ("x > 1.0", 1),
        ("x < 0.0", 1),
        ("x = 'NaN'", 1),
        ("x >= 'NaN'", 1),
        ("x <> 1.0", 4),
        ("not (x < 1.0)", 2),
        ("x is not null", 5),
    ] {
        let query = format!("select x from z where {condition}");
        let our_rows = rows(&ours, &query).await;
        assert_eq!(our_rows, rows(&plain, &query).await, "{condition}");
        let rows = our_rows.split("; ").filter(|row| !row.is_empty()).count();
        if !condition.contains("1.0)") && condition != "x < 0.0" {
            assert_eq!(rows, count, "{condition}: {our_rows}");
        }
    }
    for query in [
        "select x from z where x = 0.0",
        "select x from z where x in (0.0, 1.0)",
        "select x from z where x in (0.0, 1.0, 2.0, 3.0, 5.0)",
        "select x from z where x not in (0.0, 1.0, 2.0, 3.0, 5.0)",
        "select max(x), min(x) from z",
        "select x from z order by x limit 2",
        "select x from z order by x desc limit 2",
    ] {
        assert_eq!(
            rows(&ours, query).await,
            rows(&plain, query).await,
            "{query}"
        );
    }
}

/// A file without null counts may still have nulls (apache/datafusion#25239).
#[tokio::test]
async fn missing_null_counts_are_not_zero() {
    let folder = Folder::new();
    let values: ArrayRef = Arc::new(Int64Array::from(vec![
        Some(1),
        None,
        Some(3),
        None,
        Some(5),
    ]));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false);
    let path = folder.write_with("nulls.parquet", &batch, properties.build());
    without_null_count(&path);
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "n", &path).await;
    for (query, expected) in [
        ("select count(a), count(*) from n", "3 5"),
        ("select count(*) from n where a is null", "2"),
        ("select count(*) from n where a is not null", "3"),
        ("select sum(a) from n where a > 1", "8"),
        ("select min(a), max(a) from n", "1 5"),
    ] {
        assert_eq!(rows(&ours, query).await, expected, "{query}");
    }
}

/// Some writers leave a file's row count at 0, but its row groups have the right counts.
#[tokio::test]
async fn rows_are_those_of_the_row_groups() {
    let folder = Folder::new();
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..6));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    let path = folder.write("rows.parquet", &batch, 100);
    // The footer's first I64, which is field 3 after the schema, is `16 0c`, so it is 6.
    change_footer(&path, |footer| {
        let at = position(footer, [0x16, 0x0C]);
        footer[at + 1] = 0;
    });
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "r", &path).await;
    for query in [
        "select count(*) from r",
        "select count(a) from r",
        "select count(*) from r where a >= 0",
    ] {
        assert_eq!(rows(&ours, query).await, "6", "{query}");
    }
}

/// Joins take zeros of both signs as equal, but the filters that they push down do not.
#[tokio::test]
async fn joins_find_zeros_of_both_signs() {
    let folder = Folder::new();
    let values = [-0.0, 0.0, 0.0, 1.0, 7.5, f64::NAN];
    let values: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
    let batch = RecordBatch::try_from_iter([("x", values)]).unwrap();
    let path = folder.write("zeros.parquet", &batch, 1);
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    create(&ours, "z", &path).await;
    create(&plain, "z", &path).await;
    for (keys, expected) in [
        ("(0.0::double)", "3"),
        ("(-0.0::double), (5.0::double)", "3"),
        ("(-0.0::double), (1.0::double), ('NaN'::double)", "5"),
        ("(2.0::double)", "0"),
    ] {
        for query in [
            format!("select count(*) from z join (values {keys}) as k(y) on x = y"),
            format!("select count(*) from z where x in (select y from (values {keys}) as k(y))"),
        ] {
            assert_eq!(rows(&plain, &query).await, expected, "{query}");
            assert_eq!(rows(&ours, &query).await, expected, "{query}");
        }
    }
}

/// Cuts the null count out of the statistics of a file's only column chunk. In Thrift's compact
/// protocol, field 3 of the statistics is `16 04`: one field further, an I64 of 2.
fn without_null_count(path: &str) {
    change_footer(path, |footer| {
        let at = position(footer, [0x16, 0x04]);
        // We change the header of the next field, because it is now two further than the last one.
        assert_eq!(footer[at + 2] >> 4, 2);
        footer.splice(at..at + 3, [footer[at + 2] + 0x10]);
    });
}

fn position(footer: &[u8], bytes: [u8; 2]) -> usize {
    footer.windows(2).position(|pair| pair == bytes).unwrap()
}

fn change_footer(path: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let bytes = std::fs::read(path).unwrap();
    let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
    let start = bytes.len() - 8 - length as usize;
    let mut footer = bytes[start..bytes.len() - 8].to_vec();
    change(&mut footer);
    let mut changed = bytes[..start].to_vec();
    changed.extend_from_slice(&footer);
    changed.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
    changed.extend_from_slice(b"PAR1");
    std::fs::write(path, changed).unwrap();
}
