//! Filters return exactly the rows of a row-by-row test, whatever the layout of the file.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use herringbone::arrow::array::types::{Int32Type, UInt16Type};
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int64Array, ListArray, RecordBatch, StringArray, StringViewArray,
    StructArray, TimestampMicrosecondArray, UInt64Array,
};
use herringbone::arrow::schema::{DataType, Field, SchemaRef};
use herringbone::filter::{
    Literal, Predicate, PruningStep, PruningSteps, RowError, RowPredicate, RowTest, Verdict, col,
    col_at,
};
use herringbone::format::{FileMetadata, Type};
use herringbone::push::PushDecoder;
use herringbone::schema::ParquetSchema;
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, DataPageVersion, ErrorKind, Limits,
    ParquetFile, ReadOptions, StatisticsLevel, WriteOptions,
};

use crate::push::{SUPPLIES, pushed, written};
use crate::random::{Random, cases};
use crate::table::Table;

/// A value as the oracle compares it: numbers by value, text by bytes.
#[derive(Debug, Clone, PartialEq)]
enum Plain {
    Number(f64),
    Whole(i128),
    Text(String),
    Truth(bool),
}

impl Plain {
    /// NaN is a single value above all others. -0 equals 0.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Truth(a), Self::Truth(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => a.partial_cmp(b).unwrap(),
            },
            other => panic!("{other:?}"),
        }
    }
}

/// The value of a row in a column, or `None` if it is null.
type Cell = Option<Plain>;

/// A column to be tested: its path, a value for each row, and literals to compare it with.
struct Tested {
    path: &'static [&'static str],
    cells: Vec<Cell>,
    literals: Vec<(Literal, Plain)>,
}

/// Rows, and the columns that the oracle evaluates.
struct Data {
    batch: RecordBatch,
    tested: Vec<Tested>,
}

