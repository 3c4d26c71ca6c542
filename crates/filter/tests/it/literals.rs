//! Literals between, beyond or unlike a column's values.

use std::sync::Arc;

use herringbone::arrow::array::*;
use herringbone::arrow::buffer::i256;
use herringbone::arrow::schema::{Field, Schema};
use herringbone_filter::{Literal, Predicate, col};

use crate::values::selected;

/// Returns the results of `<`, `=` and `>` for each slot and a literal, as one character per slot.
fn compared(array: &ArrayRef, literal: &Literal) -> String {
    let of = |predicate: Predicate| selected(array, &predicate);
    let (less, equal) = (
        of(col("c").lt(literal.clone())),
        of(col("c").eq(literal.clone())),
    );
    let greater = of(col("c").gt(literal.clone()));
    let (least, most) = (
        of(col("c").le(literal.clone())),
        of(col("c").ge(literal.clone())),
    );
    let shown = (0..array.len()).map(|slot| {
        assert_eq!(least[slot], less[slot] || equal[slot]);
        assert_eq!(most[slot], greater[slot] || equal[slot]);
        match (less[slot], equal[slot], greater[slot]) {
            (true, false, false) => '<',
            (false, true, false) => '=',
            (false, false, true) => '>',
            other => panic!("{other:?}"),
        }
    });
    shown.collect()
}

fn decimal(unscaled: i128, scale: i32) -> Literal {
    Literal::Decimal {
        unscaled: i256::from_i128(unscaled),
        scale,
    }
}

#[test]
fn numbers_between_the_values_of_a_column() {
    let integers = Arc::new(Int32Array::from(vec![-2, -1, 0, 1, 2])) as ArrayRef;
    let small = Arc::new(Int8Array::from(vec![-128, 127])) as ArrayRef;
    for (array, literal, expected) in [
        (&integers, Literal::Float(0.5), "<<<>>"),
        (&integers, Literal::Float(-0.5), "<<>>>"),
        (&integers, Literal::Float(-1.0), "<=>>>"),
        (&integers, Literal::Float(1e300), "<<<<<"),
        (&integers, Literal::Float(-1e300), ">>>>>"),
        (&integers, Literal::Float(1e-300), "<<<>>"),
        (&integers, Literal::Float(-1e-300), "<<>>>"),
        (&integers, Literal::Float(f64::INFINITY), "<<<<<"),
        (&integers, Literal::Float(f64::NEG_INFINITY), ">>>>>"),
        (&integers, Literal::Float(f64::NAN), "<<<<<"),
        (&integers, decimal(15, 1), "<<<<>"),
        (&integers, decimal(-15, 1), "<>>>>"),
        (&integers, decimal(-20, 1), "=>>>>"),
        (&integers, decimal(2, 0), "<<<<="),
        (&integers, decimal(2, -3), "<<<<<"),
        (&integers, decimal(0, 1_000_000), "<<=>>"),
        (&integers, decimal(-1, 1_000_000), "<<>>>"),
        (&integers, decimal(1, -1_000_000), "<<<<<"),
        (&integers, decimal(-1, -1_000_000), ">>>>>"),
        (&integers, Literal::Integer(i128::MAX), "<<<<<"),
        (&integers, Literal::Integer(i128::MIN), ">>>>>"),
        (&small, Literal::Integer(128), "<<"),
        (&small, Literal::Integer(-129), ">>"),
        (&small, Literal::Integer(127), "<="),
        (&small, Literal::Integer(-128), "=>"),
    ] {
        assert_eq!(compared(array, &literal), expected, "{literal}");
    }
    let hundredths =
        Decimal128Array::from(vec![-101, -100, 0, 100, 101]).with_precision_and_scale(5, 2);
    let hundredths = Arc::new(hundredths.unwrap()) as ArrayRef;
    for (literal, expected) in [
        (Literal::Integer(1), "<<<=>"),
        (Literal::Float(1.0), "<<<=>"),
        (Literal::Float(1.005), "<<<<>"),
        (Literal::Float(-1.005), "<>>>>"),
        (decimal(1_000, 3), "<<<=>"),
        (decimal(1_001, 3), "<<<<>"),
        (decimal(-1_001, 3), "<>>>>"),
    ] {
        assert_eq!(compared(&hundredths, &literal), expected, "{literal}");
    }
}

