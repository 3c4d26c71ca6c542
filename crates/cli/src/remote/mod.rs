//! Files at URLs: read by ranges, and uploaded.
//!
//! ```text
//! URL ─► store ─┬─► file: ranges, as a source of the library ─► all commands that read
//!               └─► upload: parts, which appear together at the end
//! ```
//!
//! Requests run on one background thread. Commands block until they are answered.

mod bucket;
mod file;
mod problem;
mod reader;
mod store;
mod upload;
mod windows;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{future, io, thread};

use tokio::runtime::{Builder, Handle};
use url::Url;

use crate::failure::{Failure, Result};
use crate::url::name_of;

pub(crate) use bucket::Bucket;
pub(crate) use file::{RemoteFile, Traffic};
pub(crate) use reader::Reader;
pub(crate) use upload::{Upload, Uploads};

/// Returns the runtime of all requests.
///
/// # Errors
/// Errors of starting its thread.
fn runtime() -> io::Result<&'static Handle> {
    static RUNTIME: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = RUNTIME.get() {
        return Ok(handle);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("requests".into())
        .spawn(move || runtime.block_on(future::pending::<()>()))?;
    Ok(RUNTIME.get_or_init(|| handle))
}

/// Returns the failure for a URL. The message must not contain secrets.
fn usage(name: &str, message: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("{name}: {message}"))
}

/// Parses a URL.
///
/// # Errors
/// Usage if it is malformed.
fn parse(path: &Path) -> Result<Url> {
    let text = path.to_str().unwrap_or_default();
    Url::parse(text).map_err(|error| usage(&name_of(path), format!("not a URL: {error}")))
}

/// Returns the path of a `file` URL.
///
/// # Errors
/// Usage if the URL is malformed, or names another host.
pub(crate) fn local_path(path: &Path) -> Result<PathBuf> {
    let url = parse(path)?;
    url.to_file_path().map_err(|()| {
        usage(
            &name_of(path),
            "expected file:///PATH, a file of this machine",
        )
    })
}
