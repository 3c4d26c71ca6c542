//! Compares the order of every type with the order of values in Rust.

use std::cmp::Ordering;
use std::sync::Arc;

use half::f16;
use herringbone::{Compatibility, ErrorKind, WriteOptions, Writer};
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{NullBuffer, i256};
use herringbone_arrow::schema::{DataType, Field};

use super::super::compare::{findings, written};
use super::{MEMORY, by, compare, numbers, order_of};
use crate::batches::Random;

const ROWS: usize = 400;
const BATCH_ROWS: usize = 90;

/// A column, and the rank of the value in each row, or `None` for a null.
struct Column {
    array: ArrayRef,
    ranks: Vec<Option<usize>>,
}

/// Returns the ranks of values, which are equal for equal values.
fn ranks<T>(values: &[Option<T>], compare: impl Fn(&T, &T) -> Ordering) -> Vec<Option<usize>> {
    let mut sorted: Vec<&T> = values.iter().flatten().collect();
    sorted.sort_by(|a, b| compare(a, b));
    let rank = |value: &T| sorted.partition_point(|other| compare(other, value).is_lt());
    values
        .iter()
        .map(|value| value.as_ref().map(rank))
        .collect()
}

/// Returns random values from `some`, with nulls in a seventh of the rows.
fn values<T: Clone>(random: &mut Random, some: &[T]) -> Vec<Option<T>> {
    let value = |_| (random.below(7) > 0).then(|| random.pick(some));
    (0..ROWS).map(value).collect()
}

fn numbers_of<T: ArrowPrimitiveType>(random: &mut Random, some: &[T::Native]) -> Column
where
    T::Native: Ord,
{
    floats_of::<T>(random, some, Ord::cmp)
}

fn floats_of<T: ArrowPrimitiveType>(
    random: &mut Random,
    some: &[T::Native],
    compare: impl Fn(&T::Native, &T::Native) -> Ordering,
) -> Column {
    let values = values(random, some);
    let array = PrimitiveArray::<T>::from_iter(values.iter().copied());
    Column {
        ranks: ranks(&values, compare),
        array: Arc::new(array),
    }
}

/// Compares floats. Zeros are equal, and NaNs are equal, too, but greater than numbers.
macro_rules! order_of_floats {
    () => {
        |a, b| match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(b).unwrap(),
            (a, b) => a.cmp(&b),
        }
    };
}

const TEXTS: [&str; 16] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "\0",
    "\0\0",
    "a\0",
    "a\0b",
    "a\u{1}",
    "é",
    "\u{10ffff}",
    "a prefix that is long, and then this",
    "a prefix that is long, and then that",
    "a prefix that is long, and then",
    "a prefix of another kind",
];

fn texts(random: &mut Random) -> Vec<Option<String>> {
    let mut some: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    // Many of the texts only differ far after the first bytes.
    some.extend((0..60).map(|i| format!("https://example.com/path/{}/{i}", i % 3)));
    values(random, &some)
}

fn texts_as<A: FromIterator<Option<String>> + Array + 'static>(random: &mut Random) -> Column {
    let texts = texts(random);
    Column {
        ranks: ranks(&texts, |a, b| a.as_bytes().cmp(b.as_bytes())),
        array: Arc::new(texts.into_iter().collect::<A>()),
    }
}

fn bytes_as<A: FromIterator<Option<Vec<u8>>> + Array + 'static>(random: &mut Random) -> Column {
    let some: [&[u8]; 9] = [
        b"",
        b"\0",
        b"\0\0",
        b"\0\xff",
        b"\xff",
        b"\xff\0",
        b"\xff\xff",
        b"a",
        b"a\0",
    ];
    let bytes = values(random, &some.map(<[u8]>::to_vec));
    Column {
        ranks: ranks(&bytes, Vec::cmp),
        array: Arc::new(bytes.into_iter().collect::<A>()),
    }
}

fn fixed_bytes(random: &mut Random) -> Column {
    let some = [
        *b"abc",
        [0; 3],
        [0xff; 3],
        [0, 0, 1],
        [0x80, 0, 0],
        [0x7f, 0xff, 0],
    ];
    let bytes = values(random, &some);
    let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.iter().copied(), 3);
    Column {
        ranks: ranks(&bytes, Ord::cmp),
        array: Arc::new(array.unwrap()),
    }
}

fn booleans(random: &mut Random) -> Column {
    let values = values(random, &[true, false]);
    Column {
        ranks: ranks(&values, Ord::cmp),
        array: Arc::new(BooleanArray::from(values)),
    }
}

