//! Applies tests to arrays, giving one bit per slot.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::{Array, ArrayRef, PrimitiveArray, RunArray};
use herringbone_arrow::buffer::{BooleanBuffer, i256};
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_format::{Error, Result};
use herringbone_kernels::accepted_keys::AcceptedKeys;
use herringbone_kernels::range_compare::{OrderKey, float_key};

use super::byte_cuts::ByteCuts;
use super::leaf_test::{Key, LeafTest};
use super::ranges::Ranges;

impl LeafTest {
    /// Returns the accepted slots of an array. All nulls must be in the array itself, not in enclosing arrays.
    ///
    /// # Errors
    /// Fails with `Unsupported` if the test was not made for the array's layout.
    pub(super) fn evaluate(&self, array: &ArrayRef) -> Result<BooleanBuffer> {
        accepted(self, array)
    }

    /// Returns the accepted slots of a dictionary array, given the `accepted` values of its dictionary.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::evaluate`].
    pub(super) fn evaluate_keys(
        &self,
        array: &ArrayRef,
        accepted: &AcceptedKeys,
    ) -> Result<BooleanBuffer> {
        accepted_of_dictionary(self, array, accepted)
    }

    /// Returns the accepted values, ignoring nulls.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::evaluate`] lists.
    pub(super) fn evaluate_values(&self, values: &ArrayRef) -> Result<BooleanBuffer> {
        accepted_of_values(self, values)
    }
}

/// Returns the slots accepted by a test.
///
/// # Errors
/// Fails with `Unsupported` if the test does not apply to the array's layout.
fn accepted(test: &LeafTest, array: &ArrayRef) -> Result<BooleanBuffer> {
    let bits = match array.data_type() {
        DataType::Dictionary(_, _) => {
            let values = accepted_of_values(test, array.as_any_dictionary().values())?;
            return accepted_of_dictionary(test, array, &AcceptedKeys::new(&values));
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(test, array)?,
            DataType::Int32 => runs::<Int32Type>(test, array)?,
            _ => runs::<Int64Type>(test, array)?,
        },
        _ => accepted_of_values(test, array)?,
    };
    Ok(nulls_too(test, array, bits))
}

/// Returns the accepted slots of a dictionary array, given its dictionary's accepted `values`.
///
/// # Errors
/// Fails with `Unsupported` if the array has no dictionary.
fn accepted_of_dictionary(
    test: &LeafTest,
    array: &ArrayRef,
    values: &AcceptedKeys,
) -> Result<BooleanBuffer> {
    macro_rules! keys {
        ($type:ty) => {
            // The keys of null slots are unspecified, but `nulls_too` replaces their bits.
            values.accepted(array.as_dictionary::<$type>().keys().values())
        };
    }
    let bits = match array.data_type() {
        DataType::Dictionary(keys, _) => match &**keys {
            DataType::Int8 => keys!(Int8Type),
            DataType::Int16 => keys!(Int16Type),
            DataType::Int32 => keys!(Int32Type),
            DataType::Int64 => keys!(Int64Type),
            DataType::UInt8 => keys!(UInt8Type),
            DataType::UInt16 => keys!(UInt16Type),
            DataType::UInt32 => keys!(UInt32Type),
            _ => keys!(UInt64Type),
        },
        other => return Err(no_layout(other)),
    };
    Ok(nulls_too(test, array, bits))
}

/// Completes the bits of valid slots with the result for null slots.
fn nulls_too(test: &LeafTest, array: &ArrayRef, bits: BooleanBuffer) -> BooleanBuffer {
    let nulls = array.logical_nulls();
    match (test, nulls) {
        (LeafTest::Null { is_null: true }, None) => BooleanBuffer::new_unset(array.len()),
        (LeafTest::Null { is_null: true }, Some(nulls)) => !nulls.inner(),
        (LeafTest::Null { is_null: false }, None) => BooleanBuffer::new_set(array.len()),
        (LeafTest::Null { is_null: false }, Some(nulls)) => nulls.inner().clone(),
        (_, None) => bits,
        (_, Some(nulls)) => &bits & nulls.inner(),
    }
}

