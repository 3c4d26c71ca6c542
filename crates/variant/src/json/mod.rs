//! Reads values from JSON text, and writes them as JSON text.
//!
//! # From JSON
//!
//! | JSON | value |
//! |---|---|
//! | number without fraction and exponent | the narrowest integer, or a decimal beyond 64 bits |
//! | number with a fraction | a decimal with the digits as written: `1.50` has scale 2 |
//! | number with an exponent, `-0` and `-0.0` | a double |
//! | number of more than 38 digits | an error, or a double: [`LargeNumbers`] |
//! | `NaN`, `Infinity`, `-Infinity` | an error, or a double: [`JsonOptions::non_finite`] |
//! | two fields of one name | [`DuplicateFields`](crate::DuplicateFields) of the builder |
//!
//! # As JSON
//!
//! The text is always valid JSON.
//!
//! | value | JSON |
//! |---|---|
//! | integers, decimals | numbers, all digits |
//! | float, double | numbers with the fewest digits that read back as the same value; NaN and infinities: [`NonFinite`] |
//! | date | `"2024-01-02"` |
//! | time | `"12:34:56.123456"` |
//! | timestamp, in UTC | `"2024-01-02T12:34:56.123456Z"`, nanoseconds with nine digits |
//! | timestamp, local | `"2024-01-02T12:34:56.123456"` |
//! | binary | base64 with padding |
//! | UUID | `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"` |
//! | types of newer specifications | an error |
//!
//! [`LostTypes`] collects the types whose values read back as another class.

mod digits;
mod lost;
mod number;
mod read;
mod write;

pub use lost::LostTypes;
pub use write::JsonWriter;

pub(crate) use number::{decimal_of, is_number};
pub(crate) use write::plain_text;

/// The type that numbers with a fraction get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fractions {
    /// Decimals, which keep all digits.
    #[default]
    Decimal,
    /// Doubles.
    Double,
}

/// The handling of numbers with more than 38 digits, including digits after the point. No decimal
/// type can hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LargeNumbers {
    /// Such a number is an error.
    #[default]
    Error,
    /// Such a number becomes the nearest double.
    Double,
}

/// The JSON form of NaN and the infinities, since JSON has no numbers for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NonFinite {
    /// The strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
    #[default]
    String,
    /// The JSON `null`.
    Null,
    /// Such a number is an error.
    Error,
}

/// Options for reading JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JsonOptions {
    /// The type that numbers with a fraction get.
    pub fractions: Fractions,
    /// The treatment of numbers with more than 38 digits.
    pub large_numbers: LargeNumbers,
    /// True to read `NaN`, `Infinity` and `-Infinity` as doubles, although they are not JSON.
    pub non_finite: bool,
}

impl JsonOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { JsonOptions {
    /// Sets the type of numbers with a fraction.
    fractions: Fractions;
    /// Sets the treatment of numbers with more than 38 digits.
    large_numbers: LargeNumbers;
    /// Selects whether `NaN`, `Infinity` and `-Infinity` are read as doubles.
    non_finite: bool;
}}
