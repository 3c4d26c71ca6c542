//! An Arrow field with its written levels, and the storage of its columns' values.

use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_format::Type;

use crate::ColumnOrderKind;

/// An Arrow field with the levels that it is written with, which is the counterpart of
/// [`Node`](crate::Node).
#[derive(Debug, Clone, PartialEq)]
pub struct WriteNode {
    /// The Arrow field as the caller gave it.
    pub field: FieldRef,
    /// True if the field is OPTIONAL in the file. This equals the field's nullability, with three
    /// exceptions. Keys of maps are never null, and columns of the null type are always nullable.
    /// Runs are not nullable if their values are not.
    pub nullable: bool,
    /// The definition level of a non-null slot.
    pub def_level: u8,
    /// The content of the field.
    pub kind: WriteKind,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteKind {
    /// The values of a column, which may be in dictionaries or run-end encoded, according to the
    /// field's data type.
    Leaf {
        /// The column's ordinal.
        leaf: usize,
    },
    /// Fields side by side. A struct without fields still has one here, which is a column of nulls
    /// ([`EmptyStructs::UnknownLeaf`](crate::EmptyStructs::UnknownLeaf)) that has no corresponding
    /// array.
    Struct(Vec<WriteNode>),
    /// Any of Arrow's list types.
    List {
        /// The repetition level of an element that is not the first of its list.
        rep_level: u8,
        /// The lowest definition level at which an element exists, null or not.
        element_def: u8,
        /// The elements.
        child: Box<WriteNode>,
    },
    /// A list of entries.
    Map {
        /// The repetition level of an entry that is not the first of its map.
        rep_level: u8,
        /// The lowest definition level at which an entry exists.
        element_def: u8,
        /// The entries, which are structs of key and value that are never null.
        entries: Box<WriteNode>,
    },
    /// Nested values that are run-end encoded in Arrow, with this field's levels.
    RunEnd(Box<WriteNode>),
    /// Nested values that are in a dictionary in Arrow, with this field's levels.
    Dictionary(Box<WriteNode>),
}

/// A column and the storage of its values.
///
/// `data_type`, `physical_type` and `conversion` determine a value's bytes: the conversion changes
/// the number, which then takes the physical form.
///
/// | data type             | physical type      | form of the number                                    |
/// |-----------------------|--------------------|-------------------------------------------------------|
/// | integers              | INT32, INT64       | sign-extended, or zero-extended if unsigned           |
/// | decimals              | INT32, INT64       | truncated: the precision guarantees that it fits      |
/// | decimals              | FIXED(n)           | two's complement, big-endian                          |
/// | decimals              | BYTE_ARRAY         | two's complement, big-endian, in as few bytes as fit  |
/// | `Timestamp`           | INT96              | nanoseconds of the day, Julian day; little-endian     |
/// | `Timestamp`           | FIXED(12)          | the count, sign-extended, little-endian               |
/// | `Interval`            | FIXED(12)          | months, days, milliseconds; unsigned, little-endian   |
/// | `Float16`             | FIXED(2)           | little-endian                                         |
/// | `Null`                | INT32              | there are no values                                   |
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WriteLeaf {
    /// The names from below the root.
    pub path: Vec<String>,
    /// The path without the names that Parquet wraps around elements and entries.
    pub short_path: Vec<String>,
    /// The physical type, which determines the form of PLAIN values.
    pub physical_type: Type,
    /// The byte count of a FIXED_LEN_BYTE_ARRAY value, or 0 for other types.
    pub type_length: usize,
    /// The definition level of a non-null value.
    pub max_def_level: u8,
    /// The highest repetition level.
    pub max_rep_level: u8,
    /// The values' Arrow type, without dictionaries and run-end encodings around it.
    pub data_type: DataType,
    /// The conversion applied to the values before they are stored.
    #[doc(hidden)] // For the crates of this workspace.
    pub conversion: WriteConversion,
    /// The order of the column's bounds.
    pub order: ColumnOrderKind,
    /// True if decimals with too many digits, and times outside a day, are written unchanged.
    pub allow_out_of_range: bool,
}

/// The arithmetic between the Arrow type's numbers and the numbers in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WriteConversion {
    /// No conversion, because the numbers are equal.
    #[default]
    Identity,
    /// A multiplication by 1000, from seconds in Arrow to milliseconds in the file, which may
    /// overflow 64 bits.
    SecondsToMillis,
    /// A division by 86 400 000, from milliseconds in Arrow to days in the file. A remainder, or a
    /// day that does not fit in 32 bits, is an error.
    MillisToDays,
    /// A multiplication by 10 to the power of `digits`, for a decimal of a negative scale that is
    /// stored with the scale 0. The result fits in the stored precision, but may not fit in the
    /// Arrow type's own width.
    Rescale {
        /// The negated scale, 1 to 75.
        digits: u8,
    },
}
