//! The bounds of byte arrays.

use std::cmp::Ordering;

use herringbone_kernels::range_compare::first_of;

use super::truncate;

/// The order of byte arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    /// The unsigned order of bytes. A prefix sorts before any longer value.
    Unsigned,
    /// The order of big-endian integers in two's complement, of any length.
    Signed,
    /// The order of timestamps. This compares days (the last four bytes) first and nanoseconds (the first eight)
    /// second. Both are little-endian and signed.
    Int96,
}

impl ByteOrder {
    pub(super) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Unsigned => a.cmp(b),
            Self::Signed => compare_signed(a, b),
            Self::Int96 => timestamp(a).cmp(&timestamp(b)),
        }
    }
}

/// Compares big-endian integers in two's complement. An empty array is the number 0.
fn compare_signed(a: &[u8], b: &[u8]) -> Ordering {
    let negative = |bytes: &[u8]| bytes.first().is_some_and(|byte| *byte >= 0x80);
    match (negative(a), negative(b)) {
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        _ => {}
    }
    // We strip leading bytes that only repeat the sign before comparing. Of the remaining numbers, the longer one is
    // further from zero.
    let sign = if negative(a) { 0xff } else { 0 };
    let digits = |bytes: &[u8]| bytes.iter().skip_while(|byte| **byte == sign).count();
    let (digits_a, digits_b) = (digits(a), digits(b));
    match digits_a.cmp(&digits_b) {
        Ordering::Equal => a[a.len() - digits_a..].cmp(&b[b.len() - digits_b..]),
        further if sign == 0 => further,
        further => further.reverse(),
    }
}

/// Returns an INT96's day and its nanosecond of the day. Missing bytes count as zeros.
fn timestamp(bytes: &[u8]) -> (i32, i64) {
    let nanos = bytes.first_chunk().copied().unwrap_or_default();
    let days = bytes.last_chunk().copied().unwrap_or_default();
    (i32::from_le_bytes(days), i64::from_le_bytes(nanos))
}

/// The bounds of the byte arrays so far.
#[derive(Debug, Clone)]
pub(super) struct ByteRange {
    order: ByteOrder,
    bounds: Option<(Vec<u8>, Vec<u8>)>,
    /// The target length in bytes for shortened bounds, if allowed.
    length: Option<usize>,
}

impl ByteRange {
    /// Returns the number of bytes held by the bounds.
    pub(super) fn heap_bytes(&self) -> usize {
        let bounds = self.bounds.as_ref();
        bounds.map_or(0, |(min, max)| min.capacity() + max.capacity())
    }

    pub(super) fn new(order: ByteOrder) -> Self {
        Self {
            order,
            bounds: None,
            length: None,
        }
    }

    /// Limits retained values to the bytes needed for bounds of `length` bytes. This only applies to values added
    /// later.
    pub(super) fn shorten(&mut self, length: usize) {
        self.length = Some(length);
    }

    /// Returns the target length in bytes for shortened bounds, if allowed.
    pub(super) fn length(&self) -> Option<usize> {
        self.length
    }

    pub(super) fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the minimum and the maximum.
    pub(super) fn bounds(&self) -> Option<(&[u8], &[u8])> {
        let (min, max) = self.bounds.as_ref()?;
        Some((min, max))
    }

    /// Adds values of `width` bytes each.
    pub(super) fn fixed(&mut self, bytes: &[u8], width: usize) {
        if width == 0 {
            return;
        }
        let values = bytes.chunks_exact(width);
        match self.order {
            // We compare decimals as numbers, because their first bytes are usually equal.
            ByteOrder::Signed if width <= size_of::<i128>() => {
                if let Some(found) = extremes_as_numbers(bytes, width) {
                    let [min, max] = found.map(i128::to_be_bytes);
                    self.widen(min.get(..width).zip(max.get(..width)));
                }
            }
            // Signed values of equal length compare like unsigned ones whose sign bit is flipped.
            ByteOrder::Signed => self.widen(extremes_by_prefix(values, 1 << 63)),
            ByteOrder::Unsigned => self.widen(extremes_by_prefix(values, 0)),
            ByteOrder::Int96 => self.widen(self.extremes(values)),
        }
    }

