//! An Arrow field with the levels that it is written at, and how the values of columns are stored.

use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_format::Type;

use crate::ColumnOrderKind;

/// An Arrow field and the levels that it becomes; the counterpart of [`Node`](crate::Node).
#[derive(Debug, Clone, PartialEq)]
pub struct WriteNode {
    /// The Arrow field, as the caller gave it.
    pub field: FieldRef,
    /// Whether the field is OPTIONAL in the file. As the field's nullability, but for the keys of
    /// maps, which are never null, for columns of the null type, which are always, and for runs of
    /// values that are not nullable.
    pub nullable: bool,
    /// The definition level of a slot that is not null.
    pub def_level: u8,
    /// What the field is made of.
    pub kind: WriteKind,
}

/// What a field is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteKind {
    /// The values of a column. They may be in dictionaries or run-end encoded, as the data type of
    /// the field says.
    Leaf {
        /// Ordinal of the column.
        leaf: usize,
    },
    /// Fields side by side. A struct without fields has one here all the same: a column of nulls
    /// ([`EmptyStructs::UnknownLeaf`](crate::EmptyStructs::UnknownLeaf)) that no array stands for.
    Struct(Vec<WriteNode>),
    /// Any of Arrow's list types.
    List {
        /// The repetition level of an element that is not the first of its list.
        rep_level: u8,
        /// The definition level from which on an element is there, null or not.
        element_def: u8,
        /// The elements.
        child: Box<WriteNode>,
    },
    /// A list of entries.
    Map {
        /// The repetition level of an entry that is not the first of its map.
        rep_level: u8,
        /// The definition level from which on an entry is there.
        element_def: u8,
        /// The entries: a struct of key and value, never null.
        entries: Box<WriteNode>,
    },
    /// Nested values that are run-end encoded in Arrow: the values, with the levels of this field.
    RunEnd(Box<WriteNode>),
    /// Nested values in a dictionary in Arrow: the values, with the levels of this field.
    Dictionary(Box<WriteNode>),
}

/// A column and how its values are stored.
///
/// What the bytes of a value are follows from `data_type`, `physical_type` and `conversion`: the
/// conversion changes the number, then it takes the physical form.
///
/// | data type             | physical type      | form of the number                                    |
/// |-----------------------|--------------------|-------------------------------------------------------|
/// | integers              | INT32, INT64       | extended by sign, or by zeros where unsigned          |
/// | decimals              | INT32, INT64       | cut: the precision says that it fits                  |
/// | decimals              | FIXED(n)           | two's complement, big-endian                          |
/// | decimals              | BYTE_ARRAY         | the same, as few bytes as hold it                     |
/// | `Timestamp`           | INT96              | nanoseconds of the day, Julian day; little-endian     |
/// | `Timestamp`           | FIXED(12)          | the count, extended by sign, little-endian            |
/// | `Interval`            | FIXED(12)          | months, days, milliseconds; unsigned, little-endian   |
/// | `Float16`             | FIXED(2)           | little-endian                                         |
/// | `Null`                | INT32              | there are no values                                   |
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WriteLeaf {
    /// The names from below the root.
    pub path: Vec<String>,
    /// The same without the names that Parquet wraps around elements and entries.
    pub short_path: Vec<String>,
    /// What the PLAIN values look like.
    pub physical_type: Type,
    /// Bytes of a FIXED_LEN_BYTE_ARRAY value; 0 for other types.
    pub type_length: usize,
    /// The definition level of a value that is there.
    pub max_def_level: u8,
    /// The highest repetition level.
    pub max_rep_level: u8,
    /// The Arrow type of the values, without dictionaries and run-end encodings around them.
    pub data_type: DataType,
    /// What is done to the values before they are stored.
    pub conversion: WriteConversion,
    /// The order that bounds are in.
    pub order: ColumnOrderKind,
    /// Whether decimals with too many digits and times that are not of a day are written as they are.
    pub allow_out_of_range: bool,
}

/// The arithmetic between the numbers of the Arrow type and those in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WriteConversion {
    /// None: the numbers are the same.
    #[default]
    Identity,
    /// Seconds in Arrow, milliseconds in the file: multiply by 1000, which may overflow 64 bits.
    SecondsToMillis,
    /// Milliseconds in Arrow, days in the file: divide by 86 400 000. A rest, or a day that does not
    /// fit in 32 bits, is an error.
    MillisToDays,
    /// A decimal of a negative scale, stored with the scale 0: multiply by 10 to the power of
    /// `digits`. The stored precision has room for that, the Arrow type's own width may not.
    Rescale {
        /// The negated scale, 1 to 75.
        digits: u8,
    },
}