/// Changes a column's type, and retains its values.
fn with_type(column: Column, data_type: DataType) -> Column {
    let data = column.array.to_data().into_builder().data_type(data_type);
    Column {
        array: make_array(data.build().unwrap()),
        ..column
    }
}

fn decimals(random: &mut Random) -> Vec<(&'static str, Column)> {
    let small = [-999, -100, -1, 0, 1, 7, 127, 128, 255, 256, 999];
    let large = [
        -(10_i128.pow(30)),
        -1,
        0,
        1,
        10_i128.pow(29),
        10_i128.pow(30),
    ];
    let huge =
        large.map(|large| i256::from_i128(large).wrapping_mul(i256::from_i128(10_i128.pow(20))));
    let widened = small.map(i128::from);
    let decimal = |column, precision| with_type(column, DataType::Decimal128(precision, 1));
    let column = numbers_of::<Decimal32Type>(random, &small);
    let column = with_type(column, DataType::Decimal32(3, 1));
    let mut all = vec![("Decimal32", column)];
    let column = numbers_of::<Decimal64Type>(random, &small.map(i64::from));
    all.push(("Decimal64", with_type(column, DataType::Decimal64(12, 1))));
    all.push((
        "3 digits",
        decimal(numbers_of::<Decimal128Type>(random, &widened), 3),
    ));
    all.push((
        "38 digits",
        decimal(numbers_of::<Decimal128Type>(random, &large), 38),
    ));
    let column = numbers_of::<Decimal256Type>(random, &huge);
    all.push(("Decimal256", with_type(column, DataType::Decimal256(60, 1))));
    all
}

fn floats(random: &mut Random) -> Vec<(&'static str, Column)> {
    let halves = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
    ];
    let mut doubles = halves.map(f64::from).to_vec();
    doubles.extend([f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, -5e-324]);
    vec![
        (
            "Float16",
            floats_of::<Float16Type>(random, &halves.map(f16::from_f32), order_of_floats!()),
        ),
        (
            "Float32",
            floats_of::<Float32Type>(random, &halves, order_of_floats!()),
        ),
        (
            "Float64",
            floats_of::<Float64Type>(random, &doubles, order_of_floats!()),
        ),
    ]
}

/// Returns every type that has an order.
fn columns(random: &mut Random) -> Vec<(&'static str, Column)> {
    let zone = Some("UTC".into());
    let mut all = vec![
        ("Boolean", booleans(random)),
        (
            "Int8",
            numbers_of::<Int8Type>(random, &[i8::MIN, -1, 0, 1, i8::MAX]),
        ),
        (
            "Int16",
            numbers_of::<Int16Type>(random, &[i16::MIN, -1, 0, 1, i16::MAX]),
        ),
        (
            "Int32",
            numbers_of::<Int32Type>(random, &[i32::MIN, -1, 0, 1, i32::MAX]),
        ),
        (
            "Int64",
            numbers_of::<Int64Type>(random, &[i64::MIN, -1, 0, 1, i64::MAX]),
        ),
        (
            "UInt8",
            numbers_of::<UInt8Type>(random, &[0, 1, 128, u8::MAX]),
        ),
        (
            "UInt16",
            numbers_of::<UInt16Type>(random, &[0, 1, 1 << 15, u16::MAX]),
        ),
        (
            "UInt32",
            numbers_of::<UInt32Type>(random, &[0, 1, 1 << 31, u32::MAX]),
        ),
        (
            "UInt64",
            numbers_of::<UInt64Type>(random, &[0, 1, 1 << 63, u64::MAX]),
        ),
        (
            "Date32",
            numbers_of::<Date32Type>(random, &[-719_162, -1, 0, 1, 20_000]),
        ),
        (
            "Time64",
            numbers_of::<Time64MicrosecondType>(random, &[0, 1, 86_399_999_999]),
        ),
        (
            "Timestamp",
            with_type(
                numbers_of::<TimestampMicrosecondType>(random, &[i64::MIN, -1, 0, 1, i64::MAX]),
                DataType::Timestamp(herringbone_arrow::schema::TimeUnit::Microsecond, zone),
            ),
        ),
        (
            "Duration",
            numbers_of::<DurationNanosecondType>(random, &[-5, 0, 5]),
        ),
        ("Utf8", texts_as::<StringArray>(random)),
        ("LargeUtf8", texts_as::<LargeStringArray>(random)),
        ("Utf8View", texts_as::<StringViewArray>(random)),
        ("Binary", bytes_as::<BinaryArray>(random)),
        ("LargeBinary", bytes_as::<LargeBinaryArray>(random)),
        ("BinaryView", bytes_as::<BinaryViewArray>(random)),
        ("FixedSizeBinary", fixed_bytes(random)),
    ];
    all.extend(floats(random));
    all.extend(decimals(random));
    all
}

