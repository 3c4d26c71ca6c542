//! The files of the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use herringbone::source::FileSource;
use herringbone::{Limits, ParquetFile};
use herringbone_inspect::repair::{Repair, RepairOptions};

use crate::advice::Advised;
use crate::context::Context;
use crate::failure::{Failure, Result};

/// What stands for standard input.
const STDIN: &str = "-";

/// A file that can be opened any number of times.
pub(crate) struct Input {
    /// How it is called in output and errors.
    pub(crate) name: String,
    /// Its size in bytes.
    pub(crate) size: u64,
    data: Data,
    limits: Limits,
    ignores_checksums: Option<&'static str>,
}

enum Data {
    Path(PathBuf),
    Memory(Bytes),
}

impl Input {
    /// Looks whether the file is there. What has no positions to read at, such as standard input
    /// and named pipes, is read to its end.
    fn new(path: &Path, context: &Context) -> Result<Self> {
        let name = path.display().to_string();
        let refused = |name: &str, error: &io::Error| Failure::System(format!("{name}: {error}"));
        let (data, size) = if path.as_os_str() == STDIN {
            let bytes =
                spool(io::stdin().lock()).map_err(|error| refused("standard input", &error))?;
            let size = bytes.len() as u64;
            (Data::Memory(bytes), size)
        } else {
            let metadata = fs::metadata(path).map_err(|error| refused(&name, &error))?;
            if metadata.is_file() {
                (Data::Path(path.to_owned()), metadata.len())
            } else {
                let file = fs::File::open(path).map_err(|error| refused(&name, &error))?;
                let bytes = spool(file).map_err(|error| refused(&name, &error))?;
                let size = bytes.len() as u64;
                (Data::Memory(bytes), size)
            }
        };
        Ok(Self {
            name,
            size,
            data,
            limits: context.limits.clone(),
            ignores_checksums: context.ignores_checksums,
        })
    }

    /// Reads the footer.
    pub(crate) fn open(&self) -> Result<ParquetFile> {
        match &self.data {
            Data::Path(path) => FileSource::open(path)
                .and_then(|source| ParquetFile::from_source(source, self.limits.clone())),
            Data::Memory(bytes) => ParquetFile::from_source(bytes.clone(), self.limits.clone()),
        }
        .map_err(|error| self.failure(&error))
    }

    /// Looks for what is left of it.
    pub(crate) fn repair(&self, options: &RepairOptions) -> herringbone::Result<Repair> {
        match &self.data {
            Data::Path(path) => {
                FileSource::open(path).and_then(|source| Repair::open(source, options))
            }
            Data::Memory(bytes) => Repair::open(bytes.clone(), options),
        }
    }

    /// The limits for reading it.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// An error of the library in the words of the command.
    pub(crate) fn advised<'a>(&self, error: &'a herringbone::Error) -> Advised<'a> {
        Advised {
            error,
            ignores_checksums: self.ignores_checksums,
        }
    }

    /// What the library says about this file.
    pub(crate) fn failure(&self, error: &herringbone::Error) -> Failure {
        Failure::advised(&self.name, &self.advised(error))
    }
}

fn spool(mut from: impl io::Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

/// Looks whether all files are there.
///
/// # Errors
/// System where one is not; usage where standard input is asked for twice.
pub(crate) fn all(paths: &[PathBuf], context: &Context) -> Result<Vec<Input>> {
    if paths
        .iter()
        .filter(|path| path.as_os_str() == STDIN)
        .count()
        > 1
    {
        return Err(Failure::Usage(
            "standard input can be read once only".into(),
        ));
    }
    paths.iter().map(|path| Input::new(path, context)).collect()
}
