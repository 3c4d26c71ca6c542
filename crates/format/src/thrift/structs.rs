//! Declares each of the format's structs once, for both directions.

use super::CompactReader;
use crate::{Error, Result};

/// Declares a struct as `parquet.thrift` does, with each field's id, requirement, name and type.
///
/// - `required`: an error if missing
/// - `count`: required, and an error if negative
/// - `optional`: an `Option`
/// - `or_default`: the type's default if missing
/// - `or_true`: true if missing
///
/// Fields with an undeclared id or a different type are skipped. If a field occurs twice, the last one counts.
///
/// A public struct is `non_exhaustive`, because it can grow along with the format. So `new` takes the required fields
/// in order, and each optional field has a setter of the same name.
macro_rules! thrift_struct {
    (@type optional $type:ty) => { Option<$type> };
    (@type $mode:ident $type:ty) => { $type };

    (@finish optional $reader:ident, $name:expr, $value:ident) => { $value };
    (@finish or_default $reader:ident, $name:expr, $value:ident) => { $value.unwrap_or_default() };
    (@finish or_true $reader:ident, $name:expr, $value:ident) => { $value.unwrap_or(true) };
    (@finish required $reader:ident, $name:expr, $value:ident) => {
        $crate::thrift::required($reader, $name, $value)?
    };
    (@finish count $reader:ident, $name:expr, $value:ident) => {
        $crate::thrift::count($reader, $name, $value)?
    };

    (@write optional $value:expr, $writer:ident, $id:literal) => {
        if let Some(value) = &$value {
            $crate::thrift::Value::write_field(value, $writer, $id);
        }
    };
    (@write $mode:ident $value:expr, $writer:ident, $id:literal) => {
        $crate::thrift::Value::write_field(&$value, $writer, $id);
    };

    (
        @declare
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $id:literal: $mode:ident $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[$field_meta])* pub $field: $crate::thrift::thrift_struct!(@type $mode $type), )*
        }

        impl $crate::thrift::Value for $name {
            const WIRE: $crate::thrift::Wire = $crate::thrift::Wire::Struct;

            fn read(
                reader: &mut $crate::thrift::CompactReader<'_>,
                wire: $crate::thrift::Wire,
            ) -> $crate::Result<Self> {
                reader.expect(wire, $crate::thrift::Wire::Struct)?;
                $( let mut $field: Option<$type> = None; )*
                let declared = 0u64 $( | 1 << $id )*;
                let mut last = 0;
                while let Some(field) = reader.field_among(declared, &mut last)? {
                    match field.id {
                        $( $id if <$type as $crate::thrift::Value>::accepts(field.wire) => {
                            $field = Some(<$type as $crate::thrift::Value>::read(reader, field.wire)?);
                        } )*
                        _ => reader.skip(field.wire)?,
                    }
                }
                Ok(Self { $(
                    $field: $crate::thrift::thrift_struct!(
                        @finish $mode reader,
                        concat!(stringify!($name), ".", stringify!($field)),
                        $field
                    ),
                )* })
            }

            fn write(&self, writer: &mut $crate::thrift::CompactWriter) {
                writer.begin_struct();
                $( $crate::thrift::thrift_struct!(@write $mode self.$field, writer, $id); )*
                writer.end_struct();
            }
        }
    };

    (@new ($($argument:ident: $type:ty,)*) ($($init:tt)*)) => {
        /// Creates a struct with these fields. All others are absent.
        #[must_use]
        #[allow(clippy::too_many_arguments, reason = "the format requires as many")]
        pub fn new($($argument: $type),*) -> Self {
            Self { $($init)* }
        }
    };
    (
        @new ($($arguments:tt)*) ($($init:tt)*)
        $(#[$meta:meta])* $id:literal: optional $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::thrift::thrift_struct! { @new ($($arguments)*) ($($init)* $field: None,) $($rest)* }
    };
    (
        @new ($($arguments:tt)*) ($($init:tt)*)
        $(#[$meta:meta])* $id:literal: or_default $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::thrift::thrift_struct! {
            @new ($($arguments)*) ($($init)* $field: Default::default(),) $($rest)*
        }
    };
    (
        @new ($($arguments:tt)*) ($($init:tt)*)
        $(#[$meta:meta])* $id:literal: or_true $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::thrift::thrift_struct! { @new ($($arguments)*) ($($init)* $field: true,) $($rest)* }
    };
    (
        @new ($($arguments:tt)*) ($($init:tt)*)
        $(#[$meta:meta])* $id:literal: $mode:ident $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::thrift::thrift_struct! {
            @new ($($arguments)* $field: $type,) ($($init)* $field,) $($rest)*
        }
    };

    (@set required $($rest:tt)*) => {};
    (@set count $($rest:tt)*) => {};
    (@set optional $(#[$meta:meta])* $field:ident: $type:ty) => {
        $(#[$meta])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<Option<$type>>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@set $mode:ident $(#[$meta:meta])* $field:ident: $type:ty) => {
        $(#[$meta])*
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };

    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $id:literal: $mode:ident $field:ident: $type:ty, )*
        }
    ) => {
        $crate::thrift::thrift_struct! {
            @declare
            $(#[$meta])*
            #[non_exhaustive]
            pub struct $name { $( $(#[$field_meta])* $id: $mode $field: $type, )* }
        }

        impl $name {
            $crate::thrift::thrift_struct! { @new () () $( $id: $mode $field: $type, )* }

            $( $crate::thrift::thrift_struct! { @set $mode $(#[$field_meta])* $field: $type } )*

            /// Writes the struct in the compact protocol.
            pub fn encode(&self, writer: &mut $crate::thrift::CompactWriter) {
                $crate::thrift::Value::write(self, writer);
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $fields:tt) => {
        $crate::thrift::thrift_struct! { @declare $(#[$meta])* $vis struct $name $fields }
    };
}

pub(crate) use thrift_struct;

/// Returns the value of a required field.
#[inline]
pub(crate) fn required<T>(
    reader: &CompactReader<'_>,
    name: &'static str,
    value: Option<T>,
) -> Result<T> {
    match value {
        Some(value) => Ok(value),
        None => Err(missing(reader, name)),
    }
}

/// Returns the value of a required count field.
#[inline]
pub(crate) fn count<T: Copy + Into<i64>>(
    reader: &CompactReader<'_>,
    name: &'static str,
    value: Option<T>,
) -> Result<T> {
    let value = required(reader, name, value)?;
    match value.into() {
        0.. => Ok(value),
        negative => Err(is_negative(reader, name, negative)),
    }
}

// These are separate functions, because there are many fields whose code should stay small.

#[cold]
fn missing(reader: &CompactReader<'_>, name: &str) -> Error {
    let name = name.trim_end_matches('_');
    reader.corrupt(format!("required field {name} is missing"))
}

#[cold]
fn is_negative(reader: &CompactReader<'_>, name: &str, value: i64) -> Error {
    reader.corrupt(format!("{name} is negative: {value}"))
}
