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

/// A boxed future that can move between threads. Dropping it cancels its work.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An object in a store, that is, a Parquet file with its bytes requested by range.
///
/// Implement this trait to read from your own store. A request is a future, polled only by the
/// reading task and dropped along with the read. Your implementation is responsible for retries,
/// timeouts and credentials.
///
/// We check each answer's range, byte count and [`Identity`].
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
    /// If your store does not support suffix requests, ask for the object's length first.
    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>>;

    /// Requests a range of the object with this identity.
    ///
    /// The request should have a precondition, such as `If-Match`. If the object was replaced
    /// meanwhile, the error must be of kind [`Replaced`](herringbone::ErrorKind::Replaced).
    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>>;

    /// Requests the whole object at once. This is a fallback for servers that ignore ranges and
    /// always answer with the whole object.
    ///
    /// This fails with Io if the object has more than `most` bytes. The default implementation
    /// always fails.
    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        let message = format!("the object has no request for all of it, of at most {most} bytes");
        let error = io::Error::new(io::ErrorKind::Unsupported, message);
        Box::pin(ready(Err(error.into())))
    }

    /// Returns the object's identity if it is known beforehand, for example from a listing. In this
    /// case, even the first request has a precondition, and [`Self::tail`] is not used.
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
    /// The range of the object according to the store's answer.
    pub range: Range<u64>,
    /// The object's identity.
    pub identity: Identity,
}

/// An object's identity, consisting of its length and properties that change when the object is
/// replaced.
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
    /// The object's ETag, including the quotation marks.
    pub e_tag: Option<String>,
    /// The object's version, if the store supports versions.
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

    /// Returns the ETag if it identifies the object's bytes. A weak ETag does not, so it never
    /// satisfies `If-Match`.
    #[must_use]
    pub fn strong_e_tag(&self) -> Option<&str> {
        self.e_tag
            .as_deref()
            .filter(|e_tag| !e_tag.starts_with("W/"))
    }

    /// Adds any properties that only `other` has, for the same object.
    pub(crate) fn completed(self, other: Self) -> Self {
        Self {
            length: self.length,
            e_tag: self.e_tag.or(other.e_tag),
            version: self.version.or(other.version),
            modified: self.modified.or(other.modified),
        }
    }

    /// Returns true if both might belong to the same object. This compares the lengths, and any
    /// versions and ETags that both have. The modification times only count if there are none of
    /// these.
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
        // A store can list fewer properties than it answers with.
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
