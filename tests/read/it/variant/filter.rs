//! Selects rows by the values at a path. No row is lost, and we do not read pages that cannot contain a match.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{Array as _, ArrayRef, Int64Array, RecordBatch};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Column, Literal, Predicate, PruningSteps};
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{Shredder, ShreddingType, variant_field};
use herringbone::variant::{
    Cast, Decimal, PrimitiveType, Scalar, Value, VariantBuf, VariantBuilder,
};
use herringbone::{ColumnOptions, Compression, ParquetFile, ReadOptions, WriteOptions, Writer};

use super::{object, primitive};
use crate::extensions::whole::by_all;
use crate::noting::{Noting, total};
use crate::random::Random;

const MONEY: PrimitiveType = PrimitiveType::Decimal {
    precision: 9,
    scale: 2,
};

/// Returns objects whose field `a` ascends, as a number of some type or as text, among other values.
pub(super) fn rows(random: &mut Random, count: usize) -> Vec<Option<VariantBuf>> {
    let mut out = VariantBuilder::new();
    let row = |at: usize| {
        let number = at as i64 / 2;
        let kind = match at % 100 {
            // There are whole pages of one type.
            0..50 => 0,
            _ => random.below(20),
        };
        match kind {
            18 => return None,
            19 => out.push("no object").unwrap(),
            kind => {
                out.begin_object().unwrap();
                if kind != 17 {
                    out.field("a").unwrap();
                    match kind {
                        0..10 => out.push_int(number),
                        10 => out.push_decimal(Decimal::new(i128::from(number) * 100 + 50, 2)),
                        11 => out.push_decimal(Decimal::new(i128::from(number) * 100, 2)),
                        12 => out.push(number as f64 + 0.25),
                        13 => out.push(number as f64),
                        14 => out.push(number.to_string().as_str()),
                        15 => out.push(Value::Null),
                        _ => out.push(true),
                    }
                    .unwrap();
                }
                out.field("b").unwrap();
                out.push("beside").unwrap();
                out.end().unwrap();
            }
        }
        Some(out.finish().unwrap())
    };
    (0..count).map(row).collect()
}

pub(super) fn table(rows: &[Option<VariantBuf>]) -> RecordBatch {
    let mut shredder = Shredder::new(ShreddingType::Unshredded).unwrap();
    for row in rows {
        match row {
            Some(value) => shredder.append(value.as_variant()).unwrap(),
            None => shredder.append_null().unwrap(),
        }
    }
    let values = shredder.finish().unwrap();
    let fields = vec![
        Field::new("row", DataType::Int64, false),
        variant_field("v", values.data_type().clone(), true),
    ];
    let numbers = Int64Array::from_iter_values(0..rows.len() as i64);
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(values)];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

pub(super) fn options(shredding: Shredding, page_rows: usize) -> WriteOptions {
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    WriteOptions::new()
        .columns(columns.page_rows(page_rows).dictionary(false))
        .extension(VariantExtension::new().shredding(shredding))
}

pub(super) fn numbers(batches: &[RecordBatch]) -> Vec<i64> {
    let rows = batches
        .iter()
        .map(|batch| batch.column_by_name("row").unwrap());
    let rows = rows.flat_map(|column| column.as_primitive::<Int64Type>().values().to_vec());
    rows.collect()
}

/// The expected result of a test, for a number or a missing value.
type Wants = fn(Option<f64>, f64, f64) -> bool;
/// The test as a predicate on a column.
type Test = fn(Column, Literal, Literal) -> Predicate;

const TESTS: [(Test, Wants); 9] = [
    (|it, a, _| it.eq(a), |it, a, _| it == Some(a)),
    (|it, a, _| it.ne(a), |it, a, _| it.is_some_and(|it| it != a)),
    (|it, a, _| it.lt(a), |it, a, _| it.is_some_and(|it| it < a)),
    (|it, a, _| it.le(a), |it, a, _| it.is_some_and(|it| it <= a)),
    (|it, a, _| it.gt(a), |it, a, _| it.is_some_and(|it| it > a)),
    (
        |it, a, b| it.between(a, b),
        |it, a, b| it.is_some_and(|it| a <= it && it <= b),
    ),
    (
        |it, a, b| it.is_in([a, b]).not(),
        |it, a, b| it.is_some_and(|it| it != a && it != b),
    ),
    (|it, _, _| it.is_null(), |it, _, _| it.is_none()),
    (
        |it, a, _| it.clone().is_null().or(it.ge(a)),
        |it, a, _| it.is_none_or(|it| it >= a),
    ),
];

