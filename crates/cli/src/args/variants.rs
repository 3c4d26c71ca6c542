//! How shredded variants are put together.

use clap::Args;
use herringbone::variant::shredding::UnshredOptions;

/// Of the commands that put them together.
#[derive(Debug, Args)]
pub(crate) struct Variants {
    /// Take variants that break the rules of shredding, where that can be: what is shredded counts, and not what is
    /// beside it
    #[arg(long)]
    lenient_variants: bool,
}

impl Variants {
    /// What the library has to know.
    pub(crate) fn options(&self) -> UnshredOptions {
        let mut options = UnshredOptions::default();
        options.lenient = self.lenient_variants;
        options
    }
}
