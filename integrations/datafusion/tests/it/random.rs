//! Runs random predicates over random data. The rows must equal those of the engine's own reader
//! without statistics, indexes and push-down.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array,
    Int64Array, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, UInt8Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::support::{Folder, Reader, create, session, sorted_rows};

/// A generator of pseudo-random numbers (Marsaglia's xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn choose<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const ROWS: usize = 3_000;
const FLOATS: [f64; 9] = [
    f64::NAN,
    -f64::NAN,
    0.0,
    -0.0,
    1.0,
    -1.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e-300,
];
const WORDS: [&str; 8] = ["", "a", "ab", "b", "caf\u{e9}", "z%z", "x_y", "\u{1f600}"];

/// Returns columns whose values grow roughly with the row, so that row groups and pages differ.
fn data(random: &mut Random) -> RecordBatch {
    let mut rows = |of: &mut dyn FnMut(&mut Random, usize) -> i64| -> Vec<Option<i64>> {
        (0..ROWS)
            .map(|row| (random.below(7) > 0).then(|| of(random, row)))
            .collect()
    };
    let long = rows(&mut |random, row| row as i64 / 10 + random.below(20) as i64);
    let int = rows(&mut |random, row| (row as i64 / 100) - random.below(5) as i64);
    let pick = rows(&mut |random, row| (row / 400 + random.below(3)) as i64);
    let inner = rows(&mut |random, row| row as i64 / 50 + random.below(3) as i64);
    let float = |at: &Option<i64>| at.map(|at| FLOATS[at as usize % FLOATS.len()]);
    let word = |at: &Option<i64>| at.map(|at| WORDS[at as usize % WORDS.len()]);
    let ints =
        |of: &[Option<i64>]| -> Int32Array { of.iter().map(|it| it.map(|it| it as i32)).collect() };
    let decimals =
        Decimal128Array::from_iter(long.iter().map(|it| it.map(|it| i128::from(it) * 7 - 900)));
    let fields = Fields::from(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Utf8, true),
    ]);
    let inner: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(inner)),
        Arc::new(StringArray::from_iter(pick.iter().map(word))),
    ];
    let valid: NullBuffer = (0..ROWS).map(|row| row % 13 > 0).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("l", Arc::new(Int64Array::from(long.clone()))),
        ("i", Arc::new(ints(&int))),
        (
            "u",
            Arc::new(UInt8Array::from_iter(
                int.iter().map(|it| it.map(|it| it as u8)),
            )),
        ),
        (
            "f",
            Arc::new(Float64Array::from_iter(pick.iter().map(float))),
        ),
        (
            "g",
            Arc::new(Float32Array::from_iter(
                long.iter().map(|it| it.map(|it| it as f32 / 8.0)),
            )),
        ),
        ("s", Arc::new(StringArray::from_iter(pick.iter().map(word)))),
        (
            "b",
            Arc::new(BooleanArray::from_iter(
                int.iter().map(|it| it.map(|it| it % 3 == 0)),
            )),
        ),
        (
            "d",
            Arc::new(Date32Array::from_iter(
                int.iter().map(|it| it.map(|it| 9_000 + it as i32)),
            )),
        ),
        (
            "t",
            Arc::new(TimestampMicrosecondArray::from_iter(
                long.iter().map(|it| it.map(|it| it * 1_000_003)),
            )),
        ),
        (
            "n",
            Arc::new(decimals.with_precision_and_scale(12, 2).unwrap()),
        ),
        ("r", Arc::new(StructArray::new(fields, inner, Some(valid)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Returns a comparison of one column.
fn test(random: &mut Random) -> String {
    let operator = random.choose(&["=", "<>", "<", "<=", ">", ">="]);
    let long = random.below(330) as i64;
    let float = random.choose(&[
        "'NaN'::double",
        "0.0",
        "-0.0",
        "1.0",
        "-1.5",
        "1e-300",
        "1e300",
    ]);
    let word = random.choose(&["''", "'a'", "'ab'", "'caf\u{e9}'", "'z%z'", "'m'"]);
    match random.below(17) {
        0 => format!("l {operator} {long}"),
        1 => format!("i {operator} {}", long / 10),
        2 => format!("u {operator} {}", long % 256),
        3 | 4 => format!("f {operator} {float}"),
        5 => format!("g {operator} {}.25", long / 8),
        6 => format!("s {operator} {word}"),
        7 => random
            .choose(&["b", "not b", "b is true", "b is not false"])
            .to_owned(),
        8 => format!("d {operator} date '1994-08-{:02}'", 1 + random.below(31)),
        9 => format!(
            "t {operator} timestamp '1970-01-01 00:0{}:00'",
            random.below(6)
        ),
        10 => format!("n {operator} {}.{:02}", long / 30 - 3, random.below(100)),
        11 => format!("r['a'] {operator} {}", long / 5),
        12 => format!("r['b'] {operator} {word}"),
        13 => {
            let column = random.choose(&["l", "f", "s", "r", "r['a']", "r['b']", "g", "n"]);
            format!("{column} is {}null", random.choose(&["", "not "]))
        }
        14 => {
            let pattern = random.choose(&["a%", "%b", "%_y", "z\\%z", "%", "_", "%caf%"]);
            format!(
                "s {} '{pattern}'",
                random.choose(&["like", "not like", "ilike"])
            )
        }
        15 => list(random),
        _ => random
            .choose(&[
                "l + i > 100",
                "l % 7 = 3",
                "length(s) = 2",
                "f * 2 > 1",
                "cast(l as double) < 33.3",
                "l = i",
                "coalesce(f, 1.0) >= 1.0",
            ])
            .to_owned(),
    }
}

fn list(random: &mut Random) -> String {
    let values = 1 + random.below(30);
    let mut list = String::new();
    let column = random.choose(&["l", "f", "s", "i"]);
    for at in 0..values {
        let value = match column {
            "f" => random
                .choose(&["'NaN'::double", "0.0", "1.0", "7.0", "-1.5"])
                .to_owned(),
            "s" => format!("'{}'", random.choose(&["a", "b", "q", ""])),
            _ => random.below(300).to_string(),
        };
        write!(list, "{}{value}", if at == 0 { "" } else { ", " }).unwrap();
    }
    if random.below(9) == 0 {
        list.push_str(", null");
    }
    format!("{column} {}in ({list})", random.choose(&["", "not "]))
}

fn predicate(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0..3 => test(random),
        3 => format!(
            "({} and {})",
            predicate(random, depth - 1),
            predicate(random, depth - 1)
        ),
        4 => format!(
            "({} or {})",
            predicate(random, depth - 1),
            predicate(random, depth - 1)
        ),
        _ => format!("not ({})", predicate(random, depth - 1)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_predicates_select_the_rows_that_the_engine_selects() {
    let seed = std::env::var("SEED").map_or(0x5EED, |seed| seed.parse().unwrap());
    let count = std::env::var("PREDICATES").map_or(250, |count| count.parse().unwrap());
    let mut random = Random(seed);
    let folder = Folder::new();
    let batch = data(&mut random);
    let pages = WriterProperties::builder()
        .set_max_row_group_row_count(Some(700))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50);
    let blooms = pages.clone().set_bloom_filter_enabled(true);
    let none = pages
        .clone()
        .set_statistics_enabled(EnabledStatistics::None);
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    for (table, properties) in [("pages", pages), ("blooms", blooms), ("bare", none)] {
        let path = folder.write_with(&format!("{table}.parquet"), &batch, properties.build());
        create(&ours, table, &path).await;
        create(&plain, table, &path).await;
    }
    let mut selected = 0;
    for at in 0..count {
        let table = ["pages", "blooms", "bare"][at % 3];
        let columns = random.choose(&["*", "l, s", "count(*)", "r['a'], f", "sum(l), max(t)"]);
        let query = format!(
            "select {columns} from {table} where {}",
            predicate(&mut random, 3)
        );
        let expected = sorted_rows(&plain, &query).await;
        assert_eq!(sorted_rows(&ours, &query).await, expected, "{query}");
        selected += usize::from(!expected.is_empty() && expected.len() < ROWS);
    }
    // If predicates selected all rows or none, they would prove little.
    assert!(selected > count / 3, "{selected} of {count}");
}
