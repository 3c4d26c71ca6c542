//! Decodes one element at a time. The element may be at any position and of any kind.

use super::Position;
use crate::Malformed;

/// Decodes the element at `position`.
pub(super) fn decode(
    input: &[u8],
    output: &mut [u8],
    position: &mut Position,
) -> Result<(), Malformed> {
    let early = Malformed("an element ends early");
    let rest = input.get(position.read..).unwrap_or_default();
    let (&tag, rest) = rest.split_first().ok_or(early)?;
    let upper = usize::from(tag >> 2);
    let trailer = match tag & 3 {
        0 => upper.saturating_sub(59),
        1 => 1,
        2 => 2,
        _ => 4,
    };
    let (bytes, rest) = rest.split_at_checked(trailer).ok_or(early)?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | usize::from(byte));
    position.read += 1 + trailer;
    let free = output.get_mut(position.written..).unwrap_or_default();
    let length = match tag & 3 {
        0 => {
            let length = if trailer == 0 { upper } else { number } + 1;
            let literal = rest.get(..length).ok_or(early)?;
            let target = free.get_mut(..length).ok_or(TOO_LONG)?;
            target.copy_from_slice(literal);
            position.read += length;
            length
        }
        1 => copy(
            output,
            position.written,
            (upper >> 3) << 8 | number,
            4 + (upper & 7),
        )?,
        _ => copy(output, position.written, number, upper + 1)?,
    };
    position.written += length;
    Ok(())
}

const TOO_LONG: Malformed = Malformed("its elements hold more than its size");

/// Copies `length` bytes to `written`, from `offset` bytes before it. If the ranges overlap, bytes repeat.
fn copy(
    output: &mut [u8],
    written: usize,
    offset: usize,
    length: usize,
) -> Result<usize, Malformed> {
    let start = written.checked_sub(offset).filter(|_| offset > 0);
    let start = start.ok_or(super::rounds::BEFORE_THE_START)?;
    let known_and_new = output.get_mut(start..written + length).ok_or(TOO_LONG)?;
    // We first copy one period of the pattern, and then double the known bytes in each step.
    let mut known = offset;
    while known < known_and_new.len() {
        let (from, to) = known_and_new.split_at_mut(known);
        let n = known.min(to.len());
        if let (Some(from), Some(to)) = (from.get(..n), to.get_mut(..n)) {
            to.copy_from_slice(from);
        }
        known += n;
    }
    Ok(length)
}