/// Returns a number as a literal of each type.
fn literal(number: f64, wanted: PrimitiveType) -> Literal {
    match wanted {
        PrimitiveType::Double => Literal::Float(number),
        PrimitiveType::String => Literal::Text(number.to_string()),
        _ => Literal::Decimal {
            unscaled: ((number * 100.0) as i64).into(),
            scale: 2,
        },
    }
}

/// Returns the value at the path as the wanted type. Tests only compare text for equality.
fn number(value: &VariantBuf, wanted: PrimitiveType) -> Option<f64> {
    let path = "$.a".parse().unwrap();
    let found = value.as_variant().get_as(&path, wanted, Default::default());
    match found.unwrap() {
        Cast::Value(Scalar::Int(it)) => Some(it as f64),
        Cast::Value(Scalar::Double(it)) => Some(it),
        Cast::Value(Scalar::Decimal(it)) => Some(it.unscaled as f64 / 10_f64.powi(it.scale.into())),
        Cast::Value(Scalar::String(it)) => it.parse().ok(),
        _ => None,
    }
}

#[test]
fn paths_find_the_rows_that_each_row_says() {
    let a = |it| Shredding::As(object(&[("a", it)]));
    let mut random = Random(3);
    let values = rows(&mut random, 600);
    let table = table(&values);
    let mut found = 0;
    for shredding in [
        Shredding::None,
        Shredding::Infer(Default::default()),
        a(ShreddingType::Unshredded),
        a(primitive(PrimitiveType::Int64)),
        a(primitive(PrimitiveType::Int16)),
        a(primitive(MONEY)),
        a(primitive(PrimitiveType::Double)),
        a(primitive(PrimitiveType::String)),
        a(object(&[("x", primitive(PrimitiveType::Int64))])),
        Shredding::As(object(&[("b", primitive(PrimitiveType::String))])),
        Shredding::As(primitive(PrimitiveType::String)),
    ] {
        let mut written = options(shredding.clone(), 10);
        written.row_group_rows = 150;
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, table.schema(), written).unwrap();
        writer.write(&table).unwrap();
        writer.finish().unwrap();
        let file = ParquetFile::from_bytes(bytes).unwrap();
        for wanted in [
            PrimitiveType::Int64,
            PrimitiveType::Int8,
            MONEY,
            PrimitiveType::Decimal {
                precision: 4,
                scale: 1,
            },
            PrimitiveType::Double,
            PrimitiveType::String,
        ] {
            for (at, (test, wants)) in TESTS.into_iter().enumerate() {
                let is_order = !matches!(at, 0 | 1 | 6 | 7);
                if wanted == PrimitiveType::String && is_order {
                    continue;
                }
                // There are halves and quarters, too, which integers cannot represent.
                let first = random.below(1200) as f64 / 4.0;
                let (first, second) = match wanted {
                    PrimitiveType::String => (first.floor(), first.floor() + 5.0),
                    _ => (first, first + 5.5),
                };
                let literals = (literal(first, wanted), literal(second, wanted));
                let get = VariantGet::new("$.a".parse().unwrap()).as_type(wanted);
                let predicate = get.filter(["v"], move |get| {
                    test(get, literals.0.clone(), literals.1.clone())
                });
                let is_wanted = |row: &Option<VariantBuf>| {
                    let number = row.as_ref().and_then(|row| number(row, wanted));
                    wants(number, first, second)
                };
                let expected = values.iter().enumerate();
                let expected = expected.filter(|(_, row)| is_wanted(row));
                let expected: Vec<_> = expected.map(|(row, _)| row as i64).collect();
                let read = |options: ReadOptions| {
                    let options = options.columns(["row"]).threads(1);
                    super::batches(&file, options.filter(predicate.clone())).unwrap()
                };
                let context = format!("{predicate} {shredding:?}");
                assert_eq!(numbers(&read(ReadOptions::new())), expected, "{context}");
                let all = read(ReadOptions::new().pruning(PruningSteps::none()));
                assert_eq!(numbers(&all), expected, "{context}");
                found += expected.len();
            }
            found_by_all_drivers(&file, &values, wanted);
        }
    }
    assert!(found > 10_000, "{found}");
}