/// A literal is rounded to the nearest number of the type, unless it is too large or too close to 0.
#[test]
fn numbers_rounded_to_floats() {
    let tenth = 0.1_f32;
    let singles = vec![
        f32::NEG_INFINITY,
        -0.0,
        0.0,
        f32::MIN_POSITIVE,
        tenth,
        f32::MAX,
        f32::INFINITY,
    ];
    let singles = Arc::new(Float32Array::from(singles)) as ArrayRef;
    for (literal, expected) in [
        (Literal::Float(0.1), "<<<<=>>"),
        (decimal(1, 1), "<<<<=>>"),
        (Literal::Float(1e39), "<<<<<<>"),
        (Literal::Float(-1e39), "<>>>>>>"),
        (Literal::Float(1e-60), "<<<>>>>"),
        (Literal::Float(-1e-60), "<>>>>>>"),
        (Literal::Float(f64::INFINITY), "<<<<<<="),
        (Literal::Float(f64::NEG_INFINITY), "=>>>>>>"),
        (Literal::Text("inf".into()), "<<<<<<="),
        (Literal::Text("-infinity".into()), "=>>>>>>"),
        (Literal::Text("NaN".into()), "<<<<<<<"),
        (Literal::Integer(0), "<==>>>>"),
        (decimal(0, 5), "<==>>>>"),
        (decimal(1, 400), "<<<>>>>"),
    ] {
        assert_eq!(compared(&singles, &literal), expected, "{literal}");
    }
    let batch = RecordBatch::try_from_iter([("c", singles)]).unwrap();
    assert!(col("c").eq("1.5").evaluate(&batch).is_err());
    assert!(col("c").eq(true).evaluate(&batch).is_err());
}

#[test]
fn times_between_the_values_of_a_column() {
    let days = Arc::new(Date32Array::from(vec![-1, 0, 1])) as ArrayRef;
    let millis = Arc::new(TimestampMillisecondArray::from(vec![-1, 0, 1])) as ArrayRef;
    let date64 = Arc::new(Date64Array::from(vec![-86_400_000, 0, 86_400_000])) as ArrayRef;
    let instant = |nanos| Literal::Timestamp {
        nanos,
        is_utc: false,
    };
    for (array, literal, expected) in [
        (&days, Literal::Text("1970-01-01".into()), "<=>"),
        (&days, Literal::Text("1970-01-01 12:00:00".into()), "<<>"),
        (&days, instant(-1), "<>>"),
        (&days, instant(1), "<<>"),
        (&millis, instant(1), "<<>"),
        (&millis, instant(-1), "<>>"),
        (&millis, instant(1_000_000), "<<="),
        (&millis, Literal::Date(0), "<=>"),
        (
            &millis,
            Literal::Text("1970-01-01T00:00:00.001".into()),
            "<<=",
        ),
        (&date64, Literal::Date(1), "<<="),
        (&date64, instant(-1), "<>>"),
        (&date64, Literal::Text("1970-01-01".into()), "<=>"),
    ] {
        assert_eq!(
            compared(array, &literal),
            expected,
            "{literal} {}",
            array.data_type()
        );
    }
    let time = Arc::new(Time64MicrosecondArray::from(vec![0, 1, 3_600_000_000])) as ArrayRef;
    assert_eq!(compared(&time, &Literal::Text("01:00:00".into())), "<<=");
    assert_eq!(compared(&time, &Literal::Time(1_500)), "<<>");
}

/// Returns an array with one value of these bytes.
fn fixed_size(value: &[u8]) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::try_from_iter([value].into_iter()).unwrap())
}

/// Returns a failing comparison's error.
fn error(array: ArrayRef, predicate: &Predicate) -> String {
    let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
    predicate.evaluate(&batch).unwrap_err().to_string()
}

