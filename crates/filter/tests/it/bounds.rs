//! Files whose row groups, pages, dictionaries and bloom filters rule out rows: never too many, and not too few.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::*;
use herringbone::arrow::schema::{DataType, Field, Schema, TimeUnit};
use herringbone::filter::{Literal, Predicate, PruningStep, col};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, ParquetFile, ReadOptions, StatisticsLevel,
    WantedSchema, WriteOptions, Writer,
};

use crate::arrays::{numbers, texts};

/// A function for making a literal from a number.
type ToLiteral = fn(i64) -> Literal;

/// The number of rows in a row group.
const GROUP: usize = 8;

/// Writes one column with row groups of 8 rows and pages of 4 rows.
fn written(array: &ArrayRef, columns: ColumnOptions) -> ParquetFile {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", array.clone(), true)]).unwrap();
    let columns = columns.compression(Compression::Uncompressed).page_rows(4);
    let options = WriteOptions::new().row_group_rows(GROUP).columns(columns);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(Bytes::from(bytes)).unwrap()
}

fn plain() -> ColumnOptions {
    ColumnOptions::new().dictionary(false)
}

/// Returns the row groups left by the footer, and the total number of rows ruled out and accepted by all steps.
fn pruned(file: &ParquetFile, predicate: &Predicate) -> (Vec<usize>, u64, u64) {
    let options = ReadOptions::new().filter(predicate.clone());
    let left = file.plan(&options).unwrap().prune().unwrap();
    let left = left.iter().map(|row_group| row_group.ordinal()).collect();
    let explained = file.explain(&options).unwrap();
    let last = explained
        .iter()
        .filter_map(|row_group| row_group.steps.last());
    let (ruled_out, accepted) = last.fold((0, 0), |sum, step| {
        (sum.0 + step.ruled_out, sum.1 + step.accepted)
    });
    (left, ruled_out, accepted)
}

/// Returns the numbers 0 to 31 in differently stored types, each with the function that makes its literals.
fn columns() -> Vec<(ArrayRef, ToLiteral)> {
    use DataType as T;
    let as_type = |data_type: T| numbers(&data_type, &(0..32).map(Some).collect::<Vec<_>>());
    let as_text = |data_type: T| {
        let numbers = (0..32).map(|number| Some(format!("{number:02}")));
        texts(&data_type, &numbers.collect::<Vec<_>>())
    };
    let integer: fn(i64) -> Literal = |number| Literal::Integer(number.into());
    let text: fn(i64) -> Literal = |number| Literal::Text(format!("{number:02}"));
    let millis: fn(i64) -> Literal = |number| Literal::Timestamp {
        nanos: i128::from(number) * 1_000_000,
        is_utc: false,
    };
    vec![
        (as_type(T::Int8), integer),
        (as_type(T::Int16), integer),
        (as_type(T::Int32), integer),
        (as_type(T::Int64), integer),
        (as_type(T::UInt8), integer),
        (as_type(T::UInt16), integer),
        (as_type(T::UInt32), integer),
        (as_type(T::UInt64), integer),
        (as_type(T::Float32), integer),
        (as_type(T::Float64), integer),
        (as_type(T::Decimal32(6, 2)), integer),
        (as_type(T::Decimal64(15, 2)), integer),
        (as_type(T::Decimal128(30, 2)), integer),
        (as_type(T::Decimal256(60, 2)), integer),
        (as_type(T::Date32), |number| Literal::Date(number as i32)),
        (as_type(T::Time32(TimeUnit::Millisecond)), |number| {
            Literal::Time(number * 1_000_000)
        }),
        (as_type(T::Time64(TimeUnit::Microsecond)), |number| {
            Literal::Time(number * 1_000)
        }),
        (as_type(T::Timestamp(TimeUnit::Millisecond, None)), millis),
        (as_text(T::Utf8), text),
        (as_text(T::LargeUtf8), text),
        (as_text(T::Binary), text),
        (as_text(T::FixedSizeBinary(2)), text),
    ]
}

