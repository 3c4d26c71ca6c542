//! A way to end a write before all of its rows are written.

use std::fmt::Debug;

use herringbone_format::Result;

/// A program's way to end a write early, for example for Ctrl-C.
///
/// Pages can take long to compress, so each thread asks before each page. If the level is slow, from 13 on for zstd and
/// from 5 on for Brotli, it also asks between pieces of 128 KiB. The thread that writes asks every 50 milliseconds,
/// too, while it waits for others.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use herringbone_write::{Interrupt, WriteOptions};
///
/// #[derive(Debug, Default)]
/// struct Stop(AtomicBool);
///
/// impl Interrupt for Stop {
///     fn check(&self) -> herringbone_format::Result<()> {
///         match self.0.load(Ordering::Relaxed) {
///             true => Err(std::io::Error::other("the user stopped the write").into()),
///             false => Ok(()),
///         }
///     }
/// }
///
/// let stop = Arc::new(Stop::default());
/// let options = WriteOptions::new().interrupt(stop.clone());
/// // Any thread may end the write.
/// stop.0.store(true, Ordering::Relaxed);
/// # assert!(options.interrupt.is_some_and(|it| it.check().is_err()));
/// ```
pub trait Interrupt: Debug + Send + Sync {
    /// Fails if the write should end. After an error, all later calls fail as well.
    ///
    /// # Errors
    /// Returns the error with which the write ends.
    fn check(&self) -> Result<()>;
}