#[test]
fn literals_of_another_kind_are_errors_with_advice() {
    let ints = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let texts = || Arc::new(StringArray::from(vec!["a"])) as ArrayRef;
    let local = || Arc::new(TimestampMillisecondArray::from(vec![1])) as ArrayRef;
    let fixed = || fixed_size(&[1, 2]);
    let in_utc = Literal::Timestamp {
        nanos: 1,
        is_utc: true,
    };
    for (array, predicate, part) in [
        (
            ints(),
            col("c").eq("1"),
            "cannot compare Int32 with '1', which is text",
        ),
        (ints(), col("c").eq(true), "as in `c > 5`"),
        (ints(), col("c").eq(Literal::Date(1)), "which is a date"),
        (ints(), col("c").eq(Literal::Time(1)), "which is a time"),
        (
            ints(),
            col("c").eq(Literal::Duration(1)),
            "which is a duration",
        ),
        (ints(), col("c").eq(vec![1_u8]), "which is bytes"),
        (ints(), col("c").between(1, "2"), "which is text"),
        (
            ints(),
            col("c").between(Literal::Null, "2"),
            "which is text",
        ),
        (
            ints(),
            col("c").is_in([Literal::Integer(1), "2".into()]),
            "which is text",
        ),
        (ints(), col("c").is_nan(), "values of Int32 are never NaN"),
        (ints(), col("c").like("a"), "values of Int32 are not text"),
        (
            ints(),
            col("c").starts_with("a"),
            "values of Int32 are not text",
        ),
        (texts(), col("c").eq(1), "which is an integer"),
        (
            texts(),
            col("c").eq(1.5),
            "which is a floating-point number",
        ),
        (texts(), col("c").eq(decimal(1, 1)), "which is a decimal"),
        (
            texts(),
            col("c").eq(Literal::Timestamp {
                nanos: 1,
                is_utc: true,
            }),
            "which is a timestamp",
        ),
        (local(), col("c").eq(in_utc), "cannot compare Timestamp(ms)"),
        (
            fixed(),
            col("c").eq(vec![1_u8]),
            "has 1 byte, but each value of the column has 2",
        ),
        (fixed(), col("c").eq("abc"), "has 3 bytes"),
        (
            Arc::new(BooleanArray::from(vec![true])),
            col("c").eq(1),
            "which is an integer",
        ),
    ] {
        let error = error(array, &predicate);
        assert!(error.contains(part), "{error}");
    }
    let long = error(ints(), &col("c").eq("x".repeat(500)));
    assert!(long.contains('…') && long.len() < 250, "{long}");
}

/// Evaluates a predicate on a column of bytes with an extension type.
fn extended(name: &str, value: &[u8], predicate: &Predicate) -> Result<bool, String> {
    let metadata =
        std::collections::HashMap::from([("ARROW:extension:name".to_owned(), name.to_owned())]);
    let array: ArrayRef = match name {
        "arrow.uuid" => fixed_size(value),
        _ => Arc::new(BinaryArray::from(vec![value])),
    };
    let field = Field::new("c", array.data_type().clone(), false).with_metadata(metadata);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap();
    predicate
        .evaluate(&batch)
        .map(|found| found.value(0))
        .map_err(|error| error.to_string())
}

#[test]
fn uuids_and_geometries_are_not_text() {
    let uuid: Vec<u8> = (0..16).map(|byte| byte * 17).collect();
    let of_uuid = |predicate: Predicate| extended("arrow.uuid", &uuid, &predicate);
    assert_eq!(
        of_uuid(col("c").eq("00112233-4455-6677-8899-aabbccddeeff")),
        Ok(true)
    );
    assert_eq!(
        of_uuid(col("c").eq("00112233-4455-6677-8899-aabbccddeefe")),
        Ok(false)
    );
    assert_eq!(of_uuid(col("c").eq(uuid.clone())), Ok(true));
    assert!(
        of_uuid(col("c").eq("0011"))
            .unwrap_err()
            .contains("is not a UUID")
    );
    assert!(
        of_uuid(col("c").like("00%"))
            .unwrap_err()
            .contains("UUIDs are not text")
    );
    let of_geometry = |predicate: Predicate| extended("geoarrow.wkb", b"\x01", &predicate);
    assert_eq!(of_geometry(col("c").eq(vec![1_u8])), Ok(true));
    assert!(
        of_geometry(col("c").eq("x"))
            .unwrap_err()
            .contains("bounding box")
    );
    assert!(
        of_geometry(col("c").starts_with("x"))
            .unwrap_err()
            .contains("bounding box")
    );
    assert_eq!(extended("other", b"x", &col("c").eq("x")), Ok(true));
}
