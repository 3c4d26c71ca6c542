//! Projections, filters and row ranges refer to the wanted schema, but prune by the bounds of the file.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    ArrayRef, Float32Array, Int32Array, ListArray, RecordBatch, StringArray, StructArray,
    cast::AsArray,
};
use herringbone::arrow::schema::{DataType, Field, Fields, TimeUnit};
use herringbone::filter::{Literal, Predicate, PruningSteps, col};
use herringbone::schema::Projection;
use herringbone::{
    BloomFilterOptions, ColumnOptions, FieldMatching, FieldNames, ParquetFile, ReadOptions,
    VirtualColumn, WantedSchema, WriteOptions, Writer,
};

use super::{batch, lines, read_everywhere, schema, with_id, written};
use crate::push::read;

#[test]
fn a_projection_names_columns_of_the_wanted_schema() {
    let file = written(&large(), 20_000);
    let options = ReadOptions::new().wanted_schema(large_wanted());
    let all = read_everywhere(&file, &options);
    // In the order of the wanted schema, columns 1 and 3 are `number` and `five`.
    let some = options.clone().columns(["five", "number"]);
    let projected = all.iter().map(|batch| batch.project(&[1, 3]).unwrap());
    let projected: Vec<_> = projected.collect();
    assert_eq!(read_everywhere(&file, &some), projected);
    // A tested column need not be emitted.
    let filtered = some.filter(col("real").lt(2.5));
    let rows = read_everywhere(&file, &filtered);
    assert_eq!(rows, [projected[0].slice(0, 10)]);
    for (options, message) in [
        (options.clone().columns(["int"]), "has no column `int`"),
        (
            options.projection(Projection::Leaves(vec![0])),
            "only name its top-level fields",
        ),
    ] {
        let file = ParquetFile::from_bytes(file.clone()).unwrap();
        let error = file.read(options).err().unwrap();
        assert!(error.message().contains(message), "{error}");
    }
}

const ROWS: i32 = 60_000;

/// Returns enough rows for several threads, in row groups with useful bounds.
fn large() -> RecordBatch {
    let rows = 0..ROWS;
    let is_null = |row: &i32| row % 11 == 3;
    let ints = Int32Array::from_iter(rows.clone().map(|row| (!is_null(&row)).then_some(row)));
    let floats = Float32Array::from_iter(rows.clone().map(|row| Some(row as f32 / 4.0)));
    let text = StringArray::from_iter(rows.clone().map(|row| Some(format!("{row:06}"))));
    let days = herringbone::arrow::array::Date32Array::from_iter_values(rows.clone());
    let lists = ListArray::from_iter_primitive::<herringbone::arrow::array::types::Int32Type, _, _>(
        rows.map(|row| (row % 5 != 0).then(|| (0..row % 4).map(Some))),
    );
    let inner = Fields::from(vec![Field::new("day", DataType::Date32, true)]);
    let inner = StructArray::new(inner, vec![Arc::new(days)], None);
    batch(vec![
        ("int", Arc::new(ints)),
        ("float", Arc::new(floats)),
        ("text", Arc::new(text)),
        ("inner", Arc::new(inner)),
        ("list", Arc::new(lists)),
    ])
}

fn large_wanted() -> WantedSchema {
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    let inner = [
        Field::new("extra", DataType::Int32, true),
        Field::new("time", micros, true),
    ];
    let list = Field::new_list_field(DataType::Int64, true);
    let fields = [
        with_id(Field::new("words", DataType::BinaryView, true), 3),
        with_id(Field::new("number", DataType::Int64, true), 1),
        with_id(Field::new("missing", DataType::Int32, true), 9),
        with_id(Field::new("five", DataType::Int32, false), 8),
        with_id(
            Field::new("list", DataType::LargeList(Arc::new(list)), true),
            5,
        ),
        with_id(Field::new("real", DataType::Float64, true), 2),
        with_id(
            Field::new(
                "part",
                DataType::Struct(
                    vec![with_id(inner[0].clone(), 41), with_id(inner[1].clone(), 42)].into(),
                ),
                true,
            ),
            4,
        ),
    ];
    let named = |field_id: i32, name: &str| FieldNames::new(field_id, [name]);
    let names = vec![
        named(1, "int"),
        named(2, "float"),
        named(3, "text"),
        named(4, "inner"),
        named(5, "list"),
        named(42, "day"),
    ];
    WantedSchema::new(schema(fields))
        .matching(FieldMatching::FieldId(names))
        .default_value(["five"], Arc::new(Int32Array::from(vec![5])))
}

#[test]
fn every_driver_gives_the_same() {
    let file = written(&large(), 20_000);
    let options = ReadOptions::new().wanted_schema(large_wanted());
    let batches = read_everywhere(&file, &options);
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, ROWS as usize);
    let ranges = vec![5..9, 19_990..20_010, 40_000..45_000];
    let some = options.row_ranges(ranges).batch_size(100);
    let batches = read_everywhere(&file, &some);
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 5024);
}

