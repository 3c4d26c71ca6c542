//! Reads tables in directories of the form `k=5`. The expected rows follow from SQL's rules for
//! nulls.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::prelude::{SessionConfig, SessionContext};
use herringbone_datafusion::register;

use crate::support::{Folder, Reader, files, rows, run, session, session_with};

const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Writes a file with one `id` into each directory, and nulls as Spark and pyarrow write them.
fn write(folder: &Folder, directories: &[(String, i64)]) -> String {
    for (directory, id) in directories {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![*id]));
        let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
        folder.write(&format!("t/{directory}/part.parquet"), &batch, 10);
    }
    folder.path("t/")
}

fn one_column(first: &str, second: &str) -> Vec<(String, i64)> {
    [(first, 1), (NULL, 2), (second, 4)]
        .map(|(value, id)| (format!("k={value}"), id))
        .to_vec()
}

async fn create(session: &SessionContext, columns: &str, by: &str, path: &str) {
    let create = format!(
        "create external table t ({columns}) stored as parquet partitioned by ({by}) location '{path}'"
    );
    run(session, &create).await.unwrap();
}

/// Returns sessions whose plans differ.
fn sessions() -> Vec<SessionContext> {
    let config = || SessionConfig::new().with_target_partitions(2);
    let off = config().with_collect_statistics(false);
    let mut grouped = config();
    grouped.options_mut().optimizer.preserve_file_partitions = 1;
    [config(), off, grouped]
        .map(|config| session_with(Reader::Herringbone, config))
        .into()
}

/// Filters over the values FIVE, null and SEVEN of `k` in the rows 1, 2 and 4, with the ids of the
/// rows that match.
const FILTERS: [(&str, &str); 27] = [
    ("true", "1; 2; 4"),
    ("k is null", "2"),
    ("k is not null", "1; 4"),
    ("k = FIVE", "1"),
    ("SEVEN = k", "4"),
    ("k <> FIVE", "4"),
    ("not (k = FIVE)", "4"),
    ("k > FIVE", "4"),
    ("k in (FIVE, SEVEN)", "1; 4"),
    ("k not in (FIVE)", "4"),
    ("k not in (FIVE, null)", ""),
    ("k = null", ""),
    ("k is distinct from FIVE", "2; 4"),
    ("k is not distinct from FIVE", "1"),
    ("(k = FIVE) is unknown", "2"),
    ("coalesce(k, SEVEN) = SEVEN", "2; 4"),
    ("k = FIVE or k is null", "1; 2"),
    ("case when k = FIVE then false else true end", "2; 4"),
    ("k between FIVE and SEVEN", "1; 4"),
    // These also have filters on other columns.
    ("k is null and id > 1", "2"),
    ("k is null and id > 2", ""),
    ("k <> FIVE and id > 1", "4"),
    ("k is null or id = 4", "2; 4"),
    ("k = FIVE or id = 2", "1; 2"),
    ("not (k = FIVE and id = 1)", "2; 4"),
    ("case when k is null then id = 2 else k = SEVEN end", "2; 4"),
    ("k is null or k <> SEVEN", "1; 2"),
];

/// Queries over that table, with their rows.
const QUERIES: [(&str, &str); 13] = [
    (
        "select count(*), count(k), count(distinct k), sum(id) from t",
        "3 2 2 7",
    ),
    ("select count(*) from t where k is null", "1"),
    (
        "select sum(id), k is null from t group by k order by 1",
        "1 false; 2 true; 4 false",
    ),
    ("select min(k) = FIVE from t", "true"),
    ("select max(k) = SEVEN from t", "true"),
    ("select id from t order by k nulls first, id", "2; 1; 4"),
    ("select id from t order by k desc nulls last, id", "4; 1; 2"),
    ("select id from t where k is null limit 1", "2"),
    ("select sum(a.id) from t a join t b on a.k = b.k", "5"),
    (
        "select sum(a.id) from t a join t b on a.k is not distinct from b.k",
        "7",
    ),
    (
        "select a.id, b.id from t a left join t b on a.k = b.k order by 1",
        "1 1; 2 ; 4 4",
    ),
    (
        "select id from t where k in (select k from t) order by id",
        "1; 4",
    ),
    (
        "select id from t where k not in (select k from t where id = 1) order by id",
        "4",
    ),
];

