//! A way to end a write early.

use std::fmt::Debug;

use herringbone_format::Result;

/// A program's way to end a write early, for example for Ctrl-C.
///
/// Pages can take long to compress, so each thread asks before each page. At slow levels (from 13 for zstd and from 5
/// for Brotli), it also asks between 128 KiB pieces. The writing thread asks every 50 milliseconds as well while it is
/// waiting for others.
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
    /// Fails if the write should end. After an error, all later calls must fail as well.
    ///
    /// # Errors
    /// Returns the error to end the write with.
    fn check(&self) -> Result<()>;
}
