//! The options of commands that read the rows of Parquet files and write them again.

use std::path::PathBuf;

use clap::Args;
use herringbone::variant::extension::VariantExtension;
use herringbone::{ReadOptions, WriteOptions};

use super::{
    Choice, CopyChunks, Damage, Decode, Files, Merge, OtherFiles, OutputArgument, OutputOption,
    Write,
};

/// The options of `rewrite`.
#[derive(Debug, Args)]
pub(crate) struct Rewrite {
    /// A Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgument,
    /// Print how each column is stored, and the size in the other encodings; on standard error if OUT is
    /// standard output
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the explanation as JSON lines
    #[arg(long, alias = "jsonl", requires = "explain")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) copy: CopyChunks,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The options of `concat`.
#[derive(Debug, Args)]
pub(crate) struct Concat {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) output: OutputOption,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) copy: CopyChunks,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The options of `encrypt` and of `decrypt`.
#[derive(Debug, Args)]
pub(crate) struct Encrypt {
    /// A Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgument,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
}

/// The options for reading rows of Parquet files and writing them again.
#[derive(Debug, Args)]
pub(crate) struct Rewriting {
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}

impl Rewriting {
    /// Returns the options for reading, other than those in [`Choice`].
    pub(crate) fn read_options(&self) -> ReadOptions {
        self.damage.choose(self.decode.options())
    }

    /// Returns the options for writing, except for the sort order.
    pub(crate) fn write_options(&self) -> WriteOptions {
        let options = self.write.options(self.decode.threads);
        // Variants are unshredded before they're shredded anew, so the writer must accept the same
        // violations as the reader.
        let unshred = self.choice.wanted.variants.options();
        options.extension(VariantExtension::new().unshred(unshred))
    }
}
