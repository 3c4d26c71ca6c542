//! Predicates that imply others, and the selection of slots.

use std::sync::Arc;

use herringbone::arrow::array::*;
use herringbone::arrow::buffer::{BooleanBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields, TimeUnit};
use herringbone_filter::{Like, Literal, Predicate, col, select};

use crate::arrays::{numbers, texts};
use crate::values::{predicates, selected};

/// A predicate that implies another one selects no row that the other one refuses. We check the reverse of each pair,
/// too.
#[test]
fn what_implies_selects_no_other_rows() {
    let all: Vec<Option<i64>> = [None].into_iter().chain((-2..130).map(Some)).collect();
    let array = numbers(&DataType::Int64, &all);
    let literal = |number: i8| Literal::Integer(number.into());
    let mut all: Vec<Predicate> = predicates(&literal).into_iter().map(|(it, _)| it).collect();
    let pairs = all.iter().zip(all.iter().skip(1));
    let both: Vec<_> = pairs
        .clone()
        .map(|(a, b)| a.clone().and(b.clone()))
        .collect();
    let either: Vec<_> = pairs.map(|(a, b)| a.clone().or(b.clone())).collect();
    all.extend(both);
    all.extend(either);
    let rows: Vec<_> = all
        .iter()
        .map(|predicate| selected(&array, predicate))
        .collect();
    let mut implications = 0;
    for (a, of_a) in all.iter().zip(&rows) {
        for (b, of_b) in all.iter().zip(&rows) {
            if a.implies(b) {
                implications += 1;
                assert!(
                    of_a.iter().zip(of_b).all(|(a, b)| *b || !*a),
                    "{a} does not imply {b}"
                );
            }
        }
        assert!(a.implies(a), "{a}");
    }
    assert!(implications > 2 * all.len(), "{implications}");
}

#[test]
fn tighter_forms_imply_looser_ones() {
    let decimal = |unscaled, scale| Literal::Decimal {
        unscaled: herringbone::arrow::buffer::i256::from_i128(unscaled),
        scale,
    };
    let c = || col("c");
    let less = |number: i32| c().lt(number);
    // Each first predicate implies the second, but not the other way round.
    for (a, b) in [
        (less(5), less(6)),
        (less(5), c().le(5)),
        (c().gt(5), c().ge(5)),
        (c().gt(5), c().gt(4)),
        (c().eq(5), c().ge(5)),
        (c().eq(5), c().le(5)),
        (c().eq(5), c().is_in([4, 5])),
        (c().is_in([4, 5]), c().is_in([4, 5, 6])),
        (c().between(4, 5), c().between(4, 6)),
        (c().between(4, 5), c().between(3, 5)),
        (c().between(4, 5), c().le(5)),
        (c().between(4, 5), c().ge(4)),
        (c().eq(5), c().between(5, 6)),
        (less(5), c().is_not_null()),
        (c().lt(1.5), c().lt(2.5)),
        (c().lt(Literal::Date(1)), c().lt(Literal::Date(2))),
        (c().lt(Literal::Time(1)), c().lt(Literal::Time(2))),
        (c().lt(Literal::Duration(1)), c().lt(Literal::Duration(2))),
        (c().lt(decimal(15, 1)), c().lt(decimal(16, 1))),
        (c().eq(false), c().le(true)),
        (less(5).and(col("d").eq(1)), less(5)),
        (less(5).and(col("d").eq(1)), less(6)),
        (less(5), less(5).or(col("d").eq(1))),
        (less(5).and(col("d").eq(1)), less(6).and(col("d").le(1))),
        (less(4).or(c().gt(9)), less(5).or(c().gt(8))),
        (c().is_null().and(col("d").eq(1)), c().is_null()),
    ] {
        assert!(a.implies(&b), "{a} implies {b}");
        assert!(!b.implies(&a), "{b} does not imply {a}");
    }
    for (a, b) in [
        // Both numbers might be rounded to the same number of the column's type.
        (c().le(4), less(5)),
        (c().ge(5), c().gt(4)),
        (c().eq(5), less(6)),
        (c().is_in([4, 5]), less(6)),
        // A text might stand for a date.
        (c().lt("a"), c().lt("b")),
        (less(5), col("d").lt(6)),
        (less(5), c().lt("6")),
        (less(5), c().lt(Literal::Date(6))),
        (c().lt(Literal::Null), less(5)),
        (less(5), c().lt(Literal::Null)),
        (c().eq("b"), c().starts_with("a")),
        (c().any().eq(5), c().all().eq(5)),
        (less(5), less(5).with_ieee_floats()),
        (c().like("a%"), c().like(Like::new("b%"))),
        (less(5).or(col("d").eq(1)), less(5).and(col("d").eq(1))),
        (c().eq(5), c().is_in([4, 6])),
        (c().is_in([4, 7]), less(6)),
        (c().ne(5), less(5)),
    ] {
        let is_self = a.to_string() == b.to_string();
        assert!(is_self || !a.implies(&b), "{a} does not imply {b}");
    }
}

