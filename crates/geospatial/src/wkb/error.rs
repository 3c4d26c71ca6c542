//! Names the reasons why bytes are not well-known binary.

use std::fmt;

use herringbone_format::{Error, ErrorKind};

use super::{GeometryKind, GeometryType};

/// An error with its byte offset in the value. It doesn't allocate, because in a bad column every
/// value might have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WkbError {
    /// The kind of error.
    pub kind: WkbErrorKind,
    /// The offset in the value at which the error was found, counted from 0.
    pub at: usize,
}

/// The kind of error in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WkbErrorKind {
    /// The value ends inside a geometry.
    Truncated {
        /// The minimum number of missing bytes.
        missing: u64,
    },
    /// Bytes follow the end of the geometry. This is their number.
    Trailing(usize),
    /// A byte order that is neither 0 nor 1.
    ByteOrder(u8),
    /// A code that no geometry type has.
    Code(u32),
    /// A part has a kind that is not allowed in the whole geometry.
    Part {
        /// The kind of the whole geometry.
        whole: GeometryKind,
        /// The kind of the part.
        part: GeometryKind,
    },
    /// A geometry has an opaque kind, but the requested operation needs to decode it.
    Opaque(GeometryKind),
    /// A part has ordinates missing from the whole geometry, so the output has no place for them.
    PartDimensions {
        /// The type of the whole geometry.
        whole: GeometryType,
        /// The type of the part.
        part: GeometryType,
    },
    /// Geometries are nested deeper than [`ReadOptions::max_depth`] allows.
    ///
    /// [`ReadOptions::max_depth`]: super::ReadOptions::max_depth
    TooDeep(usize),
    /// The value has more bytes than [`ReadOptions::max_bytes`] allows.
    ///
    /// [`ReadOptions::max_bytes`]: super::ReadOptions::max_bytes
    TooLong {
        /// The value's byte count.
        bytes: usize,
        /// The limit in bytes.
        allowed: usize,
    },
}

impl WkbErrorKind {
    /// Returns the class of the error: a limit, unsupported, or corrupt data.
    #[must_use]
    pub fn error_kind(self) -> ErrorKind {
        match self {
            Self::TooDeep(_) | Self::TooLong { .. } => ErrorKind::Limit,
            Self::Opaque(_) | Self::PartDimensions { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Corrupt,
        }
    }
}

impl fmt::Display for WkbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            WkbErrorKind::Truncated { missing } => write!(
                f,
                "the item at byte {at} extends {missing} bytes past the end of the value"
            ),
            WkbErrorKind::Trailing(bytes) => {
                write!(
                    f,
                    "the geometry ends at byte {at}, but {bytes} more bytes follow"
                )
            }
            WkbErrorKind::ByteOrder(order) => {
                write!(f, "the byte order at byte {at} is {order}, neither 0 nor 1")
            }
            WkbErrorKind::Code(code) => {
                write!(
                    f,
                    "the geometry at byte {at} has the unknown type code {code} (0x{code:08x})"
                )
            }
            WkbErrorKind::Part { whole, part } => {
                write!(f, "the part at byte {at} of a {whole} is a {part}")
            }
            WkbErrorKind::Opaque(kind) => {
                write!(
                    f,
                    "the geometry at byte {at} is a {kind}, which is kept but not parsed"
                )
            }
            WkbErrorKind::PartDimensions { whole, part } => {
                write!(f, "the part at byte {at} of a {whole} is a {part}")
            }
            WkbErrorKind::TooDeep(allowed) => write!(
                f,
                "the geometry at byte {at} is nested more deeply than `max_depth` allows, {allowed}"
            ),
            WkbErrorKind::TooLong { bytes, allowed } => write!(
                f,
                "the geometry has {bytes} bytes, more than the {allowed} that `max_bytes` allows"
            ),
        }
    }
}

impl std::error::Error for WkbError {}

impl From<WkbError> for Error {
    fn from(error: WkbError) -> Self {
        Self::new(error.kind.error_kind(), error.to_string())
    }
}
