//! The text form of options with few values.

use std::fmt;
use std::str::FromStr;

use herringbone_format::{Error, Result};
use herringbone_text::size::Size;

use super::content_defined::ContentDefinedChunking;
use super::options::{BloomFilterOptions, Compatibility, DataPageVersion, Prefer, StatisticsLevel};

/// Returns the named value. The name is matched without regard to case, and with hyphens or underscores.
///
/// # Errors
/// Fails with `Argument` if no value has this name.
pub(crate) fn choose<T: Copy>(what: &str, text: &str, values: &[(&str, T)]) -> Result<T> {
    let is_equal = |name: &str| name.eq_ignore_ascii_case(&text.replace('-', "_"));
    let known = values.iter().find(|(name, _)| is_equal(name));
    known.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        Error::argument(format!(
            "unknown {what} `{text}`; use one of: {}",
            names.join(", ")
        ))
    })
}

/// Implements an enum's text form. Each value has a name, and can have an alias that only `FromStr` accepts.
macro_rules! names {
    ($what:literal $name:ident { $($variant:ident $text:literal $(or $other:literal)?,)+ }) => {
        impl $name {
            /// All values of this enum.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// # Errors
            ///
            /// Fails with `Argument` if no value has this name, in upper or lower case.
            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($($other => Ok(Self::$variant),)?)+
                    _ => choose($what, text, &[$(($text, Self::$variant),)+]),
                }
            }
        }
    };
}

names! { "compatibility" Compatibility {
    Widest "widest",
    Modern "modern",
    Newest "newest",
}}

names! { "preference" Prefer {
    Size "size",
    Balanced "balanced",
    ReadSpeed "read_speed" or "reading",
}}

names! { "page version" DataPageVersion {
    V1 "1" or "1.0",
    V2 "2" or "2.0",
}}

names! { "level of statistics" StatisticsLevel {
    None "none",
    Counts "counts",
    Chunk "chunk",
    Page "page",
}}

impl fmt::Display for ContentDefinedChunking {
    /// Formats the sizes as in `256KiB..1MiB`, followed by the level after a colon unless it is 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (Size(self.min_chunk_bytes), Size(self.max_chunk_bytes));
        match self.norm_level {
            0 => f.pad(&format!("{min}..{max}")),
            level => f.pad(&format!("{min}..{max}:{level}")),
        }
    }
}

impl FromStr for ContentDefinedChunking {
    type Err = Error;

    /// # Errors
    ///
    /// Fails with `Argument` if the text is neither `on` nor two ascending sizes, with or without a level.
    fn from_str(text: &str) -> Result<Self> {
        if text == "on" {
            return Ok(Self::new());
        }
        let (sizes, level) = text.split_once(':').unwrap_or((text, "0"));
        let (min, max) = sizes.split_once("..").ok_or_else(|| {
            Error::argument(format!(
                "`{text}` is not two sizes; use `on`, or sizes as in `256KiB..1MiB`"
            ))
        })?;
        let level = level.parse().map_err(|_| {
            Error::argument(format!(
                "`{level}` is not a level; expected a number such as -1, 0 or 2"
            ))
        })?;
        // Unlike for other sizes, a minimum of 0 bytes is allowed.
        let min = if min == "0" { 0 } else { size(min)? };
        let max = size(max)?;
        if min >= max {
            return Err(Error::argument(format!(
                "the sizes of `{text}` do not ascend; put the smaller size first"
            )));
        }
        let chunking = Self::new().min_chunk_bytes(min).max_chunk_bytes(max);
        Ok(chunking.norm_level(level))
    }
}

impl fmt::Display for BloomFilterOptions {
    /// Formats the false positive rate, followed by a colon and the number of distinct values if it is set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distinct_values {
            None => f.pad(&self.false_positives.to_string()),
            Some(distinct) => f.pad(&format!("{}:{distinct}", self.false_positives)),
        }
    }
}

impl FromStr for BloomFilterOptions {
    type Err = Error;

