//! Runs the 22 queries of TPC-H, whose rows must equal those of the engine's own reader.

use datafusion::prelude::SessionContext;
use parquet::file::properties::WriterProperties;

use crate::support::{CountingStore, Folder, Reader, create, rows, run, session, text};
use crate::tpch_tables::{TABLES, queries, write_tables};

/// Returns the scale factor, which is 0.1 unless `TPCH_SCALE` sets another one. With 0.1,
/// `lineitem` has 600,000 rows.
fn scale() -> f64 {
    std::env::var("TPCH_SCALE").map_or(0.1, |scale| scale.parse().unwrap())
}

async fn create_tables(session: &SessionContext, folder: &Folder) {
    for table in TABLES {
        let path = folder.path(&format!("{table}.parquet"));
        create(session, table, &format!("remote://store{path}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_queries_are_those_of_the_engine() {
    let folder = Folder::new();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(50_000));
    write_tables(folder.path("").as_ref(), scale(), &properties);
    let (ours, stock) = (session(Reader::Herringbone, 2), session(Reader::Stock, 2));
    let (our_store, stock_store) = (CountingStore::of(&ours), CountingStore::of(&stock));
    create_tables(&ours, &folder).await;
    create_tables(&stock, &folder).await;
    our_store.take();
    stock_store.take();
    let (mut our_sum, mut stock_sum) = ((0, 0), (0, 0));
    for (number, query) in (1..).zip(queries()) {
        let started = std::time::Instant::now();
        let our_text = text(&ours, query).await;
        let between = std::time::Instant::now();
        let stock_text = text(&stock, query).await;
        let (counts, stock_counts) = (our_store.take(), stock_store.take());
        our_sum = (our_sum.0 + counts.0, our_sum.1 + counts.1);
        stock_sum = (stock_sum.0 + stock_counts.0, stock_sum.1 + stock_counts.1);
        println!(
            "q{number}: {counts:?} {:.2}s, stock {stock_counts:?} {:.2}s",
            (between - started).as_secs_f64(),
            between.elapsed().as_secs_f64()
        );
        assert_eq!(our_text, stock_text, "query {number}");
    }
    println!("requests and bytes: {our_sum:?}, of the engine {stock_sum:?}");
    // We allow a small difference, because bytes and requests depend on the order in which two
    // partitions run.
    assert!(our_sum.0 <= stock_sum.0 + 20 && our_sum.1 <= stock_sum.1);
    answers_are_right(&ours).await;
    one_row_group_is_shared(&folder).await;
    copies_are_equal(&ours, &stock).await;
}

/// If two partitions share a row group, each of its rows must be read once.
async fn one_row_group_is_shared(folder: &Folder) {
    let whole = Folder::new();
    let writer = session(Reader::Herringbone, 1);
    create(&writer, "lineitem", &folder.path("lineitem.parquet")).await;
    let path = whole.path("lineitem.parquet");
    run(&writer, &format!("copy lineitem to '{path}'"))
        .await
        .unwrap();
    let (ours, stock) = (session(Reader::Herringbone, 3), session(Reader::Stock, 3));
    create(&ours, "lineitem", &path).await;
    create(&stock, "lineitem", &path).await;
    for query in [queries()[0], queries()[5]] {
        assert_eq!(text(&ours, query).await, text(&stock, query).await);
    }
    let plan = text(&ours, &format!("explain analyze {}", queries()[0])).await;
    assert!(plan.contains("file_groups={3 groups"), "{plan}");
}

/// Tables that `COPY` wrote must give the same answers as the original ones.
async fn copies_are_equal(ours: &SessionContext, stock: &SessionContext) {
    let copies = Folder::new();
    let copied = session(Reader::Herringbone, 2);
    for table in TABLES {
        let path = copies.path(&format!("{table}/"));
        let written = rows(ours, &format!("copy {table} to '{path}' stored as parquet")).await;
        let count = format!("select count(*) from {table}");
        assert_eq!(written, rows(stock, &count).await);
        create(&copied, table, &copies.path(&format!("{table}/"))).await;
    }
    for (number, query) in (1..).zip(queries()).filter(|(number, _)| number % 4 == 1) {
        assert_eq!(
            text(&copied, query).await,
            text(stock, query).await,
            "query {number}"
        );
    }
}

/// Compares the rows with the published answers, which are for scale 0.1.
async fn answers_are_right(ours: &SessionContext) {
    if scale() != 0.1 {
        return;
    }
    let answers = crate::engine_files::package().join("test_files/tpch/answers");
    for number in 1..=22 {
        let text = std::fs::read_to_string(answers.join(format!("q{number}.slt.part"))).unwrap();
        let (_, query) = text.split_once("\nquery ").unwrap();
        let (_, query) = query.split_once('\n').unwrap();
        let (sql, expected) = query.split_once("\n----\n").unwrap();
        let found = rows(ours, sql.trim().trim_end_matches(';'))
            .await
            .replace("; ", "\n");
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (found, expected) = (words(&found), words(expected));
        assert_eq!(found.len(), expected.len(), "query {number}");
        for (found, expected) in found.iter().zip(&expected) {
            let is_equal = match (found.parse::<f64>(), expected.parse::<f64>()) {
                (Ok(found), Ok(expected)) => (found - expected).abs() <= expected.abs() * 1e-6,
                _ => found == expected,
            };
            assert!(is_equal, "query {number}: {found} instead of {expected}");
        }
    }
}
