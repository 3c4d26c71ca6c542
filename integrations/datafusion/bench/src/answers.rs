//! Compares the rows of all queries over several layouts of the same tables.

use std::path::Path;

use datafusion::arrow::csv::WriterBuilder;
use datafusion::prelude::SessionContext;
use tokio::runtime::Runtime;

use crate::data;
use crate::turns::{Case, Reader, collect, session};

/// Compares Herringbone's rows with those of the engine's own reader. Herringbone reads the files
/// of `tpch`, the same tables with one row group each, and tables that it wrote itself. Writes the
/// rows as CSV files, one per query.
pub(crate) fn compare(folder: &Path, tpch: &Path, cases: &[Case], partitions: usize) {
    let runtime = Runtime::new().unwrap();
    let open = |reader, folder: &Path| session(reader, partitions, folder, &runtime);
    let (ours, stock) = (open(Reader::Herringbone, tpch), open(Reader::Stock, tpch));
    let copies = folder.join("copies");
    if !copies.exists() {
        copy(&ours, tpch, &copies, &runtime);
    }
    let one_row_group = open(Reader::Herringbone, &data::one_row_group(folder, tpch));
    let copied = open(Reader::Herringbone, &copies);
    let answers = folder.join("answers");
    std::fs::create_dir_all(&answers).unwrap();
    let layouts = [
        ("as generated", &ours),
        ("one row group", &one_row_group),
        ("copies", &copied),
    ];
    let mut unequal = 0;
    for case in cases {
        let rows = |session| csv(session, &case.sql, &runtime);
        let expected = rows(&stock);
        for (layout, session) in layouts {
            let found = rows(session);
            if sorted(&found) != sorted(&expected) {
                unequal += 1;
                println!(
                    "{}, {layout}: the rows differ:\n{found}\n{expected}",
                    case.name
                );
            }
        }
        std::fs::write(answers.join(format!("{}.csv", case.name)), rows(&ours)).unwrap();
    }
    println!(
        "{} queries over {} layouts, {unequal} results differ",
        cases.len(),
        layouts.len()
    );
    assert_eq!(unequal, 0);
}

/// Writes each table with `COPY`, as a folder of files.
fn copy(session: &SessionContext, tpch: &Path, copies: &Path, runtime: &Runtime) {
    for (table, _) in data::tables(tpch) {
        let target = copies.join(&table);
        let sql = format!("copy {table} to '{}/' stored as parquet", target.display());
        runtime.block_on(collect(session, &sql));
    }
}

fn csv(session: &SessionContext, sql: &str, runtime: &Runtime) -> String {
    let batches = runtime.block_on(collect(session, sql));
    let mut csv = Vec::new();
    let mut writer = WriterBuilder::new().with_header(false).build(&mut csv);
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    drop(writer);
    String::from_utf8(csv).unwrap()
}

/// Sorts the rows, because `ORDER BY` leaves the order of equal rows open.
fn sorted(csv: &str) -> Vec<&str> {
    let mut rows: Vec<_> = csv.lines().collect();
    rows.sort_unstable();
    rows
}
