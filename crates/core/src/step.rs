//! What a state machine without I/O answers.

use std::ops::Range;

/// What a step of a decoder came to: a result, or the byte range of the file that it must have first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// The step is done.
    Ready(T),
    /// Nothing was lost: call again when this range has been supplied.
    Need(Range<u64>),
}
