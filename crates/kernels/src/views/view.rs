//! Constructs one view, without branches.

/// The length in bytes of the longest value that fits into a view.
pub(super) const INLINE: usize = 12;

/// The bits of a view that we copy from its sources.
#[repr(align(32))]
struct Mask {
    /// The length and value, or the length and the first four bytes.
    inline: u128,
    /// The buffer and position, in the upper half of the view.
    place: u64,
}

/// The masks for each length up to 12. The last one, at index 13, is for longer values.
static MASKS: [Mask; INLINE + 2] = masks();

const fn masks() -> [Mask; INLINE + 2] {
    const LONG: Mask = Mask {
        inline: u64::MAX as u128,
        place: u64::MAX,
    };
    let mut masks = [LONG; INLINE + 2];
    let mut length = 0;
    while length <= INLINE {
        masks[length] = Mask {
            inline: u128::MAX >> (96 - 8 * length),
            place: 0,
        };
        length += 1;
    }
    masks
}

/// Returns the view of a value with `length` bytes that lies at `position` of buffer `buffer`.
///
/// `raw` is the length, followed by any 12 bytes that lie at the value's start and after it. Masks select between the
/// two kinds of views, because a branch would be unpredictable for lengths around 12.
#[inline(always)]
pub(super) fn view(raw: u128, length: u32, buffer: u32, position: u32) -> u128 {
    let mask = &MASKS[(length as usize).min(INLINE + 1)];
    let place = (u64::from(buffer) | u64::from(position) << 32) & mask.place;
    raw & mask.inline | u128::from(place) << 64
}

/// Returns true if one of `views` does not contain its value. `lengths` is the bitwise or of all views' lengths.
#[inline]
pub(super) fn any_is_long(views: &[u128], lengths: u32) -> bool {
    // A bitwise or of short lengths may be 13, 14 or 15, so we must look at the views then.
    lengths > 15 || is_long(lengths) && views.iter().any(|view| is_long(*view as u32))
}

/// Returns true if a value of `length` bytes does not fit into its view.
#[inline(always)]
pub(super) const fn is_long(length: u32) -> bool {
    length as usize > INLINE
}

/// Returns the view of `value`, which lies at `position` of buffer `buffer`.
pub(super) fn view_of(value: &[u8], buffer: u32, position: u32) -> u128 {
    let length = value.len() as u32;
    let mut raw = [0; 16];
    let (prefix, rest) = raw.split_at_mut(4);
    prefix.copy_from_slice(&length.to_le_bytes());
    for (to, from) in rest.iter_mut().zip(value) {
        *to = *from;
    }
    view(u128::from_le_bytes(raw), length, buffer, position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_arrow::array::builder::make_view;

    #[test]
    fn views_are_as_arrow_makes_them() {
        let text: Vec<u8> = (1..=40).collect();
        for length in 0..text.len() {
            let expected = make_view(&text[..length], 3, 9);
            assert_eq!(view_of(&text[..length], 3, 9), expected);
            let mut raw = [0xEE; 16];
            raw[..4].copy_from_slice(&(length as u32).to_le_bytes());
            raw[4..].copy_from_slice(&text[..12]);
            let made = view(u128::from_le_bytes(raw), length as u32, 3, 9);
            if length < 12 {
                assert_eq!(made, expected, "{length}");
            }
        }
    }
}
