//! The engine's own test files on Parquet, run with both readers.
//!
//! `differences.txt` lists the records whose result is not the expected one, each with the reader
//! and the reason. All other records must pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use datafusion_sqllogictest::{
    DFColumnType, DataFusion, TestContext, df_value_validator, setup_scratch_dir, value_normalizer,
};
use futures::StreamExt;
use indicatif::ProgressBar;
use sqllogictest::{Normalizer, Record, Runner, parse_file, strict_column_validator};

use crate::engine_files::package;

/// The test files on Parquet, `COPY`, partitions, schema evolution, push-down, sorting and
/// ClickBench.
const FILES: [&str; 35] = [
    "clickbench",
    "clickbench_extended",
    "copy",
    "create_external_table",
    "dynamic_file",
    "dynamic_filter_pushdown_config",
    "dynamic_row_group_pruning",
    "encrypted_parquet",
    "explain_analyze",
    "file_row_index",
    "input_file_name",
    "insert_to_external",
    "limit_pruning",
    "listing_table_partitions",
    "listing_table_statistics",
    "parquet",
    "parquet_cdc",
    "parquet_cdc_config",
    "parquet_filter_pushdown",
    "parquet_max_row_group_bytes",
    "parquet_metadata_functions",
    "parquet_nested_schema_pruning",
    "parquet_sorted_statistics",
    "parquet_statistics",
    "preserve_file_partitioning",
    "projection_pushdown",
    "push_down_filter_parquet",
    "push_down_filter_regression",
    "range_partitioning",
    "repartition_scan",
    "schema_evolution",
    "schema_evolution_nested",
    "sort_pushdown",
    "statistics_registry",
    "topk",
];

/// The number of records in these files.
const RECORDS: usize = 2452;

/// The number of files that run at the same time.
const FILES_AT_ONCE: usize = 4;

/// The reader that a session uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Herringbone,
    Stock,
}

/// A record, with its failure if there is one.
struct Outcome {
    /// The file and line.
    place: String,
    sql: String,
    failure: Option<String>,
}