/// Values that ascend slowly, so that bounds are useful. Nulls are scattered, with a few long stretches of nulls.
#[allow(clippy::too_many_lines, reason = "a column after the other")]
fn data(rows: usize, random: &mut Random) -> Data {
    let is_null = |random: &mut Random, row: usize| row / 50 % 7 == 3 || random.below(5) == 0;
    let mut whole = |span: i128| -> Vec<Option<i128>> {
        (0..rows)
            .map(|row| {
                let value = row as i128 * span / rows as i128 + random.below(9) as i128 - 4;
                (!is_null(random, row)).then_some(value)
            })
            .collect()
    };
    let (int, small, big) = (whole(1000), whole(100), whole(1 << 40));
    let (date, stamp, decimal) = (whole(4000), whole(1 << 50), whole(100_000));
    let (key, inner) = (whole(40), whole(300));
    let float: Vec<_> = int
        .iter()
        .map(|value| {
            value.map(|value| match random.below(12) {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f64::INFINITY,
                _ => value as f64 / 4.0,
            })
        })
        .collect();
    let text: Vec<_> = int
        .iter()
        .map(|value| value.map(|value| format!("k{:05}é", value + 5)))
        .collect();
    let flag: Vec<_> = int
        .iter()
        .map(|value| value.map(|value| value > 500))
        .collect();
    let struct_is_null: Vec<_> = (0..rows).map(|row| row % 11 == 5).collect();
    let lists = (0..rows).map(|row| match row % 5 {
        0 => None,
        n => Some((0..n as i32 - 1).map(Some).collect::<Vec<_>>()),
    });
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let inner_array: ArrayRef = Arc::new(Int64Array::from_iter(
        inner.iter().map(|v| v.map(|v| v as i64)),
    ));
    let other: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let fields = [
        Field::new("c", DataType::Int64, true),
        Field::new("d", DataType::Int64, false),
    ];
    let valid: Vec<_> = struct_is_null.iter().map(|is_null| !is_null).collect();
    let structs = StructArray::new(
        fields.to_vec().into(),
        vec![inner_array, other],
        Some(valid.into()),
    );
    let words = ["ab", "b", "ba", "c", "ca"];
    let word = |key: &Option<i128>| key.map(|key| words[(key + 4) as usize % words.len()]);
    let dictionary: DictionaryArray<UInt16Type> = key.iter().map(word).collect();
    let narrow = |values: &[Option<i128>]| {
        values
            .iter()
            .map(|v| v.map(|v| v as i64))
            .collect::<Vec<_>>()
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("int", Arc::new(Int64Array::from(narrow(&int)))),
        (
            "small",
            Arc::new(Int8Array::from_iter(
                small.iter().map(|v| v.map(|v| v as i8)),
            )),
        ),
        (
            "big",
            Arc::new(UInt64Array::from_iter(
                big.iter().map(|v| v.map(|v| (v + 9) as u64)),
            )),
        ),
        ("float", Arc::new(Float64Array::from(float.clone()))),
        (
            "single",
            Arc::new(Float32Array::from_iter(
                float.iter().map(|v| v.map(|v| v as f32)),
            )),
        ),
        ("text", Arc::new(StringArray::from(text.clone()))),
        ("view", Arc::new(StringViewArray::from_iter(text.clone()))),
        ("flag", Arc::new(BooleanArray::from(flag.clone()))),
        (
            "date",
            Arc::new(Date32Array::from_iter(
                date.iter().map(|v| v.map(|v| v as i32)),
            )),
        ),
        (
            "stamp",
            Arc::new(TimestampMicrosecondArray::from(narrow(&stamp)).with_timezone("UTC")),
        ),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(decimal.clone())
                    .with_precision_and_scale(12, 2)
                    .unwrap(),
            ),
        ),
        ("word", Arc::new(dictionary)),
        ("s", Arc::new(structs)),
        ("list", Arc::new(lists)),
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..rows as i64)),
        ),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let whole_cells = |values: &[Option<i128>]| {
        values
            .iter()
            .map(|v| v.map(Plain::Whole))
            .collect::<Vec<_>>()
    };
    let integers = |values: &[i128]| {
        values
            .iter()
            .map(|v| (Literal::Integer(*v), Plain::Whole(*v)))
            .collect::<Vec<_>>()
    };
    let texts = |values: &[&str]| {
        let both = |v: &&str| (Literal::from(*v), Plain::Text((*v).to_owned()));
        values.iter().map(both).collect::<Vec<_>>()
    };
    let floats = |values: &[f64]| {
        values
            .iter()
            .map(|v| (Literal::from(*v), Plain::Number(*v)))
            .collect::<Vec<_>>()
    };
    let numbers = float
        .iter()
        .map(|v| v.map(Plain::Number))
        .collect::<Vec<_>>();
    let text_cells = || {
        text.iter()
            .map(|v| v.clone().map(Plain::Text))
            .collect::<Vec<_>>()
    };
    // Days and microseconds, as text literals.
    let days = |values: &[(&str, i128)]| {
        values
            .iter()
            .map(|(text, v)| (Literal::from(*text), Plain::Whole(*v)))
            .collect::<Vec<_>>()
    };
    let tested = vec![
        Tested {
            path: &["int"],
            cells: whole_cells(&int),
            literals: integers(&[-5, 0, 17, 500, 501, 999, 1 << 70, -(1 << 70)]),
        },
        Tested {
            path: &["small"],
            cells: whole_cells(&small),
            literals: integers(&[-200, -1, 3, 50, 99, 200]),
        },
        Tested {
            path: &["big"],
            cells: big.iter().map(|v| v.map(|v| Plain::Whole(v + 9))).collect(),
            literals: integers(&[-1, 9, 1 << 39, (1 << 39) + 77, u64::MAX.into()]),
        },
        Tested {
            path: &["float"],
            cells: numbers.clone(),
            literals: floats(&[
                -1.0,
                -0.0,
                0.0,
                0.25,
                125.0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
            ]),
        },
        Tested {
            path: &["single"],
            cells: numbers,
            literals: floats(&[0.0, 62.5, 249.75, f64::NAN]),
        },
        Tested {
            path: &["text"],
            cells: text_cells(),
            literals: texts(&["", "k00500é", "k005", "k0099", "z", "k00003é"]),
        },
        Tested {
            path: &["view"],
            cells: text_cells(),
            literals: texts(&["k00500é", "k002", "a"]),
        },
        Tested {
            path: &["flag"],
            cells: flag.iter().map(|v| v.map(Plain::Truth)).collect(),
            literals: vec![
                (true.into(), Plain::Truth(true)),
                (false.into(), Plain::Truth(false)),
            ],
        },
        Tested {
            path: &["date"],
            cells: whole_cells(&date),
            literals: days(&[
                ("1970-01-01", 0),
                ("1975-06-15", 1991),
                ("1960-01-01", -3653),
                ("2000-01-01", 10957),
            ]),
        },
        Tested {
            path: &["stamp"],
            cells: whole_cells(&stamp),
            literals: days(&[
                ("1970-01-01T00:00:00Z", 0),
                ("1987-11-02 13:24:01.5+01:00", 562_854_241_500_000),
                ("1960-01-01", -315_619_200_000_000),
            ]),
        },
        Tested {
            path: &["decimal"],
            cells: whole_cells(&decimal),
            // In hundredths.
            literals: vec![
                (Literal::Integer(5), Plain::Whole(500)),
                (Literal::Float(500.25), Plain::Whole(50_025)),
                (Literal::Float(-0.01), Plain::Whole(-1)),
                (
                    Literal::Decimal {
                        unscaled: 7_000_000.into_i256(),
                        scale: 4,
                    },
                    Plain::Whole(70_000),
                ),
            ],
        },
        Tested {
            path: &["word"],
            cells: key
                .iter()
                .map(|v| word(v).map(|v| Plain::Text(v.to_owned())))
                .collect(),
            literals: texts(&["a", "ab", "b", "ba", "zz"]),
        },
        Tested {
            path: &["s", "c"],
            cells: inner
                .iter()
                .zip(&struct_is_null)
                .map(|(v, is_null)| v.filter(|_| !is_null).map(Plain::Whole))
                .collect(),
            literals: integers(&[-4, 3, 150, 299]),
        },
    ];
    Data {
        batch: batch.unwrap(),
        tested,
    }
}

