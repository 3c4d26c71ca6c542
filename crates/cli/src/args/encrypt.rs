//! `encrypt` and `decrypt`: a file with other keys, or none.

use std::path::PathBuf;

use clap::Args;

use super::{Chunks, Damage, Decode, Destination, Write};

/// Of `encrypt` and of `decrypt`.
#[derive(Debug, Args)]
pub(crate) struct Encrypt {
    /// A Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace OUT if it is there
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    pub(crate) chunks: Chunks,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}

impl Encrypt {
    /// Where the data goes.
    pub(crate) fn destination(&self) -> Destination {
        Destination {
            path: self.output.clone(),
            force: self.force,
        }
    }
}
