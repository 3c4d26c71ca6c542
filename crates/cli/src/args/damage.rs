//! The options that decide how commands treat damaged data.

use clap::{Args, ValueEnum};
use herringbone::{OnError, ReadOptions};

/// The options of commands that read rows.
#[derive(Debug, Args)]
pub(crate) struct Damage {
    /// On damaged data and bad rows of text: `fail`, `skip` the row group or the row, or fill in `null`. Losses are reported
    /// on standard error and the exit code is 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Reaction::Fail)]
    on_error: Reaction,
}

impl Damage {
    /// Returns true if unreadable text values become null, false if their rows are left out, or
    /// `None` if they are errors.
    pub(crate) fn makes_nulls(&self) -> Option<bool> {
        match self.on_error {
            Reaction::Fail => None,
            Reaction::Skip => Some(false),
            Reaction::Null => Some(true),
        }
    }

    /// Applies the user's choice to the options for reading.
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
