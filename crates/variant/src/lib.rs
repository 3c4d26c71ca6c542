//! VARIANT values: their binary encoding, and JSON.
//!
//! A value is two byte strings: *metadata*, a dictionary of field names, and the *value* itself.
//! [`Variant`] is a view over both that checks whatever it looks at; [`Variant::validated`] checks
//! everything at once. [`VariantBuilder`] makes values, [`VariantBuf`] owns one. [`json`] has JSON in
//! and out.

#![forbid(unsafe_code)]

mod array;
mod builder;
mod bytes;
mod children;
mod container;
mod decimal;
mod equality;
mod extent;
pub mod json;
mod limits;
mod metadata;
mod object;
mod owned;
mod temporal;
mod text;
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
