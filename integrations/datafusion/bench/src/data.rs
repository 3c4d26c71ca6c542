//! The files that the benchmark reads.

use std::fs::{DirEntry, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampSecondArray,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;

use crate::tpch_tables::{write, write_tables};

/// The size of a row group as `tpchgen-cli` writes it, without compression.
const ROW_GROUP_BYTES: usize = 7 << 20;

/// Writes the tables of TPC-H in row groups as `tpchgen-cli` writes them.
pub(crate) fn tpch(folder: &Path, scale: f64) -> PathBuf {
    let folder = folder.join(format!("tpch-{scale}"));
    if folder.exists() {
        return folder;
    }
    std::fs::create_dir_all(&folder).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
    write_tables(&folder, scale, &properties);
    folder
}

/// Returns the names and paths of a folder's tables.
pub(crate) fn tables(folder: &Path) -> Vec<(String, String)> {
    let table = |entry: std::io::Result<DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let directory = if path.is_dir() { "/" } else { "" };
        (name, format!("{}{directory}", path.display()))
    };
    std::fs::read_dir(folder).unwrap().map(table).collect()
}

/// Writes each table as one row group.
pub(crate) fn one_row_group(folder: &Path, tpch: &Path) -> PathBuf {
    let folder = folder.join("row-group");
    if folder.exists() {
        return folder;
    }
    std::fs::create_dir_all(&folder).unwrap();
    for (name, path) in tables(tpch) {
        let file = File::open(path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let schema = reader.schema().clone();
        let batches = reader.build().unwrap().map(Result::unwrap);
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(usize::MAX));
        let path = folder.join(format!("{name}.parquet"));
        write(&path, schema, batches, properties);
    }
    folder
}

/// A generator of numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number below `end`, where small numbers are more likely.
    fn skewed(&mut self, end: u64) -> u64 {
        let below = self.below(end) + 1;
        self.below(below)
    }
}

const HITS_ROWS: u64 = 2_000_000;
const HITS_COUNTERS: u64 = 4_000;

/// Writes a table of page views like the one of ClickBench, which is sorted by counter and date and
/// has long texts.
pub(crate) fn hits(folder: &Path) -> PathBuf {
    let folder = folder.join("hits");
    if folder.exists() {
        return folder;
    }
    std::fs::create_dir_all(&folder).unwrap();
    let mut random = Random(1);
    let mut counters: Vec<u64> = (0..HITS_ROWS)
        .map(|_| random.skewed(HITS_COUNTERS))
        .collect();
    counters.sort_unstable();
    let mut batches = counters
        .chunks(50_000)
        .map(|counters| batch(counters, &mut random))
        .peekable();
    let schema = batches.peek().unwrap().schema();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(500_000));
    write(&folder.join("hits.parquet"), schema, batches, properties);
    folder
}

fn batch(counters: &[u64], random: &mut Random) -> RecordBatch {
    let rows = counters.len() as u64;
    let start = 1_372_600_000_i64;
    // Dates ascend within a counter.
    let mut seconds = Vec::new();
    for visits in counters.chunk_by(|one, other| one == other) {
        let mut counter_ids: Vec<i64> = visits
            .iter()
            .map(|_| start + random.below(30 * 86_400) as i64)
            .collect();
        counter_ids.sort_unstable_by_key(|it| it / 86_400);
        seconds.extend(counter_ids);
    }
    let hosts = [
        "google.com",
        "yandex.ru",
        "example.org",
        "news.example.com",
        "shop.example.net",
    ];
    let mut url = |often_empty: u64| {
        let texts = (0..rows).map(|_| {
            if random.below(10) < often_empty {
                return String::new();
            }
            let host = hosts[random.skewed(500).min(4) as usize];
            format!(
                "http://{host}/path/{}/page{}?id={}",
                random.skewed(50),
                random.skewed(2_000),
                random.skewed(100_000)
            )
        });
        Arc::new(StringArray::from_iter_values(texts)) as ArrayRef
    };
    let (urls, referers) = (url(0), url(4));
    let titles = (0..rows).map(|_| {
        format!(
            "Title of the page {} - section {}",
            random.skewed(20_000),
            random.below(40)
        )
    });
    let titles: ArrayRef = Arc::new(StringArray::from_iter_values(titles));
    let phrases = (0..rows).map(|_| match random.below(20) {
        0 => format!(
            "search for {} and {}",
            random.skewed(3_000),
            random.below(100)
        ),
        _ => String::new(),
    });
    let phrases: ArrayRef = Arc::new(StringArray::from_iter_values(phrases));
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (
            "counter_id".into(),
            Arc::new(Int32Array::from_iter_values(
                counters.iter().map(|counter| *counter as i32),
            )),
        ),
        (
            "event_date".into(),
            Arc::new(Date32Array::from_iter_values(
                seconds.iter().map(|second| (second / 86_400) as i32),
            )),
        ),
        (
            "event_time".into(),
            Arc::new(TimestampSecondArray::from_iter_values(
                seconds.iter().copied(),
            )),
        ),
        (
            "watch_id".into(),
            Arc::new(Int64Array::from_iter_values(
                (0..rows).map(|_| random.next() as i64),
            )),
        ),
        (
            "user_id".into(),
            Arc::new(Int64Array::from_iter_values(
                (0..rows).map(|_| random.skewed(300_000) as i64 * 7_919),
            )),
        ),
        ("url".into(), urls),
        ("referer".into(), referers),
        ("title".into(), titles),
        ("search_phrase".into(), phrases),
        (
            "adv_engine_id".into(),
            Arc::new(Int16Array::from_iter_values((0..rows).map(|_| {
                if random.below(50) == 0 {
                    random.below(60) as i16
                } else {
                    0
                }
            }))),
        ),
        (
            "is_refresh".into(),
            Arc::new(Int16Array::from_iter_values(
                (0..rows).map(|_| i16::from(random.below(8) == 0)),
            )),
        ),
        (
            "width".into(),
            Arc::new(Int16Array::from_iter_values(
                (0..rows).map(|_| 320 + 16 * random.below(100) as i16),
            )),
        ),
    ];
    for number in 0..18 {
        let values = (0..rows).map(|_| random.skewed(1 << (number + 2)) as i32);
        columns.push((
            format!("c{number}"),
            Arc::new(Int32Array::from_iter_values(values)),
        ));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}
