//! The options for unshredding variants.

use clap::Args;
use herringbone::variant::shredding::UnshredOptions;

/// The options of commands that unshred variants.
#[derive(Debug, Args)]
pub(crate) struct Variants {
    /// Accept wrongly shredded VARIANT values; if a field is stored twice, use the shredded copy
    #[arg(long)]
    lenient_variants: bool,
}

impl Variants {
    /// Returns the library's options for unshredding.
    pub(crate) fn options(&self) -> UnshredOptions {
        let mut options = UnshredOptions::default();
        options.lenient = self.lenient_variants;
        options
    }
}
