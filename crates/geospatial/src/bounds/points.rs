//! Bounds many points at once, for columns of points.

use super::interval::Interval;
use crate::wkb::{Dimensions, GeometryKind, GeometryType};

/// The byte count of the byte order and the code.
const HEADER: usize = 5;

/// Returns the common type of `values`, and the bounds of their x, y, z and m. All values must be
/// little-endian ISO points with the same dimensions, or this returns `None`.
pub(super) fn bounds_of_points(values: &[&[u8]]) -> Option<(GeometryType, [Interval; 4])> {
    const NONE: Interval = Interval::EMPTY;
    let (header, _) = values.first()?.split_first_chunk::<HEADER>()?;
    let [1, code @ ..] = header else { return None };
    let geometry_type = GeometryType::from_code(u32::from_le_bytes(*code))?;
    if geometry_type.kind != GeometryKind::Point {
        return None;
    }
    let bounds = match geometry_type.dimensions {
        Dimensions::Xy => {
            let [x, y] = bounds::<21, 2>(values, header)?;
            [x, y, NONE, NONE]
        }
        Dimensions::Xyz => {
            let [x, y, z] = bounds::<29, 3>(values, header)?;
            [x, y, z, NONE]
        }
        Dimensions::Xym => {
            let [x, y, m] = bounds::<29, 3>(values, header)?;
            [x, y, NONE, m]
        }
        Dimensions::Xyzm => bounds::<37, 4>(values, header)?,
    };
    Some((geometry_type, bounds))
}

/// Returns the bounds of points with `BYTES` bytes and `N` ordinates. Even and odd points have
/// separate bounds, which halves the dependency chain.
fn bounds<const BYTES: usize, const N: usize>(
    values: &[&[u8]],
    header: &[u8; HEADER],
) -> Option<[Interval; N]> {
    let (mut even, mut odd) = ([Interval::EMPTY; N], [Interval::EMPTY; N]);
    let (pairs, last) = values.as_chunks::<2>();
    for [first, second] in pairs {
        add::<BYTES, N>(first, header, &mut even)?;
        add::<BYTES, N>(second, header, &mut odd)?;
    }
    if let [last] = last {
        add::<BYTES, N>(last, header, &mut even)?;
    }
    for (all, odd) in even.iter_mut().zip(odd) {
        all.merge(odd);
    }
    Some(even)
}

#[inline(always)]
fn add<const BYTES: usize, const N: usize>(
    value: &[u8],
    header: &[u8; HEADER],
    bounds: &mut [Interval; N],
) -> Option<()> {
    let value: &[u8; BYTES] = value.try_into().ok()?;
    let (start, ordinates) = value.split_first_chunk::<HEADER>()?;
    let (ordinates, _) = ordinates.as_chunks::<8>();
    for (bounds, bytes) in bounds.iter_mut().zip(ordinates) {
        bounds.add(f64::from_le_bytes(*bytes));
    }
    (start == header).then_some(())
}

/// Returns a point's x. The point must have been accepted by [`bounds_of_points`].
#[inline]
pub(super) fn x_of(value: &[u8]) -> f64 {
    let x = value.get(HEADER..).and_then(<[u8]>::first_chunk);
    x.map_or(f64::NAN, |x| f64::from_le_bytes(*x))
}
