//! Runs the engine's ClickBench queries over a generated table of page views. The engine's crate
//! does not contain the table that their expected results belong to.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt16Array,
};
use datafusion::prelude::SessionContext;
use sqllogictest::{DefaultColumnType, Record, parse_file};

use crate::random::Random;
use crate::support::{Folder, Reader, create, run, session, sorted_rows};

const ROWS: usize = 30_000;
const ROWS_PER_GROUP: usize = 6_000;

/// The values that the queries look for, and that many rows have.
const COUNTER: i32 = 62;
const USER: i64 = 435_090_932_899_640_449;
const REFERER_HASH: i64 = 3_594_120_000_172_545_465;
const URL_HASH: i64 = 2_868_770_270_353_813_622;
/// The day 2013-07-13, in days since 1970.
const FIRST_DAY: u16 = 15_899;

/// The integer columns, each with its values.
const SMALL: [(&str, &[i16]); 21] = [
    ("AdvEngineID", &[0, 0, 0, 2, 13]),
    ("Age", &[0, 16, 22, 39]),
    ("ClientTimeZone", &[-8, -1, 0, 3]),
    ("DontCountHits", &[0, 0, 1]),
    ("IsDownload", &[0, 0, 1]),
    ("IsLink", &[0, 1]),
    ("IsMobile", &[0, 1]),
    ("IsRefresh", &[0, 0, 1]),
    ("JavaEnable", &[0, 1]),
    ("MobilePhone", &[0, 1, 5]),
    ("ResolutionWidth", &[0, 1368, 1917, 2560]),
    ("SearchEngineID", &[0, 0, 2, 3]),
    ("SocialSourceNetworkID", &[0, 5, 12]),
    ("TraficSourceID", &[-1, 0, 6, 8]),
    ("WindowClientHeight", &[0, 612, 1130]),
    ("WindowClientWidth", &[0, 1022, 1368]),
    ("GoodEvent", &[1]),
    ("OS", &[2, 42, 108]),
    ("UserAgent", &[1, 3, 82]),
    ("IsNotBounce", &[0, 1]),
    ("FUniqID", &[-7, 0]),
];

/// The text columns, each with its values.
const TEXTS: [(&str, &[&str]); 12] = [
    ("BrowserCountry", &["", "AU", "\u{e9}", "NZ"]),
    ("BrowserLanguage", &["", "en", "ru"]),
    ("HitColor", &["5", "T", "g"]),
    ("MobilePhoneModel", &["", "", "iPhone 4", "iPad", "N8"]),
    (
        "Referer",
        &[
            "",
            "http://www.example.org/search?q=a",
            "https://example.org/campaign/spring_promo/1",
            "http://news.example.com/",
        ],
    ),
    (
        "SearchPhrase",
        &[
            "",
            "",
            "weather",
            "caf\u{e9}",
            "a long phrase of words",
            "%_",
        ],
    ),
    ("SocialAction", &["", "share"]),
    ("SocialNetwork", &["", "one", "two"]),
    (
        "Title",
        &["", "Google", "News of the day", "Search - Google Maps"],
    ),
    (
        "URL",
        &[
            "",
            "http://google.com/?resolution=1024&x",
            "http://www.google.com/maps",
            "http://example.org/?resolution=2560&x",
            "http://example.org/google",
        ],
    ),
    ("UTMCampaign", &["", "sale", "a very different one"]),
    ("UTMSource", &["", "sales", "mail"]),
];

