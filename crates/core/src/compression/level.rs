//! Compression levels, as a checked type for each codec with levels.

use herringbone_format::{Error, Result};
use std::fmt;

macro_rules! level {
    ($(#[$meta:meta])* $name:ident, $codec:literal, $min:literal..=$max:literal, default $default:literal) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(i32);

        impl $name {
            /// The lowest level. This is the fastest one.
            pub const MIN: Self = Self($min);
            /// The highest level. This gives the smallest output.
            pub const MAX: Self = Self($max);

            /// Creates this level.
            ///
            /// # Errors
            ///
            /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the codec does not have this level.
            pub fn new(level: i32) -> Result<Self> {
                if (Self::MIN.0..=Self::MAX.0).contains(&level) {
                    return Ok(Self(level));
                }
                Err(Error::argument(format!(
                    "{} supports levels from {} to {}, not {level}",
                    $codec,
                    Self::MIN,
                    Self::MAX,
                )))
            }

            /// Returns the number of the level.
            #[must_use]
            pub fn get(self) -> i32 {
                self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self($default)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

level! {
    /// A level of GZIP from 1 to 9. The default is 6.
    GzipLevel, "GZIP", 1..=9, default 6
}

level! {
    /// A level (quality) of BROTLI from 0 to 11. The default is 4. Levels from 10 on are slower by an order of
    /// magnitude.
    BrotliLevel, "BROTLI", 0..=11, default 4
}

level! {
    /// A level of ZSTD up to 22. The default is 1. Negative levels trade size for speed. 0 is libzstd's own default.
    ZstdLevel, "ZSTD", -131_072..=22, default 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_format::ErrorKind;

    #[test]
    fn levels_are_checked() {
        for level in [0, 10, i32::MIN, i32::MAX] {
            let error = GzipLevel::new(level).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument);
            assert!(error.message().contains("1 to 9"), "{error}");
        }
        assert_eq!(GzipLevel::new(9).unwrap(), GzipLevel::MAX);
        assert!(BrotliLevel::new(-1).is_err() && BrotliLevel::new(12).is_err());
        assert_eq!(BrotliLevel::new(0).unwrap(), BrotliLevel::MIN);
        assert!(ZstdLevel::new(23).is_err() && ZstdLevel::new(-131_073).is_err());
        assert_eq!(ZstdLevel::new(-5).unwrap().get(), -5);
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn zstd_levels_are_those_of_libzstd() {
        let levels = ::zstd::compression_level_range();
        assert_eq!(*levels.start(), ZstdLevel::MIN.get());
        assert_eq!(*levels.end(), ZstdLevel::MAX.get());
    }
}