    /// Adds values of any length.
    pub(super) fn arrays<'a>(&mut self, values: impl IntoIterator<Item = &'a [u8]>) {
        let values = values.into_iter();
        let found = match self.order {
            ByteOrder::Unsigned => extremes_by_prefix(values, 0),
            ByteOrder::Signed | ByteOrder::Int96 => self.extremes(values),
        };
        self.widen(found);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.widen(other.bounds());
    }

    fn extremes<'a>(
        &self,
        mut values: impl Iterator<Item = &'a [u8]>,
    ) -> Option<(&'a [u8], &'a [u8])> {
        let first = values.next()?;
        Some(values.fold((first, first), |(min, max), value| {
            if self.order.compare(value, min).is_lt() {
                (value, max)
            } else if self.order.compare(value, max).is_gt() {
                (min, value)
            } else {
                (min, max)
            }
        }))
    }

    /// Widens the bounds to include another range. We copy a bound only if it changes.
    fn widen(&mut self, found: Option<(&[u8], &[u8])>) {
        let Some((min, max)) = found else { return };
        let length = self.length;
        let Some((least, greatest)) = &mut self.bounds else {
            let (min, max) = (needed(min, length), needed_of_max(max, length));
            self.bounds = Some((min.to_vec(), max.to_vec()));
            return;
        };
        if self.order.compare(min, least).is_lt() {
            least.clear();
            least.extend_from_slice(needed(min, length));
        }
        if self.order.compare(max, greatest).is_gt() {
            greatest.clear();
            greatest.extend_from_slice(needed_of_max(max, length));
        }
    }
}

/// Returns the prefix of a minimum needed for a bound of `length` bytes, that is, `length + 1` bytes or the whole value
/// if it's shorter. Values with equal prefixes have equal bounds.
fn needed(value: &[u8], length: Option<usize>) -> &[u8] {
    let needed = length.and_then(|length| value.get(..length.checked_add(1)?));
    needed.unwrap_or(value)
}

/// Returns the prefix of a maximum needed for a bound of `length` bytes, or the whole value if there is no shorter
/// upper bound.
fn needed_of_max(value: &[u8], length: Option<usize>) -> &[u8] {
    match length {
        Some(length) if truncate::max(value, length).is_some() => needed(value, Some(length)),
        _ => value,
    }
}

/// Returns the minimum and maximum of big-endian integers of `width` bytes (1 to 16), as the leading bytes of two
/// numbers. We keep whatever bytes follow, because they only break ties between equal integers.
fn extremes_as_numbers(bytes: &[u8], width: usize) -> Option<[i128; 2]> {
    const BYTES: usize = size_of::<i128>();
    let (mut min, mut max) = (i128::MAX, i128::MIN);
    let mut widen = |bytes: [u8; BYTES]| {
        let number = i128::from_be_bytes(bytes);
        min = min.min(number);
        max = max.max(number);
    };
    let mut rest = bytes;
    // Each load also picks up bytes of the following values, and we mask them out.
    while let Some(bytes) = rest.first_chunk() {
        widen(*bytes);
        rest = rest.get(width..).unwrap_or_default();
    }
    for value in rest.chunks_exact(width) {
        let mut bytes = [0; BYTES];
        bytes.get_mut(..width)?.copy_from_slice(value);
        widen(bytes);
    }
    (bytes.len() >= width).then_some([min, max])
}

