//! An Arrow field with its written levels, and the storage of its columns' values.

use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_format::Type;

use crate::ColumnOrderKind;

/// An Arrow field and the levels that it is written with. The counterpart of [`Node`](crate::Node).
#[derive(Debug, Clone, PartialEq)]
pub struct WriteNode {
    /// The Arrow field, as the caller gave it.
    pub field: FieldRef,
    /// True if the field is OPTIONAL in the file. It equals the field's nullability with three exceptions. Keys
    /// of maps are never null. Columns of the null type are always nullable. Runs are not, if their values are
    /// not.
    pub nullable: bool,
    /// The definition level of a non-null slot.
    pub def_level: u8,
    /// The content of the field.
    pub kind: WriteKind,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteKind {
    /// The values of a column. They may be in dictionaries or run-end encoded, according to the data type of
    /// the field.
    Leaf {
        /// Ordinal of the column.
        leaf: usize,
    },
    /// Fields side by side. A struct without fields still has one here: a column of nulls
    /// ([`EmptyStructs::UnknownLeaf`](crate::EmptyStructs::UnknownLeaf)) that has no corresponding array.
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
        /// The entries: a struct of key and value, never null.
        entries: Box<WriteNode>,
    },
    /// Nested values that are run-end encoded in Arrow: the values, with the levels of this field.
    RunEnd(Box<WriteNode>),
    /// Nested values in a dictionary in Arrow: the values, with the levels of this field.
    Dictionary(Box<WriteNode>),
}

/// A column and the storage of its values.
///
/// `data_type`, `physical_type` and `conversion` determine the bytes of a value: the conversion changes the
/// number, which then takes the physical form.
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
    /// The length of a FIXED_LEN_BYTE_ARRAY value in bytes, or 0 for other types.
    pub type_length: usize,
    /// The definition level of a non-null value.
    pub max_def_level: u8,
    /// The highest repetition level.
    pub max_rep_level: u8,
    /// The Arrow type of the values, without dictionaries and run-end encodings around them.
    pub data_type: DataType,
    /// The conversion applied to the values before they are stored.
    #[doc(hidden)] // For the crates of this workspace.
    pub conversion: WriteConversion,
    /// The order of the column's bounds.
    pub order: ColumnOrderKind,
    /// True if decimals with too many digits, and times outside a day, are written unchanged.
    pub allow_out_of_range: bool,
}

/// The arithmetic between the numbers of the Arrow type and those in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WriteConversion {
    /// No conversion: the numbers are equal.
    #[default]
    Identity,
    /// Seconds in Arrow, milliseconds in the file: multiply by 1000, which may overflow 64 bits.
    SecondsToMillis,
    /// Milliseconds in Arrow, days in the file: divide by 86 400 000. A remainder, or a day that does not fit
    /// in 32 bits, is an error.
    MillisToDays,
    /// A decimal of a negative scale, stored with the scale 0: multiply by 10 to the power of `digits`. The
    /// result fits the stored precision, but may not fit the Arrow type's own width.
    Rescale {
        /// The negated scale, 1 to 75.
        digits: u8,
    },
}