trait IntoI256 {
    fn into_i256(self) -> herringbone::arrow::buffer::i256;
}

impl IntoI256 for i128 {
    fn into_i256(self) -> herringbone::arrow::buffer::i256 {
        herringbone::arrow::buffer::i256::from_i128(self)
    }
}

/// The oracle's result for a row: true, false or unknown.
type Oracle = Box<dyn Fn(usize) -> Option<bool>>;

/// A predicate and its oracle.
fn test(data: &Data, random: &mut Random) -> (Predicate, Oracle) {
    let tested = &data.tested[random.below(data.tested.len())];
    let cells = tested.cells.clone();
    let column = || col_at(tested.path.iter().copied());
    let (literal, value) = random.pick(&tested.literals);
    let compare = move |is_true: fn(Ordering) -> bool, value: Plain| -> Oracle {
        Box::new(move |row| cells[row].as_ref().map(|cell| is_true(cell.order(&value))))
    };
    let cells = tested.cells.clone();
    match random.below(11) {
        0 => (column().eq(literal), compare(Ordering::is_eq, value)),
        1 => (column().ne(literal), compare(Ordering::is_ne, value)),
        2 => (column().lt(literal), compare(Ordering::is_lt, value)),
        3 => (column().le(literal), compare(Ordering::is_le, value)),
        4 => (column().gt(literal), compare(Ordering::is_gt, value)),
        5 => (column().ge(literal), compare(Ordering::is_ge, value)),
        6 => {
            let (second, other) = random.pick(&tested.literals);
            (
                column().between(literal, second),
                Box::new(move |row| {
                    let cell = cells[row].as_ref()?;
                    Some(cell.order(&value).is_ge() && cell.order(&other).is_le())
                }),
            )
        }
        7 => {
            // An existing value, another value, and sometimes a null.
            let with_null = random.below(3) == 0;
            let (second, other) = random.pick(&tested.literals);
            let mut literals = vec![literal, second];
            literals.extend(with_null.then_some(Literal::Null));
            (
                column().is_in(literals),
                Box::new(move |row| {
                    let cell = cells[row].as_ref()?;
                    let is_one = cell.order(&value).is_eq() || cell.order(&other).is_eq();
                    if is_one {
                        Some(true)
                    } else {
                        (!with_null).then_some(false)
                    }
                }),
            )
        }
        8 => (
            column().is_null(),
            Box::new(move |row| Some(cells[row].is_none())),
        ),
        9 => (column().eq(Literal::Null), Box::new(|_| None)),
        _ => {
            let like = ["k005%", "%1é", "k0_50_", "%"][random.below(4)];
            let cells = data
                .tested
                .iter()
                .find(|tested| tested.path == ["text"])
                .unwrap()
                .cells
                .clone();
            (
                col("text").like(like),
                Box::new(move |row| {
                    let Some(Plain::Text(text)) = &cells[row] else {
                        return None;
                    };
                    let characters: Vec<_> = text.chars().collect();
                    Some(match like {
                        "k005%" => text.starts_with("k005"),
                        "%1é" => text.ends_with("1é"),
                        "k0_50_" => {
                            characters.len() == 6
                                && text.starts_with("k0")
                                && characters[3..5] == ['5', '0']
                        }
                        _ => true,
                    })
                }),
            )
        }
    }
}

