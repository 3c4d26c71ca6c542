//! The step results of a state machine without I/O.

use std::ops::Range;

/// The outcome of a step of a decoder: a result, or the byte range of the file that it needs first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// The result of the step.
    Ready(T),
    /// The missing range. No progress is lost: call again once the range has been supplied.
    Need(Range<u64>),
}
