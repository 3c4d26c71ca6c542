//! Bounds of a page's or column chunk's values, with one kind of accumulator per order.

use super::EncodedBounds;
use super::bytes::{ByteOrder, ByteRange};
use super::float::{FloatRange, Width};
use super::range::widen;
use super::truncate;
use herringbone_arrow::buffer::bit_chunk_iterator::UnalignedBitChunk;
use herringbone_format::Type;
use herringbone_kernels::min_max;
use herringbone_schema::ColumnOrderKind;

/// An accumulator for the minimum and maximum of values. Used for the statistics of pages and column chunks.
///
/// You must pass values of the column's physical type, because other values are ignored.
///
/// ```
/// use herringbone_core::statistics::BoundsBuilder;
/// use herringbone_format::Type;
/// use herringbone_schema::ColumnOrderKind;
///
/// let mut bounds = BoundsBuilder::new(ColumnOrderKind::Signed, Type::Int32);
/// bounds.i32(&[3, -1, 2]);
/// let encoded = bounds.finish(false);
/// assert_eq!(encoded.min, Some((-1_i32).to_le_bytes().to_vec()));
/// assert_eq!(encoded.max, Some(3_i32.to_le_bytes().to_vec()));
/// ```
#[derive(Debug, Clone)]
pub struct BoundsBuilder {
    physical: Type,
    range: Range,
}

/// The bounds so far, in a type suited to comparison.
#[derive(Debug, Clone)]
enum Range {
    /// The column has no order.
    None,
    Signed(Option<(i64, i64)>),
    Unsigned(Option<(u64, u64)>),
    Float(FloatRange),
    Bytes(ByteRange),
}

impl BoundsBuilder {
    /// Creates a builder without values, for a column of this type and order. An order that doesn't apply to the
    /// physical type counts as undefined.
    #[must_use]
    pub fn new(order: ColumnOrderKind, physical: Type) -> Self {
        use ColumnOrderKind::{
            Float, Float16, Int96, Signed, SignedBytes, Unsigned, UnsignedBytes,
        };
        let bytes = |order| Range::Bytes(ByteRange::new(order));
        let float = |width| Range::Float(FloatRange::new(width));
        let range = match (order, physical) {
            (Signed | Unsigned, Type::Boolean) => Range::Unsigned(None),
            (Signed, Type::Int32 | Type::Int64) => Range::Signed(None),
            (Unsigned, Type::Int32 | Type::Int64) => Range::Unsigned(None),
            (Float, Type::Float) => float(Width::Single),
            (Float, Type::Double) => float(Width::Double),
            (Float16, Type::FixedLenByteArray) => float(Width::Half),
            (Int96, Type::Int96) => bytes(ByteOrder::Int96),
            (UnsignedBytes, Type::ByteArray | Type::FixedLenByteArray) => {
                bytes(ByteOrder::Unsigned)
            }
            (SignedBytes, Type::ByteArray | Type::FixedLenByteArray) => bytes(ByteOrder::Signed),
            _ => Range::None,
        };
        Self { physical, range }
    }

    /// Makes [`finish`](Self::finish) shorten bounds to at most `length` bytes where possible. The builder then only
    /// retains as many bytes of long values as it needs for that.
    ///
    /// Only bounds of BYTE_ARRAY in unsigned order can be shortened. Fixed-length bounds stay whole, because a shorter
    /// value isn't valid for the type, and so do decimals, because shorter ones are different numbers. A maximum also
    /// stays whole if it only consists of the greatest byte or character, because no shorter value is greater.
    #[must_use]
    pub fn shortened(mut self, length: usize) -> Self {
        if let Range::Bytes(range) = &mut self.range
            && self.physical == Type::ByteArray
            && range.order() == ByteOrder::Unsigned
        {
            range.shorten(length);
        }
        self
    }

