//! VARIANT values: their binary encoding.
//!
//! A value is two byte strings: *metadata*, a dictionary of field names, and the *value* itself.
//! [`Variant`] is a view over both that checks whatever it looks at; [`Variant::validated`] checks
//! everything at once.

#![forbid(unsafe_code)]

mod array;
mod builder;
mod bytes;
mod children;
mod container;
mod decimal;
mod extent;
mod limits;
mod metadata;
mod object;
mod owned;
mod types;
mod validate;
mod value;
mod variant;

pub use array::{Array, Elements};
pub use builder::{DuplicateFields, VariantBuilder};
pub use decimal::{Decimal, MAX_DECIMAL_DIGITS};
pub use limits::Limits;
pub use metadata::Metadata;
pub use object::{Fields, Object};
pub use owned::VariantBuf;
pub use types::VariantType;
pub use value::Value;
pub use variant::Variant;