fn predicate(data: &Data, random: &mut Random, depth: usize) -> (Predicate, Oracle) {
    if depth == 0 {
        return test(data, random);
    }
    let (one, is_one) = predicate(data, random, depth - 1);
    match random.below(4) {
        0 => (one.not(), Box::new(move |row| is_one(row).map(|is| !is))),
        1 => {
            let (two, is_two) = predicate(data, random, depth - 1);
            let both: Oracle = Box::new(move |row| match (is_one(row), is_two(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            });
            (one.and(two), both)
        }
        2 => {
            let (two, is_two) = predicate(data, random, depth - 1);
            let either: Oracle = Box::new(move |row| match (is_one(row), is_two(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            });
            (one.or(two), either)
        }
        _ if random.below(2) == 0 => third_of(test(data, random), data, random),
        _ => (one, is_one),
    }
}

/// Selects the rows that the test accepts and whose number is divisible by three. The resulting predicate implies the
/// test.
fn third_of(
    (implied, oracle): (Predicate, Oracle),
    data: &Data,
    random: &mut Random,
) -> (Predicate, Oracle) {
    let rows = (0..data.batch.num_rows()).map(|row| Some(oracle(row)? && row % 3 == 0));
    let wanted: Arc<[Option<bool>]> = rows.collect();
    let third = ThirdOf {
        wanted: wanted.clone(),
        implied,
        tests_implied: random.below(3) > 0,
    };
    (Predicate::rows(third), Box::new(move |row| wanted[row]))
}

#[derive(Debug)]
struct ThirdOf {
    wanted: Arc<[Option<bool>]>,
    implied: Predicate,
    tests_implied: bool,
}

impl RowPredicate for ThirdOf {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let wanted = self.wanted.clone();
        Ok(Box::new(move |batch| {
            let rows = Int64Array::from(batch.column(0).to_data());
            let wanted = rows.values().iter().map(|row| wanted[*row as usize]);
            Ok(wanted.collect())
        }))
    }

    fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(Some(self.implied.clone()))
    }

    fn tests_implied(&self) -> bool {
        self.tests_implied
    }
}

fn write(batch: &RecordBatch, random: &mut Random) -> Bytes {
    let mut options = WriteOptions::new();
    options.columns = ColumnOptions::new()
        .page_rows([7, 100, 1000][random.below(3)])
        .dictionary(random.below(2) == 0)
        .dictionary_bytes([200, 1 << 20][random.below(2)])
        .statistics(random.pick(&[
            StatisticsLevel::None,
            StatisticsLevel::Counts,
            StatisticsLevel::Chunk,
            StatisticsLevel::Page,
        ]))
        .truncate_bounds([1, 64][random.below(2)])
        .compression([Compression::Uncompressed, Compression::Snappy][random.below(2)]);
    if random.below(2) == 0 {
        let columns = ColumnOptions::new().bloom_filter(BloomFilterOptions::default());
        for type_ in [Type::Int32, Type::Int64, Type::Double, Type::ByteArray] {
            options = options.physical_type(type_, columns.clone());
        }
    }
    options.row_group_rows = [150, 400, 5000, 20_000][random.below(4)];
    options.data_page_version = Some([DataPageVersion::V1, DataPageVersion::V2][random.below(2)]);
    written(batch, options)
}

