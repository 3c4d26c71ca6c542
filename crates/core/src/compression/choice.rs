//! The compression options for written pages. Each option is a codec with its level and has a text form.

use super::{BrotliLevel, GzipLevel, ZstdLevel};
use herringbone_format::{CompressionCodec, Error, Result};
use std::fmt;
use std::str::FromStr;

/// A column's compression when writing, that is, a codec with its level.
///
/// As text, this is the codec in lower case, followed by a colon and the level: `none`, `snappy`, `gzip:9`, `brotli`,
/// `zstd:3`, `lz4_raw`. If you omit the level, the codec's default level is used.
///
/// ```
/// use herringbone::{Compression, ZstdLevel};
///
/// let compression: Compression = "zstd:3".parse()?;
/// assert_eq!(compression, Compression::Zstd(ZstdLevel::new(3)?));
/// assert_eq!(compression.to_string(), "zstd:3");
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    Uncompressed,
    /// Snappy. Fast, but doesn't compress well.
    Snappy,
    /// Gzip. Slow, but compresses well and is supported by all readers.
    Gzip(GzipLevel),
    /// Brotli. Even smaller and slower than Gzip.
    Brotli(BrotliLevel),
    /// Zstandard. Ranges from faster than Snappy to smaller than Gzip, depending on the level.
    Zstd(ZstdLevel),
    /// LZ4 blocks without framing. The fastest to read.
    Lz4Raw,
}

impl Compression {
    /// The codecs' names in text, without a level.
    pub const NAMES: &'static [&'static str] =
        &["none", "snappy", "gzip", "brotli", "zstd", "lz4_raw"];

    /// Returns the codec that the column chunk metadata records.
    #[must_use]
    pub fn codec(self) -> CompressionCodec {
        match self {
            Self::Uncompressed => CompressionCodec::Uncompressed,
            Self::Snappy => CompressionCodec::Snappy,
            Self::Gzip(_) => CompressionCodec::Gzip,
            Self::Brotli(_) => CompressionCodec::Brotli,
            Self::Zstd(_) => CompressionCodec::Zstd,
            Self::Lz4Raw => CompressionCodec::Lz4Raw,
        }
    }
}

#[cfg(feature = "zstd")]
fn standard() -> Compression {
    Compression::Zstd(ZstdLevel::default())
}

#[cfg(all(feature = "snappy", not(feature = "zstd")))]
fn standard() -> Compression {
    Compression::Snappy
}

#[cfg(not(any(feature = "zstd", feature = "snappy")))]
fn standard() -> Compression {
    Compression::Uncompressed
}

impl Default for Compression {
    /// Returns ZSTD at level 1, or SNAPPY without the feature `zstd`. Without `snappy` as well, this returns no
    /// compression.
    fn default() -> Self {
        standard()
    }
}

impl fmt::Display for Compression {
    /// Formats the text that [`Compression::from_str`] accepts, including the level if the codec has levels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncompressed => f.pad("none"),
            Self::Snappy => f.pad("snappy"),
            Self::Gzip(level) => f.pad(&format!("gzip:{level}")),
            Self::Brotli(level) => f.pad(&format!("brotli:{level}")),
            Self::Zstd(level) => f.pad(&format!("zstd:{level}")),
            Self::Lz4Raw => f.pad("lz4_raw"),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// # Errors
    ///
    /// Fails with Argument if the codec is unknown or supported only for reading, if the text has a level but the codec
    /// has none, or if the level is out of range.
    fn from_str(text: &str) -> Result<Self> {
        let (name, level) = match text.split_once(':') {
            Some((name, level)) => (name, Some(level)),
            None => (text, None),
        };
        let name = name.to_ascii_lowercase();
        let without_level = match name.as_str() {
            "gzip" => {
                let level = number(level)?.map(GzipLevel::new).transpose()?;
                return Ok(Self::Gzip(level.unwrap_or_default()));
            }
            "brotli" => {
                let level = number(level)?.map(BrotliLevel::new).transpose()?;
                return Ok(Self::Brotli(level.unwrap_or_default()));
            }
            "zstd" => {
                let level = number(level)?.map(ZstdLevel::new).transpose()?;
                return Ok(Self::Zstd(level.unwrap_or_default()));
            }
            "none" | "uncompressed" => Self::Uncompressed,
            "snappy" => Self::Snappy,
            "lz4_raw" => Self::Lz4Raw,
            "lz4" => {
                return Err(Error::argument(
                    "the codec LZ4 is deprecated and can only be read; use `lz4_raw`, which is LZ4 \
                     without Hadoop framing",
                ));
            }
            "lzo" => return Err(Error::argument("the codec LZO can only be read")),
            _ => return Err(unknown(&name)),
        };
        match level {
            None => Ok(without_level),
            Some(_) => Err(Error::argument(format!("{name} does not have levels"))),
        }
    }
}

