//! The exact Arrow schema. Herringbone stores it for itself if the common schema for all readers
//! cannot express everything.
//!
//! Readers that trust `ARROW:schema` fail on dictionaries of groups and on decimals with a negative
//! scale. So `ARROW:schema` has the stored form of these, and [`EXACT_SCHEMA_KEY`] has the original
//! schema next to it. We do the same for ordered dictionaries of anything but text and bytes,
//! because only for those two do all writers keep the promised order.
//!
//! Note that libraries copy unknown keys into new files written from the data. To detect an
//! outdated exact schema, we prefix it with a digest of its `ARROW:schema`:
//!
//! ```text
//! FNV-1a of the text of ARROW:schema, 16 hexadecimal digits   space   text as that of ARROW:schema
//! ```

use herringbone_format::KeyValue;

use crate::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY};

/// Returns the value of [`EXACT_SCHEMA_KEY`] for an `ARROW:schema`. Both schemas are base64 text.
pub(crate) fn exact_value(arrow_schema: &str, exact: &str) -> String {
    format!("{:016x} {exact}", digest(arrow_schema))
}

/// An Arrow schema in its stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaText<'a> {
    pub(crate) base64: &'a str,
    /// True if the schema was written by Herringbone or given by the caller, so that all of it can
    /// be trusted.
    pub(crate) is_exact: bool,
}

/// Returns the most exact Arrow schema in the file's metadata.
pub(crate) fn most_exact(key_values: &[KeyValue]) -> Option<SchemaText<'_>> {
    let value = |key| {
        let pair = key_values.iter().find(|pair| pair.key == key);
        pair.and_then(KeyValue::text)
    };
    let arrow_schema = value(ARROW_SCHEMA_KEY)?;
    let exact = value(EXACT_SCHEMA_KEY).and_then(|value| value.split_once(' '));
    // We only compute the digest if there is an exact schema. Few files have one, and digesting a
    // wide schema takes time.
    let exact = exact.filter(|(of, _)| *of == format!("{:016x}", digest(arrow_schema)));
    Some(SchemaText {
        base64: exact.map_or(arrow_schema, |(_, exact)| exact),
        is_exact: exact.is_some(),
    })
}

/// Computes the 64-bit FNV-1a hash. This is enough, since it only has to detect accidental
/// differences.
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
        let pair = |key: &str, value: &str| KeyValue::new(key, value);
        let exact = pair(EXACT_SCHEMA_KEY, &exact_value("old", "exact"));
        let file = |text| [exact.clone(), pair(ARROW_SCHEMA_KEY, text)];
        let found = |pairs: &[KeyValue]| {
            most_exact(pairs).map(|most_exact| (most_exact.base64.to_owned(), most_exact.is_exact))
        };
        assert_eq!(found(&file("old")), Some(("exact".to_owned(), true)));
        assert_eq!(found(&file("new")), Some(("new".to_owned(), false)));
        assert_eq!(found(&[exact]), None);
    }
}
