//! Tests `COPY` and `INSERT INTO`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::prelude::SessionContext;

use crate::support::{Folder, Reader, create, files, rows, run, session, sorted_rows, text};

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter(
        (0..5_000).map(|i| (i % 11 != 0).then_some(i)),
    ));
    let words: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..5_000).map(|i| format!("w{}", i % 3)),
    ));
    RecordBatch::try_from_iter([("n", numbers), ("w", words)]).unwrap()
}

async fn with_table(folder: &Folder) -> SessionContext {
    let session = session(Reader::Herringbone, 2);
    create(&session, "t", &folder.write("t.parquet", &batch(), 1_000)).await;
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_have_the_rows_and_options() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let path = folder.path("copy.parquet");
    let options = "options ('format.compression' 'snappy', 'format.compression::w' 'zstd(5)', 'format.max_row_group_size' '2000', \
        'format.metadata::maker' 'test', 'format.bloom_filter_on_write' 'true')";
    let copy = format!(
        "copy (select * from t order by n desc nulls first, w) to '{path}' stored as parquet {options}"
    );
    assert_eq!(rows(&ours, &copy).await, "5000");
    let stock = session(Reader::Stock, 2);
    create(&stock, "copied", &path).await;
    create(&stock, "t", &folder.path("t.parquet")).await;
    let all = "select n, w from ";
    assert_eq!(
        sorted_rows(&stock, &format!("{all} copied")).await,
        sorted_rows(&stock, &format!("{all} t")).await
    );
    let file = herringbone_datafusion::herringbone::ParquetFile::open(&path).unwrap();
    let metadata = file.metadata();
    assert_eq!(metadata.num_row_groups(), 3);
    let codec = |leaf| {
        metadata
            .column_chunk(0, leaf)
            .unwrap()
            .meta_data
            .unwrap()
            .codec
    };
    assert_eq!(format!("{:?} {:?}", codec(0), codec(1)), "Snappy Zstd");
    assert!(
        metadata
            .column_chunk(0, 0)
            .unwrap()
            .meta_data
            .unwrap()
            .bloom_filter_offset
            .is_some()
    );
    assert!(
        metadata
            .key_value_metadata()
            .iter()
            .any(|pair| pair.key == "maker")
    );
    let sorting = metadata
        .row_group_header(2)
        .unwrap()
        .sorting_columns
        .clone()
        .unwrap();
    assert_eq!((sorting.len(), sorting[0].column_idx), (2, 0));
    assert!(sorting[0].descending && sorting[0].nulls_first && !sorting[1].descending);
    // The order of the rows is found again.
    create(&ours, "copied", &path).await;
    let plan = text(
        &ours,
        "explain select * from copied order by n desc nulls first",
    )
    .await;
    assert!(!plan.contains("SortExec"), "{plan}");
}