/// Returns page views in the order of their counters, and of days within each counter.
fn hits(random: &mut Random) -> RecordBatch {
    let counter = |row: usize| match row * 10 / ROWS {
        0..3 => row as i32 * 200 / ROWS as i32,
        3..7 => COUNTER,
        _ => row as i32 * 100 / ROWS as i32,
    };
    let day = |row: usize| FIRST_DAY + (row % 4_000 / 1_000) as u16;
    let mut longs = |row_value: &mut dyn FnMut(&mut Random, usize) -> i64| -> ArrayRef {
        let values = (0..ROWS).map(|row| row_value(random, row));
        Arc::new(Int64Array::from_iter_values(values))
    };
    let event_time =
        longs(&mut |random, row| i64::from(day(row)) * 86_400 + random.below(7_200) as i64);
    let watch_id = longs(&mut |random, _| 4_611_686_018_427_387_904 + random.below(500) as i64);
    let user_id = longs(&mut |random, row| match random.below(40) {
        0 => USER,
        _ => row as i64 / 20,
    });
    let referer_hash = longs(&mut |random, _| random.choose(&[REFERER_HASH, -1, 0]));
    let url_hash = longs(&mut |random, _| random.choose(&[URL_HASH, 1]));
    let mut ints = |row_value: &mut dyn FnMut(&mut Random, usize) -> i32| -> ArrayRef {
        let values = (0..ROWS).map(|row| row_value(random, row));
        Arc::new(Int32Array::from_iter_values(values))
    };
    let days: ArrayRef = Arc::new(UInt16Array::from_iter_values((0..ROWS).map(day)));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("WatchID", watch_id),
        ("EventTime", event_time),
        ("EventDate", days),
        ("CounterID", ints(&mut |_, row| counter(row))),
        (
            "ClientIP",
            ints(&mut |random, _| random.below(50) as i32 - 25),
        ),
        ("RegionID", ints(&mut |random, _| random.below(30) as i32)),
        ("UserID", user_id),
        ("RefererHash", referer_hash),
        ("URLHash", url_hash),
        (
            "ResponseStartTiming",
            ints(&mut |random, _| random.below(3_000) as i32),
        ),
        ("ParamPrice", longs_below(random, 10_000)),
    ];
    for (name, of) in SMALL {
        let values = (0..ROWS).map(|_| random.choose(of));
        columns.push((name, Arc::new(Int16Array::from_iter_values(values))));
    }
    for (name, of) in TEXTS {
        let values = (0..ROWS).map(|_| random.choose(of));
        columns.push((name, Arc::new(StringArray::from_iter_values(values))));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn longs_below(random: &mut Random, end: usize) -> ArrayRef {
    let values = (0..ROWS).map(|_| random.below(end) as i64);
    Arc::new(Int64Array::from_iter_values(values))
}

/// Returns the queries in the engine's two ClickBench files, without those that describe plans.
fn queries() -> Vec<String> {
    let folder = crate::engine_files::package().join("test_files");
    let records = ["clickbench.slt", "clickbench_extended.slt"]
        .into_iter()
        .flat_map(|name| parse_file::<DefaultColumnType>(folder.join(name)).unwrap());
    let queries: BTreeSet<_> = records
        .filter_map(|record| match record {
            Record::Query { sql, .. } if !sql.starts_with("EXPLAIN") => Some(sql),
            _ => None,
        })
        .collect();
    // We lower this bound, because the table has fewer rows than the original.
    let sql = |it: String| it.trim_end_matches(';').replace("> 100000", "> 100");
    queries.into_iter().map(sql).collect()
}

/// Returns the query without its limit, and true if it has one.
fn without_limit(query: &str) -> (&str, bool) {
    match query.rfind(" LIMIT ") {
        Some(at) => (&query[..at], true),
        None => (query, false),
    }
}

async fn create_hits(session: &SessionContext, path: &str) {
    create(session, "hits_raw", path).await;
    let view = "create view hits as select * except (\"EventDate\"), \
                cast(cast(\"EventDate\" as integer) as date) as \"EventDate\" from hits_raw";
    run(session, view).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_of_clickbench_are_those_of_the_engine() {
    let folder = Folder::new();
    let path = folder.write("hits.parquet", &hits(&mut Random(7)), ROWS_PER_GROUP);
    // There is only one partition, because floats add up to the same sum only in the same order of
    // rows.
    let (ours, stock) = (session(Reader::Herringbone, 1), session(Reader::Stock, 1));
    create_hits(&ours, &path).await;
    create_hits(&stock, &path).await;
    let queries = queries();
    assert_eq!(queries.len(), 52);
    for query in &queries {
        let (whole, is_limited) = without_limit(query);
        let expected = sorted_rows(&stock, whole).await;
        assert!(!expected.is_empty(), "no rows: {query}");
        assert!(
            !query.contains("ShareCount") || expected != ["| 0          |"],
            "{expected:?}"
        );
        assert_eq!(sorted_rows(&ours, whole).await, expected, "{whole}");
        if is_limited {
            // If rows compare as equal, the limit may keep any of them.
            let limited = cells(sorted_rows(&ours, query).await);
            let stock_cells = cells(sorted_rows(&stock, query).await);
            assert_eq!(limited.len(), stock_cells.len(), "{query}");
            let expected: BTreeSet<_> = cells(expected).into_iter().collect();
            assert!(limited.iter().all(|row| expected.contains(row)), "{query}");
        }
    }
}

/// Returns rows without their padding, because it depends on the other rows.
fn cells(rows: Vec<String>) -> Vec<Vec<String>> {
    let row = |row: &String| row.split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.iter().map(row).collect()
}