/// Returns the minimum and the maximum in byte order, after applying `flip` to the first eight bytes.
///
/// We compare these eight bytes as one number, which usually decides the comparison. The next eight decide most of the
/// rest. You may only pass a nonzero `flip` if all values have the same length.
fn extremes_by_prefix<'a>(
    mut values: impl Iterator<Item = &'a [u8]>,
    flip: u64,
) -> Option<(&'a [u8], &'a [u8])> {
    let prefixed = |value: &'a [u8]| (first_of(value) ^ flip, value);
    let first = prefixed(values.next()?);
    let (mut min, mut max) = (first, first);
    let head = |prefix: u64| (prefix >> 56) as u8;
    for value in values {
        // The first byte often decides, regardless of length, so we look at it before anything else.
        let first = value.first().copied().unwrap_or(0) ^ head(flip);
        if head(min.0) < first && first < head(max.0) {
            continue;
        }
        let value = prefixed(value);
        // Equal prefixes have equal sign bits, so the rest of the comparison doesn't depend on `flip`.
        if is_less(value, min) {
            min = value;
        } else if is_less(max, value) {
            max = value;
        }
    }
    Some((min.1, max.1))
}

/// Returns true if `one` is less than `other`, each given as its prefix and whole value.
#[inline(always)]
fn is_less(one: (u64, &[u8]), other: (u64, &[u8])) -> bool {
    if one.0 != other.0 {
        return one.0 < other.0;
    }
    match (second(one.1), second(other.1)) {
        (second, of_other) if second != of_other => second < of_other,
        _ => one.1 < other.1,
    }
}

/// Returns bytes 8 to 15 as a number, like [`first_of`] for bytes 0 to 7.
#[inline(always)]
fn second(value: &[u8]) -> u64 {
    if let Some((_, rest)) = value.split_first_chunk::<8>() {
        if let Some(second) = rest.first_chunk() {
            return u64::from_be_bytes(*second);
        }
        if let Some(last) = value.last_chunk() {
            // The load overlaps the first eight bytes, so we shift those out.
            let missing = 8 * (8 - rest.len() as u32);
            return u64::from_be_bytes(*last).checked_shl(missing).unwrap_or(0);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values of up to 20 bytes, many with long common prefixes.
    fn texts() -> Vec<Vec<u8>> {
        let mut state = 7_u32;
        let mut next = move |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        let mut text = || {
            let length = next(21);
            let mut text: Vec<u8> = (0..length)
                .map(|_| [0, b'a', 0xff][next(3) as usize])
                .collect();
            let same = next(21) as usize;
            text.iter_mut().take(same).for_each(|byte| *byte = b'a');
            text
        };
        (0..600).map(|_| text()).collect()
    }

    #[test]
    fn bounds_of_two_are_what_comparing_them_says() {
        let texts = texts();
        for (one, other) in texts.iter().zip(texts.iter().skip(1)) {
            for (one, other) in [(one, other), (other, one), (one, one)] {
                let mut range = ByteRange::new(ByteOrder::Unsigned);
                range.arrays([one.as_slice(), other]);
                let bounds = (one.min(other).as_slice(), one.max(other).as_slice());
                assert_eq!(range.bounds(), Some(bounds));
            }
        }
    }

    #[test]
    fn bounds_of_many_are_the_first_and_the_last_when_sorted() {
        let mut texts = texts();
        let mut range = ByteRange::new(ByteOrder::Unsigned);
        range.arrays(texts.iter().map(Vec::as_slice));
        texts.sort();
        let (min, max) = (texts[0].as_slice(), texts[texts.len() - 1].as_slice());
        assert_eq!(range.bounds(), Some((min, max)));
    }
    #[test]
    fn bounds_of_equally_long_ones_are_what_comparing_them_says() {
        for order in [ByteOrder::Unsigned, ByteOrder::Signed] {
            for width in 1..=20 {
                let mut all = texts();
                all.iter_mut().for_each(|text| text.resize(width, 0x80));
                for len in [0, 1, 2, 3, 20, 600] {
                    let values = &all[600 - len..];
                    let mut range = ByteRange::new(order);
                    range.fixed(&values.concat(), width);
                    let compare = |a: &&[u8], b: &&[u8]| order.compare(a, b);
                    let min = values.iter().map(Vec::as_slice).min_by(compare);
                    let max = values.iter().map(Vec::as_slice).max_by(compare);
                    assert_eq!(range.bounds(), min.zip(max), "{order:?} {width} {len}");
                }
            }
        }
    }
}
