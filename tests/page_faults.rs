//! The memory of written row groups is reused for the next ones. We do not request it from the system again.
//!
//! The test needs processes of its own, and is the only test here. It counts the process's page faults, and no buffer
//! may be freed earlier, because the C library could learn from it. Systems other than GNU/Linux do not count faults
//! this way, or retain memory by rules of their own.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::process::Command;
use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch};

/// The size of a memory page in bytes.
const PAGE: usize = 4096;

/// The environment variable of the process in which the allocator is not tuned.
const SWITCHED_OFF: &str = "HERRINGBONE_TEST_UNTUNED";

const COLUMNS: usize = 8;
/// The number of rows, which is enough for columns of 2 MiB per row group. The C library retains smaller ones by
/// itself.
const ROWS: usize = 1 << 20;

/// Returns the number of page faults in this process so far that needed no disk.
fn page_faults() -> usize {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The process's name may contain spaces. After it, the state is the third field, and the minor faults are the
    // tenth.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_second_file_takes_no_memory_from_the_system_unless_that_is_switched_off() {
    // We count for the untuned allocator in another process, because the setting is permanent.
    let is_off = std::env::var_os(SWITCHED_OFF).is_some();
    if !is_off {
        let mut other = Command::new(std::env::current_exe().unwrap());
        assert!(other.env(SWITCHED_OFF, "").status().unwrap().success());
    }
    // The numbers are in random order, so that they do not compress.
    let numbers = |column: usize| {
        let values = (0..ROWS).map(move |row| (row * COLUMNS + column) as u64);
        values.map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64)
    };
    let columns = (0..COLUMNS).map(|column| {
        let array: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers(column)));
        (format!("c{column}"), array)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::with_capacity(2 * batch.get_array_memory_size());
    let mut faults = 0;
    for _ in 0..2 {
        file.clear();
        let before = page_faults();
        let options = WriteOptions::default().threads(1).row_group_rows(ROWS / 4);
        let options = options.tune_allocator(!is_off);
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        faults = page_faults() - before;
    }
    // A row group has a quarter of the pages.
    let pages = batch.get_array_memory_size() / PAGE;
    match is_off {
        true => assert!(faults > pages / 4, "{faults} faults, {pages} pages"),
        false => assert!(faults < pages / 8, "{faults} faults, {pages} pages"),
    }
}