#[test]
fn sorted_values_leave_the_row_groups_and_pages_that_have_them() {
    for (array, literal) in columns() {
        let file = written(&array, plain());
        let name = array.data_type();
        for (predicate, left, ruled_out, accepted) in [
            (col("c").eq(literal(9)), vec![1], 28, 0),
            (col("c").lt(literal(8)), vec![0], 24, 8),
            (col("c").le(literal(8)), vec![0, 1], 20, 8),
            (col("c").ge(literal(24)), vec![3], 24, 8),
            (col("c").gt(literal(23)), vec![3], 24, 8),
            (col("c").gt(literal(22)), vec![2, 3], 20, 8),
            (col("c").between(literal(12), literal(15)), vec![1], 28, 4),
            (col("c").is_in([literal(0), literal(31)]), vec![0, 3], 24, 0),
            (col("c").ne(literal(9)), vec![0, 1, 2, 3], 0, 28),
            (col("c").lt(literal(8)).not(), vec![1, 2, 3], 8, 24),
            (
                col("c").eq(literal(9)).or(col("c").ge(literal(24))),
                vec![1, 3],
                20,
                8,
            ),
            (
                col("c").ge(literal(8)).and(col("c").lt(literal(16))),
                vec![1],
                24,
                8,
            ),
            (col("c").is_null(), vec![], 32, 0),
            (col("c").is_not_null(), vec![0, 1, 2, 3], 0, 32),
        ] {
            assert_eq!(
                pruned(&file, &predicate),
                (left, ruled_out, accepted),
                "{predicate} {name}"
            );
        }
    }
}

#[test]
fn nulls_are_counted() {
    // Row group 0 has no nulls, 1 has some, 2 has nothing else, and 3 has a page of nulls.
    let values: Int32Array = (0..32)
        .map(|row| match row / 8 {
            0 => Some(row),
            1 => (row % 2 > 0).then_some(row),
            2 => None,
            _ => (row >= 28).then_some(row),
        })
        .collect();
    let file = written(&(Arc::new(values) as ArrayRef), plain());
    for (predicate, left, ruled_out, accepted) in [
        (col("c").is_null(), vec![1, 2, 3], 12, 12),
        (col("c").is_not_null(), vec![0, 1, 3], 12, 12),
        (col("c").lt(100), vec![0, 1, 3], 12, 12),
        (col("c").ge(100).not(), vec![0, 1, 3], 12, 12),
        (col("c").eq(Literal::Null), vec![], 32, 0),
    ] {
        assert_eq!(
            pruned(&file, &predicate),
            (left, ruled_out, accepted),
            "{predicate}"
        );
    }
}

/// Bounds do not cover NaN, which is above all other numbers.
#[test]
fn nan_is_beyond_bounds() {
    let values = (0..32).map(|row| if row == 20 { f64::NAN } else { f64::from(row) });
    let file = written(
        &(Arc::new(Float64Array::from_iter_values(values)) as ArrayRef),
        plain(),
    );
    for predicate in [
        col("c").gt(1_000.0),
        col("c").is_nan(),
        col("c").ge(f64::NAN),
        col("c").lt(25.0).not(),
    ] {
        let (left, ..) = pruned(&file, &predicate);
        assert!(left.contains(&2), "{predicate}");
    }
    let (left, _, accepted) = pruned(&file, &col("c").lt(24.0));
    assert!(
        left.starts_with(&[0, 1, 2]) && accepted <= 16 + 4,
        "{left:?} {accepted}"
    );
}

#[test]
fn patterns_are_compared_by_their_prefix() {
    let words =
        (0..32).map(|row| format!("{}{row:02}", ["apple", "berry", "cherry", "date"][row / 8]));
    let array = Arc::new(StringArray::from_iter_values(words)) as ArrayRef;
    let file = written(&array, plain());
    let left = |predicate: Predicate| pruned(&file, &predicate).0;
    assert_eq!(left(col("c").like("berry%1")), [1]);
    assert_eq!(left(col("c").like("%1")), [0, 1, 2, 3]);
    assert_eq!(left(col("c").like("berry%").not()), [0, 2, 3]);
    assert_eq!(left(col("c").like("berry%1").not()), [0, 1, 2, 3]);
    assert_eq!(left(col("c").starts_with("ch")), [2]);
    assert_eq!(left(col("c").starts_with("ch").not()), [0, 1, 3]);
    assert_eq!(left(col("c").starts_with("apple0")), [0]);
    let (_, _, accepted) = pruned(&file, &col("c").starts_with("ch"));
    assert_eq!(accepted, 8);
    // If bounds are truncated, upper bounds are raised.
    let file = written(&array, plain().truncate_bounds(2));
    let (left, _, accepted) = pruned(&file, &col("c").ge("cherry20"));
    assert_eq!((left, accepted), (vec![2, 3], 8));
}