fn ranges(wanted: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for row in wanted {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

fn table(batches: &[RecordBatch], schema: &herringbone::arrow::schema::Schema) -> Table {
    let mut table = Table::empty(schema);
    batches.iter().for_each(|batch| table.push(batch));
    table
}

/// All pruning steps, none, or some of them.
fn steps(random: &mut Random) -> PruningSteps {
    let all = [
        PruningStep::Statistics,
        PruningStep::BloomFilters,
        PruningStep::Dictionaries,
        PruningStep::ColumnIndexes,
        PruningStep::PageMaps,
    ];
    match random.below(3) {
        0 => PruningSteps::all(),
        _ => all
            .into_iter()
            .fold(PruningSteps::none(), |steps, step| match random.below(2) {
                0 => steps,
                _ => steps.with(step),
            }),
    }
}

#[test]
fn random_predicates_give_the_rows_that_match() {
    for seed in 0..cases(20) {
        let random = &mut Random(seed);
        // Some files have enough rows for several threads and for page indexes of their column chunks.
        let rows = [1200, 1200, 1200, 1200, 6000, 12_000][random.below(6)];
        let data = data(rows, random);
        let bytes = write(&data.batch, random);
        let file = ParquetFile::from_source(bytes.clone(), Limits::default()).unwrap();
        let all = Table::read(file.read(ReadOptions::new()).unwrap()).unwrap();
        for _ in 0..12 {
            let depth = random.below(4);
            let (predicate, oracle) = predicate(&data, random, depth);
            let mut options = ReadOptions::new().filter(predicate.clone());
            // Small batches of many rows take long and add little coverage.
            let batch_sizes = match rows {
                1200 => [1, 7, 100, 8192],
                _ => [100, 300, 1000, 8192],
            };
            options.batch_size = batch_sizes[random.below(4)];
            options.pruning = steps(random);
            let mut wanted: Vec<_> = (0..rows).filter(|row| oracle(*row) == Some(true)).collect();
            if random.below(3) == 0 {
                options.row_ranges = Some(vec![100..333, 700..1150]);
                wanted.retain(|row| (100..333).contains(row) || (700..1150).contains(row));
            }
            if random.below(3) == 0 {
                let (offset, limit) = (random.below(50), random.below(300));
                options = options.offset(offset as u64).limit(limit as u64);
                wanted = wanted.into_iter().skip(offset).take(limit).collect();
            }
            let mut expected = all.rows_of(&ranges(wanted.iter().copied()));
            let names = [
                vec!["row"],
                vec!["int", "text", "row", "list"],
                vec!["s", "word"],
                vec![],
            ];
            if random.below(2) == 0 {
                let names = names[random.below(4)].clone();
                let ordinals: Vec<_> = (0..data.batch.num_columns())
                    .filter(|at| names.contains(&data.batch.schema().field(*at).name().as_str()))
                    .collect();
                expected = expected.columns_of(&ordinals);
                options = options.columns(names);
            }
            let what = format!("seed {seed}: {predicate} with {options:?}");
            let read = |threads| -> Vec<RecordBatch> {
                let reader = file.read(options.clone().threads(threads)).unwrap();
                reader.map(|batch| batch.unwrap()).collect()
            };
            let found = read(1);
            let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(rows, wanted.len(), "{what}");
            assert!(
                found
                    .iter()
                    .all(|batch| (1..=options.batch_size).contains(&batch.num_rows()))
            );
            let schema = file.plan(&options).unwrap().schema().clone();
            let difference = table(&found, &schema).difference(&expected, true);
            assert_eq!(difference, None, "{what}");
            // Other drivers return the same batches.
            assert!(read(3) == found, "{what}, 3 threads");
            let how = SUPPLIES[random.below(3)];
            assert!(
                pushed(&bytes, &options, how).unwrap() == found,
                "{what} {how:?}"
            );
        }
    }
}

/// A custom predicate that requests it only sees the rows that its implied predicate accepts.
#[test]
fn what_is_implied_is_tested_first() {
    #[derive(Debug)]
    struct Counted {
        tests_implied: bool,
        seen: Arc<AtomicUsize>,
    }
    impl RowPredicate for Counted {
        fn columns(&self) -> Vec<Vec<String>> {
            vec![vec!["text".to_owned()]]
        }
        fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
            let seen = self.seen.clone();
            Ok(Box::new(move |batch| {
                seen.fetch_add(batch.num_rows(), Relaxed);
                Ok(vec![true; batch.num_rows()].into())
            }))
        }
        fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
            Ok(Some(col("row").between(40, 59)))
        }
        fn tests_implied(&self) -> bool {
            self.tests_implied
        }
    }
    let data = data(300, &mut Random(3));
    let file = ParquetFile::from_bytes(written(&data.batch, WriteOptions::new())).unwrap();
    let read = |change: &dyn Fn(Predicate) -> Predicate, tests_implied| {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Predicate::rows(Counted {
            tests_implied,
            seen: seen.clone(),
        });
        let options = ReadOptions::new().filter(change(counted)).columns(["int"]);
        let batches = file.read(options).unwrap();
        let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
        (seen.load(Relaxed), rows)
    };
    assert_eq!(read(&|it| it, false), (300, 300));
    // The predicate claims an implication that does not hold, so that the effect on the rows is visible.
    assert_eq!(read(&|it| it, true), (20, 20));
    let both: &dyn Fn(Predicate) -> Predicate = &|it| it.and(col("row").ge(50));
    assert_eq!(read(both, true), (10, 10));
    let either: &dyn Fn(Predicate) -> Predicate = &|it| it.or(col("row").ge(290));
    assert_eq!(read(either, true), (30, 30));
    assert_eq!(read(&|it| it.not(), true), (300, 0));
}

