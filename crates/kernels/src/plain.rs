//! Reads PLAIN, which stores fixed-width values back to back, little endian, just as Arrow does.
//!
//! An incomplete value at the end of the bytes is ignored.

/// A number type without padding, for which every bit pattern is a value.
///
/// # Safety
///
/// This may be implemented only for types that have neither padding nor invalid bit patterns.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty)*) => {$(
        // SAFETY: a primitive number has no padding and no invalid bit pattern.
        unsafe impl Plain for $type {}
    )*};
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 i128);

/// Appends the values in `bytes`, which may have any alignment.
pub fn extend<T: Plain>(bytes: &[u8], out: &mut Vec<T>) {
    let n = bytes.len() / size_of::<T>();
    out.reserve(n);
    let len = out.len();
    let values = bytes.get(..n * size_of::<T>()).unwrap_or_default();
    let spare = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    // SAFETY: `n` values were reserved after `len`, which have the size of `values`. The two cannot overlap,
    // because `out` is mutably borrowed.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), spare, values.len()) };
    // SAFETY: any bytes are a valid `T: Plain`.
    unsafe { out.set_len(len + n) };
}

/// Returns the values in `bytes` without copying them, or `None` if the bytes are not aligned for `T`.
#[must_use]
pub fn view<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: any bytes are a valid `T: Plain`.
    let (head, values, _) = unsafe { bytes.align_to::<T>() };
    head.is_empty().then_some(values)
}

/// Returns an iterator over the values in `bytes`, which may have any alignment.
#[inline]
pub fn values<T: Plain>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> + Clone {
    // SAFETY: a chunk has the bytes of a `T`, and any bytes are a valid `T: Plain`.
    let value = |chunk: &[u8]| unsafe { chunk.as_ptr().cast::<T>().read_unaligned() };
    bytes.chunks_exact(size_of::<T>()).map(value)
}

/// Returns the first value in `bytes`, which may have any alignment, or `None` if there are too few bytes.
#[inline]
#[must_use]
pub fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    // SAFETY: `bytes` has at least the bytes of a `T`, and any bytes are a valid `T: Plain`.
    (bytes.len() >= size_of::<T>()).then(|| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// Returns the bytes of `values`.
#[must_use]
pub fn bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `T: Plain` has no padding, so each of its bytes is initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_unaligned_values_and_leaves_a_trailing_part() {
        let page = [0xff, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 7, 7];
        let mut out = vec![9];
        extend::<i32>(&page[1..], &mut out);
        assert_eq!(out, [9, 1, -2]);
        extend::<i32>(&[], &mut out);
        assert_eq!(out.len(), 3);
        assert!(values::<i32>(&page[1..]).eq([1, -2]));
        assert_eq!(read::<i32>(&page[1..]), Some(1));
        assert_eq!(read::<i32>(&page[8..]), None);
    }

    #[test]
    fn views_aligned_bytes_only() {
        let values = [1.5f64, -0.0, f64::NAN];
        let all = bytes(&values);
        assert_eq!(view::<f64>(all).map(<[f64]>::len), Some(3));
        assert_eq!(view::<f64>(&all[8..23]).map(<[f64]>::len), Some(1));
        assert!(view::<f64>(&all[1..]).is_none());
        assert_eq!(&all[..8], &1.5f64.to_le_bytes());
    }
}