/// Returns the slots accepted by a test, with unspecified bits for null slots.
fn accepted_of_values(test: &LeafTest, array: &ArrayRef) -> Result<BooleanBuffer> {
    match test {
        LeafTest::Nothing | LeafTest::Null { .. } => Ok(BooleanBuffer::new_unset(array.len())),
        LeafTest::Keys(keys) => accepted_keys(keys, array),
        LeafTest::Bytes(ranges) => {
            let cuts = ByteCuts::new(ranges);
            Ok(match array.data_type() {
                DataType::Utf8 => cuts.accepted(array.as_string::<i32>()),
                DataType::LargeUtf8 => cuts.accepted(array.as_string::<i64>()),
                DataType::Binary => cuts.accepted(array.as_binary::<i32>()),
                DataType::LargeBinary => cuts.accepted(array.as_binary::<i64>()),
                DataType::Utf8View => cuts.accepted_views(array.as_string_view()),
                DataType::BinaryView => cuts.accepted_views(array.as_binary_view()),
                _ => each_bytes(array, |value| cuts.contains(value))?,
            })
        }
        LeafTest::Like {
            pattern,
            is_negated,
        } => each_bytes(array, |value| pattern.matches(value) != *is_negated),
    }
}

fn runs<R: RunEndIndexType>(test: &LeafTest, array: &ArrayRef) -> Result<BooleanBuffer> {
    let runs: &RunArray<R> = array
        .as_any()
        .downcast_ref()
        .ok_or_else(|| no_layout(array.data_type()))?;
    let values = accepted(test, runs.values())?;
    Ok(BooleanBuffer::collect_bool(array.len(), |slot| {
        let run = runs.get_physical_index(slot);
        run < values.len() && values.value(run)
    }))
}

fn each_bytes(array: &ArrayRef, is_accepted: impl Fn(&[u8]) -> bool) -> Result<BooleanBuffer> {
    macro_rules! each {
        ($array:expr) => {{
            let array = $array;
            // Null slots have a (possibly empty) value too, so we don't have to skip them.
            BooleanBuffer::collect_bool(array.len(), |slot| is_accepted(array.value(slot).as_ref()))
        }};
    }
    Ok(match array.data_type() {
        DataType::Utf8 => each!(array.as_string::<i32>()),
        DataType::LargeUtf8 => each!(array.as_string::<i64>()),
        DataType::Utf8View => each!(array.as_string_view()),
        DataType::Binary => each!(array.as_binary::<i32>()),
        DataType::LargeBinary => each!(array.as_binary::<i64>()),
        DataType::BinaryView => each!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => each!(array.as_fixed_size_binary()),
        other => return Err(no_layout(other)),
    })
}

/// An array number type, ordered by sort key.
trait Ordered: OrderKey {
    /// Clips `low..=high` to the keys that the type can represent, or returns `None` if none are left.
    fn clip(low: i256, high: i256) -> Option<(Self::Key, Self::Key)>;
}

macro_rules! ordered_integers {
    ($($type:ty)*) => { $(
        impl Ordered for $type {
            fn clip(low: i256, high: i256) -> Option<(Self, Self)> {
                let (low, high) = (low.max(Self::MIN.wide()), high.min(Self::MAX.wide()));
                let narrow = |key: i256| Self::try_from(key.to_i128()?).ok();
                Some((narrow(low)?, narrow(high)?)).filter(|(low, high)| low <= high)
            }
        }
    )* };
}

ordered_integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 }

impl Ordered for i256 {
    fn clip(low: i256, high: i256) -> Option<(Self, Self)> {
        (low <= high).then_some((low, high))
    }
}