/// Copies the test files to the target folder, laid out as in a checkout of the engine, because
/// they write next to themselves. Returns the folder in which they run, two levels below the root
/// of the checkout.
fn copied_files(official: &Path) -> PathBuf {
    let package = package();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkout");
    if root.exists() {
        std::fs::remove_dir_all(&root).unwrap();
    }
    let copy = root.join("datafusion/sqllogictest");
    std::fs::create_dir_all(copy.join("test_files")).unwrap();
    for file in FILES {
        let file = format!("test_files/{file}.slt");
        std::fs::copy(package.join(&file), copy.join(&file)).unwrap();
    }
    copy_folder(&package.join("data"), &copy.join("data"));
    let names = [
        "alltypes_plain",
        "int96_from_spark",
        "list_columns",
        "single_nan",
    ];
    let data = root.join("parquet-testing/data");
    std::fs::create_dir_all(&data).unwrap();
    for name in names.map(|name| format!("{name}.parquet")) {
        std::fs::copy(official.join(&name), data.join(&name)).unwrap();
    }
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Compares rows, where the paths of the copied files count as those in a checkout.
fn is_expected(normalizer: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    let folder = std::env::current_dir().unwrap();
    let root = folder.ancestors().nth(2).unwrap();
    let root = root.to_str().unwrap().trim_start_matches('/');
    let cell = |cell: &String| cell.replace(root, "WORKSPACE_ROOT");
    let row = |row: &Vec<String>| row.iter().map(cell).collect();
    let actual: Vec<Vec<String>> = actual.iter().map(row).collect();
    df_value_validator(normalizer, &actual, expected)
}

async fn run_file(name: &str, reader: Reader) -> Vec<Outcome> {
    let relative = PathBuf::from(format!("{name}.slt"));
    let context = TestContext::try_new_for_test_file(&relative).await.unwrap();
    if reader == Reader::Herringbone {
        herringbone_datafusion::register(context.session_ctx()).unwrap();
    }
    setup_scratch_dir(&relative).unwrap();
    let session = context.session_ctx().clone();
    let mut runner = Runner::new(|| {
        let (session, relative) = (session.clone(), relative.clone());
        async move { Ok(DataFusion::new(session, relative, ProgressBar::hidden())) }
    });
    runner.add_label("Datafusion");
    runner.with_column_validator(strict_column_validator);
    runner.with_normalizer(value_normalizer);
    runner.with_validator(is_expected);
    let path = Path::new("test_files").join(&relative);
    let mut outcomes = Vec::new();
    for record in parse_file::<DFColumnType>(path).unwrap() {
        let found = match &record {
            Record::Halt { .. } => break,
            Record::Statement { sql, loc, .. } | Record::Query { sql, loc, .. } => Some((
                format!("{}:{}", relative.display(), loc.line()),
                sql.clone(),
            )),
            _ => None,
        };
        let failure = runner
            .run_async(record)
            .await
            .err()
            .map(|it| it.to_string());
        match found {
            Some((place, sql)) => outcomes.push(Outcome {
                place,
                sql,
                failure,
            }),
            None => assert_eq!(failure, None, "{name}"),
        }
    }
    outcomes
}

/// Runs a file with both readers, one after the other, because they write to the same paths.
async fn run_twice(name: &'static str) -> [Vec<Outcome>; 2] {
    let ours = run_file(name, Reader::Herringbone).await;
    [ours, run_file(name, Reader::Stock).await]
}

/// Returns the listed differences, as the failing reader by place, without the reason in the rest
/// of each line.
fn listed() -> BTreeMap<String, String> {
    let lines = include_str!("../../differences.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [place, reader, _reason] => (place.to_owned(), reader.to_owned()),
        _ => panic!("a line without a reason: {line:?}"),
    };
    lines.map(entry).collect()
}

fn is_explain(sql: &str) -> bool {
    let word = sql.split_whitespace().next().unwrap_or_default();
    word.eq_ignore_ascii_case("explain")
}

/// Returns the reader that fails.
fn failing(ours: &Outcome, stock: &Outcome) -> &'static str {
    match (ours.failure.is_some(), stock.failure.is_some()) {
        (true, true) => "both",
        (true, false) => "ours",
        (false, true) => "stock",
        (false, false) => "none",
    }
}

#[test]
fn the_records_of_the_engine_pass() {
    let Some(official) = std::env::var_os("PARQUET_TEST_DATA") else {
        println!("skipped: PARQUET_TEST_DATA names no data folder of parquet-testing");
        return;
    };
    let folder = copied_files(Path::new(&official));
    // This is safe, because all other tests name files by absolute paths.
    std::env::set_current_dir(folder).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(FILES_AT_ONCE)
        // Builds without optimisation have large stack frames.
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    let files = futures::stream::iter(FILES)
        .map(|name| tokio::spawn(run_twice(name)))
        .buffered(FILES_AT_ONCE);
    let files: Vec<_> = runtime.block_on(files.collect());
    let mut listed = listed();
    let (mut counts, mut unexpected) = (BTreeMap::new(), Vec::new());
    for [ours, stock] in files.into_iter().map(Result::unwrap) {
        for (ours, stock) in ours.iter().zip(&stock) {
            let kind = if is_explain(&ours.sql) {
                "plan"
            } else {
                "rows"
            };
            let failing = failing(ours, stock);
            *counts.entry((kind, failing)).or_insert(0) += 1;
            let expected = listed.remove(&ours.place).unwrap_or("none".to_owned());
            if expected != failing {
                let [of_ours, of_stock] =
                    [ours, stock].map(|it| it.failure.as_deref().unwrap_or("passes"));
                unexpected.push(format!(
                    "@@ {} {failing} {kind}\n{}\n@@-\n{of_ours}\n@@-\n{of_stock}\n@@end",
                    ours.place, ours.sql
                ));
            }
        }
    }
    unexpected
        .iter()
        .for_each(|unexpected| println!("{unexpected}\n"));
    println!("{counts:?}");
    let places: Vec<_> = listed.into_keys().collect();
    assert!(places.is_empty(), "records that are not there: {places:?}");
    assert_eq!(unexpected.len(), 0);
    assert_eq!(counts.values().sum::<usize>(), RECORDS);
}
