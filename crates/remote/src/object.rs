//! The interface to an object in a store.

use std::fmt::{self, Debug};
use std::future::ready;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::time::SystemTime;

use bytes::Bytes;
use herringbone::Result;
use herringbone::push::FetchPolicy;

/// A boxed future that can move between threads, and whose work is cancelled when it is dropped.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An object in a store, which is a Parquet file whose bytes are requested by range.
///
/// A request is a future that only the reading task polls, and that it drops when the read is
/// dropped. Your implementation is responsible for retries, timeouts and credentials.
///
/// We check each answer's range, its byte count and its [`Identity`].
///
/// ```
/// use std::ops::Range;
///
/// use bytes::Bytes;
/// use herringbone_remote::{Answer, BoxFuture, Identity, Object};
///
/// /// An object in memory.
/// #[derive(Debug)]
/// struct InMemory(Bytes);
///
/// impl InMemory {
///     fn answer(&self, range: Range<u64>) -> BoxFuture<herringbone::Result<Answer>> {
///         let bytes = self.0.slice(range.start as usize..range.end as usize);
///         let identity = Identity::new(self.0.len() as u64);
///         Box::pin(async move { Ok(Answer { bytes, range, identity }) })
///     }
/// }
///
/// impl Object for InMemory {
///     fn name(&self) -> &str {
///         "an object in memory"
///     }
///     fn tail(&self, bytes: u64) -> BoxFuture<herringbone::Result<Answer>> {
///         let length = self.0.len() as u64;
///         self.answer(length.saturating_sub(bytes)..length)
///     }
///     fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<herringbone::Result<Answer>> {
///         self.answer(range)
///     }
/// }
/// ```
pub trait Object: Debug + Send + Sync {
    /// Returns the object's name for error messages and caches, for example a URL without
    /// credentials.
    fn name(&self) -> &str;

    /// Requests the object's last `bytes` bytes, or all of the object if it is shorter.
    ///
    /// If your store has no requests for an object's end, it may ask for the object's length first.
    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>>;

    /// Requests a range of the object with this identity.
    ///
    /// The request should have a precondition, such as `If-Match`. If the store now has another
    /// object under this name, the error is of kind [`Replaced`](herringbone::ErrorKind::Replaced).
    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>>;

    /// Requests all of the object at once. We need this for servers that answer a request for a
    /// range with all of the object.
    ///
    /// If the object has more than `most` bytes, this fails with Io, and by default it fails for
    /// each object.
    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        let message = format!("the object has no request for all of it, of at most {most} bytes");
        let error = io::Error::new(io::ErrorKind::Unsupported, message);
        Box::pin(ready(Err(error.into())))
    }

    /// Returns the object's identity if it is known beforehand, for example from a listing. The
    /// first request then has a precondition, too, and [`Self::tail`] is not used.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Returns the best way to request bytes from the store.
    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::remote()
    }
}

/// A store's answer to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The bytes.
    pub bytes: Bytes,
    /// The range of the object that the store claims to have sent.
    pub range: Range<u64>,
    /// The object's identity.
    pub identity: Identity,
}

/// The identity of an object, which consists of its length and of properties that change when the
/// object is replaced.
///
/// ```
/// use herringbone_remote::Identity;
///
/// let identity = |tag: &str| Identity::new(1000).e_tag(Some(tag.to_owned()));
/// assert!(identity("\"1\"").matches(&identity("\"1\"")));
/// // The object was replaced.
/// assert!(!identity("\"1\"").matches(&identity("\"2\"")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The object's length in bytes.
    pub length: u64,
    /// The object's ETag, with its quotation marks.
    pub e_tag: Option<String>,
    /// The object's version, if the store has versions.
    pub version: Option<String>,
    /// The time when the object was last modified.
    pub modified: Option<SystemTime>,
}

impl Identity {
    /// Creates the identity of an object of `length` bytes.
    #[must_use]
    pub fn new(length: u64) -> Self {
        Self {
            length,
            e_tag: None,
            version: None,
            modified: None,
        }
    }

    /// Sets the ETag.
    #[must_use]
    pub fn e_tag(self, e_tag: Option<String>) -> Self {
        Self { e_tag, ..self }
    }

    /// Sets the version.
    #[must_use]
    pub fn version(self, version: Option<String>) -> Self {
        Self { version, ..self }
    }

    /// Sets the time when the object was last modified.
    #[must_use]
    pub fn modified(self, modified: Option<SystemTime>) -> Self {
        Self { modified, ..self }
    }

    /// Returns the ETag if it identifies the object's bytes, which a weak ETag does not, so that it
    /// never satisfies `If-Match`.
    #[must_use]
    pub fn strong_e_tag(&self) -> Option<&str> {
        self.e_tag
            .as_deref()
            .filter(|e_tag| !e_tag.starts_with("W/"))
    }

    /// Adds those properties of the same object that only `other` has.
    pub(crate) fn completed(self, other: Self) -> Self {
        Self {
            length: self.length,
            e_tag: self.e_tag.or(other.e_tag),
            version: self.version.or(other.version),
            modified: self.modified.or(other.modified),
        }
    }

    /// Returns true if both may belong to the same object. This function compares the lengths, and
    /// the versions and ETags that both have. Only if there are none of these, it compares the
    /// times of the last modification.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let mut same = self.length == other.length;
        let mut is_compared = false;
        let names = [(&self.version, &other.version), (&self.e_tag, &other.e_tag)];
        for (first, second) in names {
            if let (Some(first), Some(second)) = (first, second) {
                same &= first == second;
                is_compared = true;
            }
        }
        match (self.modified, other.modified) {
            (Some(first), Some(second)) if !is_compared => same && first == second,
            _ => same,
        }
    }
}

impl fmt::Display for Identity {
    /// Formats the identity, for example as `5000 bytes, ETag "a1"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)?;
        if let Some(version) = &self.version {
            write!(f, ", version {version}")?;
        }
        match (&self.e_tag, self.modified) {
            (Some(e_tag), _) => write!(f, ", ETag {e_tag}"),
            (None, Some(time)) => match time.duration_since(SystemTime::UNIX_EPOCH) {
                Ok(since) => write!(f, ", modified {} s after 1970", since.as_secs()),
                Err(_) => f.write_str(", modified before 1970"),
            },
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    #[test]
    fn an_e_tag_or_version_decides_before_the_time() {
        let first = Identity::new(5).e_tag(Some("\"a\"".into())).modified(at(1));
        assert!(first.matches(&first.clone().modified(at(2))));
        assert!(!first.matches(&first.clone().e_tag(Some("\"b\"".into()))));
        assert!(!first.matches(&Identity::new(6).e_tag(first.e_tag.clone())));
        let versioned = first.clone().version(Some("1".into()));
        assert!(!versioned.matches(&versioned.clone().version(Some("2".into()))));
        // A store may list fewer properties than it answers with.
        assert!(versioned.matches(&Identity::new(5)));
        let timed = Identity::new(5).modified(at(1));
        assert!(!timed.matches(&timed.clone().modified(at(2))));
        assert_eq!(first.to_string(), "5 bytes, ETag \"a\"");
        assert_eq!(timed.to_string(), "5 bytes, modified 1 s after 1970");
    }

    #[test]
    fn a_weak_e_tag_does_not_identify_bytes() {
        let weak = Identity::new(5).e_tag(Some("W/\"a\"".into()));
        assert_eq!(weak.strong_e_tag(), None);
        let strong = Identity::new(5).e_tag(Some("\"a\"".into()));
        assert_eq!(strong.strong_e_tag(), Some("\"a\""));
    }
}
