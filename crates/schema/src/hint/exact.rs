//! The Arrow schema for ourselves, where that for everybody cannot say all.
//!
//! Readers that trust `ARROW:schema` take groups in dictionaries, or decimals of negative scale, for
//! an error. So it says how these are stored, and the schema as it was lies beside it, under
//! [`EXACT_SCHEMA_KEY`]. So does one with ordered dictionaries of anything but text and bytes: only of
//! these do all writers keep the order that they promise. Libraries copy keys that they do not know into files that they write from
//! the data; so that nothing outdated is believed, the exact schema names the `ARROW:schema` it
//! belongs to:
//!
//! ```text
//! FNV-1a of the text of ARROW:schema, 16 hexadecimal digits   space   text as that of ARROW:schema
//! ```

use herringbone_format::KeyValue;

use crate::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY};

/// The value of [`EXACT_SCHEMA_KEY`] beside an `ARROW:schema`; both as base64 text.
pub(crate) fn exact_value(arrow_schema: &str, exact: &str) -> String {
    format!("{:016x} {exact}", digest(arrow_schema))
}

/// An Arrow schema in the form that files have it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaText<'a> {
    pub(crate) base64: &'a str,
    /// Whether it is ours, so that all of it is meant.
    pub(crate) is_exact: bool,
}

/// The most exact Arrow schema among the file's metadata.
pub(crate) fn most_exact(key_values: &[KeyValue]) -> Option<SchemaText<'_>> {
    let value = |key| {
        let pair = key_values.iter().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.as_deref())
    };
    let arrow_schema = value(ARROW_SCHEMA_KEY)?;
    let exact = value(EXACT_SCHEMA_KEY).and_then(|value| value.split_once(' '));
    // Wide schemas take their time to digest, and few files have an exact one.
    let exact = exact.filter(|(of, _)| *of == format!("{:016x}", digest(arrow_schema)));
    Some(SchemaText {
        base64: exact.map_or(arrow_schema, |(_, exact)| exact),
        is_exact: exact.is_some(),
    })
}

/// FNV-1a in 64 bits: what differs by chance is told apart, and more is not needed.
fn digest(text: &str) -> u64 {
    const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x100_0000_01B3;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    text.bytes().fold(BASIS, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_as_published() {
        assert_eq!(digest(""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(digest("a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(digest("foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn only_beside_its_own_arrow_schema_is_it_believed() {
        let pair = |key: &str, value: &str| KeyValue::new(key, value.to_owned());
        let exact = pair(EXACT_SCHEMA_KEY, &exact_value("old", "exact"));
        let file = |text| [exact.clone(), pair(ARROW_SCHEMA_KEY, text)];
        let found =
            |pairs: &[KeyValue]| most_exact(pairs).map(|it| (it.base64.to_owned(), it.is_exact));
        assert_eq!(found(&file("old")), Some(("exact".to_owned(), true)));
        assert_eq!(found(&file("new")), Some(("new".to_owned(), false)));
        assert_eq!(found(&[exact]), None);
    }
}