macro_rules! ordered_floats {
    ($($type:ty)*) => { $(
        impl Ordered for $type {
            fn clip(low: i256, high: i256) -> Option<(i64, i64)> {
                i64::clip(low, high)
            }
        }
    )* };
}

ordered_floats! { f32 f64 }

/// Returns the least and the greatest key of each piece, both inclusive.
fn intervals<T: Ordered>(keys: &Ranges<i256>) -> Vec<(T::Key, T::Key)> {
    let one = i256::from_i128(1);
    let pieces = keys.pieces();
    let inclusive = pieces.iter().filter_map(|(low, high)| {
        let low = match low {
            None => i256::MIN,
            Some(cut) if cut.is_after => cut.key.checked_add(one)?,
            Some(cut) => cut.key,
        };
        let high = match high {
            None => i256::MAX,
            Some(cut) if cut.is_after => cut.key,
            Some(cut) => cut.key.checked_sub(one)?,
        };
        T::clip(low, high)
    });
    inclusive.collect()
}

/// The maximum number of pieces to test with one pass over the values each.
const MAX_PASSES: usize = 8;

fn numbers<T: Ordered>(keys: &Ranges<i256>, values: &[T]) -> BooleanBuffer {
    let passes = |pieces: &[(T::Key, T::Key)]| {
        let start = BooleanBuffer::new_unset(values.len());
        pieces.iter().fold(start, |bits, (low, high)| {
            &bits | &between(values, *low, *high)
        })
    };
    match intervals::<T>(keys).as_slice() {
        [] => BooleanBuffer::new_unset(values.len()),
        [(low, high)] => between(values, *low, *high),
        // Two pieces are usually the complement of an interval, which only takes one pass.
        two @ [_, _] => match intervals::<T>(&keys.clone().complement()).as_slice() {
            [(low, high)] => !&between(values, *low, *high),
            _ => passes(two),
        },
        // With few pieces, one pass per piece over all values is faster than a search per value.
        few if few.len() <= MAX_PASSES => passes(few),
        many => BooleanBuffer::collect_bool(values.len(), |slot| {
            let Some(key) = values.get(slot).map(|value| value.key()) else {
                return false;
            };
            let at = many.partition_point(|(_, high)| *high < key);
            many.get(at).is_some_and(|(low, _)| *low <= key)
        }),
    }
}

/// Returns one bit per value, set if the value's key is in the inclusive range from `low` to `high`.
fn between<T: Ordered>(values: &[T], low: T::Key, high: T::Key) -> BooleanBuffer {
    let words = herringbone_kernels::range_compare::between(values, (low, high));
    BooleanBuffer::new(words.into(), 0, values.len())
}

/// Calls a macro with the Arrow type of a primitive array.
macro_rules! with_primitive {
    ($data_type:expr, $visit:ident, $other:expr) => {
        match $data_type {
            DataType::Int8 => $visit!(Int8Type),
            DataType::Int16 => $visit!(Int16Type),
            DataType::Int32 => $visit!(Int32Type),
            DataType::Int64 => $visit!(Int64Type),
            DataType::UInt8 => $visit!(UInt8Type),
            DataType::UInt16 => $visit!(UInt16Type),
            DataType::UInt32 => $visit!(UInt32Type),
            DataType::UInt64 => $visit!(UInt64Type),
            DataType::Float32 => $visit!(Float32Type),
            DataType::Float64 => $visit!(Float64Type),
            DataType::Date32 => $visit!(Date32Type),
            DataType::Date64 => $visit!(Date64Type),
            DataType::Time32(TimeUnit::Second) => $visit!(Time32SecondType),
            DataType::Time32(_) => $visit!(Time32MillisecondType),
            DataType::Time64(TimeUnit::Microsecond) => $visit!(Time64MicrosecondType),
            DataType::Time64(_) => $visit!(Time64NanosecondType),
            DataType::Timestamp(TimeUnit::Second, _) => $visit!(TimestampSecondType),
            DataType::Timestamp(TimeUnit::Millisecond, _) => $visit!(TimestampMillisecondType),
            DataType::Timestamp(TimeUnit::Microsecond, _) => $visit!(TimestampMicrosecondType),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => $visit!(TimestampNanosecondType),
            DataType::Duration(TimeUnit::Second) => $visit!(DurationSecondType),
            DataType::Duration(TimeUnit::Millisecond) => $visit!(DurationMillisecondType),
            DataType::Duration(TimeUnit::Microsecond) => $visit!(DurationMicrosecondType),
            DataType::Duration(TimeUnit::Nanosecond) => $visit!(DurationNanosecondType),
            DataType::Decimal32(_, _) => $visit!(Decimal32Type),
            DataType::Decimal64(_, _) => $visit!(Decimal64Type),
            DataType::Decimal128(_, _) => $visit!(Decimal128Type),
            DataType::Decimal256(_, _) => $visit!(Decimal256Type),
            _ => $other,
        }
    };
}