#[tokio::test]
async fn filters_see_nulls() {
    let typed = [
        ("varchar", "5", "7", "'5'", "'7'"),
        ("bigint", "5", "7", "5", "7"),
        // A number may have several names.
        ("int", "05", "007", "5", "7"),
        ("double", "5.0", "7", "5", "7"),
        (
            "date",
            "2024-01-05",
            "2024-01-07",
            "date '2024-01-05'",
            "date '2024-01-07'",
        ),
        ("boolean", "false", "true", "false", "true"),
    ];
    for (data_type, first, second, five, seven) in typed {
        let folder = Folder::new();
        let path = write(&folder, &one_column(first, second));
        for ours in sessions() {
            create(&ours, &format!("id bigint, k {data_type}"), "k", &path).await;
            let with_values = |text: &str| text.replace("FIVE", five).replace("SEVEN", seven);
            for (filter, ids) in FILTERS {
                let filter = with_values(filter);
                let query = format!("select id from t where {filter} order by id");
                assert_eq!(rows(&ours, &query).await, ids, "{data_type}: {filter}");
            }
            for (query, expected) in QUERIES {
                let query = with_values(query);
                assert_eq!(rows(&ours, &query).await, expected, "{data_type}: {query}");
            }
        }
    }
}

/// If a statement has no types, the engine takes names for text, and for paths in queries there is
/// no statement at all.
#[tokio::test]
async fn columns_without_types_have_nulls() {
    let folder = Folder::new();
    let path = write(&folder, &one_column("5", "x%20y"));
    let ours = session(Reader::Herringbone, 2).enable_url_table();
    let inferred = format!("create external table t stored as parquet location '{path}'");
    run(&ours, &inferred).await.unwrap();
    let by_name =
        format!("create external table u stored as parquet partitioned by (k) location '{path}'");
    run(&ours, &by_name).await.unwrap();
    let view = format!("create view v as select * from '{path}'");
    run(&ours, &view).await.unwrap();
    let memory = format!("create table m as select * from '{path}'");
    run(&ours, &memory).await.unwrap();
    for table in ["t", "u", "v", "m", &format!("'{path}'")] {
        for (query, expected) in [
            ("select id, k from T order by id", "1 5; 2 ; 4 x y"),
            ("select id from T where k is null", "2"),
            ("select id from T where k is not null order by id", "1; 4"),
            ("select id from T where k = 'x y'", "4"),
            ("select id from T where k <> '5'", "4"),
            ("select id from T where k in ('5', '6')", "1"),
            (&format!("select id from T where k = '{NULL}'"), ""),
            ("select count(*), count(k) from T", "3 2"),
            (
                "select k, sum(id) from T group by k order by 2",
                "5 1;  2; x y 4",
            ),
            (
                "select id from (select * from T union all select * from T) where k is null",
                "2; 2",
            ),
            (
                "with w as (select k, id from T) select id from w where (select max(k) from T) > k",
                "1",
            ),
            (
                "select id from T a where exists (select 1 from T b where b.k is null and b.id = a.id)",
                "2",
            ),
            (
                "with recursive r as (select id, k from T union all select id + 10, k from r where k is null and id < 20) \
                 select id from r order by id",
                "1; 2; 4; 12; 22",
            ),
            (
                "select id, row_number() over (order by k nulls first) from T order by id",
                "1 2; 2 1; 4 3",
            ),
        ] {
            let query = query.replace(" T", &format!(" {table}"));
            assert_eq!(rows(&ours, &query).await, expected, "{query}");
        }
    }
}

#[tokio::test]
async fn nested_directories_have_nulls() {
    let folder = Folder::new();
    let directories = [
        ("a=1/b=x".to_owned(), 1),
        (format!("a=1/b={NULL}"), 2),
        (format!("a={NULL}/b=x"), 4),
        (format!("a={NULL}/b={NULL}"), 8),
    ];
    let path = write(&folder, &directories);
    for ours in sessions() {
        create(&ours, "id bigint, a int, b varchar", "a, b", &path).await;
        for (filter, sum) in [
            ("true", "15"),
            ("a is null", "12"),
            ("b is null", "10"),
            ("a is null and b is null", "8"),
            ("a = 1 and b is null", "2"),
            ("b = 'x'", "5"),
            ("a is null and b = 'x'", "4"),
            ("a = 1 or b = 'x'", "7"),
            ("a = 1 and b = 'x' and id < 2", "1"),
            ("not (a = 1 and b = 'x')", ""),
        ] {
            let query = format!("select sum(id) from t where {filter}");
            assert_eq!(rows(&ours, &query).await, sum, "{query}");
        }
    }
}