/// The number of slots in each array.
const SLOTS: usize = 200;

/// Returns arrays of all layouts.
fn arrays() -> Vec<ArrayRef> {
    use DataType as T;
    let value = |slot: usize| (!slot.is_multiple_of(11)).then_some(slot as i64 % 100);
    let of_numbers: Vec<_> = (0..SLOTS).map(value).collect();
    let of_texts: Vec<_> = of_numbers
        .iter()
        .map(|it| it.map(|it| "x".repeat(it as usize % 20)))
        .collect();
    let fixed: Vec<_> = of_numbers
        .iter()
        .map(|it| it.map(|it| format!("{it:03}")))
        .collect();
    let mut arrays: Vec<ArrayRef> = [
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
        T::Date32,
        T::Decimal128(20, 2),
        T::Decimal256(50, 2),
        T::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    ]
    .iter()
    .map(|data_type| numbers(data_type, &of_numbers))
    .collect();
    let kinds = [
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
    ];
    arrays.extend(kinds.iter().map(|data_type| texts(data_type, &of_texts)));
    arrays.push(texts(&T::FixedSizeBinary(3), &fixed));
    arrays.push(Arc::new(
        of_numbers
            .iter()
            .map(|it| it.map(|it| it % 3 > 0))
            .collect::<BooleanArray>(),
    ));
    arrays.push(Arc::new(
        of_texts
            .iter()
            .map(Option::as_deref)
            .collect::<DictionaryArray<types::Int16Type>>(),
    ));
    let lengths = (0..SLOTS).map(|slot| slot % 3);
    let element = Arc::new(Field::new("item", T::Int64, true));
    let total = lengths.clone().sum::<usize>();
    let values = numbers(&T::Int64, &(0..total as i64).map(Some).collect::<Vec<_>>());
    arrays.push(Arc::new(ListArray::new(
        element,
        OffsetBuffer::from_lengths(lengths),
        values,
        None,
    )));
    let fields = Fields::from(vec![Field::new("x", T::Int32, true)]);
    arrays.push(Arc::new(StructArray::new(
        fields,
        vec![numbers(&T::Int32, &of_numbers)],
        None,
    )));
    arrays.push(Arc::new(NullArray::new(SLOTS)));
    arrays
}

#[test]
fn selected_slots_keep_their_values() {
    let keeps: [fn(usize) -> bool; 5] = [
        |it| it % 2 > 0,
        |it| it % 64 < 60,
        |it| it == 199,
        |_| true,
        |it| it / 50 % 2 > 0,
    ];
    for array in &arrays() {
        for keep in keeps {
            let bits = BooleanBuffer::collect_bool(SLOTS, keep);
            let rows: Vec<usize> = (0..SLOTS).filter(|slot| keep(*slot)).collect();
            let found = select(array, &bits, rows.len()).unwrap();
            assert_eq!(
                (found.len(), found.data_type()),
                (rows.len(), array.data_type())
            );
            for (at, row) in rows.into_iter().enumerate() {
                assert_eq!(
                    &found.slice(at, 1),
                    &array.slice(row, 1),
                    "{}, {row}",
                    array.data_type()
                );
            }
        }
    }
}
