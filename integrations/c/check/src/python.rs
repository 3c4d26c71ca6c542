//! The check of Python's capsules, so that the package for Python needs no `unsafe` of its own.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::Refused;
use crate::schema::Type;
use crate::stream::{Rows, guard_stream};
use crate::structs::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::{Result as Checked, check_array};

/// The result of a check: an exception for an object that is no capsule of Arrow, or the result for its structs.
pub type Result = PyResult<Checked>;

/// Checks a capsule with an `ArrowSchema`.
///
/// # Errors
/// Fails if the capsule has another name.
pub fn schema(capsule: &Bound<'_, PyCapsule>) -> Result {
    Ok(type_of(capsule)?.map(drop))
}

/// Checks capsules with an `ArrowSchema` and an `ArrowArray`.
///
/// # Errors
/// Fails if a capsule has another name.
pub fn array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>, rows: Rows) -> Result {
    let of = type_of(schema)?;
    let array = pointer::<ArrowArray>(array, c"arrow_array")?;
    Ok(of.and_then(|of| {
        rows.check_type(&of)?;
        // SAFETY: a capsule of this name has such a struct, which the importer will use under the same condition.
        unsafe {
            let array = array?.as_ref();
            check_array(array, &of)?;
            rows.check_nulls(array, &of)
        }
    }))
}

/// Lets the stream of a capsule check each struct before it returns it.
///
/// # Errors
/// Fails if the capsule has another name.
pub fn stream(capsule: &Bound<'_, PyCapsule>, rows: Rows) -> Result {
    let stream = pointer::<ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: a capsule of this name has such a struct. No other code uses it, because it can be imported once.
    Ok(stream.and_then(|mut stream| unsafe { guard_stream(stream.as_mut(), rows) }))
}

fn type_of(capsule: &Bound<'_, PyCapsule>) -> PyResult<Checked<Type>> {
    let schema = pointer::<ArrowSchema>(capsule, c"arrow_schema")?;
    // SAFETY: a capsule of this name has such a struct, which the importer will use under the same condition.
    Ok(schema.and_then(|schema| unsafe { Type::of_schema(schema.as_ref()) }))
}

/// Returns the pointer of a capsule with this name.
fn pointer<T>(
    capsule: &Bound<'_, PyCapsule>,
    name: &CStr,
) -> PyResult<Checked<std::ptr::NonNull<T>>> {
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    Ok(match pointer.is_aligned() {
        true => Ok(pointer),
        false => Err(Refused::new("the pointer of a capsule is not aligned")),
    })
}
