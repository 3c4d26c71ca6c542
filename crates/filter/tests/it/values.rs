//! Comparisons of values in all types and layouts. The results must match a loop over numbers.

use std::sync::Arc;

use herringbone::arrow::array::types::{
    Int8Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone::arrow::array::*;
use herringbone::arrow::buffer::i256;
use herringbone::arrow::schema::{DataType, TimeUnit};
use herringbone_filter::{Literal, Predicate, col};

use crate::arrays::{numbers, texts};

/// Numbers with neighbours, ends and nulls.
pub(crate) const NUMBERS: [Option<i8>; 10] = [
    Some(0),
    None,
    Some(1),
    Some(2),
    Some(3),
    Some(127),
    None,
    Some(3),
    Some(1),
    Some(100),
];

/// Returns the slots with a known and true result.
pub(crate) fn selected(array: &ArrayRef, predicate: &Predicate) -> Vec<bool> {
    let batch = RecordBatch::try_from_iter_with_nullable([("c", array.clone(), true)]).unwrap();
    let found = predicate.evaluate(&batch).unwrap();
    found.iter().map(|slot| slot == Some(true)).collect()
}

type Accepts = fn(i8) -> bool;

/// Returns predicates on numbers, each with a function that decides in the same way.
pub(crate) fn predicates(literal: &dyn Fn(i8) -> Literal) -> Vec<(Predicate, Accepts)> {
    let is_in = |numbers: &[i8]| col("c").is_in(numbers.iter().map(|number| literal(*number)));
    vec![
        (col("c").eq(literal(1)), |it| it == 1),
        (col("c").ne(literal(1)), |it| it != 1),
        (col("c").lt(literal(3)), |it| it < 3),
        (col("c").le(literal(3)), |it| it <= 3),
        (col("c").gt(literal(3)), |it| it > 3),
        (col("c").ge(literal(3)), |it| it >= 3),
        (col("c").between(literal(1), literal(3)), |it| {
            (1..=3).contains(&it)
        }),
        (col("c").between(literal(3), literal(1)), |_| false),
        (col("c").between(literal(1), literal(3)).not(), |it| {
            !(1..=3).contains(&it)
        }),
        (col("c").between(Literal::Null, literal(2)).not(), |it| {
            it > 2
        }),
        (col("c").between(literal(2), Literal::Null).not(), |it| {
            it < 2
        }),
        (col("c").between(Literal::Null, literal(2)), |_| false),
        (is_in(&[0, 3]), |it| it == 0 || it == 3),
        (is_in(&[0, 3]).not(), |it| it != 0 && it != 3),
        (is_in(&[0, 2, 100]), |it| it == 0 || it == 2 || it == 100),
        (is_in(&[0, 2, 100]).not(), |it| {
            it != 0 && it != 2 && it != 100
        }),
        // There are too many values for one pass each.
        (is_in(&[0, 3, 5, 7, 9, 11, 13, 15, 17, 100]), |it| {
            it == 0 || it == 100 || (3..=17).contains(&it) && it % 2 == 1
        }),
        (is_in(&[0, 3, 5, 7, 9, 11, 13, 15, 17, 100]).not(), |it| {
            it != 0 && it != 100 && !((3..=17).contains(&it) && it % 2 == 1)
        }),
        (is_in(&[]), |_| false),
        (col("c").is_in([Literal::Null, literal(3)]), |it| it == 3),
        (col("c").is_in([Literal::Null, literal(3)]).not(), |_| false),
        (col("c").eq(Literal::Null), |_| false),
        (col("c").is_not_null(), |_| true),
        (
            col("c").lt(literal(1)).or(col("c").gt(literal(100))),
            |it| !(1..=100).contains(&it),
        ),
        (col("c").gt(literal(1)).and(col("c").ne(literal(3))), |it| {
            it > 1 && it != 3
        }),
        (
            col("c").gt(literal(1)).and(col("c").ne(literal(3))).not(),
            |it| it <= 1 || it == 3,
        ),
    ]
}

fn check(array: &ArrayRef, numbers: &[Option<i8>], literal: &dyn Fn(i8) -> Literal) {
    for (predicate, accepts) in predicates(literal) {
        let expected: Vec<_> = numbers
            .iter()
            .map(|number| number.is_some_and(accepts))
            .collect();
        assert_eq!(
            selected(array, &predicate),
            expected,
            "{predicate} of {}",
            array.data_type()
        );
    }
    let expected: Vec<_> = numbers.iter().map(Option::is_none).collect();
    assert_eq!(selected(array, &col("c").is_null()), expected);
}

/// Returns an array of the numbers in another type.
fn of_type(data_type: &DataType) -> ArrayRef {
    numbers(data_type, &NUMBERS.map(|number| number.map(i64::from)))
}

#[test]
fn numbers_of_all_widths() {
    use DataType as T;
    for data_type in [
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Decimal32(9, 2),
        T::Decimal64(18, 3),
        T::Decimal128(30, 10),
        T::Decimal256(70, 20),
    ] {
        let array = of_type(&data_type);
        check(&array, &NUMBERS, &|number| Literal::Integer(number.into()));
        check(&array, &NUMBERS, &|number| Literal::Decimal {
            unscaled: i256::from_i128(i128::from(number) * 100),
            scale: 2,
        });
        check(&array, &NUMBERS, &|number| Literal::Float(number.into()));
    }
}

#[test]
fn dates_times_and_durations() {
    use DataType as T;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let nanos = |unit: TimeUnit| match unit {
        Second => 1_000_000_000,
        Millisecond => 1_000_000,
        Microsecond => 1_000,
        Nanosecond => 1,
    };
    check(&of_type(&T::Date32), &NUMBERS, &|number| {
        Literal::Date(number.into())
    });
    let days = |number: i8| Literal::Timestamp {
        nanos: i128::from(number) * 86_400_000_000_000,
        is_utc: false,
    };
    check(&of_type(&T::Date32), &NUMBERS, &days);
    for unit in [Second, Millisecond, Microsecond, Nanosecond] {
        let in_nanos = move |number: i8| i128::from(number) * nanos(unit);
        let time = move |number: i8| Literal::Time(in_nanos(number) as i64);
        match unit {
            Second | Millisecond => check(&of_type(&T::Time32(unit)), &NUMBERS, &time),
            _ => check(&of_type(&T::Time64(unit)), &NUMBERS, &time),
        }
        let timestamp = move |number: i8| Literal::Timestamp {
            nanos: in_nanos(number),
            is_utc: false,
        };
        check(&of_type(&T::Timestamp(unit, None)), &NUMBERS, &timestamp);
        let in_utc = move |number: i8| Literal::Timestamp {
            nanos: in_nanos(number),
            is_utc: true,
        };
        check(
            &of_type(&T::Timestamp(unit, Some("UTC".into()))),
            &NUMBERS,
            &in_utc,
        );
        check(&of_type(&T::Duration(unit)), &NUMBERS, &move |number| {
            Literal::Duration(in_nanos(number))
        });
        check(&of_type(&T::Duration(unit)), &NUMBERS, &|number| {
            Literal::Integer(number.into())
        });
    }
}

fn text(number: i8) -> String {
    format!("{number:03}")
}

#[test]
fn texts_and_bytes() {
    use DataType as T;
    for data_type in [
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
    ] {
        let array = texts(&data_type, &NUMBERS.map(|number| number.map(text)));
        check(&array, &NUMBERS, &|number| Literal::Text(text(number)));
        check(&array, &NUMBERS, &|number| {
            Literal::Bytes(text(number).into_bytes())
        });
        let like = |pattern: &str| selected(&array, &col("c").like(pattern));
        let of =
            |accepts: fn(i8) -> bool| NUMBERS.map(|number| number.is_some_and(accepts)).to_vec();
        assert_eq!(like("00%"), of(|it| it < 10));
        assert_eq!(like("%0_"), of(|it| it < 10 || it == 100));
        assert_eq!(
            selected(&array, &col("c").like("00%").not()),
            of(|it| it >= 10)
        );
        assert_eq!(
            selected(&array, &col("c").starts_with("1")),
            of(|it| it >= 100)
        );
        assert_eq!(selected(&array, &col("c").starts_with("")), of(|_| true));
    }
    let fixed = texts(
        &T::FixedSizeBinary(3),
        &NUMBERS.map(|number| number.map(text)),
    );
    check(&fixed, &NUMBERS, &|number| {
        Literal::Bytes(text(number).into_bytes())
    });
    check(&fixed, &NUMBERS, &|number| Literal::Text(text(number)));
}

#[test]
fn dictionaries_and_runs() {
    fn keyed<K: herringbone::arrow::array::types::ArrowDictionaryKeyType>(
        texts: &[Option<String>],
    ) -> ArrayRef {
        let array: DictionaryArray<K> = texts.iter().map(Option::as_deref).collect();
        Arc::new(array)
    }
    let texts: Vec<_> = NUMBERS.iter().map(|number| number.map(text)).collect();
    for array in [
        keyed::<Int8Type>(&texts),
        keyed::<herringbone::arrow::array::types::Int16Type>(&texts),
        keyed::<Int32Type>(&texts),
        keyed::<Int64Type>(&texts),
        keyed::<UInt8Type>(&texts),
        keyed::<UInt16Type>(&texts),
        keyed::<UInt32Type>(&texts),
        keyed::<UInt64Type>(&texts),
    ] {
        check(&array, &NUMBERS, &|number| Literal::Text(text(number)));
    }
    // Each number occurs three times, except for the last, which occurs once.
    let numbers: Vec<_> = NUMBERS
        .iter()
        .flat_map(|number| [*number; 3])
        .take(28)
        .collect();
    let values: Int32Array = NUMBERS.iter().map(|number| number.map(i32::from)).collect();
    let ends = (1..=10).map(|run| (3 * run).min(28));
    let short = RunArray::<herringbone::arrow::array::types::Int16Type>::try_new(
        &ends.clone().map(|end| end as i16).collect(),
        &values,
    );
    let middle = RunArray::<Int32Type>::try_new(&ends.clone().collect(), &values);
    let long = RunArray::<Int64Type>::try_new(&ends.map(i64::from).collect(), &values);
    for array in [
        Arc::new(short.unwrap()) as ArrayRef,
        Arc::new(middle.unwrap()),
        Arc::new(long.unwrap()),
    ] {
        check(&array, &numbers, &|number| Literal::Integer(number.into()));
        check(&array.slice(4, 20), &numbers[4..24], &|number| {
            Literal::Integer(number.into())
        });
    }
}

#[test]
fn booleans_and_nulls() {
    let booleans = [Some(true), None, Some(false)];
    let array = Arc::new(BooleanArray::from(booleans.to_vec())) as ArrayRef;
    for (predicate, expected) in [
        (col("c").eq(true), [true, false, false]),
        (col("c").ne(true), [false, false, true]),
        (col("c").ge(false), [true, false, true]),
        (col("c").lt(false), [false, false, false]),
        (col("c").is_in([true, false]), [true, false, true]),
    ] {
        assert_eq!(selected(&array, &predicate), expected, "{predicate}");
    }
    let nulls = Arc::new(NullArray::new(3)) as ArrayRef;
    for predicate in [
        col("c").eq(1),
        col("c").ne("x"),
        col("c").is_not_null(),
        col("c").starts_with("a"),
    ] {
        assert_eq!(selected(&nulls, &predicate), [false; 3], "{predicate}");
    }
    assert_eq!(selected(&nulls, &col("c").is_null()), [true; 3]);
}

/// NaN is above all other numbers, unless they compare as in IEEE 754.
#[test]
fn nan_is_the_greatest_number_or_incomparable() {
    let values = [
        Some(-0.0),
        Some(0.0),
        Some(f64::NAN),
        Some(-f64::NAN),
        Some(f64::INFINITY),
        None,
        Some(-1.5),
    ];
    let half: Float16Array = values
        .map(|value| value.map(half::f16::from_f64))
        .into_iter()
        .collect();
    let single: Float32Array = values
        .map(|value| value.map(|value| value as f32))
        .into_iter()
        .collect();
    let double = Float64Array::from(values.to_vec());
    for array in [
        Arc::new(half) as ArrayRef,
        Arc::new(single),
        Arc::new(double),
    ] {
        let nan = f64::NAN;
        for (predicate, total, ieee) in [
            (col("c").eq(0.0), "++-----", "++-----"),
            (col("c").lt(0.0), "------+", "------+"),
            (col("c").gt(1.0), "--+++--", "----+--"),
            (col("c").gt(1.0).not(), "++----+", "++++--+"),
            (col("c").eq(nan), "--++---", "-------"),
            (col("c").ne(nan), "++--+-+", "+++++-+"),
            (col("c").ge(nan), "--++---", "-------"),
            (col("c").lt(nan), "++--+-+", "-------"),
            (col("c").between(0.0, nan), "+++++--", "-------"),
            (col("c").is_nan(), "--++---", "--++---"),
            (col("c").is_nan().not(), "++--+-+", "++--+-+"),
        ] {
            let shown = |predicate: &Predicate| -> String {
                let found = selected(&array, predicate);
                found
                    .into_iter()
                    .map(|slot| if slot { '+' } else { '-' })
                    .collect()
            };
            assert_eq!(shown(&predicate), total, "{predicate}");
            let predicate = predicate.with_ieee_floats();
            assert_eq!(shown(&predicate), ieee, "{predicate} as in IEEE 754");
        }
    }
}

#[test]
fn predicates_are_shown_as_they_are_read() {
    for (predicate, expected) in [
        (col("a").eq(1), "a = 1"),
        (col("a").lt(1.5), "a < 1.5"),
        (col("a").le("it's"), "a <= 'it''s'"),
        (col("a").gt(vec![1_u8, 255]), "a > x'01ff'"),
        (col("a").ge(true), "a >= true"),
        (col("a").between(1, 2), "a between 1 and 2"),
        (col("a").is_in([1, 2]), "a in (1, 2)"),
        (col("a").is_null(), "a is null"),
        (col("a").is_nan(), "a is nan"),
        (col("a").starts_with("x"), "a starts with 'x'"),
        (col("a").like("x%"), "a like 'x%'"),
        (
            col("a").like(herringbone_filter::Like::new("x").escape('!').ignore_case()),
            "a ilike 'x' escape '!'",
        ),
        (col("a").any().eq(Literal::Null), "any(a) = null"),
        (col("a").all().eq(Literal::Date(3)), "all(a) = day 3"),
        (col("a").eq(Literal::Time(5)), "a = 5 ns of the day"),
        (col("a").eq(Literal::Duration(5)), "a = 5 ns"),
        (
            col("a").eq(Literal::Timestamp {
                nanos: 5,
                is_utc: true,
            }),
            "a = 5 ns since 1970",
        ),
        (
            col("a").eq(Literal::Decimal {
                unscaled: i256::from_i128(15),
                scale: 1,
            }),
            "a = 15e-1",
        ),
        (
            col("a").eq(Literal::Decimal {
                unscaled: i256::from_i128(15),
                scale: 0,
            }),
            "a = 15",
        ),
        (col("a").eq(1).and(col("b").eq(2)), "(a = 1 and b = 2)"),
        (col("a").eq(1).or(col("b").eq(2)), "(a = 1 or b = 2)"),
        (col("a").eq(1).not(), "not a = 1"),
    ] {
        assert_eq!(predicate.to_string(), expected);
    }
}
