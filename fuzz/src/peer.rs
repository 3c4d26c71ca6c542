//! Reads a file with this library and with the `parquet` crate. Both must accept it with equal
//! data, apart from known differences.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use herringbone::ErrorKind;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::read::{ROWS, open, options};
use crate::table::Table;

/// The reasons why the `parquet` crate may read a file that this library refuses, each as a part of
/// our error message and that crate's behaviour.
const WE_ARE_STRICTER: [(&str, &str); 15] = [
    ("that Timestamp(", "wrap timestamps of 96 bits around"),
    (
        "its header declares",
        "take a body of another size than announced",
    ),
    ("plain bytes", "take a page of another size than announced"),
    (
        "highest level of the column",
        "take levels that the schema does not have",
    ),
    (
        "its row group",
        "take fewer or more rows than the row group has",
    ),
    ("is negative", "take it for none, for many, or do not look"),
    (
        "of their column chunk",
        "leave out values behind those of the chunk",
    ),
    ("thrift type", "take a field for what it should be"),
    // If a field has the wrong type, the bytes after it mean something else to this library.
    (
        "required field",
        "take a field for what it should be, whatever its type",
    ),
    ("outside of the file", "do not look where a chunk ends"),
    (
        "in another file",
        "read the bytes at that place in this file",
    ),
    ("byte streams of unequal", "leave out the rest"),
    (
        "a byte array",
        "take lengths and prefixes that make no sense",
    ),
    ("disagree about its lists", "believe the first leaf"),
    (
        "wider than the bit width",
        "take the value of a run as it is",
    ),
];

/// Reads with both and compares the columns whose Arrow types are equal.
pub fn against_arrow_rs(bytes: &Bytes) {
    let ours = open(bytes)
        .and_then(|file| file.read(options().verify_crc(false)))
        .and_then(Table::read);
    // If this library reports a limit, the `parquet` crate may run out of memory or stack, so we do
    // not try it.
    if ours
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::Limit)
    {
        return;
    }
    match (ours, theirs(bytes.clone())) {
        (Ok(ours), Some(theirs)) => {
            for (i, field) in ours.fields.iter().enumerate() {
                if theirs.fields.get(i) == Some(field) {
                    assert_eq!(ours.columns[i], theirs.columns[i], "{field:?}");
                }
            }
        }
        (Err(error), Some(theirs)) if theirs.rows > 0 => {
            let text = error.to_string();
            let known = WE_ARE_STRICTER.iter().any(|(part, _)| text.contains(part));
            assert!(known, "they read {} rows, we say: {text}", theirs.rows);
        }
        // We do not compare files that the `parquet` crate refuses, or on which it panics.
        _ => {}
    }
}

fn theirs(bytes: Bytes) -> Option<Table> {
    // The fuzzer ends at any panic, but panics of the `parquet` crate do not interest us, so we
    // silence its hook.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let read = || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).ok()?;
        let mut table = Table::empty(builder.schema());
        let reader = builder
            .with_batch_size(512)
            .with_limit(ROWS as usize)
            .build()
            .ok()?;
        for batch in reader {
            table.push(&batch.ok()?);
        }
        Some(table)
    };
    let table = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    std::panic::set_hook(hook);
    table
}