#[tokio::test]
async fn a_statement_says_that_partition_columns_are_nullable() {
    let folder = Folder::new();
    let path = write(&folder, &one_column("5", "7"));
    let config = SessionConfig::new().with_information_schema(true);
    let ours = session_with(Reader::Herringbone, config);
    create(&ours, "id bigint not null, k int", "k", &path).await;
    let query = "select column_name, is_nullable from information_schema.columns order by 1";
    assert_eq!(rows(&ours, query).await, "id NO; k YES");
}

/// Files in the other directories are not opened, so their bytes do not matter.
#[tokio::test]
async fn filters_on_partitions_open_no_other_files() {
    let folder = Folder::new();
    let path = write(&folder, &one_column("5", "7"));
    std::fs::write(format!("{path}k=5/part.parquet"), "damaged").unwrap();
    for ours in sessions() {
        create(&ours, "id bigint, k int", "k", &path).await;
        for (filter, ids) in [("k is null", "2"), ("k > 5", "4"), ("k <> 5", "4")] {
            let query = format!("select id from t where {filter}");
            assert_eq!(rows(&ours, &query).await, ids, "{query}");
        }
        run(&ours, "select id from t where k is not null")
            .await
            .unwrap_err();
    }
}

#[tokio::test]
async fn a_name_that_is_no_value_is_an_error() {
    let folder = Folder::new();
    let path = write(&folder, &one_column("5", "seven"));
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "id bigint, k int", "k", &path).await;
    for query in ["select sum(id) from t", "select id from t where k is null"] {
        let error = run(&ours, query).await.unwrap_err();
        assert!(error.contains("Cannot cast string 'seven'"), "{error}");
    }
}

#[tokio::test]
async fn declared_orders_and_inserts_remain() {
    let folder = Folder::new();
    let path = folder.path("t/");
    std::fs::create_dir_all(&path).unwrap();
    let ours = session(Reader::Herringbone, 1);
    let create = format!(
        "create external table t (id bigint, k int) stored as parquet partitioned by (k) with order (id) \
         location '{path}' options ('format.max_row_group_size' '2')"
    );
    run(&ours, &create).await.unwrap();
    let insert = "insert into t values (4, 5), (2, null), (1, 5), (8, null)";
    assert_eq!(rows(&ours, insert).await, "4");
    assert_eq!(rows(&ours, "insert into t (id) values (16)").await, "1");
    assert_eq!(
        rows(&ours, "select k, sum(id) from t group by k order by k").await,
        "5 5;  26"
    );
    for (filter, ids) in [("k is null", "2; 8; 16"), ("k = 5", "1; 4")] {
        let query = format!("select id from t where {filter} order by id");
        assert_eq!(rows(&ours, &query).await, ids);
    }
    let plan = rows(&ours, "explain select id from t where k = 5 order by id").await;
    assert!(
        plan.contains("output_ordering=[id@0 ASC NULLS LAST]"),
        "{plan}"
    );
    assert!(!plan.contains("SortExec"), "{plan}");
    let null = format!("k={NULL}/");
    assert_eq!(
        files(&path)
            .iter()
            .filter(|file| file.contains(&null))
            .count(),
        2
    );
}

/// Such a session has no factory for Parquet tables.
#[tokio::test]
async fn an_engine_without_a_parquet_reader_gets_tables() {
    let folder = Folder::new();
    let path = write(&folder, &one_column("5", "7"));
    let ours = SessionContext::new();
    let state = ours.state_ref();
    let engine_factory = state.write().table_factories_mut().remove("PARQUET");
    assert!(engine_factory.is_some());
    register(&ours).unwrap();
    create(&ours, "id bigint, k int", "k", &path).await;
    assert_eq!(rows(&ours, "select id from t where k is null").await, "2");
}
