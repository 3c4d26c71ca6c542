//! Errors for C, and the guard that lets no panic pass.

use std::ffi::{CString, c_char};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use herringbone::arrow::schema::ArrowError;
use herringbone::{Error, ErrorKind, Location, Remedy};
use herringbone_c_check::Refused;

/// The kinds of errors. Later versions may have more.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HbErrorKind {
    /// The system, a server or a callback failed.
    Io = 1,
    /// A file contradicts the format or itself.
    Corrupt = 2,
    /// A file or data has something that the library does not know.
    Unsupported = 3,
    /// Something is larger than a limit. The remedy names the option with the limit.
    Limit = 4,
    /// The library was built without a feature.
    Feature = 5,
    /// An argument or an option is wrong, or a struct of Arrow is invalid.
    Argument = 6,
    /// A key is missing or wrong.
    Key = 7,
    /// A file was replaced while it was read.
    Replaced = 8,
    /// A progress callback ended the call.
    Cancelled = 9,
    /// A mistake of the library.
    Bug = 10,
}

/// An error. It belongs to the caller, who frees it by `hb_error_free`. It may be used from any thread.
#[derive(Debug, Clone)]
pub struct HbError {
    kind: HbErrorKind,
    text: CString,
    message: CString,
    remedy: Option<CString>,
    column: Option<CString>,
    location: Location,
}

/// The result of the inside of a function.
pub(crate) type Result<T = (), E = Box<HbError>> = std::result::Result<T, E>;

/// The cause of an error after a callback ended the call.
#[derive(Debug)]
pub(crate) struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the progress callback ended the call")
    }
}

impl std::error::Error for Cancelled {}

/// Returns a text for C. Zero bytes, which would end it, become U+FFFD.
pub(crate) fn text_of(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl HbError {
    fn of_kind(kind: HbErrorKind, message: &str) -> Self {
        Self {
            kind,
            text: text_of(message),
            message: text_of(message),
            remedy: None,
            column: None,
            location: Location::default(),
        }
    }

    pub(crate) fn text(&self) -> &CString {
        &self.text
    }

    /// Returns the number of the system for an error of a stream.
    pub(crate) fn errno(&self) -> i32 {
        const EIO: i32 = 5;
        const EINVAL: i32 = 22;
        match self.kind {
            HbErrorKind::Argument | HbErrorKind::Unsupported | HbErrorKind::Feature => EINVAL,
            _ => EIO,
        }
    }
}

impl From<Error> for Box<HbError> {
    fn from(error: Error) -> Self {
        let is_cancelled = |io: &io::Error| io.get_ref().is_some_and(|it| it.is::<Cancelled>());
        let kind = match error.kind() {
            _ if error.io_error().is_some_and(is_cancelled) => HbErrorKind::Cancelled,
            ErrorKind::Corrupt => HbErrorKind::Corrupt,
            ErrorKind::Unsupported => HbErrorKind::Unsupported,
            ErrorKind::Limit => HbErrorKind::Limit,
            ErrorKind::Feature => HbErrorKind::Feature,
            ErrorKind::Argument => HbErrorKind::Argument,
            ErrorKind::Key => HbErrorKind::Key,
            ErrorKind::Replaced => HbErrorKind::Replaced,
            _ => HbErrorKind::Io,
        };
        let remedy = error.remedy().map(option_of);
        let mut text = error.message().to_owned();
        if let Some(remedy) = &remedy {
            text = format!("{text}; try {remedy}");
        }
        if *error.location() != Location::default() {
            text = format!("{text} ({})", error.location());
        }
        Self::new(HbError {
            kind,
            text: text_of(&text),
            message: text_of(error.message()),
            remedy: remedy.as_deref().map(text_of),
            column: error.location().column.as_deref().map(text_of),
            location: error.location().clone(),
        })
    }
}

impl From<ArrowError> for Box<HbError> {
    fn from(error: ArrowError) -> Self {
        Error::from(error).into()
    }
}

impl From<io::Error> for Box<HbError> {
    fn from(error: io::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<Refused> for Box<HbError> {
    fn from(refused: Refused) -> Self {
        Error::argument(refused.to_string()).into()
    }
}

/// Returns the option that helps, as it is written in C.
fn option_of(remedy: Remedy) -> String {
    match remedy {
        Remedy::RaiseLimit(limit) => format!("the option \"max.{limit}\" with a higher number"),
        Remedy::IgnoreChecksums => "the option \"verify_crc\" with \"off\"".to_owned(),
        Remedy::ChooseLeaves | Remedy::LeaveOutColumn => {
            "options \"column\" without this column".to_owned()
        }
        Remedy::AllowOutOfRange => "the option \"allow_out_of_range\" with \"on\"".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the error for a wrong argument.
pub(crate) fn argument(message: impl Into<String>) -> Box<HbError> {
    Error::argument(message).into()
}

/// Runs a function. A panic becomes an error.
pub(crate) fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (None, Some(text)) => text.as_str(),
            (None, None) => "no message",
        };
        let text = format!("a bug in herringbone: {text}");
        Err(Box::new(HbError::of_kind(HbErrorKind::Bug, &text)))
    })
}

/// Runs the body of a function that C calls, and returns its error, or null.
pub(crate) fn entry(body: impl FnOnce() -> Result) -> *mut HbError {
    match guarded(body) {
        Ok(()) => std::ptr::null_mut(),
        Err(error) => Box::into_raw(error),
    }
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

fn number(value: Option<impl TryInto<i64>>) -> i64 {
    value.and_then(|value| value.try_into().ok()).unwrap_or(-1)
}

/// Returns the kind of an error.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_kind(error: *const HbError) -> HbErrorKind {
    // SAFETY: the caller promises a valid error.
    unsafe { &*error }.kind
}

/// Returns the whole error on one line: message, remedy and place. The text belongs to the error.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_text(error: *const HbError) -> *const c_char {
    // SAFETY: the caller promises a valid error.
    unsafe { &*error }.text.as_ptr()
}

/// Returns the problem alone. The text belongs to the error.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_message(error: *const HbError) -> *const c_char {
    // SAFETY: the caller promises a valid error.
    unsafe { &*error }.message.as_ptr()
}

/// Returns the option that helps, or null. The text belongs to the error.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_remedy(error: *const HbError) -> *const c_char {
    // SAFETY: the caller promises a valid error.
    pointer(unsafe { &*error }.remedy.as_ref())
}

/// Returns the path of the column with the problem, or null. The text belongs to the error.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_column(error: *const HbError) -> *const c_char {
    // SAFETY: the caller promises a valid error.
    pointer(unsafe { &*error }.column.as_ref())
}

/// Returns the row group with the problem, or -1.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_row_group(error: *const HbError) -> i64 {
    // SAFETY: the caller promises a valid error.
    number(unsafe { &*error }.location.row_group)
}

/// Returns the page of the column chunk with the problem, or -1.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_page(error: *const HbError) -> i64 {
    // SAFETY: the caller promises a valid error.
    number(unsafe { &*error }.location.page)
}

/// Returns the offset in the file of the problem, or -1.
///
/// # Safety
/// `error` is an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_offset(error: *const HbError) -> i64 {
    // SAFETY: the caller promises a valid error.
    number(unsafe { &*error }.location.offset)
}

/// Frees an error. Null is allowed.
///
/// # Safety
/// `error` is null, or an error of this library that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_error_free(error: *mut HbError) {
    if !error.is_null() {
        // SAFETY: the caller promises an error of `entry`, which is not used afterwards.
        drop(unsafe { Box::from_raw(error) });
    }
}
