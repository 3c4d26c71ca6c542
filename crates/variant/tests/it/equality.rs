//! Checks that values of one equivalence class are equal.

use herringbone_variant::{Decimal, Limits, Value, Variant, VariantBuf, VariantBuilder};

use crate::encoding::{array, metadata, object};
use crate::official::all;

fn built(value: Value<'_>) -> VariantBuf {
    let mut builder = VariantBuilder::new();
    builder.push(value).unwrap();
    builder.finish().unwrap()
}

fn equal(left: Value<'_>, right: Value<'_>) -> bool {
    let (left, right) = (built(left), built(right));
    let (left, right) = (left.as_variant(), right.as_variant());
    let equal = left.equals(&right, &Limits::default()).unwrap();
    assert_eq!(right.equals(&left, &Limits::default()).unwrap(), equal);
    equal
}

#[test]
fn classes_cross_widths_but_not_each_other() {
    // According to the specification, an int8 of 1 equals a decimal16 with scale 2 and the unscaled
    // value 100.
    let one = Value::Int8(1);
    for same in [
        Value::Int16(1),
        Value::Int64(1),
        Value::Decimal4(Decimal::new(1, 0)),
        Value::Decimal8(Decimal::new(10, 1)),
        Value::Decimal16(Decimal::new(100, 2)),
    ] {
        assert!(equal(one, same));
    }
    for other in [
        Value::Double(1.0),
        Value::Float(1.0),
        Value::Boolean(true),
        Value::Date(1),
        Value::String("1"),
        Value::Decimal16(Decimal::new(101, 2)),
        Value::Null,
    ] {
        assert!(!equal(one, other));
    }
    assert!(!equal(Value::Double(0.5), Value::Float(0.5)));
    assert!(equal(Value::Double(f64::NAN), Value::Double(-f64::NAN)));
    assert!(equal(Value::Float(0.0), Value::Float(-0.0)));
    assert!(equal(Value::Timestamp(1), Value::TimestampNanos(1000)));
    assert!(!equal(Value::Timestamp(1), Value::TimestampNanos(1001)));
    assert!(equal(
        Value::TimestampNtz(-1),
        Value::TimestampNtzNanos(-1000)
    ));
    assert!(!equal(Value::Timestamp(1), Value::TimestampNtz(1)));
    // This is too large for 64 bits of nanoseconds.
    assert!(!equal(
        Value::Timestamp(i64::MAX),
        Value::TimestampNanos(i64::MAX)
    ));
    assert!(!equal(Value::String("AAAA"), Value::Binary(&[0; 3])));
}

#[test]
fn strings_short_and_long() {
    let short = [1 << 2 | 1, b'a'];
    let long = [16 << 2, 1, 0, 0, 0, b'a'];
    let (short, long) = (Variant::new(&[], &short), Variant::new(&[], &long));
    assert!(
        short
            .unwrap()
            .equals(&long.unwrap(), &Limits::default())
            .unwrap()
    );
}

#[test]
fn objects_whatever_their_dictionary_and_order() {
    let limits = Limits::default();
    let values = [[3 << 2, 1], [3 << 2, 2]];
    let sorted = metadata(&["a", "b"], 1, true);
    let unsorted = metadata(&["x", "b", "a"], 4, false);
    let left = object(&[(0, &values[0]), (1, &values[1])], &[0, 1], (false, 1, 1));
    let right = object(&[(2, &values[0]), (1, &values[1])], &[1, 0], (true, 4, 2));
    let left = Variant::validated(&sorted, &left, &limits).unwrap();
    let right = Variant::validated(&unsorted, &right, &limits).unwrap();
    assert!(left.equals(&right, &limits).unwrap());
    let other = object(&[(2, &values[0]), (0, &values[1])], &[1, 0], (true, 4, 2));
    let other = Variant::validated(&unsorted, &other, &limits).unwrap();
    assert!(!left.equals(&other, &limits).unwrap());
    // One of the objects is ordered by UTF-8, the other by UTF-16.
    let names = metadata(&["\u{E000}", "\u{1F600}"], 1, true);
    let utf8 = object(&[(0, &values[0]), (1, &values[1])], &[0, 1], (false, 1, 1));
    let utf16 = object(&[(1, &values[1]), (0, &values[0])], &[0, 1], (false, 1, 1));
    let utf8 = Variant::validated(&names, &utf8, &limits).unwrap();
    let utf16 = Variant::validated(&names, &utf16, &limits).unwrap();
    assert!(utf8.equals(&utf16, &limits).unwrap());
}

#[test]
fn arrays_by_element() {
    let limits = Limits::default();
    let elements = [&[0][..], &[4], &[8]];
    let whole = array(&elements, false, 1);
    let wide = array(&elements, true, 4);
    let part = array(&elements[..2], false, 1);
    let swapped = array(&[&[0], &[8], &[4]], false, 1);
    let variant = |bytes| Variant::new(&[], bytes).unwrap();
    assert!(variant(&whole).equals(&variant(&wide), &limits).unwrap());
    assert!(!variant(&whole).equals(&variant(&part), &limits).unwrap());
    assert!(!variant(&whole).equals(&variant(&swapped), &limits).unwrap());
}

#[test]
fn official_values_equal_themselves_alone() {
    let files = all();
    for left in &files {
        for right in &files {
            let equal = left.variant().equals(&right.variant(), &Limits::default());
            assert_eq!(
                equal.unwrap(),
                left.name == right.name,
                "{} {}",
                left.name,
                right.name
            );
        }
        let mut builder = VariantBuilder::new();
        builder.push_variant(left.variant()).unwrap();
        let copy = builder.finish().unwrap();
        let equal = copy
            .as_variant()
            .equals(&left.variant(), &Limits::default());
        assert!(equal.unwrap());
    }
}
