//! Arrow fields with their written levels, and the storage of column values.

use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_format::Type;

use crate::ColumnOrderKind;

/// An Arrow field with the levels to write it with. This is the counterpart of
/// [`Node`](crate::Node).
#[derive(Debug, Clone, PartialEq)]
pub struct WriteNode {
    /// The Arrow field as the caller gave it.
    pub field: FieldRef,
    /// True if the field is OPTIONAL in the file. This is the field's nullability, with three
    /// exceptions: map keys are never null, columns of the null type are always nullable, and runs
    /// are only nullable if their values are.
    pub nullable: bool,
    /// The definition level of a non-null slot.
    pub def_level: u8,
    /// The content of the field.
    pub kind: WriteKind,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteKind {
    /// A column's values. Depending on the field's data type, they can be in dictionaries or
    /// run-end encoded.
    Leaf {
        /// The column's ordinal.
        leaf: usize,
    },
    /// Fields side by side. An empty struct still has a field here, namely a column of nulls
    /// ([`EmptyStructs::UnknownLeaf`](crate::EmptyStructs::UnknownLeaf)) without a corresponding
    /// array.
    Struct(Vec<WriteNode>),
    /// Any of Arrow's list types.
    List {
        /// The repetition level of all but a list's first element.
        rep_level: u8,
        /// The lowest definition level at which an element exists, null or not.
        element_def: u8,
        /// The elements.
        child: Box<WriteNode>,
    },
    /// A list of entries.
    Map {
        /// The repetition level of all but a map's first entry.
        rep_level: u8,
        /// The lowest definition level at which an entry exists.
        element_def: u8,
        /// The entries, as structs of key and value. They are never null.
        entries: Box<WriteNode>,
    },
    /// Nested values, run-end encoded in Arrow, with this field's levels.
    RunEnd(Box<WriteNode>),
    /// Nested values, in a dictionary in Arrow, with this field's levels.
    Dictionary(Box<WriteNode>),
}

/// A column, with the storage of its values.
///
/// A value's bytes depend on `data_type`, `physical_type` and `conversion`: the conversion is
/// applied to the number first, and the result takes the physical form.
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
    /// The path without Parquet's wrapper names around elements and entries.
    pub short_path: Vec<String>,
    /// The physical type, which determines the PLAIN encoding of values.
    pub physical_type: Type,
    /// The length of a FIXED_LEN_BYTE_ARRAY value in bytes, or 0 for other types.
    pub type_length: usize,
    /// The definition level of a non-null value.
    pub max_def_level: u8,
    /// The highest repetition level.
    pub max_rep_level: u8,
    /// The values' Arrow type, without any dictionaries or run-end encodings around it.
    pub data_type: DataType,
    /// The conversion to apply to values before storing them.
    #[doc(hidden)] // For the crates of this workspace.
    pub conversion: WriteConversion,
    /// The order of the column's bounds.
    pub order: ColumnOrderKind,
    /// True to write decimals with too many digits and times outside a day unchanged. Otherwise,
    /// these are errors.
    pub allow_out_of_range: bool,
}

/// The arithmetic between the Arrow type's numbers and the numbers in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WriteConversion {
    /// No conversion, because the numbers are equal.
    #[default]
    Identity,
    /// A multiplication by 1000, from seconds in Arrow to milliseconds in the file. Note that this
    /// can overflow 64 bits.
    SecondsToMillis,
    /// A division by 86 400 000, from milliseconds in Arrow to days in the file. A remainder, or a
    /// day that does not fit in 32 bits, is an error.
    MillisToDays,
    /// A multiplication by 10 to the power of `digits`, for a decimal with a negative scale, stored
    /// with scale 0. The result fits in the stored precision, but might not fit in the Arrow type's
    /// own width.
    Rescale {
        /// The negated scale, 1 to 75.
        digits: u8,
    },
}
