//! `convert` writes files of one format as another.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::base::failure::{Failure, Result};

use super::{Choice, Csv, Damage, Decode, Destination, FileFormat, Merge, TextInput, Write};

/// The options of `convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Files to read, and then the file to write; `-` is standard input or output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Another way to name OUT
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(short, long)]
    force: bool,
    /// Format of OUT [default: that of its name]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<FileFormat>,
    /// Read a column of JSON lines as VARIANT, and shred it: none, auto, or into a type as in a schema
    /// [default: none]
    #[arg(
        long = "variant",
        value_name = "COLUMN[=none|auto|TYPE]",
        conflicts_with = "schema"
    )]
    pub(crate) variants: Vec<VariantColumn>,
    #[command(flatten)]
    pub(crate) csv: Csv,
    #[command(flatten)]
    pub(crate) text: TextInput,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}

impl Convert {
    /// Returns the paths of all files. They are mutable so that we can replace `file` URLs with
    /// paths.
    pub(super) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let ends = self.files.iter_mut().chain(&mut self.output);
        ends.chain(&mut self.text.schema)
    }

    /// Returns the files to read and the file to write.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if one of them is missing.
    pub(crate) fn ends(&self) -> Result<(&[PathBuf], Destination)> {
        let ends = match (&self.output, self.files.as_slice()) {
            (Some(output), inputs) => Some((inputs, output)),
            (None, [inputs @ .., output]) if !inputs.is_empty() => Some((inputs, output)),
            _ => None,
        };
        let (inputs, output) = ends.ok_or_else(|| {
            Failure::Usage(
                "`convert` needs a file to read and a file to write: convert IN... OUT".into(),
            )
        })?;
        let destination = Destination {
            path: output.clone(),
            force: self.force,
        };
        Ok((inputs, destination))
    }
}

/// A column to be read as variants, and how they are shredded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantColumn {
    pub(crate) name: String,
    /// The shredding, which is `none`, `auto` or a type.
    pub(crate) shredding: String,
}

impl FromStr for VariantColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Split at the last equals sign, since column names can contain one but types can't.
        let (name, shredding) = text.rsplit_once('=').unwrap_or((text, "none"));
        match name.is_empty() || shredding.is_empty() {
            true => Err("expected COLUMN, COLUMN=auto or COLUMN=TYPE".into()),
            false => Ok(Self {
                name: name.to_owned(),
                shredding: shredding.to_owned(),
            }),
        }
    }
}