/// Selects every third row by its own column.
#[derive(Debug)]
struct EveryThird {
    verdict: Verdict,
}

impl RowPredicate for EveryThird {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        Ok(Box::new(|batch| {
            let rows = Int64Array::from(batch.column(0).to_data());
            // The result is unknown if the row is divisible by 9.
            Ok(rows
                .iter()
                .map(|row| row.filter(|row| row % 9 != 0).map(|row| row % 3 == 0))
                .collect())
        }))
    }

    fn verdict(&self, _: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        Ok(if row_group == 1 {
            self.verdict
        } else {
            Verdict::Some
        })
    }
}

#[test]
fn predicates_of_ones_own() {
    let random = &mut Random(1);
    let data = data(300, random);
    let mut options = WriteOptions::new();
    options.row_group_rows = 100;
    let file = written(&data.batch, options);
    let file = ParquetFile::from_source(file, Limits::default()).unwrap();
    let rows = |predicate: Predicate| -> Vec<i64> {
        let options = ReadOptions::new().columns(["row"]).filter(predicate);
        let batches = file.read(options).unwrap();
        batches
            .flat_map(|batch| {
                Int64Array::from(batch.unwrap().column(0).to_data())
                    .values()
                    .to_vec()
            })
            .collect()
    };
    let is_third = |row: &i64| row % 3 == 0 && row % 9 != 0;
    let some = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::Some,
        })
    };
    assert_eq!(rows(some()), (0..300).filter(is_third).collect::<Vec<_>>());
    // Unknown rows are not selected by the negation either.
    assert_eq!(
        rows(some().not()),
        (0..300).filter(|row| row % 3 != 0).collect::<Vec<_>>()
    );
    // The verdict on a row group counts, right or wrong.
    let none = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::None,
        })
    };
    let outside = |row: &i64| !(100..200).contains(row);
    assert_eq!(
        rows(none()),
        (0..300)
            .filter(|row| is_third(row) && outside(row))
            .collect::<Vec<_>>()
    );
    let all = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::All,
        })
    };
    assert_eq!(
        rows(all()),
        (0..300)
            .filter(|row| is_third(row) || !outside(row))
            .collect::<Vec<_>>()
    );
    let both = rows(some().and(col("row").ge(250)));
    assert_eq!(both, (250..300).filter(is_third).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_tested_is_an_error() {
    let data = data(50, &mut Random(2));
    let bytes = write(&data.batch, &mut Random(2));
    let file = ParquetFile::from_source(bytes, Limits::default()).unwrap();
    for (predicate, message) in [
        (col("none").eq(1), "there is no column `none`"),
        (
            col("s").is_null(),
            "`s` is a group; test one of its columns, such as `s.",
        ),
        (
            col("int").eq("5"),
            "cannot compare Int64 with '5', which is text",
        ),
        (
            col("text").gt(5),
            "cannot compare Utf8 with 5, which is an integer",
        ),
        (col("date").lt("soon"), "cannot compare Date32 with 'soon'"),
        (col("flag").lt(0), "cannot compare Boolean with 0"),
        (col("int").like("5%"), "values of Int64 are not text"),
        (col("text").is_nan(), "values of Utf8 are never NaN"),
        (
            col("list.list.element").eq(1),
            "is in a list: test any(list.list.element)",
        ),
    ] {
        let error = file
            .read(ReadOptions::new().filter(predicate.clone()))
            .err()
            .unwrap();
        assert!(error.message().contains(message), "{predicate}: {error}");
    }
}

/// Row groups without a selected row are skipped by their bounds or by their values, however many there are.
#[test]
fn many_row_groups_without_a_wanted_row() {
    let rows = 20_000;
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(
        (0..rows).map(|row| row % 7 * 2),
    ));
    let batch = RecordBatch::try_from_iter([("value", values)]).unwrap();
    for statistics in [StatisticsLevel::Counts, StatisticsLevel::Chunk] {
        let mut options = WriteOptions::new();
        options.row_group_rows = 2;
        options.columns = ColumnOptions::new().statistics(statistics);
        let file = ParquetFile::from_source(written(&batch, options), Limits::default()).unwrap();
        let read = |predicate| {
            let options = ReadOptions::new().filter(predicate);
            let batches = file.read(options).unwrap();
            batches
                .map(|batch| batch.unwrap().num_rows())
                .sum::<usize>()
        };
        assert_eq!(read(col("value").eq(5)), 0);
        let expected = (0..rows).filter(|row| row % 7 == 6).count();
        assert_eq!(read(col("value").ge(12)), expected);
    }
}

