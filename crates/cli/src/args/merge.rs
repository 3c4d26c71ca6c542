//! Options for several files read as one: the allowed differences between them.

use clap::Args;
use herringbone_rewrite::SchemaMerge;

/// The options of commands that read several files as one.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Find columns by name: files may have them in another order, and what a file does not have is null
    #[arg(long)]
    by_name: bool,
    /// Read columns whose types differ between files as a type that holds all values, e.g. INT32 and INT64 as INT64
    #[arg(long)]
    cast: bool,
}

impl Merge {
    /// Returns the choice as a type of the library.
    pub(crate) fn choice(&self) -> SchemaMerge {
        let mut merge = SchemaMerge::default();
        merge.by_name = self.by_name;
        merge.cast = self.cast;
        merge
    }
}