    /// # Errors
    ///
    /// Fails with `Argument` if the text is neither `on` nor a share between 0 and 1, with or without a number of
    /// distinct values.
    fn from_str(text: &str) -> Result<Self> {
        if text == "on" {
            return Ok(Self::default());
        }
        let (share, distinct) = match text.split_once(':') {
            Some((share, distinct)) => (share, Some(distinct)),
            None => (text, None),
        };
        let is_share = |share: &f64| *share > 0.0 && *share < 1.0;
        let share = share.parse().ok().filter(is_share);
        let mut filter = Self::new(share.ok_or_else(|| {
            Error::argument(format!(
                "`{text}` is not a share; expected a number between 0 and 1"
            ))
        })?);
        filter.distinct_values = distinct.map(number).transpose()?;
        Ok(filter)
    }
}

/// Parses a text as a size in bytes.
///
/// # Errors
/// Fails with `Argument` if the text is not a number of bytes.
pub(crate) fn size(text: &str) -> Result<usize> {
    let size = text.parse::<Size>();
    size.map(|size| size.0)
        .map_err(|why| Error::argument(format!("`{text}`: {why}")))
}

/// Parses a text as a number.
///
/// # Errors
/// Fails with `Argument` if the text is not a number or does not fit the type.
pub(crate) fn number<N: FromStr>(text: &str) -> Result<N> {
    text.parse()
        .map_err(|_| Error::argument(format!("`{text}` is not a number of at least 0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns<T: FromStr<Err = Error> + fmt::Display + PartialEq + fmt::Debug>(values: &[T]) {
        for value in values {
            let text = value.to_string();
            assert_eq!(&text.parse::<T>().unwrap(), value);
            assert_eq!(
                &text.to_uppercase().replace('_', "-").parse::<T>().unwrap(),
                value
            );
        }
        for wrong in ["", "x", " "] {
            let error = wrong.parse::<T>().unwrap_err();
            assert!(
                error
                    .message()
                    .contains(&format!("`{wrong}`; use one of: ")),
                "{error}"
            );
        }
    }

    #[test]
    fn names_are_read_back() {
        returns(Compatibility::ALL);
        returns(Prefer::ALL);
        returns(DataPageVersion::ALL);
        returns(StatisticsLevel::ALL);
        assert_eq!("reading".parse::<Prefer>().unwrap(), Prefer::ReadSpeed);
        assert_eq!(
            "2.0".parse::<DataPageVersion>().unwrap(),
            DataPageVersion::V2
        );
    }

    #[test]
    fn sizes_of_pages_are_read_back() {
        let new = ContentDefinedChunking::new;
        for (chunking, text) in [
            (new(), "256KiB..1MiB"),
            (new().min_chunk_bytes(0).max_chunk_bytes(1000), "0..1000"),
            (new().norm_level(-2), "256KiB..1MiB:-2"),
        ] {
            assert_eq!(chunking.to_string(), text);
            assert_eq!(text.parse::<ContentDefinedChunking>().unwrap(), chunking);
        }
        assert_eq!("on".parse::<ContentDefinedChunking>().unwrap(), new());
        for text in ["off", "1KiB", "2KiB..1KiB", "1..2:x", "1MB..2MB"] {
            assert!(text.parse::<ContentDefinedChunking>().is_err(), "{text}");
        }
    }

    #[test]
    fn bloom_filters_are_read_back() {
        let mut filter = BloomFilterOptions::new(0.05);
        assert_eq!(filter.to_string(), "0.05");
        assert_eq!("0.05".parse::<BloomFilterOptions>().unwrap(), filter);
        filter.distinct_values = Some(1000);
        assert_eq!(filter.to_string(), "0.05:1000");
        assert_eq!("0.05:1000".parse::<BloomFilterOptions>().unwrap(), filter);
        for text in ["0", "1", "NaN", "x", "0.1:x", "0.1:-1"] {
            assert!(text.parse::<BloomFilterOptions>().is_err(), "{text}");
        }
    }
}