/// A filter with a smaller rate of false positives takes more bytes.
#[tokio::test]
async fn bloom_filters_have_the_rate_of_their_column() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let mut lengths = Vec::new();
    for (name, options) in [
        ("all", "'format.bloom_filter_on_write' 'true'"),
        (
            "rate",
            "'format.bloom_filter_on_write' 'true', 'format.bloom_filter_fpp::n' '0.0001'",
        ),
        (
            "one",
            "'format.bloom_filter_enabled::n' 'true', 'format.bloom_filter_fpp::n' '0.0001'",
        ),
        ("none", "'format.bloom_filter_fpp::n' '0.0001'"),
    ] {
        let path = folder.path(&format!("{name}.parquet"));
        let copy = format!("copy t to '{path}' stored as parquet options ({options})");
        run(&ours, &copy).await.unwrap();
        let file = herringbone_datafusion::herringbone::ParquetFile::open(&path).unwrap();
        let chunk = file.metadata().column_chunk(0, 0).unwrap();
        lengths.push(chunk.meta_data.unwrap().bloom_filter_length.unwrap_or(0));
    }
    let [all, rate, one, none] = lengths[..] else {
        panic!("four files")
    };
    assert!(all > 0 && rate > all && none == 0, "{lengths:?}");
    assert_eq!(rate, one);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inserts_go_to_partitions() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let path = folder.path("parts/");
    let table = format!(
        "create external table p (n bigint, w varchar) stored as parquet partitioned by (w) location '{path}'"
    );
    std::fs::create_dir_all(&path).unwrap();
    run(&ours, &table).await.unwrap();
    for _ in 0..2 {
        assert_eq!(
            rows(&ours, "insert into p select n, w from t").await,
            "5000"
        );
    }
    assert!(
        std::fs::read_dir(folder.path("parts/w=w1"))
            .unwrap()
            .count()
            >= 2
    );
    let stock = session(Reader::Stock, 2);
    run(&stock, &table).await.unwrap();
    for query in [
        "select w, count(*), count(n), sum(n) from p group by w order by w",
        "select count(*) from p where w = 'w1' and n > 4000",
        "select w, n from p where n < 20 and w <> 'w0' order by n, w",
    ] {
        assert_eq!(
            text(&ours, query).await,
            text(&stock, query).await,
            "{query}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_query_leaves_no_file() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let path = folder.path("failed/");
    // The division fails in the last rows.
    let copy = format!(
        "copy (select n, w, 100 / (4999 - n) as q from t) to '{path}' stored as parquet partitioned by (w)"
    );
    let error = run(&ours, &copy).await.unwrap_err();
    assert!(error.to_lowercase().contains("divide by zero"), "{error}");
    assert_eq!(files(&folder.path("failed")), Vec::<String>::new());
    // This query is dropped.
    let copy =
        format!("copy (select a.n, b.w from t a cross join t b) to '{path}' stored as parquet");
    let frame = ours.sql(&copy).await.unwrap();
    let limit = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(limit, frame.collect()).await.is_err());
    tokio::time::sleep(limit).await;
    assert_eq!(files(&folder.path("failed")), Vec::<String>::new());
}

#[tokio::test]
async fn wrong_options_are_errors() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let path = folder.path("t.parquet");
    for (option, expected) in [
        ("'format.compresion' 'snappy'", "compresion"),
        ("'format.coerce_int96' 'hours'", "hours"),
        ("'format.crypto.factory_id' 'x'", "factory_id"),
        (
            "'format.crypto.file_decryption.footer_key_as_hex' 'zz'",
            "hexadecimal",
        ),
        ("'nonsense' '1'", "nonsense"),
    ] {
        let sql = format!(
            "create external table o stored as parquet location '{path}' options ({option})"
        );
        let error = run(&ours, &sql).await.unwrap_err();
        assert!(error.contains(expected), "{option}: {error}");
    }
    let copy = |option| {
        format!(
            "copy t to '{}' stored as parquet options ({option})",
            folder.path("o.parquet")
        )
    };
    for (option, expected) in [
        ("'format.compression' 'lz4'", "lz4_raw"),
        ("'format.compression' 'zstd(x)'", "level"),
        ("'format.encoding' 'morse'", "morse"),
    ] {
        let error = run(&ours, &copy(option)).await.unwrap_err();
        assert!(error.contains(expected), "{option}: {error}");
    }
}

#[tokio::test]
async fn encrypted_files_are_written_and_read() {
    let folder = Folder::new();
    let ours = with_table(&folder).await;
    let path = folder.path("secret.parquet");
    let key = "000102030405060708090a0b0c0d0e0f";
    let write = format!(
        "copy t to '{path}' stored as parquet options ('format.crypto.file_encryption.footer_key_as_hex' '{key}')"
    );
    run(&ours, &write).await.unwrap();
    let create = |name, key| {
        format!(
            "create external table {name} stored as parquet location '{path}' \
             options ('format.crypto.file_decryption.footer_key_as_hex' '{key}')"
        )
    };
    run(&ours, &create("secret", key)).await.unwrap();
    assert_eq!(
        rows(&ours, "select count(*), sum(n) from secret where n > 9").await,
        rows(&ours, "select count(*), sum(n) from t where n > 9").await
    );
    // Without the key, neither the footer nor its cache is of use.
    for sql in [
        create("wrong", "ffffffffffffffffffffffffffffffff"),
        format!("create external table none stored as parquet location '{path}'"),
    ] {
        let error = run(&ours, &sql).await.unwrap_err();
        assert!(!error.contains(key), "{error}");
    }
}