/// Returns the number of rows ruled out by a step.
fn by_step(file: &ParquetFile, predicate: Predicate, step: PruningStep) -> u64 {
    let options = ReadOptions::new().filter(predicate).threads(1);
    let mut reader = file.read(options).unwrap();
    while reader.next_batch().unwrap().is_some() {}
    let metrics = reader.metrics();
    metrics
        .steps
        .iter()
        .find(|it| it.step == step)
        .unwrap()
        .rows_ruled_out
}

/// All numbers are even, so that odd numbers are within the bounds, but not in any dictionary or bloom filter.
#[test]
fn absent_values_are_ruled_out_by_dictionaries_and_bloom_filters() {
    let bloom = || {
        plain()
            .bloom_filter(BloomFilterOptions::default())
            .statistics(StatisticsLevel::Counts)
    };
    for (array, literal) in columns() {
        let name = array.data_type();
        let file = written(&array, bloom());
        for number in 0..32 {
            let may_contain = |row_group| {
                file.bloom_filter_may_contain(row_group, 0, literal(number))
                    .unwrap()
                    .unwrap()
            };
            assert!(may_contain(number as usize / GROUP), "{number} of {name}");
        }
        // Few of the other 24 row groups' filters have a false positive.
        let found = (0..32).flat_map(|number| (0..4).map(move |row_group| (number, row_group)));
        let found = found.filter(|(number, row_group)| {
            file.bloom_filter_may_contain(*row_group, 0, literal(*number))
                .unwrap()
                .unwrap()
        });
        assert!(found.count() < 40, "{name}");
        let ruled_out = by_step(&file, col("c").eq(literal(9)), PruningStep::BloomFilters);
        assert!(ruled_out >= 16, "{ruled_out} {name}");
        let either = col("c").is_in([literal(9), literal(17)]);
        let ruled_out = by_step(&file, either, PruningStep::BloomFilters);
        assert!((8..=16).contains(&ruled_out), "{ruled_out} {name}");
        assert_eq!(
            by_step(&file, col("c").ge(literal(9)), PruningStep::BloomFilters),
            0
        );
    }
    let few: StringArray = (0..40_000)
        .map(|row| Some(["a", "c", "e"][row % 3]))
        .collect();
    let batch = RecordBatch::try_from_iter([("c", Arc::new(few) as ArrayRef)]).unwrap();
    let options = WriteOptions::new()
        .row_group_rows(10_000)
        .compression(Compression::Uncompressed);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let ruled_out = |predicate| by_step(&file, predicate, PruningStep::Dictionaries);
    assert_eq!(ruled_out(col("c").eq("b")), 40_000);
    assert_eq!(ruled_out(col("c").like("%x%")), 40_000);
    assert_eq!(ruled_out(col("c").eq("c")), 0);
}

/// −0 and 0 are equal, and NaN has many bit patterns.
#[test]
fn bloom_filters_of_floats() {
    let bloom = plain().bloom_filter(BloomFilterOptions::default());
    let zeros = Arc::new(Float64Array::from(vec![-0.0; 8])) as ArrayRef;
    let file = written(&zeros, bloom.clone());
    let may = |file: &ParquetFile, value: f64| {
        file.bloom_filter_may_contain(0, 0, value).unwrap().unwrap()
    };
    assert!(may(&file, 0.0) && may(&file, -0.0) && may(&file, f64::NAN));
    assert!(!may(&file, 1.0));
    let tenths = Arc::new(Float32Array::from(vec![0.1; 8])) as ArrayRef;
    let file = written(&tenths, bloom);
    assert!(may(&file, 0.1));
    assert!(!may(&file, 1e300));
}