#[test]
fn threads_split_columns_of_which_some_rows_are_wanted() {
    const ROWS: i64 = 400_000;
    // Half of the rows, scattered, and runs of rows.
    let mixed = |row: i64| row.wrapping_mul(0x1E37_79B9_7F4A_7C15) >> 40 & 0xff;
    let keys = Int64Array::from_iter_values((0..ROWS).map(mixed));
    let runs = Int64Array::from_iter_values((0..ROWS).map(|row| row / 700 % 3));
    let payload = Int64Array::from_iter((0..ROWS).map(|row| (row % 7 != 0).then_some(row)));
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(keys)),
        ("run", Arc::new(runs)),
        ("payload", Arc::new(payload)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for compression in [Compression::Uncompressed, Compression::Snappy] {
        let columns = ColumnOptions::new().compression(compression);
        let columns = columns.page_rows(10_000).dictionary(false);
        let bytes = written(&batch, WriteOptions::new().columns(columns));
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let is_wanted: [(Predicate, &dyn Fn(i64) -> bool); 3] = [
            (col("key").lt(128), &|row| mixed(row) < 128),
            (col("run").eq(1), &|row| row / 700 % 3 == 1),
            (col("key").ge(0), &|_| true),
        ];
        for (predicate, is_wanted) in is_wanted {
            let wanted: Vec<_> = (0..ROWS).filter(|row| is_wanted(*row)).collect();
            for threads in [1, 2, 3] {
                let options = ReadOptions::new()
                    .filter(predicate.clone())
                    .threads(threads);
                let mut next = wanted.chunks(ReadOptions::DEFAULT_BATCH_SIZE);
                for batch in file.read(options.columns(["payload"])).unwrap() {
                    let batch = batch.unwrap();
                    let expected = next.next().unwrap().iter();
                    let expected = expected.map(|row| (row % 7 != 0).then_some(*row));
                    let expected: ArrayRef = Arc::new(Int64Array::from_iter(expected));
                    assert_eq!(batch.column(0), &expected, "{predicate} {threads}");
                }
                assert_eq!(next.next(), None, "{predicate} {threads}");
            }
        }
    }
}

/// Threads read row groups ahead of the next one to emit. These groups have many, few or no selected rows.
#[test]
fn row_groups_come_in_order_up_to_a_damaged_one() {
    const ROWS: usize = 20_000;
    let shares = [3, 100, 0, 50, 100, 1, 100, 20];
    let key = |row: usize| ((row * 37 % 100) < shares[row / ROWS]) as i64;
    let rows = shares.len() * ROWS;
    let columns: [(&str, ArrayRef); 2] = [
        (
            "key",
            Arc::new(Int64Array::from_iter_values((0..rows).map(key))),
        ),
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..rows as i64)),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let mut options = WriteOptions::new().columns(columns.dictionary(false));
    options.row_group_rows = ROWS;
    let sound = written(&batch, options);
    // A value of the sixth row group, in which one row in a hundred is selected.
    let mut damaged = sound.to_vec();
    let value = (5 * ROWS as i64 + 1234).to_le_bytes();
    let at = damaged
        .windows(8)
        .position(|window| window == value)
        .unwrap();
    damaged[at] ^= 1;
    for (bytes, is_sound) in [(sound, true), (damaged.into(), false)] {
        let read = |threads: usize, offset: u64, all: usize| {
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let options = ReadOptions::new().filter(col("key").eq(1));
            let options = options.threads(threads).batch_size(3000).offset(offset);
            let mut reader = file.read(options).unwrap();
            let mut outcome = Vec::new();
            while outcome.len() < all {
                match reader.next_batch() {
                    Ok(Some(batch)) => outcome.push(Ok(batch)),
                    Ok(None) => break,
                    Err(error) => outcome.push(Err(error.to_string())),
                }
            }
            outcome
        };
        for offset in [0, 1000, 25_000] {
            let expected = read(1, offset, usize::MAX);
            assert_eq!(expected.last().unwrap().is_ok(), is_sound);
            for threads in [2, 3, 8, 100] {
                let got = read(threads, offset, usize::MAX);
                assert_eq!(got, expected, "{threads} threads behind {offset}");
                assert_eq!(read(threads, offset, 3), expected[..3]);
            }
        }
        let wanted = (0..rows).filter(|row| key(*row) == 1);
        let wanted: Vec<_> = wanted
            .take_while(|row| is_sound || *row < 5 * ROWS)
            .collect();
        let mut got = Vec::new();
        for batch in read(4, 0, usize::MAX).into_iter().flatten() {
            let row = batch
                .column(1)
                .as_any()
                .downcast_ref::<Int64Array>()
                .unwrap();
            got.extend(row.values().iter().map(|row| *row as usize));
        }
        assert_eq!(got, wanted);
    }
}

