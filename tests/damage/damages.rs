//! The kinds of damage to a file.

use std::fmt;

/// One damage to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    /// The byte at `at` is replaced by `value`.
    Byte { at: usize, value: u8 },
    /// The file ends here.
    Cut(usize),
    /// The file starts here.
    CutFront(usize),
    /// A byte is missing, so that all bytes after it have moved.
    Removed(usize),
    /// Four bytes are swapped with the next four.
    Swapped(usize),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte { at, value } => write!(f, "byte {at} set to {value:#04x}"),
            Self::Cut(at) => write!(f, "cut to {at} bytes"),
            Self::CutFront(at) => write!(f, "{at} bytes off the front"),
            Self::Removed(at) => write!(f, "byte {at} removed"),
            Self::Swapped(at) => write!(f, "the words at {at} and {} swapped", at + 4),
        }
    }
}

/// Calls `visit` with every damage at each `step`-th byte from `start` on.
pub(crate) fn each(bytes: &[u8], start: usize, step: usize, visit: &mut dyn FnMut(Damage, &[u8])) {
    let mut copy = bytes.to_vec();
    for at in (start..bytes.len()).step_by(step) {
        let byte = bytes[at];
        let mut values = vec![0x00, 0xff, byte.wrapping_add(1), byte.wrapping_sub(1)];
        values.extend((0..8).map(|bit| byte ^ (1 << bit)));
        values.sort_unstable();
        values.dedup();
        for value in values.into_iter().filter(|value| *value != byte) {
            copy[at] = value;
            visit(Damage::Byte { at, value }, &copy);
        }
        copy[at] = byte;
        visit(Damage::Cut(at), &bytes[..at]);
        visit(Damage::CutFront(at + 1), &bytes[at + 1..]);
        visit(
            Damage::Removed(at),
            &[&bytes[..at], &bytes[at + 1..]].concat(),
        );
        // This swaps words at multiples of four from the start of the file, and others.
        if at + 8 <= bytes.len() && bytes[at..at + 4] != bytes[at + 4..at + 8] {
            copy[at..at + 8].rotate_left(4);
            visit(Damage::Swapped(at), &copy);
            copy[at..at + 8].rotate_left(4);
        }
    }
}
