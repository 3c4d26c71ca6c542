//! Findings are the same, in the same order, for any number of threads.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::{Compression, ParquetFile, SortingColumnOption, WriteOptions, Writer};

/// Writes 60 column chunks in 10 row groups, which have enough values for more than one thread.
fn file() -> Vec<u8> {
    let rows = 0..30_000;
    let columns = (0..6).map(|i| -> (String, ArrayRef) {
        let array: ArrayRef = match i % 3 {
            0 => Arc::new(
                rows.clone()
                    .map(|row| row * (i + 1))
                    .collect::<Int32Array>(),
            ),
            1 => Arc::new(
                rows.clone()
                    .map(|row| i64::from(row % 77))
                    .collect::<Int64Array>(),
            ),
            _ => Arc::new(
                rows.clone()
                    .map(|row| Some(format!("{}", row % 500)))
                    .collect::<StringArray>(),
            ),
        };
        (format!("c{i}"), array)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::new()
        .compression(Compression::Uncompressed)
        .row_group_rows(3_000)
        .sorting_columns(vec![SortingColumnOption::new(["c0"])]);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn findings_come_in_order() {
    let mut bytes = file();
    let found = |bytes: &[u8], threads| {
        let file = ParquetFile::from_bytes(bytes.to_vec()).unwrap();
        let mut verify = herringbone_inspect::verify(&file).threads(threads);
        let mut parts = Vec::new();
        while let Some(findings) = verify.next_part().unwrap() {
            let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
            parts.push((verify.chunks_done(), lines));
        }
        assert_eq!(verify.chunks_done(), verify.num_chunks());
        parts
    };
    assert!(found(&bytes, 3).iter().all(|(_, lines)| lines.is_empty()));
    // A bit is flipped in every 5000th byte, in the pages of most column chunks.
    let end = bytes.len() - 10_000;
    for place in (1_000..end).step_by(5_000) {
        bytes[place] ^= 4;
    }
    let one = found(&bytes, 1);
    let all: usize = one.iter().map(|(_, lines)| lines.len()).sum();
    assert!(all > 60, "{all} findings");
    for threads in [2, 3, 8, 0] {
        assert_eq!(found(&bytes, threads), one, "{threads} threads");
    }
}

/// If the caller stops early, all threads stop.
#[test]
fn findings_may_be_left() {
    let file = ParquetFile::from_bytes(file()).unwrap();
    for parts in [0, 1, 2, 7, 30] {
        let mut verify = herringbone_inspect::verify(&file).threads(4);
        for _ in 0..parts {
            assert!(verify.next_part().unwrap().is_some());
        }
    }
}
