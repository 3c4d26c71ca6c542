//! A read's losses and work, summed over its files.

use herringbone::filter::ReadMetrics;
use herringbone::{Losses, Reader};
use herringbone_remote::RecordBatchStream;

/// The losses and the work of some files.
#[derive(Debug, Default)]
pub struct Progress {
    /// The data lost to damage, if the options tolerate it.
    pub losses: Losses,
    /// The counts of the read.
    pub metrics: ReadMetrics,
}

impl Progress {
    /// Takes a reader's losses since the last call, returning them with all work on its file so
    /// far.
    pub(crate) fn of_reader(path: &str, reader: &mut Reader) -> Self {
        Self::new(path, reader.take_losses(), reader.metrics())
    }

    /// Takes a stream's losses since the last call, returning them with all work on its file so
    /// far.
    pub(crate) fn of_stream(path: &str, stream: &mut RecordBatchStream) -> Self {
        Self::new(path, stream.take_losses(), stream.metrics())
    }

    fn new(path: &str, losses: Losses, metrics: ReadMetrics) -> Self {
        Self {
            losses: losses.map_errors(|error| error.in_file(path)),
            metrics,
        }
    }
}