/// Returns the column as a dictionary, with its values in their original order, some of them twice.
fn as_dictionary(column: &Column) -> Column {
    let keys = (0..ROWS).map(|row| column.ranks[row].map(|_| i16::try_from(row).unwrap()));
    let keys = Int16Array::from_iter(keys);
    Column {
        array: Arc::new(DictionaryArray::try_new(keys, column.array.clone()).unwrap()),
        ranks: column.ranks.clone(),
    }
}

/// Returns the column with each value in a run of its own.
fn as_runs(column: &Column) -> Column {
    let ends = Int32Array::from_iter_values(1..=i32::try_from(ROWS).unwrap());
    Column {
        array: Arc::new(RunArray::try_new(&ends, column.array.as_ref()).unwrap()),
        ranks: column.ranks.clone(),
    }
}

/// Returns the file of the columns `a`, `b`, … and `n`, sorted by all columns except `n`.
fn sorted(
    columns: &[&Column],
    directions: &[(bool, bool)],
    memory: usize,
) -> (Vec<u8>, Vec<usize>) {
    let names: Vec<String> = ('a'..).map(String::from).take(columns.len()).collect();
    let arrays = columns.iter().map(|column| column.array.clone());
    let mut fields: Vec<_> = names
        .iter()
        .zip(arrays)
        .map(|(name, it)| (name.as_str(), it, true))
        .collect();
    fields.push(("n", numbers(ROWS), false));
    let whole = RecordBatch::try_from_iter_with_nullable(fields).unwrap();
    let batches: Vec<RecordBatch> = (0..ROWS)
        .step_by(BATCH_ROWS)
        .map(|at| whole.slice(at, BATCH_ROWS.min(ROWS - at)))
        .collect();
    let keys = names
        .iter()
        .zip(directions)
        .map(|(name, it)| by(name, it.0, it.1));
    let options = WriteOptions::new()
        .sort_by(keys.collect())
        .sort_memory_bytes(memory)
        .row_group_rows(150);
    let file = written(&whole.schema(), &batches, options).unwrap();
    let mut expected: Vec<usize> = (0..ROWS).collect();
    expected.sort_by(|a, b| {
        let orders = columns
            .iter()
            .zip(directions)
            .map(|(column, it)| compare(column.ranks[*a], column.ranks[*b], it.0, it.1));
        orders.fold(Ordering::Equal, Ordering::then)
    });
    (file, expected)
}

const DIRECTIONS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

#[test]
fn of_every_type() {
    for (name, column) in columns(&mut Random(7)) {
        let forms = [&column, &as_dictionary(&column), &as_runs(&column)];
        for (at, direction) in DIRECTIONS.into_iter().enumerate() {
            for memory in MEMORY {
                let about = format!("{name}, {direction:?}, {memory}");
                // Dictionaries and runs are tested with one memory size each, in turn.
                let num_forms = if memory == MEMORY[at % 3] { 3 } else { 1 };
                for column in &forms[..num_forms] {
                    let (file, expected) = sorted(&[column], &[direction], memory);
                    assert_eq!(
                        order_of(&file),
                        expected,
                        "{about}, {}",
                        column.array.data_type()
                    );
                    assert_eq!(findings(&file), [""; 0], "{about}");
                }
            }
        }
    }
}

#[test]
fn of_columns_without_nulls() {
    for (name, mut column) in columns(&mut Random(9)) {
        let data = column.array.to_data().into_builder().nulls(None);
        column.array = make_array(data.build().unwrap());
        let first = column.ranks.iter().flatten().next().copied();
        if column.array.is_empty() || first.is_none() {
            continue;
        }
        // The values under nulls are valid now, so we omit the rows that had nulls.
        let rows: Vec<usize> = (0..ROWS)
            .filter(|row| column.ranks[*row].is_some())
            .collect();
        for direction in [false, true] {
            let n: ArrayRef = Arc::new(Int32Array::from_iter_values(
                rows.iter().map(|row| i32::try_from(*row).unwrap()),
            ));
            let batches: Vec<RecordBatch> = rows
                .iter()
                .enumerate()
                .map(|(at, row)| {
                    let columns = [
                        ("a", column.array.slice(*row, 1), false),
                        ("n", n.slice(at, 1), false),
                    ];
                    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
                })
                .collect();
            let options = WriteOptions::new().sort_by(vec![by("a", direction, false)]);
            let file = written(&batches[0].schema(), &batches, options).unwrap();
            let mut expected = rows.clone();
            expected.sort_by(|a, b| compare(column.ranks[*a], column.ranks[*b], direction, false));
            assert_eq!(order_of(&file), expected, "{name}");
            assert_eq!(findings(&file), [""; 0], "{name}");
        }
    }
}

