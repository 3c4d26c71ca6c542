//! Uploads a file to a URL. Nothing appears at the URL before the file is complete.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone::Error;
use herringbone_remote::blocking::{RemoteOutput, wait};
use herringbone_remote::urls::Location;

use super::{location, usage};
use crate::base::failure::{Failure, Result};
use crate::base::url::name_of;
use crate::save::interrupt::{Unfinished, uninterrupted};
use crate::save::target::exists;

/// The memory limit for small parts held until a command's other parts are complete, in bytes.
/// Beyond this, parts are held in the store.
const MAX_HELD: u64 = 64 << 20;

/// An upload. Its object does not appear unless the upload is [completed](Self::complete).
pub(crate) struct Upload {
    location: Location,
    name: String,
    force: bool,
    output: RemoteOutput,
}

/// A command's pending uploads, held back so that all objects appear together.
#[derive(Clone, Default)]
pub(crate) struct Uploads(Arc<Mutex<Vec<Upload>>>);

impl Uploads {
    /// Holds back an upload until all others are complete. A large upload is held in the store,
    /// with all bytes sent. An upload to a web server can't be held back, since it is a single
    /// request.
    ///
    /// # Errors
    /// See [`Upload::complete`].
    pub(crate) fn add(&self, mut upload: Upload) -> Result<()> {
        if upload.location.is_web() {
            return upload.complete();
        }
        let mut waiting = self.lock();
        let held: u64 = waiting
            .iter()
            .map(|waiting| waiting.output.held_bytes())
            .sum();
        let bytes = upload.output.held_bytes();
        if upload.output.is_started() || held + bytes > MAX_HELD {
            let sent = upload.output.send_all();
            sent.map_err(|error| failure(&upload.name, &error))?;
        }
        uninterrupted(|record| {
            if let Some(Unfinished::Upload(abort)) = record.unfinished.take() {
                record.leftovers.uploads.push(abort);
            }
        });
        waiting.push(upload);
        Ok(())
    }

    /// Makes all objects appear. If one fails, we delete the new objects that already appeared.
    ///
    /// # Errors
    /// See [`Upload::complete`].
    pub(crate) fn complete(&self) -> Result<()> {
        let mut new: Vec<Location> = Vec::new();
        for upload in self.lock().drain(..) {
            let (location, force) = (upload.location.clone(), upload.force);
            if let Err(failure) = upload.complete() {
                for location in new {
                    wait(location.delete()).ok();
                }
                return Err(failure);
            }
            new.extend((!force).then_some(location));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Upload>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upload {
    /// Checks that writing the object is allowed and starts collecting its bytes.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the URL is wrong, or if the object exists and must not be
    /// replaced. Fails with [`Failure::System`] if the store cannot be reached.
    pub(crate) fn create(url: &Path, force: bool) -> Result<Self> {
        let (location, name) = (location(url)?, name_of(url));
        let sink = location.sink(force).map_err(|error| usage(&error))?;
        if !force {
            wait(location.check_new()).map_err(|error| failure(&name, &error))?;
        }
        let output = RemoteOutput::new(sink, &location.write_options());
        let output = output.map_err(|error| failure(&name, &error))?;
        let abort = output.abort_call();
        uninterrupted(|record| record.unfinished = Some(Unfinished::Upload(abort)));
        Ok(Self {
            location,
            name,
            force,
            output,
        })
    }

    /// Sends the remaining bytes and makes the object appear.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if another object has taken the name in the meantime, and with
    /// [`Failure::System`] if a request fails.
    pub(crate) fn complete(self) -> Result<()> {
        let done = self.output.complete();
        let done = done.map_err(|error| failure(&self.name, &error));
        uninterrupted(|record| record.unfinished = None);
        done
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Returns the failure for an upload's error.
fn failure(name: &str, error: &Error) -> Failure {
    match error.io_error().map(io::Error::kind) {
        Some(io::ErrorKind::AlreadyExists) => exists(name),
        _ => Failure::System(format!("{name}: {}", error.message())),
    }
}
