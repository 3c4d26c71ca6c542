//! The enums of `parquet.thrift`.
//!
//! A file might contain ids assigned after this code was written. If a storage format's id is unknown, we keep it as
//! `Unknown`, so that other columns stay readable and the error can name the id. Only [`Type`] and [`Repetition`] are
//! closed, because without them there is no schema.

use std::fmt;

use crate::{
    Error, Result,
    thrift::{CompactReader, CompactWriter, Value, Wire},
};

/// Declares an enum that retains unknown ids.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $id:literal $text:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// An id unknown to this version.
            Unknown(i32),
        }

        impl $name {
            /// All values known to this version.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// Returns the value with this Thrift id. Unknown ids are retained.
            #[must_use]
            pub fn from_id(id: i32) -> Self {
                match id {
                    $( $id => Self::$variant, )+
                    other => Self::Unknown(other),
                }
            }

            /// Returns the Thrift id.
            #[must_use]
            pub fn id(self) -> i32 {
                match self {
                    $( Self::$variant => $id, )+
                    Self::Unknown(id) => id,
                }
            }
        }

        impl Value for $name {
            const WIRE: Wire = Wire::I32;

            fn accepts(wire: Wire) -> bool {
                wire.is_integer()
            }

            fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
                i32::read(reader, wire).map(Self::from_id)
            }

            fn write(&self, writer: &mut CompactWriter) {
                self.id().write(writer);
            }
        }

        impl fmt::Display for $name {
            /// Formats the specification's name.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $( Self::$variant => f.pad($text), )+
                    Self::Unknown(id) => f.pad(&format!("UNKNOWN({id})")),
                }
            }
        }
    };
}

/// Declares an enum without unknown ids.
macro_rules! closed_enum {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $id:literal $text:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant = $id, )+
        }

        impl $name {
            /// All values known to this version.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// Returns the value with this Thrift id, if there is one.
            #[must_use]
            pub fn from_id(id: i32) -> Option<Self> {
                match id {
                    $( $id => Some(Self::$variant), )+
                    _ => None,
                }
            }

            /// Returns the value with this Thrift id, just read by `reader`.
            ///
            /// **Errors**: unsupported if the id is unknown.
            pub(crate) fn known(id: i32, reader: &CompactReader<'_>) -> Result<Self> {
                Self::from_id(id).ok_or_else(|| {
                    reader.unsupported(format!(concat!(stringify!($name), " with the id {}"), id))
                })
            }

            /// Returns the Thrift id.
            #[must_use]
            pub fn id(self) -> i32 {
                self as i32
            }
        }

        impl Value for $name {
            const WIRE: Wire = Wire::I32;

            fn accepts(wire: Wire) -> bool {
                wire.is_integer()
            }

            fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
                let id = i32::read(reader, wire)?;
                Self::known(id, reader)
            }

            fn write(&self, writer: &mut CompactWriter) {
                self.id().write(writer);
            }
        }

        impl fmt::Display for $name {
            /// Formats the specification's name.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $( Self::$variant => $text, )+
                })
            }
        }
    };
}

closed_enum! {
    /// The physical type of a leaf column, which determines its PLAIN encoding.
    Type {
        /// One bit per value.
        Boolean = 0 "BOOLEAN",
        /// Four bytes, little-endian, signed.
        Int32 = 1 "INT32",
        /// Eight bytes, little-endian, signed.
        Int64 = 2 "INT64",
        /// Twelve bytes. Old writers used this deprecated type for timestamps.
        Int96 = 3 "INT96",
        /// IEEE 754 binary32.
        Float = 4 "FLOAT",
        /// IEEE 754 binary64.
        Double = 5 "DOUBLE",
        /// Any number of bytes, with a length prefix before each value.
        ByteArray = 6 "BYTE_ARRAY",
        /// A fixed number of bytes per value, given by the schema element's `type_length`.
        FixedLenByteArray = 7 "FIXED_LEN_BYTE_ARRAY",
    }
}

closed_enum! {
    /// The number of times that a field occurs in its parent.
    Repetition {
        /// Exactly once.
        Required = 0 "REQUIRED",
        /// Once or not at all.
        Optional = 1 "OPTIONAL",
        /// Any number of times.
        Repeated = 2 "REPEATED",
    }
}

