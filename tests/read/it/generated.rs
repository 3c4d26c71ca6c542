//! Checks every file in `testdata/` against the JSON file next to it.

use herringbone::{ParquetFile, ReadOptions};

use crate::expectation::Expectation;
use crate::files;
use crate::table::{Table, without_panic};

#[test]
fn files_hold_what_was_written() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for path in files::generated() {
        let name = files::short(&path);
        let expectation = Expectation::open(&path.with_extension("json"));
        let read = || Table::read(ParquetFile::open(&path)?.read(ReadOptions::default())?);
        match without_panic(read) {
            Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
            Ok(Err(error)) => wrong.push(format!("{name}: {error}")),
            Ok(Ok(table)) => {
                wrong.extend(
                    expectation
                        .check(&table)
                        .iter()
                        .map(|w| format!("{name}: {w}")),
                );
            }
        }
        checked += 1;
    }
    assert!(
        wrong.is_empty(),
        "{checked} files, {} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