    /// Returns the number of bytes held by the builder.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.range {
            Range::Bytes(range) => range.heap_bytes(),
            Range::None | Range::Signed(_) | Range::Unsigned(_) | Range::Float(_) => 0,
        }
    }

    /// Adds values of a BOOLEAN column. They're the bits from `first` to `first + n`, least significant bit first.
    pub fn bits(&mut self, bits: &[u8], first: usize, n: usize) {
        if let Range::Unsigned(range) = &mut self.range
            && n > 0
        {
            let ones = UnalignedBitChunk::new(bits, first, n).count_ones();
            widen(range, (u64::from(ones == n), u64::from(ones > 0)));
        }
    }

    /// Adds values of an INT32 column.
    pub fn i32(&mut self, values: &[i32]) {
        match &mut self.range {
            Range::Signed(range) => {
                if let Some((min, max)) = min_max::min_max_i32(values) {
                    widen(range, (min.into(), max.into()));
                }
            }
            Range::Unsigned(range) => {
                if let Some((min, max)) = min_max::min_max_i32_unsigned(values) {
                    widen(range, (min.into(), max.into()));
                }
            }
            _ => {}
        }
    }

    /// Adds values of an INT64 column.
    pub fn i64(&mut self, values: &[i64]) {
        match &mut self.range {
            Range::Signed(range) => {
                if let Some(found) = min_max::min_max_i64(values) {
                    widen(range, found);
                }
            }
            Range::Unsigned(range) => {
                if let Some(found) = min_max::min_max_i64_unsigned(values) {
                    widen(range, found);
                }
            }
            _ => {}
        }
    }

    /// Adds values of a FLOAT column.
    pub fn f32(&mut self, values: &[f32]) {
        if let Range::Float(range) = &mut self.range {
            range.singles(values);
        }
    }

    /// Adds values of a DOUBLE column.
    pub fn f64(&mut self, values: &[f64]) {
        if let Range::Float(range) = &mut self.range {
            range.doubles(values);
        }
    }

    /// Adds values of a FIXED_LEN_BYTE_ARRAY or INT96 column. Each value has `width` bytes.
    pub fn fixed(&mut self, bytes: &[u8], width: usize) {
        match &mut self.range {
            Range::Float(range) => range.halves(bytes),
            Range::Bytes(range) => range.fixed(bytes, width),
            _ => {}
        }
    }

    /// Adds one value of a BYTE_ARRAY column.
    pub fn bytes(&mut self, value: &[u8]) {
        self.byte_arrays([value]);
    }

    /// Adds values of a BYTE_ARRAY column. This copies at most two of the values.
    pub fn byte_arrays<'a>(&mut self, values: impl IntoIterator<Item = &'a [u8]>) {
        if let Range::Bytes(range) = &mut self.range {
            range.arrays(values);
        }
    }

    /// Adds the values that another builder for this column has seen.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.range, &other.range) {
            (Range::Signed(range), Range::Signed(Some(other))) => widen(range, *other),
            (Range::Unsigned(range), Range::Unsigned(Some(other))) => widen(range, *other),
            (Range::Float(range), Range::Float(other)) => range.merge(other),
            (Range::Bytes(range), Range::Bytes(other)) => range.merge(other),
            _ => {}
        }
    }

    /// Returns the number of NaNs, or `None` if the values are not floating-point numbers.
    #[must_use]
    pub fn nan_count(&self) -> Option<i64> {
        match &self.range {
            Range::Float(range) => Some(range.nan_count()),
            _ => None,
        }
    }

    /// Returns the bounds in their file format.
    ///
    /// With `ieee_order`, floating-point numbers get the bounds defined by `IEEE_754_TOTAL_ORDER`. Under that order, an
    /// all-NaN column is bounded by its least and greatest NaN. Otherwise, floating-point numbers get the bounds
    /// defined by `TYPE_ORDER`. Such a bound is never a NaN, and a zero's sign is chosen to include both zeros.
    #[must_use]
    pub fn finish(&self, ieee_order: bool) -> EncodedBounds {
        let encoded = match &self.range {
            Range::None => None,
            Range::Signed(range) => range.map(|range| self.integers(range.0, range.1)),
            Range::Unsigned(range) => {
                range.map(|(min, max)| self.integers(min.cast_signed(), max.cast_signed()))
            }
            Range::Float(range) => range.encode(ieee_order),
            Range::Bytes(range) => match (range.bounds(), range.length()) {
                (Some((min, max)), Some(length)) => return shortened(min, max, length),
                (bounds, _) => bounds.map(|(min, max)| (min.to_vec(), max.to_vec())),
            },
        };
        let known = encoded.is_some();
        let (min, max) = encoded.unzip();
        EncodedBounds {
            min,
            max,
            min_exact: known,
            max_exact: known,
            nan_count: self.nan_count(),
        }
    }

    /// Encodes integers in the physical type's width.
    fn integers(&self, min: i64, max: i64) -> (Vec<u8>, Vec<u8>) {
        let width = match self.physical {
            Type::Boolean => 1,
            Type::Int32 => 4,
            _ => 8,
        };
        // The value was read from this width, so it fits and the high bytes only repeat the sign.
        let encode = |value: i64| value.to_le_bytes().into_iter().take(width).collect();
        (encode(min), encode(max))
    }
}

/// Returns the bounds of byte arrays, shortened to at most `length` bytes if possible.
fn shortened(min: &[u8], max: &[u8], length: usize) -> EncodedBounds {
    let raised = truncate::max(max, length);
    EncodedBounds {
        min_exact: min.len() <= length,
        min: Some(truncate::min(min, length)),
        max_exact: raised.is_none(),
        max: Some(raised.unwrap_or_else(|| max.to_vec())),
        nan_count: None,
    }
}
