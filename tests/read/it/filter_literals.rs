//! Tests literals of each kind against columns of each type. We determined the expected rows by hand: each file has a
//! few rows, which are numbered by position.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use half::f16;
use herringbone::arrow::array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Float16Array, Float32Array, Float64Array,
    Int64Array, ListArray, RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::buffer::{OffsetBuffer, i256};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Literal, Predicate, col};
use herringbone::{
    BloomFilterOptions, ColumnOptions, ErrorKind, Limits, ParquetFile, ReadOptions, WriteOptions,
    Writer,
};

use crate::filter_lists::{found, steps};

/// Writes a file of these columns and a column `row`, with two rows per row group and one row per page.
fn file(columns: Vec<(Field, ArrayRef)>, options: ColumnOptions) -> ParquetFile {
    let rows = columns.first().map_or(0, |(_, array)| array.len()) as i64;
    let row = Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef;
    let (mut fields, mut arrays) = (vec![Field::new("row", DataType::Int64, false)], vec![row]);
    for (field, array) in columns {
        fields.push(field);
        arrays.push(array);
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let mut write = WriteOptions::new().columns(options.page_rows(1));
    write.row_group_rows = 2;
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), write).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_source(Bytes::from(bytes), Limits::default()).unwrap()
}

/// Checks the rows for each predicate and for its negation, with all methods of skipping rows.
fn check(
    columns: impl Fn() -> Vec<(Field, ArrayRef)>,
    cases: impl IntoIterator<Item = (Predicate, Vec<i64>, Vec<i64>)>,
) {
    let with_filters = ColumnOptions::new()
        .dictionary(false)
        .bloom_filter(BloomFilterOptions::default());
    let files = [
        file(columns(), ColumnOptions::new()),
        file(columns(), with_filters),
    ];
    for (predicate, wanted, refused) in cases {
        for file in &files {
            for steps in steps() {
                let filtered = ReadOptions::new().filter(predicate.clone());
                crate::remote::compare(file, &filtered.pruning(steps));
                let rows = found(file, predicate.clone(), steps, 1);
                assert_eq!(rows, wanted, "{predicate}");
                let rows = found(file, predicate.clone().not(), steps, 1);
                assert_eq!(rows, refused, "not {predicate}");
            }
        }
    }
}

fn error(columns: Vec<(Field, ArrayRef)>, predicate: Predicate) -> String {
    let file = file(columns, ColumnOptions::new());
    let error = file.read(ReadOptions::new().filter(predicate)).err();
    let error = error.expect("the literal is no value of the column");
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    error.message().to_owned()
}

const SMALL: &str = "00000000-0000-0000-0000-000000000007";
const MIDDLE: &str = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
const LARGE: &str = "ffffffff-0000-0000-0000-000000000001";

/// Returns rows 0 to 3, which are small, null, large and middle, as a column, in a struct, and in a list of one.
fn uuids() -> Vec<(Field, ArrayRef)> {
    let bytes = |digits: u128| Some(digits.to_be_bytes());
    let values = [
        bytes(7),
        None,
        bytes(0xffff_ffff_0000_0000_0000_0000_0000_0001),
        bytes(0xa0ee_bc99_9c0b_4ef8_bb6d_6bb9_bd38_0a11),
    ];
    let values = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), 16);
    let values: ArrayRef = Arc::new(values.unwrap());
    let name = ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
    let field = |name_of: &str| {
        let field = Field::new(name_of, DataType::FixedSizeBinary(16), true);
        field.with_metadata(HashMap::from([name.clone()]))
    };
    let child = Arc::new(field("u"));
    let structs = StructArray::new(vec![child].into(), vec![values.clone()], None);
    let element = Arc::new(field("item"));
    let offsets = OffsetBuffer::from_lengths([1; 4]);
    let lists = ListArray::new(element, offsets, values.clone(), None);
    let of =
        |name: &str, array: ArrayRef| (Field::new(name, array.data_type().clone(), true), array);
    vec![
        (field("u"), values),
        of("s", Arc::new(structs)),
        of("l", Arc::new(lists)),
    ]
}

