//! The structs of Arrow's C data interface and C stream interface.
//!
//! Arrow's crates have their own forms of them, one per major, with private fields. These have the same layout for all majors.

use std::ffi::{c_char, c_int, c_void};

/// A type with its name and metadata: `struct ArrowSchema`.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    /// The type, as text.
    pub format: *const c_char,
    /// The name, or null.
    pub name: *const c_char,
    /// The metadata, or null.
    pub metadata: *const c_char,
    /// Flags: 1 for ordered dictionaries, 2 for nulls, 4 for sorted keys of maps.
    pub flags: i64,
    /// The number of children.
    pub n_children: i64,
    /// The children.
    pub children: *mut *mut Self,
    /// The type of the dictionary's values, or null.
    pub dictionary: *mut Self,
    /// Frees the struct's memory, or null if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// A value of the producer.
    pub private_data: *mut c_void,
}

/// Values: `struct ArrowArray`.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    /// The number of slots.
    pub length: i64,
    /// The number of nulls, or -1 if they are not counted.
    pub null_count: i64,
    /// The number of slots in the buffers before the first.
    pub offset: i64,
    /// The number of buffers.
    pub n_buffers: i64,
    /// The number of children.
    pub n_children: i64,
    /// The buffers.
    pub buffers: *mut *const c_void,
    /// The children.
    pub children: *mut *mut Self,
    /// The dictionary's values, or null.
    pub dictionary: *mut Self,
    /// Frees the struct's memory, or null if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// A value of the producer.
    pub private_data: *mut c_void,
}

/// Arrays of one type, one after the other: `struct ArrowArrayStream`.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    /// Returns the type of all arrays.
    pub get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    /// Returns the next array, or a released one at the end.
    pub get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    /// Returns the text of the last error, or null.
    pub get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    /// Frees the stream, or null if that has happened.
    pub release: Option<unsafe extern "C" fn(*mut Self)>,
    /// A value of the producer.
    pub private_data: *mut c_void,
}

impl ArrowSchema {
    /// Creates a released struct.
    pub(crate) fn released() -> Self {
        use std::ptr::{null, null_mut};
        Self {
            format: null(),
            name: null(),
            metadata: null(),
            flags: 0,
            n_children: 0,
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

impl ArrowArrayStream {
    /// Creates a released struct.
    pub(crate) fn released() -> Self {
        Self {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: std::ptr::null_mut(),
        }
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer promises that `release` may be called once with its struct, which is not used afterwards.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer promises that `release` may be called once with its struct, which is not used afterwards.
            unsafe { release(self) };
        }
    }
}