#[test]
fn of_several_columns() {
    let random = &mut Random(11);
    let all = columns(random);
    for _ in 0..150 {
        let chosen: Vec<&(&str, Column)> = (0..2 + random.below(2))
            .map(|_| &all[random.below(all.len())])
            .collect();
        let directions: Vec<(bool, bool)> =
            chosen.iter().map(|_| random.pick(&DIRECTIONS)).collect();
        let memory = random.pick(&MEMORY);
        let columns: Vec<&Column> = chosen.iter().map(|chosen| &chosen.1).collect();
        let names: Vec<&str> = chosen.iter().map(|chosen| chosen.0).collect();
        let (file, expected) = sorted(&columns, &directions, memory);
        assert_eq!(
            order_of(&file),
            expected,
            "{names:?}, {directions:?}, {memory}"
        );
        assert_eq!(findings(&file), [""; 0], "{names:?}, {directions:?}");
    }
}

/// A field of a null struct is null.
#[test]
fn of_fields_of_structs() {
    let column = numbers_of::<Int64Type>(&mut Random(3), &[1, 2, 3]);
    let nulls = NullBuffer::from_iter((0..ROWS).map(|row| row % 5 > 0));
    let field = Arc::new(Field::new("x", DataType::Int64, true));
    let parent = StructArray::new(vec![field].into(), vec![column.array], Some(nulls));
    let columns = [("s", Arc::new(parent) as ArrayRef), ("n", numbers(ROWS))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let rank = |row: usize| column.ranks[row].filter(|_| !row.is_multiple_of(5));
    for memory in MEMORY {
        let options = WriteOptions::new().sort_by(vec![by("s.x", true, true)]);
        let options = options.sort_memory_bytes(memory);
        let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
        let mut expected: Vec<usize> = (0..ROWS).collect();
        expected.sort_by(|a, b| compare(rank(*a), rank(*b), true, true));
        assert_eq!(order_of(&file), expected);
        assert_eq!(findings(&file), [""; 0]);
    }
}

/// Files for modern readers use the total order of IEEE 754.
#[test]
fn of_floats_for_modern_readers() {
    let some = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
    ];
    let random = &mut Random(13);
    for column in [
        floats_of::<Float16Type>(random, &some.map(f16::from_f32), f16::total_cmp),
        floats_of::<Float32Type>(random, &some, f32::total_cmp),
        floats_of::<Float64Type>(random, &some.map(f64::from), f64::total_cmp),
    ] {
        for (descending, nulls_first) in DIRECTIONS {
            let columns = [("a", column.array.clone()), ("n", numbers(ROWS))];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let options = WriteOptions::new()
                .compatibility(Compatibility::Modern)
                .sort_by(vec![by("a", descending, nulls_first)]);
            let file = written(&batch.schema(), &[batch], options).unwrap();
            let mut expected: Vec<usize> = (0..ROWS).collect();
            let rank = |row: &usize| column.ranks[*row];
            expected.sort_by(|a, b| compare(rank(a), rank(b), descending, nulls_first));
            assert_eq!(order_of(&file), expected);
            assert_eq!(findings(&file), [""; 0]);
        }
    }
}

#[test]
fn what_has_no_order_is_an_error() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let interval = IntervalDayTimeArray::from(vec![Some(IntervalDayTime::new(1, 1))]);
    let columns = [
        ("list", Arc::new(list) as ArrayRef),
        ("interval", Arc::new(interval) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for (column, message) in [
        ("list", "cannot sort by `list`"),
        ("list.list.element", "cannot be compared"),
        ("interval", "cannot be compared"),
        ("other", "no column `other`"),
    ] {
        let options = WriteOptions::new().sort_by(vec![by(column, false, false)]);
        let error = Writer::new(Vec::new(), batch.schema(), options)
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains(message), "{error}");
    }
}