open_enum! {
    /// The encoding of values or levels as bytes.
    #[non_exhaustive]
    Encoding {
        /// Values one after another.
        Plain = 0 "PLAIN",
        /// Indices into a dictionary, under an older name. Dictionary pages use this name for their values too.
        PlainDictionary = 2 "PLAIN_DICTIONARY",
        /// Runs of repeated or bit-packed values (the hybrid encoding).
        Rle = 3 "RLE",
        /// Bit-packed levels with the most significant bit first. This encoding is deprecated.
        BitPacked = 4 "BIT_PACKED",
        /// Integers as differences. These are bit-packed in miniblocks.
        DeltaBinaryPacked = 5 "DELTA_BINARY_PACKED",
        /// All lengths as differences, then all bytes.
        DeltaLengthByteArray = 6 "DELTA_LENGTH_BYTE_ARRAY",
        /// All lengths of shared prefixes, then all suffixes.
        DeltaByteArray = 7 "DELTA_BYTE_ARRAY",
        /// Indices into a dictionary.
        RleDictionary = 8 "RLE_DICTIONARY",
        /// The first bytes of all values, followed by all second bytes, and so on.
        ByteStreamSplit = 9 "BYTE_STREAM_SPLIT",
        /// Floating-point numbers as scaled integers, with exceptions.
        Alp = 10 "ALP",
    }
}

impl std::str::FromStr for Encoding {
    type Err = Error;

    /// # Errors
    ///
    /// Fails with Argument if no encoding in [`Encoding::ALL`] has this name, in upper or lower case.
    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL
            .iter()
            .find(|it| it.to_string().eq_ignore_ascii_case(text));
        known.copied().ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(Self::to_string).collect();
            Error::argument(format!(
                "unknown encoding `{text}`; use one of: {}",
                names.join(", ")
            ))
        })
    }
}

impl Encoding {
    /// Returns the physical types supported by this encoding, according to `Encodings.md`. The list is empty if the
    /// encoding is unknown or only for levels.
    #[must_use]
    pub fn serves(self) -> &'static [Type] {
        use Type::{Boolean, ByteArray, Double, FixedLenByteArray, Float, Int32, Int64};
        match self {
            Self::Plain | Self::PlainDictionary | Self::RleDictionary => Type::ALL,
            Self::Rle => &[Boolean],
            Self::DeltaBinaryPacked => &[Int32, Int64],
            Self::DeltaLengthByteArray => &[ByteArray],
            Self::DeltaByteArray => &[ByteArray, FixedLenByteArray],
            Self::ByteStreamSplit => &[Int32, Int64, Float, Double, FixedLenByteArray],
            Self::Alp => &[Float, Double],
            Self::BitPacked | Self::Unknown(_) => &[],
        }
    }
}

open_enum! {
    /// The compression of pages.
    #[non_exhaustive]
    CompressionCodec {
        /// Not compressed.
        Uncompressed = 0 "UNCOMPRESSED",
        /// Snappy in raw blocks.
        Snappy = 1 "SNAPPY",
        /// Gzip members.
        Gzip = 2 "GZIP",
        /// LZO.
        Lzo = 3 "LZO",
        /// Brotli.
        Brotli = 4 "BROTLI",
        /// LZ4 in Hadoop's framing, or any other form called LZ4 by old writers. Deprecated in favour of `LZ4_RAW`.
        Lz4 = 5 "LZ4",
        /// Zstandard frames.
        Zstd = 6 "ZSTD",
        /// LZ4 blocks.
        Lz4Raw = 7 "LZ4_RAW",
    }
}

open_enum! {
    /// The content of a page.
    #[non_exhaustive]
    PageType {
        /// Levels and values, version 1.
        DataPage = 0 "DATA_PAGE",
        /// An index page. This type is reserved but never written.
        IndexPage = 1 "INDEX_PAGE",
        /// The dictionary values referred to by a chunk's indices.
        DictionaryPage = 2 "DICTIONARY_PAGE",
        /// Levels and values, version 2.
        DataPageV2 = 3 "DATA_PAGE_V2",
    }
}

impl PageType {
    /// Returns true if pages of this type contain column values. Readers skip all other pages.
    #[must_use]
    pub fn carries_values(self) -> bool {
        matches!(
            self,
            Self::DictionaryPage | Self::DataPage | Self::DataPageV2
        )
    }
}

