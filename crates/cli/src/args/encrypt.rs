//! `encrypt` and `decrypt`: a file with other keys, or without encryption.

use std::path::PathBuf;

use clap::Args;

use super::{Choice, Damage, Decode, OutputOption, Write};

/// The options of `encrypt` and of `decrypt`.
#[derive(Debug, Args)]
pub(crate) struct Encrypt {
    /// A Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputOption,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}
