//! Options for handling damage.

use clap::{Args, ValueEnum};
use herringbone::{OnError, ReadOptions};

/// The options of commands that read rows.
#[derive(Debug, Args)]
pub(crate) struct Damage {
    /// On damaged data: `fail`, `skip` the row group, or fill in `null`. Losses are reported on standard error and
    /// the exit code is 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Reaction::Fail)]
    on_error: Reaction,
}

impl Damage {
    /// Returns true if anything but the default was chosen.
    pub(crate) fn is_given(&self) -> bool {
        self.on_error != Reaction::Fail
    }

    /// Applies this choice to the options.
    pub(crate) fn choose(&self, options: ReadOptions) -> ReadOptions {
        options.on_error(match self.on_error {
            Reaction::Fail => OnError::Fail,
            Reaction::Skip => OnError::SkipRowGroup,
            Reaction::Null => OnError::NullPage,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reaction {
    /// Fail with an error
    Fail,
    /// Skip the rest of the row group
    Skip,
    /// Return nulls for a page with a wrong checksum, without its dictionary, or that cannot be decompressed,
    /// if the column itself may be null and is not in a list; otherwise as `skip`
    Null,
}