open_enum! {
    /// The older annotation of values, superseded by [`LogicalType`](crate::LogicalType). No further values will be
    /// added.
    ConvertedType {
        /// A string.
        Utf8 = 0 "UTF8",
        /// A map.
        Map = 1 "MAP",
        /// The repeated group of a map.
        MapKeyValue = 2 "MAP_KEY_VALUE",
        /// A list.
        List = 3 "LIST",
        /// An enum value as a string.
        Enum = 4 "ENUM",
        /// A decimal, with scale and precision in the schema element.
        Decimal = 5 "DECIMAL",
        /// Days since 1970-01-01.
        Date = 6 "DATE",
        /// Milliseconds since midnight.
        TimeMillis = 7 "TIME_MILLIS",
        /// Microseconds since midnight.
        TimeMicros = 8 "TIME_MICROS",
        /// Milliseconds since the epoch.
        TimestampMillis = 9 "TIMESTAMP_MILLIS",
        /// Microseconds since the epoch.
        TimestampMicros = 10 "TIMESTAMP_MICROS",
        /// An unsigned integer of 8 bits.
        Uint8 = 11 "UINT_8",
        /// An unsigned integer of 16 bits.
        Uint16 = 12 "UINT_16",
        /// An unsigned integer of 32 bits.
        Uint32 = 13 "UINT_32",
        /// An unsigned integer of 64 bits.
        Uint64 = 14 "UINT_64",
        /// A signed integer of 8 bits.
        Int8 = 15 "INT_8",
        /// A signed integer of 16 bits.
        Int16 = 16 "INT_16",
        /// A signed integer of 32 bits.
        Int32 = 17 "INT_32",
        /// A signed integer of 64 bits.
        Int64 = 18 "INT_64",
        /// A JSON document.
        Json = 19 "JSON",
        /// A BSON document.
        Bson = 20 "BSON",
        /// Months, days and milliseconds, all unsigned.
        Interval = 21 "INTERVAL",
    }
}

open_enum! {
    /// The sort order of a column index's bounds. Used to decide whether pages can be found by binary search.
    #[non_exhaustive]
    BoundaryOrder {
        /// Not sorted.
        Unordered = 0 "UNORDERED",
        /// Both lists ascend.
        Ascending = 1 "ASCENDING",
        /// Both lists descend.
        Descending = 2 "DESCENDING",
    }
}

open_enum! {
    /// The algorithm for the edges between a GEOGRAPHY's points.
    #[non_exhaustive]
    EdgeInterpolationAlgorithm {
        /// Great circles on a sphere.
        Spherical = 0 "SPHERICAL",
        /// Vincenty's formulae on the ellipsoid.
        Vincenty = 1 "VINCENTY",
        /// Thomas' approximation on the ellipsoid.
        Thomas = 2 "THOMAS",
        /// Andoyer's approximation on the ellipsoid.
        Andoyer = 3 "ANDOYER",
        /// Karney's geodesics on the ellipsoid.
        Karney = 4 "KARNEY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_are_those_of_the_specification() {
        assert_eq!(Type::from_id(7), Some(Type::FixedLenByteArray));
        assert_eq!(Type::from_id(8), None);
        assert_eq!(Type::FixedLenByteArray.to_string(), "FIXED_LEN_BYTE_ARRAY");
        assert_eq!(Repetition::from_id(2), Some(Repetition::Repeated));
        assert_eq!(Encoding::from_id(5), Encoding::DeltaBinaryPacked);
        assert_eq!(
            Encoding::DeltaBinaryPacked.to_string(),
            "DELTA_BINARY_PACKED"
        );
        assert_eq!(CompressionCodec::from_id(7), CompressionCodec::Lz4Raw);
        assert_eq!(PageType::DataPageV2.id(), 3);
        assert_eq!(ConvertedType::from_id(21), ConvertedType::Interval);
        assert_eq!(BoundaryOrder::from_id(1), BoundaryOrder::Ascending);
    }

    #[test]
    fn names_are_read_back() {
        for encoding in Encoding::ALL {
            let text = encoding.to_string();
            assert_eq!(text.parse::<Encoding>().unwrap(), *encoding);
            assert_eq!(text.to_lowercase().parse::<Encoding>().unwrap(), *encoding);
        }
        let error = "UNKNOWN(99)".parse::<Encoding>().unwrap_err();
        assert!(error.message().contains("use one of: PLAIN, "), "{error}");
    }

    #[test]
    fn unknown_ids_survive() {
        // The id 1 was assigned but withdrawn before the first release.
        for id in [-1, 1, 99, i32::MAX] {
            assert_eq!(Encoding::from_id(id), Encoding::Unknown(id));
            assert_eq!(Encoding::from_id(id).id(), id);
        }
        assert_eq!(Encoding::Unknown(99).to_string(), "UNKNOWN(99)");
    }

    #[test]
    fn display_takes_a_width() {
        assert_eq!(format!("[{:>8}]", Type::Int32), "[   INT32]");
    }
}
