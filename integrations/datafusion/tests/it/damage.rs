//! Checks that damaged, missing and replaced files end a query with an error that names the place.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::support::{Folder, Reader, create, run, session};

fn numbers() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(
        (0..50_000).map(|i| i * 7_919 % 50_021),
    ));
    RecordBatch::try_from_iter([("a", numbers)]).unwrap()
}

async fn error(session: &SessionContext) -> DataFusionError {
    let frame = session
        .sql("select sum(a) from t where a >= 0")
        .await
        .unwrap();
    frame.collect().await.unwrap_err()
}

/// Returns true if the error is one of the library's, which engines do not retry.
fn is_external(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::External(_))
}

#[tokio::test]
async fn a_damaged_page_has_its_place_in_the_error() {
    let folder = Folder::new();
    let compressed = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let path = folder.write_with("t.parquet", &numbers(), compressed.build());
    let ours = session(Reader::Herringbone, 1);
    create(&ours, "t", &path).await;
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_000].fill(0xFF);
    rewrite(&path, &bytes);
    let error = error(&ours).await;
    let text = error.to_string();
    assert!(is_external(&error), "{error:?}");
    let place = "t.parquet: corrupt file: ";
    assert!(
        text.contains(place) && text.contains("(column a, row group 0, page "),
        "{text}"
    );
}

/// Writes other bytes, but keeps the time of the last modification.
fn rewrite(path: &str, bytes: &[u8]) {
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0).unwrap();
    file.set_modified(modified).unwrap();
}

/// The error must name the damaged file, because a table may have many files.
#[tokio::test]
async fn damaged_footers_have_the_name_of_their_file() {
    let folder = Folder::new();
    folder.write("two/1.parquet", &numbers(), 20_000);
    let damaged = folder.write("two/2.parquet", &numbers(), 20_000);
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() - 1]).unwrap();
    let ours = session(Reader::Herringbone, 1);
    for columns in ["", "(a bigint)"] {
        let location = folder.path("two/");
        let table = format!(
            "create or replace external table t {columns} stored as parquet location '{location}'"
        );
        // If a table declares its columns, the query is the first to read footers.
        let error = match ours.sql(&table).await {
            Ok(_) => error(&ours).await,
            Err(error) => error,
        };
        assert!(is_external(&error), "{error:?}");
        let text = error.to_string();
        let place = "two/2.parquet: corrupt file: not a Parquet file";
        assert!(text.contains(place), "{text}");
        // Ballista sends this text.
        assert!(format!("{error:?}").contains(place), "{error:?}");
    }
}

#[tokio::test]
async fn a_missing_file_is_not_tried_again() {
    let folder = Folder::new();
    let path = folder.write("t.parquet", &numbers(), 20_000);
    let ours = session(Reader::Herringbone, 1);
    create(&ours, "t", &path).await;
    let frame = ours.sql("select sum(a) from t where a >= 0").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = datafusion::physical_plan::collect(plan, ours.task_ctx())
        .await
        .unwrap_err();
    assert!(is_external(&error), "{error:?}");
    assert!(error.to_string().contains("t.parquet"), "{error}");
}

#[tokio::test]
async fn a_replaced_file_is_recognised() {
    let folder = Folder::new();
    let path = folder.write("t.parquet", &numbers(), 20_000);
    let ours = session(Reader::Herringbone, 1);
    create(&ours, "t", &path).await;
    let frame = ours.sql("select sum(a) from t where a >= 0").await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let error = datafusion::physical_plan::collect(plan, ours.task_ctx())
        .await
        .unwrap_err();
    assert!(is_external(&error), "{error:?}");
}

#[tokio::test]
async fn no_bytes_cause_a_panic() {
    let folder = Folder::new();
    let good = std::fs::read(folder.write("good.parquet", &numbers(), 20_000)).unwrap();
    let ours = session(Reader::Herringbone, 1);
    for at in 0..60 {
        let mut bytes = good.clone();
        let from = good.len() - 1 - at * 7;
        bytes[from] ^= 1 << (at % 8);
        let path = folder.path(&format!("bad{at}.parquet"));
        std::fs::write(&path, bytes).unwrap();
        // Some changes are harmless, and all others must be errors.
        let table = format!("create external table bad{at} stored as parquet location '{path}'");
        if run(&ours, &table).await.is_ok() {
            drop(
                run(
                    &ours,
                    &format!("select count(a), sum(a) from bad{at} where a > 5"),
                )
                .await,
            );
        }
    }
}