#[test]
fn bounds_are_arrays_of_the_column() {
    for (array, _) in columns() {
        let file = written(&array, plain());
        let plan = file.plan(&ReadOptions::new()).unwrap();
        let bounds = plan.row_group_bounds(0).unwrap();
        let name = array.data_type();
        let at = |slots: [usize; 4]| {
            let slots = UInt32Array::from_iter_values(slots.map(|slot| slot as u32));
            (0..4)
                .map(|slot| array.slice(slots.value(slot) as usize, 1))
                .collect::<Vec<_>>()
        };
        // Among floating-point numbers, a bound of zero holds for both zeros.
        let first = usize::from(name.is_floating());
        for (slot, expected) in at([0, 8, 16, 24]).into_iter().enumerate().skip(first) {
            assert_eq!(&bounds.min.slice(slot, 1), &expected, "{name}");
        }
        for (slot, expected) in at([7, 15, 23, 31]).into_iter().enumerate() {
            assert_eq!(&bounds.max.slice(slot, 1), &expected, "{name}");
        }
        assert_eq!(bounds.null_counts.values().to_vec(), [0; 4]);
        assert_eq!(bounds.row_counts.values().to_vec(), [8; 4]);
        assert!(
            bounds
                .is_min_exact
                .iter()
                .chain(&bounds.is_max_exact)
                .all(|it| it == Some(true))
        );
        let index = file.load_page_index(1, 0).unwrap();
        let pages = plan.page_bounds(1, 0, &index).unwrap().unwrap();
        assert_eq!(&pages.min.slice(1, 1), &array.slice(12, 1), "{name}");
        assert_eq!(pages.row_counts.values().to_vec(), [4, 4]);
    }
}

/// A column missing from the file has its default as bounds in each row group.
#[test]
fn bounds_of_constants() {
    let file = written(&columns()[2].0, plain());
    let bounds = |value: ArrayRef| {
        let schema = Schema::new(vec![Field::new("d", value.data_type().clone(), true)]);
        let wanted = WantedSchema::new(Arc::new(schema)).default_value(["d"], value);
        let plan = file
            .plan(&ReadOptions::new().wanted_schema(wanted))
            .unwrap();
        plan.row_group_bounds(0).unwrap()
    };
    let of_number = bounds(Arc::new(Int32Array::from(vec![7])));
    assert_eq!(
        of_number.min.as_ref(),
        &Int32Array::from(vec![7; 4]) as &dyn Array
    );
    assert_eq!(
        of_number.max.as_ref(),
        &Int32Array::from(vec![7; 4]) as &dyn Array
    );
    assert_eq!(of_number.null_counts.values().to_vec(), [0; 4]);
    assert_eq!(of_number.distinct_counts.values().to_vec(), [1; 4]);
    assert!(of_number.is_min_exact.iter().all(|it| it == Some(true)));
    assert_eq!(of_number.nan_counts.null_count(), 4);
    let of_null = bounds(Arc::new(Int32Array::from(vec![None])));
    assert_eq!((of_null.min.null_count(), of_null.max.null_count()), (4, 4));
    assert_eq!(of_null.null_counts.values().to_vec(), [8; 4]);
    assert_eq!(of_null.distinct_counts.values().to_vec(), [0; 4]);
    assert_eq!(of_null.is_min_exact.null_count(), 4);
    let of_nan = bounds(Arc::new(Float64Array::from(vec![f64::NAN])));
    assert_eq!((of_nan.min.null_count(), of_nan.max.null_count()), (4, 4));
    assert_eq!(
        (
            of_nan.nan_counts.values().to_vec(),
            of_nan.null_counts.values().to_vec()
        ),
        (vec![8; 4], vec![0; 4])
    );
    let of_zero = bounds(Arc::new(Float64Array::from(vec![0.0])));
    let bits = |bounds: &ArrayRef| -> Vec<u64> {
        let bounds = bounds.as_primitive::<types::Float64Type>();
        bounds
            .values()
            .iter()
            .map(|bound| bound.to_bits())
            .collect()
    };
    assert_eq!(bits(&of_zero.min), [(-0.0_f64).to_bits(); 4]);
    assert_eq!(bits(&of_zero.max), [0; 4]);
    assert_eq!(of_zero.nan_counts.values().to_vec(), [0; 4]);
}