/// A predicate refers to wanted names and types. The result is the rows for which it would be true after reading all
/// columns.
#[test]
fn predicates_are_about_the_wanted_schema() {
    let file = written(&large(), 20_000);
    let day = |days: i128| Literal::Timestamp {
        nanos: days * 86_400_000_000_000,
        is_utc: false,
    };
    let is_int = |row: i32| row % 11 != 3;
    type Wants = Box<dyn Fn(i32) -> bool>;
    let cases: Vec<(Predicate, Wants)> = vec![
        (
            col("number").ge(59_990),
            Box::new(move |row| is_int(row) && row >= 59_990),
        ),
        // No Int32 is as large as this.
        (col("number").gt(5_000_000_000_i64), Box::new(|_| false)),
        (col("number").lt(5_000_000_000_i64), Box::new(is_int)),
        (col("number").is_null(), Box::new(move |row| !is_int(row))),
        (col("real").eq(12.25), Box::new(|row| row == 49)),
        (col("real").between(0.1, 0.3), Box::new(|row| row == 1)),
        (col("part.time").eq(day(50)), Box::new(|row| row == 50)),
        (col("part.time").lt(day(-1)), Box::new(|_| false)),
        (
            col("words").eq(Literal::Bytes(b"000123".to_vec())),
            Box::new(|row| row == 123),
        ),
        (col("missing").is_null(), Box::new(|_| true)),
        (col("missing").eq(1), Box::new(|_| false)),
        (col("part.extra").is_not_null(), Box::new(|_| false)),
        (
            col("five").eq(5).and(col("number").eq(7)),
            Box::new(|row| row == 7),
        ),
        (
            col("five").eq(6).or(col("number").eq(7)),
            Box::new(|row| row == 7),
        ),
        (col("five").eq(6), Box::new(|_| false)),
    ];
    let all = read(&file, &ReadOptions::new().wanted_schema(large_wanted())).unwrap();
    let words = &lines(&all)[0];
    for (predicate, wants) in cases {
        let options = ReadOptions::new()
            .wanted_schema(large_wanted())
            .filter(predicate.clone());
        let got = read_everywhere(&file, &options);
        let expected: Vec<&String> = (0..)
            .zip(words)
            .filter(|(row, _)| wants(*row))
            .map(|(_, it)| it)
            .collect();
        let got = lines(&got);
        let got: Vec<&String> = got
            .first()
            .map_or_else(Vec::new, |words| words.iter().collect());
        assert_eq!(got, expected, "{predicate}");
    }
    let old = ReadOptions::new()
        .wanted_schema(large_wanted())
        .filter(col("int").eq(1));
    let error = read(&file, &old).unwrap_err();
    assert!(
        error.contains("the wanted schema has no column `int`"),
        "{error}"
    );
}

