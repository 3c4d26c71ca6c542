//! The command line that all binaries share.

use crate::Result;
use std::path::PathBuf;

/// The caller's options.
#[derive(Debug)]
pub struct Arguments {
    /// The directory that has the files written by gen.py.
    pub dir: PathBuf,
    /// The approximate time per case, in seconds.
    pub seconds: f64,
    /// Parts of case names, or empty for all cases.
    pub filters: Vec<String>,
}

impl Arguments {
    /// Parses `[--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
    ///
    /// # Errors
    ///
    /// Fails if an option is unknown, or has an invalid value.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut parsed = Self {
            dir: PathBuf::from("target/bench-data"),
            seconds: 3.0,
            filters: Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--dir" => parsed.dir = value()?.into(),
                "--seconds" => parsed.seconds = value()?.parse()?,
                // We ignore these, because `cargo bench` and `cargo test` add them.
                "--bench" | "--test" => {}
                option if option.starts_with('-') => {
                    return Err(format!("{option}: unknown; see benches/README.md").into());
                }
                _ => parsed.filters.push(argument),
            }
        }
        Ok(parsed)
    }

    /// Returns true if the filters select this case.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| name.contains(part))
    }

    /// Returns the directory's files, sorted by name.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be listed, or has no Parquet file.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let missing = || {
            format!(
                "no Parquet files in {}; write them with: python3 benches/gen.py {0}",
                self.dir.display()
            )
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(|_| missing())? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "parquet")
            {
                files.push(path);
            }
        }
        if files.is_empty() {
            return Err(missing().into());
        }
        files.sort();
        Ok(files)
    }
}
