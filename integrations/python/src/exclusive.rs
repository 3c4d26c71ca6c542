//! Values that only one caller uses at a time.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyValueError;

use crate::error::{Failure, Result};

/// A value with a lock, which the user of the value holds while Python code runs.
///
/// Such code may use the value again in the same thread, which would then wait for itself forever,
/// so we return an error instead. Another thread waits for its turn.
pub(crate) struct Exclusive<T> {
    value: Mutex<T>,
    user: Mutex<Option<ThreadId>>,
    /// The kind of value, for error messages.
    name: &'static str,
}

impl<T> Exclusive<T> {
    pub(crate) fn new(name: &'static str, value: T) -> Self {
        Self {
            value: Mutex::new(value),
            user: Mutex::default(),
            name,
        }
    }

    /// Fails if this thread is using the value.
    pub(crate) fn check(&self) -> Result<()> {
        match *self.user() == Some(thread::current().id()) {
            false => Ok(()),
            true => Err(in_use(self.name)),
        }
    }

    /// Waits for the value. Call this only without the GIL, because the value's user may need it.
    pub(crate) fn lock(&self) -> Result<InUse<'_, T>> {
        self.check()?;
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *self.user() = Some(thread::current().id());
        Ok(InUse { value, of: self })
    }

    fn user(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cold]
fn in_use(name: &str) -> Failure {
    PyValueError::new_err(format!(
        "the {name} is in use: this call is part of another call of it that has not ended"
    ))
    .into()
}

/// The guard for a value in use.
pub(crate) struct InUse<'a, T> {
    value: MutexGuard<'a, T>,
    of: &'a Exclusive<T>,
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        *self.of.user() = None;
    }
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for InUse<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
