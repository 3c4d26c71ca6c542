//! The place that a file is written to: a path, a URL or a callback.

use std::ffi::c_void;
use std::io::{self, Write};

use herringbone::FileTarget;

use crate::error::{Result, argument};

/// A callback that takes the bytes of a new file, in order.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HbSink {
    /// The first argument of the callback.
    pub data: *mut c_void,
    /// Takes all bytes, and returns 0, or a number of the system. Only the thread in the function that writes calls it.
    pub write:
        Option<unsafe extern "C" fn(data: *mut c_void, bytes: *const u8, length: usize) -> i32>,
}

/// An open sink.
pub(crate) enum Sink {
    Path(FileTarget),
    #[cfg(feature = "urls")]
    Url(Box<herringbone_remote::blocking::RemoteOutput>),
    Callback(HbSink),
}

impl Sink {
    pub(crate) fn callback(sink: HbSink) -> Result<Self> {
        match sink.write {
            Some(_) => Ok(Self::Callback(sink)),
            None => Err(argument("the sink has no write")),
        }
    }

    /// Makes the file of a path or a URL appear.
    pub(crate) fn commit(self) -> Result {
        match self {
            Self::Path(target) => Ok(target.commit()?),
            #[cfg(feature = "urls")]
            Self::Url(output) => Ok(output.complete()?),
            Self::Callback(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Path(target) => target.write(bytes),
            #[cfg(feature = "urls")]
            Self::Url(output) => output.write(bytes),
            Self::Callback(HbSink { data, write }) => {
                let Some(write) = write else {
                    return Err(io::Error::other("the sink has no write"));
                };
                // SAFETY: the caller promises that the callback may be called with its data and bytes.
                match unsafe { write(*data, bytes.as_ptr(), bytes.len()) } {
                    0 => Ok(bytes.len()),
                    code => Err(io::Error::from_raw_os_error(code)),
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Path(target) => target.flush(),
            #[cfg(feature = "urls")]
            Self::Url(output) => output.flush(),
            Self::Callback(_) => Ok(()),
        }
    }
}