/// Selects the rows that have a value of this type at the path, and reads the variants, too.
fn found_by_all_drivers(file: &ParquetFile, values: &[Option<VariantBuf>], wanted: PrimitiveType) {
    let get = VariantGet::new("$.a".parse().unwrap()).as_type(wanted);
    let is_there = get.filter(["v"], Column::is_not_null);
    let batches = by_all(file, || {
        let options = ReadOptions::new().extension(VariantExtension::new());
        options.filter(is_there.clone())
    });
    let expected = values.iter().enumerate().filter(|(_, row)| {
        let row = row.as_ref().map(VariantBuf::as_variant);
        let path = "$.a".parse().unwrap();
        let cast = row.map(|row| row.get_as(&path, wanted, Default::default()).unwrap());
        matches!(cast, Some(Cast::Value(_)))
    });
    let expected: Vec<_> = expected.map(|(row, _)| row as i64).collect();
    assert_eq!(numbers(&batches), expected, "{wanted:?}");
}

/// Returns the ordinals of the column's pages that were read to their ends. In addition, the first page's header may be
/// read to check the offset index.
pub(super) fn pages_read(file: &ParquetFile, column: &str, reads: &[Range<u64>]) -> Vec<usize> {
    let schema = file.parquet_schema();
    let mut leaves = 0..schema.leaves().len();
    let leaf = leaves
        .find(|leaf| schema.column_path(*leaf) == column)
        .unwrap();
    let index = file.offset_index(0, leaf).unwrap().unwrap();
    let pages = index.page_locations.iter().enumerate();
    let read = pages.filter(|(_, page)| {
        let last = page.offset as u64 + page.compressed_page_size as u64 - 1;
        reads.iter().any(|read| read.contains(&last))
    });
    read.map(|(at, _)| at).collect()
}

#[test]
fn a_path_leaves_the_pages_that_a_value_can_be_in() {
    let mut out = VariantBuilder::new();
    let mut values: Vec<_> = (0..40_000)
        .map(|row| {
            out.begin_object().unwrap();
            out.field("k").unwrap();
            match row {
                // A variant null is not comparable with anything.
                6_100..6_200 => out.push(Value::Null),
                // Text is not comparable with numbers, either, but only the value shows that it is text.
                30_001 => out.push("text"),
                _ => out.push_int(row),
            }
            .unwrap();
            out.field("other").unwrap();
            out.push(format!("text of row {row}").as_str()).unwrap();
            out.end().unwrap();
            Some(out.finish().unwrap())
        })
        .collect();
    let text = PrimitiveType::String;
    let shredding = object(&[
        ("k", primitive(PrimitiveType::Int64)),
        ("other", primitive(text)),
    ]);
    let number = |of: &str, wanted, test: fn(Column) -> Predicate| {
        VariantGet::new(of.parse().unwrap())
            .as_type(wanted)
            .filter(["v"], test)
    };
    let (typed, value) = ("v.typed_value.k.typed_value", "v.typed_value.k.value");
    for with_text in [true, false] {
        if !with_text {
            values.remove(30_001);
        }
        let written = options(Shredding::As(shredding.clone()), 2000);
        let (source, file) = Noting::new(&table(&values), written);
        let read = |predicate: Predicate| {
            file.offset_index(0, 0).unwrap();
            source.take();
            let options = ReadOptions::new().columns(["row"]).threads(1);
            let batches = super::batches(&file, options.filter(predicate)).unwrap();
            let reads = source.take();
            (numbers(&batches), reads)
        };
        for wanted in [PrimitiveType::Int64, PrimitiveType::Int32, MONEY] {
            let (found, reads) = read(number("$.k", wanted, |it| it.eq(7_123)));
            assert_eq!(found, [7_123]);
            let pages = pages_read(&file, typed, &reads);
            match with_text {
                true => assert_eq!(pages, [3, 15]),
                false => assert_eq!(pages, [3]),
            }
            assert!(pages_read(&file, "v.typed_value.other.typed_value", &reads).is_empty());
            assert!(total(&reads) < 200_000, "{}", total(&reads));
        }
        // No number is in this range, but we have to read the text.
        let (found, reads) = read(number("$.k", PrimitiveType::Int64, |it| it.gt(50_000)));
        assert_eq!(found, [] as [i64; 0]);
        let is_read = |column| !pages_read(&file, column, &reads).is_empty();
        assert_eq!((is_read(typed), is_read(value)), (with_text, with_text));
        // Numbers are not compared as text.
        let (found, _) = read(number("$.k", PrimitiveType::String, |it| it.eq("7123")));
        assert_eq!(found, [] as [i64; 0]);
        let (found, _) = read(number("$.k", PrimitiveType::String, |it| it.eq("text")));
        assert_eq!(found.len(), usize::from(with_text));
    }
}
