//! Step results for state machines without I/O.

use std::ops::Range;

/// The outcome of a decoder step: either a result or the byte range of the file to supply first.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{MetadataHandle, OpenOptions, Step};
///
/// let file = std::fs::read("testdata/example.parquet")?;
/// let length = file.len() as u64;
/// let decode = |start: u64| {
///     let end = file[start as usize..].to_vec().into();
///     MetadataHandle::decode(&end, length, OpenOptions::new())
/// };
/// // The last 8 bytes have the length of the footer, which is then needed, too.
/// let Step::Need(range) = decode(length - 8)? else { return Err("a footer of no bytes".into()) };
/// let Step::Ready(handle) = decode(range.start)? else { return Err("more is needed".into()) };
/// assert_eq!(handle.metadata().num_rows(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// The result of the step.
    Ready(T),
    /// The missing byte range. No progress is lost, so call again once you've supplied the range.
    Need(Range<u64>),
}