/// Returns the error for an unknown codec. If only the colon before the level is missing, the error suggests adding it.
#[cold]
fn unknown(name: &str) -> Error {
    let codec = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let level = name.strip_prefix(codec).unwrap_or_default();
    let tip = match codec {
        "gzip" | "brotli" | "zstd" => format!(" (did you mean `{codec}:{level}`?)"),
        _ => String::new(),
    };
    Error::argument(format!(
        "unknown codec `{name}`{tip}; use one of: {}",
        Compression::NAMES.join(", ")
    ))
}

/// Parses the level after the colon, if there is one.
fn number(level: Option<&str>) -> Result<Option<i32>> {
    let parse = |level: &str| {
        level
            .parse()
            .map_err(|_| Error::argument(format!("`{level}` is not a level; expected a number")))
    };
    level.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_format::ErrorKind;

    #[test]
    fn text_and_back() {
        for name in Compression::NAMES {
            let compression: Compression = name.parse().unwrap();
            let shown = compression.to_string();
            assert_eq!(shown.split(':').next(), Some(*name));
            assert_eq!(shown.parse::<Compression>().unwrap(), compression);
        }
        for (text, shown) in [
            ("none", "none"),
            ("UNCOMPRESSED", "none"),
            ("Snappy", "snappy"),
            ("gzip", "gzip:6"),
            ("gzip:1", "gzip:1"),
            ("brotli", "brotli:4"),
            ("brotli:11", "brotli:11"),
            ("zstd", "zstd:1"),
            ("zstd:-7", "zstd:-7"),
            ("ZSTD:22", "zstd:22"),
            ("lz4_raw", "lz4_raw"),
        ] {
            let compression: Compression = text.parse().unwrap();
            assert_eq!(compression.to_string(), shown);
            assert_eq!(shown.parse::<Compression>().unwrap(), compression);
        }
        assert_eq!(
            "zstd".parse::<Compression>().unwrap(),
            Compression::Zstd(ZstdLevel::default())
        );
        // This is the best codec compiled in.
        let best = match () {
            () if cfg!(feature = "zstd") => "zstd:1",
            () if cfg!(feature = "snappy") => "snappy",
            () => "none",
        };
        assert_eq!(Compression::default().to_string(), best);
    }

    #[test]
    fn what_cannot_be_written_says_why() {
        for (text, why) in [
            ("lz4", "lz4_raw"),
            ("LZO", "only be read"),
            ("", "unknown codec ``"),
            ("ZSTD9", "(did you mean `zstd:9`?)"),
            ("zip", "`zip`"),
            ("snappy:1", "not have levels"),
            ("none:", "not have levels"),
            ("gzip:0", "1 to 9"),
            ("gzip:", "not a level"),
            ("zstd:23", "22"),
            ("zstd:three", "`three`"),
            ("brotli:99999999999", "not a level"),
        ] {
            let error = text.parse::<Compression>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
            assert!(error.message().contains(why), "{text}: {error}");
        }
    }
}
