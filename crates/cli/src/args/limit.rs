//! `--max page_bytes=4294967296` changes one of the limits that protect readers from malicious
//! files.

use std::str::FromStr;

use herringbone::Limits;

/// A limit and its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LimitChange {
    name: String,
    value: u64,
}

impl FromStr for LimitChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected LIMIT=N")?;
        let value = value
            .parse()
            .map_err(|_| format!("expected a whole number after `{name}=`, found `{value}`"))?;
        let change = Self {
            name: name.into(),
            value,
        };
        if !change.apply(&mut Limits::default()) {
            return Err(format!(
                "unknown limit `{name}`; use one of: {}",
                NAMES.join(", ")
            ));
        }
        Ok(change)
    }
}

/// Declares the limits that can be changed, so that their names in text and the fields of
/// [`Limits`] cannot drift apart.
macro_rules! limits {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl LimitChange {
            /// Changes the limit in `limits`. Returns false if the limit's name is unknown.
            pub(crate) fn apply(&self, limits: &mut Limits) -> bool {
                match self.name.as_str() {
                    $(stringify!($name) => {
                        limits.$name = self.value.try_into().unwrap_or(limits.$name);
                    })*
                    _ => return false,
                }
                true
            }
        }
    };
}

limits! {
    footer_bytes schema_depth schema_nodes row_groups page_header_bytes page_bytes
    decompression_ratio page_values dictionary_values page_index_bytes bloom_filter_bytes
    batch_column_bytes overlap_ratio memory_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_changed() {
        let mut limits = Limits::default();
        let change: LimitChange = "page_bytes=7".parse().unwrap();
        assert!(change.apply(&mut limits));
        assert_eq!(limits.page_bytes, 7);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "page_bytes", "page_bytes=", "page_bytes=-1", "pages=1"] {
            assert!(text.parse::<LimitChange>().is_err(), "{text}");
        }
    }
}
