//! Setters for option structs, so that all crates declare them the same way.

/// Declares chainable methods that each set one field and return the options.
///
/// A row has the documentation, the field name, and the argument's type. If the field has another type, `=> convert`
/// names the conversion function, such as `Some` or `Into::into`.
///
/// ```
/// #[derive(Default)]
/// struct Options {
///     limit: Option<u64>,
/// }
/// herringbone_format::setters! { Options {
///     /// Sets the largest number of rows.
///     limit: u64 => Some;
/// }}
/// assert_eq!(Options::default().limit(3).limit, Some(3));
/// ```
#[macro_export]
#[doc(hidden)] // For the crates of this workspace.
macro_rules! setters {
    ($options:ident { $($(#[$doc:meta])* $name:ident: $value:ty $(=> $convert:expr)?;)* }) => {
        impl $options {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $value) -> Self {
                self.$name = $crate::setters!(@value $name $($convert)?);
                self
            }
        )*}
    };
    (@value $name:ident $convert:expr) => { $convert($name) };
    (@value $name:ident) => { $name };
}

/// Collects texts, for setters that take lists of names.
#[doc(hidden)] // For the crates of this workspace.
pub fn texts<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}
