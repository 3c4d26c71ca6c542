//! Prints scalar values: nulls, booleans, numbers, strings and bytes.

use std::fmt::Write as _;

use herringbone::format::uuid;
use herringbone_arrow::array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
};
use herringbone_arrow::array::{
    Array, ArrayAccessor, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, PrimitiveArray,
    cast::AsArray as _,
};
use herringbone_text::json::push_quoted;

use super::number::{Float, Unscaled, push_decimal, push_integer};
use super::text::{push_base64, push_literal};
use super::value::{Boxed, Value};

/// A column of only nulls.
pub struct Null;

impl Value for Null {
    fn json(&self, _row: usize, out: &mut String) {
        out.push_str("null");
    }

    fn text(&self, _row: usize, _out: &mut String) {}

    fn is_null(&self, _row: usize) -> bool {
        true
    }
}

/// Booleans, printed as `true` and `false`.
pub struct Boolean<'a>(pub &'a BooleanArray);

impl Value for Boolean<'_> {
    fn json(&self, row: usize, out: &mut String) {
        out.push_str(if self.0.value(row) { "true" } else { "false" });
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }
}

/// Integers of any width, printed as numbers.
pub struct Integer<'a, T: ArrowPrimitiveType>(pub &'a PrimitiveArray<T>);

impl<T: ArrowPrimitiveType<Native: itoa::Integer>> Value for Integer<'_, T> {
    fn json(&self, row: usize, out: &mut String) {
        push_integer(out, self.0.value(row));
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }
}

/// Floating-point numbers. NaN and the infinities become strings in JSON.
pub struct Floating<'a, T: ArrowPrimitiveType>(pub &'a PrimitiveArray<T>);

impl<T: ArrowPrimitiveType<Native: Float>> Value for Floating<'_, T> {
    fn json(&self, row: usize, out: &mut String) {
        let value = self.0.value(row);
        match value.special() {
            Some(name) => _ = write!(out, "\"{name}\""),
            None => value.push_finite(out),
        }
    }

    fn text(&self, row: usize, out: &mut String) {
        let value = self.0.value(row);
        match value.special() {
            Some(name) => out.push_str(name),
            None => value.push_finite(out),
        }
    }
}

/// Strings in any layout.
pub struct Utf8<A>(pub A);

impl<'a, A: ArrayAccessor<Item = &'a str>> Value for Utf8<A> {
    fn json(&self, row: usize, out: &mut String) {
        push_quoted(out, self.0.value(row));
    }

    fn text(&self, row: usize, out: &mut String) {
        out.push_str(self.0.value(row));
    }
}

/// Bytes in any layout. They are base64 in JSON and CSV, and literals in tables.
pub struct Binary<A>(pub A);

impl<'a, A: ArrayAccessor<Item = &'a [u8]>> Value for Binary<A> {
    fn json(&self, row: usize, out: &mut String) {
        quoted(self, row, out);
    }

    fn text(&self, row: usize, out: &mut String) {
        push_base64(out, self.0.value(row));
    }

    fn cell(&self, row: usize, out: &mut String) {
        push_literal(out, self.0.value(row));
    }
}

/// UUIDs.
pub struct Uuid<'a>(pub &'a FixedSizeBinaryArray);

impl Value for Uuid<'_> {
    fn json(&self, row: usize, out: &mut String) {
        quoted(self, row, out);
    }

    fn text(&self, row: usize, out: &mut String) {
        if let Some(uuid) = self.0.value(row).first_chunk() {
            uuid::push(out, *uuid);
        }
    }
}

/// Decimals with `scale` digits after the point. They are strings in JSON, since few JSON readers
/// keep more than 17 digits.
struct Decimal<'a, T: DecimalType> {
    array: &'a PrimitiveArray<T>,
    scale: i8,
}

impl<T: DecimalType + ArrowPrimitiveType<Native: Unscaled>> Value for Decimal<'_, T> {
    fn json(&self, row: usize, out: &mut String) {
        quoted(self, row, out);
    }

    fn text(&self, row: usize, out: &mut String) {
        push_decimal(out, self.array.value(row), self.scale);
    }
}

/// Wraps decimals of 32 bits.
pub fn decimal32(array: &dyn Array, scale: i8) -> Boxed<'_> {
    Box::new(Decimal::<Decimal32Type> {
        array: array.as_primitive(),
        scale,
    })
}

/// Wraps decimals of 64 bits.
pub fn decimal64(array: &dyn Array, scale: i8) -> Boxed<'_> {
    Box::new(Decimal::<Decimal64Type> {
        array: array.as_primitive(),
        scale,
    })
}

/// Wraps decimals of 128 bits.
pub fn decimal128(array: &dyn Array, scale: i8) -> Boxed<'_> {
    Box::new(Decimal::<Decimal128Type> {
        array: array.as_primitive(),
        scale,
    })
}

/// Wraps decimals of 256 bits.
pub fn decimal256(array: &dyn Array, scale: i8) -> Boxed<'_> {
    Box::new(Decimal::<Decimal256Type> {
        array: array.as_primitive(),
        scale,
    })
}

/// Appends text as a JSON string, without escaping. The text must not need any escapes.
pub fn quoted(value: &impl Value, row: usize, out: &mut String) {
    out.push('"');
    value.text(row, out);
    out.push('"');
}
