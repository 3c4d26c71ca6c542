//! One view, without branches.

/// The longest value that a view holds itself.
pub(super) const INLINE: usize = 12;

/// For each length up to 12 the bits of a view that are length and value; for longer ones (at 13)
/// those that are length and first four bytes.
static MASKS: [u128; INLINE + 2] = masks();

const fn masks() -> [u128; INLINE + 2] {
    let mut masks = [0; INLINE + 2];
    let mut length = 0;
    while length <= INLINE {
        masks[length] = u128::MAX >> (96 - 8 * length);
        length += 1;
    }
    masks[INLINE + 1] = u64::MAX as u128;
    masks
}

/// The view of a value of `length` bytes that lies at `position` of buffer `buffer`.
///
/// `raw` is the length and behind it the next 12 bytes from the value's start on, whatever they are.
#[inline(always)]
pub(super) fn view(raw: u128, length: u32, buffer: u32, position: u32) -> u128 {
    let inline = raw & MASKS[(length as usize).min(INLINE + 1)];
    let place = (u128::from(buffer) | u128::from(position) << 32) << 64;
    // Both are computed and one is chosen: lengths around 12 would defeat a branch.
    inline | if is_long(length) { place } else { 0 }
}

/// Whether a value of `length` bytes does not fit into its view.
#[inline(always)]
pub(super) const fn is_long(length: u32) -> bool {
    length as usize > INLINE
}

/// The view of `value`, which lies at `position` of buffer `buffer`.
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