#[test]
fn uuids_are_compared_with_their_text() {
    let mut cases = Vec::new();
    for (column, upper) in [
        (col("u"), false),
        (col("u"), true),
        (col("s.u"), false),
        (col("l").any(), false),
        (col("l.element").all(), false),
    ] {
        let text = |text: &str| match upper {
            true => text.to_uppercase(),
            false => text.to_owned(),
        };
        let it = || column.clone();
        cases.extend([
            (it().eq(text(MIDDLE)), vec![3], vec![0, 2]),
            (it().lt(text(MIDDLE)), vec![0], vec![2, 3]),
            (it().ge(text(MIDDLE)), vec![2, 3], vec![0]),
            (it().between(text(SMALL), text(MIDDLE)), vec![0, 3], vec![2]),
            (it().is_in([text(LARGE), text(SMALL)]), vec![0, 2], vec![3]),
            (
                it().eq(7_u128.to_be_bytes().as_slice()),
                vec![0],
                vec![2, 3],
            ),
        ]);
    }
    check(uuids, cases);
}

#[test]
fn what_is_no_uuid_is_refused() {
    for (predicate, message) in [
        (
            col("u").gt("a0"),
            "the column holds UUIDs, but 'a0' is not a UUID; write 32 hexadecimal digits, as in \
             '00112233-4455-6677-8899-aabbccddeeff'",
        ),
        (col("s.u").is_in([MIDDLE, "x"]), "'x' is not a UUID"),
        (col("l").any().between(SMALL, ""), "'' is not a UUID"),
        (
            col("u").eq([0_u8; 15].as_slice()),
            "x'000000000000000000000000000000' has 15 bytes, but each value of the column has 16",
        ),
        (
            col("u").like("a0%"),
            "UUIDs are not text; compare them with whole UUIDs",
        ),
        (col("u").eq(5), "with 5, which is an integer"),
    ] {
        let found = error(uuids(), predicate);
        assert!(found.contains(message), "{found}");
    }
    let long = error(uuids(), col("u").eq("x".repeat(10_000)));
    assert!(long.len() < 300, "{long}");
}

/// Returns rows 0 to 2, which are ab, null, and the bytes FF 00.
fn bytes() -> Vec<(Field, ArrayRef)> {
    let values = [Some(b"ab"), None, Some(b"\xff\0")];
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), 2);
    let any = BinaryArray::from_iter(values);
    vec![
        (
            Field::new("fixed", DataType::FixedSizeBinary(2), true),
            Arc::new(fixed.unwrap()),
        ),
        (Field::new("any", DataType::Binary, true), Arc::new(any)),
    ]
}

#[test]
fn bytes_are_compared_with_bytes_and_text() {
    let cases = ["fixed", "any"].into_iter().flat_map(|name| {
        let column = || col(name);
        [
            (column().eq("ab"), vec![0], vec![2]),
            (column().eq([0xff_u8, 0].as_slice()), vec![2], vec![0]),
            (column().gt([b'a', b'b'].as_slice()), vec![2], vec![0]),
            (column().starts_with("a"), vec![0], vec![2]),
        ]
    });
    check(bytes, cases);
    check(bytes, [(col("any").gt("a"), vec![0, 2], vec![])]);
    let found = error(bytes(), col("fixed").gt("a"));
    let expected = "'a' has 1 byte, but each value of the column has 2; write bytes as x'00ff', \
                    two hexadecimal digits per byte";
    assert_eq!(found, expected);
    let found = error(bytes(), col("fixed").is_in([b"ab".as_slice(), b"abc"]));
    assert!(found.contains("x'616263' has 3 bytes"), "{found}");
}

/// Returns a number as a literal with all of its digits.
fn number(unscaled: i64, exponent: i32) -> Literal {
    Literal::Decimal {
        unscaled: i256::from_i128(unscaled.into()),
        scale: -exponent,
    }
}

/// Returns rows 0 to 7, which are 1, the largest number, infinity, -infinity, null, 0, NaN, and the smallest positive
/// number.
fn floats() -> Vec<(Field, ArrayRef)> {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let of = |most: f64, least: f64| {
        [
            Some(1.0),
            Some(most),
            Some(inf),
            Some(-inf),
            None,
            Some(0.0),
            Some(nan),
            Some(least),
        ]
    };
    let half = of(65504.0, 2.0_f64.powi(-24)).map(|it| it.map(f16::from_f64));
    let single = of(f32::MAX.into(), 2.0_f64.powi(-149)).map(|it| it.map(|it| it as f32));
    let double = of(f64::MAX, f64::from_bits(1));
    vec![
        (
            Field::new("half", DataType::Float16, true),
            Arc::new(Float16Array::from_iter(half)),
        ),
        (
            Field::new("single", DataType::Float32, true),
            Arc::new(Float32Array::from_iter(single)),
        ),
        (
            Field::new("double", DataType::Float64, true),
            Arc::new(Float64Array::from_iter(double)),
        ),
    ]
}

