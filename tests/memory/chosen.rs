//! Tests text with very many columns, for which the memory follows from the number of bytes.

use herringbone_interchange::in_memory::{self, Format};

use super::{ALLOCATOR, ONE_AT_A_TIME};

/// Runs `work`, and returns its result and its peak memory in bytes.
fn held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = work();
    (result, ALLOCATOR.peak_usage().saturating_sub(before))
}

/// A line of a million commas and an object of a million keys have more columns than `schema_nodes` allows.
#[test]
fn text_of_very_many_columns_is_refused() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    const COLUMNS: usize = 1_000_000;
    let commas = format!("{}\n{}\n", ",".repeat(COLUMNS), ",".repeat(COLUMNS));
    let keys: Vec<_> = (0..COLUMNS).map(|key| format!("\"{key}\":1")).collect();
    let object = format!("{{{}}}\n", keys.join(","));
    drop(keys);
    for (format, text) in [(Format::Csv, commas), (Format::JsonLines, object)] {
        let length = text.len();
        let (read, peak) = held(|| in_memory::read(format, text.into_bytes(), None, 100));
        let error = read.map(drop).unwrap_err();
        assert!(error.contains("schema_nodes"), "{format:?}: {error}");
        // A schema node takes up to a kilobyte, and 262,144 nodes are allowed.
        assert!(
            peak < (256 << 20) + 8 * length,
            "{format:?}: {peak} bytes held"
        );
    }
}

/// For 50,000 columns of one row, no column reserves room for a batch of rows in advance, because that would be 400 MB
/// of numbers.
#[test]
fn columns_of_few_rows_take_little_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    const COLUMNS: usize = 50_000;
    let names: Vec<_> = (0..COLUMNS).map(|column| format!("c{column}")).collect();
    let csv = format!("{}\n{}1\n", names.join(","), "1,".repeat(COLUMNS - 1));
    let keys: Vec<_> = names.iter().map(|name| format!("\"{name}\":1")).collect();
    let object = format!("{{{}}}\n", keys.join(","));
    for (format, text) in [(Format::Csv, csv), (Format::JsonLines, object)] {
        let (read, peak) = held(|| in_memory::read(format, text.into_bytes(), None, 100));
        let (schema, batches) = read.unwrap();
        assert_eq!(schema.fields().len(), COLUMNS);
        assert_eq!(batches[0].num_rows(), 1);
        assert!(peak < COLUMNS * 4096, "{format:?}: {peak} bytes held");
    }
}
