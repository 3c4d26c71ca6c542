//! Options for reading columns as they are stored.

use clap::Args;
use herringbone::SchemaOptions;

use super::Columns;

/// The annotations to ignore.
#[derive(Debug, Args)]
pub(super) struct Annotations {
    /// Columns to read as they are stored, and maps to read as lists of structs, e.g. if an interval
    /// is too long or a key is null
    #[arg(long, value_name = "LIST")]
    ignore_annotations: Option<Columns>,
}

impl Annotations {
    pub(super) fn choose(&self, options: &mut SchemaOptions) {
        if let Some(columns) = &self.ignore_annotations {
            options.ignore_annotations = columns.paths.clone();
        }
    }
}