fn accepted_keys(keys: &Ranges<i256>, array: &ArrayRef) -> Result<BooleanBuffer> {
    if let DataType::Boolean = array.data_type() {
        let is_accepted = |value: bool| {
            let number = i256::from_i128(value.into());
            keys.contains(|key| key.cmp(&number))
        };
        let values = array.as_boolean().values();
        return Ok(match (is_accepted(false), is_accepted(true)) {
            (false, false) => BooleanBuffer::new_unset(values.len()),
            (true, true) => BooleanBuffer::new_set(values.len()),
            (false, true) => values.clone(),
            (true, false) => !values,
        });
    }
    if let DataType::Float16 = array.data_type() {
        let values = array.as_primitive::<Float16Type>().values();
        let wide: Vec<_> = values.iter().map(|value| value.to_f32()).collect();
        return Ok(numbers(keys, &wide));
    }
    macro_rules! of {
        ($type:ty) => {{
            let array: &PrimitiveArray<$type> = array.as_primitive();
            Ok(numbers(keys, array.values()))
        }};
    }
    with_primitive!(array.data_type(), of, Err(no_layout(array.data_type())))
}

/// Returns a slot's value as a sort key, or `None` if the value is null or its type has no order.
pub(super) fn key_at(array: &ArrayRef, slot: usize) -> Option<Key> {
    if array.is_null(slot) {
        return None;
    }
    macro_rules! wide {
        ($type:ty) => {{
            let array: &PrimitiveArray<$type> = array.as_primitive();
            Wide::wide(array.value(slot).key())
        }};
    }
    let bytes = match array.data_type() {
        DataType::Boolean => {
            return Some(Key::Number(i256::from_i128(
                array.as_boolean().value(slot).into(),
            )));
        }
        DataType::Float16 => {
            let value = array.as_primitive::<Float16Type>().value(slot);
            return Some(Key::Number(float_key(value.to_f64()).wide()));
        }
        DataType::Utf8 => array.as_string::<i32>().value(slot).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(slot).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(slot).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(slot),
        DataType::LargeBinary => array.as_binary::<i64>().value(slot),
        DataType::BinaryView => array.as_binary_view().value(slot),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(slot),
        other => {
            let key = with_primitive!(other, wide, return None);
            return Some(Key::Number(key));
        }
    };
    Some(Key::Bytes(bytes.to_vec()))
}

/// Keys that can be widened to 256 bits.
trait Wide {
    fn wide(self) -> i256;
}

macro_rules! wide {
    ($($type:ty)*) => { $(
        impl Wide for $type {
            fn wide(self) -> i256 {
                i256::from_i128(i128::from(self))
            }
        }
    )* };
}

wide! { i8 i16 i32 i64 i128 u8 u16 u32 u64 }

impl Wide for i256 {
    fn wide(self) -> i256 {
        self
    }
}

#[cold]
fn no_layout(data_type: &DataType) -> Error {
    Error::unsupported(format!("a filter on values of type {data_type}"))
}
