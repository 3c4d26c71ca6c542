//! A file uploaded to a URL. Nothing appears there before the end.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use object_store::{
    Error as StoreError, GetOptions, MultipartUpload, ObjectStore as _, ObjectStoreExt as _,
    PutMode, PutMultipartOptions, PutOptions, PutPayload,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::problem::of_store;
use super::runtime;
use super::store::Place;
use crate::failure::{Failure, Result};
use crate::interrupt::{Unfinished, uninterrupted};

/// The size of a part in bytes. Stores take 10,000 parts, and some of them want parts of one size.
const PART: usize = 16 << 20;
/// The number of parts in flight.
const IN_FLIGHT: usize = 4;
/// The largest file, in bytes, that a server takes in one request.
const MOST_AT_ONCE: usize = 256 << 20;

/// The bytes of small parts of a command that wait here for the others. More wait in the store.
const MOST_HELD: usize = 64 << 20;

/// The longest time that an interrupted command takes to abort its upload.
const ABORT: Duration = Duration::from_secs(5);

type Parts = Arc<Mutex<Option<Box<dyn MultipartUpload>>>>;

/// An upload. Unless it is [completed](Self::complete), the object does not appear.
pub(crate) struct Upload {
    place: Place,
    force: bool,
    runtime: &'static Handle,
    /// The bytes of the next part.
    part: Vec<u8>,
    /// The upload of parts, once there is one. An interrupt takes it from here.
    parts: Parts,
    in_flight: VecDeque<JoinHandle<object_store::Result<()>>>,
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
        if !upload.place.takes_parts {
            return upload.complete();
        }
        let mut waiting = self.lock();
        let held: usize = waiting.iter().map(|it| it.part.capacity()).sum();
        upload.part.shrink_to_fit();
        let is_small = lock(&upload.parts).is_none() && held + upload.part.len() <= MOST_HELD;
        if !is_small {
            let sent = upload.send_part().and_then(|()| upload.drain(0));
            sent.map_err(|error| upload.failure(&error))?;
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
        let mut new: Vec<Place> = Vec::new();
        for upload in self.lock().drain(..) {
            let (runtime, place) = (upload.runtime, upload.place.clone());
            let force = upload.force;
            if let Err(failure) = upload.complete() {
                for place in new {
                    runtime.block_on(place.store.delete(&place.path)).ok();
                }
                return Err(failure);
            }
            new.extend((!force).then_some(place));
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
        let place = Place::of(url)?;
        let failed = |error: io::Error| Failure::System(format!("{}: {error}", place.name));
        let upload = Self {
            runtime: runtime().map_err(failed)?,
            place,
            force,
            part: Vec::new(),
            parts: Parts::default(),
            in_flight: VecDeque::new(),
        };
        upload.check()?;
        Ok(upload)
    }

    /// Fails if the object exists and must not be replaced.
    fn check(&self) -> Result<()> {
        if self.force {
            return Ok(());
        }
        let head = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        match self.wait(self.place.store.get_opts(&self.place.path, head)) {
            Ok(_) => Err(exists(&self.place.name)),
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Writes the rest, and makes the object appear.
    ///
    /// # Errors
    /// Usage if another object has taken the name; System.
    pub(crate) fn complete(mut self) -> Result<()> {
        if lock(&self.parts).is_none() {
            return self.put();
        }
        let done = self.send_part().and_then(|()| self.drain(0));
        done.map_err(|error| self.failure(&error))?;
        // Between this and the next request, another object may still appear.
        self.check()?;
        let mut parts = lock(&self.parts);
        if let Some(upload) = &mut *parts {
            let completed = self.wait(upload.complete());
            completed.map_err(|error| self.failure(&error))?;
        }
        *parts = None;
        drop(parts);
        Ok(())
    }

    /// Writes the object in one request.
    fn put(mut self) -> Result<()> {
        let payload = PutPayload::from(std::mem::take(&mut self.part));
        let is_conditional = !self.force && self.place.takes_parts;
        let options = PutOptions {
            mode: match is_conditional {
                true => PutMode::Create,
                false => PutMode::Overwrite,
            },
            ..PutOptions::default()
        };
        let put = self.wait(
            self.place
                .store
                .put_opts(&self.place.path, payload, options),
        );
        match put {
            Ok(_) => Ok(()),
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. })
                if is_conditional =>
            {
                Err(exists(&self.place.name))
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Sends the collected bytes as a part.
    fn send_part(&mut self) -> object_store::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        if lock(&self.parts).is_none() {
            self.start()?;
        }
        self.drain(IN_FLIGHT - 1)?;
        let payload = PutPayload::from(std::mem::take(&mut self.part));
        if let Some(parts) = &mut *lock(&self.parts) {
            let part = parts.put_part(payload);
            self.in_flight.push_back(self.runtime.spawn(part));
        }
        Ok(())
    }

    /// Starts an upload of parts. An interrupt aborts it.
    fn start(&self) -> object_store::Result<()> {
        let Place { store, path, .. } = &self.place;
        let upload = self.wait(store.put_multipart_opts(path, PutMultipartOptions::default()))?;
        *lock(&self.parts) = Some(upload);
        let (parts, runtime) = (self.parts.clone(), self.runtime);
        let abort = move || {
            // While the upload is being completed, it is too late.
            if let Ok(mut parts) = parts.try_lock()
                && let Some(mut upload) = parts.take()
            {
                runtime.block_on(async { timeout(ABORT, upload.abort()).await.ok() });
            }
        };
        uninterrupted(|record| record.unfinished = Some(Unfinished::Upload(Box::new(abort))));
        Ok(())
    }

    /// Waits until at most `most` parts are in flight.
    fn drain(&mut self, most: usize) -> object_store::Result<()> {
        while self.in_flight.len() > most
            && let Some(part) = self.in_flight.pop_front()
        {
            let sent = self.runtime.block_on(part);
            sent.unwrap_or_else(|error| Err(error.into()))?;
        }
        Ok(())
    }

    /// Waits for a request.
    fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.runtime.block_on(request)
    }

    fn failure(&self, error: &StoreError) -> Failure {
        Failure::System(format!(
            "{}: {}",
            self.place.name,
            self.plain(error).message()
        ))
    }

    fn plain(&self, error: &StoreError) -> herringbone::Error {
        of_store(error, self.place.unsigned)
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.place.takes_parts {
            if self.part.len() + bytes.len() > MOST_AT_ONCE {
                return Err(io::Error::other(format!(
                    "a web server takes a file in one request, at most {MOST_AT_ONCE} bytes; write it to a local \
                     file, and upload that"
                )));
            }
            self.part.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let count = bytes.len().min(PART - self.part.len());
        self.part
            .extend_from_slice(bytes.get(..count).unwrap_or_default());
        if self.part.len() == PART {
            let sent = self.send_part();
            sent.map_err(|error| io::Error::other(self.plain(&error).message().to_owned()))?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        // Bytes wait until they make a part.
        Ok(())
    }
}

impl Drop for Upload {
    /// Aborts the upload of parts, unless it was completed.
    fn drop(&mut self) {
        self.in_flight.drain(..).for_each(|part| part.abort());
        let parts = lock(&self.parts).take();
        if let Some(mut parts) = parts {
            // The parts remain invisible even if this fails.
            self.wait(parts.abort()).ok();
        }
        uninterrupted(|record| record.unfinished = None);
    }
}

fn lock(parts: &Parts) -> MutexGuard<'_, Option<Box<dyn MultipartUpload>>> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the failure for an object that already exists.
fn exists(name: &str) -> Failure {
    Failure::Usage(format!(
        "{name}: the file already exists; --force replaces it"
    ))
}
