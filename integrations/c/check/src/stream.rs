//! `ArrowArrayStream` as a stream that checks its structs.

use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::array::{check_array, has_null};
use crate::error::{Refused, Result};
use crate::schema::{Layout, Type};
use crate::structs::{ArrowArray, ArrowArrayStream, ArrowSchema};

/// The number that a callback returns for an invalid struct, as the system's `EINVAL`.
const INVALID: c_int = 22;

/// The form of a stream's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Batches of rows, which are structs without nulls.
    Batches,
    /// Arrays of any type.
    Arrays,
}

impl Rows {
    /// Checks that a type has this form.
    ///
    /// # Errors
    /// Fails if batches are asked for, and it is no struct.
    pub fn check_type(self, of: &Type) -> Result {
        match self == Self::Arrays || of.layout == Layout::Struct {
            true => Ok(()),
            false => Err(Refused::new("rows are structs, but the type is another")),
        }
    }

    /// Checks that an array has this form.
    ///
    /// # Errors
    /// Fails if batches are asked for, and a row is null.
    ///
    /// # Safety
    /// [`check_array`] must have accepted the array.
    pub unsafe fn check_nulls(self, array: &ArrowArray, of: &Type) -> Result {
        match self == Self::Batches && has_null(array, of)? {
            true => Err(Refused::new("rows are null; only their columns can be")),
            false => Ok(()),
        }
    }
}

/// Replaces a stream by one that checks each struct before it returns it. The schema is checked now.
///
/// # Errors
/// Fails if the stream is released, or its schema is invalid. Then it is released afterwards.
///
/// # Safety
/// The stream must fulfil the promises of Arrow's C stream interface, but its numbers may be wrong.
pub unsafe fn guard_stream(stream: &mut ArrowArrayStream, rows: Rows) -> Result {
    if stream.release.is_none() {
        return Err(Refused::new(
            "the stream is released; a struct can be imported once",
        ));
    }
    let mut guarded = Guarded {
        inner: std::mem::replace(stream, ArrowArrayStream::released()),
        rows,
        of: None,
        error: None,
    };
    // SAFETY: this function has the same condition. An error of the producer is returned when the consumer asks.
    if let Err(Failed::Refused(refused)) = unsafe { guarded.schema() } {
        return Err(refused);
    }
    *stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(guarded)).cast(),
    };
    Ok(())
}

/// A producer's stream.
struct Guarded {
    inner: ArrowArrayStream,
    rows: Rows,
    /// The type of its arrays, once it was asked for.
    of: Option<Type>,
    /// The text of our last error. If there is none, the producer has the text.
    error: Option<CString>,
}

/// The reason why a callback returns no struct.
enum Failed {
    Producer(c_int),
    Refused(Refused),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl Guarded {
    /// # Safety
    /// As for [`guard_stream`].
    unsafe fn schema(&mut self) -> Result<ArrowSchema, Failed> {
        let Some(get_schema) = self.inner.get_schema else {
            return Err(Refused::new("the stream has no get_schema").into());
        };
        let mut schema = ArrowSchema::released();
        // SAFETY: the producer promises that its callback may be called with its stream and a place for the schema.
        let code = unsafe { get_schema(&raw mut self.inner, &raw mut schema) };
        if code != 0 {
            // The producer has not filled it.
            schema.release = None;
            return Err(Failed::Producer(code));
        }
        // SAFETY: the producer promises valid pointers.
        let of = unsafe { Type::of_schema(&schema)? };
        self.rows.check_type(&of)?;
        match &self.of {
            Some(before) if *before != of => {
                return Err(Refused::new("the stream has changed its schema").into());
            }
            _ => self.of = Some(of),
        }
        Ok(schema)
    }

    /// # Safety
    /// As for [`guard_stream`]. `out` must be a place for an array.
    unsafe fn next(&mut self, out: *mut ArrowArray) -> Result<(), Failed> {
        if self.of.is_none() {
            // SAFETY: as for this function.
            drop(unsafe { self.schema()? });
        }
        let (Some(get_next), Some(of)) = (self.inner.get_next, &self.of) else {
            return Err(Refused::new("the stream has no get_next").into());
        };
        // SAFETY: the producer promises that its callback may be called with its stream and a place for the array.
        let code = unsafe { get_next(&raw mut self.inner, out) };
        if code != 0 {
            return Err(Failed::Producer(code));
        }
        // SAFETY: the producer has filled it.
        let array = unsafe { &mut *out };
        let Some(release) = array.release else {
            return Ok(());
        };
        // SAFETY: the producer promises valid pointers.
        let mut checked = unsafe { check_array(array, of) };
        if checked.is_ok() {
            // SAFETY: the array was checked.
            checked = unsafe { self.rows.check_nulls(array, of) };
        }
        if checked.is_err() {
            // SAFETY: the producer promises that `release` may be called once, and the array is not used afterwards.
            unsafe { release(out) };
            array.release = None;
        }
        Ok(checked?)
    }

    /// Runs a callback, and returns the number for its result. No panic passes.
    fn run(&mut self, callback: impl FnOnce(&mut Self) -> Result<(), Failed>) -> c_int {
        self.error = None;
        let done = catch_unwind(AssertUnwindSafe(|| callback(self)));
        let refused = match done {
            Ok(Ok(())) => return 0,
            Ok(Err(Failed::Producer(code))) => return code,
            Ok(Err(Failed::Refused(refused))) => refused,
            Err(_) => Refused::new("a bug in herringbone: the check has panicked"),
        };
        // A name may have any character but zero.
        self.error = CString::new(refused.to_string()).ok();
        INVALID
    }
}

/// # Safety
/// The stream must be one of [`guard_stream`], and not be released.
unsafe fn guarded<'a>(stream: *mut ArrowArrayStream) -> &'a mut Guarded {
    // SAFETY: `private_data` is the box of `guard_stream`, and Arrow's interface forbids calls from several threads at a time.
    unsafe { &mut *(*stream).private_data.cast::<Guarded>() }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: consumers call this with the stream that has it.
    unsafe { guarded(stream) }.run(|guarded| {
        // SAFETY: `guard_stream` has the condition. `out` is a place for a schema.
        unsafe { out.write(guarded.schema()?) };
        Ok(())
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: consumers call this with the stream that has it, and a place for an array.
    unsafe { guarded(stream).run(|guarded| guarded.next(out)) }
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: consumers call this with the stream that has it.
    let guarded = unsafe { guarded(stream) };
    if let Some(error) = &guarded.error {
        return error.as_ptr();
    }
    let text = match guarded.inner.get_last_error {
        // SAFETY: the producer promises that its callback may be called with its stream after an error.
        Some(get_last_error) => unsafe { get_last_error(&raw mut guarded.inner) },
        None => std::ptr::null(),
    };
    // Importers of Arrow 59 panic without a text.
    match text.is_null() {
        true => c"the producer of the stream gave no reason".as_ptr(),
        false => text,
    }
}

unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: consumers call this once, with the stream that has it.
    let stream = unsafe { &mut *stream };
    // SAFETY: `private_data` is the box of `guard_stream`, which is not used after this.
    drop(unsafe { Box::from_raw(stream.private_data.cast::<Guarded>()) });
    stream.private_data = std::ptr::null_mut();
    stream.release = None;
}
