//! Ranges of sort keys.

/// Widens a range to include another one.
pub(super) fn widen<T: Copy + Ord>(range: &mut Option<(T, T)>, (min, max): (T, T)) {
    *range = Some(match *range {
        Some((least, greatest)) => (least.min(min), greatest.max(max)),
        None => (min, max),
    });
}
