//! The rows from which random and custom predicates select, with the literals to which each column is compared.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::{Int32Type, UInt16Type};
use herringbone::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int64Array, ListArray, RecordBatch, StringArray, StringViewArray,
    StructArray, TimestampMicrosecondArray, UInt64Array,
};
use herringbone::arrow::schema::{DataType, Field};
use herringbone::filter::Literal;
use herringbone::format::Type;
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, DataPageVersion, StatisticsLevel, WriteOptions,
};

use crate::push::written;
use crate::random::Random;

/// A value as the oracle compares it, which is by value for numbers and by bytes for text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plain {
    Number(f64),
    Whole(i128),
    Text(String),
    Truth(bool),
}

impl Plain {
    /// Compares two values. NaN is a single value above all others, and -0 equals 0.
    pub(super) fn order(&self, other: &Self) -> Ordering {
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

/// A row's value in a column, or `None` if it is null.
pub(super) type Cell = Option<Plain>;

/// A column to be tested, with its path, a value for each row, and literals with which it is compared.
pub(super) struct Tested {
    pub(super) path: &'static [&'static str],
    pub(super) cells: Vec<Cell>,
    pub(super) literals: Vec<(Literal, Plain)>,
}

/// Rows, and the columns that the oracle evaluates.
pub(super) struct Data {
    pub(super) batch: RecordBatch,
    pub(super) tested: Vec<Tested>,
}

/// Returns values that ascend slowly, so that bounds are useful. There are scattered nulls, and a few long stretches of
/// nulls.
#[allow(clippy::too_many_lines, reason = "a column after the other")]
pub(super) fn data(rows: usize, random: &mut Random) -> Data {
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
    // These are days and microseconds, as text literals.
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
            // The whole numbers are hundredths.
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

pub(super) fn write(batch: &RecordBatch, random: &mut Random) -> Bytes {
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
