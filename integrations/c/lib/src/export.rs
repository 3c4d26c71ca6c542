//! Batches as an `ArrowArrayStream`.

use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use arrow_array::StructArray;
use arrow_array::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use herringbone::Reader;
use herringbone::arrow::array::{Array as _, RecordBatch};
use herringbone::arrow::schema::SchemaRef;
use herringbone_c_check::{ArrowArray, ArrowArrayStream, ArrowSchema};
use herringbone_dataset::DatasetReader;

use crate::error::{HbError, Result, argument, guarded};
use crate::progress::Progress;

/// An open read.
pub(crate) enum Batches {
    File(Box<Reader>),
    Dataset(Box<DatasetReader>),
}

impl Batches {
    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader) => reader.schema(),
            Self::Dataset(reader) => reader.schema(),
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        Ok(match self {
            Self::File(reader) => reader.next_batch()?,
            Self::Dataset(reader) => reader.next_batch()?,
        })
    }
}

/// The inside of a stream.
struct Stream {
    batches: Batches,
    progress: Arc<Progress>,
    error: Option<Box<HbError>>,
}

impl Stream {
    fn schema(&self) -> Result<FFI_ArrowSchema> {
        exported(&self.batches.schema())
    }

    fn next(&mut self) -> Result<FFI_ArrowArray> {
        let _entered = self.progress.enter();
        self.progress.add(0)?;
        let Some(batch) = self.batches.next()? else {
            return Ok(FFI_ArrowArray::empty());
        };
        self.progress.add(batch.num_rows())?;
        Ok(FFI_ArrowArray::new(&StructArray::from(batch).to_data()))
    }

    /// Runs a callback, and returns the number for its result.
    fn run(&mut self, callback: impl FnOnce(&mut Self) -> Result) -> c_int {
        match guarded(|| callback(self)) {
            Ok(()) => 0,
            Err(error) => {
                let code = error.errno();
                self.error = Some(error);
                code
            }
        }
    }
}

/// Returns the C struct of a schema.
fn exported(schema: &SchemaRef) -> Result<FFI_ArrowSchema> {
    Ok(FFI_ArrowSchema::try_from(schema.as_ref())?)
}

/// Gives a schema to C.
///
/// # Safety
/// `out` must be null or a place for a schema.
pub(crate) unsafe fn give_schema(out: *mut ArrowSchema, schema: &SchemaRef) -> Result {
    if out.is_null() {
        return Err(argument("the place for the schema is null"));
    }
    let schema = exported(schema)?;
    // SAFETY: it is not null, and both structs have the layout of Arrow's C data interface.
    unsafe { ptr::write(out.cast(), schema) };
    Ok(())
}

/// Gives a stream to C.
///
/// # Safety
/// `out` must be null or a place for a stream.
pub(crate) unsafe fn give_stream(
    out: *mut ArrowArrayStream,
    batches: Batches,
    progress: Arc<Progress>,
) -> Result {
    if out.is_null() {
        return Err(argument("the place for the stream is null"));
    }
    let inside = Stream {
        batches,
        progress,
        error: None,
    };
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(inside)).cast(),
    };
    // SAFETY: it is not null, and a place for a stream.
    unsafe { ptr::write(out, stream) };
    Ok(())
}

/// # Safety
/// The stream must be one of [`give_stream`], and not be released.
unsafe fn inside<'a>(stream: *mut ArrowArrayStream) -> &'a mut Stream {
    // SAFETY: `private_data` is the box of `give_stream`, and Arrow's interface forbids calls from several threads at a time.
    unsafe { &mut *(*stream).private_data.cast::<Stream>() }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: consumers call this with the stream that has it.
    unsafe { inside(stream) }.run(|inside| {
        let schema = inside.schema()?;
        // SAFETY: `out` is a place for a schema, of the same layout.
        unsafe { ptr::write(out.cast(), schema) };
        Ok(())
    })
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: consumers call this with the stream that has it.
    unsafe { inside(stream) }.run(|inside| {
        let array = inside.next()?;
        // SAFETY: `out` is a place for an array, of the same layout.
        unsafe { ptr::write(out.cast(), array) };
        Ok(())
    })
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: consumers call this with the stream that has it.
    let error = unsafe { inside(stream) }
        .error
        .as_deref()
        .map(HbError::text);
    error.map_or(ptr::null(), |text: &CString| text.as_ptr())
}

unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: consumers call this once, with the stream that has it.
    let stream = unsafe { &mut *stream };
    // SAFETY: `private_data` is the box of `give_stream`, which is not used after this.
    let inside = unsafe { Box::from_raw(stream.private_data.cast::<Stream>()) };
    // Nothing can be told about a panic here.
    drop(guarded(|| {
        drop(inside);
        Ok(())
    }));
    stream.private_data = ptr::null_mut();
    stream.release = None;
}

/// Returns a copy of the last error of a stream of this library, or null if there is none or the stream is of another library.
/// The caller frees it by `hb_error_free`.
///
/// # Safety
/// `stream` is an initialized stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_stream_error(stream: *mut ArrowArrayStream) -> *mut HbError {
    // SAFETY: the caller promises a valid stream.
    let callback = unsafe { stream.as_ref() }.and_then(|stream| stream.release);
    let is_ours = callback.is_some_and(|it| {
        ptr::fn_addr_eq(it, release as unsafe extern "C" fn(*mut ArrowArrayStream))
    });
    if !is_ours {
        return ptr::null_mut();
    }
    // SAFETY: the stream has our callback, so that its inside is ours.
    match &unsafe { inside(stream) }.error {
        Some(error) => Box::into_raw(error.clone()),
        None => ptr::null_mut(),
    }
}
