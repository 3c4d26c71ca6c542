//! Options for unshredding variants.

use clap::Args;
use herringbone::variant::shredding::UnshredOptions;

/// The options of commands that unshred variants.
#[derive(Debug, Args)]
pub(crate) struct Variants {
    /// Take variants that break the rules of shredding, where that can be: what is shredded counts, and not what is
    /// beside it
    #[arg(long)]
    lenient_variants: bool,
}

impl Variants {
    /// Returns the options for the library.
    pub(crate) fn options(&self) -> UnshredOptions {
        let mut options = UnshredOptions::default();
        options.lenient = self.lenient_variants;
        options
    }
}
