//! `[COLS=]VALUE`: a value for all columns, or only for the named ones.

use std::fmt::Display;
use std::str::FromStr;

use super::Columns;

/// A value, and the columns that it applies to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting<T> {
    /// The columns, including everything inside them. `None` means all columns.
    pub(crate) columns: Option<Columns>,
    /// The chosen value.
    pub(crate) value: T,
}

impl<T: FromStr<Err: Display>> FromStr for Setting<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Split at the last equals sign, since column names can contain one but values can't.
        let (columns, value) = match text.rsplit_once('=') {
            Some((columns, value)) => (Some(columns.parse()?), value),
            None => (None, text),
        };
        let value = value.parse().map_err(|error: T::Err| error.to_string())?;
        Ok(Self { columns, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_optional() {
        let setting: Setting<u8> = "7".parse().unwrap();
        assert_eq!((setting.columns, setting.value), (None, 7));
        let setting: Setting<u8> = "a=b,c.d=7".parse().unwrap();
        let paths = setting.columns.unwrap().paths;
        assert_eq!(
            (paths, setting.value),
            (
                vec![vec!["a=b".to_owned()], vec!["c".into(), "d".into()]],
                7
            )
        );
        for text in ["", "x", "a=", "a=x", "=7", "a,=7"] {
            assert!(text.parse::<Setting<u8>>().is_err(), "{text}");
        }
    }
}
