//! Why bytes are no well-known binary.

use std::fmt;

use herringbone_format::{Error, ErrorKind};

use super::{GeometryKind, GeometryType};

/// What is wrong, and at which byte of the value. It does not allocate: a column may have as many as
/// it has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WkbError {
    /// What is wrong.
    pub kind: WkbErrorKind,
    /// The byte of the value where it is seen, from 0.
    pub at: usize,
}

/// What is wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WkbErrorKind {
    /// The value ends within a geometry; so many bytes are missing at least.
    Truncated {
        /// How many.
        missing: u64,
    },
    /// Bytes after the geometry; so many.
    Trailing(usize),
    /// A byte order that is neither 0 nor 1.
    ByteOrder(u8),
    /// A code that no geometry has.
    Code(u32),
    /// A part of a kind that the whole cannot have.
    Part {
        /// What the whole is.
        whole: GeometryKind,
        /// What the part is.
        part: GeometryKind,
    },
    /// It is kept, but not looked into, which what was asked for takes.
    Opaque(GeometryKind),
    /// A part has ordinates that the whole does not have, and what was asked for has no place for
    /// them.
    PartDimensions {
        /// The type of the whole.
        whole: GeometryType,
        /// That of the part.
        part: GeometryType,
    },
    /// Geometries inside of each other, more of them than [`ReadOptions::max_depth`] allows.
    ///
    /// [`ReadOptions::max_depth`]: super::ReadOptions::max_depth
    TooDeep(usize),
    /// More bytes than [`ReadOptions::max_bytes`] allows.
    ///
    /// [`ReadOptions::max_bytes`]: super::ReadOptions::max_bytes
    TooLong {
        /// Bytes of the value.
        bytes: usize,
        /// Bytes that are allowed.
        allowed: usize,
    },
}

impl WkbErrorKind {
    /// Whose fault it is.
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
                "the value ends {missing} bytes too early for what starts at byte {at}"
            ),
            WkbErrorKind::Trailing(bytes) => {
                write!(f, "the geometry ends at byte {at}, but {bytes} more follow")
            }
            WkbErrorKind::ByteOrder(order) => {
                write!(f, "the byte order at byte {at} is {order}, neither 0 nor 1")
            }
            WkbErrorKind::Code(code) => {
                write!(
                    f,
                    "the code of the geometry at byte {at} is {code} (0x{code:08x}), which no type has"
                )
            }
            WkbErrorKind::Part { whole, part } => {
                write!(f, "the part at byte {at} of a {whole} is a {part}")
            }
            WkbErrorKind::Opaque(kind) => {
                write!(
                    f,
                    "the geometry at byte {at} is a {kind}, which is kept but not looked into"
                )
            }
            WkbErrorKind::PartDimensions { whole, part } => {
                write!(f, "the part at byte {at} of a {whole} is a {part}")
            }
            WkbErrorKind::TooDeep(allowed) => write!(
                f,
                "the geometry at byte {at} is inside of more than the {allowed} others that \
                 `max_depth` allows"
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
