//! VARIANT values, with their binary encoding, JSON, paths, casts and shredding.
//!
//! A VARIANT column stores one value of any type per row, like JSON, but typed and binary. Each
//! value consists of two byte strings: the *metadata*, a dictionary of field names, and the *value*
//! itself. [`Variant`] is a view over both that checks every part when you access it, and
//! [`Variant::validated`] checks everything at once. [`VariantBuilder`] makes values, and
//! [`VariantBuf`] owns one. [`json`] converts from and to JSON. A [`VariantPath`] points into a
//! value, and [`Variant::cast`] converts a value to one type.
//!
//! Shredding stores fields of common types in Parquet columns of their own. A read of one path then
//! decodes only these columns, and their statistics prune row groups and pages. With one of the
//! features `arrow-60` (default) and `arrow-59`, the module `shredding` stores values in Arrow
//! arrays, and the module `extension` reads and writes them in Parquet files.
//!
//! ```
//! use herringbone::variant::{Value, VariantBuf, VariantPath};
//!
//! let event = VariantBuf::from_json(r#"{"user": {"id": 7}, "tags": ["new"]}"#)?;
//! let path: VariantPath = "$.user.id".parse()?;
//! let id = event.as_variant().get(&path)?.ok_or("no id")?;
//! assert!(matches!(id.value()?, Value::Int8(7)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod builder;
mod bytes;
mod cast;
mod children;
mod container;
mod decimal;
mod equality;
#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
pub mod extension;
mod extent;
pub mod json;
mod limits;
mod metadata;
mod object;
mod owned;
mod path;
#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
pub mod shredding;
mod temporal;
mod text;
mod types;
mod validate;
mod value;
mod value_from;
mod variant;

pub use array::{Array, Elements};
pub use builder::{DuplicateFields, VariantBuilder};
pub use cast::{Cast, CastOptions, PrimitiveType, Scalar};
pub use decimal::{Decimal, MAX_DECIMAL_DIGITS};
pub use limits::Limits;
pub use metadata::Metadata;
pub use object::{Fields, Object};
pub use owned::VariantBuf;
pub use path::{PathPart, VariantPath};
pub use types::VariantType;
pub use value::Value;
pub use variant::Variant;
