//! Requests with checked answers, for all stores. Use these if you read an [`Object`] with your own
//! driver.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use herringbone_remote::{Object, request};
//!
//! /// Returns the first and the last four bytes of an object.
//! async fn marks(object: Arc<dyn Object>) -> herringbone::Result<(Bytes, Bytes)> {
//!     let (end, identity) = request::tail(&object, 4).await?;
//!     let beginning = request::range(object, 0..4, Arc::new(identity)).await?;
//!     Ok((beginning, end))
//! }
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Error, ErrorKind, Result};

use crate::object::{Answer, BoxFuture, Identity, Object};
use crate::whole::MaybeWhole;

/// The largest object in bytes to read whole if the server ignores ranges.
pub const MAX_WHOLE_BYTES: u64 = 256 << 20;

/// An object, after its answer to the request for its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Opened {
    /// The object to read the rest from. It is kept in memory as soon as the server answers a range
    /// with the whole object.
    pub object: Arc<dyn Object>,
    /// The object's end, or all of it if the server ignores ranges.
    pub tail: Bytes,
    /// The object's identity.
    pub identity: Identity,
}

/// Requests an object's last `bytes` bytes, like [`tail`]. A server that ignores ranges answers
/// with the whole object. In this case, all of it is read, so that no further request is needed.
///
/// # Errors
/// Fails for the same reasons as [`tail`]. Fails with [Io](ErrorKind::Io) if the server has no
/// requests for ranges, and the object has more than [`MAX_WHOLE_BYTES`], and with
/// [Replaced](ErrorKind::Replaced) if that object does not have the identity known beforehand.
pub async fn open(object: Arc<dyn Object>, bytes: u64) -> Result<Opened> {
    let whole = Arc::new(MaybeWhole::new(object));
    let object: Arc<dyn Object> = whole.clone();
    let (tail, identity) = tail(&object, bytes).await?;
    Ok(Opened {
        tail: whole.held().unwrap_or(tail),
        object,
        identity,
    })
}

/// Requests an object's last `bytes` bytes, or all of it if it is shorter. Returns them with the
/// object's identity.
///
/// # Errors
/// Fails with [Io](ErrorKind::Io) if the store fails, or if its answer is not the object's end, and
/// with [Replaced](ErrorKind::Replaced) if the object does not have the identity known beforehand.
pub async fn tail(object: &Arc<dyn Object>, bytes: u64) -> Result<(Bytes, Identity)> {
    if let Some(identity) = object.identity() {
        let range = identity.length.saturating_sub(bytes)..identity.length;
        if range.is_empty() {
            return Ok((Bytes::new(), identity));
        }
        // The known identity might only have a length, so we compare later answers with the whole
        // identity in this one.
        let answer = answer(object.clone(), range, Arc::new(identity.clone())).await?;
        return Ok((answer.bytes, identity.completed(answer.identity)));
    }
    let request = Requested::Tail(bytes);
    let answer = object.tail(bytes).await;
    let answer = answer.map_err(|error| named(object.name(), &request, error))?;
    let length = answer.identity.length;
    let expected = length.saturating_sub(bytes)..length;
    check(&answer, &expected).map_err(|error| named(object.name(), &request, error.into()))?;
    Ok((answer.bytes, answer.identity))
}

/// Requests a range of the object with this identity.
///
/// The future fails with Io if the store fails, or if its answer is not that range. It fails with
/// Replaced if the object has another identity.
pub fn range(
    object: Arc<dyn Object>,
    range: Range<u64>,
    identity: Arc<Identity>,
) -> BoxFuture<Result<Bytes>> {
    Box::pin(async move {
        answer(object, range, identity)
            .await
            .map(|answer| answer.bytes)
    })
}

/// Requests a range like [`range`], but returns the whole answer.
fn answer(
    object: Arc<dyn Object>,
    range: Range<u64>,
    identity: Arc<Identity>,
) -> BoxFuture<Result<Answer>> {
    // This is inside a future, so that the store only prepares the request when the future is
    // polled.
    Box::pin(async move {
        let answer = object.range(range.clone(), &identity).await;
        let checked = answer.and_then(|answer| {
            if !identity.matches(&answer.identity) {
                return Err(replaced(&identity, &answer.identity));
            }
            check(&answer, &range)?;
            Ok(answer)
        });
        checked.map_err(|error| {
            let start = range.start;
            named(object.name(), &Requested::Range(range), error).at_offset(start)
        })
    })
}

fn replaced(first: &Identity, now: &Identity) -> Error {
    let message = format!("the object had {first} when it was opened, and has {now} now");
    Error::new(ErrorKind::Replaced, message)
}

/// Fails unless an answer has exactly the bytes of this range.
pub(crate) fn check(answer: &Answer, expected: &Range<u64>) -> io::Result<()> {
    let Range { start, end } = answer.range;
    if answer.range != *expected {
        let message = format!(
            "the store answered with the bytes {start}..{end}, not {}..{}",
            expected.start, expected.end
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let (got, wanted) = (answer.bytes.len() as u64, end.saturating_sub(start));
    if got == wanted {
        return Ok(());
    }
    let (kind, message) = match got < wanted {
        true => (
            io::ErrorKind::UnexpectedEof,
            format!("the answer ends after {got} of {wanted} bytes"),
        ),
        false => (
            io::ErrorKind::InvalidData,
            format!("the answer has {got} bytes or more, not {wanted}"),
        ),
    };
    Err(io::Error::new(kind, message))
}

/// The bytes that a request asks for, used in error messages.
enum Requested {
    Tail(u64),
    Range(Range<u64>),
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tail(bytes) => write!(f, "the last {bytes} bytes"),
            Self::Range(range) => write!(f, "bytes {}..{}", range.start, range.end),
        }
    }
}

/// Adds the object's name and the requested bytes or step to an error.
pub(crate) fn named(object: &str, requested: &dyn fmt::Display, error: Error) -> Error {
    let message = format!("{object}, {requested}: {}", error.message());
    with_message(error, message)
}

/// Replaces an error's message, keeping its kind, cause, location and remedy.
pub(crate) fn with_message(error: Error, message: String) -> Error {
    let (location, remedy) = (error.location().clone(), error.remedy());
    let mut new = match error.kind() {
        ErrorKind::Io => {
            let error = io::Error::from(error);
            let kind = error.kind();
            Error::from(io::Error::new(kind, RequestError { message, error }))
        }
        kind => Error::new(kind, message),
    };
    if let Some(offset) = location.offset {
        new = new.at_offset(offset);
    }
    if let Some(row_group) = location.row_group {
        new = new.in_row_group(row_group);
    }
    if let Some(column) = location.column {
        new = new.in_column(column);
    }
    if let Some(page) = location.page {
        new = new.in_page(page);
    }
    match remedy {
        Some(remedy) => new.with_remedy(remedy),
        None => new,
    }
}

/// A store's error with the object's name.
#[derive(Debug)]
struct RequestError {
    message: String,
    error: io::Error,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for RequestError {
    /// Returns the cause of the store's error, skipping that error itself because its message is
    /// already part of this one.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.get_ref()?.source()
    }
}