/// The file's column indexes, bloom filters and dictionaries also prune by wanted values, and never rule out a match.
#[test]
#[allow(clippy::too_many_lines, reason = "a case after the other")]
fn every_step_of_pruning_is_promoted() {
    let rows = 0..6_000_i32;
    let few = Int32Array::from_iter(
        rows.clone()
            .map(|row| (row % 7 != 6).then_some(row / 2000 * 10 + row % 5)),
    );
    let days =
        herringbone::arrow::array::Date32Array::from_iter_values(rows.clone().map(|row| row / 100));
    let words = StringArray::from_iter_values(rows.clone().map(|row| format!("w{}", row % 30)));
    let floats = Float32Array::from_iter_values(rows.clone().map(|row| (row / 1000) as f32 - 0.5));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("few", Arc::new(few)),
        ("day", Arc::new(days)),
        ("word", Arc::new(words)),
        ("float", Arc::new(floats)),
    ];
    let batch = batch(columns);
    let fields = [
        Field::new("few", DataType::Decimal128(14, 2), true),
        Field::new(
            "day",
            DataType::Timestamp(TimeUnit::Millisecond, None),
            true,
        ),
        Field::new("word", DataType::BinaryView, true),
        Field::new("float", DataType::Float64, true),
        Field::new("none", DataType::Int8, true),
    ];
    let longs = schema([
        Field::new("few", DataType::Int64, true),
        fields[2].clone(),
        fields[3].clone(),
    ]);
    let day = |day: i128| Literal::Timestamp {
        nanos: day * 86_400_000_000_000,
        is_utc: false,
    };
    let word = |word: &str| Literal::Bytes(word.as_bytes().to_vec());
    let few = |row: i32| (row % 7 != 6).then_some(row / 2000 * 10 + row % 5);
    type Wants = Box<dyn Fn(i32) -> bool>;
    let both: Vec<(Predicate, Wants)> = vec![
        (col("few").eq(13), Box::new(move |row| few(row) == Some(13))),
        (col("few").eq(7), Box::new(|_| false)),
        (
            col("few").is_in([4, 7, 22]),
            Box::new(move |row| matches!(few(row), Some(4 | 22))),
        ),
        (
            col("few").lt(3).not(),
            Box::new(move |row| few(row).is_some_and(|few| few >= 3)),
        ),
        (
            col("few").is_null(),
            Box::new(move |row| few(row).is_none()),
        ),
        (col("few").gt(4_294_967_296_i64), Box::new(|_| false)),
        (col("few").eq(4_294_967_309_i64), Box::new(|_| false)),
        (col("word").eq(word("w7")), Box::new(|row| row % 30 == 7)),
        (
            col("word").is_in([word("x"), word("w29")]),
            Box::new(|row| row % 30 == 29),
        ),
        (col("word").eq(word("w30")), Box::new(|_| false)),
        (col("float").eq(2.5), Box::new(|row| row / 1000 == 3)),
        (col("float").eq(0.1), Box::new(|_| false)),
    ];
    let decimal: Vec<(Predicate, Wants)> = vec![
        (
            col("few").gt(12.5).and(col("few").lt(13.5)),
            Box::new(move |row| few(row) == Some(13)),
        ),
        (col("few").eq(12.5), Box::new(|_| false)),
        (col("day").eq(day(17)), Box::new(|row| row / 100 == 17)),
        (
            col("day").between(day(58), day(70)),
            Box::new(|row| row >= 5_800),
        ),
        (
            col("none").is_null().and(col("day").eq(day(3))),
            Box::new(|row| row / 100 == 3),
        ),
        (
            col("none").eq(1).or(col("day").eq(day(3))),
            Box::new(|row| row / 100 == 3),
        ),
    ];
    for dictionary in [true, false] {
        let mut options = WriteOptions::new().row_group_rows(2_500);
        options.columns = ColumnOptions::new()
            .page_rows(300)
            .dictionary(dictionary)
            .bloom_filter(BloomFilterOptions::default());
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let file = Bytes::from(file);
        let all = schema(fields.clone());
        let cases = both.iter().map(|case| (&all, case));
        let cases = cases.chain(both.iter().map(|case| (&longs, case)));
        for (wanted, (predicate, wants)) in cases.chain(decimal.iter().map(|case| (&all, case))) {
            let expected: Vec<i64> = rows
                .clone()
                .filter(|row| wants(*row))
                .map(i64::from)
                .collect();
            for steps in [PruningSteps::all(), PruningSteps::none()] {
                let options = ReadOptions::new()
                    .wanted_schema(WantedSchema::new(wanted.clone()))
                    .virtual_column(VirtualColumn::row_number("row"))
                    .filter(predicate.clone())
                    .pruning(steps);
                let batches = read_everywhere(&file, &options);
                let got = batches.iter().flat_map(|batch| {
                    let row = batch.column_by_name("row").unwrap();
                    row.as_primitive::<Int64Type>().values().to_vec()
                });
                assert_eq!(got.collect::<Vec<_>>(), expected, "{predicate} of {wanted}");
            }
        }
    }
}

/// The file's bounds apply to wanted values, so we do not read row groups that have none.
#[test]
fn bounds_are_promoted() {
    let source = counted::Counted::new(written(&large(), 20_000));
    let file = ParquetFile::from_source(source.clone(), herringbone::Limits::default()).unwrap();
    let before = source.bytes();
    for predicate in [
        col("number").gt(5_000_000_000_i64),
        col("real").gt(1e6),
        col("words").lt(Literal::Bytes(b"-".to_vec())),
        col("part.time").lt(Literal::Timestamp {
            nanos: -1,
            is_utc: false,
        }),
    ] {
        let options = ReadOptions::new()
            .wanted_schema(large_wanted())
            .filter(predicate);
        assert!(file.read(options).unwrap().next_batch().unwrap().is_none());
    }
    assert_eq!(source.bytes(), before);
}

/// A source that counts the bytes that are read from it.
mod counted {
    use std::ops::Range;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use bytes::Bytes;
    use herringbone::Result;
    use herringbone::source::{FetchPolicy, Source};

    use crate::noting::without_tail;

    #[derive(Clone)]
    pub(super) struct Counted {
        file: Bytes,
        bytes: Arc<AtomicU64>,
    }

    impl Counted {
        pub(super) fn new(file: Bytes) -> Self {
            let bytes = Arc::default();
            Self { file, bytes }
        }

        pub(super) fn bytes(&self) -> u64 {
            self.bytes.load(Ordering::Relaxed)
        }
    }

    impl Source for Counted {
        fn len(&self) -> u64 {
            self.file.len() as u64
        }

        fn read(&self, range: Range<u64>) -> Result<Bytes> {
            self.bytes
                .fetch_add(range.end - range.start, Ordering::Relaxed);
            Ok(self.file.slice(range.start as usize..range.end as usize))
        }

        fn fetch_policy(&self) -> FetchPolicy {
            without_tail()
        }
    }
}