/// Returns the directories that have files below a folder, with the sum of the column `id` in each.
async fn sums_of_directories(session: &SessionContext, path: &str) -> Vec<String> {
    let mut sums = Vec::new();
    for file in files(path) {
        let directory = file.rsplit_once('/').unwrap().0;
        let directory = directory.strip_prefix(path).unwrap().trim_matches('/');
        let sum = rows(session, &format!("select sum(id) from '{file}'")).await;
        sums.push(format!("{directory} {sum}"));
    }
    sums.sort_unstable();
    sums
}

#[tokio::test]
async fn nulls_have_a_partition_of_their_own() {
    let folder = Folder::new();
    let ours = session(Reader::Herringbone, 2).enable_url_table();
    // Hive, Spark, pyarrow and DuckDB use these names.
    for (name, values, directories) in [
        ("integer", ["5", "null", "0"], ["k=0 4", "k=5 1"]),
        (
            "date",
            ["date '2020-01-02'", "null", "date '1970-01-01'"],
            ["k=1970-01-01 4", "k=2020-01-02 1"],
        ),
        ("text", ["'x'", "null", "''"], ["k= 4", "k=x 1"]),
        (
            "boolean",
            ["true", "null", "false"],
            ["k=false 4", "k=true 1"],
        ),
        ("double", ["1.5", "null", "0.0"], ["k=0 4", "k=1.5 1"]),
        (
            "large",
            [
                "arrow_cast('x', 'LargeUtf8')",
                "null",
                "arrow_cast('', 'LargeUtf8')",
            ],
            ["k= 4", "k=x 1"],
        ),
        (
            "view",
            [
                "arrow_cast('x', 'Utf8View')",
                "null",
                "arrow_cast('', 'Utf8View')",
            ],
            ["k= 4", "k=x 1"],
        ),
        (
            "dictionary",
            [
                "arrow_cast('x', 'Dictionary(Int32, Utf8)')",
                "null",
                "arrow_cast('y', 'Dictionary(Int32, Utf8)')",
            ],
            ["k=x 1", "k=y 4"],
        ),
    ] {
        let path = folder.path(name);
        let [first, second, third] = values;
        let copy = format!(
            "copy (select column1 as id, column2 as k from (values (1, {first}), (2, {second}), (4, {third}), \
             (8, null))) to '{path}/' stored as parquet partitioned by (k)"
        );
        assert_eq!(rows(&ours, &copy).await, "4", "{name}");
        let mut expected = Vec::from(directories.map(str::to_owned));
        expected.push("k=__HIVE_DEFAULT_PARTITION__ 10".to_owned());
        expected.sort_unstable();
        assert_eq!(sums_of_directories(&ours, &path).await, expected, "{name}");
    }
}

#[tokio::test]
async fn nulls_in_several_partition_columns() {
    let folder = Folder::new();
    let ours = session(Reader::Herringbone, 2).enable_url_table();
    let query = "select column1 as id, column2 as a, column3 as b from (values (1, 1, 'x'), (2, null, 'x'), \
        (4, 1, null), (8, null, null), (16, 1, 'x'))";
    let path = folder.path("two");
    let copy = format!("copy ({query}) to '{path}/' stored as parquet partitioned by (a, b)");
    run(&ours, &copy).await.unwrap();
    let null = "__HIVE_DEFAULT_PARTITION__";
    assert_eq!(
        sums_of_directories(&ours, &path).await,
        [
            format!("a=1/b={null} 4"),
            "a=1/b=x 17".to_owned(),
            format!("a={null}/b={null} 8"),
            format!("a={null}/b=x 2"),
        ]
    );
    // If files keep the columns, they have nulls in them.
    let path = folder.path("kept");
    let copy = format!(
        "copy ({query}) to '{path}/' stored as parquet partitioned by (a, b) \
         options ('execution.keep_partition_by_columns' 'true')"
    );
    run(&ours, &copy).await.unwrap();
    let mut kept = Vec::new();
    for file in files(&path) {
        kept.extend(sorted_rows(&ours, &format!("select id, a, b from '{file}'")).await);
    }
    kept.sort_unstable();
    assert_eq!(kept, sorted_rows(&ours, query).await);
}
