//! Tables in directories of the form `k=5`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::prelude::SessionContext;

use crate::support::{Folder, Reader, rows, run, session};

const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Writes a file with the column `id` into each directory, as Spark and pyarrow do it for `k` of 5, null and 7.
fn write(folder: &Folder) -> String {
    for (directory, id) in [("k=5", 1), (&format!("k={NULL}"), 2), ("k=7", 4)] {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![id]));
        let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
        folder.write(&format!("t/{directory}/part.parquet"), &batch, 10);
    }
    folder.path("t/")
}

async fn create(session: &SessionContext, k: &str, path: &str) {
    let create = format!(
        "create external table t (id bigint, k {k}) stored as parquet partitioned by (k) location '{path}'"
    );
    run(session, &create).await.unwrap();
}

#[tokio::test]
async fn the_partition_of_nulls_is_not_read_as_text() {
    let folder = Folder::new();
    let path = write(&folder);
    let ours = session(Reader::Herringbone, 2).enable_url_table();
    create(&ours, "varchar", &path).await;
    for query in [
        "select sum(id) from t",
        "select count(*) from t",
        "select id from t where k <> '5'",
        &format!("select id from t where k = '{NULL}'"),
        &format!("select sum(id) from '{path}'"),
    ] {
        let error = run(&ours, query).await.unwrap_err();
        for part in [
            &format!("t/k={NULL}/part.parquet"),
            "`k` is null",
            &format!("`k <> '{NULL}'`"),
        ] {
            assert!(error.contains(part), "{query}: {error}");
        }
    }
    // Only files of the other partitions are listed.
    for (query, sum) in [
        ("select sum(id) from t where k = '5'", "1"),
        ("select sum(id) from t where k in ('5', '7')", "5"),
        (&format!("select sum(id) from t where k <> '{NULL}'"), "5"),
    ] {
        assert_eq!(rows(&ours, query).await, sum, "{query}");
    }
}

/// The view of the guide.
#[tokio::test]
async fn a_view_has_the_nulls() {
    let folder = Folder::new();
    let path = write(&folder);
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "varchar", &path).await;
    let nulls = format!(
        "create external table nulls (id bigint) stored as parquet location '{path}k={NULL}/'"
    );
    run(&ours, &nulls).await.unwrap();
    let view = format!(
        "create view v as select id, cast(nullif(k, '{NULL}') as bigint) as k from t where k <> '{NULL}' \
         union all select id, null from nulls"
    );
    run(&ours, &view).await.unwrap();
    for (query, expected) in [
        ("select id, k from v order by id", "1 5; 2 ; 4 7"),
        ("select id from v where k is null", "2"),
        ("select id from v where k = 5", "1"),
        ("select id from v where k <> 5", "4"),
        ("select id from v where k > 5", "4"),
        ("select id from v where k not in (1, 5)", "4"),
        ("select sum(id) from v where k is not null", "5"),
        ("select count(k), count(*), max(k) from v", "2 3 7"),
    ] {
        assert_eq!(rows(&ours, query).await, expected, "{query}");
    }
}

/// The engine makes numbers from names of directories when it lists them.
#[tokio::test]
async fn the_partition_of_nulls_is_not_a_number() {
    let folder = Folder::new();
    let path = write(&folder);
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "bigint", &path).await;
    for query in ["select sum(id) from t", "select id from t where k > 5"] {
        let error = run(&ours, query).await.unwrap_err();
        let message = format!("Cannot cast string '{NULL}'");
        assert!(error.contains(&message), "{query}: {error}");
    }
    let of_five = "select sum(id) from t where k = 5";
    assert_eq!(rows(&ours, of_five).await, "1");
    // It takes this for false without a look at the files, so that our scan cannot refuse it.
    let of_null = "select id from t where k is null";
    assert_eq!(rows(&ours, of_null).await, "");
}
