//! Bytes from C: callbacks that read, and buffers.

use std::ffi::c_void;
use std::io;
use std::ops::Range;

use bytes::Bytes;
use herringbone::source::Source;

use crate::error::{Result, argument};

/// A range of bytes of a file: from `start`, and before `end`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HbRange {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// A file whose bytes callbacks read. The library copies the struct.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HbSource {
    /// The first argument of the callbacks.
    pub data: *mut c_void,
    /// Stores the number of bytes of the file, and returns 0, or a number of the system, such as `ENOENT`.
    pub size: Option<unsafe extern "C" fn(data: *mut c_void, size: *mut u64) -> i32>,
    /// Fills the buffer of each range, which has `end - start` bytes, and returns 0, or a number of the system. Reads on
    /// several threads call it at the same time, unless the option "threads" is "1".
    pub read_ranges: Option<
        unsafe extern "C" fn(
            data: *mut c_void,
            count: usize,
            ranges: *const HbRange,
            buffers: *const *mut u8,
        ) -> i32,
    >,
    /// Frees `data`, or null. The library calls it once, after the last read, on any thread.
    pub release: Option<unsafe extern "C" fn(data: *mut c_void)>,
}

/// An open source of callbacks.
pub(crate) struct Callbacks {
    source: HbSource,
    size: u64,
}

// SAFETY: the header demands callbacks that may be called from any thread.
unsafe impl Send for Callbacks {}
// SAFETY: the header demands callbacks that may be called from several threads at the same time.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    /// # Safety
    /// The callbacks must do what `HbSource` describes.
    pub(crate) unsafe fn open(source: HbSource) -> Result<Self> {
        let mut opened = Self { source, size: 0 };
        let (Some(size), Some(_)) = (source.size, source.read_ranges) else {
            return Err(argument("the source needs size and read_ranges"));
        };
        // SAFETY: the caller promises that the callback may be called with its data.
        match unsafe { size(source.data, &raw mut opened.size) } {
            0 => Ok(opened),
            code => Err(io::Error::from_raw_os_error(code).into()),
        }
    }
}

impl Drop for Callbacks {
    fn drop(&mut self) {
        if let Some(release) = self.source.release {
            // SAFETY: this is the only owner of the data.
            unsafe { release(self.source.data) };
        }
    }
}

impl Source for Callbacks {
    fn len(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        let read = self.read_many(&[range])?;
        Ok(read.into_iter().next().unwrap_or_default())
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> herringbone::Result<Vec<Bytes>> {
        let mut buffers = Vec::with_capacity(ranges.len());
        for range in ranges {
            let length = range.end.checked_sub(range.start);
            let length = length.filter(|_| range.end <= self.size);
            let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
                return Err(herringbone::Error::corrupt(format!(
                    "the bytes {:#x}..{:#x} were requested, but the file has {:#x} bytes",
                    range.start, range.end, self.size
                )));
            };
            buffers.push(vec![0_u8; length]);
        }
        let ranges = ranges.iter().map(|range| HbRange {
            start: range.start,
            end: range.end,
        });
        let ranges: Vec<_> = ranges.collect();
        let places: Vec<_> = buffers.iter_mut().map(Vec::as_mut_ptr).collect();
        let Some(read_ranges) = self.source.read_ranges else {
            return Err(herringbone::Error::argument(
                "the source has no read_ranges",
            ));
        };
        // SAFETY: the caller promises that the callback writes at most as many bytes as each range has, which its buffer has.
        let code = unsafe {
            read_ranges(
                self.source.data,
                ranges.len(),
                ranges.as_ptr(),
                places.as_ptr(),
            )
        };
        match code {
            0 => Ok(buffers.into_iter().map(Bytes::from).collect()),
            code => Err(io::Error::from_raw_os_error(code).into()),
        }
    }
}

/// Frees a buffer that `hb_open_buffer` was given, on any thread. Null means that it stays.
pub type HbRelease = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// A buffer of C.
pub(crate) struct Buffer {
    bytes: *const u8,
    length: usize,
    release: HbRelease,
    data: *mut c_void,
}

// SAFETY: no code writes to the buffer, and the header lets any thread release it.
unsafe impl Send for Buffer {}

impl Buffer {
    /// # Safety
    /// The buffer must have this number of bytes, and stay unchanged until it is released.
    pub(crate) unsafe fn bytes(
        bytes: *const u8,
        length: usize,
        release: HbRelease,
        data: *mut c_void,
    ) -> Result<Bytes> {
        let buffer = Self {
            bytes,
            length,
            release,
            data,
        };
        match (bytes.is_null() && length > 0) || isize::try_from(length).is_err() {
            true => Err(argument(format!("a buffer of {length} bytes is missing"))),
            false => Ok(Bytes::from_owner(buffer)),
        }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        match self.bytes.is_null() {
            true => &[],
            // SAFETY: the caller promises so many bytes, which stay until this is dropped.
            false => unsafe { std::slice::from_raw_parts(self.bytes, self.length) },
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: this is the only owner of the buffer.
            unsafe { release(self.data) };
        }
    }
}
