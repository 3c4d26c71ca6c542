//! A file uploaded to a URL. Nothing appears there before the end.

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

/// The bytes of small parts of a command that wait here for the others. More wait in the store.
const MAX_HELD: u64 = 64 << 20;

/// An upload. Unless it is [completed](Self::complete), the object does not appear.
pub(crate) struct Upload {
    location: Location,
    name: String,
    force: bool,
    output: RemoteOutput,
}

/// The complete uploads of a command, whose objects appear together.
#[derive(Clone, Default)]
pub(crate) struct Uploads(Arc<Mutex<Vec<Upload>>>);

impl Uploads {
    /// Makes an upload wait for the others, without the rest of its bytes. A web server takes an object in one request, so
    /// that it does not wait.
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

    /// Makes all objects appear. If one cannot, new ones are removed.
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
    /// Checks that the object may be written, and starts to collect it.
    ///
    /// # Errors
    /// Usage if the URL is wrong, or if the object exists and must not be replaced; System if the store cannot be
    /// reached.
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

    /// Writes the rest, and makes the object appear.
    ///
    /// # Errors
    /// Usage if another object has taken the name; System.
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

/// Returns the failure for an error of an upload.
fn failure(name: &str, error: &Error) -> Failure {
    match error.io_error().map(io::Error::kind) {
        Some(io::ErrorKind::AlreadyExists) => exists(name),
        _ => Failure::System(format!("{name}: {}", error.message())),
    }
}