#[test]
fn a_literal_beyond_all_numbers_of_a_type_is_not_infinite() {
    // For each type, there are a number that is too large, and one that is too small.
    for (name, large, small) in [
        ("half", Literal::from(65520), number(1, -9)),
        ("half", Literal::from(1e6), Literal::from(1e-9)),
        ("single", number(1, 39), number(1, -60)),
        ("single", Literal::from(1e39), Literal::from(1e-60)),
        ("double", number(1, 400), number(1, -400)),
    ] {
        let column = || col(name);
        let (minus_large, minus_small) = (large.clone().negated(), small.clone().negated());
        // NaN is above all numbers.
        let all = || vec![0, 1, 2, 3, 5, 6, 7];
        check(
            floats,
            [
                (column().eq(large.clone()), vec![], all()),
                (column().lt(large.clone()), vec![0, 1, 3, 5, 7], vec![2, 6]),
                (column().ge(large.clone()), vec![2, 6], vec![0, 1, 3, 5, 7]),
                (column().eq(minus_large.clone()), vec![], all()),
                (
                    column().le(minus_large.clone()),
                    vec![3],
                    vec![0, 1, 2, 5, 6, 7],
                ),
                (
                    column().between(minus_large.clone(), large.clone()),
                    vec![0, 1, 5, 7],
                    vec![2, 3, 6],
                ),
                (
                    column().is_in([large.clone(), Literal::from(1), minus_large]),
                    vec![0],
                    vec![1, 2, 3, 5, 6, 7],
                ),
                (column().is_in([large, small.clone()]), vec![], all()),
                (column().eq(small.clone()), vec![], all()),
                (column().lt(small.clone()), vec![3, 5], vec![0, 1, 2, 6, 7]),
                (column().between(0, small), vec![5], vec![0, 1, 2, 3, 6, 7]),
                (column().eq(minus_small.clone()), vec![], all()),
                (column().gt(minus_small), vec![0, 1, 2, 5, 6, 7], vec![3]),
            ],
        );
    }
    // An infinite literal still equals infinity.
    let cases = ["half", "single", "double"]
        .map(|name| (col(name).eq(f64::INFINITY), vec![2], vec![0, 1, 3, 5, 6, 7]));
    check(floats, cases);
}

trait Negated {
    fn negated(self) -> Self;
}

impl Negated for Literal {
    fn negated(self) -> Self {
        match self {
            Self::Float(value) => Self::Float(-value),
            Self::Integer(value) => Self::Integer(-value),
            Self::Decimal { unscaled, scale } => Self::Decimal {
                unscaled: -unscaled,
                scale,
            },
            other => other,
        }
    }
}

/// Follows SQL, in which `between` is two comparisons, and a false comparison decides even if the other one is unknown.
#[test]
fn a_null_among_the_literals() {
    let columns = || {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(4), None, Some(5), Some(6)]));
        let text: ArrayRef = Arc::new(StringArray::from(vec![
            Some("4"),
            None,
            Some("5"),
            Some("6"),
        ]));
        vec![
            (Field::new("x", DataType::Int64, true), numbers),
            (Field::new("t", DataType::Utf8, true), text),
        ]
    };
    let null = || Literal::Null;
    check(
        columns,
        [
            (col("x").between(null(), 5), vec![], vec![3]),
            (col("x").between(5, null()), vec![], vec![0]),
            (col("t").between(null(), "5"), vec![], vec![3]),
            (col("t").between("5", null()), vec![], vec![0]),
            (col("x").between(null(), null()), vec![], vec![]),
            (col("x").eq(null()), vec![], vec![]),
            (col("x").is_in([null(), 5.into()]), vec![2], vec![]),
            (
                col("x").between(null(), 5).not().and(col("x").gt(5)),
                vec![3],
                vec![0, 2],
            ),
        ],
    );
    assert!(error(columns(), col("x").between(Literal::Null, "a")).contains("'a', which is text"));
}
