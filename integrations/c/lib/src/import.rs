//! Streams from C as batches, after the check of `herringbone-c-check`.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use herringbone_c_check::{ArrowArrayStream, Rows, guard_stream};

use crate::error::{Result, argument};

/// Takes a stream of batches from C, whose struct is released afterwards.
///
/// # Safety
/// The pointer must be null, or point to a stream that fulfils the promises of Arrow's C stream interface.
pub(crate) unsafe fn batches(stream: *mut ArrowArrayStream) -> Result<RecordBatchStreamReader> {
    // SAFETY: it is null, or a stream that no other code uses.
    let Some(theirs) = (unsafe { stream.as_mut() }) else {
        return Err(argument("the stream is null"));
    };
    // SAFETY: as for this function.
    unsafe { guard_stream(theirs, Rows::Batches)? };
    // SAFETY: both structs have the layout of Arrow's C stream interface, and the guarded stream is valid.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast()) };
    Ok(RecordBatchStreamReader::try_new(stream)?)
}