/// A read continues with a stricter filter from the next row group on.
#[test]
fn filters_are_tightened_on_the_way() {
    // Enough rows for several threads.
    const ROWS: i64 = 60_000;
    const OF_A_GROUP: i64 = 6000;
    let odd = |row: i64| row % 7 % 2;
    let columns: [(&str, ArrayRef); 3] = [
        (
            "odd",
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(odd))),
        ),
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        (
            "again",
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| row * 3))),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut options = WriteOptions::new();
    options.row_group_rows = OF_A_GROUP as usize;
    let bytes = written(&batch, options);
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let some = ReadOptions::new().filter(col("odd").eq(1)).batch_size(500);
    let fewer = col("odd").eq(1).and(col("row").ge(57_000));
    let rows_of = |batch: &RecordBatch| -> Vec<i64> {
        let rows = Int64Array::from(batch.column_by_name("row").unwrap().to_data());
        rows.values().to_vec()
    };
    let is_wanted = |row: &i64| odd(*row) == 1;
    // The rows of both filters. Rows selected by the old filter are emitted before them.
    let tight: Vec<_> = (57_000..ROWS).filter(is_wanted).collect();
    let all: Vec<_> = (0..ROWS).filter(is_wanted).collect();
    for (threads, limit) in [(1, None), (3, None), (1, Some(12_000)), (3, Some(12_000))] {
        let with = |options: &ReadOptions| {
            let options = options.clone().threads(threads);
            limit.map_or(options.clone(), |limit| options.limit(limit))
        };
        let mut reader = file.read(with(&some)).unwrap();
        let mut rows = rows_of(&reader.next_batch().unwrap().unwrap());
        reader.tighten_filter(&fewer).unwrap();
        while let Some(batch) = reader.next_batch().unwrap() {
            rows.extend(rows_of(&batch));
        }
        let old = rows.partition_point(|row| *row < 57_000);
        let (old, new) = rows.split_at(old);
        assert!(all.starts_with(old), "{threads} threads, {limit:?}");
        let most = limit.unwrap_or(u64::MAX) as usize - old.len();
        assert_eq!(
            new,
            &tight[..tight.len().min(most)],
            "{threads} threads, {limit:?}"
        );
        match (threads, limit) {
            // One thread had selected the rows of the first batch, and at most those of a second batch.
            (1, _) => assert!(old.len() <= 1000, "{}", old.len()),
            // Threads test row groups ahead, but not all of them.
            (_, None) => assert!(old.len() < all.len() - tight.len()),
            // Under a limit, no row group is tested ahead.
            (_, Some(_)) => assert!(old.last() < Some(&OF_A_GROUP)),
        }
    }
    let plan = |options: &ReadOptions| Arc::new(file.plan(options).unwrap());
    let mut decoder = PushDecoder::new(plan(&some));
    decoder.tighten_filter(&fewer).unwrap();
    for (looser, message) in [
        (col("row").ge(57_000), "combine both"),
        (col("odd").eq(1), "combine both"),
        (fewer.clone().and(col("none").eq(1)), "none"),
    ] {
        let error = decoder.tighten_filter(&looser).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.message().contains(message), "{error}");
    }
    // A limit counts different rows with and without a filter.
    let mut reader = file.read(ReadOptions::new().threads(1).limit(5)).unwrap();
    assert!(reader.tighten_filter(&fewer).is_err());
}
